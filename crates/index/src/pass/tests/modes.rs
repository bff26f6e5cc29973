//! What each mode trusts, and what happens to rows without a file.

use super::Ground;
use crate::rows::Subdirectory;
use crate::{Cleanup, Loss, Mode, Root, Summary, UpdateOptions};
use std::fs;
use std::os::unix::fs::MetadataExt;

fn lazy() -> UpdateOptions {
    UpdateOptions { mode: Mode::Lazy, ..UpdateOptions::default() }
}

fn with(cleanup: Cleanup) -> UpdateOptions {
    UpdateOptions { cleanup, ..UpdateOptions::default() }
}

fn counts(summary: &Summary) -> [u64; 5] {
    [summary.file_count, summary.added, summary.moved, summary.changed, summary.gone]
}

#[test]
fn a_lazy_pass_reads_only_directories_whose_times_changed() {
    let ground = Ground::indexed();
    // A file is added without changing the directory's times, to find out which modes read it.
    let secret = ground.put("a", "cur", "3.a:2,S", "secret");
    let stored = ground.folder("a").directories[Subdirectory::Cur.index()].stamp;
    let past = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(stored.mtime_ns.try_into().unwrap());
    fs::File::open(secret.parent().unwrap()).unwrap().set_modified(past).unwrap();
    ground.set_stamp("a", |stamp| {
        let metadata = fs::metadata(secret.parent().unwrap()).unwrap();
        stamp.ctime_ns = metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec();
    });
    ground.put("b", "cur", "3.b:2,S", "seen");
    assert_eq!(counts(&ground.update_with(&lazy())), [7, 1, 0, 0, 0], "of \"a\" the rows are counted");
    let is_known = |name: &[u8]| ground.files().iter().any(|(_, row)| row.name == name);
    assert!(is_known(b"3.b:2,S") && !is_known(b"3.a:2,S"));
    assert_eq!(counts(&ground.update_with(&lazy())), [7, 0, 0, 0, 0]);
    assert_eq!(counts(&ground.update()), [8, 1, 0, 0, 0], "the names are read by default");
    ground.check();
}

#[test]
fn a_lazy_pass_reads_what_was_too_young_or_not_whole() {
    let mut ground = Ground::indexed();
    ground.put("a", "cur", "3.a:2,S", "young");
    let future = std::mem::replace(&mut ground.environment.context.clock_ns, now_ns);
    ground.update();
    let is_stored = |ground: &Ground| {
        let now = mail::stat_directory(&ground.root().join("a/cur")).unwrap();
        ground.folder("a").directories[Subdirectory::Cur.index()].stamp == now
    };
    assert!(!is_stored(&ground), "it changed a moment ago");
    ground.environment.context.clock_ns = future;
    // An incomplete gzip file cannot be read.
    let broken = ground.put("b", "cur", "3.b:2,S", "");
    fs::write(&broken, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]).unwrap();
    assert_eq!(ground.update_with(&lazy()).problems.len(), 1);
    assert!(is_stored(&ground), "read, and trusted now");
    assert_eq!(ground.update_with(&lazy()).problems.len(), 1, "tried again");
    fs::write(&broken, "Subject: whole\n\nwhole\n").unwrap();
    assert_eq!(counts(&ground.update_with(&lazy())), [8, 1, 0, 0, 0]);
    ground.check();
}

