//! Tests that crash the undo of an import of many parts: at each operation on mail, and at each operation on
//! the log and on the index. Whatever comes next finishes it, and the index is in step.

use super::ImportNotes;
use super::tests::letter;
use crate::action::crashing::{Crashing, ends};
use crate::action::hands::RealHands;
use crate::action::log::{Log, State};
use crate::action::tests::Fixture;
use crate::{Action, ActionKind, MailImportOptions, MailInput, Undone};
use index::{FlagTags, TagChange, TagEdit, UpdateOptions};
use mail::{Batch, Draft, Flags, Place};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::SimDisk;
use work::Silent;

/// How many messages come in.
const COUNT: usize = 5;

/// Mail with an import in parts of this size, with tags, and flags of messages that were there. Other actions
/// are among its parts. One of its messages was moved since.
struct Workload {
    fixture: Fixture,
    disk: SimDisk,
    /// The names of the files before the import.
    before: BTreeSet<PathBuf>,
    /// How many parts the import has.
    part_count: usize,
}

fn change(tag: &str) -> TagChange {
    TagChange { add: [tag.to_owned()].into(), ..TagChange::default() }
}

impl Workload {
    fn new(part_size: usize) -> Workload {
        let disk = SimDisk::new(1);
        let mut fixture = Fixture::on(Arc::new(disk.clone()));
        fixture.flag_tags = FlagTags::Derived;
        fixture.restart(Arc::new(disk.clone()));
        let folder = fixture.mail().join("old");
        mail::create_folder(&folder).unwrap();
        let host = &fixture.host;
        let places = [folder.as_path()].into_iter().collect();
        host.update_places(&places, &UpdateOptions::default(), &Silent).unwrap();
        let reply = |add, remove| fixture.act("subject:two", &Action::Flag { add, remove });
        assert_eq!(reply(Flags::REPLIED, Flags::NONE), "1 1");
        let before = names(&fixture.mail());
        let notes = ImportNotes { part_size, ..ImportNotes::new(vec!["old.mbox".into()], "old") };
        let mut batch = Batch::open(&folder).unwrap();
        let mut contents = Vec::new();
        for number in 0..COUNT {
            let mut draft = Draft::default();
            draft.push(letter(number).as_bytes(), None).unwrap();
            contents.push(draft.sha256());
            let name = format!("{number}.new");
            let place = Place { name: name.as_bytes(), flags: Some(Flags::NONE), date_seconds: None };
            batch.add(&mut draft, place).unwrap();
            if (number + 1) % part_size == 0 || number + 1 == COUNT {
                notes.name(host, &mut batch, &Silent).unwrap();
            }
            if number == 1 {
                assert_eq!(reply(Flags::PASSED, Flags::NONE), "1 1");
                assert_eq!(reply(Flags::NONE, Flags::PASSED), "1 1");
            }
        }
        host.update_places(&places, &UpdateOptions::default(), &Silent).unwrap();
        let set = || host.tag(&fixture.query("subject:new"), &change("trip")).map(|_| ());
        notes.tag(host, [(["trip".to_owned()].into(), contents)].into(), &Silent, set).unwrap();
        let view = host.view().unwrap();
        let found =
            view.matching(&view.query("subject:one or subject:three or subject:four").unwrap()).unwrap();
        let hits = view.sorted(&found, &index::Order::default()).unwrap().list;
        let edits = [(hits, TagEdit::Change(change("flagged")))];
        assert_eq!(host.edit_tags_of((Some(&notes), &Silent), &view, &edits).unwrap().changed, 3);
        drop(view);
        // One was moved, which only the disk knows. A mail program read another, and the index knows that.
        fs::rename(folder.join("cur/3.new:2,"), fixture.mail().join("archive/cur/3.new:2,")).unwrap();
        fs::rename(folder.join("cur/1.new:2,"), folder.join("cur/1.new:2,S")).unwrap();
        let all = [folder.as_path(), &fixture.mail().join("archive")].into_iter().collect();
        host.update_places(&all, &UpdateOptions::default(), &Silent).unwrap();
        let part_count = {
            let log = Log::take(&host.settings().environment, &Silent).unwrap();
            let first = notes.first.get();
            log.names().unwrap().iter().filter(|name| name.first == first).count()
        };
        link_all(&fixture.mail(), &fixture.place.path().join("keep"));
        Workload { fixture, disk, before, part_count }
    }

