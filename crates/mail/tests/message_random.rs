//! Messages of random bytes, and golden messages with random damage: each of them is a message.
//!
//! Checks what holds of every message, without expected values.

use crate::email;
use crate::message::{CONTEXT, golden, parsed};
use mail::{Address, Context, LinkList, Links, Message, limits, parse};
use proptest::prelude::*;
use std::sync::LazyLock;

static GOLDEN: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| golden().iter().map(|path| std::fs::read(path).unwrap()).collect());

/// What means something to a parser of mail, and so does most damage.
const PIECES: [&[u8]; 40] = [
    b"\n",
    b"\r\n",
    b"\r",
    b"\n ",
    b"\n\n",
    b"\0",
    b"\xff",
    b"\xc3",
    b":",
    b";",
    b",",
    b"<",
    b">",
    b"\"",
    b"(",
    b")",
    b"\\",
    b"=?utf-8?q?",
    b"?=",
    b"=?iso-2022-jp?b?",
    b"\x1b$B",
    b"\x1b(B",
    b"--",
    b"=",
    b"=\n",
    b"&#",
    b"<!--",
    b"*0*=",
    b"~{",
    b"\x0e",
    b"=?iso-2022-kr?q?",
    b"<div hidden>",
    b"<td style=font-size:0>",
    b"\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\nx\n--b\nContent-Type: text/html\n\n<p>word",
    b"\nContent-Type: application/pkcs7-mime\nContent-Transfer-Encoding: \
        base64\n\nMIAGCSqGSIb3DQEHAqCAMIACAQExADCABgkqhkiG9w0BBwGggCSABARB",
    b"\nContent-Type: application/pkcs7-mime\n\n0\x80\x06\x09*\x86H\x86\xf7\x0d\x01\x07\x02",
    b"\nContent-Type: multipart/mixed; boundary=b\n\n--b\n",
    b"\nContent-Type: message/rfc822\n\n",
    b"\nContent-Transfer-Encoding: base64\n\n",
    b"; charset=utf-7",
];

/// One change of a message: at a place (in thousandths), some bytes less, and a piece more.
fn changes() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    prop::collection::vec((0..1000_usize, 0..40_usize, 0..PIECES.len()), 1..12)
}

fn damaged(mut bytes: Vec<u8>, changes: &[(usize, usize, usize)]) -> Vec<u8> {
    for &(place, removed, piece) in changes {
        let start = bytes.len() * place / 1000;
        let end = (start + removed).min(bytes.len());
        bytes.splice(start..end, PIECES[piece].iter().copied());
    }
    bytes
}

/// Checks what holds of every message.
fn check(message: &Message) {
    let is_line = |text: &str| !text.contains(['\n', '\r', '\t', '\0']) && text.trim_ascii() == text;
    let is_address = |found: &Address| {
        is_line(&found.name)
            && is_line(&found.address)
            && !(found.name.is_empty() && found.address.is_empty())
    };
    assert!(is_line(&message.subject) && is_line(&message.list_id) && is_line(&message.snippet));
    for list in [&message.from, &message.to, &message.cc, &message.bcc, &message.reply_to] {
        assert!(list.iter().all(is_address), "{list:?}");
    }
    for id in message.references.iter().chain([&message.message_id]).chain(&message.in_reply_to) {
        assert!(!id.is_empty() && id.len() <= limits::MESSAGE_ID_BYTES_MAX);
        assert!(!id.contains([' ', '\n', '\r', '\t', '\0', '<', '>']), "{id:?}");
    }
    assert_eq!(message.message_id_derived, message.message_id.ends_with("@derived.pneu"));
    assert!(!message.text.contains(['\r', '\0']) && message.text.len() <= limits::TEXT_BYTES_MAX);
    assert_eq!(
        message.embedded_texts().count(),
        message.embedded.len(),
        "attached texts lie within the text"
    );
    assert!(message.embedded.is_sorted_by_key(|place| place.start));
    assert!(message.headers.iter().all(|(_, value)| is_line(value) && !value.is_empty()));
    assert!(matches!(message.language.len(), 0 | 2));
    assert!(
        !message.flags.contains(mail::ContentFlags::HIGH) || !message.flags.contains(mail::ContentFlags::LOW)
    );
    assert!(message.snippet.chars().count() <= limits::SNIPPET_CHARACTERS_MAX);
    assert!(!message.mime_types.is_empty() && message.mime_types.iter().all(|mime| mime.contains('/')));
    let forms: usize = message.other_forms.iter().map(|form| form.text.len()).sum();
    assert!(message.text.len() + forms <= limits::TEXT_BYTES_MAX);
    assert!(message.other_forms.iter().all(|form| !form.text.contains(['\r', '\0'])));
    let is_plausible = |seconds| (0..=CONTEXT.now_seconds + 366 * 86_400).contains(&seconds);
    assert!(message.date_seconds().is_none_or(is_plausible));
}

