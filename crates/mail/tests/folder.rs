//! Finding folders in trees of every habit.
//!
//! Input: a tree, written as text and made on the disk. Output: the folders found in it and the problems, as
//! text.

use crate::privileges::{permit, without_privileges};
use mail::{FolderLimits, FolderProblemKind, find_folders, find_folders_within, folders_left_out};
use proptest::prelude::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// Makes a tree from lines `maildir PATH`, `directory PATH`, `file PATH`, `link PATH -> TARGET`.
fn tree(lines: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (path, target) = rest.split_once(" -> ").unwrap_or((rest, ""));
        let path = root.path().join(path);
        let above = if what == "maildir" || what == "directory" { &path } else { path.parent().unwrap() };
        fs::create_dir_all(above).unwrap();
        match what {
            "maildir" => {
                for name in ["cur", "new", "tmp"] {
                    fs::create_dir(path.join(name)).unwrap();
                }
            }
            "directory" => {}
            "file" => fs::write(path, b"").unwrap(),
            "link" => symlink(target, path).unwrap(),
            _ => panic!("{line}"),
        }
    }
    root
}

/// Tells what is found: a line for each folder, `-` before what is left out, `!` before problems.
fn told(root: &Path, limits: FolderLimits) -> Vec<String> {
    let found = find_folders_within(root, limits).unwrap();
    let text = |path: &[u8]| {
        if path.is_empty() { ".".to_owned() } else { String::from_utf8_lossy(path).into_owned() }
    };
    let mut lines = Vec::new();
    for folder in &found.folders {
        let marks =
            [(!folder.has_cur, " no cur"), (!folder.has_new, " no new"), (folder.no_update, " no update")];
        let marks: String = marks.iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| *mark).collect();
        lines.push(text(&folder.path) + &marks);
        let stamp = mail::stat_directory(&mail::join(root, &folder.path)).unwrap();
        assert_eq!(folder.stamp, stamp, "{}", text(&folder.path));
    }
    assert_eq!(found.stamp, mail::stat_directory(root).unwrap());
    lines.extend(found.excluded.iter().map(|path| format!("- {}", text(path))));
    for problem in &found.problems {
        let kind = match &problem.kind {
            FolderProblemKind::Unreadable(_) => "unreadable",
            FolderProblemKind::Dangling => "dangling",
            FolderProblemKind::Loop => "loop",
            FolderProblemKind::OutsideRoot => "elsewhere",
            FolderProblemKind::TooDeep => "too deep",
            FolderProblemKind::TooMany => "too many",
        };
        assert_eq!(problem.hides_folders(), kind != "loop" && kind != "elsewhere");
        assert!(problem.to_string().contains(problem.path.to_str().unwrap()), "{problem}");
        let path = problem.path.strip_prefix(root).unwrap();
        lines.push(format!("! {} {kind}", text(path.as_os_str().as_bytes())));
    }
    lines
}

fn found(lines: &str) -> Vec<String> {
    told(tree(lines).path(), FolderLimits::default())
}

#[test]
fn folders_of_every_habit() {
    let tree = "
        maildir .
        maildir .Sent
        maildir .Archive.2023
        directory courierimapkeywords
        maildir nested/work/deep
        maildir nested/work
        directory only-cur/cur
        directory only-new/new
        directory only-tmp/tmp
        file mh/1
        file mh/cur
        file dovecot.index.log
    ";
    let expected = [
        ".",
        ".Archive.2023",
        ".Sent",
        "nested/work",
        "nested/work/deep",
        "only-cur no new",
        "only-new no cur",
    ];
    assert_eq!(found(tree), expected);
}

#[test]
fn a_link_in_the_place_of_mail_leads_to_mail_or_stays_below_the_root() {
    let tree = "
        directory other/new
        file private/key
        link root/a/cur -> ../../other/new
        link root/b/cur -> ../../private
        maildir root/c
        directory root/store
        link root/d/new -> ../store
        file root/e/cur/1
        link root/e/new -> ../../private
    ";
    assert_eq!(
        tree_root(tree).1,
        ["a no new", "c", "d no cur", "e no new", "! b/cur elsewhere", "! e/new elsewhere"]
    );
}

