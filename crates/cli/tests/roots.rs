//! Tests which directories are indexed, and what happens if one is missing, empty or replaced.
//!
//! Input: options, configurations, directories that disappear. Output: whether indexed messages are kept, and
//! whether the error says what to do. Does not depend on how roots are stored.

use crate::support::{Home, letter};
use std::fs;

fn configure(home: &Home, text: &str) {
    fs::create_dir_all(home.path().join(".config/pneu")).unwrap();
    fs::write(home.path().join(".config/pneu/config.toml"), text).unwrap();
}

#[test]
fn the_root_is_remembered() {
    let home = Home::indexed();
    home.deliver("", "6:2,", &letter("6", "Six", "text"));
    assert!(home.good(&["index"]).contains(" 1 added"));
    let root = format!("root             mail {}\n", home.mail().display());
    let info = home.good(&["info"]);
    assert!(info.contains(&root), "{info}");
    assert_eq!(home.good(&["--maildir", "Mail", "count"]), "5\n");
}

#[test]
fn a_directory_without_mail_leaves_nothing_behind() {
    let home = Home::new();
    fs::create_dir(home.path().join("empty")).unwrap();
    let empty = home.pneu(&["index", "--maildir", "empty"]);
    assert_eq!(empty.code, Some(2));
    assert!(
        empty.err.contains("/empty holds no Maildir (a directory with \"cur\" and \"new\")"),
        "{}",
        empty.err
    );
    let missing = home.pneu(&["--maildir", "missing", "index"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("/missing"), "{}", missing.err);
    assert!(!home.data().exists());
}

#[test]
fn a_root_that_goes_away_keeps_its_rows() {
    let home = Home::indexed();
    let before = home.good(&["find", "--format", "json"]);
    let aside = home.path().join("aside");
    fs::rename(home.mail(), &aside).unwrap();
    let missing = home.pneu(&["index"]);
    assert_eq!(missing.code, Some(3), "{missing:?}");
    assert!(missing.err.contains(&home.mail().display().to_string()), "{}", missing.err);
    assert!(missing.out.contains("0 gone, 1 unreadable"), "{}", missing.out);
    assert_eq!(home.good(&["find", "--format", "json"]), before);

    fs::create_dir(home.mail()).unwrap();
    let empty = home.pneu(&["index"]);
    assert_eq!(empty.code, Some(3), "{empty:?}");
    assert!(empty.err.contains("holds no Maildir any more"), "{}", empty.err);
    assert_eq!(home.good(&["find", "--format", "json"]), before);

    fs::remove_dir(home.mail()).unwrap();
    fs::rename(aside, home.mail()).unwrap();
    assert!(home.good(&["index"]).contains(" 0 added, 0 moved, 0 changed, 0 gone, "));
}

#[test]
fn losing_most_of_a_root_must_be_meant() {
    let home = Home::indexed();
    for path in ["cur/1:2,S", "cur/2:2,", "lists/rust/cur/3:2,FS"] {
        fs::remove_file(home.mail().join(path)).unwrap();
    }
    let refused = home.pneu(&["index"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(
        refused.err.contains("3 of 4 messages are gone") && refused.err.contains("--accept-loss"),
        "{}",
        refused.err
    );
    assert_eq!(home.good(&["count"]), "4\n");
    let accepted = home.good(&["index", "--accept-loss"]);
    assert!(accepted.contains(" 3 gone, 0 unreadable"), "{accepted}");
    assert_eq!(home.good(&["count"]), "1\n");
}

#[test]
fn a_root_that_the_configuration_does_not_name_stays_until_somebody_lets_it_go() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "One", "text"));
    home.deliver("../Other", "2:2,", &letter("2", "Two", "text"));
    configure(&home, "[[root]]\nname = \"a\"\npath = \"~/Mail\"\n");
    home.good(&["index", "--maildir", "other=Other"]);
    home.deliver("", "3:2,", &letter("3", "Three", "text"));
    for added in [1, 0] {
        let run = home.pneu(&["index"]);
        assert_eq!(run.code, Some(3), "{run:?}");
        assert!(run.out.contains(&format!(" {added} added, 0 moved, 0 changed, 0 gone")), "{run:?}");
        let said = format!(
            "pneu: {}/Other: root \"other\" is not in the configuration; its messages stay in the index. \
             Add it there as a [[root]]; or run \"pneu index --accept-loss\" to remove its messages\n",
            home.path().display()
        );
        assert_eq!(run.err, said);
    }
    assert_eq!(home.good(&["count"]), "3\n");
    assert!(home.good(&["index", "--accept-loss"]).contains(" 1 gone"));
    assert_eq!(home.pneu(&["index"]).code, Some(0));
    assert_eq!(home.good(&["count"]), "2\n");
}

