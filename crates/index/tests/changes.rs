//! The change log tells what commits did to messages, once, whatever crashes come between.

use crate::support::{Fixture, environment, message, query};
use index::{Change, Environment, Error, Happened, Mailbox, NoArchive, TagChange, TokenFault};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::{PRIMARY, Rows, Schema, Snapshot, Transaction, Value, Writer};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation};
use work::Silent;

fn token(environment: &Environment) -> String {
    Mailbox::open(environment).unwrap().changes(None).unwrap().token
}

/// Returns what happened since a token, and the next one.
fn since(environment: &Environment, token: &str) -> (Vec<Change>, String) {
    let mailbox = Mailbox::open(environment).unwrap();
    let changes = mailbox.changes(Some(token)).unwrap();
    let mut list = Vec::new();
    changes
        .each::<Error>(&mailbox, |change| {
            list.push(change);
            Ok(())
        })
        .unwrap();
    (list, changes.token)
}

fn fault(environment: &Environment, token: &str) -> TokenFault {
    match Mailbox::open(environment).unwrap().changes(Some(token)) {
        Err(Error::Token { fault }) => fault,
        other => panic!("{other:?}"),
    }
}

/// Returns changes as words: what happened, the first digits of the message, places and names.
fn words(list: &[Change]) -> Vec<String> {
    let hex = |change: &Change| match change.sha256 {
        Some(sha256) => format!("{:02x}{:02x}", sha256[0], sha256[1]),
        None => "?".to_owned(),
    };
    let line = |change: &Change| {
        let what = match &change.what {
            Happened::Added(folders) => format!("added {}", names(folders)),
            Happened::Back(folders) => format!("back {}", names(folders)),
            Happened::Moved { from, to } => format!("moved {} {}", from.maildir, to.maildir),
            Happened::Copied(to) => format!("copied {}", to.maildir),
            Happened::Removed(from) => format!("removed {}", from.maildir),
            Happened::Renamed(folder) => format!("renamed {}", folder.maildir),
            Happened::Flags { folder, added, removed } => {
                let flags = |flags: mail::Flags| flags.words().collect::<Vec<_>>().join(",");
                format!("flags {} +{} -{}", folder.maildir, flags(added.flags), flags(removed.flags))
            }
            Happened::Tags { added, removed } => format!("tags +{} -{}", added.join(","), removed.join(",")),
            Happened::Forgotten { node: Some(_) } => "forgotten".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        format!("{} {what}", hex(change))
    };
    list.iter().map(line).collect()
}

fn names(folders: &[index::ChangedFolder]) -> String {
    folders.iter().map(|folder| folder.maildir.as_str()).collect::<Vec<_>>().join(",")
}

fn sha(content: &str) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(content);
    format!("{:02x}{:02x}", digest[0], digest[1])
}

fn tag(environment: &Environment, text: &str, change: &TagChange) {
    let mailbox = Mailbox::open(environment).unwrap();
    let found = mailbox.evaluate(&query(text)).unwrap();
    index::change_tags(environment, &mailbox, &found, change).unwrap();
}

fn adding(name: &str) -> TagChange {
    TagChange { add: [name.to_owned()].into(), ..TagChange::default() }
}

