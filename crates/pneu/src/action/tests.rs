//! Tests of actions: what they do to files, what undo brings back, and a crash at each operation.

use crate::action::carry_out::carry_out;
use crate::action::crashing::{Crashing, ends, recover, undo};
use crate::action::hands::{Hands, RealHands};
use crate::action::log::{Kind, Log, Place, State, Step};
use crate::{Action, Host, Settings, Undone};
use disk::{Disk, RealDisk};
use index::{Environment, FlagTags, Root, UpdateOptions};
use mail::Flags;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::{Progress, Silent};

pub(super) struct Fixture {
    pub place: tempfile::TempDir,
    pub host: Host,
    pub flag_tags: FlagTags,
}

impl Fixture {
    /// Makes some folders with messages, and indexes them.
    pub(super) fn new() -> Fixture {
        Fixture::on(Arc::new(RealDisk))
    }

    /// Does so with an index on this disk.
    pub(super) fn on(disk: Arc<dyn Disk>) -> Fixture {
        let place = tempfile::tempdir().unwrap();
        let host = Host::new(Settings::new(place.path().join("data")));
        let mut fixture = Fixture { place, host, flag_tags: FlagTags::Stored };
        fixture.restart(disk);
        for folder in ["inbox", "archive", "Trash"] {
            mail::create_directory(&fixture.mail()).unwrap();
            mail::create_folder(&fixture.mail().join(folder)).unwrap();
        }
        for (path, subject) in [
            ("inbox/cur/1.a,U=1:2,S", "one"),
            ("inbox/cur/2.a,U=2:2,FS", "two"),
            ("inbox/new/3.a", "three"),
            ("archive/cur/4.a:2,S", "four"),
            ("archive/cur/5.a:2,S", "one"),
        ] {
            let letter = format!(
                "From: ana@example.org\nSubject: {subject}\nMessage-ID: <{subject}@x>\n\nbody {subject}\n"
            );
            std::fs::write(fixture.mail().join(path), letter).unwrap();
        }
        let roots = [Root { name: "mail".into(), path: fixture.mail() }];
        fixture.host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        fixture
    }

    /// Begins anew, as another process would, with the index on this disk.
    pub(super) fn restart(&mut self, disk: Arc<dyn Disk>) {
        let mut settings = Settings::new(self.place.path().join("data"));
        settings.environment.disk = disk;
        settings.configuration.flag_tags = self.flag_tags;
        self.host = Host::new(settings);
    }

    pub(super) fn mail(&self) -> PathBuf {
        self.place.path().join("Mail")
    }

    pub(super) fn act(&self, query: &str, action: &Action) -> String {
        let query = self.host.view().unwrap().query(query).unwrap();
        let planned = self.host.plan_action(&query, action).unwrap().steps.len();
        let acted = self.host.act(&query, action, &Silent).unwrap();
        assert!(planned as u64 >= acted.file_count);
        let left: Vec<&str> = acted.left.iter().map(|left| left.why.as_str()).collect();
        format!("{} {} {}", acted.message_count, acted.file_count, left.join(", ")).trim_end().to_owned()
    }

    pub(super) fn undo(&self) -> String {
        match self.host.undo(&Silent).unwrap() {
            Some(Undone { action, restored_count, left }) => {
                let left: Vec<&str> = left.iter().map(|left| left.why.as_str()).collect();
                assert_eq!(restored_count + left.len() as u64, action.files.len() as u64);
                format!("{:?} {} {}", action.kind, action.files.len(), left.join(", ")).trim_end().to_owned()
            }
            None => "nothing".to_owned(),
        }
    }

    /// Returns the files of a folder, in order.
    pub(super) fn files(&self, folder: &str) -> Vec<String> {
        let mut files = Vec::new();
        for directory in ["cur", "new"] {
            for entry in std::fs::read_dir(self.mail().join(folder).join(directory)).unwrap() {
                files.push(format!("{directory}/{}", entry.unwrap().file_name().into_string().unwrap()));
            }
        }
        files.sort();
        files
    }