    /// Begins anew on a fork of the disk, with the mail as it was.
    fn restart(&mut self) -> SimDisk {
        let disk = self.disk.fork();
        self.fixture.restart(Arc::new(disk.clone()));
        fs::remove_dir_all(self.fixture.mail()).unwrap();
        link_all(&self.fixture.place.path().join("keep"), &self.fixture.mail());
        disk
    }

    /// Undoes, and crashes after so many operations on mail. Returns whether there were fewer.
    fn ends_at(&self, operation: usize) -> bool {
        let hands = Crashing { left: Cell::new(operation) };
        ends(&|| _ = self.fixture.host.undo_by(&hands, &Silent).unwrap())
    }

    /// Finishes the undo: by another undo, or by any other action.
    fn finish(&self, is_undo: bool, when: &str) {
        let left = match is_undo {
            true => {
                let Undone { action, restored_count, left } =
                    self.fixture.host.undo(&Silent).unwrap().unwrap();
                assert_eq!((action.kind, action.files.len()), (ActionKind::Import, COUNT), "{when}");
                assert_eq!(restored_count, COUNT as u64 - 1, "{when}: {left:?}");
                left
            }
            false => {
                let query = self.fixture.query("subject:two");
                let flag = Action::Flag { add: Flags::DRAFT, remove: Flags::NONE };
                let acted = self.fixture.host.act(&query, &flag, &Silent).unwrap();
                assert_eq!(self.fixture.undo(), "Flag 1", "{when}");
                acted.left
            }
        };
        let left: Vec<_> = left.iter().map(|left| (left.path.as_path(), left.why.as_str())).collect();
        let moved = self.fixture.mail().join("old/cur/3.new:2,");
        assert_eq!(left, [(moved.as_path(), "it was moved, changed or removed since")], "{when}");
        self.check(when);
    }

    fn check(&self, when: &str) {
        let mut expected = self.before.clone();
        expected.insert("archive/cur/3.new:2,".into());
        assert_eq!(names(&self.fixture.mail()), expected, "{when}");
        let counts = ["subject:new", "tag:trip", "flag:flagged", "flag:replied"];
        assert_eq!(counts.map(|query| self.fixture.count(query)), [1, 0, 1, 1], "{when}");
        let undoable = self.fixture.host.undoable().unwrap();
        assert!(undoable.iter().all(|action| action.kind == ActionKind::Flag), "{when}: {undoable:?}");
    }
}

/// Returns the names of all messages, below a directory.
fn names(mail: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for folder in fs::read_dir(mail).unwrap() {
        for directory in ["cur", "new"] {
            for file in fs::read_dir(folder.as_ref().unwrap().path().join(directory)).unwrap() {
                found.insert(file.unwrap().path().strip_prefix(mail).unwrap().to_owned());
            }
        }
    }
    found
}

/// Makes a directory whose files are links to those of another: with their inodes.
fn link_all(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let there = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => link_all(&entry.path(), &there),
            false => fs::hard_link(entry.path(), there).unwrap(),
        }
    }
}

