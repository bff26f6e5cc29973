//! Tests damage below the data directory: a check reads every file, and the user's data is restored from its
//! second copy.
//!
//! Input: a complete data directory, and damage. Output: what is reported, repaired and answered. Does not
//! depend on formats.

use crate::support::{Home, Run, long_letter, run};
use std::fs;
use std::path::{Path, PathBuf};

/// Mail with tags, saved queries, an index of two commits, and a backup.
fn everything() -> Home {
    let home = Home::indexed();
    home.good(&["tag", "+work", "--", "hello"]);
    home.good(&["tag", "+later", "--", "subject:first"]);
    home.good(&["query", "mine", "tag:work"]);
    for command in [["archive", "init"], ["archive", "backup"]] {
        let mut command = home.command(&command);
        command.env("RESTIC_REPOSITORY", home.path().join("repository")).env("RESTIC_PASSWORD", "pneumatic");
        assert_eq!(run(&mut command).code, Some(0));
    }
    home
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else {
            found.push(entry);
        }
    }
    found.sort();
    found
}

fn flip(path: &Path, place: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[place] ^= 4;
    fs::write(path, bytes).unwrap();
}

fn says(run: &Run, path: &Path) -> bool {
    let path = path.display().to_string();
    run.out.contains(&path) || run.err.contains(&path)
}

#[test]
fn a_deep_check_reads_every_file_of_the_data_directory() {
    let home = everything();
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    let all = files(&home.data());
    for part in ["index/text", "user/copy", "archive", "user/queries", "index/CACHEDIR.TAG", "index/journal-"]
    {
        let part = home.data().join(part).display().to_string();
        assert!(all.iter().any(|path| path.display().to_string().starts_with(&part)), "{part}: {all:?}");
    }
    let is_lock = |path: &&PathBuf| path.to_string_lossy().ends_with("lock");
    assert!(all.iter().filter(is_lock).count() >= 5, "{all:?}");
    for path in all.iter().filter(|path| !is_lock(path)) {
        let whole = fs::read(path).unwrap();
        for place in [0, whole.len() / 2, whole.len() - 1] {
            flip(path, place);
            let found = home.pneu(&["check", "--deep"]);
            assert_eq!(found.code, Some(2), "{} at {place}: {found:?}", path.display());
            assert!(says(&found, path), "{} at {place}: {found:?}", path.display());
            fs::write(path, &whole).unwrap();
        }
    }
    // What no check knows is named, and no damage.
    for name in ["notes", "index/notes.seg", "index/text/x.text", "user/tags", "user/copy/copy", "archive/x"]
    {
        let path = home.data().join(name);
        fs::write(&path, "mine").unwrap();
        let found = home.pneu(&["check", "--deep"]);
        let expected = format!("pneu: {} is not a file of pneu; it was left alone\n", path.display());
        assert_eq!((found.code, found.out.as_str()), (Some(0), "no damage found\n"), "{name}");
        assert_eq!(found.err, expected);
        fs::remove_file(path).unwrap();
    }
}

/// Returns the journal of what was said.
fn journal(home: &Home, place: &str) -> PathBuf {
    let is_journal = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("journal-");
    let place = home.data().join(place);
    files(&place).into_iter().find(|path| path.parent() == Some(&place) && is_journal(path)).unwrap()
}

#[test]
fn a_flipped_bit_in_the_last_record_undoes_nothing() {
    let home = everything();
    let tags = home.good(&["tag"]);
    let own = journal(&home, "user");
    let length = fs::read(&own).unwrap().len();
    for place in [length - 500, length - 1] {
        flip(&own, place);
        for arguments in [&["find", "tag:later"][..], &["tag"], &["tag", "+x", "--", "hello"]] {
            let wrong = home.pneu(arguments);
            assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
            assert!(says(&wrong, &own) && wrong.err.contains("pneu check --repair"), "{}", wrong.err);
        }
        for arguments in [&["check"][..], &["check", "--deep"]] {
            let found = home.pneu(arguments);
            assert!(found.code == Some(2) && found.out.contains(&own.display().to_string()), "{found:?}");
            assert!(found.err.contains("user is damaged: run \"pneu check --repair\""), "{found:?}");
        }
        let mended = home.pneu(&["check", "--repair"]);
        assert_eq!(mended.code, Some(0), "{mended:?}");
        assert!(mended.err.contains("user was repaired from its second copy"), "{mended:?}");
        assert_eq!(home.good(&["tag"]), tags);
        assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    }
    // A flip that makes one seem to be of a newer version.
    flip(&home.data().join("user/manifest"), 8);
    assert_eq!(home.pneu(&["check"]).code, Some(2));
    assert_eq!(home.pneu(&["check", "--repair"]).code, Some(0));
    assert_eq!(home.good(&["tag"]), tags);
    // The same place of both: it is said, and nothing is made up.
    let second = journal(&home, "user/copy");
    for path in [&own, &second] {
        flip(path, length - 400);
    }
    let lost = home.pneu(&["check", "--repair"]);
    assert_eq!(lost.code, Some(2));
    assert!(says(&lost, &own) && lost.err.contains("restore them from a backup"), "{lost:?}");
    assert_eq!(home.pneu(&["tag"]).code, Some(2));
}

#[test]
fn damaged_and_lost_saved_queries_come_back_from_their_second_copy() {
    let home = everything();
    let own = home.data().join("user/queries");
    let whole = fs::read(&own).unwrap();
    let place = whole.windows(4).position(|window| window == b"work").unwrap();
    flip(&own, place);
    for arguments in [&["query"][..], &["find", "query:mine"], &["query", "b", "x"]] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(says(&wrong, &own) && wrong.err.contains("pneu check --repair"), "{}", wrong.err);
    }
    assert_eq!(home.pneu(&["check"]).code, Some(2));
    assert_eq!(home.pneu(&["check", "--repair"]).code, Some(0));
    assert_eq!(fs::read(&own).unwrap(), whole);
    fs::remove_file(&own).unwrap();
    assert_eq!(home.good(&["query"]), "mine\ttag:work\n");
    home.good(&["query", "more", "x"]);
    assert_eq!(fs::read(&own).unwrap(), fs::read(home.data().join("user/copy/queries")).unwrap());
}

#[test]
fn files_of_text_that_changed_places_are_named_and_the_index_is_made_anew() {
    let home = Home::indexed();
    for (id, body) in [("8", "many words"), ("9", "hello late")] {
        home.deliver("", &format!("{id}:2,S"), &long_letter(id, "late", body));
        home.good(&["index"]);
    }
    assert_eq!(home.good(&["count", "hello"]), "3\n");
    let text = home.index_directory().join("text");
    let ending = |end: &str| -> Vec<PathBuf> {
        files(&text).into_iter().filter(|path| path.extension().is_some_and(|found| found == end)).collect()
    };
    let [one, other] = ending("text").try_into().unwrap();
    let beside = text.join("beside");
    fs::rename(&one, &beside).unwrap();
    fs::rename(&other, &one).unwrap();
    fs::rename(&beside, &other).unwrap();
    for arguments in [&["count", "hello"][..], &["check"], &["check", "--deep"]] {
        let found = home.pneu(arguments);
        assert_eq!(found.code, Some(2), "{arguments:?}: {found:?}");
        assert!(says(&found, &one) || says(&found, &other), "{arguments:?}: {found:?}");
    }
    assert_eq!(home.pneu(&["check", "--repair"]).code, Some(0));
    assert_eq!(home.good(&["count", "hello"]), "3\n");
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
}
