//! Tests of the undo of imports: what it removes, what it leaves alone, and a crash at each operation.

use crate::action::carry_out::carry_out;
use crate::action::crashing::{Crashing, ends, recover, undo};
use crate::action::hands::{Hands, RealHands};
use crate::action::log::{ImportPart, Kind, Log, Place, State, Step};
use crate::action::tests::{Ending, Fixture};
use crate::{Action, ActionKind, ImportedFrom, MailImportOptions, MailInput, Settings};
use disk::RealDisk;
use index::{Environment, FlagTags, TagChange};
use mail::{Batch, Draft, Flags};
use printable::hex;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Silent;

/// Messages of a batch.
const BATCH: usize = mail::BATCH_COUNT_MAX;

pub(super) fn letter(number: usize) -> String {
    format!("Subject: new {number}\nMessage-ID: <new{number}@x>\n\nbody\n")
}

fn mbox(numbers: std::ops::Range<usize>) -> String {
    numbers.map(|number| format!("From a@x Mon Jan  5 10:00:00 2004\n{}\n", letter(number))).collect()
}

impl Fixture {
    /// Imports text as an mbox, and returns how many messages came in.
    fn import(&self, folder: &str, text: String, tags: &[&str]) -> u64 {
        let options = MailImportOptions {
            creates_folder: true,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..MailImportOptions::default()
        };
        let stream = MailInput::Stream(Box::new(Cursor::new(text)), PathBuf::from("old.mbox"));
        let imported = self.host.import_mail(vec![stream], folder, &options, &Silent).unwrap();
        assert!(imported.problems.is_empty() && imported.unfinished.is_none(), "{imported:?}");
        imported.total().imported
    }

    pub(super) fn query(&self, text: &str) -> query::Query {
        self.host.view().unwrap().query(text).unwrap()
    }

    fn undoable(&self) -> Vec<(ActionKind, usize)> {
        self.host.undoable().unwrap().iter().map(|action| (action.kind, action.files.len())).collect()
    }

    /// Returns the file of an imported message.
    fn file_of(&self, folder: &str, subject: &str) -> PathBuf {
        let view = self.host.view().unwrap();
        let found = view.matching(&view.query(&format!("subject:\"{subject}\"")).unwrap()).unwrap();
        let files = view.mailbox().found_files(&found).unwrap();
        let path = self.mail().join(folder);
        files.iter().map(index::FoundFile::path).find(|file| file.starts_with(&path)).unwrap()
    }
}

#[test]
fn an_import_goes_away_by_undo_and_the_action_before_it_stays() {
    let fixture = Fixture::new();
    let flag = Action::Flag { add: Flags::FLAGGED, remove: Flags::NONE };
    assert_eq!(fixture.act("subject:one", &flag), "1 2");
    assert_eq!(fixture.import("old", mbox(0..3), &[]), 3);
    let undoable = fixture.host.undoable().unwrap();
    let from = ImportedFrom { sources: vec!["old.mbox".into()], folder: "old".into() };
    assert_eq!((undoable[0].kind, undoable[0].import.as_ref()), (ActionKind::Import, Some(&from)));
    assert!(undoable[0].files.iter().all(|(old, now)| old == Path::new("") && now.exists()));
    // A mail program reads one.
    let path = fixture.file_of("old", "new 1");
    std::fs::rename(&path, PathBuf::from(format!("{}RS", path.display()))).unwrap();
    assert_eq!(fixture.undo(), "Import 3");
    assert_eq!(fixture.files("old"), [""; 0]);
    assert_eq!((fixture.count("subject:new"), fixture.count("flag:flagged")), (0, 2));
    assert_eq!(fixture.undoable(), [(ActionKind::Flag, 2)]);
    // It can be imported again.
    assert_eq!(fixture.import("old", mbox(0..3), &[]), 3);
}