#[test]
fn a_file_that_took_the_name_and_inode_of_another_is_noticed() {
    for options in [UpdateOptions::default(), lazy()] {
        let ground = Ground::indexed();
        let path = ground.root().join("a/cur/1.a:2,S");
        // Like a file system that gives a new file the inode of a file just removed.
        let replace = |text: &str| {
            fs::rename(&path, path.with_file_name("away")).unwrap();
            fs::rename(path.with_file_name("away"), &path).unwrap();
            fs::write(&path, format!("Subject: {text}\n\n{text}\n")).unwrap();
        };
        replace("another message");
        assert_eq!(counts(&ground.update_with(&options)), [6, 0, 0, 1, 0], "{options:?}");
        assert_eq!(ground.files()[0].1.size_bytes, 42);
        // A file that only had another name for a while is not read: renaming changes just one of its times.
        fs::rename(&path, path.with_file_name("away")).unwrap();
        fs::rename(path.with_file_name("away"), &path).unwrap();
        assert_eq!(counts(&ground.update_with(&options)), [6, 0, 0, 0, 0], "{options:?}");
        // Stored times that were too recent to be trusted are not compared.
        ground.set_stamp("a", |stamp| (stamp.mtime_ns, stamp.ctime_ns) = (0, 0));
        replace("yet another message");
        assert_eq!(counts(&ground.update_with(&options)), [6, 0, 0, 0, 0], "{options:?}");
        let thorough = UpdateOptions { mode: Mode::Thorough, ..options };
        assert_eq!(ground.update_with(&thorough).changed, 1);
        ground.check();
    }
}

#[test]
fn a_brief_pass_leaves_the_files_of_a_directory_that_just_changed_to_a_later_one() {
    let of = |mode| UpdateOptions { mode, ..UpdateOptions::default() };
    for later in [Mode::Default, Mode::Lazy, Mode::Brief] {
        let mut ground = Ground::indexed();
        let path = ground.root().join("a/cur/1.a:2,S");
        fs::rename(&path, path.with_file_name("away")).unwrap();
        fs::rename(path.with_file_name("away"), &path).unwrap();
        fs::write(&path, "Subject: another message\n\nanother message\n").unwrap();
        let soon = || now_ns() + 30_000_000_000;
        let future = std::mem::replace(&mut ground.environment.context.clock_ns, soon);
        assert_eq!(counts(&ground.update_with(&of(Mode::Brief))), [6, 0, 0, 0, 0]);
        ground.environment.context.clock_ns = future;
        assert_eq!(counts(&ground.update_with(&of(later))), [6, 0, 0, 1, 0], "{later:?}");
        ground.check();
    }
}

#[test]
fn a_brief_pass_notices_names_and_drafts_at_once() {
    let brief = UpdateOptions { mode: Mode::Brief, ..UpdateOptions::default() };
    let mut ground = Ground::new();
    let draft = ground.put("a", "cur", "1.a:2,D", "first");
    let plain = ground.put("b", "cur", "2.b:2,S", "second");
    ground.age();
    ground.update();
    fs::write(&draft, "Subject: rewritten\n\nin place, and longer\n").unwrap();
    fs::rename(&draft, draft.with_file_name("away")).unwrap();
    fs::rename(draft.with_file_name("away"), &draft).unwrap();
    fs::rename(&plain, plain.with_file_name("2.b:2,FS")).unwrap();
    ground.put("b", "cur", "3.b:2,S", "third");
    ground.environment.context.clock_ns = || now_ns() + 30_000_000_000;
    assert_eq!(counts(&ground.update_with(&brief)), [3, 1, 1, 1, 0]);
    ground.check();
}

fn now_ns() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_nanos()).unwrap()
}

#[test]
fn a_lazy_pass_notices_drafts_and_keywords() {
    let ground = Ground::new();
    let draft = ground.put("a", "cur", "1.a:2,D", "first");
    let other = ground.put("Drafts", "new", "2.b", "second");
    let plain = ground.put("a", "cur", "3.c:2,S", "third");
    fs::write(ground.root().join("a/dovecot-keywords"), "0 old\n").unwrap();
    ground.age();
    ground.update();
    for path in [&draft, &other, &plain] {
        fs::write(path, "Subject: rewritten\n\nin place, and longer\n").unwrap();
    }
    fs::write(ground.root().join("a/dovecot-keywords"), "0 new\n").unwrap();
    assert_eq!(counts(&ground.update_with(&lazy())), [3, 0, 0, 2, 0]);
    assert_eq!(ground.folder("a").keyword_names, b"new");
    assert_eq!(counts(&ground.update_with(&lazy())), [3, 0, 0, 0, 0]);
    ground.check();
}

