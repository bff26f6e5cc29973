//! A message for tests of formats, here and in front ends.

use crate::listed::Listed;
use index::{Contact, Line, Message, MessageFile, Rest};
use mail::ContentFlags;
use mail::Flags;
use std::path::Path;

/// A message in two files, with something in every field, and harm in some.
pub fn sample() -> Listed {
    let contact = |name: &str, address: &str| Contact { name: name.into(), address: address.into() };
    let file = |maildir: &str, name: &str, flags| MessageFile {
        root: "mail".into(),
        maildir: maildir.into(),
        path: Path::new("/m").join(&maildir[1..]).join("cur").join(name),
        flags,
        keywords: 0,
        changed_seconds: 1_714_564_800,
    };
    let line = Line {
        date: Some(1_709_647_331),
        size_bytes: 4096,
        derived: ContentFlags::ATTACHMENT,
        from: "Ana\u{1b}[31m".into(),
        subject: "Grüße\nFrom: x\u{202e}".into(),
    };
    let rest = Rest {
        message_id: "x\"y\\@example.org".into(),
        from: vec![contact("Ana\u{1b}[31m", "ana@example.org")],
        to: vec![contact("", "bo@example.org"), contact("Cy", "cy@example.org")],
        cc: vec![contact("undisclosed", "")],
        bcc: vec![contact("Dee", "dee@example.org")],
        references: vec!["v@example.org".into(), "w@example.org".into()],
        list_id: "tubes.example.org".into(),
        attachments: vec!["plan.pdf".into(), "ä.txt".into()],
        labels: vec!["work".into()],
        snippet: "hello".into(),
        language: "en".into(),
        headers: vec![],
        problems: vec!["the date is odd".into()],
    };
    let files = vec![file("/lists", "1:2,S", Flags::SEEN), file("/copies", "2:2,F", Flags::FLAGGED)];
    Listed {
        message: Message { sha256: [0xab; 32], line, rest, tags: vec!["todo".into(), "work".into()], files },
        position: None,
    }
}