#[test]
fn what_was_moved_or_changed_since_an_import_is_left_alone() {
    let fixture = Fixture::new();
    assert_eq!(fixture.import("old", mbox(0..5), &[]), 5);
    let moved = fixture.file_of("old", "new 0");
    std::fs::rename(&moved, fixture.mail().join("archive/cur").join(moved.file_name().unwrap())).unwrap();
    let [shorter, other, linked] = [1, 2, 3].map(|number| fixture.file_of("old", &format!("new {number}")));
    std::fs::write(&shorter, "x").unwrap();
    // Another message with the same inode, size and time of its last write.
    let written = other.metadata().unwrap().modified().unwrap();
    std::fs::write(&other, letter(2).replace("body", "BODY")).unwrap();
    std::fs::File::options().write(true).open(&other).unwrap().set_modified(written).unwrap();
    // The file has another unique part in its name: it is that of another message.
    let own = linked.with_file_name("own:2,S");
    std::fs::rename(&linked, &own).unwrap();
    let gone = "it was moved, changed or removed since";
    assert_eq!(fixture.undo(), format!("Import 5 {gone}, it is another message now, {gone}, {gone}"));
    assert!(shorter.exists() && other.exists() && own.exists());
    assert_eq!(fixture.files("old").len(), 3);
    assert_eq!(fixture.undo(), "nothing");
}

#[test]
fn tags_of_an_import_go_away_with_it_and_others_stay() {
    let fixture = Fixture::new();
    let count = |query: &str| fixture.host.view().unwrap().count(&fixture.query(query)).unwrap();
    fixture.import("old", mbox(0..2), &["first"]);
    let labelled = mbox(0..3).replace("Subject: new 2", "X-Gmail-Labels: trip\nSubject: new 2");
    // Two of the messages are there, and one of their tags is, too.
    let tags = fixture.import("old", labelled, &["first", "second"]);
    assert_eq!((tags, count("tag:first"), count("tag:second"), count("tag:trip")), (1, 3, 3, 1));
    assert_eq!(fixture.undo(), "Import 1");
    assert_eq!((count("tag:first"), count("tag:second"), count("tag:trip")), (2, 0, 0));
    // An import that only tags is an action, too.
    assert_eq!(fixture.import("old", mbox(0..2), &["third"]), 0);
    assert_eq!((count("tag:third"), fixture.undoable()[0]), (2, (ActionKind::Import, 0)));
    assert_eq!(fixture.undo(), "Import 0");
    assert_eq!(count("tag:third"), 0);
    assert_eq!(fixture.undo(), "Import 2");
    assert_eq!(fixture.undo(), "nothing");
    // The message had the tag of the import before that, which it has again when it is there again.
    fixture.import("old", mbox(0..1), &[]);
    assert_eq!(count("tag:first or tag:second or tag:third"), 0);
}

#[test]
fn an_undo_that_is_gone_on_with_leaves_tags_that_the_user_set_in_between() {
    let fixture = Fixture::new();
    let count = |query: &str| fixture.host.view().unwrap().count(&fixture.query(query)).unwrap();
    fixture.import("old", mbox(0..2), &[]);
    assert_eq!((fixture.import("old", mbox(0..3), &["trip"]), count("tag:trip")), (1, 3));
    // Tags and files are as they were, but the index is not brought in step.
    assert!(fixture.host.undo(&Ending).is_err());
    let change = TagChange { add: ["trip".to_owned()].into(), ..TagChange::default() };
    fixture.host.tag(&fixture.query("subject:\"new 0\""), &change).unwrap();
    assert_eq!(fixture.undo(), "Import 1");
    assert_eq!((count("tag:trip"), fixture.count("subject:new")), (1, 2));
}

