//! Names of keywords: read with each folder, and noticed when only they change.

use super::Ground;
use std::fs;

fn names(ground: &Ground, folder: &str) -> String {
    String::from_utf8(ground.folder(folder).keyword_names).unwrap()
}

#[test]
fn names_of_keywords_are_kept_with_their_folder() {
    let ground = Ground::new();
    ground.put("inbox", "cur", "1.a:2,Sa", "one");
    ground.put("other", "cur", "2.b:2,S", "two");
    fs::write(ground.root().join("inbox/dovecot-keywords"), "0 $Label\n2 work\n").unwrap();
    ground.update();
    assert_eq!(names(&ground, "inbox"), "$Label\n\nwork");
    assert_eq!(names(&ground, "other"), "");
    ground.check();
}

#[test]
fn a_change_of_names_alone_is_committed() {
    let ground = Ground::new();
    ground.put("inbox", "cur", "1.a:2,Sa", "one");
    ground.update();
    let file = ground.root().join("inbox/dovecot-keywords");
    for (content, expected) in [("0 new\n", "new"), ("0 newer\n1 b\n", "newer\nb")] {
        fs::write(&file, content).unwrap();
        let summary = ground.update();
        assert_eq!((summary.added, summary.moved, summary.gone), (0, 0, 0));
        assert_eq!(names(&ground, "inbox"), expected);
    }
    fs::remove_file(&file).unwrap();
    ground.update();
    assert_eq!(names(&ground, "inbox"), "");
    ground.check();
}

#[test]
fn names_that_cannot_be_read_or_are_left_alone_stay() {
    let ground = Ground::new();
    ground.put("inbox", "cur", "1.a:2,Sa", "one");
    ground.put("quiet", "cur", "2.b:2,Sa", "two");
    for folder in ["inbox", "quiet"] {
        fs::write(ground.root().join(folder).join("dovecot-keywords"), "0 known\n").unwrap();
    }
    ground.update();
    // Even root cannot read a directory as a file.
    fs::remove_file(ground.root().join("inbox/dovecot-keywords")).unwrap();
    fs::create_dir(ground.root().join("inbox/dovecot-keywords")).unwrap();
    fs::write(ground.root().join("quiet/.noupdate"), "").unwrap();
    fs::write(ground.root().join("quiet/dovecot-keywords"), "0 other\n").unwrap();
    let summary = ground.update();
    assert_eq!(summary.problems.len(), 1, "{:?}", summary.problems);
    let problem = &summary.problems[0];
    assert!(
        problem.path.ends_with("inbox/dovecot-keywords") && problem.what.starts_with("it is not a file; "),
        "{problem:?}"
    );
    assert_eq!((names(&ground, "inbox"), names(&ground, "quiet")), ("known".into(), "known".into()));
}