#[test]
fn the_configuration_names_several_roots() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "One", "text"));
    home.deliver("../Other", "2:2,", &letter("2", "Two", "text"));
    configure(
        &home,
        "[[root]]\nname = \"a\"\npath = \"~/Mail\"\n\n[[root]]\nname = \"b\"\npath = \"~/Other\"\n",
    );
    assert!(home.good(&["index"]).starts_with("2 files: 2 added, "));
    assert_eq!(home.good(&["find", "--fields", "s"]), "Two\nOne\n");
    let info = home.good(&["info"]);
    assert!(info.contains("a ") && info.contains("/Other"), "{info}");
    let json = home.good(&["find", "--format", "json", "two"]);
    assert!(json.contains("\"root\":\"b\""), "{json}");
}

#[test]
fn several_roots_on_the_command_line_have_names() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "One", "text"));
    home.deliver("../Other", "2:2,", &letter("2", "Two", "text"));
    let unnamed = home.pneu(&["index", "--maildir", "Mail", "--maildir", "Other"]);
    assert_eq!(unnamed.code, Some(2));
    assert!(unnamed.err.contains("a name each"), "{}", unnamed.err);
    assert!(
        home.good(&["--maildir", "a=Mail", "index", "--maildir", "b=Other"]).starts_with("2 files: 2 added")
    );
    assert!(home.good(&["index"]).starts_with("2 files: 0 added"));
}

#[test]
fn a_directory_without_a_name_takes_no_other_one_s_place() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "One", "text"));
    home.deliver("../Other", "2:2,", &letter("2", "Two", "text"));
    home.good(&["index", "--maildir", "Mail"]);
    let refused = home.pneu(&["index", "--maildir", "Other"]);
    let (mail, other) = (home.mail().display().to_string(), home.path().join("Other").display().to_string());
    assert_eq!(
        (refused.code, refused.err),
        (
            Some(2),
            format!(
                "pneu: {other} has no name, and root \"mail\" is {mail}; give it a name of its own \
                 (NAME={other}), or, if the mail was moved there, that name (mail={other})\n"
            )
        )
    );
    assert_eq!(home.good(&["find", "--fields", "s"]), "One\n");
    assert!(home.good(&["index", "--maildir", "other=Other"]).starts_with("2 files: 1 added"));
    assert!(home.good(&["index", "--maildir", "Other"]).starts_with("2 files: 0 added"), "it has a name now");
    assert_eq!(home.good(&["find", "--fields", "s"]), "Two\nOne\n");
    // Mail that was moved is not read again.
    fs::rename(&mail, home.path().join("Moved")).unwrap();
    let moved = home.good(&["index", "--maildir", "mail=Moved"]);
    assert!(moved.starts_with("2 files: 0 added, 0 moved, 0 changed, 0 gone"), "{moved}");
    let info = home.good(&["info"]);
    assert!(info.contains("/Moved\n") && info.contains("/Other\n"), "{info}");
    // Neither is it without the name, if the old directory is not there any more.
    fs::rename(home.path().join("Moved"), &mail).unwrap();
    let back = home.good(&["index", "--maildir", "Mail"]);
    assert!(back.starts_with("2 files: 0 added, 0 moved, 0 changed, 0 gone"), "{back}");
    fs::rename(&mail, home.path().join("Moved")).unwrap();
    home.good(&["index", "--maildir", "mail=Moved"]);
    // A root of the configuration keeps its place as well, before there is an index and after that.
    configure(&home, "[[root]]\nname = \"mail\"\npath = \"~/Moved\"\n");
    home.deliver("../Third", "3:2,", &letter("3", "Three", "text"));
    for data in [&[][..], &["--data", "fresh"]] {
        let refused = home.pneu(&[data, &["index", "--maildir", "Third"]].concat());
        assert!(refused.code == Some(2) && refused.err.contains("Third has no name"), "{refused:?}");
    }
    let both = home.good(&["--data", "fresh", "index", "--maildir", "third=Third"]);
    assert!(both.starts_with("2 files: 2 added"), "{both}");
}

