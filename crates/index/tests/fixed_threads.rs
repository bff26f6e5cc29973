//! The thread of a message never changes once the first index is complete. A message that joins threads makes
//! one conversation of them.
//!
//! Input: mail in random orders, in several commits. Output: threads and conversations of contents. Uses only
//! the public interface of the index.

use crate::adopt::TestArchive;
use crate::support::{Fixture, StopAfter, message};
use index::Grouping::{Conversations, Threads};
use index::{Environment, Grouping, Hit, Mailbox, Merging, NoArchive, Order, RecordReader, UpdateOptions};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use work::Silent;

/// The names of a message's thread and conversation, by its subject.
type Groups = BTreeMap<String, (u64, u64)>;

/// Returns a message that refers to others, the last of which it answers.
fn answer(id: &str, references: &[&str]) -> String {
    let ids: Vec<String> = references.iter().map(|id| format!("<{id}@example.org>")).collect();
    format!("References: {}\n{}", ids.join(" "), message(id, id, "words"))
}

fn put(fixture: &Fixture, id: &str, references: &[&str]) {
    fixture.put("a", "cur", &format!("{id}.x:2,S"), &answer(id, references));
}

/// Puts a message and indexes it.
fn deliver(fixture: &Fixture, id: &str, references: &[&str]) {
    put(fixture, id, references);
    fixture.update();
}

/// An index whose first pass is done.
fn begun() -> Fixture {
    let fixture = Fixture::new();
    deliver(&fixture, "first", &[]);
    fixture
}

fn hits(mailbox: &Mailbox) -> Vec<(String, Hit)> {
    let hits = mailbox.sorted(mailbox.contents().unwrap(), &Order::default()).unwrap().list;
    let mut reader = RecordReader::new();
    hits.into_iter().map(|hit| (mailbox.line(&hit, &mut reader).unwrap().subject, hit)).collect()
}

/// Returns the groups of all contents, after comparing all that the mailbox says of them.
fn groups(mailbox: &Mailbox) -> Groups {
    let all = hits(mailbox);
    let of = |hit, grouping| mailbox.group_of(hit, grouping).unwrap();
    let groups: Groups = all
        .iter()
        .map(|(subject, hit)| (subject.clone(), (of(hit, Threads), of(hit, Conversations))))
        .collect();
    let mut reader = RecordReader::new();
    for (subject, hit) in &all {
        assert_eq!(mailbox.content(hit, &mut reader).unwrap().thread, groups[subject].0);
    }
    let subject_of = |hit: &Hit| all.iter().find(|(_, other)| other.number == hit.number).unwrap().0.clone();
    for grouping in [Threads, Conversations] {
        let name = |both: &(u64, u64)| if grouping == Threads { both.0 } else { both.1 };
        let names: Vec<u64> = groups.values().map(name).collect::<BTreeSet<_>>().into_iter().collect();
        let contents = mailbox.contents_of_groups(&names, grouping).unwrap();
        for (group, contents) in names.iter().zip(&contents) {
            let found: BTreeSet<String> = contents.iter().map(subject_of).collect();
            let expected = groups.iter().filter(|(_, both)| name(both) == *group);
            assert_eq!(found, expected.map(|(subject, _)| subject.clone()).collect(), "{grouping:?}");
            let mut one = mailbox.evaluate_contents(&query::Query::not(query::Query::All)).unwrap();
            one.grow(contents[0].number + 1);
            one.insert(contents[0].number);
            let related = mailbox.contents_related(&one, grouping).unwrap();
            assert!(contents.iter().all(|hit| related.contains(hit.number)));
            assert_eq!(related.count(), contents.len() as u64, "{grouping:?}");
        }
        let listed = mailbox.first_listed(all.iter().map(|(_, hit)| *hit).collect(), grouping).unwrap();
        assert_eq!(listed.len(), names.len());
        let all = mailbox.contents().unwrap();
        let first = mailbox.first_by_date(all, index::Direction::Ascending, grouping).unwrap();
        assert_eq!(first.count(), names.len() as u64);
    }
    groups
}

/// Returns the subjects of each group, sorted.
fn shown(fixture: &Fixture, grouping: Grouping) -> String {
    let mut all: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (subject, (thread, conversation)) in groups(&fixture.mailbox()) {
        let name = if grouping == Threads { thread } else { conversation };
        all.entry(name).or_default().push(subject);
    }
    let mut lines: Vec<String> = all.into_values().map(|subjects| subjects.join(" ")).collect();
    lines.sort();
    lines.join(", ")
}

/// Fails if a message that was there is in another thread now.
fn assert_kept(before: &Groups, after: &Groups) {
    for (subject, (thread, _)) in before {
        assert!(after.get(subject).is_none_or(|(now, _)| now == thread), "{subject}");
    }
}

