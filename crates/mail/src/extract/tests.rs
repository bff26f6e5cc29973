//! Parts have the same numbers and contents in memory and in pieces.

use super::parts::{MessageParts, PartRead};
use crate::LargeMessage;
use crate::PartRole;
use crate::text::links::Links;
use std::path::Path;

/// A message with text, a picture, a nested message with an attachment, and a nested message that is encoded.
const MESSAGE: &str = "Subject: outer\nContent-Type: multipart/mixed; boundary=b\n\n\
    --b\nContent-Type: text/plain; charset=latin1\nContent-Transfer-Encoding: quoted-printable\n\n\
    gr=FC=DFe\n\
    --b\nContent-Type: image/png; name=\"=?utf-8?q?caf=C3=A9=2Epng?=\"\n\
    Content-Transfer-Encoding: base64\n\n\
    QUJD\nREVG\n\
    --b\nContent-Type: message/rfc822\n\nSubject: =?utf-8?q?in=C3=BCer?=\nContent-Type: multipart/mixed; \
    boundary=c\n\n--c\n\ninner\n--c\nContent-Type: text/html; name=x.html\n\n\
    <a href=\"https://x.example/\">y</a>\n--c--\n\
    --b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n\
    U3ViamVjdDogaGlkZGVuCgpkZWVwCg==\n\
    --b--\n";

fn contents(parts: &mut MessageParts<'_>) -> Vec<(usize, usize, String, String, u64, String)> {
    let list = parts.list().unwrap();
    list.into_iter()
        .map(|part| {
            let mut content = Vec::new();
            assert!(!part.is_damaged);
            let is_clean = parts.each_block(part.number, &mut |block| content.extend_from_slice(block));
            assert_eq!(is_clean.unwrap(), PartRead::Clean);
            assert_eq!(part.size_bytes, Some(content.len() as u64), "{part:?}");
            let (size, text) = (content.len() as u64, String::from_utf8_lossy(&content).into_owned());
            (part.number, part.depth, part.mime, part.name + &part.subject, size, text)
        })
        .collect()
}

