//! Mail that is addressed to the user in person.
//!
//! Input: mail and addresses. Output: what `flag:personal` finds and which messages show it. Uses only the
//! public interface of the index.

use crate::support::{Fixture, message, query, subjects};
use index::{Mailbox, Order, OwnAddresses, RecordReader, shown_flags};

fn own(addresses: &[&str]) -> OwnAddresses {
    OwnAddresses::new(&addresses.iter().map(|address| (*address).to_owned()).collect::<Vec<_>>())
}

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    for (number, (subject, old, new)) in [
        ("to", "Bo <bo@example.org>", "Me <Me@Example.org>"),
        ("cc", "Subject", "Cc: x@example.org, me@example.org\nSubject"),
        ("bcc", "Subject", "Bcc: me@example.org\nSubject"),
        ("domain", "bo@example.org", "any@home.example"),
        ("other", "bo@example.org", "someme@example.org"),
        ("from me", "ana@example.org", "me@example.org"),
        ("name", "Bo <bo@example.org>", "\"me@example.org\" <bo@example.org>"),
        ("reply", "Subject", "Reply-To: me@example.org\nSubject"),
    ]
    .iter()
    .enumerate()
    {
        let content = message(&format!("m{number}"), subject, "x").replace(old, new);
        fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &content);
    }
    fixture.update();
    fixture
}

fn personal(mailbox: &Mailbox) -> Vec<String> {
    let mut found = subjects(mailbox, "flag:personal");
    found.sort();
    found
}

/// Returns the subjects of the messages that show the flag.
fn showing(mailbox: &Mailbox) -> Vec<String> {
    let mut reader = RecordReader::new();
    let hits = mailbox.find(&query(""), &Order::default()).unwrap();
    let messages = hits.list.iter().map(|hit| mailbox.message(hit, &mut reader).unwrap());
    let is_shown = |message: &index::Message| {
        let files = message.files.iter().map(|file| file.flags);
        shown_flags(files, message.line.derived).any(|info| info.name == "personal")
    };
    let mut found: Vec<String> = messages.filter(is_shown).map(|message| message.line.subject).collect();
    found.sort();
    found
}

#[test]
fn mail_to_the_user_is_personal() {
    let fixture = fixture();
    for (addresses, expected) in [
        (&["me@example.org"][..], &["bcc", "cc", "to"][..]),
        (&["ME@EXAMPLE.ORG", "@home.example"], &["bcc", "cc", "domain", "to"]),
        (&["nobody@example.org"], &[]),
        (&["@example"], &[]),
    ] {
        let mailbox = fixture.mailbox().with_own_addresses(own(addresses));
        assert_eq!(personal(&mailbox), expected, "{addresses:?}");
        assert_eq!(showing(&mailbox), expected, "{addresses:?}");
        assert_eq!(subjects(&mailbox, "not flag:personal").len(), 8 - expected.len());
    }
}

#[test]
fn without_addresses_the_question_is_refused_and_nothing_shows_the_flag() {
    let mailbox = fixture().mailbox();
    let error = mailbox.count(&query("subject:to and flag:personal")).unwrap_err();
    assert_eq!(error.remedy(), Some(index::Remedy::NameOwnAddresses), "{error}");
    assert_eq!(showing(&mailbox), [""; 0]);
}
