//! Threads: messages that name each other form one thread, in whatever order they came. Copies are shown
//! once.

use crate::support::{Fixture, query};
use index::{Duplicates, Mailbox, Order, Origin, RecordReader, ThreadOrder, UpdateOptions};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Returns a message with these references and this minute in its date.
fn answer(id: &str, references: &str, in_reply_to: &str, minute: u32) -> String {
    let field = |name: &str, ids: &str| match ids {
        "" => String::new(),
        ids => format!(
            "{name}: {}\n",
            ids.split(' ').map(|id| format!("<{id}@x>")).collect::<Vec<_>>().join(" ")
        ),
    };
    format!(
        "From: Ana <ana@example.org>\nSubject: {id}\nDate: Tue, 4 Mar 2025 10:{minute:02}:00 +0000\n\
         Message-ID: <{id}@x>\n{}{}\nwords of {id}\n",
        field("References", references),
        field("In-Reply-To", in_reply_to)
    )
}

/// Shows one thread on each line, newest first: subjects with a dot for each level, related ones in brackets.
fn shown(mailbox: &Mailbox, text: &str) -> String {
    let found = mailbox.evaluate(&query(text)).unwrap();
    let threads = mailbox.threads(&found, &ThreadOrder::default()).unwrap();
    let mut reader = RecordReader::new();
    let mut lines = Vec::new();
    for thread in threads.list {
        let mut show = |entry: &index::ThreadEntry| {
            let subject = mailbox.line(&entry.hit, &mut reader).unwrap().subject;
            let subject = if entry.origin == Origin::Found { subject } else { format!("[{subject}]") };
            format!("{}{subject}", ".".repeat(entry.depth as usize))
        };
        lines.push(thread.entries.iter().map(&mut show).collect::<Vec<_>>().join(" "));
    }
    assert_eq!(threads.total, lines.len() as u64);
    lines.join("\n")
}

/// Puts the messages in this order, each with its own pass.
fn one_by_one(messages: &[(&str, String)]) -> Fixture {
    let fixture = Fixture::new();
    for (number, (_, content)) in messages.iter().enumerate() {
        fixture.put("a", "cur", &format!("{number}.x:2,S"), content);
        fixture.update();
    }
    fixture.check();
    fixture
}

