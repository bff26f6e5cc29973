//! Any bytes can be read as a message. Parsing never fails, gives the same result each time, and keeps its
//! guarantees for strings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{Address, Context, Links, parse};

fuzz_target!(|bytes: &[u8]| {
    let headers = ["X-Mailer", "Received", "subject"].map(str::to_owned);
    let context = Context { headers: &headers, ..Context::new(1_800_000_000) };
    let message = parse(bytes, &context);
    assert_eq!(message, parse(bytes, &context), "the same bytes gave two messages");
    assert!(!message.message_id.is_empty());
    let people = [&message.from, &message.to, &message.cc, &message.bcc, &message.reply_to];
    let addresses = people.into_iter().flatten().flat_map(|Address { name, address }| [name, address]);
    let lines = [&message.subject, &message.message_id, &message.list_id];
    let named = message.headers.iter().map(|(_, value)| value);
    let ids = message.references.iter().chain(named).chain(&message.in_reply_to).chain(&message.labels);
    for text in addresses.chain(lines).chain(ids) {
        assert!(!text.contains(['\n', '\0']), "{text:?} is not one line");
    }
    assert_eq!(
        message.embedded_texts().count(),
        message.embedded.len(),
        "attached texts lie within the text"
    );
    assert!(message.other_forms.iter().all(|form| !form.text.contains(['\r', '\0'])));
    assert!(matches!(message.language.len(), 0 | 2));
    let linked = parse(bytes, &Context { links: Links::Listed, ..context });
    for link in &linked.links.list {
        assert!(linked.text.get(link.text.clone()).is_some(), "a link lies within the text");
        assert!(link.text.end <= link.part_end && linked.text.is_char_boundary(link.part_end));
    }
    assert_eq!(mail::Message { links: mail::LinkList::default(), ..linked }, message);
});