    /// Returns what the index finds, and checks that a pass over all mail finds nothing to do.
    pub(super) fn count(&self, query: &str) -> u64 {
        let view = self.host.view().unwrap();
        let count = view.count(&view.query(query).unwrap()).unwrap();
        let roots = [Root { name: "mail".into(), path: self.mail() }];
        let summary = self.host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        assert_eq!((summary.added, summary.moved, summary.gone), (0, 0, 0), "the index was in step");
        count
    }
}

fn move_to(folder: &str) -> Action {
    Action::Move { folder: folder.into(), creates: true }
}

#[test]
fn what_is_moved_is_found_there_and_comes_back_by_undo() {
    let fixture = Fixture::new();
    assert_eq!(fixture.act("maildir:/inbox", &move_to("lists/rust")), "3 3");
    assert_eq!(fixture.files("inbox"), [""; 0]);
    assert_eq!(fixture.files("lists/rust"), ["cur/1.a:2,S", "cur/2.a:2,FS", "new/3.a"]);
    assert_eq!(fixture.count("maildir:/lists/rust"), 3);
    // mbsync gives one its number in the new folder, and a user reads another.
    let place = fixture.mail().join("lists/rust");
    std::fs::rename(place.join("cur/1.a:2,S"), place.join("cur/1.a,U=9:2,S")).unwrap();
    std::fs::rename(place.join("new/3.a"), place.join("cur/3.a:2,S")).unwrap();
    std::fs::remove_file(place.join("cur/2.a:2,FS")).unwrap();
    assert_eq!(fixture.undo(), "Move 3 it was moved, changed or removed since");
    assert_eq!(fixture.files("inbox"), ["cur/1.a:2,S", "cur/3.a:2,S"]);
    assert_eq!((fixture.count("maildir:/inbox"), fixture.count("maildir:/lists/rust")), (2, 0));
    assert_eq!(fixture.undo(), "nothing");
}

#[test]
fn actions_are_undone_one_after_the_other() {
    let fixture = Fixture::new();
    let flag = |add, remove| Action::Flag { add, remove };
    assert_eq!(fixture.act("maildir:/inbox", &flag(Flags::FLAGGED, Flags::SEEN)), "3 3");
    assert_eq!(fixture.files("inbox"), ["cur/1.a,U=1:2,F", "cur/2.a,U=2:2,F", "cur/3.a:2,F"]);
    assert_eq!(fixture.count("maildir:/inbox and flag:flagged and flag:unread"), 3);
    assert_eq!(fixture.act("subject:two or subject:four", &Action::Delete), "2 2");
    assert_eq!(fixture.files("Trash"), ["cur/2.a:2,F", "cur/4.a:2,S"]);
    let undoable = fixture.host.undoable().unwrap();
    assert_eq!(undoable.iter().map(|action| action.kind).collect::<Vec<_>>(), [Kind::Delete, Kind::Flag]);
    assert_eq!(undoable[0].files[1].1, fixture.mail().join("Trash/cur/2.a:2,F"));
    assert_eq!(fixture.undo(), "Delete 2");
    assert_eq!(fixture.files("archive"), ["cur/4.a:2,S", "cur/5.a:2,S"]);
    // Flags that changed since stay as they are.
    let inbox = fixture.mail().join("inbox/cur");
    std::fs::rename(inbox.join("1.a,U=1:2,F"), inbox.join("1.a,U=1:2,FRS")).unwrap();
    assert_eq!(fixture.undo(), "Flag 3");
    assert_eq!(fixture.files("inbox"), ["cur/1.a,U=1:2,RS", "cur/2.a:2,FS", "new/3.a"]);
    assert_eq!(fixture.count("flag:new"), 1);
    assert_eq!(fixture.undo(), "nothing");
}

#[test]
fn a_copy_goes_away_by_undo_unless_it_is_the_only_one() {
    let fixture = Fixture::new();
    let copy = Action::Copy { folder: "archive".into(), creates: false };
    assert_eq!(fixture.act("subject:two or subject:three", &copy), "2 2");
    assert_eq!(fixture.files("archive"), ["cur/2.a:2,FS", "cur/4.a:2,S", "cur/5.a:2,S", "new/3.a"]);
    assert_eq!(fixture.count("maildir:/archive"), 4);
    std::fs::remove_file(fixture.mail().join("inbox/new/3.a")).unwrap();
    assert_eq!(fixture.undo(), "Copy 2 the file that it was copied from is gone, so it stays");
    assert_eq!(fixture.files("archive"), ["cur/4.a:2,S", "cur/5.a:2,S", "new/3.a"]);
    assert_eq!(fixture.files("inbox"), ["cur/1.a,U=1:2,S", "cur/2.a,U=2:2,FS"]);
}