#[test]
fn tags_that_stand_for_flags_go_away_with_their_import() {
    let mut fixture = Fixture::new();
    fixture.flag_tags = FlagTags::Derived;
    fixture.restart(Arc::new(RealDisk));
    let count = |query: &str| fixture.host.view().unwrap().count(&fixture.query(query)).unwrap();
    fixture.import("old", mbox(0..2), &["first"]);
    let before = fixture.files("old");
    assert!(before.iter().all(|name| name.ends_with(":2,")), "{before:?}");
    let labelled = mbox(0..4).replace("Subject: new 3", "X-Gmail-Labels: Replied\nSubject: new 3");
    assert_eq!(fixture.import("old", labelled, &["flagged", "second"]), 2);
    assert_eq!(["tag:flagged", "tag:second", "tag:replied"].map(count), [1 + 4, 4, 1]);
    // Of the new messages, no file was renamed: an import has one part for files, tags, and flags.
    let log = Log::take(&fixture.host.settings().environment, &Silent).unwrap();
    let entries: Vec<_> = log.names().unwrap().iter().map(|name| log.read(*name).unwrap()).collect();
    let steps: Vec<_> = entries.iter().map(|entry| (entry.kind, entry.steps.len())).collect();
    assert_eq!(steps[..3], [(ActionKind::Flag, 2), (ActionKind::Import, 0), (ActionKind::Import, 2)]);
    drop(log);
    assert_eq!(fixture.undoable(), [(ActionKind::Import, 2), (ActionKind::Import, 2)]);
    // Another flag came since.
    let read = fixture.file_of("old", "new 1");
    std::fs::rename(&read, format!("{}S", read.display())).unwrap();
    assert_eq!(fixture.undo(), "Import 2");
    assert_eq!(fixture.files("old"), [before[0].clone(), format!("{}S", before[1])]);
    assert_eq!((fixture.count("flag:flagged"), fixture.count("tag:second")), (1, 0));
    assert_eq!(fixture.undo(), "Import 2");
    // What was read in the source is unread by its tag.
    fixture.import("old", mbox(0..1).replace("Subject:", "Status: RO\nSubject:"), &["unread"]);
    assert!(fixture.files("old")[0].ends_with(":2,"), "{:?}", fixture.files("old"));
}

#[test]
fn a_long_import_is_one_action_in_bounded_parts() {
    let fixture = Fixture::new();
    assert_eq!(fixture.import("old", mbox(0..2 * BATCH + 1), &["all"]), 2 * BATCH as u64 + 1);
    let steps: Vec<usize> = {
        let log = Log::take(&fixture.host.settings().environment, &Silent).unwrap();
        log.names().unwrap().iter().map(|name| log.read(*name).unwrap().steps.len()).collect()
    };
    assert_eq!(steps, [0, 0, 0, 1, BATCH, BATCH], "the tags are in parts, too");
    assert_eq!(fixture.undoable(), [(ActionKind::Import, 2 * BATCH + 1)]);
    // Its parts are remembered as long as it is, and no longer.
    let files = |fixture: &Fixture| {
        let directory = fixture.host.settings().environment.user_directory().join("actions");
        std::fs::read_dir(directory).unwrap().count()
    };
    let before = files(&fixture);
    let flag = |add, remove| fixture.act("subject:two", &Action::Flag { add, remove });
    for _ in 0..100 {
        flag(Flags::REPLIED, Flags::NONE);
        flag(Flags::NONE, Flags::REPLIED);
    }
    assert_eq!(files(&fixture), before - 6 + 200);
}

/// Returns the whole messages in `cur` and `new` of a folder, each with how often it is there.
fn contents(folder: &Path) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for directory in ["cur", "new"] {
        for entry in std::fs::read_dir(folder.join(directory)).unwrap() {
            *found.entry(std::fs::read_to_string(entry.unwrap().path()).unwrap()).or_default() += 1;
        }
    }
    found
}

/// Writes two messages into `tmp` of a folder. Returns the steps that give them their names.
fn steps_in(folder: &Path) -> Vec<Step> {
    let mut batch = Batch::open(folder).unwrap();
    for number in 0..2 {
        let mut draft = Draft::default();
        draft.push(letter(number).as_bytes(), None).unwrap();
        let name = format!("{number}.a");
        let flags = (number == 0).then_some(Flags::SEEN);
        batch.add(&mut draft, mail::Place { name: name.as_bytes(), flags, date_seconds: None }).unwrap();
    }
    batch.make_durable().unwrap().iter().map(|written| super::step(written).unwrap()).collect()
}