#[test]
fn a_late_message_joins_three_threads_to_one_conversation() {
    let fixture = begun();
    for (id, references) in [("a", &[][..]), ("b", &[]), ("c", &["ghost"]), ("a1", &["a"]), ("c1", &["c"])] {
        deliver(&fixture, id, references);
    }
    let before = groups(&fixture.mailbox());
    let token = fixture.mailbox().changes(None).unwrap().token;
    deliver(&fixture, "late", &["a", "b", "c"]);
    assert_eq!(shown(&fixture, Conversations), "a a1 b c c1 late, first");
    // It is in the thread of the message that it answers.
    assert_eq!(shown(&fixture, Threads), "a a1, b, c c1 late, first");
    // What comes later is in the thread of what it answers, too, not in that of the oldest message.
    deliver(&fixture, "b1", &["b"]);
    deliver(&fixture, "late1", &["a", "c", "late"]);
    deliver(&fixture, "both", &["c", "b"]);
    assert_eq!(shown(&fixture, Threads), "a a1, b b1 both, c c1 late late1, first");
    assert_eq!(shown(&fixture, Conversations), "a a1 b b1 both c c1 late late1, first");
    assert_kept(&before, &groups(&fixture.mailbox()));
    assert!(!fixture.mailbox().changes(Some(&token)).unwrap().have_threads_changed);
    fixture.check();
}

#[test]
fn messages_of_one_batch_are_one_thread() {
    let fixture = begun();
    deliver(&fixture, "old", &[]);
    deliver(&fixture, "other", &[]);
    // Some have threads of their own until the last one is linked.
    for (id, references) in
        [("1", &[][..]), ("2", &[]), ("3", &["1", "2"]), ("4", &["gone"]), ("5", &["4", "3"])]
    {
        put(&fixture, id, references);
    }
    put(&fixture, "6", &[]);
    put(&fixture, "7", &["other", "6"]);
    put(&fixture, "8", &["old", "7"]);
    fixture.update();
    assert_eq!(shown(&fixture, Conversations), "1 2 3 4 5, 6 7 8 old other, first");
    let threads = shown(&fixture, Threads);
    assert!(
        ["1 2 3 4 5, 6 7 8 old, first, other", "1 2 3 4 5, 6 7 8 other, first, old"].contains(&&*threads),
        "{threads}"
    );
    fixture.check();
}

#[test]
fn a_join_in_the_first_index_makes_one_thread() {
    let fixture = Fixture::new();
    // The newest mail is read first, so the message that joins comes after those that it joins.
    let all = [("9", "a", &[][..]), ("8", "b", &[]), ("1", "join", &["a", "b"])];
    for (time, id, references) in all {
        let name = format!("170000000{time}.x:2,S");
        fixture.put("a", "cur", &name, &answer(id, references));
    }
    for number in 0..600 {
        let name = format!("16000{number:05}.x:2,S");
        fixture.put("a", "cur", &name, &message(&format!("m{number}"), &format!("m{number}"), "words"));
    }
    let options = UpdateOptions { batch_message_count: 1, ..UpdateOptions::default() };
    let stopped = index::update(&fixture.environment, &fixture.roots, &options, &StopAfter::new(512));
    assert!(matches!(stopped, Err(index::Error::Interrupted)));
    fixture.put("a", "cur", "1500000000.x:2,S", &answer("late", &["first1", "a"]));
    fixture.put("a", "cur", "1400000000.x:2,S", &answer("later", &["m599", "b"]));
    fixture.put("a", "cur", "1300000000.x:2,S", &answer("m5a", &["m598", "m597"]));
    let token = fixture.mailbox().changes(None).unwrap().token;
    fixture.update_with(&options);
    for (subject, (thread, conversation)) in groups(&fixture.mailbox()) {
        assert_eq!(thread, conversation, "{subject}");
    }
    let of = |subject: &str| groups(&fixture.mailbox())[subject].0;
    assert_eq!([of("b"), of("join"), of("late"), of("later")], [of("a"); 4]);
    assert_eq!([of("m598"), of("m597")], [of("m5a"); 2]);
    let changes = |token: &str| fixture.mailbox().changes(Some(token)).unwrap();
    assert!(changes(&token).have_threads_changed);
    // Afterwards there are only late joins.
    let token = changes(&token).token;
    assert!(!changes(&token).have_threads_changed);
    deliver(&fixture, "z", &["m1", "m2"]);
    deliver(&fixture, "y", &["a", "m1"]);
    assert!(!changes(&token).have_threads_changed);
    fixture.check();
}

