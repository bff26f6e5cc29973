//! Copies: messages that read the same, however they came, and messages that are not copies because a reader
//! could tell them apart.
//!
//! Input: one message, and a change to it. Output: whether both have the same hash.

use crate::message::parsed;
use mail::limits;

const WHOLE: &str = "\
Received: from a by b; Tue, 4 Mar 2025 10:00:01 +0000
From: Ann Bee <ann@example.org>
Reply-To: Ann <home@example.org>
To: List <list@example.org>, bo@example.org
Cc: Cy <cy@example.org>
Date: Tue, 4 Mar 2025 10:00:00 +0000
Subject: [PATCH v6] Caf\u{e9} au lait
Message-ID: <1@example.org>
In-Reply-To: <0@example.org>
References: <00@example.org> <0@example.org>
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

Gr\u{fc}\u{df}e, und mehr
--b
Content-Type: multipart/related; boundary=c

--c
Content-Type: text/html

<img src=cid:1><img src=cid:2>
--c
Content-Type: image/png
Content-ID: <1>

one
--c
Content-Type: image/png
Content-ID: <2>

two
--c--
--b
Content-Type: application/pdf; name=plan.pdf

pdf
--b
Content-Type: message/rfc822

Subject: inner
From: x@example.org

inner text
--b--
";

fn hash(text: impl AsRef<[u8]>) -> u128 {
    parsed(text).copy_hash.expect("no limit cuts it")
}

/// Replaces a text that is there.
fn with(old: &str, new: &str) -> String {
    assert!(WHOLE.contains(old), "{old}");
    WHOLE.replacen(old, new, 1)
}

#[test]
fn the_way_that_a_message_came_does_not_count() {
    let whole = hash(WHOLE);
    for (old, new) in [
        (
            "Received: from a by b; Tue, 4 Mar 2025 10:00:01 +0000\n",
            "Received: by c; Wed, 5 Mar 2025 9:0:0 +0000\n",
        ),
        (
            "Subject:",
            "List-Id: A list <l.example.org>\nPrecedence: list\nSender: owner@example.org\nSubject:",
        ),
        ("Subject:", "DKIM-Signature: v=1\nX-Spam-Score: 9\nDelivered-To: bo@example.org\nSubject:"),
        ("Subject:", "Resent-From: x@example.org\nStatus: RO\nBcc:\nX-Label:\nX-Priority: 3\nSubject:"),
        // Folded, quoted and encoded in another way.
        ("From: Ann Bee <ann@example.org>", "from:\n \"Ann Bee\"\n <ann@example.org>"),
        (
            "To: List <list@example.org>, bo@example.org",
            "To: =?utf-8?q?List?= <list@example.org>,\n\t<bo@example.org>",
        ),
        ("Caf\u{e9} au lait", "=?iso-8859-1?q?Caf=E9?=\n au lait"),
        ("Date: Tue, 4 Mar 2025 10:00:00 +0000", "Date:   Tue, 4 Mar 2025\n 10:00:00 +0000"),
        ("<00@example.org> <0@example.org>", "<00@example.org>\n\t<0@example.org>"),
        ("\n\nGr\u{fc}\u{df}e", "\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe"),
        ("\n\npdf", "\nContent-Transfer-Encoding: base64\n\ncGRm"),
        ("charset=utf-8", "charset=\"UTF-8\"; format=flowed"),
        ("Content-Type: text/html", "Content-Type: text/html; charset=us-ascii"),
        ("Content-Type: text/html", "Content-Disposition: inline\nContent-Type: text/html"),
        ("boundary=c\n\n--c\n", "boundary=\"c\"\n\npreamble\n--c\n"),
        ("; name=plan.pdf", "\nContent-Disposition: inline; filename=\"plan.pdf\""),
    ] {
        assert_eq!(hash(with(old, new)), whole, "{new}");
    }
    assert_eq!(hash(WHOLE.replace('\n', "\r\n")), whole);
    assert_eq!(hash(WHOLE.replace("mehr\n", "mehr \n\n")), whole, "what is empty at the end");
}