#[test]
fn what_lies_in_a_folders_own_directories_is_no_folder() {
    let tree = "
        maildir a
        maildir a/cur/x
        maildir a/new/x
        maildir a/tmp/x
        maildir plain/tmp
        maildir plain/tmp/cure
    ";
    assert_eq!(found(tree), ["a", "plain/tmp", "plain/tmp/cure"]);
}

#[test]
fn order_is_that_of_the_bytes_of_paths() {
    assert_eq!(
        found("maildir b\nmaildir a/b\nmaildir a.b\nmaildir a\nmaildir B"),
        ["B", "a", "a.b", "a/b", "b"]
    );
}

#[test]
fn no_index_leaves_out_a_folder_and_all_below() {
    let tree = "
        maildir spam
        file spam/.noindex
        maildir spam/.sub
        maildir keep
        directory old/.noindex
        maildir old/a
    ";
    assert_eq!(found(tree), ["keep", "- old", "- spam"]);
    assert_eq!(found("maildir .\nmaildir a\nfile .noindex"), ["- ."]);
}

#[test]
fn folders_left_out_are_those_with_mail_of_their_own() {
    let tree = tree(
        "
        maildir .
        file cur/1
        maildir spam
        file spam/.noindex
        file spam/new/2
        maildir spam/.sub
        file spam/.sub/cur/3
        file spam/.sub/.noindex
        maildir spam/empty
        file spam/empty/tmp/4
        file spam/empty/cur/.5
        maildir spam/links
        link spam/links/cur/6 -> ../../../cur/1
        ",
    );
    let shown = |folders: Vec<std::path::PathBuf>| {
        let below = |path: &std::path::PathBuf| path.strip_prefix(tree.path()).unwrap().to_owned();
        folders.iter().map(|path| below(path).display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(shown(folders_left_out(&tree.path().join("spam"))), ["spam", "spam/.sub"]);
    assert!(folders_left_out(&tree.path().join("nowhere")).is_empty());
}

#[test]
fn no_update_is_inherited() {
    let tree = "
        maildir a
        file a/.noupdate
        maildir a/b/c
        maildir ab
        link a/link -> ../../outside
        file plain/.noupdate
        maildir plain/d
    ";
    assert_eq!(
        found(tree),
        ["a no update", "a/b/c no update", "ab", "plain/d no update", "! a/link dangling"]
    );
    assert_eq!(found("maildir .\nmaildir a\nfile .noupdate"), [". no update", "a no update"]);
}

#[test]
fn links_out_of_the_root_are_followed_once() {
    let tree = "
        maildir outside/box
        maildir outside/box/sub
        file outside/file
        maildir root/inbox
        link root/b -> ../outside/box
        link root/a -> ../outside
        link root/c -> ../outside/box
        link root/file -> ../outside/file
        link root/relay -> c
    ";
    let tree = tree_root(tree);
    assert_eq!(tree.1, ["a/box", "a/box/sub", "inbox"]);
}

/// Tells what is found in the directory `root` of a tree.
fn tree_root(lines: &str) -> (TempDir, Vec<String>) {
    let tree = tree(lines);
    let told = told(&tree.path().join("root"), FolderLimits::default());
    (tree, told)
}

#[test]
fn a_link_in_what_is_linked_is_followed_and_inherits() {
    let tree = "
        maildir outside/box
        file outside/.noupdate
        link outside/more -> ../further
        maildir further/box
        link root/a -> ../outside
    ";
    assert_eq!(tree_root(tree).1, ["a/box no update", "a/more/box no update"]);
}

#[test]
fn the_real_folder_counts_and_not_a_link_to_it() {
    let tree = "
        link a -> z/real
        link b -> z
        maildir z/real
        link z/again -> real
        link z/really -> real
    ";
    assert_eq!(found(tree), ["z/real"]);
}

#[test]
fn loops_are_noticed() {
    let tree = "
        maildir a/b
        link a/b/up -> ..
        link a/b/here -> .
        link a/b/root -> ../..
        link self -> self
        link ping -> pong
        link pong -> ping
    ";
    let expected = [
        "a/b",
        "! a/b/here loop",
        "! a/b/root loop",
        "! a/b/up loop",
        "! ping loop",
        "! pong loop",
        "! self loop",
    ];
    assert_eq!(found(tree), expected);
    let tree = "
        link root/a -> ../outside
        maildir outside/box
        link outside/back -> ../root
        link outside/above -> ..
    ";
    assert_eq!(
        tree_root(tree).1,
        ["a/box", "! a/above/outside loop", "! a/above/root loop", "! a/back loop"]
    );
}

#[test]
fn folders_whose_own_directories_are_links() {
    let tree = "
        directory elsewhere/c
        file elsewhere/f
        link a/cur -> ../elsewhere/c
        link b/cur -> ../nowhere
        link c/cur -> ../elsewhere/f
        link c/new -> ../elsewhere/f
        link d/new -> new
    ";
    assert_eq!(found(tree), ["a no new", "b no new", "d no cur"]);
}

#[test]
fn foreign_directories_are_left_alone() {
    let tree = "
        directory .git/refs/heads/new
        maildir .notmuch/xapian
        maildir lost+found
        maildir .hidden/box
        maildir .svn
        maildir .svn/sub
    ";
    assert_eq!(found(tree), [".hidden/box", ".svn", ".svn/sub"]);
}

#[test]
fn limits_are_told() {
    let depth = FolderLimits { depth_max: 2, ..FolderLimits::default() };
    let tree_of_four = tree("maildir a/b/c/d\nmaildir a/b\nmaildir x");
    assert_eq!(told(tree_of_four.path(), depth), ["a/b", "x", "! a/b/c too deep"]);
    let sorted = tree("maildir a/b/c\nmaildir a.b/b/c\nfile x/y/.noindex\nfile x.y/.noindex");
    assert_eq!(told(sorted.path(), depth), ["- x.y", "- x/y", "! a.b/b/c too deep", "! a/b/c too deep"]);
    // The root, a, a/b, a/b/c, a/b/c/d and x.
    let count = |directory_count_max| FolderLimits { directory_count_max, ..FolderLimits::default() };
    assert_eq!(told(tree_of_four.path(), count(6)), ["a/b", "a/b/c/d", "x"]);
    assert_eq!(told(tree_of_four.path(), count(5)), ["a/b", "a/b/c/d", "! . too many"]);
    let many: String =
        ('a'..='z').rev().map(|letter| format!("maildir {letter}\nlink {letter}/l -> ../b\n")).collect();
    assert_eq!(
        told(tree(&many).path(), count(4)),
        ["a", "b", "c", "! . too many"],
        "the first in order are read"
    );
}

#[test]
fn a_path_as_deep_as_allowed_is_read() {
    let root = tempfile::tempdir().unwrap();
    let path = vec!["a"; 64].join("/");
    fs::create_dir_all(root.path().join(&path).join("cur")).unwrap();
    assert_eq!(told(root.path(), FolderLimits::default()), [format!("{path} no new")]);
}

#[test]
fn names_are_bytes() {
    let root = tempfile::tempdir().unwrap();
    for name in [&b"\xff\xfe"[..], b"a\nb", b"Entw\xfcrfe", "Entwürfe".as_bytes(), b" ", b"INBOX", b"inbox"]
    {
        fs::create_dir_all(mail::join(root.path(), name).join("cur")).unwrap();
    }
    let found = find_folders(root.path()).unwrap();
    let paths: Vec<&[u8]> = found.folders.iter().map(|folder| folder.path.as_slice()).collect();
    let expected: [&[u8]; 7] =
        [b" ", b"Entw\xc3\xbcrfe", b"Entw\xfcrfe", b"INBOX", b"a\nb", b"inbox", b"\xff\xfe"];
    assert_eq!(paths, expected);
    assert_eq!(mail::join(root.path(), b""), root.path());
}

#[test]
fn nothing_there_is_told_from_no_root() {
    let root = tree("file a\ndirectory b/tmp");
    let found = find_folders(root.path()).unwrap();
    assert!(found.folders.is_empty() && found.problems.is_empty() && found.excluded.is_empty());
    let missing = root.path().join("missing");
    let error = find_folders(&missing).unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(error.path(), missing);
    let expected =
        format!("cannot open the directory {}: No such file or directory (os error 2)", missing.display());
    assert_eq!(error.to_string(), expected);
    let error = find_folders(&root.path().join("a")).unwrap_err();
    assert!(!error.is_not_found(), "{error}");
}

#[test]
fn the_root_may_be_a_link() {
    let tree = tree("maildir real/a\nlink root -> real\nlink real/b -> ../root");
    assert_eq!(told(&tree.path().join("root"), FolderLimits::default()), ["a", "! b loop"]);
}

#[test]
fn an_unreadable_directory_is_a_problem_and_the_rest_is_found() {
    without_privileges("folder::an_unreadable_directory_is_a_problem_and_the_rest_is_found", || {
        let tree = tree("maildir a\nmaildir b/sub\nmaildir c\nmaildir d\nlink l -> c/inner\nmaildir c/inner");
        let modes = [("b", 0o000), ("c", 0o444), ("d/cur", 0o000)];
        modes.iter().for_each(|(path, mode)| permit(&tree.path().join(path), *mode));
        let lines = told(tree.path(), FolderLimits::default());
        modes.iter().for_each(|(path, _)| permit(&tree.path().join(path), 0o755));
        // What can be listed but not entered is there; what is in it is unknown.
        assert_eq!(lines, ["a", "c", "d", "! b unreadable", "! c/inner unreadable", "! l unreadable"]);
        permit(tree.path(), 0o000);
        let error = find_folders(tree.path()).unwrap_err();
        permit(tree.path(), 0o755);
        assert!(error.to_string().contains("Permission denied"), "{error}");
    });
}

/// Names for random trees: those with a meaning, and others.
const NAMES: [&str; 8] = ["cur", "new", "tmp", ".noindex", ".noupdate", "a", ".b", "c.d"];

/// Finds folders by the definition: a recursion over the standard library.
fn twin(directory: &Path, path: &str, no_update: bool, lines: &mut Vec<String>) {
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    let is_directory = |name: &str| directory.join(name).is_dir();
    if has(".noindex") {
        return;
    }
    let no_update = no_update || has(".noupdate");
    let is_folder = is_directory("cur") || is_directory("new");
    if is_folder {
        lines.push(format!("{path}|{}|{}|{no_update}", is_directory("cur"), is_directory("new")));
    }
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() && !(is_folder && ["cur", "new", "tmp"].contains(&name.as_str())) {
            let below = if path.is_empty() { name } else { format!("{path}/{name}") };
            twin(&entry.path(), &below, no_update, lines);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_tree_is_read_like_the_twin_does(
        paths in proptest::collection::vec((proptest::collection::vec(0..NAMES.len(), 1..5), 0..4_u8), 0..24),
    ) {
        let root = tempfile::tempdir().unwrap();
        for (names, kind) in &paths {
            let path = names.iter().fold(root.path().to_owned(), |path, name| path.join(NAMES[*name]));
            // What is in the way of another path is left: a file where a directory should be.
            let _ = if *kind == 0 { fs::write(&path, b"") } else { fs::create_dir_all(&path) };
        }
        let mut expected = Vec::new();
        twin(root.path(), "", false, &mut expected);
        expected.sort_by_key(|line| line.split('|').next().unwrap().as_bytes().to_owned());
        let found = find_folders(root.path()).unwrap();
        let text = |path: &[u8]| OsStr::from_bytes(path).to_str().unwrap().to_owned();
        let lines: Vec<String> = found
            .folders
            .iter()
            .map(|folder| {
                let path = text(&folder.path);
                format!("{path}|{}|{}|{}", folder.has_cur, folder.has_new, folder.no_update)
            })
            .collect();
        prop_assert_eq!(lines, expected);
        prop_assert!(found.problems.is_empty());
    }
}