#[test]
fn after_a_crash_at_any_operation_an_import_can_be_undone_as_far_as_it_came() {
    for operation in 0.. {
        let place = tempfile::tempdir().unwrap();
        let environment: Environment = Settings::new(place.path().join("data")).environment;
        let folder = place.path().join("a");
        mail::create_folder(&folder).unwrap();
        std::fs::write(folder.join("cur/9.own:2,S"), "an older message").unwrap();
        let steps = steps_in(&folder);
        let part = ImportPart { first: 0, sources: vec![], folder: "a".into(), tags: vec![] };
        let begin_undo = Cell::new(false);
        let act = |hands: &dyn Hands| {
            let log = Log::take(&environment, &Silent).unwrap();
            let mut entry = log.begin_part(Kind::Import, part.clone(), steps.clone()).unwrap();
            assert_eq!(carry_out(&log, hands, &mut entry).unwrap(), []);
            assert_eq!(contents(&folder).len(), 3);
            begin_undo.set(true);
            undo(&log, hands, &mut entry);
        };
        let is_through = ends(&|| act(&Crashing { left: Cell::new(operation) }));
        let check = |is_undone: bool| {
            let found = contents(&folder);
            assert!(found.values().all(|count| *count == 1), "{operation}: {found:?}");
            assert!(found.contains_key("an older message"), "{operation}: {found:?}");
            if is_undone {
                assert_eq!(found.len(), 1, "{operation}: {found:?}");
            }
        };
        check(is_through);
        let named = contents(&folder).len();
        // Whoever comes next may crash as well, and an import may have removed what was left in `tmp`.
        for again in 0..3 {
            ends(&|| {
                let log = Log::take(&environment, &Silent).unwrap();
                recover(&log, &Crashing { left: Cell::new(again) });
            });
            check(is_through);
            if operation % 2 == 1 {
                Batch::open(&folder).unwrap();
            }
        }
        let log = Log::take(&environment, &Silent).unwrap();
        recover(&log, &RealHands);
        check(begin_undo.get());
        if !begin_undo.get() {
            assert_eq!(contents(&folder).len(), named, "{operation}: nothing is removed that nobody undid");
        }
        // An import of which nothing was done is forgotten.
        let entry = log.names().unwrap().first().map(|name| log.read(*name).unwrap());
        assert_eq!(entry.is_none(), named == 1 && !begin_undo.get(), "{operation}");
        if let Some(mut entry) = entry.filter(|entry| entry.state != State::Undone) {
            assert_eq!(entry.state, State::Done, "{operation}");
            assert_eq!(undo(&log, &RealHands, &mut entry), [], "{operation}");
        }
        check(true);
        if is_through {
            assert!(operation > 5, "there was something to crash at");
            return;
        }
    }
}

#[test]
fn a_file_that_took_the_place_of_an_imported_one_is_not_removed() {
    let place = tempfile::tempdir().unwrap();
    let environment: Environment = Settings::new(place.path().join("data")).environment;
    let folder = place.path().join("a");
    mail::create_folder(&folder).unwrap();
    let steps = steps_in(&folder);
    let log = Log::take(&environment, &Silent).unwrap();
    let part = ImportPart { first: 0, sources: vec![Place("x".into())], folder: "a".into(), tags: vec![] };
    log.begin_part(Kind::Import, part, steps.clone()).unwrap();
    // A crash came before the names; what was in `tmp` is removed, and another file of the same size and
    // time has the name now.
    std::fs::write(&steps[0].to, letter(7)).unwrap();
    let time = steps[0].from.0.metadata().unwrap().modified().unwrap();
    std::fs::File::options().write(true).open(&steps[0].to).unwrap().set_modified(time).unwrap();
    Batch::open(&folder).unwrap();
    recover(&log, &RealHands);
    assert_eq!(log.names().unwrap(), [], "nothing was done, so there is nothing to undo");
    assert_eq!(contents(&folder).into_keys().collect::<Vec<_>>(), [letter(7)]);
    assert_eq!(steps[0].sha256.as_ref().map(String::len), Some(hex(&[0; 32]).len()));
}
