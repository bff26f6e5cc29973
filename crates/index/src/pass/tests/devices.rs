//! Devices: a disk that is not mounted, or another disk in its place. The tests change the stored device, as
//! they cannot change the disk.

use super::Ground;
use crate::{Loss, UpdateOptions};
use std::fs;

/// Stores another device for a folder.
fn was_elsewhere(ground: &Ground, folder: &str) {
    ground.set_stamp(folder, |stamp| stamp.device += 1);
}

fn accepted(ground: &Ground) -> u64 {
    ground.update_with(&UpdateOptions { loss: Loss::Accept, ..UpdateOptions::default() }).gone
}

#[test]
fn a_root_on_another_device_may_lose_nothing() {
    let ground = Ground::indexed();
    ["a", "b", "c"].iter().for_each(|folder| was_elsewhere(&ground, folder));
    fs::remove_file(ground.root().join("a/cur/1.a:2,S")).unwrap();
    let summary = ground.update();
    assert_eq!((summary.gone, summary.problems.len()), (0, 1), "one of six would be no great loss elsewhere");
    let what = &summary.problems[0].what;
    assert!(what.starts_with("is on another device than before and 1 of 6 messages are not there"), "{what}");
    assert_eq!(accepted(&ground), 1);
    ground.check();
}

#[test]
fn a_root_that_lost_nothing_may_be_on_another_device() {
    let ground = Ground::indexed();
    ["a", "b", "c"].iter().for_each(|folder| was_elsewhere(&ground, folder));
    assert!(ground.update().problems.is_empty());
    fs::remove_file(ground.root().join("a/cur/1.a:2,S")).unwrap();
    assert_eq!(ground.update().gone, 1, "the device is known now");
}

#[test]
fn one_folder_on_another_device_does_not_make_the_root_another() {
    let ground = Ground::indexed();
    was_elsewhere(&ground, "a");
    fs::remove_file(ground.root().join("b/cur/1.b:2,S")).unwrap();
    assert_eq!(ground.update().gone, 1);
}

#[test]
fn a_folder_that_lay_on_another_device_is_not_gone_but_unmounted() {
    let ground = Ground::indexed();
    was_elsewhere(&ground, "c");
    fs::remove_dir_all(ground.root().join("c")).unwrap();
    let summary = ground.update();
    assert_eq!((summary.gone, summary.problems.len()), (0, 1));
    assert!(summary.problems[0].what.contains("was on another device"), "{:?}", summary.problems);
    assert_eq!(ground.files().len(), 6);
    ground.check();
    assert_eq!(accepted(&ground), 2);
    assert_eq!(ground.folders().len(), 2);
}

/// Leaves one message in `b` and none in `c`, so that losing `a` is losing half and more.
fn with_large_folder() -> Ground {
    let ground = Ground::indexed();
    for path in ["b/cur/1.b:2,S", "c/cur/1.c:2,S", "c/cur/2.c:2,S"] {
        fs::remove_file(ground.root().join(path)).unwrap();
    }
    ground.age();
    assert_eq!(ground.update().gone, 3);
    ground
}

#[test]
fn a_folder_that_was_removed_is_no_loss_while_others_are_there() {
    for lazy in [false, true] {
        let ground = with_large_folder();
        fs::remove_dir_all(ground.root().join("a")).unwrap();
        let mode = if lazy { crate::Mode::Lazy } else { crate::Mode::Default };
        let summary = ground.update_with(&UpdateOptions { mode, ..UpdateOptions::default() });
        assert_eq!((summary.gone, summary.problems.len()), (2, 0), "{:?}", summary.problems);
        assert_eq!(ground.folders().len(), 2);
        ground.check();
    }
}

#[test]
fn a_loss_beside_a_removed_folder_and_one_without_evidence_are_refused() {
    let said = |ground: &Ground| {
        let summary = ground.update();
        assert_eq!((summary.gone, summary.problems.len()), (0, 1), "{:?}", summary.problems);
        assert_eq!(summary.problems[0].path, ground.root());
        summary.problems[0].what.clone()
    };
    let ground = with_large_folder();
    fs::remove_dir_all(ground.root().join("a")).unwrap();
    fs::remove_file(ground.root().join("b/cur/2.b:2,S")).unwrap();
    assert_eq!(said(&ground), "1 of 1 messages are gone, 1 of them from the folder b; nothing was changed");
    assert_eq!(ground.files().len(), 3, "the removed folder waits, too");
    // Where the folder was is not known.
    let ground = with_large_folder();
    ground.set_stamp("a", |stamp| stamp.device = 0);
    fs::remove_dir_all(ground.root().join("a")).unwrap();
    assert!(said(&ground).starts_with("2 of 3 messages are gone, 2 of them from the folder a"));
    // No other folder is where it was.
    let ground = with_large_folder();
    ["b", "c"].iter().for_each(|folder| was_elsewhere(&ground, folder));
    fs::remove_dir_all(ground.root().join("a")).unwrap();
    assert!(said(&ground).starts_with("is on another device than before and 2 of 3"));
}