#[test]
fn one_directory_is_no_second_root_by_a_link_either() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "One", "text"));
    home.deliver("lists", "2:2,", &letter("2", "Two", "text"));
    let at = |name: &str| home.path().join(name);
    std::os::unix::fs::symlink(home.mail(), at("Same")).unwrap();
    std::os::unix::fs::symlink(home.mail().join("lists"), at("Inner")).unwrap();
    let refused = "pneu: root \"a\" and root \"b\" are one directory, or lie in one another, by a \
                   symbolic link or a mount; name one of them only\n";
    for (first, second) in [("Mail", "Same"), ("Same", "Mail"), ("Mail", "Inner"), ("Inner", "Same")] {
        let roots = [format!("a={first}"), format!("b={second}")];
        for command in ["index", "init"] {
            let run = home.pneu(&["--maildir", &roots[0], "--maildir", &roots[1], command]);
            assert_eq!((run.code, run.err.as_str()), (Some(2), refused), "{command} {roots:?}");
        }
        let text = format!(
            "[[root]]\nname = \"a\"\npath = \"~/{first}\"\n\n[[root]]\nname = \"b\"\npath = \"~/{second}\"\n"
        );
        fs::write(at("restored.toml"), &text).unwrap();
        let run = home.pneu(&["init", "--yes", "--adopt", "restored.toml"]);
        assert_eq!((run.code, run.err.as_str()), (Some(2), refused), "adopt {roots:?}");
        assert!(!home.data().exists() && !at(".config/pneu/config.toml").exists());
    }
    // Roots that became one after they were indexed: the first is indexed, and the second stays as it was.
    home.deliver("../Other", "3:2,", &letter("3", "Three", "text"));
    configure(
        &home,
        "[[root]]\nname = \"a\"\npath = \"~/Mail\"\n\n[[root]]\nname = \"b\"\npath = \"~/Other\"\n",
    );
    home.good(&["index"]);
    fs::rename(at("Other"), at("Away")).unwrap();
    fs::rename(at("Same"), at("Other")).unwrap();
    home.deliver("", "4:2,", &letter("4", "Four", "text"));
    let run = home.pneu(&["index"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.out.contains(" 1 added, 0 moved, 0 changed, 0 gone, 1 unreadable"), "{}", run.out);
    let what = "is the directory of root \"a\"";
    assert!(run.err.contains(what) && run.err.contains("so root \"b\" stays as it was"), "{}", run.err);
    assert_eq!(home.good(&["find", "--files", "--fields", "s"]).lines().count(), 4);
    // An action on the first root does not speak of it.
    let run = home.pneu(&["flag", "+F", "--", "subject:four"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    fs::remove_file(at("Other")).unwrap();
    fs::rename(at("Away"), at("Other")).unwrap();
    assert!(home.good(&["index"]).contains(" 0 added, 0 moved, 0 changed, 0 gone, 0 unreadable"));
}

#[test]
fn mistakes_in_the_configuration_name_file_and_key() {
    let home = Home::new();
    configure(&home, "[[root]]\nname = \"a\"\npth = \"~/Mail\"\n");
    let wrong = home.pneu(&["index"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains(".config/pneu/config.toml") && wrong.err.contains("pth"), "{}", wrong.err);
}
