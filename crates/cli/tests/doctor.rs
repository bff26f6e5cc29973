//! Tests `pneu doctor`: what it reports, and its exit code.

use crate::support::{Home, letter};
use std::fs;

#[test]
fn all_is_well_until_something_is_not() {
    let home = Home::indexed();
    let well = home.pneu(&["doctor"]);
    assert_eq!((well.code, well.err.as_str()), (Some(0), ""), "{well:?}");
    assert!(well.out.lines().all(|line| line.starts_with("ok    ")), "{well:?}");
    assert!(well.out.contains("ok    index: no damage found\n"), "{well:?}");
    assert_eq!(home.pneu(&["doctor", "--quiet"]).out, "");
    home.deliver("", "9:2,S", &letter("1", "First steps", "hello pneumatic world"));
    home.good(&["index"]);
    let twice = home.pneu(&["doctor", "--quiet"]);
    let expected = format!(
        "todo  duplicates: 1 file in excess, in {}; look at them: pneu dedupe --dry-run FOLDER\n",
        home.mail().display()
    );
    assert_eq!((twice.code, twice.out), (Some(1), expected));
    let json = home.pneu(&["doctor", "--format", "json"]);
    let lines: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let duplicates = lines.iter().find(|line| line["subject"] == "duplicates").unwrap();
    assert_eq!((&duplicates["ok"], &duplicates["version"]), (&false.into(), &1.into()));
    assert!(lines.iter().all(|line| line["ok"] == line["advice"].is_null()), "{json:?}");
}

#[test]
fn what_cannot_be_read_is_named_and_harmless() {
    let home = Home::indexed();
    let name = "8\u{1b}[31m:2,";
    // Magic bytes of zstd, and nothing that can be unpacked.
    home.deliver("lists/rust", name, &[0x28, 0xb5, 0x2f, 0xfd, 0, 0]);
    let run = home.pneu(&["doctor", "--quiet"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.out.starts_with("todo  mail: ") && !run.out.contains('\u{1b}'), "{run:?}");
    assert!(run.out.contains("it is a damaged compressed file"), "{run:?}");
}

#[test]
fn rules_and_roles_that_are_wrong_are_told() {
    let home = Home::indexed();
    let rule = |query: &str| format!("[[rule]]\nquery = \"{query}\"\ntag = \"+x\"\n");
    home.configure(&[rule("hello"), rule("from:nobody")].concat());
    assert_eq!(home.pneu(&["doctor", "--quiet"]).out, "");
    assert!(home.pneu(&["doctor"]).out.contains("ok    rules: 2 rules can be followed\n"));
    let wrong = ["hello", "(", "query:none", "maildir:/nowhere"].map(rule).concat();
    home.configure(&wrong);
    let run = home.pneu(&["doctor", "--quiet"]);
    assert!(run.code == Some(1) && run.out.starts_with("todo  rules: rule 2: "), "{run:?}");
    let parts = ["rule 3: there is no saved query", "rule 4 matches nothing: there is no folder /nowhere"];
    assert!(parts.iter().all(|part| run.out.contains(part)) && !run.out.contains("rule 1"), "{run:?}");
    home.folder("kept");
    home.good(&["index"]);
    let root = format!("[[root]]\nname = \"Mail\"\npath = \"{}\"\n", home.mail().display());
    home.configure(&format!("{root}trash = \"kept\"\narchive = \"kept\"\n"));
    home.good(&["index"]);
    let run = home.pneu(&["doctor", "--quiet"]);
    assert!(run.out.contains("the same folder is trash and archive; name another"), "{run:?}");
    home.configure(&format!("{root}spam = \"nowhere\"\n"));
    assert!(home.pneu(&["doctor", "--quiet"]).out.contains("not there: spam = \"nowhere\""));
    home.configure("[[rule]]\nquery = \"x\"\ntag = \"x\"\n");
    let run = home.pneu(&["doctor", "--quiet"]);
    assert!(run.code == Some(1) && run.out.starts_with("todo  configuration: "), "{run:?}");
    assert!(run.out.contains("\"x\" does not begin with + or -"), "{run:?}");
}

#[test]
fn a_lost_index_and_lost_mail_are_told() {
    let home = Home::new();
    let none = home.pneu(&["doctor", "--quiet"]);
    assert_eq!(none.out, "todo  index: there is none yet; run \"pneu index\"\n");
    let home = Home::indexed();
    fs::rename(home.mail(), home.path().join("Elsewhere")).unwrap();
    let gone = home.pneu(&["doctor", "--quiet"]);
    assert!(gone.code == Some(1) && gone.out.starts_with("todo  roots: not there: "), "{gone:?}");
}

#[test]
fn roots_that_are_one_directory_are_told_with_and_without_an_index() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "One", "text"));
    std::os::unix::fs::symlink(home.mail(), home.path().join("Same")).unwrap();
    let root = |name: &str, path: &str| format!("[[root]]\nname = \"{name}\"\npath = \"~/{path}\"\n");
    home.configure(&[root("a", "Mail"), root("b", "Same")].concat());
    let expected = "todo  roots: root \"a\" and root \"b\" are one directory, or lie in one another, by a \
                    symbolic link or a mount; name one of them only; correct the [[root]] of the \
                    configuration\n";
    let without = home.pneu(&["doctor", "--quiet"]);
    assert_eq!(without.code, Some(1), "{without:?}");
    let none = "todo  index: there is none yet; run \"pneu index\"\n";
    assert_eq!(without.out, format!("{expected}{none}"));
    home.configure(&root("a", "Mail"));
    home.good(&["index"]);
    assert_eq!(home.pneu(&["doctor", "--quiet"]).out, "");
    home.configure(&[root("a", "Mail"), root("b", "Same")].concat());
    assert!(home.pneu(&["doctor", "--quiet"]).out.starts_with(expected));
}