#[test]
fn nothing_that_a_reader_can_tell_apart_is_a_copy() {
    let mut all = vec![("nothing", hash(WHOLE))];
    for (old, new) in [
        ("[PATCH v6]", "[RESEND PATCH v6]"),
        ("Subject:", "Subject: another\nSubject:"),
        ("\nMessage-ID", "\nSubject: another\nMessage-ID"),
        ("Ann Bee <ann@example.org>", "Ann Bee <ann@example.com>"),
        ("Ann Bee <ann@example.org>", "Ann B <ann@example.org>"),
        ("From:", "From: Eve <eve@example.org>\nFrom:"),
        ("home@example.org", "away@example.org"),
        ("bo@example.org", "by@example.org"),
        ("To: List <list@example.org>, bo@example.org", "To: bo@example.org, List <list@example.org>"),
        ("Cc: Cy <cy@example.org>\n", ""),
        ("Cc: Cy", "Bcc: Cy"),
        ("Date: Tue", "Date: Wed"),
        ("10:00:00 +0000", "11:00:00 +0100"),
        ("Date:", "Date: Tue, 4 Mar 2025 10:00:00 +0000\nDate:"),
        ("Message-ID: <1@", "Message-ID: <2@"),
        ("In-Reply-To: <0@", "In-Reply-To: <x@"),
        ("References: <00@", "References: <x@"),
        ("Subject:", "Keywords: spam\nSubject:"),
        ("Subject:", "X-Priority: 1\nSubject:"),
        ("und mehr", "und  mehr"),
        ("charset=utf-8", "charset=iso-8859-1"),
        ("charset=utf-8", "charset=koi8-r"),
        ("text/plain; charset=utf-8", "text/html; charset=utf-8"),
        (
            "Content-Type: text/plain; charset=utf-8",
            "Content-Disposition: attachment\nContent-Type: text/plain; charset=utf-8",
        ),
        ("name=plan.pdf", "name=plan.exe"),
        ("application/pdf", "application/x-pdf"),
        ("multipart/mixed", "multipart/alternative"),
        ("multipart/mixed", "multipart/signed"),
        ("multipart/related", "multipart/alternative"),
        ("Content-ID: <1>", "Content-ID: <3>"),
        ("Content-ID: <1>", "Content-Location: 1\nContent-ID: <1>"),
        ("\n\none\n", "\n\nOne\n"),
        ("Subject: inner", "Subject: outer"),
        ("inner text", "inner words"),
        ("--c--\n--b\n", "--c\n"),
    ] {
        all.push((new, hash(with(old, new))));
    }
    let mut hashes: Vec<u128> = all.iter().map(|(_, hash)| *hash).collect();
    hashes.sort_unstable();
    for pair in hashes.windows(2) {
        let same = all.iter().filter(|(_, hash)| *hash == pair[0]).map(|(new, _)| *new);
        assert_ne!(pair[0], pair[1], "{:?}", same.collect::<Vec<_>>());
    }
}

/// Text without a charset takes that of another part: its label counts where it is.
#[test]
fn a_charset_that_another_part_names_counts_where_text_names_none() {
    let message = |first: &str, second: &str, text: &[u8]| {
        let part = |mime: &str| format!("--b\nContent-Type: text/plain{mime}\n\n");
        let head = "Content-Type: multipart/mixed; boundary=b\n\n".to_owned();
        let head = head + &part(second) + "plain\n" + &part(first);
        hash([head.as_bytes(), text, b"\n--b--\n"].concat())
    };
    let labels = ["; charset=koi8-r", "; charset=iso-8859-2"];
    assert_eq!(message("", labels[0], b"plain"), message("", labels[1], b"plain"));
    assert_ne!(message("", labels[0], b"\xf0\xd2"), message("", labels[1], b"\xf0\xd2"));
    assert_eq!(message(labels[0], labels[0], b"\xf0\xd2"), message(labels[0], labels[1], b"\xf0\xd2"));
    let nested = |second: &str, subject: &[u8]| {
        let head =
            format!("Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain{second}\n\n");
        let inner = b"plain\n--b\nContent-Type: message/rfc822\n\nSubject: ";
        hash([head.as_bytes(), inner, subject, b"\n\nx\n--b--\n"].concat())
    };
    assert_eq!(nested(labels[0], b"plain"), nested(labels[1], b"plain"));
    assert_ne!(nested(labels[0], b"\xf0\xd2"), nested(labels[1], b"\xf0\xd2"));
}

