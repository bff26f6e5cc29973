//! Tests `view --thread`: whole conversations, message by message.
//!
//! Input: mail with replies, some of it missing, copied or gone. Output: what is shown. Does not depend on
//! how threads are stored.

use crate::support::{Home, run_with_input};
use std::fs;

fn answer(id: &str, references: &str, day: u32) -> String {
    format!(
        "From: {id} Example <{id}@example.org>\nTo: all@example.org\nSubject: {id}\n\
         Date: {day} Mar 2024 12:00:00 +0000\nMessage-ID: <{id}@x>\nReferences: {references}\n\n\
         hello of {id}\n"
    )
}

/// A question with two answers, one of which has a further one and one that is missing below it.
fn talk() -> Home {
    let home = Home::new();
    for (name, references, day) in [
        ("question", "", 1),
        ("late", "<question@x>", 7),
        ("answer", "<question@x>", 2),
        ("thanks", "<question@x> <answer@x>", 5),
        ("deep", "<question@x> <answer@x> <lost@x>", 6),
        ("other", "", 4),
    ] {
        home.deliver("", &format!("{name}:2,S"), answer(name, references, day).as_bytes());
    }
    home.first_index();
    home
}

#[test]
fn a_conversation_is_shown_whole_parents_first() {
    let home = talk();
    let shown = home.good(&["view", "--thread", "id:answer@x"]);
    insta::assert_snapshot!(shown.replace('\u{c}', "^L"), @r"
    1 of 5
    From: question Example <question@example.org>
    To: all@example.org
    Date: Fri, 01 Mar 2024 12:00:00 +0000
    Subject: question
    Flags: seen

    hello of question
    ^L
    └ 2 of 5, below 1 *
    From: answer Example <answer@example.org>
    To: all@example.org
    Date: Sat, 02 Mar 2024 12:00:00 +0000
    Subject: answer
    Flags: seen

    hello of answer
    ^L
      └ 3 of 5, below 2
    From: thanks Example <thanks@example.org>
    To: all@example.org
    Date: Tue, 05 Mar 2024 12:00:00 +0000
    Subject: thanks
    Flags: seen

    hello of thanks
    ^L
      └ 4 of 5, below 2
    From: deep Example <deep@example.org>
    To: all@example.org
    Date: Wed, 06 Mar 2024 12:00:00 +0000
    Subject: deep
    Missing: lost@x
    Flags: seen

    hello of deep
    ^L
    └ 5 of 5, below 1
    From: late Example <late@example.org>
    To: all@example.org
    Date: Thu, 07 Mar 2024 12:00:00 +0000
    Subject: late
    Flags: seen

    hello of late
    ");
    let on_terminal = home.on_terminal(&["view", "-t", "id:answer@x", "--no-pager"], &[]).out;
    assert!(on_terminal.starts_with("\u{1b}[1m1 of 5\u{1b}[0m\n\u{1b}[1mFrom:"), "{on_terminal:?}");
    let paged =
        home.on_terminal(&["view", "-t", "id:answer@x"], &[("PAGER", "sh -c 'cat >/dev/null; echo paged'")]);
    assert_eq!(paged.out, "paged\n");
}

#[test]
fn a_conversation_is_known_by_any_name_of_any_of_its_messages() {
    let home = talk();
    let unmarked = |text: &str| text.replace(" *\n", "\n");
    let whole = unmarked(&home.good(&["view", "--thread", "id:question@x"]));
    let path = home.mail().join("cur/deep:2,S");
    let content = fs::read(&path).unwrap();
    for name in ["id:thanks@x", path.to_str().unwrap(), "subject:late", "Mail/cur/late:2,S"] {
        assert_eq!(unmarked(&home.good(&["view", "--thread", name])), whole, "{name}");
    }
    let piped = run_with_input(&mut home.command(&["view", "--thread", "-"]), &content);
    assert_eq!(unmarked(&piped.out), whole);
    // A copy that was edited is of the conversation that its Message-ID is of.
    let edited = [&content[..], b"more\n"].concat();
    let piped = run_with_input(&mut home.command(&["view", "--thread", "-"]), &edited);
    assert_eq!(unmarked(&piped.out), whole);
    // Several messages of one conversation are marked, and those of two are shown one after the other.
    let two = home.good(&["view", "--thread", "subject:answer or subject:thanks"]);
    assert_eq!((two.matches(" *\n").count(), unmarked(&two)), (2, whole.clone()));
    let both = home.good(&["view", "--thread", "id:other@x", "id:late@x", "id:answer@x"]);
    assert_eq!(
        unmarked(&both),
        format!("{whole}\u{c}\n{}", unmarked(&home.good(&["view", "-t", "id:other@x"])))
    );
    let many = home.pneu(&["view", "--thread", "hello"]);
    assert_eq!((many.code, many.out.as_str()), (Some(2), ""));
    assert!(many.err.contains("messages of 2 conversations match hello"), "{}", many.err);
    for (name, code, said) in [
        ("id:nobody@x", 1, "there is no message id:nobody@x"),
        ("nowhere", 1, "no message matches it as a query"),
        ("-", 2, "is not indexed, so its conversation is not known"),
    ] {
        let run =
            run_with_input(&mut home.command(&["view", "--thread", name]), b"Message-ID: <new@x>\n\nx\n");
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{run:?}");
        assert!(run.err.contains(said), "{}", run.err);
    }
    let some = home.pneu(&["view", "--thread", "id:nobody@x", "id:other@x"]);
    assert_eq!((some.code, some.err.as_str()), (Some(3), "pneu: there is no message id:nobody@x\n"));
}

#[test]
fn records_have_the_place_in_the_conversation() {
    let home = talk();
    let lines = home.good(&["view", "--thread", "--format", "json", "id:answer@x"]);
    let values: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let places: Vec<String> = values.iter().map(|value| value["thread"].to_string()).collect();
    let place = |depth: u32, found: bool| format!(r#"{{"depth":{depth},"found":{found},"id":"question@x"}}"#);
    assert_eq!(places, [place(0, false), place(1, true), place(2, false), place(2, false), place(1, false)]);
    assert!(values.iter().all(|value| value["text"].as_str().unwrap().starts_with("hello of")));
    let sexp = home.good(&["view", "--thread", "--format", "sexp", "id:answer@x"]);
    assert_eq!(sexp.matches(":meta (:level 2 :thread \"question@x\" :related t)").count(), 2, "{sexp}");
    let page = home.good(&["view", "--thread", "--format", "html", "id:answer@x"]);
    assert_eq!((page.matches("<article>").count(), page.matches("<hr>\n<article>").count()), (5, 4));
    assert!(
        page.contains("<pre>  └ 3 of 5, below 2\nFrom: ") && page.ends_with("</article>\n</body>\n</html>\n"),
        "{page}"
    );
    let raw = home.pneu(&["view", "--thread", "--format", "raw", "id:answer@x"]);
    assert!(raw.code == Some(2) && raw.err.contains("pneu find --threads --format mbox"), "{raw:?}");
}

#[test]
fn copies_are_shown_once_and_what_cannot_be_read_hides_nothing_else() {
    let home = talk();
    let copy = format!("Received: from elsewhere\n{}", answer("answer", "<question@x>", 2));
    home.deliver("list", "copy:2,S", copy.as_bytes());
    home.good(&["index"]);
    assert_eq!(home.good(&["view", "-t", "id:late@x"]).matches("\nhello of answer\n").count(), 1);
    fs::remove_file(home.mail().join("cur/thanks:2,S")).unwrap();
    let run = home.pneu(&["view", "-t", "id:late@x"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("thanks:2,S is gone") && run.out.matches("\nhello of ").count() == 4, "{run:?}");
    fs::remove_dir_all(home.mail().join("cur")).unwrap();
    let none = home.pneu(&["view", "-t", "id:other@x"]);
    assert_eq!((none.code, none.out.as_str()), (Some(2), ""));
    assert!(none.err.ends_with("pneu: no message of the conversation can be read\n"), "{}", none.err);
}

#[test]
fn a_deleted_message_brings_what_the_archive_has_of_its_conversation() {
    let home = crate::archive::archived();
    home.home.deliver("", "q:2,S", answer("question", "", 1).as_bytes());
    home.home.deliver("", "a:2,S", answer("answer", "<question@x>", 2).as_bytes());
    home.home.deliver("", "t:2,S", answer("thanks", "<answer@x>", 3).as_bytes());
    assert_eq!(home.run(&["index"]).code, Some(0));
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    fs::remove_file(home.home.mail().join("cur/q:2,S")).unwrap();
    fs::remove_file(home.home.mail().join("cur/t:2,S")).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    let there = home.run(&["view", "--thread", "id:answer@x"]);
    assert_eq!((there.code, there.out.matches("hello of").count()), (Some(0), 1), "{there:?}");
    assert!(there.out.contains("\nMissing: question@x\n"), "{there:?}");
    let gone = home.run(&["view", "--thread", "id:question@x"]);
    assert_eq!((gone.code, gone.out.matches("hello of").count()), (Some(0), 3), "{gone:?}");
    assert!(gone.err.contains("this is from the archive"), "{gone:?}");
    // Named beside one that is there.
    let both = home.run(&["view", "--thread", "id:question@x", "id:answer@x"]);
    assert_eq!((both.code, both.out.matches("hello of").count()), (Some(0), 3), "{both:?}");
    // A query that matches only messages that are gone, several of one conversation.
    let query = home.run(&["view", "--thread", "subject:question or subject:thanks"]);
    assert_eq!((query.code, query.out.matches("hello of").count()), (Some(0), 3), "{query:?}");
}

#[test]
fn a_deleted_message_beside_another_conversation_is_not_passed_over_in_silence() {
    let home = talk();
    home.deliver("", "gone:2,S", answer("gone", "", 1).as_bytes());
    home.good(&["index"]);
    fs::remove_file(home.mail().join("cur/gone:2,S")).unwrap();
    home.good(&["index"]);
    let run = home.pneu(&["view", "--thread", "id:gone@x", "id:other@x"]);
    assert_eq!((run.code, run.out.matches("\nhello of ").count()), (Some(3), 1), "{run:?}");
    assert_eq!(run.err, "pneu: the last file of id:gone@x is gone; its conversation is shown without it\n");
}
