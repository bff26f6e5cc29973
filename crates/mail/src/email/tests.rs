//! Messages as trees of parts and as lists, text in and text out.

use std::fmt::Write as _;

use super::part::BodyPart;
use super::structure::Email;
use crate::limits::{MIME_DEPTH_MAX, SNIPPET_CHARACTERS_MAX};
use crate::{MessageParts, Problem};

/// Returns the message with its line ends as they are sent.
fn multipart(subtype: &str, boundary: &str, parts: &[String]) -> String {
    let body: String = parts.iter().map(|part| format!("--{boundary}\n{part}\n")).collect();
    format!("Content-Type: multipart/{subtype}; boundary={boundary}\n\n{body}--{boundary}--\n")
}

fn leaf(header: &str, content: &str) -> String {
    format!("{header}\n\n{content}")
}

/// Shows a part and those in it: one line each, indented, with what differs from nothing.
fn show_part(part: &BodyPart, depth: usize, out: &mut String) {
    let number = part.part_id.map_or("-".to_owned(), |number| number.to_string());
    write!(out, "{}{number} {}", "  ".repeat(depth), part.mime).unwrap();
    if part.part_id.is_some() {
        write!(out, " {}", part.size_bytes).unwrap();
    }
    let languages = part.languages.as_ref().map(|tags| tags.join("+"));
    for (what, value) in [
        ("charset", &part.charset),
        ("name", &part.name),
        ("disposition", &part.disposition),
        ("cid", &part.content_id),
        ("language", &languages),
        ("location", &part.location),
    ] {
        if let Some(value) = value {
            write!(out, " {what}={value}").unwrap();
        }
    }
    out.push('\n');
    for part in &part.sub_parts {
        show_part(part, depth + 1, out);
    }
}

fn show(message: impl AsRef<[u8]>) -> String {
    let email = Email::of_bytes(message.as_ref());
    let mut out = String::new();
    show_part(&email.structure, 0, &mut out);
    let list =
        |numbers: &[usize]| numbers.iter().map(|number| format!(" {number}")).collect::<Vec<_>>().concat();
    let has = if email.has_attachment { "\nhas attachment" } else { "" };
    let (text, html, attached) = (list(&email.text_body), list(&email.html_body), list(&email.attachments));
    write!(out, "text{text}\nhtml{html}\nattached{attached}{has}").unwrap();
    out
}

/// The example of RFC 8621, 4.1.4, with a letter as the content of each part.
fn example() -> String {
    let alternative = multipart(
        "alternative",
        "c",
        &[
            multipart(
                "mixed",
                "d",
                &[
                    leaf("Content-Type: text/plain\nContent-Disposition: inline", "B"),
                    leaf("Content-Type: image/jpeg\nContent-Disposition: inline", "C"),
                    leaf("Content-Type: text/plain\nContent-Disposition: inline", "D"),
                ],
            ),
            multipart(
                "related",
                "e",
                &[leaf("Content-Type: text/html", "E"), leaf("Content-Type: image/jpeg", "F")],
            ),
        ],
    );
    let inner = multipart(
        "mixed",
        "b",
        &[
            alternative,
            leaf("Content-Type: image/jpeg\nContent-Disposition: attachment", "G"),
            leaf("Content-Type: application/x-excel", "H"),
            leaf("Content-Type: message/rfc822", "Subject: J\n\nJ"),
        ],
    );
    let inline = "Content-Type: text/plain\nContent-Disposition: inline";
    multipart("mixed", "a", &[leaf(inline, "A"), inner, leaf(inline, "K")])
}