/// What a limit cuts may differ in the rest: it is a copy of nothing.
#[test]
fn what_is_cut_has_no_hash() {
    let many = |one: &str, count: usize| one.repeat(count);
    for (head, body) in [
        (format!("Subject: {}", many("x", limits::VALUE_BYTES_MAX + 1)), String::new()),
        (format!("Date: {}", many("x", limits::VALUE_BYTES_MAX + 1)), String::new()),
        (format!("To: {}", many("a@example.org,", limits::ADDRESS_COUNT_MAX + 1)), String::new()),
        (
            format!(
                "References: {}",
                (0..=limits::REFERENCE_COUNT_MAX).map(|id| format!("<{id}>")).collect::<String>()
            ),
            String::new(),
        ),
        (many("X: y\n", limits::FIELD_COUNT_MAX) + "Subject: s", String::new()),
        (
            "Content-Type: multipart/mixed; boundary=b".to_owned(),
            many("--b\n\nx\n", limits::PART_COUNT_MAX + 1),
        ),
    ] {
        let shown = &head[..head.len().min(40)];
        assert_eq!(parsed(format!("{head}\n\n{body}")).copy_hash, None, "{shown}");
    }
}

/// Tags and backups have ids that older versions derived: they stay as they were.
#[test]
fn a_derived_id_stays_what_it_always_was() {
    let text = "From: Ann <ann@example.org>\nSubject: no id\nDate: Tue, 4 Mar 2025 10:00:00 +0000\n\
                Content-Type: multipart/mixed; boundary=b\n\n\
                --b\n\nHello\n--b\nContent-Type: a/b\n\nx\n--b--\n";
    let message = parsed(text);
    assert_eq!(message.message_id, "f00b81d7c197ef7a9c5a4b5fe7dac230@derived.pneu");
    // One whose other parts of the header differ has the same id, and is no copy.
    let other = parsed(text.replace("Subject:", "Reply-To: eve@example.org\nSubject:"));
    assert_eq!(other.message_id, message.message_id);
    assert_ne!(other.copy_hash, message.copy_hash);
}

/// HTML may name a charset for itself, which counts where its header names none.
#[test]
fn a_charset_that_html_names_for_itself_counts() {
    let message = |label: &str, meta: &str, text: &[u8]| {
        let head = format!("Content-Type: text/html{label}\n\n<meta charset={meta}><p>");
        hash([head.as_bytes(), text, b"</p>\n"].concat())
    };
    let cyrillic = b"\xcf\xf0\xe8\xe2\xe5\xf2";
    assert_ne!(
        message("", "windows-1251", cyrillic),
        message("; charset=us-ascii", "windows-1251", cyrillic)
    );
    assert_ne!(message("", "utf-7", b"+BB8-"), message("; charset=utf-8", "utf-7", b"+BB8-"));
    assert_eq!(message("", "utf-8", b"plain"), message("; charset=utf-8", "utf-8", b"plain"));
}

/// Parts of an encoded message within the message count with the others.
#[test]
fn parts_that_are_left_out_within_a_nested_message_are_told() {
    let part = "--b\nContent-Type: text/plain\n\nx\n";
    let inner = format!("Content-Type: multipart/mixed; boundary=b\n\n{}--b--\n", part.repeat(100));
    let mut encoded =
        String::from("--b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n");
    encoded.push_str(&inner.replace('=', "=3D").replace("--b", "=2D-b"));
    let outer = part.repeat(limits::PART_COUNT_MAX - 50);
    let message = parsed(format!("Content-Type: multipart/mixed; boundary=b\n\n{outer}{encoded}\n--b--\n"));
    assert!(message.problems.contains(&mail::Problem::PartsCut), "{:?}", message.problems);
    assert_eq!(message.copy_hash, None);
}