/// What is unusual; messages as (id, references, in-reply-to, minute); the threads.
type Case = (&'static str, &'static [(&'static str, &'static str, &'static str, u32)], &'static str);

#[test]
fn answers_are_one_thread_however_they_name_each_other() {
    let cases: &[Case] = &[
        (
            "a question and two answers",
            &[("q", "", "", 0), ("a", "q", "q", 1), ("b", "q", "q", 2)],
            "q .a .b",
        ),
        ("an answer to an answer", &[("q", "", "", 0), ("a", "q", "q", 1), ("b", "q a", "a", 2)], "q .a ..b"),
        ("only In-Reply-To", &[("q", "", "", 0), ("a", "", "q", 1), ("b", "", "a", 2)], "q .a ..b"),
        ("only References", &[("q", "", "", 0), ("a", "q", "", 1), ("b", "q a", "", 2)], "q .a ..b"),
        ("the question is missing", &[("a", "q", "q", 1), ("b", "q", "q", 2)], "a b"),
        (
            "one in the middle is missing",
            &[("q", "", "", 0), ("b", "q a", "a", 2), ("c", "q a", "a", 3)],
            "q .b .c",
        ),
        (
            "References cut to the last",
            &[("q", "", "", 0), ("a", "q", "q", 1), ("b", "a", "a", 2), ("c", "b", "b", 3)],
            "q .a ..b ...c",
        ),
        (
            "References cut in the middle",
            &[("q", "", "", 0), ("a", "q", "q", 1), ("b", "q a", "a", 2), ("c", "q b", "b", 3)],
            "q .a ..b ...c",
        ),
        ("References reordered", &[("q", "", "", 0), ("a", "q", "q", 1), ("b", "a q", "a", 2)], "q .a ..b"),
        (
            "one that lost its References",
            &[("q", "", "", 0), ("a", "", "", 1), ("b", "q a", "a", 2)],
            "q .a ..b",
        ),
        ("an answer dated before the question", &[("q", "", "", 9), ("a", "q", "q", 1)], "q .a"),
        ("two that name each other", &[("a", "b", "b", 0), ("b", "a", "a", 1)], "b .a"),
        ("one that names itself", &[("a", "a", "a", 0)], "a"),
        ("one that names itself last", &[("q", "", "", 0), ("a", "q a", "", 1)], "q .a"),
        ("strangers", &[("a", "", "", 0), ("b", "", "", 1)], "b\na"),
        (
            "a thread is as new as its newest",
            &[("a", "", "", 0), ("b", "", "", 1), ("c", "a", "a", 2)],
            "a .c\nb",
        ),
    ];
    for (what, messages, expected) in cases {
        let messages: Vec<(&str, String)> = messages
            .iter()
            .map(|(id, references, in_reply_to, minute)| (*id, answer(id, references, in_reply_to, *minute)))
            .collect();
        let mut reversed = messages.clone();
        reversed.reverse();
        for order in [&messages, &reversed] {
            let fixture = one_by_one(order);
            assert_eq!(shown(&fixture.mailbox(), ""), *expected, "{what}");
        }
        let fixture = Fixture::new();
        for (number, (_, content)) in messages.iter().enumerate() {
            fixture.put("a", "cur", &format!("{number}.x:2,S"), content);
        }
        fixture.update();
        assert_eq!(shown(&fixture.mailbox(), ""), *expected, "{what}, all at once");
    }
}

#[test]
fn a_late_message_joins_two_threads_and_writes_no_other_message() {
    let fixture = one_by_one(&[
        ("q", answer("q", "", "", 0)),
        ("b", answer("b", "a", "a", 2)),
        ("other", answer("other", "", "", 1)),
    ]);
    assert_eq!(shown(&fixture.mailbox(), ""), "b\nother\nq");
    fixture.put("a", "cur", "9.x:2,", &answer("a", "q", "q", 1));
    fixture.update();
    fixture.check();
    assert_eq!(shown(&fixture.mailbox(), ""), "q .a ..b\nother");
    // A thread stays together when a message is removed.
    fs::remove_file(fixture.root().join("a/cur/9.x:2,")).unwrap();
    fixture.update();
    assert_eq!(shown(&fixture.mailbox(), ""), "q .b\nother");
}

#[test]
fn a_thread_is_shown_whole_and_found_by_any_of_its_ids() {
    let fixture = one_by_one(&[
        ("q", answer("q", "", "", 0)),
        ("a", answer("a", "q", "q", 1)),
        ("b", answer("b", "q ghost", "ghost", 2)),
        ("other", answer("other", "", "", 3)),
    ]);
    let mailbox = fixture.mailbox();
    assert_eq!(shown(&mailbox, "subject:a"), "[q] .a .[b]");
    assert_eq!(shown(&mailbox, "subject:nothing"), "");
    for id in ["q@x", "a@x", "b@x", "ghost@x"] {
        assert_eq!(fixture.find(&format!("thread:{id}")), ["b", "a", "q"], "{id}");
    }
    assert_eq!(fixture.find("thread:other*"), ["other"]);
    assert_eq!(fixture.find("thread:/^[ab]@/"), ["b", "a", "q"]);
    assert_eq!(fixture.find("not thread:a@x"), ["other"]);
    assert_eq!(fixture.find("thread:nobody@x"), [""; 0]);
    let related = mailbox.with_related(&mailbox.evaluate(&query("subject:b")).unwrap()).unwrap();
    assert_eq!(related.count(), 3);
}

#[test]
fn threads_are_counted_when_only_some_are_wanted() {
    let fixture = Fixture::new();
    for number in 0..5u32 {
        fixture.put("a", "cur", &format!("{number}.x:2,"), &answer(&format!("q{number}"), "", "", number));
        let content = answer(&format!("a{number}"), &format!("q{number}"), "", 20 - number);
        fixture.put("a", "cur", &format!("{number}.y:2,"), &content);
    }
    fixture.update();
    let mailbox = fixture.mailbox();
    let all = mailbox.evaluate(&query("")).unwrap();
    let order = ThreadOrder { offset: 1, limit: Some(2), ..ThreadOrder::default() };
    let mut reader = RecordReader::new();
    let mut first = |order: &ThreadOrder| -> Vec<String> {
        let threads = mailbox.threads(&all, order).unwrap();
        assert_eq!(threads.total, 5);
        assert!(threads.list.iter().all(|thread| thread.entries.len() == 2));
        threads
            .list
            .iter()
            .map(|thread| mailbox.line(&thread.entries[0].hit, &mut reader).unwrap().subject)
            .collect()
    };
    assert_eq!(first(&order), ["q1", "q2"]);
    let ascending = ThreadOrder { direction: index::Direction::Ascending, ..order };
    assert_eq!(first(&ascending), ["q3", "q2"]);
}

#[test]
fn a_few_threads_of_many_are_those_that_a_list_of_all_shows() {
    // A thread of three messages is looked up among these, not searched for in all rows.
    const MESSAGES: u32 = 2_100;
    let fixture = Fixture::new();
    for number in 0..MESSAGES {
        let first = format!("q{}", number / 3);
        let (id, references) =
            if number % 3 == 0 { (first, String::new()) } else { (format!("a{number}"), first) };
        let content = answer(&id, &references, "", (number * 7) % 60);
        fixture.put("a", "cur", &format!("{number}.x:2,"), &content);
    }
    fixture.update();
    let mailbox = fixture.mailbox();
    let all = mailbox.threads(&mailbox.evaluate(&query("")).unwrap(), &ThreadOrder::default()).unwrap();
    assert_eq!(all.list.len(), MESSAGES as usize / 3);
    for thread in all.list.iter().step_by(97) {
        let hits: Vec<index::Hit> = thread.entries.iter().map(|entry| entry.hit).collect();
        let alone = mailbox.threads_of(&hits, &ThreadOrder::default()).unwrap();
        assert_eq!((alone.total, &alone.list[..]), (1, std::slice::from_ref(thread)));
        starts_are_those_of_threads(&mailbox, &hits[1..2], &alone.list);
    }
    let hits = mailbox.find(&query(""), &Order::default()).unwrap().list;
    starts_are_those_of_threads(&mailbox, &hits, &all.list);
    let gone = (0..MESSAGES).step_by(5).map(|number| format!("{number}.x:2,"));
    gone.for_each(|name| fs::remove_file(fixture.root().join("a/cur").join(name)).unwrap());
    fixture.put("b", "cur", "two:2,", &answer("p1", "", "", 22));
    fixture.put("b", "cur", "three:2,", &answer("p2", "p1", "", 23));
    fixture.put("b", "cur", "copy:2,", &delivered("b", &answer("q1", "", "", 21)));
    fixture.update();
    let mailbox = fixture.mailbox();
    let all = mailbox.threads(&mailbox.evaluate(&query("")).unwrap(), &ThreadOrder::default()).unwrap();
    let hits = mailbox.find(&query(""), &Order::default()).unwrap().list;
    starts_are_those_of_threads(&mailbox, &hits, &all.list);
}

fn starts_are_those_of_threads(mailbox: &Mailbox, hits: &[index::Hit], threads: &[index::Thread]) {
    let starts = mailbox.thread_starts(hits).unwrap();
    let numbers: Vec<u32> = starts.firsts().iter().map(|first| first.number).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    let mut expected = Vec::new();
    for thread in threads {
        let first = thread.entries[0].hit.number;
        assert_eq!(starts.walk().place_of_first(first), None);
        expected.extend((thread.entries.len() > 1).then_some(first));
        for entry in &thread.entries[1..] {
            let place = starts.walk().place_of_first(entry.hit.number).unwrap();
            assert_eq!(numbers[place], first);
        }
    }
    expected.sort_unstable();
    assert_eq!(numbers, expected);
}

/// A copy as another server delivers it.
fn delivered(by: &str, content: &str) -> String {
    format!("Received: from {by} by here; Tue, 4 Mar 2025 10:00:01 +0000\nX-UID: 7\nStatus: RO\n{content}")
}

#[test]
fn copies_are_shown_once_with_all_their_files() {
    let fixture = Fixture::new();
    let content = crate::support::message("m", "twice", "the same words");
    let paths = [
        fixture.put("list", "cur", "1.x:2,", &delivered("list", &content)),
        fixture.put("inbox", "cur", "2.x:2,S", &content),
        fixture.put("inbox", "cur", "3.x:2,F", &delivered("elsewhere", &content)),
    ];
    // The same Message-ID with other words is another message.
    fixture.put("list", "cur", "4.x:2,", &content.replace("the same", "other"));
    fixture.update();
    fixture.check();
    let mailbox = fixture.mailbox();
    assert_eq!(fixture.find("same"), ["twice"]);
    assert_eq!(fixture.find("").len(), 2);
    assert_eq!(mailbox.count(&query("")).unwrap(), 2);
    let hits = mailbox.find(&query("same"), &Order::default()).unwrap();
    let files = mailbox.files(&hits.list[0]).unwrap();
    let mut expected = paths.to_vec();
    expected.sort();
    assert_eq!(files.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), expected);
    // Queries treat copies as one message. Here one copy is seen and the others are not.
    for (text, count) in [
        ("maildir:/list same", 1),
        ("maildir:/list maildir:/inbox same", 1),
        ("same not maildir:/list", 0),
        ("flag:flagged", 1),
        ("maildir:/list same flag:flagged", 1),
        ("same flag:unread", 1),
        ("same flag:seen", 1),
        ("flag:replied", 0),
    ] {
        assert_eq!(mailbox.count(&query(text)).unwrap(), count, "{text}");
    }
    // A thread shows a copy that matches.
    for text in ["maildir:/list same", "flag:flagged", "maildir:/inbox flag:seen"] {
        assert!(shown(&mailbox, text).split(' ').any(|entry| entry == "twice"), "{text}");
    }
    let all = mailbox.evaluate(&query("")).unwrap();
    assert_eq!(all.count(), 4);
    assert_eq!(mailbox.evaluate(&query("maildir:/inbox")).unwrap().count(), 3);
    assert_eq!(mailbox.distinct(&all, Duplicates::MessageId, None).unwrap().count(), 1);
    assert_eq!(shown(&mailbox, "same"), "twice [twice]");
    // The copy that is shown is removed. The other copies are still one message.
    fs::remove_file(&paths[1]).unwrap();
    fixture.update();
    assert_eq!(fixture.find("same"), ["twice"]);
    assert_eq!(fixture.mailbox().files(&hits.list[0]).unwrap().len(), 2);
}

#[test]
fn copies_that_come_later_are_copies_too() {
    let fixture = Fixture::new();
    let content = crate::support::message("m", "twice", "the same words");
    for (number, by) in ["a", "b", "c"].iter().enumerate() {
        fixture.put("list", "cur", &format!("{number}.x:2,"), &delivered(by, &content));
        fixture.update();
        fixture.check();
        assert_eq!(fixture.find("same"), ["twice"]);
    }
}

#[test]
fn copies_are_swept_one_by_one() {
    let content = crate::support::message("m", "twice", "the same words");
    let deliver = |fixture: &Fixture, number: usize| {
        fixture.put("list", "cur", &format!("{number}.x:2,"), &delivered(&number.to_string(), &content))
    };
    for gone in [[0, 1], [1, 2], [0, 2]] {
        let fixture = Fixture::new();
        let paths: Vec<_> = (0..3).map(|number| deliver(&fixture, number)).collect();
        fixture.update();
        for number in gone {
            fs::remove_file(&paths[number]).unwrap();
        }
        fixture.update_with(&UpdateOptions { loss: index::Loss::Accept, ..UpdateOptions::default() });
        let swept = index::sweep(&fixture.environment, 0, &index::NoArchive, &work::Silent);
        assert_eq!(swept.unwrap().forgotten, 2);
        fixture.check();
        assert_eq!(fixture.find("same"), ["twice"]);
        deliver(&fixture, 7);
        fixture.update();
        fixture.check();
        assert_eq!(fixture.find("same"), ["twice"], "{gone:?}");
    }
}

/// The slow twin: finds the messages of a thread by walking from each message to all that share an id with
/// it.
fn naive(messages: &[(usize, Vec<usize>)]) -> BTreeSet<BTreeSet<usize>> {
    let ids = |(own, references): &(usize, Vec<usize>)| -> BTreeSet<usize> {
        references.iter().copied().chain([*own]).collect()
    };
    let mut groups: Vec<(BTreeSet<usize>, BTreeSet<usize>)> = Vec::new();
    for message in messages {
        let mut merged = (ids(message), BTreeSet::from([message.0]));
        groups.retain(|(ids, members)| {
            let is_apart = ids.is_disjoint(&merged.0);
            if !is_apart {
                merged.0.extend(ids);
                merged.1.extend(members);
            }
            is_apart
        });
        groups.push(merged);
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_are_those_of_the_naive_twin_in_any_order_of_arrival(
        references in proptest::collection::vec(proptest::collection::vec(0usize..16, 0..4), 1..12),
        order in Just((0..12usize).collect::<Vec<_>>()).prop_shuffle(),
        batch in 1usize..5,
    ) {
        let messages: Vec<(usize, Vec<usize>)> = references.into_iter().enumerate().collect();
        let content = |(own, references): &(usize, Vec<usize>)| {
            let ids = references.iter().map(|id| format!("m{id}")).collect::<Vec<_>>().join(" ");
            answer(&format!("m{own}"), &ids, "", u32::try_from(*own).unwrap())
        };
        let expected = naive(&messages);
        let mut trees = BTreeMap::new();
        for (round, order) in [order, (0..12).collect()].iter().enumerate() {
            let fixture = Fixture::new();
            let present: Vec<usize> = order.iter().copied().filter(|own| *own < messages.len()).collect();
            for own in &present {
                fixture.put("a", "cur", &format!("{own}.x:2,"), &content(&messages[*own]));
                if round == 0 {
                    let options = UpdateOptions { batch_message_count: batch, ..UpdateOptions::default() };
                    fixture.update_with(&options);
                }
            }
            fixture.update_with(&UpdateOptions { batch_message_count: batch, ..UpdateOptions::default() });
            fixture.check();
            let text = shown(&fixture.mailbox(), "");
            let number = |word: &str| word.trim_start_matches('.')[1..].parse::<usize>().unwrap();
            let groups: BTreeSet<BTreeSet<usize>> =
                text.lines().map(|line| line.split(' ').map(number).collect()).collect();
            prop_assert_eq!(&groups, &expected);
            trees.insert(text, round);
        }
        prop_assert_eq!(trees.len(), 1, "{:?}", trees);
    }
}
