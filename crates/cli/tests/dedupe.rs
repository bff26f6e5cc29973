//! Tests `pneu dedupe`: which files it takes for duplicates, which one stays, and that undo brings all back.

use crate::support::{Home, letter};
use std::fs;
use std::path::Path;

fn files(home: &Home, folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    for directory in ["cur", "new"] {
        for entry in fs::read_dir(home.mail().join(folder).join(directory)).unwrap() {
            files.push(format!("{directory}/{}", entry.unwrap().file_name().into_string().unwrap()));
        }
    }
    files.sort();
    files
}

fn set_time(path: &Path, seconds: u64) {
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
}

/// Makes a folder with duplicates: the most flags are those of `4`, and of the others `2` is the oldest.
fn home() -> Home {
    let home = Home::indexed();
    home.folder("Trash");
    let same = letter("20", "Same", "the same bytes");
    for (name, seconds) in [("3.x:2,S", 300), ("1.x:2,S", 200), ("2.x:2,S", 100), ("4.x:2,FS", 400)] {
        set_time(&home.deliver("in", name, &same), seconds);
    }
    let again = letter("21", "Again", "other bytes");
    set_time(&home.deliver("in", "5.x:2,", &again), 500);
    set_time(&home.deliver("in", "6.x:2,", &again), 400);
    home.deliver("in", "7.x:2,", &letter("22", "Alone", "more bytes"));
    home.deliver("other", "8.x:2,", &same);
    home.good(&["index"]);
    home
}

#[test]
fn duplicates_go_to_the_trash_and_come_back() {
    let home = home();
    let before = files(&home, "in");
    let dry = home.pneu(&["dedupe", "--dry-run", "in"]);
    assert_eq!((dry.code, dry.out.lines().count()), (Some(0), 4), "{dry:?}");
    assert!(dry.out.contains("in/cur/5.x:2,\t") && !dry.out.contains("in/cur/4.x"), "{dry:?}");
    assert_eq!(files(&home, "in"), before);
    let run = home.pneu(&["dedupe", "in"]);
    assert_eq!(
        (run.code, run.out.as_str()),
        (Some(0), "2 messages: 4 files moved to the trash\n"),
        "{run:?}"
    );
    assert_eq!(files(&home, "in"), ["cur/4.x:2,FS", "cur/6.x:2,", "cur/7.x:2,"]);
    assert_eq!(files(&home, "other"), ["cur/8.x:2,"]);
    let none = home.pneu(&["dedupe", "in", "other"]);
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(home.good(&["index"]).contains("0 added, 0 moved, 0 changed, 0 gone"));
    home.good(&["undo"]);
    assert_eq!(files(&home, "in"), before);
}

#[test]
fn bytes_on_disk_decide_not_the_index() {
    let home = home();
    // The index does not know that this file was changed in place: its size and time are as before.
    let path = home.mail().join("in/cur/5.x:2,");
    let changed = fs::read_to_string(&path).unwrap().replace("other", "OTHER");
    fs::write(&path, changed).unwrap();
    set_time(&path, 500);
    // The same message, compressed: its file has other bytes.
    let packed = zstd::encode_all(&letter("20", "Same", "the same bytes")[..], 3).unwrap();
    home.deliver("in", "9.x:2,FRS", &packed);
    home.good(&["index"]);
    home.good(&["dedupe", "other", "in"]);
    let left = ["cur/4.x:2,FS", "cur/5.x:2,", "cur/6.x:2,", "cur/7.x:2,", "cur/9.x:2,FRS"];
    assert_eq!(files(&home, "in"), left);
}

#[test]
fn a_link_is_no_duplicate_and_what_is_marked_for_deletion_does_not_stay() {
    let home = Home::indexed();
    home.folder("Trash");
    let real = home.deliver("links", "40.s:2,S", &letter("40", "Linked", "the only file"));
    std::os::unix::fs::symlink("40.s:2,S", real.with_file_name("41.s:2,FS")).unwrap();
    fs::hard_link(&real, real.with_file_name("42.s:2,RS")).unwrap();
    // `new` is `cur` under another name.
    let twice = home.deliver("twice", "43.s:2,S", &letter("43", "Twice", "also the only file"));
    let new = twice.parent().unwrap().with_file_name("new");
    fs::remove_dir(&new).unwrap();
    std::os::unix::fs::symlink("cur", new).unwrap();
    for name in ["50.t:2,ST", "51.t:2,"] {
        home.deliver("marked", name, &letter("50", "Marked", "two of them"));
    }
    home.good(&["index"]);
    for folder in ["links", "twice"] {
        let none = home.pneu(&["dedupe", folder]);
        assert_eq!(none.code, Some(1), "{folder}: {none:?}");
    }
    assert!(real.exists() && twice.exists());
    home.good(&["dedupe", "marked"]);
    assert_eq!(files(&home, "marked"), ["cur/51.t:2,"]);
}
