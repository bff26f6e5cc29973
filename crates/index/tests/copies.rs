//! Copies: every query treats messages that read the same as one message, and no others.
//!
//! Input: deliveries of one message, and forgeries of it. Output: what is found and shown. Uses only the
//! public interface of the index.

use crate::support::{Fixture, message, query, query_with};
use index::{Duplicates, Mailbox, Order, RecordReader, SortKey, UpdateOptions, shown_flags};
use std::fs;

const HEADERS: [&str; 1] = ["X-Spam-Score"];

/// The message as its author sent it.
fn sent() -> String {
    message("m", "words of Ana", "the same words").replace("Subject", "Cc: Cy <cy@example.org>\nSubject")
}

/// The message as a mailing list forwarded it.
fn by_list() -> String {
    format!(
        "Received: from list by here; Tue, 4 Mar 2025 10:00:09 +0000\nList-Id: Words <words.example.org>\n\
         Precedence: list\nSender: owner@example.org\nX-Spam-Score: 7\n{}",
        sent()
    )
}

fn counts(mailbox: &Mailbox, questions: &[(&str, u64)]) {
    for (text, expected) in questions {
        let found = mailbox.count(&query_with(text, &HEADERS)).unwrap();
        assert_eq!(found, *expected, "{text}");
    }
}

/// Returns what the first message of a query shows: flags as letters, its list, its configured fields and the
/// number of its files.
fn shown(mailbox: &Mailbox, text: &str) -> (String, String, Vec<String>, usize) {
    let hits = mailbox.find(&query_with(text, &HEADERS), &Order::default()).unwrap();
    let message = mailbox.message(&hits.list[0], &mut RecordReader::new()).unwrap();
    let flags = shown_flags(message.files.iter().map(|file| file.flags), message.line.derived);
    let headers = message.rest.headers.iter().map(|(_, value)| value.clone()).collect();
    (flags.map(|info| info.letter).collect(), message.rest.list_id, headers, message.files.len())
}

fn with_headers(fixture: &Fixture) {
    let headers = HEADERS.map(str::to_owned).to_vec();
    fixture.update_with(&UpdateOptions { headers, ..UpdateOptions::default() });
    fixture.check();
}

/// Anyone who has seen a post knows its Message-ID and its text, and can forge a copy.
#[test]
fn a_forgery_hides_nothing() {
    for (old, new) in [
        ("From: Ana Ito <ana@example.org>", "From: Eve <eve@example.org>"),
        ("From: Ana Ito <ana@example.org>", "From: Ana Ito <eve@example.org>"),
        ("To: Bo", "To: Eve"),
        ("Cc: Cy", "Cc: Dee"),
        ("Subject: words", "Subject: RESEND words"),
        ("Subject: words", "Reply-To: eve@example.org\nSubject: words"),
        ("Date: Tue, 4 Mar", "Date: Wed, 5 Mar"),
        ("Subject: words", "In-Reply-To: <other@example.org>\nSubject: words"),
        ("Subject: words", "Keywords: junk\nSubject: words"),
        ("Subject: words", "Content-Type: text/plain; name=words.exe\nSubject: words"),
        ("Subject: words", "Content-Type: text/html\nSubject: words"),
    ] {
        for is_first in [true, false] {
            let fixture = Fixture::new();
            let forged = sent().replace(old, new);
            assert_ne!(forged, sent(), "{old}");
            let names = if is_first { ["2.x:2,", "1.x:2,S"] } else { ["1.x:2,", "2.x:2,S"] };
            fixture.put("inbox", "cur", names[0], &sent());
            fixture.put("inbox", "cur", names[1], &forged);
            fixture.update();
            fixture.check();
            let mailbox = fixture.mailbox();
            counts(&mailbox, &[("same", 2), ("flag:unread", 1), ("flag:seen", 1), ("not flag:seen", 1)]);
            assert_eq!(fixture.find("flag:unread"), ["words of Ana"], "{new}");
            assert_eq!(mailbox.by_message_id("m@example.org").unwrap().len(), 2);
        }
    }
}

