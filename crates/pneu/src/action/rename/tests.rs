//! Tests of renamed folders: which directories get which names, what the index finds, and a crash at each
//! operation.

use crate::action::carry_out::carry_out;
use crate::action::crashing::{Crashing, ends, recover, undo};
use crate::action::hands::{Hands, RealHands};
use crate::action::log::{Kind, Log, State};
use crate::action::rename::{Renaming, step};
use crate::{Host, Settings};
use index::{Environment, Root, UpdateOptions};
use std::cell::Cell;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use work::Silent;

struct Fixture {
    place: tempfile::TempDir,
    host: Host,
}

impl Fixture {
    /// Makes folders with a message each, and indexes them. An empty name is the root.
    fn new(folders: &[&str]) -> Fixture {
        let place = tempfile::tempdir().unwrap();
        let host = Host::new(Settings::new(place.path().join("data")));
        let fixture = Fixture { place, host };
        for (number, folder) in folders.iter().enumerate() {
            let path = fixture.mail().join(folder);
            std::fs::create_dir_all(&path).unwrap();
            mail::create_folder(&path).unwrap();
            let letter = format!("From: ana@example.org\nSubject: of {folder}x\n\nbody\n");
            std::fs::write(path.join(format!("cur/{number}.a,U={number}:2,S")), letter).unwrap();
        }
        fixture.update();
        fixture
    }

    fn mail(&self) -> PathBuf {
        self.place.path().join("Mail")
    }

    /// Brings the index in step. Returns how much that changed.
    fn update(&self) -> u64 {
        let roots = [Root { name: "mail".into(), path: self.mail() }];
        let summary = self.host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        summary.added + summary.moved + summary.gone
    }

    /// Renames a folder. Returns the new names of the directories and how many folders have others now, or
    /// the error.
    fn rename(&self, old: &str, new: &str) -> String {
        let below = |path: &Path| path.strip_prefix(self.mail()).unwrap().display().to_string();
        let planned = self.host.plan_renaming(old, new);
        let before = self.folders();
        match self.host.rename_folder(old, new, &Silent) {
            Ok(renamed) => {
                let planned = planned.unwrap();
                assert_eq!(planned.directories, renamed.directories);
                assert_eq!(planned.roles, renamed.roles);
                assert_eq!(renamed.left, []);
                let to: Vec<String> = renamed.directories.iter().map(|dir| below(&dir.to)).collect();
                format!("{} {}", to.join(" "), renamed.folder_count)
            }
            Err(error) => {
                assert_eq!(planned.unwrap_err().to_string(), error.to_string());
                assert_eq!(self.folders(), before);
                error.to_string().replace(&self.mail().display().to_string(), "MAIL")
            }
        }
    }

    /// Returns the folders of the index, sorted, and checks that a pass finds nothing to do.
    fn folders(&self) -> Vec<String> {
        let view = self.host.view().unwrap();
        let mut names: Vec<String> =
            view.mailbox().folder_places().into_iter().map(|place| place.disk_name).collect();
        names.sort();
        assert_eq!(self.update(), 0, "the index was in step");
        names
    }

    fn count(&self, query: &str) -> u64 {
        let view = self.host.view().unwrap();
        view.count(&view.query(query).unwrap()).unwrap()
    }
}

