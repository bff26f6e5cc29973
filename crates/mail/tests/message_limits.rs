//! Messages beyond every limit, and messages that would take a careless parser hours.
//!
//! Each must be cut at its limit, with a problem. No test measures time: a failure here does not end.

use crate::message::parsed;
use mail::{Problem, limits};

fn multipart(parts: &str) -> String {
    format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}")
}

#[test]
fn a_header_field_of_200_kilobytes_is_cut() {
    let message =
        parsed(format!("Subject: {}\nTo: {}x@y\n\n", "word ".repeat(40_000), "a@b, ".repeat(40_000)));
    assert!(
        message.subject.len() <= limits::VALUE_BYTES_MAX
            && message.subject.len() + 5 > limits::VALUE_BYTES_MAX
    );
    assert_eq!(message.to.len(), limits::ADDRESS_COUNT_MAX);
    for problem in [Problem::HeaderCut, Problem::AddressesCut] {
        assert!(message.problems.contains(&problem), "{problem}");
    }
    let subject = "é".repeat(limits::VALUE_BYTES_MAX);
    for padding in ["", "x"] {
        let message = parsed(format!("Subject: {padding}{subject}\n\n"));
        assert!(message.subject.chars().all(|character| "éx".contains(character)));
    }
}

#[test]
fn all_references_of_a_long_thread_are_not_kept() {
    let ids: String = (0..10_000).map(|number| format!("<{number}@example.org>\n ")).collect();
    let message = parsed(format!("References: {ids}\nIn-Reply-To: <last@x>\n\n"));
    assert_eq!(message.references.len(), limits::REFERENCE_COUNT_MAX);
    assert_eq!(message.references[0], "0@example.org");
    assert_eq!(message.references[limits::REFERENCE_COUNT_MAX - 1], "last@x");
    assert!(message.problems.contains(&Problem::ReferencesCut));
}

#[test]
fn a_message_id_that_is_too_long_is_none() {
    let id = "x".repeat(limits::MESSAGE_ID_BYTES_MAX);
    assert_eq!(parsed(format!("Message-ID: <{id}>\n\n")).message_id, id);
    assert!(parsed(format!("Message-ID: <x{id}>\n\n")).message_id_derived);
}

#[test]
fn fields_over_the_limit_are_left_out() {
    let message = parsed("X-Field: x\n".repeat(limits::FIELD_COUNT_MAX) + "Subject: too late\n\nbody\n");
    assert_eq!((message.subject.as_str(), message.text.as_str()), ("", "body"));
    assert!(message.problems.contains(&Problem::HeaderCut));
}

#[test]
fn named_fields_over_the_limit_are_left_out() {
    let message =
        parsed("X-Mailer: x\n".repeat(limits::NAMED_FIELD_COUNT_MAX + 1) + "X-Spam-Score: 1\n\nbody\n");
    assert_eq!(message.headers.len(), limits::NAMED_FIELD_COUNT_MAX + 1);
    assert_eq!(message.headers.last().unwrap().0, "X-Spam-Score");
    let message = parsed(format!("X-Mailer: {}\n\n", "x".repeat(limits::VALUE_BYTES_MAX + 1)));
    assert_eq!(message.headers[0].1.len(), limits::VALUE_BYTES_MAX);
    assert!(message.problems.contains(&Problem::HeaderCut));
}

#[test]
fn text_is_cut_at_a_character() {
    for piece in ["é", "word\n", "x"] {
        let text = piece.repeat(limits::TEXT_BYTES_MAX / piece.len() + 1);
        for header in ["Content-Type: text/plain; charset=utf-8", "Content-Type: text/html; charset=utf-8"] {
            let message = parsed(format!("{header}\n\n{text}{text}"));
            assert!(message.text.len() <= limits::TEXT_BYTES_MAX);
            assert!(
                message.text.len() + 10 > limits::TEXT_BYTES_MAX,
                "{} {piece:?} {header}",
                message.text.len()
            );
            assert!(!message.text.contains('\u{fffd}'));
            assert!(message.problems.contains(&Problem::TextCut));
        }
    }
    let exact = "x".repeat(limits::TEXT_BYTES_MAX);
    let message = parsed(format!("A: b\n\n{exact}\n"));
    assert_eq!((message.text == exact, message.problems.contains(&Problem::TextCut)), (true, false));
}

