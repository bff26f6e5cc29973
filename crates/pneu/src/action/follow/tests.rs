//! Tests of what is kept of folders: it goes along whoever renames them, through rebuilds and undos, and a
//! crash at any operation of the disk parts no folder from its id.

use crate::error::Error;
use crate::{Host, Settings};
use index::{Environment, FolderId, KeptFolder, Root, TagChange, TagEdit, UpdateOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use testkit::SimDisk;
use work::{Progress, Silent};

struct Fixture {
    place: TempDir,
    host: Host,
}

impl Fixture {
    fn new(folders: &[&str]) -> Fixture {
        let place = tempfile::tempdir().unwrap();
        let host = Host::new(Settings::new(place.path().join("data")));
        let fixture = Fixture { place, host };
        folders.iter().for_each(|folder| fixture.make(folder));
        fixture.update();
        fixture
    }

    fn mail(&self) -> PathBuf {
        self.place.path().join("Mail")
    }

    fn make(&self, folder: &str) {
        make(&self.mail(), folder);
    }

    fn roots(&self) -> [Root; 1] {
        [Root { name: "mail".into(), path: self.mail() }]
    }

    fn update(&self) {
        self.host.update(&self.roots(), &UpdateOptions::default(), &Silent).unwrap();
    }

    fn move_directory(&self, from: &str, to: &str) {
        std::fs::rename(self.mail().join(from), self.mail().join(to)).unwrap();
    }

    fn kept(&self) -> BTreeMap<String, KeptFolder> {
        kept(&self.host)
    }

    fn id(&self, folder: &str) -> FolderId {
        self.kept().get(folder).unwrap().id
    }

    fn rename(&self, old: &str, new: &str) {
        assert_eq!(self.host.rename_folder(old, new, &Silent).unwrap().left, []);
    }

    fn undo(&self) {
        assert_eq!(self.host.undo(&Silent).unwrap().unwrap().left, []);
    }

    fn keep(&self, folder: &str, kept: (Option<u32>, bool)) -> crate::Result<()> {
        self.keep_for(folder, kept, &Silent)
    }

    fn keep_for(
        &self,
        folder: &str,
        kept: (Option<u32>, bool),
        progress: &dyn Progress,
    ) -> crate::Result<()> {
        let folders = self.host.view().unwrap().indexed_folders();
        let folder = folders.iter().find(|known| known.path == folder.as_bytes()).unwrap();
        self.host.change_kept_folder(folder, kept, progress)
    }
}

fn make(mail: &Path, folder: &str) {
    std::fs::create_dir_all(mail.join(folder)).unwrap();
    mail::create_folder(&mail.join(folder)).unwrap();
    let letter = format!("From: ana@example.org\nSubject: of {folder}\n\nbody\n");
    std::fs::write(mail.join(folder).join("cur/1.a:2,S"), letter).unwrap();
}

/// Returns what is kept of all folders of the newest state.
fn kept(host: &Host) -> BTreeMap<String, KeptFolder> {
    host.refresh().unwrap();
    let view = host.view().unwrap();
    let folders = view.indexed_folders();
    let kept = view.kept_folders(&folders).unwrap();
    folders.iter().map(|folder| String::from_utf8(folder.path.clone()).unwrap()).zip(kept).collect()
}

#[test]
fn a_renamed_folder_keeps_its_id_with_those_below_it_and_an_undo_too() {
    for (folders, [old, below, new, new_below]) in [
        (["a", "a/b", "x"], ["a", "a/b", "way/c", "way/c/b"]),
        (["", ".a", ".a.b"], [".a", ".a.b", ".c", ".c.b"]),
    ] {
        let fixture = Fixture::new(&folders);
        let before = fixture.kept();
        fixture.keep(below, (Some(9), false)).unwrap();
        let at_first = fixture.kept();
        assert_eq!(
            at_first[below],
            KeptFolder { sort_order: Some(9), is_subscribed: false, ..before[below] }
        );
        fixture.rename(old, new);
        let after = fixture.kept();
        assert_eq!((after[new], after[new_below]), (at_first[old], at_first[below]));
        assert_eq!(after.len(), 3);
        // Another folder at the old place is another one, also when it gets the name of the first.
        fixture.make(old);
        fixture.update();
        let other = fixture.id(old);
        assert!(after.values().all(|kept| kept.id != other));
        fixture.rename(old, if old == "a" { "d" } else { ".d" });
        assert_eq!(fixture.id(if old == "a" { "d" } else { ".d" }), other);
        fixture.undo();
        assert_eq!(fixture.id(old), other);
        std::fs::remove_dir_all(fixture.mail().join(old)).unwrap();
        fixture.update();
        fixture.undo();
        assert_eq!(fixture.kept(), at_first);
        fixture.keep(below, (None, true)).unwrap();
        assert_eq!(fixture.kept(), before);
    }
}

#[test]
fn an_undo_that_leaves_a_folder_alone_leaves_its_id_too() {
    let fixture = Fixture::new(&["a", "x"]);
    let id = fixture.id("a");
    fixture.rename("a", "c");
    fixture.make("a");
    fixture.update();
    let other = fixture.id("a");
    let undone = fixture.host.undo(&Silent).unwrap().unwrap();
    assert_eq!(undone.left.len(), 1);
    assert_eq!((fixture.id("a"), fixture.id("c")), (other, id));
}

#[test]
fn a_folder_that_another_program_renames_keeps_its_id() {
    let fixture = Fixture::new(&["a", "a/b", "empty", "x"]);
    std::fs::remove_file(fixture.mail().join("empty/cur/1.a:2,S")).unwrap();
    fixture.update();
    fixture.keep("a/b", (Some(9), false)).unwrap();
    let before = fixture.kept();
    fixture.move_directory("a", "c");
    fixture.move_directory("empty", "void");
    fixture.update();
    let after = fixture.kept();
    assert_eq!((after["c"], after["c/b"], after["void"]), (before["a"], before["a/b"], before["empty"]));
    // The same, and the id is known to the process that did not see it.
    let other = Host::new(Settings::new(fixture.place.path().join("data")));
    assert_eq!(kept(&other), after);
    other.rename_folder("c", "e", &Silent).unwrap();
    assert_eq!((fixture.id("e"), fixture.id("e/b")), (after["c"].id, after["c/b"].id));
    // A directory whose mail is gone is another folder.
    fixture.move_directory("x", "y");
    std::fs::remove_file(fixture.mail().join("y/cur/1.a:2,S")).unwrap();
    fixture
        .host
        .update(
            &fixture.roots(),
            &UpdateOptions { loss: index::Loss::Accept, ..UpdateOptions::default() },
            &Silent,
        )
        .unwrap();
    assert_ne!(fixture.id("y"), after["x"].id);
}

#[test]
fn a_folder_keeps_its_id_if_passes_see_its_new_name_before_its_old_one_goes() {
    let fixture = Fixture::new(&["a", "x"]);
    let before = fixture.id("a");
    let (from, to) = (fixture.mail().join("a"), fixture.mail().join("c"));
    let view = fixture.host.newest_view().unwrap();
    fixture.host.note_ways(&view, &[(&from, &to)], &Silent).unwrap();
    std::fs::rename(&from, &to).unwrap();
    for place in [&to, &from] {
        let places = [place.as_path()].into_iter().collect();
        let options = UpdateOptions { loss: index::Loss::Accept, ..UpdateOptions::default() };
        fixture.host.update_places(&places, &options, &Silent).unwrap();
        assert_eq!(fixture.id("c"), before);
    }
    assert_eq!(fixture.kept().len(), 2);
}

#[test]
fn a_rebuilt_index_a_renamed_root_and_a_folder_that_comes_back_have_the_ids_of_before() {
    let fixture = Fixture::new(&["a", "x", "y"]);
    fixture.rename("a", "c");
    fixture.keep("c", (Some(9), false)).unwrap();
    let before = fixture.kept();
    fixture.host.rebuild(&fixture.roots(), None, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(fixture.kept(), before);
    std::fs::remove_dir_all(fixture.place.path().join("data/index")).unwrap();
    let again = Host::new(Settings::new(fixture.place.path().join("data")));
    again.update(&fixture.roots(), &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(kept(&again), before);
    let roots = [Root { name: "other".into(), path: fixture.mail() }];
    again.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(again.view().unwrap().indexed_folders()[0].root, "other");
    assert_eq!(kept(&again), before);
    let away = fixture.place.path().join("away");
    std::fs::rename(fixture.mail().join("c"), &away).unwrap();
    again.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(kept(&again).len(), 2);
    std::fs::rename(&away, fixture.mail().join("c")).unwrap();
    again.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!(kept(&again), before);
}

#[test]
fn of_a_folder_that_is_removed_nothing_is_kept() {
    let fixture = Fixture::new(&["a", "x"]);
    let id = fixture.id("a");
    fixture.rename("a", "c");
    fixture.keep("c", (Some(9), false)).unwrap();
    fixture.make("a");
    std::fs::remove_file(fixture.mail().join("c/cur/1.a:2,S")).unwrap();
    fixture.update();
    let other = fixture.id("a");
    let folders = fixture.host.view().unwrap().indexed_folders();
    let folder = folders.iter().find(|folder| folder.path == b"c").unwrap();
    fixture.host.remove_folder(folder, &Silent).unwrap();
    assert_eq!(fixture.id("a"), other, "it keeps its own");
    fixture.make("c");
    fixture.update();
    let new = fixture.kept()["c"];
    assert!(new.id != id && new.is_subscribed && new.sort_order.is_none(), "{new:?}");
}

/// Gives up as soon as it waits.
struct Impatient;

impl Progress for Impatient {
    fn gives_up(&self) -> bool {
        true
    }
}

#[test]
fn a_wait_for_another_process_that_writes_tags_can_be_stopped() {
    let fixture = Fixture::new(&["a", "x"]);
    fixture.keep("a", (Some(9), true)).unwrap();
    let Environment { disk, data, .. } = &fixture.host.settings().environment;
    let lock = disk.lock(&data.join("user/lock"), "another", disk::Wait::Refuse).unwrap();
    let kept = fixture.keep_for("a", (Some(8), true), &Impatient);
    assert!(matches!(kept, Err(Error::Cancelled)), "{kept:?}");
    let view = fixture.host.view().unwrap();
    let hits = view.find(&view.query("").unwrap(), &index::Order::default()).unwrap().list;
    let edits = [(hits, TagEdit::Change(TagChange { add: ["t".to_owned()].into(), ..TagChange::default() }))];
    let tagged = fixture.host.edit_tags_for(&view, &edits, &Impatient);
    assert!(matches!(tagged, Err(Error::Cancelled)), "{tagged:?}");
    let renamed = fixture.host.rename_folder("a", "c", &Impatient);
    assert!(matches!(renamed, Err(Error::Cancelled)), "{renamed:?}");
    assert!(fixture.mail().join("a").is_dir() && fixture.host.undoable().unwrap().is_empty());
    drop(lock);
    assert_eq!(fixture.kept()["a"].sort_order, Some(9));
    fixture.keep_for("a", (Some(8), true), &Impatient).unwrap();
    assert_eq!(fixture.kept()["a"].sort_order, Some(8));
}

/// Returns a host whose data is on a disk that can crash.
fn host_on(disk: &SimDisk) -> Host {
    let mut settings = Settings::new(PathBuf::from("/data"));
    settings.environment.disk = Arc::new(disk.clone());
    Host::new(settings)
}

/// Looks at the ids after a crash, with the help of an action that finishes what is left, or of a pass alone.
fn check_after(disk: &SimDisk, roots: &[Root], before: &BTreeMap<String, KeptFolder>, is_recovered: bool) {
    let host = host_on(disk);
    let check = |what: &str| {
        let now = kept(&host);
        assert_eq!(now.len(), 3, "{what}: {now:?}");
        let (at, below) = if now.contains_key("a") { ("a", "a/b") } else { ("c", "c/b") };
        assert_eq!((now[at], now[below]), (before["a"], before["a/b"]), "{what}");
    };
    check("at once");
    if is_recovered {
        host.finish_interrupted(&Silent).unwrap();
        check("recovered");
    }
    host.update(roots, &UpdateOptions::default(), &Silent).unwrap();
    check("after a pass");
    host.finish_interrupted(&Silent).unwrap();
    check("in the end");
    // Nothing is noted any more: a new folder at the other place is another one.
    let other = if roots[0].path.join("a").exists() { "c" } else { "a" };
    make(&roots[0].path, other);
    host.update(roots, &UpdateOptions::default(), &Silent).unwrap();
    let new = kept(&host).remove(other).unwrap();
    assert!(before.values().all(|kept| kept.id != new.id), "{other}");
    std::fs::remove_dir_all(roots[0].path.join(other)).unwrap();
}

/// A disk, the name that the folder has before an act, and the act, which says whether it came to its end.
type Act<'a> = (&'a SimDisk, &'a str, &'a dyn Fn(&Host) -> bool);

#[test]
fn after_a_crash_at_any_operation_a_folder_has_its_id_under_the_name_that_it_has() {
    let place = tempfile::tempdir().unwrap();
    let mail = place.path().join("Mail");
    ["a", "a/b", "x"].iter().for_each(|folder| make(&mail, folder));
    let roots = [Root { name: "mail".into(), path: mail.clone() }];
    let disk = SimDisk::new(1);
    let host = host_on(&disk);
    host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
    host.view().unwrap();
    let below =
        host.view().unwrap().indexed_folders().into_iter().find(|folder| folder.path == b"a/b").unwrap();
    host.change_kept_folder(&below, (Some(9), false), &Silent).unwrap();
    let before = kept(&host);
    let renamed = {
        let renamed = disk.fork();
        host_on(&renamed).rename_folder("a", "c", &Silent).unwrap();
        renamed
    };
    let rename = |host: &Host| host.rename_folder("a", "c", &Silent).is_ok();
    let undo = |host: &Host| host.undo(&Silent).is_ok();
    let acts: [Act<'_>; 2] = [(&disk, "a", &rename), (&renamed, "c", &undo)];
    for (disk, name, act) in acts {
        let other = if name == "a" { "c" } else { "a" };
        for number in 0.. {
            // The directory keeps its inode, whatever its name is.
            let put = |name: &str| {
                let old = ["a", "c"].iter().map(|name| mail.join(name)).find(|path| path.exists()).unwrap();
                std::fs::rename(old, mail.join(name)).unwrap();
            };
            put(name);
            let crashed = disk.fork();
            crashed.crash_at(number);
            let is_done = act(&host_on(&crashed));
            let name_then = if mail.join("a").exists() { "a" } else { "c" };
            // Each crash leaves several images; all of them would take minutes.
            let images = crashed.images();
            put(name_then);
            check_after(&images[number % images.len()].disk, &roots, &before, number % 2 == 0);
            if !crashed.has_crashed() {
                assert!(is_done && name_then == other && number > 20, "{number}");
                break;
            }
        }
    }
}