#[test]
fn a_folder_is_renamed_with_all_that_is_in_it_and_gets_its_name_back() {
    let fixture = Fixture::new(&["inbox", "lists", "lists/rust", "lists/rust/users", "listsx"]);
    let state = |folder: &str| fixture.mail().join(folder).join(".mbsyncstate");
    std::fs::write(state("lists/rust"), "state").unwrap();
    // What cannot be read any more is not read.
    let message = fixture.mail().join("lists/rust/cur/2.a,U=2:2,S");
    let written = message.metadata().unwrap().modified().unwrap();
    let size = message.metadata().unwrap().len();
    std::fs::write(&message, vec![b'?'; usize::try_from(size).unwrap()]).unwrap();
    std::fs::File::options().write(true).open(&message).unwrap().set_modified(written).unwrap();
    assert_eq!(fixture.rename("lists", "groups/all"), "groups/all 3");
    assert_eq!(
        fixture.folders(),
        ["/groups/all", "/groups/all/rust", "/groups/all/rust/users", "/inbox", "/listsx"]
    );
    assert_eq!(fixture.count("maildir:/groups/all/rust and subject:rustx"), 1);
    assert_eq!(std::fs::read(state("groups/all/rust")).unwrap(), b"state");
    assert!(!fixture.mail().join("lists").exists());
    let undone = fixture.host.undo(&Silent).unwrap().unwrap();
    assert_eq!((undone.action.kind, undone.restored_count, undone.left), (Kind::Rename, 1, vec![]));
    assert_eq!(fixture.folders(), ["/inbox", "/lists", "/lists/rust", "/lists/rust/users", "/listsx"]);
    assert_eq!(fixture.count("maildir:/lists/rust"), 1);
    assert!(fixture.host.undo(&Silent).unwrap().is_none());
}

#[test]
fn a_role_names_the_old_folder_and_an_undo_leaves_no_directory() {
    let fixture = Fixture::new(&["inbox", "Archive"]);
    assert!(fixture.rename(":archive", ":trash").contains("it is a role"));
    assert_eq!(fixture.rename(":trash", "Z"), "there is no trash in MAIL");
    std::fs::create_dir(fixture.mail().join("Old")).unwrap();
    std::fs::write(fixture.mail().join("Old/note"), "").unwrap();
    for new in ["New/a/b", "Old/a"] {
        assert_eq!(fixture.rename(":archive", new), format!("{new} 1"));
        assert_eq!(fixture.host.undo(&Silent).unwrap().unwrap().left, []);
        assert_eq!(fixture.folders(), ["/Archive", "/inbox"]);
        assert!(!fixture.mail().join("New").exists() && !fixture.mail().join("Old/a").exists());
        assert!(fixture.mail().join("Old").exists(), "it is not empty");
    }
}

#[test]
fn in_a_maildir_plus_the_folders_below_are_renamed_too() {
    let fixture = Fixture::new(&["", ".lists", ".lists.rust", ".lists.rust.users", ".listsx", ".other.go"]);
    std::fs::write(fixture.mail().join(".lists.note"), "").unwrap();
    assert_eq!(
        fixture.rename("lists", "Gäste/alle"),
        ".G&AOQ-ste.alle .G&AOQ-ste.alle.rust .G&AOQ-ste.alle.rust.users 3"
    );
    assert_eq!(
        fixture.folders(),
        [
            "/",
            "/.G&AOQ-ste.alle",
            "/.G&AOQ-ste.alle.rust",
            "/.G&AOQ-ste.alle.rust.users",
            "/.listsx",
            "/.other.go"
        ]
    );
    assert_eq!(fixture.rename("Gäste/alle/rust", ".rust"), ".rust .rust.users 2");
    // It is no folder itself.
    assert_eq!(fixture.rename("other", "more"), ".more.go 1");
    assert_eq!(fixture.rename("more/go", "/go"), ".go 1");
    for _ in 0..4 {
        assert_eq!(fixture.host.undo(&Silent).unwrap().unwrap().left, []);
    }
    assert_eq!(
        fixture.folders(),
        ["/", "/.lists", "/.lists.rust", "/.lists.rust.users", "/.listsx", "/.other.go"]
    );
    let nested = Fixture::new(&["work", "work/.a", "work/.a.b"]);
    assert_eq!(
        nested.rename("work/.a", "c"),
        "\"c\" cannot be the name of a folder: a folder of a Maildir++ stays in its directory"
    );
    assert_eq!(nested.rename("work/.a", "work/c/d"), "work/.c.d work/.c.d.b 2");
}

