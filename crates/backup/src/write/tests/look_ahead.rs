//! What a look ahead sees of files, and that a backup believes it.

use crate::blobs::entry::{Content, Entry};
use crate::cache::{Cache, cache_directory};
use crate::testing::fixture::Fixture;
use crate::testing::mailbox::message;
use crate::write::look_ahead::LookAhead;
use crate::write::seen::{Seen, SeenFiles};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use work::Silent;

/// Returns what is seen of the files as they are now.
fn looked(fixture: &Fixture) -> SeenFiles {
    let ahead = LookAhead::begin(&fixture.environment).expect("there are tables");
    assert!(ahead.cache_in(&fixture.place()).is_some());
    ahead.finish(&Silent).unwrap()
}

/// Shows each file that the tables have: whether it is the same, and whether all its metadata is known.
fn shown(fixture: &Fixture, seen: &SeenFiles, folder: &str) -> Vec<String> {
    let known = Cache::open(&fixture.disk(), &fixture.place()).cache().unwrap();
    let path = fixture.root().join(folder);
    let path = path.as_os_str().as_bytes();
    let none = Seen::new(0, 0);
    let seen = seen.get(path).unwrap_or(&none);
    let files = known.directory(path).unwrap().files;
    let show = |(place, file)| {
        let file: &crate::cache::CachedFile<'_> = file;
        let name = String::from_utf8_lossy(file.name).into_owned();
        format!("{name} {} {}", seen.is_same(place), seen.stat(place, file).unwrap().is_some())
    };
    files.iter().enumerate().map(show).collect()
}

fn entry(fixture: &Fixture, tree: restic::Id, name: &str) -> Entry {
    fixture.listed(tree)[&fixture.root().join(name).display().to_string()].clone()
}

#[test]
fn only_what_is_certainly_as_its_row_counts_as_seen() {
    let fixture = Fixture::new();
    let linked = fixture.put("inbox", "cur", "8.x:2,S", message(8).as_bytes());
    fs::hard_link(&linked, fixture.root().join("other name")).unwrap();
    fixture.index();
    fixture.backup();
    let inbox = |name: &str| fixture.root().join("inbox/cur").join(name);
    fs::rename(inbox("0.x:2,S"), inbox("0.x:2,RS")).unwrap();
    fs::write(inbox("1.x:2,S"), message(11)).unwrap();
    fs::remove_file(inbox("2.x:2,S")).unwrap();
    let elsewhere: PathBuf = fixture.directory.path().join("moved");
    fs::rename(inbox("3.x:2,S"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, inbox("3.x:2,S")).unwrap();
    let seen = looked(&fixture);
    assert_eq!(
        shown(&fixture, &seen, "inbox/cur"),
        [
            "0.x:2,S false false",
            "1.x:2,S false false",
            "2.x:2,S false false",
            "3.x:2,S false false",
            "8.x:2,S true false",
        ]
    );
    assert_eq!(shown(&fixture, &seen, "lists/rust/new"), ["7.x true true"]);
    // The index knows the new name, which the tables do not have.
    fixture.index();
    assert_eq!(shown(&fixture, &looked(&fixture), "inbox/cur")[0], "0.x:2,S false false");
}

#[test]
fn a_backup_after_a_look_stores_what_one_without_it_stores() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    let name = |name: &str| fixture.root().join(name);
    fs::rename(name("inbox/cur/0.x:2,S"), name("inbox/cur/0.x:2,FS")).unwrap();
    fs::rename(name("inbox/cur/1.x:2,S"), name("lists/rust/cur/1.x:2,S")).unwrap();
    fs::write(name("inbox/cur/2.x:2,S"), message(22)).unwrap();
    fs::hard_link(name("inbox/cur/3.x:2,S"), name("one more")).unwrap();
    fixture.put("lists/rust", "cur", "20.x:2,S", message(20).as_bytes());
    fixture.index();
    let known = Cache::open(&fixture.disk(), &fixture.place()).cache();
    let seen = looked(&fixture);
    let with = fixture.store_seen(known.as_deref(), &seen);
    fixture.repository.brought();
    let without = fixture.store_mail(known.as_deref());
    assert_eq!((with.tree, with.counts), (without.tree, without.counts));
    assert_eq!(entry(&fixture, with.tree, "inbox/cur/3.x:2,S").stat.link_count, 2);
    assert!(with.problems.is_empty() && without.problems.is_empty());
}

#[test]
fn what_was_seen_is_not_looked_at_again() {
    let fixture = Fixture::new();
    fixture.index();
    let (tree, ..) = fixture.backup();
    // The first directory has no other change, the second has one.
    let changed = fixture.root().join("lists/rust/cur/5.x:2,S");
    fs::rename(&changed, changed.with_file_name("5.x:2,FS")).unwrap();
    fixture.index();
    let seen = looked(&fixture);
    let paths = ["inbox/cur/0.x:2,S", "lists/rust/cur/4.x:2,S"];
    for path in paths {
        fs::write(fixture.root().join(path), message(99)).unwrap();
    }
    let known = Cache::open(&fixture.disk(), &fixture.place()).cache();
    let content = |tree, path: &str| match entry(&fixture, tree, path).content {
        Content::File(pieces) => pieces,
        other => panic!("{other:?}"),
    };
    let with = fixture.store_seen(known.as_deref(), &seen);
    let without = fixture.store_mail(known.as_deref());
    for path in paths {
        assert_eq!(content(with.tree, path), content(tree, path), "{path}");
        assert_ne!(content(without.tree, path), content(tree, path), "{path}");
    }
}

#[test]
fn what_was_seen_counts_for_the_newest_state_of_one_repository() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    let ahead = LookAhead::begin(&fixture.environment).expect("there are tables");
    let other = cache_directory(&fixture.environment.data, &restic::Id([4; 32]));
    assert!(ahead.cache_in(&fixture.place()).is_some());
    assert!(ahead.cache_in(&other).is_none());
    fixture.put("inbox", "cur", "9.x:2,S", message(9).as_bytes());
    fixture.index();
    fixture.backup();
    assert!(ahead.cache_in(&fixture.place()).is_none());
}

#[test]
fn what_was_seen_some_time_ago_does_not_count() {
    let fixture = Fixture::new();
    fixture.index();
    fixture.backup();
    let mut environment = fixture.environment.clone();
    let clocks: [(fn() -> i64, bool); 3] = [
        (|| 1_900_000_009_000_000_000, true),
        (|| 1_900_000_011_000_000_000, false),
        (|| 1_899_999_999_000_000_000, false),
    ];
    for (clock_ns, counts) in clocks {
        let ahead = LookAhead::begin(&fixture.environment).expect("there are tables");
        environment.context.clock_ns = clock_ns;
        assert_eq!(ahead.recent(&environment).is_some(), counts);
    }
}
