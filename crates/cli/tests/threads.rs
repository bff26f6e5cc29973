//! `find --threads`, `--include-related` and `--skip-dups`.
//!
//! Comes in: mail that answers other mail. Goes out: the lines that show it. Must not know how threads are
//! kept.

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