#[test]
fn nothing_is_replaced_no_name_leads_out_and_inboxes_stay() {
    let fixture = Fixture::new(&["INBOX", "a", "a/b", "c", "fixed", "way/in"]);
    std::fs::write(fixture.mail().join("file"), "").unwrap();
    std::fs::write(fixture.mail().join("fixed/.noupdate"), "").unwrap();
    symlink(fixture.place.path(), fixture.mail().join("out")).unwrap();
    mail::create_folder(&fixture.place.path().join("strange")).unwrap();
    let beside = tempfile::tempdir().unwrap();
    mail::create_folder(beside.path()).unwrap();
    symlink(beside.path(), fixture.mail().join("link")).unwrap();
    fixture.update();
    let outside = fixture.place.path().join("x");
    let name = |name: &str, what: &str| format!("{name:?} cannot be the name of a folder: {what}");
    let out = "it leads out of the root, or the root is not there";
    let in_other = "of the old and the new folder, one would be in the other";
    for (old, new, error) in [
        ("nowhere", "x", "there is no folder nowhere".to_owned()),
        ("", "x", "there is no folder ".to_owned()),
        ("../strange", "x", "there is no folder ../strange".to_owned()),
        (
            "INBOX",
            "x",
            "MAIL/INBOX cannot be renamed: it is an inbox, and new mail is delivered there".into(),
        ),
        (
            fixture.mail().to_str().unwrap(),
            "x",
            "MAIL cannot be renamed: it is the inbox, or the directory of all folders".into(),
        ),
        ("a", "c", "the folder MAIL/c exists".into()),
        ("a", "way", "the folder MAIL/way exists".into()),
        ("a", "file", "the folder MAIL/file exists".into()),
        ("a", "out", "the folder MAIL/out exists".into()),
        ("a", "out/x", name("out/x", out)),
        ("a", "../x", name("../x", "it has the part \".\" or \"..\"")),
        ("a", "c/cur", name("c/cur", "cur, new and tmp are the parts of a folder")),
        ("a", "", name("", "it is empty")),
        ("a", "x\ny", name("x\ny", "it has control characters")),
        ("a", "a", name("a", "it is the present name")),
        ("a", "a/b/c", name("a/b/c", in_other)),
        ("a/b", "a", name("a", in_other)),
        ("a", ".x", name(".x", "the folder is a directory in others, so its name does not begin with a dot")),
        (
            "a",
            outside.to_str().unwrap(),
            name(
                outside.to_str().unwrap(),
                "that path is not in the root of the folder; without the slash before it, it is a name",
            ),
        ),
        (
            "fixed",
            "x",
            "MAIL/fixed cannot be renamed: a file .noupdate in it tells the index to leave it as it is"
                .into(),
        ),
        (
            "out/strange",
            "x",
            "MAIL/out/strange cannot be renamed: a symbolic link leads there, out of the root".into(),
        ),
        ("link", "x", "MAIL/link cannot be renamed: it is a symbolic link, or no directory".into()),
    ] {
        let error = error.replace(&fixture.mail().display().to_string(), "MAIL");
        assert_eq!(fixture.rename(old, new), error, "{old:?} {new:?}");
    }
    assert!(fixture.host.undo(&Silent).unwrap().is_none());
    let path = fixture.mail().join("x/y");
    assert_eq!(fixture.rename("way", path.to_str().unwrap()), "x/y 1");
}

#[test]
fn in_a_maildir_plus_too_nothing_is_replaced_and_the_inbox_stays() {
    let name = |name: &str, what: &str| format!("{name:?} cannot be the name of a folder: {what}");
    let in_other = "of the old and the new folder, one would be in the other";
    let plus = Fixture::new(&["", ".a", ".a.b", ".c.d", ".INBOX"]);
    for (old, new, error) in [
        (
            "INBOX",
            "x",
            "MAIL/.INBOX cannot be renamed: it is an inbox, and new mail is delivered there".into(),
        ),
        ("inbox", "x", "MAIL cannot be renamed: it is the inbox, or the directory of all folders".into()),
        ("/", "x", "MAIL cannot be renamed: it is the inbox, or the directory of all folders".into()),
        ("a", "c", "the folder MAIL/.c.d exists".into()),
        ("a", "a/b", name("a/b", in_other)),
        ("a", "a/x", name("a/x", in_other)),
        ("a/b", "a", name("a", in_other)),
        ("c/d", "a/b", "the folder MAIL/.a.b exists".into()),
        ("a", "x/.y", name("x/.y", "in a Maildir++, parts do not begin or end with a dot")),
        ("a", ".x..y", name(".x..y", "in a Maildir++, parts do not begin or end with a dot")),
    ] {
        assert_eq!(plus.rename(old, new), error, "{old:?} {new:?}");
    }
}

