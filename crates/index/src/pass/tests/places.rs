//! A pass over some folders or files only.

use super::Ground;
use crate::{Cleanup, Error, Loss, Mode, Places, Summary, UpdateOptions, update_places};
use std::fs;
use std::path::{Path, PathBuf};
use work::Silent;

impl Ground {
    fn update_folders(&self, folders: &[&str]) -> Summary {
        self.update_folders_with(folders, &UpdateOptions::default())
    }

    fn update_folders_with(&self, folders: &[&str], options: &UpdateOptions) -> Summary {
        let paths: Vec<PathBuf> = folders.iter().map(|folder| self.root().join(folder)).collect();
        self.update_places(&paths.iter().map(PathBuf::as_path).collect(), options)
    }

    fn update_files(&self, files: &[&str]) -> Summary {
        let mut places = Places::default();
        files.iter().for_each(|file| places.add_file(&self.root().join(file)));
        self.update_places(&places, &UpdateOptions::default())
    }

    fn update_places(&self, places: &Places, options: &UpdateOptions) -> Summary {
        let summary = update_places(&self.environment, places, options, &Silent).unwrap();
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

    for path in ["b/cur/1.b:2,S", "b/cur/2.b:2,S", "c/cur/1.c:2,S"] {
        fs::remove_file(ground.root().join(path)).unwrap();
    }
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

    let places = [Path::new("/away")].into_iter().collect();
    let away = update_places(&ground.environment, &places, &UpdateOptions::default(), &Silent);
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
    let refused = update_places(&ground.environment, &Places::default(), &UpdateOptions::default(), &Silent);
    assert!(matches!(refused, Err(Error::NoIndex { .. })));
}

#[test]
fn named_files_are_looked_at_and_no_others() {
    let ground = Ground::indexed();
    ground.put("a", "new", "3.new", "a3");
    ground.put("a", "new", "4.new", "a4");
    ground.rename("a/cur/1.a:2,S", "a/cur/1.a:2,RS");
    fs::remove_file(ground.root().join("a/cur/2.a:2,S")).unwrap();
    ground.age();
    let summary = ground.update_files(&["a/new/3.new", "a/new/nothing", "a/cur/1.a:2,S", "a/cur/1.a:2,RS"]);
    assert_eq!((summary.added, summary.moved, summary.gone, summary.file_count), (1, 1, 0, 2));
    let paths = ["a/cur/1.a:2,RS", "a/cur/2.a:2,S", "a/new/3.new"];
    assert_eq!(ground.paths()[..3], paths);
    // A lazy pass does not trust what was not read: it finds the rest.
    let lazy = UpdateOptions { mode: Mode::Lazy, ..UpdateOptions::default() };
    let summary = ground.update_with(&lazy);
    assert_eq!((summary.added, summary.moved, summary.gone), (1, 0, 1));
    assert_eq!(ground.update_with(&lazy).file_count, 7);
    ground.check();
}

#[test]
fn a_directory_is_read_by_lazy_passes_until_it_was_read_as_a_whole() {
    let ground = Ground::indexed();
    let stamp = || ground.folder("a").directories[0].stamp;
    assert!(stamp().has_times());
    ground.update_files(&["a/cur/1.a:2,S"]);
    assert!(stamp().has_times(), "nothing changed");
    ground.rename("a/cur/1.a:2,S", "a/cur/1.a:2,F");
    ground.age();
    ground.update_files(&["a/cur/1.a:2,S", "a/cur/1.a:2,F"]);
    assert!(!stamp().has_times());
    ground.update_with(&UpdateOptions { mode: Mode::Lazy, ..UpdateOptions::default() });
    assert!(stamp().has_times());
}

#[test]
fn a_named_file_moves_between_folders_also_to_a_new_one() {
    let ground = Ground::indexed();
    ground.rename("a/cur/1.a:2,S", "b/cur/1.a:2,S");
    ground.put("d", "cur", "1.d:2,", "d1");
    ground.rename("a/cur/2.a:2,S", "d/cur/2.a:2,S");
    let files = ["a/cur/1.a:2,S", "b/cur/1.a:2,S", "a/cur/2.a:2,S", "d/cur/2.a:2,S"];
    let summary = ground.update_files(&files);
    // A new folder is read as a whole.
    assert_eq!((summary.moved, summary.added, summary.gone), (2, 1, 0));
    assert_eq!(ground.paths().len(), 7);
}

#[test]
fn what_became_of_a_named_file() {
    let ground = Ground::indexed();
    fs::write(ground.root().join("a/cur/1.a:2,S"), "Subject: other\n\nother\n").unwrap();
    let summary = ground.update_files(&["a/cur/1.a:2,S"]);
    assert_eq!((summary.changed, summary.gone), (1, 0), "{summary:?}");
    // Losses of named files need no confirmation: each was looked for.
    for file in ["a/cur/1.a:2,S", "a/cur/2.a:2,S", "b/cur/1.b:2,S", "b/cur/2.b:2,S"] {
        fs::remove_file(ground.root().join(file)).unwrap();
    }
    let gone = ["a/cur/1.a:2,S", "a/cur/2.a:2,S", "b/cur/1.b:2,S", "b/cur/2.b:2,S"];
    assert_eq!(ground.update_files(&gone).gone, 4);
    // A directory that is no longer there, or is on another device, is for a whole pass.
    fs::remove_dir_all(ground.root().join("c/cur")).unwrap();
    assert_eq!(ground.update_files(&["c/cur/1.c:2,S"]).gone, 0);
    ground.set_stamp("a", |stamp| stamp.device += 1);
    ground.put("a", "cur", "5.a:2,", "a5");
    assert_eq!(ground.update_files(&["a/cur/5.a:2,"]).added, 0);
    assert_eq!(ground.update_folders(&["a"]).added, 1);
}