#[test]
fn queries_treat_copies_as_one_message() {
    for names in [["1.x:2,S", "2.x:2,F"], ["2.x:2,S", "1.x:2,F"]] {
        let fixture = Fixture::new();
        fixture.put("inbox", "cur", names[0], &sent());
        fixture.put("lists", "cur", names[1], &by_list());
        with_headers(&fixture);
        let mailbox = fixture.mailbox();
        let size = by_list().len();
        counts(
            &mailbox,
            &[
                ("", 1),
                ("list:words.example.org", 1),
                ("not list:*", 0),
                ("flag:list", 1),
                ("not flag:list", 0),
                ("X-Spam-Score:7", 1),
                ("not X-Spam-Score:7", 0),
                ("list:words.example.org maildir:/inbox", 1),
                ("maildir:/inbox not maildir:/lists", 0),
                ("list:words.example.org flag:seen", 1),
                (&format!("size:{size}"), 1),
                (&format!("not size:{size}"), 0),
                ("prio:normal", 1),
                ("prio:low", 0),
                ("prio:high", 0),
                ("not prio:low", 1),
                ("flag:seen", 1),
                ("flag:unread", 1),
                ("flag:flagged flag:unread flag:seen", 1),
                ("not flag:unread", 0),
                ("flag:seen xor flag:unread", 0),
            ],
        );
        let expected = ("FSul".to_owned(), "words.example.org".to_owned(), vec!["7".to_owned()], 2);
        for text in ["", "maildir:/inbox", "maildir:/lists", "list:*"] {
            assert_eq!(shown(&mailbox, text), expected, "{text}");
        }
        let all = mailbox.evaluate(&query("")).unwrap();
        for key in [SortKey::List, SortKey::Flags, SortKey::Priority] {
            let order = Order { key, ..Order::default() };
            let set = mailbox.distinct(&all, Duplicates::Copies, None).unwrap();
            assert_eq!(mailbox.sorted(&set, &order).unwrap().list.len(), 1);
        }
        let hits = mailbox.by_message_id("m@example.org").unwrap();
        assert_eq!((hits.len(), mailbox.distinct_hits(hits).unwrap().len()), (2, 1));
        // Header fields of a copy that is gone no longer count.
        fs::remove_file(fixture.root().join("lists/cur").join(names[1])).unwrap();
        with_headers(&fixture);
        let mailbox = fixture.mailbox();
        counts(
            &mailbox,
            &[("list:*", 0), ("flag:list", 0), ("X-Spam-Score:7", 0), ("flag:unread", 0), ("same", 1)],
        );
        assert_eq!(shown(&mailbox, ""), ("S".to_owned(), String::new(), vec![], 1));
    }
}

#[test]
fn the_highest_priority_of_all_copies_counts() {
    let fixture = Fixture::new();
    let urgent = |content: String| format!("X-Priority: 1\n{content}").replace("<m@", "<urgent@");
    let listed = |content: String| content.replace("<m@", "<listed@");
    for (number, content) in [
        sent(),
        by_list(),
        urgent(sent()),
        urgent(by_list()),
        listed(by_list()),
        listed(format!("X-Way: 2\n{}", by_list())),
    ]
    .iter()
    .enumerate()
    {
        fixture.put("inbox", "cur", &format!("{number}.x:2,"), content);
    }
    fixture.update();
    let mailbox = fixture.mailbox();
    counts(&mailbox, &[("", 3), ("prio:high", 1), ("prio:normal", 1), ("prio:low", 1)]);
    for (text, expected) in [("prio:high", "urgent"), ("prio:normal", "m"), ("prio:low", "listed")] {
        let hits = mailbox.find(&query(text), &Order::default()).unwrap();
        let mut reader = RecordReader::new();
        assert_eq!(
            mailbox.message_id(&hits.list[0], &mut reader).unwrap(),
            format!("{expected}@example.org")
        );
        let derived = mailbox.line(&hits.list[0], &mut reader).unwrap().derived;
        let priority =
            (derived.contains(mail::ContentFlags::HIGH), derived.contains(mail::ContentFlags::LOW));
        assert_eq!(priority, (expected == "urgent", expected == "listed"));
    }
}

/// A message without a date takes one from a server, and copies that came by different servers differ in it.
#[test]
fn a_query_finds_the_dates_of_all_copies() {
    let undated = |day: u32| {
        let date = "Date: Tue, 4 Mar 2025 10:00:00 +0000\n";
        format!("Received: by x; Tue, {day} Mar 2025 10:00:00 +0000\n{}", sent().replace(date, ""))
    };
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "1.x:2,", &undated(4));
    fixture.put("lists", "cur", "2.x:2,", &undated(6));
    fixture.update();
    counts(
        &fixture.mailbox(),
        &[
            ("", 1),
            ("date:2025-03-04", 1),
            ("date:2025-03-06", 1),
            ("not date:2025-03-06", 0),
            ("date:2025-03-05", 0),
        ],
    );
}

#[test]
fn messages_that_limits_cut_are_not_copies() {
    let fixture = Fixture::new();
    for way in ["a", "b"] {
        let long = "x".repeat(mail::limits::VALUE_BYTES_MAX);
        let content = sent().replace("Subject: ", &format!("Subject: {long} {way} "));
        fixture.put("inbox", "cur", &format!("{way}.x:2,"), &content);
    }
    fixture.update();
    counts(&fixture.mailbox(), &[("same", 2)]);
}