#[test]
fn a_new_name_may_be_written_as_folders_are_shown() {
    let fixture = Fixture::new(&["inbox", "lists/rust"]);
    assert_eq!(fixture.rename("/lists/rust", "/lists/crabs"), "lists/crabs 1");
    assert_eq!(fixture.rename("/lists/crabs", "/x"), "x 1");
    assert_eq!(fixture.rename("/x", "/no-such-directory/x/"), "no-such-directory/x 1");
    // A directory with this name is there, but one of the root has it, too.
    mail::create_directory(&fixture.mail().join("usr")).unwrap();
    assert_eq!(fixture.rename("/no-such-directory/x", "/usr/x"), "usr/x 1");
    let plus = Fixture::new(&["", ".lists.rust"]);
    assert_eq!(plus.rename("/.lists.rust", "/lists/crabs"), ".lists.crabs 1");
}

#[test]
fn a_renamed_folder_with_a_role_tells_what_the_configuration_needs() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("Mail");
    for folder in ["INBOX", "Bin", "Old/2024", "Sent"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
        mail::create_folder(&root.join(folder)).unwrap();
    }
    let text = format!(
        "[[root]]\nname = \"mail\"\npath = {:?}\ntrash = \"Bin\"\narchive = \"/Old/2024/\"\n",
        root.display().to_string()
    );
    let configuration = crate::setup::configuration::parse(&text, None).unwrap();
    let host = Host::new(Settings { configuration, ..Settings::new(place.path().join("data")) });
    let roots = [Root { name: "mail".into(), path: root }];
    host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
    let told = |old: &str, new: &str| {
        let renamed = host.rename_folder(old, new, &Silent).unwrap();
        let lines = renamed.roles.iter().map(|role| format!("{} -> {}", role.old_line(), role.new_line()));
        assert_eq!(host.undo(&Silent).unwrap().unwrap().left, []);
        lines.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(told("Bin", "a \"b\""), "trash = \"Bin\" -> trash = 'a \"b\"'");
    assert_eq!(told("Old", "Older"), "archive = \"/Old/2024/\" -> archive = \"Older/2024\"");
    assert_eq!(told("Sent", "Posted"), "", "the configuration does not name it");
}

#[test]
fn an_undo_replaces_nothing_and_takes_no_other_directory() {
    let fixture = Fixture::new(&["a", "b"]);
    assert_eq!(fixture.rename("a", "c"), "c 1");
    mail::create_folder(&fixture.mail().join("a")).unwrap();
    let undone = fixture.host.undo(&Silent).unwrap().unwrap();
    assert!(undone.left[0].why.starts_with("there is another "), "{undone:?}");
    // It can be undone later.
    std::fs::remove_dir_all(fixture.mail().join("a")).unwrap();
    assert_eq!(fixture.host.undo(&Silent).unwrap().unwrap().left, []);
    assert_eq!(fixture.folders(), ["/a", "/b"]);
    assert_eq!(fixture.rename("a", "c"), "c 1");
    std::fs::rename(fixture.mail().join("c"), fixture.mail().join("d")).unwrap();
    std::fs::rename(fixture.mail().join("b"), fixture.mail().join("c")).unwrap();
    let undone = fixture.host.undo(&Silent).unwrap().unwrap();
    assert_eq!(undone.left[0].why, "it was renamed, moved or removed since");
    assert!(!fixture.mail().join("a").exists());
    assert!(fixture.host.undo(&Silent).unwrap().is_none());
}