#[test]
fn folders_in_the_query_say_which_files_are_meant() {
    let fixture = Fixture::new();
    // One message has a file in each folder.
    assert_eq!(fixture.act("maildir:/inbox and subject:one", &move_to("Trash")), "1 1");
    assert_eq!(fixture.files("archive"), ["cur/4.a:2,S", "cur/5.a:2,S"]);
    assert_eq!(fixture.act("subject:one", &move_to("inbox")), "1 2");
    assert_eq!(fixture.files("inbox"), ["cur/1.a:2,S", "cur/2.a,U=2:2,FS", "cur/5.a:2,S", "new/3.a"]);
    assert_eq!(fixture.act("subject:one", &move_to("inbox")), "0 0", "they are there");
}

#[test]
fn a_file_that_changed_is_looked_for_again_and_never_moved_on_a_guess() {
    let fixture = Fixture::new();
    let inbox = fixture.mail().join("inbox");
    std::fs::rename(inbox.join("cur/1.a,U=1:2,S"), inbox.join("cur/1.a,U=1:2,RS")).unwrap();
    std::fs::remove_file(inbox.join("cur/2.a,U=2:2,FS")).unwrap();
    std::fs::write(inbox.join("cur/2.a,U=2:2,FS"), "Subject: another\n\nother text\n").unwrap();
    assert_eq!(fixture.act("maildir:/inbox and (subject:one or subject:two)", &move_to("archive")), "1 1");
    assert_eq!(fixture.files("archive"), ["cur/1.a:2,RS", "cur/4.a:2,S", "cur/5.a:2,S"]);
    assert_eq!(fixture.files("inbox"), ["cur/2.a,U=2:2,FS", "new/3.a"]);
}

/// Returns the contents of all files of two folders, each with how often it is in either.
fn contents(folders: &[PathBuf; 2]) -> BTreeMap<String, [usize; 2]> {
    let mut found: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (number, folder) in folders.iter().enumerate() {
        for directory in ["cur", "new"] {
            for entry in std::fs::read_dir(folder.join(directory)).unwrap() {
                let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
                found.entry(text).or_default()[number] += 1;
            }
        }
    }
    found
}

/// Writes two messages into the first folder. Returns the steps that bring them into the other.
fn steps_between(folders: &[PathBuf; 2]) -> Vec<Step> {
    let step = |number: usize| {
        let from = folders[0].join(format!("cur/{number}:2,"));
        std::fs::write(&from, format!("letter {number}")).unwrap();
        let stat = mail::stat_entry(&from).unwrap();
        Step {
            from: Place(from),
            to: Place(folders[1].join(format!("cur/{number}:2,S"))),
            inode: stat.inode,
            new_inode: None,
            size_bytes: stat.size_bytes,
            mtime_ns: stat.mtime_ns,
            sha256: None,
            is_done: false,
            left: None,
        }
    };
    (0..2).map(step).collect()
}