#[test]
fn each_kind_of_change_is_told_once() {
    let fixture = Fixture::new();
    let environment = &fixture.environment;
    let contents: Vec<String> =
        (0..3).map(|number| message(&format!("m{number}"), &format!("subject {number}"), "words")).collect();
    let [one, two, three] = [0, 1, 2].map(|number| sha(&contents[number]));
    fixture.put("inbox", "new", "0.x", &contents[0]);
    fixture.put("inbox", "cur", "1.x:2,S", &contents[1]);
    fixture.put("done", "cur", "9.x:2,S", &message("m9", "other", "x"));
    fixture.update();
    let (start, root) = (token(environment), fixture.root().to_owned());
    assert_eq!(since(environment, &start), (vec![], start.clone()), "nothing happened");

    let mut last = start.clone();
    let mut told = |expected: &[String]| {
        fixture.update();
        let (list, next) = since(environment, &last);
        assert_eq!(words(&list), expected);
        assert_eq!(since(environment, &next).0, [], "told twice");
        last = next;
    };
    let rename = |from: &str, to: &str| fs::rename(root.join(from), root.join(to)).unwrap();
    fixture.put("inbox", "cur", "2.x:2,", &contents[2]);
    told(&[format!("{three} added /inbox")]);
    rename("inbox/new/0.x", "inbox/cur/0.x:2,FS");
    told(&[format!("{one} flags /inbox +flagged,seen -new")]);
    rename("inbox/cur/0.x:2,FS", "done/cur/0.x:2,FS");
    rename("inbox/cur/1.x:2,S", "done/cur/1.x:2,RS");
    told(&[
        // Newer messages have lower numbers, as they are read first.
        format!("{two} moved /inbox /done"),
        format!("{one} moved /inbox /done"),
        format!("{two} flags /done +replied -"),
    ]);
    rename("done/cur/0.x:2,FS", "done/cur/0.x,U=7:2,FS");
    told(&[format!("{one} renamed /done")]);
    fixture.put("inbox", "cur", "3.x:2,S", &contents[0]);
    told(&[format!("{one} copied /inbox")]);
    fs::remove_file(root.join("inbox/cur/3.x:2,S")).unwrap();
    told(&[format!("{one} removed /inbox")]);
    fs::remove_file(root.join("done/cur/1.x:2,RS")).unwrap();
    told(&[format!("{two} gone")]);
    fixture.put("inbox", "cur", "4.x:2,S", &contents[1]);
    told(&[format!("{two} back /inbox")]);
    tag(environment, "subject:subject and subject:0", &adding("work"));
    told(&[format!("{one} tags +work -")]);
    let exchange = TagChange { add: ["later".to_owned()].into(), remove: ["work".to_owned()].into() };
    tag(environment, "subject:0", &exchange);
    told(&[format!("{one} tags +later -work")]);

    // The folder goes, and later even its messages: the log still names both.
    let before = token(environment);
    fs::remove_dir_all(root.join("done")).unwrap();
    let options = index::UpdateOptions { loss: index::Loss::Accept, ..Default::default() };
    fixture.update_with(&options);
    let long_after = Environment {
        context: work::Context::new(|| 1_903_000_000_000_000_000, 2),
        changes_kept_seconds: 10_000_000,
        ..environment.clone()
    };
    index::sweep(&long_after, 1_000_000, &NoArchive, &Silent).unwrap();
    let (list, _) = since(environment, &before);
    let other = sha(&message("m9", "other", "x"));
    let mut gone = [format!("{one} gone"), format!("{other} gone")];
    gone.sort_by_key(|line| !line.starts_with(&one));
    let mut expected = gone.to_vec();
    expected.extend([format!("{one} forgotten"), format!("{other} forgotten")]);
    let mut found = words(&list);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    // Everything from the beginning is still told, also of what is named by the log alone.
    let all = words(&since(environment, &start).0);
    assert!(all.contains(&format!("{one} moved /inbox /done")), "{all:?}");
    assert_eq!(all.len(), 16, "{all:#?}");
}

