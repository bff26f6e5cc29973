//! Tests `find --threads`, `--include-related` and `--skip-dups`.
//!
//! Input: mail with replies. Output: the lines that show it. Does not depend on how threads are stored.

use crate::support::Home;

fn answer(id: &str, references: &str, day: u32) -> String {
    format!(
        "From: Ana Example <ana@example.org>\nSubject: {id}\nDate: {day} Mar 2024 12:00:00 +0000\n\
         Message-ID: <{id}@x>\nReferences: {references}\n\nhello of {id}\n"
    )
}

fn talk() -> Home {
    let home = Home::new();
    for (name, references, day) in
        [("question", "", 1), ("answer", "<question@x>", 2), ("thanks", "<answer@x>", 5), ("other", "", 4)]
    {
        home.deliver("", &format!("{name}:2,S"), answer(name, references, day).as_bytes());
    }
    home.first_index();
    home
}

#[test]
fn threads_are_shown_whole_and_indented_newest_first() {
    let home = talk();
    let expected = "\
2024-03-01 12:00 Ana Example              question
2024-03-02 12:00 Ana Example              └ answer
2024-03-05 12:00 Ana Example                └ thanks
2024-03-04 12:00 Ana Example              other
";
    assert_eq!(home.good(&["find", "--threads"]), expected);
    assert_eq!(home.good(&["find", "-t", "-n", "2"]), expected);
    assert_eq!(home.good(&["find", "-t", "--offset", "1"]).lines().count(), 1);
    assert!(home.good(&["find", "-t", "--reverse"]).starts_with("2024-03-04"));
    let lines = home.good(&["find", "--threads", "--max", "1", "--format", "json"]);
    let values: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let threads: Vec<String> = values.iter().map(|value| value["thread"].to_string()).collect();
    assert_eq!(
        threads,
        [
            r#"{"depth":0,"found":true,"id":"question@x"}"#,
            r#"{"depth":1,"found":true,"id":"question@x"}"#,
            r#"{"depth":2,"found":true,"id":"question@x"}"#
        ]
    );
    let found = home.good(&["find", "--threads", "subject:answer", "--format", "json"]);
    let flags: Vec<bool> = found
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["thread"]["found"].as_bool().unwrap()
        })
        .collect();
    assert_eq!(flags, [false, true, false]);
    assert_eq!(home.good(&["find", "-t", "subject:answer"]).lines().count(), 3);
    assert_eq!(home.good(&["find", "-t", "subject:answer", "--format", "paths"]).lines().count(), 3);
}