/// Crashes at each operation of an action and of its undo, and looks at what is there.
fn crash(kind: Kind, target: &Path) {
    for operation in 0.. {
        let place = tempfile::tempdir().unwrap();
        let environment: Environment = Settings::new(place.path().join("data")).environment;
        let folders = [place.path().join("a"), target.join(format!("{kind:?}{operation}"))];
        folders.iter().for_each(|folder| mail::create_folder(folder).unwrap());
        let steps = steps_between(&folders);
        let act = |hands: &dyn Hands| {
            let log = Log::take(&environment, &Silent).unwrap();
            recover(&log, hands);
            let mut entry = log.begin(kind, steps.clone()).unwrap();
            carry_out(&log, hands, &mut entry).unwrap();
            undo(&log, hands, &mut entry);
        };
        let is_through = ends(&|| act(&Crashing { left: Cell::new(operation) }));
        let everywhere = |found: &BTreeMap<String, [usize; 2]>| {
            assert_eq!(found.len(), 2, "{kind:?} {operation}: a message is lost: {found:?}");
        };
        everywhere(&contents(&folders));
        // Whoever comes next may crash as well.
        for again in 0..4 {
            ends(&|| {
                let log = Log::take(&environment, &Silent).unwrap();
                recover(&log, &Crashing { left: Cell::new(again) });
            });
            everywhere(&contents(&folders));
        }
        let log = Log::take(&environment, &Silent).unwrap();
        recover(&log, &RealHands);
        let entry = log.names().unwrap().first().map(|name| log.read(*name).unwrap());
        let found = contents(&folders);
        everywhere(&found);
        if kind != Kind::Copy {
            assert!(
                found.values().all(|counts| counts[0] + counts[1] == 1),
                "{kind:?} {operation}: {found:?}"
            );
        }
        // An action of which nothing was done is forgotten.
        if let Some(mut entry) = entry.filter(|entry| entry.state != State::Undone) {
            assert_eq!(entry.state, State::Done, "{kind:?} {operation}");
            let undone = undo(&log, &RealHands, &mut entry);
            assert_eq!(undone, [], "{kind:?} {operation}");
        }
        let found = contents(&folders);
        assert!(found.values().all(|counts| *counts == [1, 0]), "{kind:?} {operation}: {found:?}");
        if is_through {
            assert!(operation > 5, "there was something to crash at");
            return;
        }
    }
}

#[test]
fn after_a_crash_at_any_operation_each_message_is_somewhere_and_undo_brings_all_back() {
    let here = tempfile::tempdir().unwrap();
    for kind in [Kind::Move, Kind::Delete, Kind::Copy] {
        crash(kind, here.path());
    }
    // Another file system, if this machine has one to write to.
    if let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") {
        crash(Kind::Move, elsewhere.path());
        crash(Kind::Copy, elsewhere.path());
    }
}

#[test]
fn a_file_that_only_looks_like_the_copy_is_not_removed() {
    let fixture = Fixture::new();
    let copy = Action::Copy { folder: "archive".into(), creates: false };
    assert_eq!(fixture.act("subject:two", &copy), "1 1");
    // Another message with the same inode, size and time of its last write.
    let path = fixture.mail().join("archive/cur/2.a:2,FS");
    let written = path.metadata().unwrap().modified().unwrap();
    let text = std::fs::read_to_string(&path).unwrap().replace("two", "six");
    std::fs::write(&path, text).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
    assert_eq!(fixture.undo(), "Copy 1 it is another message now");
    assert!(path.exists());
}

#[test]
fn what_a_crash_left_is_removed_only_if_its_copy_is_whole() {
    let place = tempfile::tempdir().unwrap();
    let environment: Environment = Settings::new(place.path().join("data")).environment;
    let folders = [place.path().join("a"), place.path().join("b")];
    folders.iter().for_each(|folder| mail::create_folder(folder).unwrap());
    let mut steps = steps_between(&folders);
    // At the new place is another file of the same size and time, on the same file system.
    std::fs::write(&steps[0].to, "letter 9").unwrap();
    let time = steps[0].from.0.metadata().unwrap().modified().unwrap();
    std::fs::File::options().write(true).open(&steps[0].to).unwrap().set_modified(time).unwrap();
    steps[0].mtime_ns = mail::stat_entry(&steps[0].from.0).unwrap().mtime_ns;
    let log = Log::take(&environment, &Silent).unwrap();
    log.begin(Kind::Move, steps).unwrap();
    recover(&log, &RealHands);
    assert_eq!(contents(&folders).len(), 3, "both are there");
    assert_eq!(log.names().unwrap(), [], "nothing was done, so there is nothing to undo");
}