#[test]
fn an_undo_of_an_import_that_a_crash_ended_among_its_parts_is_finished_by_whatever_comes_next() {
    for (part_size, part_count) in [(1, 5 + 5 + 4), (2, 3 + 3 + 2)] {
        let mut workload = Workload::new(part_size);
        assert_eq!(workload.part_count, part_count);
        for operation in 0.. {
            let mut is_through = false;
            for (is_undo, again) in [(true, None), (false, None), (true, Some(0)), (false, Some(2))] {
                workload.restart();
                is_through = workload.ends_at(operation);
                let when = format!("part size {part_size}, operation {operation}, again {again:?}");
                if is_through {
                    workload.check(&when);
                    break;
                }
                // Whoever comes next may crash as well.
                if again.is_some_and(|again| workload.ends_at(again)) {
                    workload.check(&when);
                } else {
                    workload.finish(is_undo, &when);
                }
            }
            if is_through {
                assert!(operation >= COUNT - 1 + 4, "there was something to crash at");
                break;
            }
        }
    }
}

#[test]
fn a_crash_of_the_log_or_the_index_while_an_import_is_undone_is_made_up_for() {
    let mut workload = Workload::new(2);
    let disk = workload.restart();
    workload.fixture.host.undo_by(&RealHands, &Silent).unwrap();
    workload.check("no crash");
    let trace = disk.trace();
    let changing = (0..trace.len()).filter(|number| trace[*number].changes()).collect::<Vec<_>>();
    assert!(changing.len() > 2 * workload.part_count);
    for number in changing {
        let disk = workload.restart();
        disk.crash_at(number);
        let undone = workload.fixture.host.undo_by(&RealHands, &Silent);
        let when = format!("operation {number}");
        // What was killed had written all this; what was not synced is there all the same.
        let image = disk.images().into_iter().find(|image| image.description.starts_with("everything"));
        let image = image.map_or_else(|| disk.images().swap_remove(0).disk, |image| image.disk);
        workload.fixture.restart(Arc::new(image));
        let newest =
            Log::take(&workload.fixture.host.settings().environment, &Silent).unwrap().newest().unwrap();
        match newest.filter(|entry| entry.import.is_some()).map(|entry| entry.state) {
            // It had not begun, and the import is still there.
            Some(State::Done) => workload.finish(true, &when),
            Some(State::Undoing) => workload.finish(number % 2 == 0, &when),
            _ => workload.check(&when),
        }
        assert!(undone.is_err() || !disk.has_crashed(), "{when}");
    }
}

#[test]
fn an_import_after_an_interrupted_undo_stores_all_that_the_undo_removes() {
    let mut workload = Workload::new(2);
    workload.restart();
    assert!(!workload.ends_at(6));
    let fixture = &workload.fixture;
    let left = names(&fixture.mail()).iter().filter(|name| name.starts_with("old")).count();
    assert!((1..COUNT).contains(&left), "the crash came in the middle");
    let text: String = (0..COUNT).map(|number| format!("From a@x\n{}\n", letter(number))).collect();
    let stream = MailInput::Stream(Box::new(Cursor::new(text)), "old.mbox".into());
    let imported =
        fixture.host.import_mail(vec![stream], "old", &MailImportOptions::default(), &Silent).unwrap();
    let problems: Vec<_> = imported.problems.iter().map(|left| left.path.as_path()).collect();
    assert_eq!(problems, [fixture.mail().join("old/cur/3.new:2,")], "what the undo left alone is told");
    assert_eq!(imported.total().imported, COUNT as u64);
    assert_eq!(fixture.files("old").len(), COUNT);
    assert_eq!(fixture.count("subject:new"), COUNT as u64);
}

#[test]
fn an_import_whose_folder_is_not_there_can_be_undone_later() {
    let workload = Workload::new(2);
    let fixture = &workload.fixture;
    let (old, away) = (fixture.mail().join("old"), fixture.mail().join("away"));
    fs::rename(&old, &away).unwrap();
    let undone = fixture.host.undo(&Silent).unwrap().unwrap();
    assert_eq!((undone.restored_count, undone.left.len()), (0, COUNT));
    assert_eq!(fixture.host.undoable().unwrap()[0].files.len(), COUNT);
    fs::rename(&away, &old).unwrap();
    workload.finish(true, "later");
}