#[test]
fn a_token_of_another_history_is_refused() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "0.x:2,S", &message("m0", "zero", "words"));
    fixture.update();
    let old = token(&fixture.environment);
    for wrong in ["", "token", "1-2-3", &format!("{old}0"), &format!("{old}-1")] {
        assert_eq!(fault(&fixture.environment, wrong), TokenFault::Malformed, "{wrong}");
    }
    let mut altered = old.clone().into_bytes();
    let last = altered.last_mut().unwrap();
    *last = if *last == b'0' { b'1' } else { b'0' };
    assert_eq!(fault(&fixture.environment, &String::from_utf8(altered).unwrap()), TokenFault::OfAnother);
    let ahead = old.replacen("-2-", "-9-", 1);
    assert_ne!(ahead, old);
    assert_eq!(fault(&fixture.environment, &ahead), TokenFault::OfAnother);

    // The index is put back from a copy, and goes on in another way.
    let copy = fixture.directory.path().join("copy");
    copy_all(&fixture.environment.data, &copy);
    fixture.put("inbox", "cur", "1.x:2,S", &message("m1", "one", "words"));
    fixture.update();
    let lost = token(&fixture.environment);
    fs::remove_dir_all(&fixture.environment.data).unwrap();
    copy_all(&copy, &fixture.environment.data);
    assert_eq!(since(&fixture.environment, &old).0, []);
    assert_eq!(fault(&fixture.environment, &lost), TokenFault::OfAnother);
    // The same happens at the same time, by another process.
    let process = Environment { seed: 70, ..fixture.environment.clone() };
    let lines = since(&fixture.environment, &old).0.len();
    fs::remove_file(fixture.root().join("inbox/cur/1.x:2,S")).unwrap();
    fixture.put("inbox", "cur", "2.x:2,S", &message("m2", "one", "words"));
    index::update(&process, &fixture.roots, &Default::default(), &Silent).unwrap();
    assert_eq!(fault(&fixture.environment, &lost), TokenFault::OfAnother);
    assert_eq!((lines, since(&fixture.environment, &old).0.len()), (0, 1));

    let again = Environment { seed: 8, ..fixture.environment.clone() };
    index::rebuild(&again, &fixture.roots, &Default::default(), &Silent).unwrap();
    assert_eq!(fault(&again, &old), TokenFault::OfAnother);
    // So does deleted or replaced user data.
    tag(&again, "", &adding("work"));
    let tagged = token(&again);
    fs::remove_dir_all(again.user_directory()).unwrap();
    assert_eq!(fault(&again, &tagged), TokenFault::OfAnother);
    let other = Environment { seed: 9, ..again };
    tag(&other, "", &adding("home"));
    assert_eq!(fault(&other, &tagged), TokenFault::OfAnother);
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn changes_are_dropped_when_they_are_old_and_their_tokens_are_refused() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "0.x:2,S", &message("m0", "zero", "words"));
    fixture.update();
    let first = token(&fixture.environment);
    let at = |now_ns: fn() -> i64| Environment {
        context: work::Context::new(now_ns, 2),
        changes_kept_seconds: 1000,
        ..fixture.environment.clone()
    };
    let put = |environment: &Environment, number: usize| {
        fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &message(&format!("m{number}"), "s", "w"));
        index::update(environment, &fixture.roots, &Default::default(), &Silent).unwrap();
        tag(environment, &format!("message-id:m{number}@example.org"), &adding("new"));
        token(environment)
    };
    // There are no tags yet.
    assert!(first.contains("-0-"), "{first}");
    let later = at(|| 1_900_000_900_000_000_000);
    let second = put(&later, 1);
    assert_eq!(since(&later, &first).0.len(), 2);
    // The first change is older than it is kept, but not by enough to drop it.
    let more = at(|| 1_900_001_050_000_000_000);
    put(&more, 2);
    assert_eq!(since(&more, &first).0.len(), 4);
    let much_later = at(|| 1_900_001_950_000_000_000);
    let third = put(&much_later, 3);
    // What was dropped is exactly what is older than 1,000 s.
    assert_eq!(fault(&much_later, &first), TokenFault::TooOld);
    assert_eq!(since(&much_later, &second).0.len(), 4, "{:?}", words(&since(&much_later, &second).0));
    // A wrong clock drops nothing.
    put(&at(|| 4_000_000_000_000_000_000), 4);
    assert_eq!(since(&much_later, &second).0.len(), 6);
    let end = at(|| 1_900_009_000_000_000_000);
    put(&end, 5);
    assert_eq!(fault(&end, &second), TokenFault::TooOld);
    assert_eq!(fault(&end, &third), TokenFault::TooOld);

    // A token from before the first tag, of an index that did not change since.
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "0.x:2,S", &message("m0", "zero", "words"));
    let early = Environment {
        context: work::Context::new(|| 1_900_000_000_000_000_000, 2),
        ..fixture.environment.clone()
    };
    index::update(&early, &fixture.roots, &Default::default(), &Silent).unwrap();
    let untagged = token(&early);
    tag(&early, "", &adding("first"));
    assert_eq!(since(&early, &untagged).0.len(), 1);
    let late = Environment {
        context: work::Context::new(|| 1_900_009_000_000_000_000, 2),
        changes_kept_seconds: 1000,
        ..early.clone()
    };
    tag(&late, "", &adding("second"));
    assert_eq!(fault(&late, &untagged), TokenFault::TooOld);
}

#[test]
fn tags_without_a_log_are_read_and_get_one() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "0.x:2,S", &message("m0", "zero", "words"));
    fixture.update();
    tag(&fixture.environment, "", &adding("old"));
    make_older(&fixture.environment);
    let before = token(&fixture.environment);
    assert_eq!(fixture.find("tag:old"), ["zero"]);
    tag(&fixture.environment, "", &adding("new"));
    assert_eq!(fixture.find("tag:old and tag:new"), ["zero"]);
    // What happened before there was a log is not known.
    assert_eq!(fault(&fixture.environment, &before), TokenFault::OfAnother);
    let now = token(&fixture.environment);
    tag(&fixture.environment, "", &adding("more"));
    assert_eq!(since(&fixture.environment, &now).0.len(), 1);
    fixture.check();
}

/// Replaces the tags by what version 1 would have written: the same rows without a log.
fn make_older(environment: &Environment) {
    let directory = environment.user_directory();
    let newer = Snapshot::open(&environment.disk, &directory).unwrap();
    let tables = &newer.tables()[..2];
    let schemas: Vec<Schema> = tables.iter().map(|table| Schema::clone(table.schema())).collect();
    let mut transaction = Transaction::new();
    for table in tables {
        let mut rows = Rows::new(table.schema());
        for row in table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded).unwrap() {
            let row = row.unwrap();
            let values: Vec<Value> =
                (0..table.schema().columns.len()).map(|column| table.value(column, row).unwrap()).collect();
            rows.push(&values).unwrap();
        }
        transaction.put(rows);
    }
    transaction.attach("user", [&b"PNEUUSER"[..], &1_u32.to_le_bytes()].concat());
    fs::remove_dir_all(&directory).unwrap();
    let options = store::Options { keeps_copy: true, ..store::Options::default() };
    let mut writer = Writer::create(&environment.disk, &directory, &schemas, options).unwrap();
    writer.commit(transaction).unwrap();
}