#[test]
fn a_hard_link_is_another_file_than_the_one_that_was_moved() {
    let fixture = Fixture::new();
    let archive = fixture.mail().join("archive/cur");
    std::fs::hard_link(fixture.mail().join("inbox/cur/2.a,U=2:2,FS"), archive.join("9.own:2,S")).unwrap();
    assert_eq!(fixture.act("maildir:/inbox and subject:two", &move_to("archive")), "1 1");
    std::fs::remove_file(archive.join("2.a:2,FS")).unwrap();
    assert_eq!(fixture.undo(), "Move 1 it was moved, changed or removed since");
    assert_eq!(fixture.files("archive"), ["cur/4.a:2,S", "cur/5.a:2,S", "cur/9.own:2,S"]);
}

#[test]
fn folders_under_or_and_not_say_which_files_are_meant() {
    let fixture = Fixture::new();
    let files = |query: &str| {
        let query = fixture.host.view().unwrap().query(query).unwrap();
        let planned = fixture.host.plan_action(&query, &move_to("Trash")).unwrap().steps;
        planned
            .iter()
            .map(|step| step.file.path().strip_prefix(fixture.mail()).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // "one" has a file in each of inbox and archive.
    let both = [Path::new("archive/cur/5.a:2,S"), Path::new("inbox/cur/1.a,U=1:2,S")];
    for (query, expected) in [
        ("subject:one and (maildir:/inbox or maildir:/Trash)", &both[1..]),
        ("(subject:one and maildir:/inbox) or (subject:one and maildir:/Trash)", &both[1..]),
        ("subject:one and not maildir:/Trash", &both[..]),
        ("subject:one and not not maildir:/archive", &both[..1]),
        ("subject:one and (maildir:/inbox or from:ana)", &both[..]),
        ("subject:one and (maildir:/inbox or maildir:/archive)", &both[..]),
        ("subject:one xor maildir:/Trash", &both[..]),
    ] {
        assert_eq!(files(query), expected, "{query}");
    }
}

#[test]
fn what_is_in_the_way_of_an_undo_for_now_can_be_undone_later() {
    let fixture = Fixture::new();
    assert_eq!(fixture.act("maildir:/inbox", &move_to("archive")), "3 3");
    let (inbox, away) = (fixture.mail().join("inbox"), fixture.mail().join("away"));
    std::fs::rename(&inbox, &away).unwrap();
    let said = fixture.undo();
    assert!(said.starts_with("Move 3 its folder ") && said.ends_with(" is not there"), "{said}");
    assert_eq!(fixture.host.undoable().unwrap()[0].files.len(), 3);
    std::fs::rename(&away, &inbox).unwrap();
    assert_eq!(fixture.undo(), "Move 3");
    assert_eq!(fixture.files("inbox"), ["cur/1.a:2,S", "cur/2.a:2,FS", "new/3.a"]);
    assert_eq!(fixture.count("maildir:/inbox"), 3);
}

#[test]
fn an_interrupted_undo_is_gone_on_with_and_reported_and_listing_changes_nothing() {
    let fixture = Fixture::new();
    assert_eq!(fixture.act("subject:four", &move_to("inbox")), "1 1");
    assert_eq!(fixture.act("maildir:/inbox and subject:two", &move_to("archive")), "1 1");
    let environment = &fixture.host.settings().environment;
    {
        let log = Log::take(environment, &Silent).unwrap();
        let mut entry = log.read(log.names().unwrap()[0]).unwrap();
        entry.state = State::Undoing;
        log.write(&entry).unwrap();
    }
    let undoable = fixture.host.undoable().unwrap();
    assert_eq!(undoable.iter().map(|action| action.files.len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(fixture.files("archive"), ["cur/2.a:2,FS", "cur/5.a:2,S"]);
    assert_eq!(fixture.undo(), "Move 1");
    assert_eq!(fixture.files("archive"), ["cur/5.a:2,S"], "only the second was undone");
    assert_eq!(fixture.count("maildir:/inbox"), 4);
    assert_eq!(fixture.undo(), "Move 1");
    assert_eq!(fixture.files("archive"), ["cur/4.a:2,S", "cur/5.a:2,S"]);
}

/// Ends a pass before it begins.
pub(super) struct Ending;

impl Progress for Ending {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn an_undo_that_is_gone_on_with_leaves_what_the_user_changed_in_between() {
    let fixture = Fixture::new();
    let archive = fixture.mail().join("archive/cur");
    let flag = Action::Flag { add: Flags::FLAGGED, remove: Flags::default() };
    assert_eq!(fixture.act("subject:four", &flag), "1 1");
    // The files are as they were, but the index is not brought in step.
    assert!(fixture.host.undo(&Ending).is_err());
    assert_eq!(fixture.files("archive"), ["cur/4.a:2,S", "cur/5.a:2,S"]);
    std::fs::rename(archive.join("4.a:2,S"), archive.join("4.a:2,FS")).unwrap();
    assert_eq!(fixture.undo(), "Flag 1");
    assert_eq!(fixture.files("archive"), ["cur/4.a:2,FS", "cur/5.a:2,S"]);
    assert_eq!(fixture.count("flag:flagged and maildir:/archive"), 1);
    assert_eq!(fixture.undo(), "nothing");
}

#[test]
fn what_a_crash_left_is_listed_as_far_as_it_was_done() {
    let fixture = Fixture::new();
    assert_eq!(fixture.act("subject:four", &move_to("inbox")), "1 1");
    let inbox = fixture.mail().join("inbox/cur");
    let stat = |name: &str| mail::stat_entry(&inbox.join(name)).unwrap();
    let names = ["1.a,U=1:2,S", "2.a,U=2:2,FS"];
    let steps: Vec<Step> = names
        .map(|name| Step {
            from: Place(inbox.join(name)),
            to: Place(fixture.mail().join("archive/cur").join(format!("new{name}"))),
            inode: stat(name).inode,
            new_inode: None,
            size_bytes: stat(name).size_bytes,
            mtime_ns: stat(name).mtime_ns,
            sha256: None,
            is_done: false,
            left: None,
        })
        .into();
    // Returns what is listed while the log has a further action that was begun.
    let listed_with = |kind, steps: &[Step]| {
        let log = || Log::take(&fixture.host.settings().environment, &Silent).unwrap();
        let entry = log().begin(kind, steps.to_vec()).unwrap();
        let undoable = fixture.host.undoable().unwrap();
        log().forget(&entry).unwrap();
        undoable.iter().map(|action| (action.kind, action.files.len())).collect::<Vec<_>>()
    };
    let files = || [fixture.files("inbox"), fixture.files("archive")];
    let before = files();
    for kind in [Kind::Move, Kind::Flag, Kind::Delete, Kind::Copy, Kind::Remove] {
        assert_eq!(listed_with(kind, &steps), [(Kind::Move, 1)], "{kind:?}: only its intent was written");
    }
    assert_eq!(files(), before, "listing changes nothing");
    // The first of the two steps was done.
    std::fs::rename(&steps[0].from.0, &steps[0].to.0).unwrap();
    for kind in [Kind::Move, Kind::Flag, Kind::Delete, Kind::Remove] {
        assert_eq!(listed_with(kind, &steps), [(kind, 1), (Kind::Move, 1)]);
    }
}

#[test]
fn two_files_of_one_unique_part_do_not_come_into_one_folder() {
    let fixture = Fixture::new();
    let copy = Action::Copy { folder: "archive".into(), creates: false };
    assert_eq!(fixture.act("subject:three", &copy), "1 1");
    let flag = Action::Flag { add: Flags::SEEN, remove: Flags::NONE };
    assert_eq!(fixture.act("maildir:/inbox and subject:three", &flag), "1 1");
    assert_eq!(fixture.act("maildir:/inbox and subject:three", &move_to("archive")), "1 1");
    let files = fixture.files("archive");
    assert_eq!(files.len(), 4, "{files:?}");
    assert_eq!(files.iter().filter(|name| name.contains("/3.a")).count(), 1, "{files:?}");
    // By a link it is the same folder: nothing is to be done.
    std::os::unix::fs::symlink(fixture.mail().join("archive"), fixture.mail().join("link")).unwrap();
    let places = [fixture.mail().join("link").as_path()].into_iter().collect();
    fixture.host.update_places(&places, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(fixture.act("maildir:/archive and subject:four", &move_to("link")), "0 0");
}