#[test]
fn many_parts_share_the_limit_of_text() {
    let part = format!("--b\n\n{}\n", "word ".repeat(2_000));
    let message = parsed(multipart(&part.repeat(300)));
    assert!(message.text.len() <= limits::TEXT_BYTES_MAX && message.problems.contains(&Problem::TextCut));
}

#[test]
fn lists_have_limits() {
    let part = |number: usize| format!("--b\nContent-Type: a/{number}; name=n\n\nx\n");
    let parts: String = (0..limits::ATTACHMENT_COUNT_MAX + 10).map(part).collect();
    let labels = (0..1_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let message = parsed(format!("Keywords: {labels}\n{}", multipart(&parts)));
    assert_eq!(message.attachments.len(), limits::ATTACHMENT_COUNT_MAX);
    assert_eq!(message.mime_types.len(), limits::MIME_TYPE_COUNT_MAX);
    assert_eq!(message.labels.len(), limits::LABEL_COUNT_MAX);
    assert!(message.problems.contains(&Problem::AttachmentsCut));
    let message = parsed(multipart(&"--b\n\nx\n".repeat(limits::PART_COUNT_MAX + 10)));
    assert!(message.problems.contains(&Problem::PartsCut));
    assert_eq!(message.text.lines().filter(|line| *line == "x").count(), limits::PART_COUNT_MAX - 1);
}

#[test]
fn what_lies_too_deep_is_read_as_text() {
    let nested = |depth: usize| {
        let levels = (0..depth)
            .map(|level| format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n"));
        parsed(levels.collect::<String>() + "\nneedle\n")
    };
    assert!(!nested(limits::MIME_DEPTH_MAX).problems.contains(&Problem::NestedTooDeep));
    for depth in [limits::MIME_DEPTH_MAX + 1, 100, 100_000] {
        let message = nested(depth);
        assert!(message.problems.contains(&Problem::NestedTooDeep));
        assert!(depth > 100 || message.text.contains("needle"));
    }
}

#[test]
fn an_attachment_of_many_megabytes_is_hashed_block_by_block() {
    let line = "QUJD".repeat(19) + "\n";
    let header =
        "Content-Type: application/octet-stream; name=big.bin\nContent-Transfer-Encoding: base64\n\n";
    let message = parsed(format!("{header}{}", line.repeat(100_000)));
    assert_eq!(message.attachments[0].size_bytes, 19 * 3 * 100_000);
    let plain = header.replace("base64", "binary") + &"ABC".repeat(19 * 100_000);
    assert_eq!(parsed(plain).copy_hash, message.copy_hash);
    assert!(message.copy_hash.is_some());
}

#[test]
fn nonsense_of_a_megabyte_is_read_once() {
    for piece in [
        "Content-Type: message/rfc822\n\n",
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n",
        "Content-Type: multipart/mixed\n\n--x\n",
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n",
        "--b\nContent-Type: multipart/mixed; boundary=never\n\nx\n",
        "Subject: =?aa?q?b",
        "=?aa?q?b",
        "Received: x; ;;;;\n",
        "To: (\"<\n",
        "Content-Type: a/b; a*0*=x; a*1*=y;",
        "\r",
        "\n",
        "\0",
        "--",
        "<",
        "\x1b$B",
        "=?hz?q?~{?= ",
        "=?utf-7?q?+A?= ",
        "=?iso-2022-jp?q?=1B$B?= ",
        "=?iso-2022-kr?q?=0E?= ",
        "Content-Type: a/b; name*0=x; name*1*=y;",
        "<a hidden style='font-size:0'>",
        "<td hidden><table>",
    ] {
        let bytes = multipart("--b\nContent-Type: text/html\n\n") + &piece.repeat((1 << 20) / piece.len());
        let part = &bytes.as_bytes()[bytes.len() - (1 << 20) + 100..];
        let header = format!("Subject: {}\nTo: {0}\n\n", piece.repeat(50_000));
        for bytes in [bytes.as_bytes(), part, header.as_bytes()] {
            assert!(parsed(bytes).text.len() <= bytes.len());
        }
    }
}
