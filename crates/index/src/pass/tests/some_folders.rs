//! A pass over some folders only.

use super::Ground;
use crate::{Cleanup, Error, Loss, Mode, Summary, UpdateOptions, update_folders};
use std::fs;
use std::path::PathBuf;
use work::Silent;

impl Ground {
    fn update_folders(&self, folders: &[&str]) -> Summary {
        self.update_folders_with(folders, &UpdateOptions::default())
    }

    fn update_folders_with(&self, folders: &[&str], options: &UpdateOptions) -> Summary {
        let paths: Vec<PathBuf> = folders.iter().map(|folder| self.root().join(folder)).collect();
        let summary = update_folders(&self.environment, &paths, options, &Silent).unwrap();
        self.check();
        summary
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root().join(from), self.root().join(to)).unwrap();
    }

    /// Returns the paths of files in the rows.
    fn paths(&self) -> Vec<String> {
        let path = |(folder, row): (String, crate::rows::FileRow)| {
            format!("{folder}/{}/{}", row.subdirectory.name(), String::from_utf8_lossy(&row.name))
        };
        self.files().into_iter().map(path).collect()
    }
}

#[test]
fn other_folders_stay_as_they_were() {
    let ground = Ground::indexed();
    for folder in ["a", "b"] {
        ground.put(folder, "new", "3.new", &format!("{folder}3"));
    }
    ground.age();
    let summary = ground.update_folders(&["a"]);
    assert_eq!((summary.added, summary.file_count), (1, 3));
    assert!(ground.paths().contains(&"a/new/3.new".to_owned()));
    assert!(!ground.paths().contains(&"b/new/3.new".to_owned()));
    assert_eq!(ground.update().added, 1);
}

#[test]
fn a_file_moves_between_named_folders_and_is_read_where_it_came_from_another_one() {
    let ground = Ground::indexed();
    ground.rename("a/cur/1.a:2,S", "b/cur/1.a:2,RS");
    ground.age();
    let summary = ground.update_folders(&["a", "b"]);
    assert_eq!((summary.moved, summary.added, summary.gone), (1, 0, 0));

    ground.rename("a/cur/2.a:2,S", "b/cur/2.a:2,S");
    ground.age();
    let summary = ground.update_folders(&["b"]);
    assert_eq!((summary.moved, summary.added, summary.new_messages), (0, 1, 0));
    // The row of the folder that was not named stays until a pass looks there.
    assert!(ground.paths().contains(&"a/cur/2.a:2,S".to_owned()));
    assert_eq!(ground.update_folders(&["a"]).gone, 1);
    assert_eq!(ground.paths().len(), 6);
}

#[test]
fn losses_are_measured_against_the_whole_root() {
    let ground = Ground::indexed();
    fs::remove_dir_all(ground.root().join("a")).unwrap();
    ground.age();
    let summary = ground.update_folders(&["a"]);
    assert_eq!((summary.gone, summary.problems), (2, Vec::new()));
    assert_eq!(ground.folders().len(), 2);

    fs::remove_dir_all(ground.root().join("b")).unwrap();
    fs::remove_file(ground.root().join("c/cur/1.c:2,S")).unwrap();
    let summary = ground.update_folders(&["b", "c"]);
    assert_eq!(summary.gone, 0);
    assert!(summary.problems[0].what.contains("3 of 4 messages are gone"), "{:?}", summary.problems);
    let accepting = UpdateOptions { loss: Loss::Accept, ..UpdateOptions::default() };
    assert_eq!(ground.update_folders_with(&["b", "c"], &accepting).gone, 3);
}

#[test]
fn new_folders_are_added_and_a_root_that_holds_nothing_is_left_alone() {
    let ground = Ground::indexed();
    ground.put("d/e", "cur", "1.e:2,", "e1");
    ground.put("f", "cur", "1.f:2,", "f1");
    assert_eq!(ground.update_folders(&["d/e"]).added, 1);
    assert_eq!(ground.folders().len(), 4);

    fs::rename(ground.root(), ground.root().with_file_name("away")).unwrap();
    let summary = ground.update_folders(&["a"]);
    assert_eq!((summary.gone, summary.problems.len()), (0, 1));
    assert_eq!(ground.paths().len(), 7);
}

#[test]
fn problems_are_those_of_the_named_folders() {
    let ground = Ground::indexed();
    fs::remove_dir_all(ground.root().join("b/cur")).unwrap();
    fs::write(ground.root().join("b/cur"), "no directory").unwrap();
    assert!(ground.update_folders(&["a"]).problems.is_empty());
    assert_eq!(ground.update_folders(&["b"]).problems, ground.update().problems);

    let away = update_folders(&ground.environment, &["/away".into()], &UpdateOptions::default(), &Silent);
    assert!(away.unwrap().problems[0].what.contains("in no root"));
}

#[test]
fn lazy_passes_and_other_cleanups_look_at_named_folders_alone() {
    let ground = Ground::indexed();
    let lazy = UpdateOptions { mode: Mode::Lazy, ..UpdateOptions::default() };
    assert_eq!(ground.update_folders_with(&["a"], &lazy).file_count, 2);

    for folder in ["a", "b"] {
        fs::remove_file(ground.root().join(folder).join(format!("cur/1.{folder}:2,S"))).unwrap();
    }
    ground.age();
    let keep = UpdateOptions { cleanup: Cleanup::Keep, ..UpdateOptions::default() };
    assert_eq!(ground.update_folders_with(&["a"], &keep).gone, 0);
    let legacy = UpdateOptions { cleanup: Cleanup::Legacy, ..UpdateOptions::default() };
    assert_eq!(ground.update_folders_with(&["a"], &legacy).gone, 1);
    assert_eq!(ground.update().gone, 1);
}

#[test]
fn there_has_to_be_an_index() {
    let ground = Ground::new();
    let refused = update_folders(&ground.environment, &[], &UpdateOptions::default(), &Silent);
    assert!(matches!(refused, Err(Error::NoIndex { .. })));
}