#[test]
fn every_part_is_numbered_and_read() {
    let mut parts = MessageParts::of_bytes(MESSAGE.as_bytes());
    let shown: Vec<String> = contents(&mut parts)
        .into_iter()
        .map(|(number, depth, mime, name, size, content)| {
            let content: String = content.chars().take(30).collect();
            format!("{number} {depth} {mime} {name:?} {size} {content:?}")
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    1 0 text/plain "" 5 "gr��e"
    2 0 image/png "café.png" 6 "ABCDEF"
    3 0 message/rfc822 "inüer" 168 "Subject: =?utf-8?q?in=C3=BCer?"
    4 1 text/plain "" 5 "inner"
    5 1 text/html "x.html" 34 "<a href=\"https://x.example/\">y"
    6 0 message/rfc822 "hidden" 22 "Subject: hidden\n\ndeep\n"
    7 1 text/plain "" 5 "deep\n"
    "#);
    let roles: Vec<PartRole> = parts.list().unwrap().iter().map(|part| part.role).collect();
    assert_eq!(&roles[..3], [PartRole::Content, PartRole::Attached, PartRole::Attached]);
    assert_eq!(parts.each_block(0, &mut |_| ()).unwrap(), PartRead::NoSuchPart);
    assert_eq!(parts.each_block(8, &mut |_| ()).unwrap(), PartRead::NoSuchPart);
}

#[test]
fn every_header_field_is_decoded() {
    let message =
        "From x\nTo: =?utf-8?q?Gr=C3=BC?=\n =?utf-8?q?n?= <a@b>\nx-Odd:\tone\n two\nTo: c@d\n\ntext";
    let (fields, is_cut) = MessageParts::of_bytes(message.as_bytes()).header_fields();
    assert!(!is_cut);
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(fields, [("To", "Grün <a@b>"), ("x-Odd", "one two"), ("To", "c@d")]);
    let mut large = LargeMessage::of_bytes(message.as_bytes(), Path::new("a test")).unwrap();
    large.identify().unwrap();
    assert_eq!(MessageParts::of_large(&large).unwrap().header_fields().0.len(), 3);
    let many = "A: 1\n".repeat(crate::limits::FIELD_COUNT_MAX + 1);
    assert!(MessageParts::of_bytes(many.as_bytes()).header_fields().1);
}

#[test]
fn the_text_of_a_part_is_decoded() {
    let mut parts = MessageParts::of_bytes(MESSAGE.as_bytes());
    assert_eq!(parts.text(1, Links::Listed).unwrap().unwrap().text, "grüße");
    assert_eq!(parts.text(2, Links::Listed).unwrap(), None, "a picture is no text");
    let html = parts.text(5, Links::Listed).unwrap().unwrap();
    assert_eq!((html.text.trim(), html.links.list[0].target.as_str()), ("y", "https://x.example/"));
    assert_eq!(parts.text(7, Links::Ignored).unwrap().unwrap().text, "deep\n");
    assert_eq!(parts.text(0, Links::Ignored).unwrap(), None);
}

#[test]
fn parts_are_the_same_in_pieces() {
    let filler = format!("--b\nContent-Type: application/x\n\n{}\n--b\n", "x".repeat(3 << 20));
    for message in [MESSAGE.to_owned(), MESSAGE.replacen("--b\n", &filler, 1), MESSAGE.replace('\n', "\r")] {
        let expected = contents(&mut MessageParts::of_bytes(message.as_bytes()));
        let mut large = LargeMessage::of_bytes(message.as_bytes(), Path::new("a test")).unwrap();
        large.identify().unwrap();
        let mut parts = MessageParts::of_large(&large).unwrap();
        assert_eq!(contents(&mut parts), expected);
        // Any order, and again.
        for number in [7, 1, 6, 2, 7] {
            let mut content = Vec::new();
            parts.each_block(number, &mut |block| content.extend_from_slice(block)).unwrap();
            assert_eq!(String::from_utf8_lossy(&content), expected[number - 1].5);
        }
    }
}

#[test]
fn what_is_in_the_message_is_read_in_any_order_and_any_number() {
    // Longer than what is read at once, so that going back reads again.
    let long = "x".repeat(20_000);
    let part = |number: usize| format!("--b\n\nSubject: {number}\n\n{long}\ntext {number}\n");
    let digest: String = (0..100).map(part).collect();
    let digest = format!("Content-Type: multipart/digest; boundary=b\n\n{digest}--b--\n");
    let mut large = LargeMessage::of_bytes(digest.as_bytes(), Path::new("a test")).unwrap();
    large.identify().unwrap();
    for mut parts in [MessageParts::of_bytes(digest.as_bytes()), MessageParts::of_large(&large).unwrap()] {
        for number in (1..=200).rev() {
            let mut content = Vec::new();
            let read = parts.each_block(number, &mut |block| content.extend_from_slice(block)).unwrap();
            assert_eq!(read, PartRead::Clean, "{number}");
            let expected = format!("text {}", (number - 1) / 2);
            assert!(String::from_utf8(content).unwrap().ends_with(&expected), "{number}");
        }
    }
}

#[test]
fn what_is_decoded_again_has_a_limit() {
    let mut parts = MessageParts::of_bytes(MESSAGE.as_bytes());
    for _ in 0..crate::limits::AGAIN_COUNT_MAX {
        assert_eq!(parts.each_block(6, &mut |_| ()).unwrap(), PartRead::Clean);
    }
    assert_eq!(parts.each_block(6, &mut |_| ()).unwrap(), PartRead::TooMany);
    // This one is in the message itself.
    assert_eq!(parts.each_block(1, &mut |_| ()).unwrap(), PartRead::Clean);
}

#[test]
fn uuencoded_content_is_decoded() {
    let part = |name: &str| {
        format!(
            "--b\nContent-Type: application/x; {name}\nContent-Transfer-Encoding: x-uuencode\n\n\
             begin 644 own.txt\n#0V%T\n`\nend\n"
        )
    };
    let message = format!(
        "Content-Type: multipart/mixed; boundary=b\n\n{}{}--b--\n",
        part(""),
        part("name=a.txt").replace("end\n", "")
    );
    let check = |parts: &mut MessageParts<'_>| {
        let list = parts.list().unwrap();
        let told: Vec<(&str, Option<u64>, bool)> =
            list.iter().map(|part| (part.name.as_str(), part.size_bytes, part.is_damaged)).collect();
        assert_eq!(told, [("own.txt", Some(3), false), ("a.txt", Some(3), true)]);
        let mut content = Vec::new();
        let read = parts.each_block(1, &mut |block| content.extend_from_slice(block)).unwrap();
        assert_eq!((read, content.as_slice()), (PartRead::Clean, &b"Cat"[..]));
        assert_eq!(parts.each_block(2, &mut |_| ()).unwrap(), PartRead::Damaged);
    };
    check(&mut MessageParts::of_bytes(message.as_bytes()));
    let mut large = LargeMessage::of_bytes(message.as_bytes(), Path::new("a test")).unwrap();
    large.identify().unwrap();
    check(&mut MessageParts::of_large(&large).unwrap());
    // In a message that is encoded as a whole, so that it is read again.
    let line = message.bytes().map(|byte| format!("={byte:02X}")).collect::<String>();
    let outer =
        format!("Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n{line}");
    let mut parts = MessageParts::of_bytes(outer.as_bytes());
    let mut content = Vec::new();
    let number = parts.list().unwrap().iter().position(|part| part.name == "a.txt").unwrap();
    parts.each_block(number + 1, &mut |block| content.extend_from_slice(block)).unwrap();
    assert_eq!(content, b"Cat");
}