/// What somebody knows who has a token.
#[derive(Clone, Debug, Default)]
struct Reader {
    token: Option<String>,
    /// Message by message: its folders, and its tags.
    known: BTreeMap<[u8; 32], (Vec<String>, Vec<String>)>,
}

impl Reader {
    fn listed(mailbox: &Mailbox) -> BTreeMap<[u8; 32], (Vec<String>, Vec<String>)> {
        let hits = mailbox.find(&query(""), &index::Order::default()).unwrap();
        let mut reader = index::RecordReader::new();
        let message = |hit| mailbox.message(hit, &mut reader).unwrap();
        let known = hits.list.iter().map(message).map(|message| {
            let folders = message.files.iter().map(|file| file.maildir.clone()).collect();
            (message.sha256, (folders, message.tags))
        });
        known.collect()
    }

    fn follow(&mut self, environment: &Environment) {
        let mailbox = Mailbox::open(environment).unwrap();
        let now = Reader::listed(&mailbox);
        let Some(token) = &self.token else {
            (self.token, self.known) = (Some(mailbox.changes(None).unwrap().token), now);
            return;
        };
        let changes = mailbox.changes(Some(token)).unwrap();
        changes
            .each::<Error>(&mailbox, |change| {
                let sha256 = change.sha256.unwrap();
                let known = self.known.entry(sha256).or_default();
                match change.what {
                    Happened::Added(folders) => {
                        assert!(known.0.is_empty(), "added twice");
                        known.0 = folders.into_iter().map(|folder| folder.maildir).collect();
                    }
                    Happened::Moved { from, to } if now[&sha256].0 == [to.maildir.clone()] => {
                        assert!(known.0 == [from.maildir] || known.0 == [to.maildir.clone()]);
                        known.0 = vec![to.maildir];
                    }
                    Happened::Tags { added, removed } => {
                        assert!(added.iter().all(|tag| !known.1.contains(tag)), "tagged twice");
                        known.1.retain(|tag| !removed.contains(tag));
                        known.1.extend(added);
                        known.1.sort();
                    }
                    other => panic!("{other:?}"),
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(self.known, now);
        self.token = Some(changes.token);
    }
}

#[test]
fn no_change_is_missed_or_told_twice_across_crashes() {
    let disk = SimDisk::new(3);
    let fixture = Fixture::on(Arc::new(disk.clone()));
    let on = |disk: &SimDisk| environment(Arc::new(disk.clone()), &fixture.environment.data);
    fixture.put("inbox", "cur", "0.x:2,S", &message("m0", "zero", "words"));
    fixture.put("done", "cur", "9.x:2,S", &message("m9", "nine", "words"));
    let update = |disk: &SimDisk| index::update(&on(disk), &fixture.roots, &Default::default(), &Silent);
    update(&disk).unwrap();
    tag(&on(&disk), "subject:zero", &adding("first"));

    let work = |disk: &SimDisk, ledger: &Acknowledged<Reader>| -> index::Result<()> {
        let mut reader = Reader::default();
        let mut follow = || {
            reader.follow(&on(disk));
            ledger.record(|known| known.clone_from(&reader));
        };
        follow();
        for number in 1..4 {
            let name = format!("{number}.x:2,S");
            fixture.put("inbox", "cur", &name, &message(&format!("m{number}"), "more", "words"));
            update(disk)?;
            follow();
            let root = fixture.root();
            fs::rename(root.join("inbox/cur").join(&name), root.join("done/cur").join(&name)).unwrap();
            update(disk)?;
            tag(&on(disk), "subject:more", &adding(&format!("t{number}")));
            follow();
        }
        Ok(())
    };
    let (roots, data) = (fixture.roots.clone(), fixture.environment.data.clone());
    let runs = crash_at_every_operation(&disk, Reader::default(), work, move |disk, reader| {
        let environment = environment(Arc::new(disk.clone()), &data);
        let mut reader = reader.clone();
        // As it was left, and after the next pass and the next tag.
        reader.follow(&environment);
        index::update(&environment, &roots, &Default::default(), &Silent).unwrap();
        tag(&environment, "", &adding("last"));
        reader.follow(&environment);
    });
    assert!(runs.operation_count > 50, "{runs:?}");
}