#[test]
fn the_example_of_the_standard_is_divided_as_it_says() {
    let message = example();
    let email = Email::of_bytes(message.as_bytes());
    let letters = |numbers: &[usize]| {
        let content = |number: &usize| email.content(email.part(*number).unwrap());
        let last = |number: &usize| char::from(*content(number).last().unwrap());
        numbers.iter().map(last).collect::<String>()
    };
    assert_eq!(letters(&email.text_body), "ABCDK");
    assert_eq!(letters(&email.html_body), "AEK");
    assert_eq!(letters(&email.attachments), "CFGHJ");
    // A part in the nested message has a number, but the message is a leaf.
    insta::assert_snapshot!(show(&message), @r"
    - multipart/mixed
      1 text/plain 1 charset=us-ascii disposition=inline
      - multipart/mixed
        - multipart/alternative
          - multipart/mixed
            2 text/plain 1 charset=us-ascii disposition=inline
            3 image/jpeg 1 disposition=inline
            4 text/plain 1 charset=us-ascii disposition=inline
          - multipart/related
            5 text/html 1 charset=us-ascii
            6 image/jpeg 1
        7 image/jpeg 1 disposition=attachment
        8 application/x-excel 1
        9 message/rfc822 13
      11 text/plain 1 charset=us-ascii disposition=inline
    text 1 2 3 4 11
    html 1 5 11
    attached 3 6 7 8 9
    has attachment
    ");
}

#[test]
fn the_fields_of_the_standards_example_are_read_in_their_forms() {
    let message = "From: \"James Smythe\" <james@example.com>, Friends:\n jane@example.com, \
        =?UTF-8?Q?John_Sm=C3=AEth?= <john@example.com>;\nSubject:  Dinner\n\t=?UTF-8?Q?on_Thursday=3F?= \n\
        List-Post: <mailto:f@example.com>\n\nHi\n";
    let email = Email::of_bytes(message.as_bytes());
    let fields = email.header_fields(&email.structure);
    let [from, subject, post] = fields.as_slice() else { panic!("{fields:?}") };
    let shown = |found: &crate::Address| format!("{}<{}>", found.name, found.address);
    let groups: Vec<String> = from
        .grouped_addresses()
        .iter()
        .map(|group| {
            let addresses: Vec<String> = group.addresses.iter().map(shown).collect();
            format!("{:?}: {}", group.name, addresses.join(", "))
        })
        .collect();
    assert_eq!(
        groups,
        [
            "None: James Smythe<james@example.com>",
            "Some(\"Friends\"): <jane@example.com>, John Smîth<john@example.com>"
        ]
    );
    assert_eq!(from.addresses().len(), 3);
    assert_eq!(subject.name(), "Subject");
    assert_eq!(subject.raw(), "  Dinner\n\t=?UTF-8?Q?on_Thursday=3F?= ");
    assert_eq!(subject.text(), "Dinner\ton Thursday?");
    assert_eq!(post.urls(), Some(vec!["mailto:f@example.com".to_owned()]));
}

#[test]
fn forms_of_a_text_are_divided() {
    let (plain, html) = (leaf("", "hello"), leaf("Content-Type: text/html", "<p>hello"));
    let picture = leaf("Content-Type: image/png\nContent-ID: <p@x>\nContent-Disposition: inline", "P");
    let named = leaf("Content-Type: text/plain; name=a.txt", "named");
    let calendar = leaf("Content-Type: text/calendar", "BEGIN:VCALENDAR");
    let alternative = |parts: &[&String]| {
        multipart("alternative", "x", &parts.iter().map(|part| (*part).clone()).collect::<Vec<_>>())
    };
    let related = multipart("related", "r", &[html.clone(), picture.clone(), named.clone()]);
    let nested = multipart("alternative", "y", &[html.clone(), alternative(&[&plain, &html])]);
    let closed = multipart("related", "z", &[html.clone(), alternative(&[&plain, &html])]);
    let footer = multipart("mixed", "v", &[html.clone(), plain.clone(), html.clone()]);
    for (message, text, html, attached) in [
        (plain.clone(), "1", "1", ""),
        (html.clone(), "1", "1", ""),
        (alternative(&[&plain, &html]), "1", "2", ""),
        (alternative(&[&plain]), "1", "1", ""),
        (alternative(&[&html]), "1", "1", ""),
        (alternative(&[&plain, &html, &calendar]), "1", "2", "3"),
        (alternative(&[&plain, &picture]), "1", "1", "2"),
        (alternative(&[&plain, &related]), "1", "2", "3 4"),
        (related.clone(), "1", "1", "2 3"),
        (multipart("mixed", "m", &[plain.clone(), picture.clone(), named.clone()]), "1 2", "1 2", "3"),
        (multipart("mixed", "m", &[named.clone(), plain.clone()]), "1 2", "1 2", ""),
        (multipart("mixed", "m", &[alternative(&[&plain, &html]), picture.clone()]), "1 3", "2 3", ""),
        (nested, "2", "1 3", ""),
        (multipart("alternative", "w", &[plain.clone(), closed]), "1", "2 4", "3"),
        (multipart("alternative", "w", &[plain.clone(), footer]), "1", "2", "3 4"),
        (
            multipart(
                "report",
                "m",
                &[plain.clone(), leaf("Content-Type: message/delivery-status", "Action: x")],
            ),
            "1",
            "1",
            "2",
        ),
    ] {
        let email = Email::of_bytes(message.as_bytes());
        let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        let lists = (list(&email.text_body), list(&email.html_body), list(&email.attachments));
        assert_eq!(lists, (text.into(), html.into(), attached.into()), "{message}");
    }
}

#[test]
fn properties_of_a_part_are_those_of_its_header() {
    let parts = [
        leaf("Content-Type: TEXT/Plain; Charset=ISO-8859-1\nContent-Language: de, (or) en-GB ,", "a\nb"),
        leaf("Content-Type: a/b; name=\"=?utf-8?q?caf=C3=A9?=\"\nContent-Disposition: Attachment", "x"),
        leaf(
            "Content-Disposition: inline; filename*=utf-8''caf%C3%A9.txt\nContent-Type: text/x; name=y",
            "x",
        ),
        leaf("Content-Disposition: attachment; filename*0*=latin1''%FC; filename*1=\"n.txt\"", "x"),
        leaf("Content-Disposition: Form-Data (a); name=z\nContent-Type: a/b; name*0=one; name*1=two", "x"),
        leaf("Content-ID:  (c) <a\n @b>\nContent-Location: http://x/\n y\nContent-Type: image/png", "x"),
        leaf("Content-Type: image/png\nContent-Transfer-Encoding: base64", "QUJD\nRA=="),
        leaf(
            "Content-Type: text/plain\nContent-Transfer-Encoding: x-uuencode",
            "begin 644 c.txt\n#0V%T\n`\nend",
        ),
        leaf("Content-Type: message/rfc822\nContent-Transfer-Encoding: base64", "U3ViamVjdDogaAoKZGVlcAo="),
        leaf("Content-Type: message/rfc822", "no header"),
        leaf("Content-Type: text/plain", ""),
        String::new(),
        leaf("X-Other: y", "x"),
    ];
    insta::assert_snapshot!(show(multipart("mixed", "b", &parts)), @r"
    - multipart/mixed
      1 text/plain 3 charset=ISO-8859-1 language=de+en-GB
      2 a/b 1 name=café disposition=attachment
      3 text/x 1 charset=us-ascii name=café.txt disposition=inline
      4 text/plain 1 charset=us-ascii name=ün.txt disposition=attachment
      5 a/b 1 name=onetwo disposition=form-data
      6 image/png 1 cid=a@b location=http://x/y
      7 image/png 4
      8 text/plain 3 charset=us-ascii name=c.txt
      9 message/rfc822 17
      11 text/plain 9 charset=us-ascii
      12 text/plain 0 charset=us-ascii
      13 text/plain 1 charset=us-ascii
    text 1 6 7 11 12 13
    html 1 6 7 11 12 13
    attached 2 3 4 5 8 9
    has attachment
    ");
    let digest = [leaf("", "Subject: one\n\nfirst"), leaf("X: y", "Subject: two\n\nsecond")];
    insta::assert_snapshot!(show(multipart("digest", "b", &digest)), @r"
    - multipart/digest
      1 message/rfc822 20 charset=us-ascii
      3 message/rfc822 20 charset=us-ascii
    text
    html
    attached 1 3
    ");
}

#[test]
fn raw_bytes_of_a_header_have_the_charset_of_the_body() {
    let message = b"Subject: k\xb1t\nContent-Type: text/plain; charset=iso-8859-2\n\nbody";
    let email = Email::of_bytes(message);
    assert_eq!(email.header_fields(&email.structure)[0].text(), "k\u{105}t");
}

#[test]
fn broken_messages_have_a_structure() {
    let mixed = |body: &str| format!("Content-Type: multipart/mixed; boundary=b\n\n{body}");
    let shown: Vec<String> = [
        String::new(),
        "no header".to_owned(),
        "Subject: no body".to_owned(),
        mixed(""),
        mixed("--b\n\none\n--b\nContent-Type: text/html\n\ntwo, and not closed"),
        mixed("no boundary\n"),
        mixed("preamble\n--b--\n"),
        mixed("--x\nContent-Type: text/html\n\nanother boundary\n--x--\n"),
        "Content-Type: multipart/mixed\n\n--x\nContent-Type: a/b\n\nunsaid boundary\n--x--\n".to_owned(),
    ]
    .iter()
    .map(show)
    .collect();
    insta::assert_snapshot!(shown.join("\n\n"), @r"
    1 text/plain 0 charset=us-ascii
    text 1
    html 1
    attached

    1 text/plain 9 charset=us-ascii
    text 1
    html 1
    attached

    1 text/plain 0 charset=us-ascii
    text 1
    html 1
    attached

    1 text/plain 0 charset=us-ascii
    text 1
    html 1
    attached

    - multipart/mixed
      1 text/plain 3 charset=us-ascii
      2 text/html 19 charset=us-ascii
    text 1 2
    html 1 2
    attached

    1 text/plain 12 charset=us-ascii
    text 1
    html 1
    attached

    - multipart/mixed
      1 text/plain 9 charset=us-ascii
    text 1
    html 1
    attached

    - multipart/mixed
      1 text/html 16 charset=us-ascii
    text 1
    html 1
    attached

    - multipart/mixed
      1 a/b 15
    text
    html
    attached 1
    has attachment
    ");
}

#[test]
fn messages_of_one_part_have_a_structure() {
    let shown: Vec<String> = [
        "Content-Type: message/rfc822\n\nSubject: in\n\ninner\n".to_owned(),
        "Subject: old Macintosh\rContent-Type: text/html\r\r<p>two\rlines\r".to_owned(),
        "\n\nFrom me\nContent-Type: image/gif\n\nG".to_owned(),
    ]
    .iter()
    .map(show)
    .collect();
    insta::assert_snapshot!(shown.join("\n\n"), @r"
    1 message/rfc822 19
    text
    html
    attached 1
    has attachment

    1 text/html 13 charset=us-ascii
    text 1
    html 1
    attached

    1 image/gif 1
    text 1
    html 1
    attached
    has attachment
    ");
}

#[test]
fn beyond_the_depth_the_rest_is_one_leaf() {
    let deep = (0..=MIME_DEPTH_MAX)
        .rev()
        .fold("deep\n".to_owned(), |inner, depth| multipart("mixed", &format!("b{depth}"), &[inner]));
    let email = Email::of_bytes(deep.as_bytes());
    assert_eq!((email.text_body.as_slice(), email.structure.part_id), (&[1][..], None));
    assert_eq!(email.part(1).map(|part| part.mime.as_str()), Some("text/plain"));
    assert!(email.content(email.part(1).unwrap()).ends_with(b"deep\n\n--b50--\n"));
    assert_eq!(email.problems, [Problem::NestedTooDeep]);
}

#[test]
fn texts_are_decoded_and_cut() {
    let value = |header: &str, content: &[u8], length| {
        let message = [header.as_bytes(), b"\n\n", content].concat();
        let email = Email::of_bytes(&message);
        let found = email.value(&email.structure, length);
        let mark = |is_so: bool, mark: &'static str| if is_so { mark } else { "" };
        found.map(|found| {
            found.value + mark(found.is_encoding_problem, " !") + mark(found.is_truncated, " ...")
        })
    };
    let latin = "Content-Type: text/plain; charset=iso-8859-1";
    for (header, content, length, expected) in [
        ("X: y", &b"a\r\nb\rc\n"[..], None, Some("a\nb\rc\n")),
        ("X: y", b"", Some(0), Some("")),
        ("X: y", b"ab", Some(2), Some("ab")),
        ("X: y", b"abc", Some(2), Some("ab ...")),
        ("X: y", "a\u{e9}".as_bytes(), Some(2), Some("a ...")),
        ("X: y", b"caf\xe9", None, Some("caf\u{e9} !")),
        (latin, b"caf\xe9", None, Some("caf\u{e9}")),
        (latin, b"caf\xe9\r\n", Some(5), Some("caf\u{e9} ...")),
        ("Content-Type: text/plain; charset=utf-8", b"caf\xe9", None, Some("caf\u{e9} !")),
        ("Content-Type: text/plain; charset=x-none", b"a", None, Some("a !")),
        ("Content-Transfer-Encoding: x-none", b"a", None, Some("a !")),
        ("Content-Transfer-Encoding: base64", b"QUJD*", None, Some("ABC !")),
        ("Content-Transfer-Encoding: base64", b"QUJD", None, Some("ABC")),
        ("Content-Transfer-Encoding: x-uue", b"begin 644 c\n#0V%T\n`\nend\n", None, Some("Cat")),
        ("Content-Type: text/html", b"<meta charset=latin1>\xe9", None, Some("<meta charset=latin1>\u{e9}")),
        ("Content-Type: text/html", b"a<b c=d>e", Some(6), Some("a ...")),
        ("Content-Type: text/plain", b"a<b c=d>e", Some(6), Some("a<b c= ...")),
        ("Content-Type: image/png", b"a", None, None),
        ("Content-Type: multipart/mixed; boundary=b", b"--b\n\na\n--b--", None, None),
    ] {
        assert_eq!(value(header, content, length).as_deref(), expected, "{header}");
    }
}

#[test]
fn the_preview_is_of_the_form_that_has_words() {
    let preview = |message: &str| Email::of_bytes(message.as_bytes()).preview();
    let html = leaf("Content-Type: text/html", "<style>x</style><p>Hello <b>there");
    assert_eq!(preview(&leaf("", "> quoted\nown words\n")), "own words");
    assert_eq!(preview(&html), "Hello there");
    assert_eq!(preview(&multipart("alternative", "b", &[leaf("", " \n"), html.clone()])), "Hello there");
    assert_eq!(preview(&multipart("alternative", "b", &[leaf("", "plain"), html])), "plain");
    assert_eq!(preview("Content-Type: image/png\n\nx"), "");
    assert_eq!(preview(&"word ".repeat(1_000)).chars().count(), SNIPPET_CHARACTERS_MAX - 1);
}

#[test]
fn numbers_and_contents_are_those_of_the_parts_that_are_extracted() {
    let nested =
        leaf("Content-Type: message/rfc822", &multipart("mixed", "n", &[leaf("", "in"), leaf("", "in")]));
    let encoded = leaf(
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable",
        "Subject: x\n\n=41 soft=\nline",
    );
    let data = leaf("Content-Type: a/b\nContent-Transfer-Encoding: base64", "QUJD");
    let message = multipart("mixed", "b", &[nested, encoded, data, "last".to_owned()]);
    let mac = message.replace('\n', "\r");
    for message in [message, mac] {
        let email = Email::of_bytes(message.as_bytes());
        let mut parts = MessageParts::of_bytes(message.as_bytes());
        let outer: Vec<_> = parts.list().unwrap().into_iter().filter(|part| part.depth == 0).collect();
        let numbers: Vec<usize> = outer.iter().map(|part| part.number).collect();
        assert_eq!(numbers, [1, 4, 6, 7]);
        for expected in outer {
            let part = email.part(expected.number).unwrap();
            let mut content = Vec::new();
            parts.each_block(expected.number, &mut |block| content.extend_from_slice(block)).unwrap();
            assert_eq!(email.content(part), content, "{part:?}");
            assert_eq!(
                (part.mime.as_str(), Some(part.size_bytes)),
                (expected.mime.as_str(), expected.size_bytes)
            );
        }
        assert!(email.part(2).is_none() && email.part(0).is_none() && email.part(8).is_none());
    }
}

/// Each part is found by its number, as a search through the whole tree finds it.
#[test]
fn parts_are_found_by_their_numbers_in_any_tree() {
    fn search(part: &BodyPart, number: usize) -> Option<&BodyPart> {
        let here = Some(part).filter(|part| part.part_id == Some(number));
        here.or_else(|| part.sub_parts.iter().find_map(|part| search(part, number)))
    }
    fn multipart(seed: &mut u64, depth: u64) -> String {
        let mut next = |bound: u64| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) % bound
        };
        let (kind, count) = (if depth == 0 { 0 } else { next(4) }, next(4));
        match kind {
            0 => "Content-Type: text/plain\n\nx\n".to_owned(),
            1 => format!("Content-Type: message/rfc822\n\n{}", multipart(seed, depth - 1)),
            _ => {
                let mut text = format!("Content-Type: multipart/mixed; boundary=b{depth}\n\n");
                for _ in 0..count {
                    text += &format!("--b{depth}\n{}", multipart(seed, depth - 1));
                }
                text + &format!("--b{depth}--\n")
            }
        }
    }
    let mut found_count = 0;
    for mut seed in 0..400 {
        let text = multipart(&mut seed, 5);
        let email = Email::of_bytes(text.as_bytes());
        for number in 0..40 {
            let (found, expected) = (email.part(number), search(&email.structure, number));
            assert_eq!(found.map(|part| &part.encoded), expected.map(|part| &part.encoded), "{text}");
            assert_eq!(found.map(|part| part.part_id), expected.map(|part| part.part_id), "{text}");
            found_count += usize::from(found.is_some());
        }
    }
    assert!(found_count > 500, "{found_count}");
}