/// Pieces of HTML with links that hold what their target says, unless something hides it.
const LINKED: [&str; 14] = [
    "<a href=x:eins>eins",
    "<a href=x:zw\u{f6}> z&#119;\u{f6} ",
    "</a>",
    "<p>",
    "word ",
    " \u{fc} ",
    "<pre>",
    "</pre>",
    "\r\n",
    "&#13;&#10;",
    "&#0;",
    "<td>",
    "<area href=x:>",
    "&nbsp;",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_a_message(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        check(&parsed(bytes));
    }

    #[test]
    fn pieces_of_mail_are_a_message(pieces in prop::collection::vec(0..PIECES.len(), 0..100)) {
        let bytes: Vec<u8> = pieces.iter().flat_map(|&piece| PIECES[piece].iter().copied()).collect();
        email::check(&bytes);
        check(&parsed(bytes));
    }

    #[test]
    fn links_lie_within_the_text_and_change_nothing_else(
        pieces in prop::collection::vec(0..LINKED.len(), 0..60),
    ) {
        let html: String = pieces.iter().map(|&piece| LINKED[piece]).collect();
        let message = format!("Content-Type: text/html; charset=utf-8\n\n{html}");
        let linked = parse(message.as_bytes(), &Context { links: Links::Listed, ..CONTEXT });
        for link in &linked.links.list {
            prop_assert!(linked.text.get(link.text.clone()).is_some());
            prop_assert!(link.text.end <= link.part_end && linked.text.is_char_boundary(link.part_end));
            // Each target says which text it is of; pictures and what is cut have none.
            let text = &linked.text[link.text.clone()];
            prop_assert!(text.trim().is_empty() || text.contains(&link.target[2..]), "{text:?}");
        }
        let unlinked = Message { links: LinkList::default(), ..linked };
        prop_assert_eq!(unlinked, parse(message.as_bytes(), &CONTEXT));
    }

    #[test]
    fn damaged_messages_are_messages(number in any::<prop::sample::Index>(), changes in changes()) {
        let bytes = damaged(number.get(GOLDEN.as_slice()).clone(), &changes);
        email::check(&bytes);
        check(&parsed(bytes));
    }

    #[test]
    fn a_message_cut_anywhere_is_a_message(number in any::<prop::sample::Index>(), place in 0..1000_usize) {
        let bytes = number.get(GOLDEN.as_slice());
        let bytes = &bytes[..bytes.len() * place / 1000];
        email::check(bytes);
        check(&parsed(bytes));
    }

    /// Transport changes neither a message's derived ID nor the hash of its bodies.
    #[test]
    fn the_way_of_a_message_does_not_count(
        number in any::<prop::sample::Index>(),
        time in 0..2_000_000_000_i64,
    ) {
        let bytes = number.get(GOLDEN.as_slice());
        let received: &[u8] = b"Received: from a by b; Mon, 5 Jan 2004 10:00:00 +0000\nX-TUID: x\n";
        let received = [received, bytes.as_slice()].concat();
        let (before, after) = (parsed(bytes), parse(&received, &Context::new(time)));
        let begins_with_field = before.problems.iter().all(|problem| *problem != mail::Problem::NoHeader)
            && !bytes.starts_with(b"\n") && !bytes.starts_with(b"\xef") && bytes.contains(&b'\n')
            && !bytes.starts_with(b"From ");
        prop_assume!(begins_with_field);
        prop_assert_eq!(before.copy_hash, after.copy_hash);
        prop_assert_eq!(before.message_id, after.message_id);
    }
}