/// Returns which of the directories have their new names.
fn renamed(directories: &[Renaming]) -> Vec<bool> {
    let is_new = |dir: &Renaming| {
        assert_ne!(dir.from.exists(), dir.to.exists(), "{dir:?}");
        dir.to.join("cur/1").exists()
    };
    directories.iter().map(is_new).collect()
}

#[test]
fn after_a_crash_at_any_operation_all_directories_have_their_old_names_or_all_their_new_ones() {
    for operation in 0.. {
        let place = tempfile::tempdir().unwrap();
        let environment: Environment = Settings::new(place.path().join("data")).environment;
        let directories: Vec<Renaming> = ["", ".b", ".b.c"]
            .map(|rest| Renaming {
                from: place.path().join(format!(".a{rest}")),
                to: place.path().join(format!(".x{rest}")),
            })
            .into();
        for Renaming { from, .. } in &directories {
            mail::create_folder(from).unwrap();
            std::fs::write(from.join("cur/1"), "a letter").unwrap();
        }
        let steps: Vec<_> = directories.iter().map(|dir| step(dir).unwrap()).collect();
        let act = |hands: &dyn Hands| {
            let log = Log::take(&environment, &Silent).unwrap();
            let mut entry = log.begin(Kind::Rename, steps.clone()).unwrap();
            carry_out(&log, hands, &mut entry).unwrap();
            undo(&log, hands, &mut entry);
        };
        let is_through = ends(&|| act(&Crashing { left: Cell::new(operation) }));
        renamed(&directories);
        for again in 0..4 {
            ends(&|| {
                let log = Log::take(&environment, &Silent).unwrap();
                recover(&log, &Crashing { left: Cell::new(again) });
            });
            renamed(&directories);
        }
        let log = Log::take(&environment, &Silent).unwrap();
        recover(&log, &RealHands);
        let names = renamed(&directories);
        assert!(names.iter().all(|is_new| *is_new == names[0]), "{operation}: {names:?}");
        let entry = log.names().unwrap().first().map(|name| log.read(*name).unwrap());
        if let Some(mut entry) = entry.filter(|entry| entry.state != State::Undone) {
            assert!(names[0] && entry.state == State::Done, "{operation}: {entry:?}");
            assert_eq!(undo(&log, &RealHands, &mut entry), [], "{operation}");
        }
        assert_eq!(renamed(&directories), [false; 3], "{operation}");
        if is_through {
            assert!(operation > 6, "there was something to crash at");
            return;
        }
    }
}

#[test]
fn if_one_directory_cannot_be_renamed_none_is() {
    let place = tempfile::tempdir().unwrap();
    let environment: Environment = Settings::new(place.path().join("data")).environment;
    let directories: Vec<Renaming> = ["", ".b", ".c"]
        .map(|rest| Renaming {
            from: place.path().join(format!(".a{rest}")),
            to: place.path().join(format!(".x{rest}")),
        })
        .into();
    for Renaming { from, .. } in &directories {
        mail::create_folder(from).unwrap();
        std::fs::write(from.join("cur/1"), "a letter").unwrap();
    }
    let steps: Vec<_> = directories.iter().map(|dir| step(dir).unwrap()).collect();
    // Somebody takes a name before it is used, with an empty directory too.
    std::fs::create_dir(&directories[2].to).unwrap();
    let log = Log::take(&environment, &Silent).unwrap();
    let mut entry = log.begin(Kind::Rename, steps.clone()).unwrap();
    let left = carry_out(&log, &RealHands, &mut entry).unwrap();
    assert_eq!((left.len(), &left[0].path), (1, &directories[2].from));
    assert_eq!(log.names().unwrap(), [], "nothing was done, so there is nothing to undo");
    let is_old = |dir: &Renaming| dir.from.join("cur/1").exists();
    assert!(directories.iter().all(is_old));
    // The same after a crash.
    log.begin(Kind::Rename, steps).unwrap();
    std::fs::rename(&directories[0].from, &directories[0].to).unwrap();
    recover(&log, &RealHands);
    assert_eq!(log.names().unwrap(), []);
    assert!(directories.iter().all(is_old));
}