#[test]
fn merges_sweeps_and_removed_files_keep_threads_and_a_rebuild_makes_new_ones() {
    let fixture = begun();
    deliver(&fixture, "a", &[]);
    deliver(&fixture, "b", &[]);
    deliver(&fixture, "late", &["a", "b"]);
    let before = groups(&fixture.mailbox());
    let expected = "a, b late, first";
    assert_eq!(shown(&fixture, Threads), expected);
    for number in 0..40 {
        deliver(&fixture, &format!("m{number}"), &["b"]);
        fs::remove_file(fixture.root().join(format!("a/cur/m{number}.x:2,S"))).unwrap();
    }
    fs::remove_file(fixture.root().join("a/cur/late.x:2,S")).unwrap();
    fixture.update();
    assert_eq!(index::sweep(&fixture.environment, 0, &NoArchive, &Silent).unwrap().forgotten, 41);
    index::merge(&fixture.environment, Merging::Idle, &Silent).unwrap();
    fixture.check();
    assert_kept(&before, &groups(&fixture.mailbox()));
    deliver(&fixture, "late", &["a", "b"]);
    assert_eq!(groups(&fixture.mailbox()), before);
    index::merge(&fixture.environment, Merging::Idle, &Silent).unwrap();
    assert_eq!(groups(&fixture.mailbox()), before);
    let environment = Environment { seed: 99, ..fixture.environment.clone() };
    index::rebuild(&environment, &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(shown(&fixture, Threads), "a b late, first");
    deliver(&fixture, "again", &["first", "a"]);
    assert_eq!(shown(&fixture, Threads), "a again b late, first");
    fixture.check();
}

#[test]
fn what_an_archive_adds_to_a_rebuilt_index_joins_threads() {
    let fixture = begun();
    deliver(&fixture, "a", &[]);
    deliver(&fixture, "b", &[]);
    let mut archive = TestArchive::default();
    archive.put(answer("late", &["a", "b"]).as_bytes());
    let environment = Environment { seed: 99, ..fixture.environment.clone() };
    let options = UpdateOptions::default();
    index::rebuild_with(&environment, &fixture.roots, &archive, &options, &Silent).unwrap();
    assert_eq!(shown(&fixture, Threads), "a b, first");
    // From then on, threads stay.
    deliver(&fixture, "later", &["first", "a"]);
    assert_eq!(shown(&fixture, Threads), "a b later, first");
    fixture.check();
}

/// A message of the random test: its own name, those that it refers to, and the pass in which it comes.
type Mail = (u8, Vec<u8>, u8);

/// Returns the conversations of messages: those that name each other, however indirectly. Slow but obvious.
fn conversations(messages: &[(String, &Mail)]) -> BTreeSet<BTreeSet<String>> {
    let mut groups: Vec<(BTreeSet<u8>, BTreeSet<String>)> = Vec::new();
    for (subject, (own, references, _)) in messages {
        let mut names: BTreeSet<u8> = references.iter().copied().chain([*own]).collect();
        let mut subjects = BTreeSet::from([subject.clone()]);
        groups.retain(|(others, more)| {
            let is_apart = names.is_disjoint(others);
            if !is_apart {
                names.extend(others);
                subjects.extend(more.iter().cloned());
            }
            is_apart
        });
        groups.push((names, subjects));
    }
    groups.into_iter().map(|(_, subjects)| subjects).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn no_later_commit_changes_the_thread_of_a_message(
        all in prop::collection::vec((0..24_u8, prop::collection::vec(0..24_u8, 0..4), 0..8_u8), 1..40),
        merges_in in 0..8_u8,
    ) {
        let fixture = begun();
        let mut carried = fixture.mailbox();
        let (mut known, mut before) = (Vec::new(), groups(&carried));
        let token = carried.changes(None).unwrap().token;
        for pass in 0..8 {
            for (number, mail) in all.iter().enumerate().filter(|(_, (.., of))| *of == pass) {
                let (own, references, _) = mail;
                let ids: Vec<String> = references.iter().map(|id| format!("r{id}")).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                let subject = format!("s{number}");
                let text = answer(&format!("r{own}"), &ids)
                    .replace(&format!("Subject: r{own}\n"), &format!("Subject: {subject}\n"));
                fixture.put("a", "cur", &format!("{number}.x:2,S"), &text);
                known.push((subject, mail));
            }
            fixture.update();
            if pass == merges_in {
                index::merge(&fixture.environment, Merging::Idle, &Silent).unwrap();
            }
            if let Some(newer) = carried.newer(&fixture.environment).unwrap() {
                carried = newer;
            }
            let after = groups(&fixture.mailbox());
            prop_assert_eq!(&groups(&carried), &after);
            assert_kept(&before, &after);
            // Each thread is of one conversation, and these are those that the messages make.
            let mut threads: BTreeMap<u64, u64> = BTreeMap::new();
            let mut found: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
            for (subject, (thread, conversation)) in &after {
                prop_assert_eq!(*threads.entry(*thread).or_insert(*conversation), *conversation);
                found.entry(*conversation).or_default().insert(subject.clone());
            }
            let mut expected = conversations(&known);
            expected.insert(BTreeSet::from(["first".to_owned()]));
            prop_assert_eq!(found.into_values().collect::<BTreeSet<_>>(), expected);
            before = after;
        }
        prop_assert!(!fixture.mailbox().changes(Some(&token)).unwrap().have_threads_changed);
        fixture.check();
    }
}
