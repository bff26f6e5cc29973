//! Tests which form of a text is shown, and what is shown of a message without a date.
//!
//! Input: messages in several forms, and some without a date. Output: what `view` and `find` print. Does not
//! depend on how a form is chosen.

use crate::support::{Home, run_with_input};

fn golden(name: &str) -> Vec<u8> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/mail");
    std::fs::read(format!("{directory}/{name}.eml")).unwrap()
}

#[test]
fn the_better_form_is_shown_and_the_other_mentioned() {
    let home = Home::new();
    let show = |name: &str, options: &[&str]| {
        let arguments = [&["view"], options, &["-"]].concat();
        let run = run_with_input(&mut home.command(&arguments), &golden(name));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        run.out
    };
    insta::assert_snapshot!(show("alternative-html-better", &[]), @r"
    From: ana@example.org
    Date: Mon, 05 Jan 2004 10:00:00 +0000
    Subject: Your account
    Message-ID: better@example.org
    Also: text/plain (more words: --prefer plain)

    Your mailbox is nearly full, and letters may be lost.

    To keep them, click here[1] within a day.

    Whoever does not will not get any more letters from tomorrow on.

    Links:
    [1] https://example.org/hook
    ");
    let plain = show("alternative-html-better", &["--prefer", "plain"]);
    assert!(
        plain.contains("\nAlso: text/html (more words: --prefer html)\n\nAAA. View this in a browser: "),
        "{plain}"
    );
    let text = show("alternative-html-more", &[]);
    assert!(
        text.contains("Also: text/html (more words: --prefer html)\nAlso: text/x-amp-html (more words)\n\n"),
        "{text}"
    );
    assert!(text.contains("\nHere are the minutes") && !text.contains("Roof"), "{text}");
    let html = show("alternative-html-more", &["--prefer", "html"]);
    assert!(
        html.contains("\nAlso: text/plain (the same words)\n") && html.contains("\nRoof 12,000\n"),
        "{html}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&show("alternative-html-more", &["-o", "json"])).unwrap();
    let also = serde_json::json!([
        {"type": "text/html", "text": "The budget of the building is in the table:\nRoof 12,000\nWindows \
            9,000"},
        {"type": "text/x-amp-html", "text": "Here are the minutes, and a carousel with windows."},
    ]);
    assert_eq!(json["also"], also);
    assert!(json["text"].as_str().unwrap().starts_with("Here are the minutes"));
    let page = show("alternative-html-better", &["-o", "html"]);
    assert!(page.contains("<a href=\"https://example.org/hook\"") && !page.contains("AAA"), "{page}");
    let page = show("alternative-html-better", &["-o", "html", "--prefer", "plain"]);
    assert!(page.contains("<pre>AAA") && !page.contains("mailbox"), "{page}");
}

#[test]
fn a_message_without_a_date_has_none_in_any_format() {
    let home = Home::new();
    let undated = b"From: Ana <ana@example.org>\nMessage-ID: <1@example.org>\nSubject: undated\n\nx\n";
    let path = home.deliver("", "5.x:2,S", undated);
    home.first_index();
    assert_eq!(home.good(&["find", "--fields", "d|s"]), format!("{:16}|undated\n", ""));
    let json: serde_json::Value = serde_json::from_str(&home.good(&["find", "-o", "json"])).unwrap();
    assert!(json.get("date").is_none() && json.get("date_unix").is_none(), "{json}");
    let sexp = home.good(&["find", "-o", "sexp"]);
    assert!(!sexp.contains(":date"), "{sexp}");
    let mbox = home.good(&["find", "-o", "mbox"]);
    assert!(mbox.starts_with("From ana@example.org Thu Jan  1 00:00:00 1970\n"), "{mbox}");
    let view = home.good(&["view", "id:1@example.org"]);
    assert!(!view.contains("\nDate:") && view.contains("Problem: the message has no date\n"), "{view}");
    let contact = home.good(&["contacts", "-o", "json"]);
    assert!(contact.contains("\"sent\":1") && !contact.contains("unix"), "{contact}");
    // The index knows the earliest name of all; without it, the name of the file counts.
    home.deliver("", "1104580800.x:2,S", undated);
    home.good(&["index"]);
    for handle in ["id:1@example.org", path.to_str().unwrap()] {
        let view = home.good(&["view", handle]);
        assert!(view.contains("\nDate: Sat, 01 Jan 2005 12:00:00 +0000\n"), "{view}");
    }
    let elsewhere = home.path().join("1104667200.eml");
    std::fs::write(&elsewhere, [&undated[..], b"other"].concat()).unwrap();
    let view = home.good(&["view", elsewhere.to_str().unwrap()]);
    assert!(view.contains("\nDate: Sun, 02 Jan 2005 12:00:00 +0000\n"), "{view}");
}