#[test]
fn a_draft_that_was_rewritten_and_then_moved_is_read_again() {
    for options in [UpdateOptions::default(), lazy()] {
        let ground = Ground::new();
        let draft = ground.put("a", "cur", "1.a:2,D", "first");
        let other = ground.put("Drafts", "cur", "2.b", "second");
        ground.put("a", "cur", "3.c:2,S", "third");
        ground.age();
        ground.update();
        for path in [&draft, &other] {
            fs::write(path, "Subject: rewritten\n\nin place, and longer\n").unwrap();
        }
        fs::rename(&draft, draft.with_file_name("1.a:2,S")).unwrap();
        fs::rename(&other, ground.root().join("a/cur/2.b:2,S")).unwrap();
        assert_eq!(counts(&ground.update_with(&options)), [3, 0, 0, 2, 0]);
        assert!(ground.files()[..2].iter().all(|(_, row)| row.size_bytes == 41), "{:?}", ground.files());
        ground.check();
    }
}

#[test]
fn a_lazy_pass_notices_folders_that_come_and_go() {
    let ground = Ground::indexed();
    ground.put("b/deep/er", "new", "1.d", "nested");
    fs::remove_dir_all(ground.root().join("c")).unwrap();
    fs::write(ground.root().join("a/.noindex"), "").unwrap();
    let options = UpdateOptions { loss: Loss::Accept, ..lazy() };
    assert_eq!(counts(&ground.update_with(&options)), [3, 1, 0, 0, 4]);
    let paths: Vec<_> =
        ground.folders().into_iter().map(|row| String::from_utf8(row.path).unwrap()).collect();
    assert_eq!(paths, ["b", "b/deep/er"]);
    ground.check();
}

#[test]
fn losses_are_refused_in_every_mode() {
    for mode in [Mode::Default, Mode::Lazy, Mode::Thorough] {
        for cleanup in [Cleanup::Pass, Cleanup::Legacy] {
            let ground = Ground::indexed();
            for path in ["a/cur/1.a:2,S", "a/cur/2.a:2,S", "b/cur/1.b:2,S", "b/cur/2.b:2,S"] {
                fs::remove_file(ground.root().join(path)).unwrap();
            }
            ground.put("c", "cur", "3.c:2,S", "new");
            let refused = UpdateOptions { mode, cleanup, ..UpdateOptions::default() };
            let summary = ground.update_with(&refused);
            assert_eq!((summary.added, summary.gone, summary.problems.len()), (0, 0, 1), "{refused:?}");
            assert!(
                summary.problems[0].what.starts_with("4 of 6 messages are gone"),
                "{:?}",
                summary.problems
            );
            let meant = UpdateOptions { loss: Loss::Accept, ..refused };
            let summary = ground.update_with(&meant);
            assert_eq!((summary.added, summary.gone, summary.problems.len()), (1, 4, 0), "{meant:?}");
            ground.check();
        }
    }
}

#[test]
fn without_cleanup_rows_stay_until_a_pass_with_it() {
    for later in [UpdateOptions::default(), lazy(), with(Cleanup::Legacy)] {
        let ground = Ground::indexed();
        let root = ground.root();
        fs::remove_file(root.join("a/cur/1.a:2,S")).unwrap();
        fs::rename(root.join("a/cur/2.a:2,S"), root.join("b/cur/2.a:2,FS")).unwrap();
        fs::remove_dir_all(root.join("c")).unwrap();
        ground.put("b", "cur", "3.b:2,S", "new");
        for options in [with(Cleanup::Keep), UpdateOptions { mode: Mode::Lazy, ..with(Cleanup::Keep) }] {
            ground.update_with(&options);
            let names: Vec<_> =
                ground.files().into_iter().map(|(_, row)| String::from_utf8(row.name).unwrap()).collect();
            assert_eq!(names, ["1.a:2,S", "1.b:2,S", "2.a:2,FS", "2.b:2,S", "3.b:2,S", "1.c:2,S", "2.c:2,S"]);
            ground.check();
        }
        let rows = ground.version();
        ground.update_with(&with(Cleanup::Keep));
        assert_eq!(ground.version(), rows, "nothing new is committed");
        assert_eq!(ground.update_with(&later).gone, 3, "{later:?}");
        assert_eq!(ground.files().len(), 4);
        ground.check();
    }
}