#[test]
fn related_messages_come_without_being_threads() {
    let home = talk();
    assert_eq!(home.subjects("subject:thanks"), ["thanks"]);
    let related = home.good(&["find", "--include-related", "--fields", "s", "subject:thanks"]);
    assert_eq!(related, "thanks\nanswer\nquestion\n");
    assert_eq!(home.good(&["find", "-r", "-n", "1", "--fields", "s", "subject:question"]), "thanks\n");
    assert_eq!(home.good(&["find", "-r", "--format", "count", "subject:question"]), "3\n");
    assert_eq!(home.good(&["find", "--fields", "s", "thread:answer@x"]), related);
    let none = home.pneu(&["find", "-r", "-t", "nowhere"]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: no message matches\n"));
}

#[test]
fn the_same_message_id_is_shown_once_if_that_is_asked_for() {
    let home = talk();
    let forged = answer("question", "", 1).replace("hello of", "bye of");
    home.deliver("", "forged:2,S", forged.as_bytes());
    let copy = format!("Received: from elsewhere\n{}", answer("question", "", 1));
    home.deliver("list", "copy:2,S", copy.as_bytes());
    home.good(&["index"]);
    assert_eq!(
        home.subjects("subject:question").len(),
        2,
        "a copy is shown once, other words are another message"
    );
    assert_eq!(home.good(&["find", "--skip-dups", "subject:question"]).lines().count(), 1);
    assert_eq!(home.good(&["find", "-u", "--format", "count", "subject:question"]), "1\n");
    assert_eq!(home.good(&["count", "subject:question"]), "2\n");
    let files = home.good(&["find", "--files", "--format", "paths", "hello subject:question"]);
    assert_eq!(files.lines().count(), 2);
}

#[test]
fn threads_come_by_date_only() {
    let home = talk();
    let wrong = home.pneu(&["find", "--threads", "--sort", "size"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""));
    assert!(wrong.err.contains("threads are sorted by the date of their newest message"), "{}", wrong.err);
}

#[test]
fn a_conversation_may_have_one_line() {
    let home = talk();
    let from = answer("reply", "<question@x>", 3)
        .replace("Ana Example <ana@", "Bo <bo@")
        .replace("Subject: reply", "Subject: RE: question");
    home.deliver("", "reply:2,", from.as_bytes());
    home.good(&["index"]);
    home.good(&["--quiet", "tag", "+work", "+home", "--", "subject:thanks"]);
    assert_eq!(
        home.good(&["find", "--threads=summary"]),
        "\
2024-03-05 12:00\t  [4/4]\t  1u\tAna Example, Bo         \tthanks\t(home work)
2024-03-04 12:00\t  [1/1]\t    \tAna Example             \tother\t
"
    );
    assert_eq!(
        home.on_terminal(&["find", "--threads=summary", "--color", "never", "--no-pager"], &[]).out,
        "\
2024-03-05 12:00   [4/4]   1u Ana Example, Bo          thanks (home work)
2024-03-04 12:00   [1/1]      Ana Example              other
"
    );
    assert_eq!(
        home.good(&["find", "--threads=summary", "from:bo"]),
        "2024-03-05 12:00\t  [1/4]\t  1u\tBo| Ana Example         \tquestion\t(home work)\n"
    );
    assert_eq!(home.good(&["find", "-t=summary", "-n", "1", "--reverse"]).lines().count(), 1);
    assert!(home.good(&["find", "-t=summary", "--offset", "1"]).starts_with("2024-03-04"));
    assert_eq!(home.good(&["find", "--threads=summary", "--format", "count"]), "2\n");
    assert_eq!(home.good(&["find", "--threads=full"]), home.good(&["find", "--threads"]));
    let zero = home.good(&["find", "--threads=summary", "--print0"]);
    assert_eq!((zero.matches('\0').count(), zero.matches('\n').count()), (2, 0));
    let json = home.good(&["find", "--threads=summary", "--format", "json", "from:bo"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!({
        "version": 1, "type": "thread", "id": "question@x", "date": "2024-03-05T12:00:00Z",
        "date_unix": 1_709_640_000, "messages": 4, "found": 1, "unread": 1,
        "authors": [
            {"name": "Bo", "address": "bo@example.org", "found": true},
            {"name": "Ana Example", "address": "ana@example.org", "found": false}
        ],
        "subject": "question", "tags": ["home", "work"]
    });
    assert_eq!(value, expected);
    insta::assert_snapshot!(
        home.good(&["find", "--threads=summary", "--format", "sexp", "from:bo"]),
        @r#"(:thread "question@x" :date (26087 2368 0) :messages 4 :found 1 :unread 1 :authors ((:email "bo@example.org" :name "Bo") (:email "ana@example.org" :name "Ana Example" :related t)) :subject "question" :tags ("home" "work"))"#
    );
}

#[test]
fn a_summary_has_its_own_columns_and_formats() {
    let home = talk();
    for wrong in [
        &["--format", "paths"][..],
        &["--format", "mbox"],
        &["--exec", "cat"],
        &["--fields", "s"],
        &["--files"],
        &["--sort", "size"],
    ] {
        let run = home.pneu(&[&["find", "--threads=summary"], wrong].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(run.err.contains("threads"), "{wrong:?}: {}", run.err);
    }
    assert_eq!(home.pneu(&["find", "--threads=summary", "nowhere"]).code, Some(1));
    let behind = home.pneu(&["find", "--threads=summary", "--offset", "5"]);
    assert_eq!(
        (behind.code, behind.err.as_str()),
        (Some(1), "pneu: 2 threads match, none after the first 5\n")
    );
}

#[test]
fn a_summary_fits_a_terminal_and_lets_nothing_through() {
    let home = Home::new();
    let forged = answer("x", "", 1)
        .replace("Ana Example", "Ana\u{1b}[31m")
        .replace("Subject: x", &format!("Subject: {}\u{202e}", "long ".repeat(30)));
    home.deliver("", "x:2,S", forged.as_bytes());
    home.first_index();
    home.good(&["--quiet", "tag", "+work", "--", "*"]);
    for variables in [[("PAGER", "")], [("PAGER", "sed -n p")]] {
        let run = home.on_terminal(&["find", "--threads=summary", "--color", "never"], &variables);
        assert_eq!(run.out.lines().next().unwrap().chars().count(), 80, "{}", run.out);
        assert!(run.out.contains("…") && run.out.ends_with("(work)\n"), "{}", run.out);
        crate::hostile::assert_harmless(&run, "a summary");
    }
}
