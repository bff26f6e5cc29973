//! What is searched of messages with several forms of one text, and of wrapped messages.
//!
//! Input: messages with HTML beside a text, and signed ones. Output: which words find them. Does not depend
//! on how mail is parsed.

use crate::support::Fixture;

fn golden(name: &str) -> String {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/mail");
    std::fs::read_to_string(format!("{directory}/{name}.eml")).unwrap()
}

#[test]
fn words_of_html_beside_a_text_are_found() {
    let fixture = Fixture::new();
    fixture.put("a", "cur", "1.x:2,", &golden("alternative-html-better"));
    fixture.put("a", "cur", "2.x:2,", &golden("alternative-html-more"));
    fixture.update();
    for (text, expected) in [
        ("body:\"click here\"", &["Your account"][..]),
        ("AAA", &["Your account"]),
        ("\"letters may be lost\"", &["Your account"]),
        ("body:minutes", &["Minutes"]),
        ("\"roof 12 000\"", &["Minutes"]),
        ("carousel", &["Minutes"]),
        ("embed:carousel", &[]),
        // Hidden text, markup and addresses of links are not searched.
        ("preview or invisible", &[]),
        ("hook or style or font or title", &[]),
    ] {
        assert_eq!(fixture.find(text), expected, "{text}");
    }
}

#[test]
fn words_of_html_in_attached_messages_are_attached() {
    let fixture = Fixture::new();
    let inner = golden("alternative-html-more");
    fixture.put("a", "cur", "1.x:2,", &format!("Subject: outer\nContent-Type: message/rfc822\n\n{inner}"));
    fixture.update();
    for text in ["embed:carousel", "embed:roof", "body:roof", "embed:journey"] {
        assert_eq!(fixture.find(text), ["outer"], "{text}");
    }
}

#[test]
fn signed_content_is_found_like_any_other() {
    let fixture = Fixture::new();
    fixture.put("a", "cur", "1.x:2,", &golden("smime-signed"));
    fixture.put("a", "cur", "2.x:2,", &golden("smime-signed-twice"));
    fixture.put("a", "cur", "3.x:2,", &golden("smime-encrypted"));
    fixture.update();
    assert_eq!(fixture.find("body:\"the letter within\""), ["Signed, with an attachment within, in BER"]);
    assert_eq!(fixture.find("file:within.pdf"), ["Signed, with an attachment within, in BER"]);
    assert_eq!(fixture.find("grüße"), ["Signed and signed again, and no type"]);
    assert_eq!(fixture.find("flag:signed").len(), 2);
    assert_eq!(fixture.find("flag:encrypted"), ["Encrypted, and no type"]);
}
