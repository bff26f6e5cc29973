//! Any bytes can be read as a message. Parsing never fails, gives the same result each time, and keeps its
//! guarantees for strings. So do the parts of a message: their list is that of the message read in pieces,
//! and each has the size that the list says. Calendar data has its limits, and so has what is signed or
//! encrypted; what a signature covers has lines that end with CRLF.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{
    Address, Compression, Context, Email, LargeMessage, Links, MessageParts, PartRead, ProtectedContent,
    limits, parse, protected_contents, protected_fields, read_calendar,
};
use std::path::Path;

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
    parts(bytes);
    protected(bytes);
    email(bytes);
    for event in read_calendar(&String::from_utf8_lossy(bytes)).events {
        assert!(event.guests.len() <= limits::GUEST_COUNT_MAX);
        assert!(event.summary.len() <= limits::NAME_BYTES_MAX);
    }
});

fn protected(bytes: &[u8]) {
    let (found, _) = protected_contents(bytes);
    assert!(found.len() <= limits::PROTECTED_COUNT_MAX);
    for protected in found {
        if let ProtectedContent::Signed { signed, .. } = &protected.content {
            let lines = signed.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
            assert!(lines.into_iter().all(|line| line.ends_with(b"\r\n")));
        }
    }
    for (_, value) in protected_fields(bytes).unwrap_or_default() {
        assert!(!value.contains(['\n', '\0']), "{value:?} is not one line");
    }
}

fn email(bytes: &[u8]) {
    let email = Email::of_bytes(bytes);
    for number in email.text_body.iter().chain(&email.html_body).chain(&email.attachments).take(50) {
        let part = email.part(*number).expect("a list names parts");
        assert!(part.encoded.end <= bytes.len() && part.encoded.start <= part.encoded.end);
        assert_eq!(part.size_bytes, email.content(part).len() as u64);
        assert!(email.value(part, Some(20)).is_none_or(|text| text.value.len() <= 20));
    }
    let fields = email.header_fields(&email.structure);
    for field in fields.iter().take(50) {
        let _ = (field.raw(), field.text(), field.grouped_addresses(), field.date());
        let _ = (field.message_ids(), field.urls());
    }
    assert!(email.preview().chars().count() <= limits::SNIPPET_CHARACTERS_MAX);
}

fn parts(bytes: &[u8]) {
    let mut parts = MessageParts::of_bytes(bytes);
    let list = parts.list().expect("the message is in memory");
    // A compressed input is another message when it is read in pieces.
    if let Ok(mut large) = LargeMessage::of_bytes(bytes, Path::new("input"))
        && large.compression() == Compression::Plain
    {
        large.identify().expect("it is in memory");
        let mut in_pieces = MessageParts::of_large(&large).expect("it is in memory");
        assert_eq!(in_pieces.list().expect("it is in memory"), list);
    }
    for part in list.iter().take(50) {
        let mut size = 0;
        let read = parts.each_block(part.number, &mut |block| size += block.len() as u64);
        let read = read.expect("the message is in memory");
        assert!(read == PartRead::TooMany || part.size_bytes == Some(size), "{part:?}");
        let _ = parts.text(part.number, Links::Listed);
    }
    let _ = parts.calendars();
    assert!(parts.header_fields().0.len() <= limits::FIELD_COUNT_MAX);
}