#[test]
fn a_move_out_of_a_folder_that_was_kept_is_a_move() {
    let ground = Ground::indexed();
    let aside = ground.directory.path().join("aside");
    fs::rename(ground.root().join("c"), &aside).unwrap();
    ground.update_with(&with(Cleanup::Keep));
    fs::rename(&aside, ground.root().join("d")).unwrap();
    assert_eq!(counts(&ground.update()), [6, 0, 2, 0, 0], "where it lay is still known");
    ground.check();
}

#[test]
fn a_file_in_the_place_of_a_directory_is_unknown_to_the_slow_cleanup_too() {
    let ground = Ground::indexed();
    fs::rename(ground.root().join("a/cur"), ground.directory.path().join("aside")).unwrap();
    fs::write(ground.root().join("a/cur"), "").unwrap();
    fs::remove_file(ground.root().join("b/cur/1.b:2,S")).unwrap();
    fs::write(ground.root().join("c/.noupdate"), "").unwrap();
    fs::remove_file(ground.root().join("c/cur/1.c:2,S")).unwrap();
    let summary = ground.update_with(&with(Cleanup::Legacy));
    assert_eq!((summary.gone, summary.problems.len()), (1, 1), "{:?}", summary.problems);
    assert_eq!(ground.files().len(), 5);
    ground.check();
}

/// Indexes ten messages in each of two roots, the second beside the first. Every stamp is trusted.
fn two_roots() -> Ground {
    let mut ground = Ground::new();
    let other = ground.directory.path().join("other");
    for number in 0..10 {
        ground.put("a", "cur", &format!("{number}.a:2,S"), &format!("a{number}"));
        ground.put("../other/b", "cur", &format!("{number}.b:2,S"), &format!("b{number}"));
    }
    ground.roots.push(Root { name: "other".into(), path: other.clone() });
    ground.age();
    super::age(&other);
    ground.update();
    ground
}

#[test]
fn what_is_not_done_with_a_refused_root_is_done_when_its_loss_is_accepted() {
    for (from, to, name) in [("mail/a", "other/b", "a"), ("other/b", "mail/a", "b")] {
        for first in [lazy(), UpdateOptions::default()] {
            let ground = two_roots();
            let [from, to] = [from, to].map(|path| ground.directory.path().join(path).join("cur"));
            for number in 0..3 {
                let name = format!("{number}.{name}:2,S");
                fs::rename(from.join(&name), to.join(&name)).unwrap();
            }
            let lossy = ground.root().join("a/cur");
            for number in 3..9 {
                fs::remove_file(lossy.join(format!("{number}.a:2,S"))).unwrap();
            }
            let summary = ground.update_with(&first);
            let refused = (summary.added, summary.moved, summary.gone, summary.problems.len());
            assert_eq!(refused, (0, 0, 0, 1), "{from:?} {first:?}");
            let accepted = ground.update_with(&UpdateOptions { loss: Loss::Accept, ..lazy() });
            assert_eq!(counts(&accepted)[1..], [0, 3, 0, 6], "{from:?} {first:?}");
            assert_eq!(ground.files().len(), 14);
            ground.check();
        }
    }
}

#[test]
fn a_moved_draft_that_cannot_be_read_leaves_its_row_to_the_next_pass() {
    let ground = Ground::indexed();
    let draft = ground.put("a", "cur", "3.a:2,D", "draft");
    ground.age();
    ground.update();
    // An incomplete gzip file cannot be read.
    let moved = ground.root().join("b/cur/3.a:2,D");
    fs::rename(&draft, &moved).unwrap();
    fs::write(&moved, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]).unwrap();
    let summary = ground.update_with(&lazy());
    assert_eq!((counts(&summary)[1..].iter().sum::<u64>(), summary.problems.len()), (0, 1));
    fs::write(&moved, "Subject: whole\n\nwhole\n").unwrap();
    assert_eq!(counts(&ground.update_with(&lazy())), [7, 0, 0, 1, 0]);
    ground.check();
}
