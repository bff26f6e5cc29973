//! Tests exit codes, and the sentences for errors.
//!
//! Input: mistakes of users and of the system. Output: whether each has its code and says what to do. Does
//! not depend on how they are detected.

use crate::support::{Home, end, run};
use std::fs::{self, OpenOptions};
use std::process::Stdio;
use testkit::corpus::{CorpusOptions, generate};

#[test]
fn nothing_found_is_one_and_says_so() {
    let home = Home::indexed();
    let none = home.pneu(&["find", "nowhere"]);
    assert_eq!(
        (none.code, none.out.as_str(), none.err.as_str()),
        (Some(1), "", "pneu: no message matches\n")
    );
    let quiet = home.pneu(&["find", "--quiet", "nowhere"]);
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(1), ""));
    for format in ["plain", "json", "sexp", "paths", "mbox"] {
        assert_eq!(home.pneu(&["find", "--format", format, "nowhere"]), none, "{format}");
    }
    assert_eq!(home.pneu(&["find", "--exec", "echo", "nowhere"]), none);
    let behind = home.pneu(&["find", "--offset", "9", "hello"]);
    assert_eq!(
        (behind.code, behind.err.as_str()),
        (Some(1), "pneu: 2 messages match, none after the first 9\n")
    );
}

#[test]
fn a_mistake_in_a_query_is_pointed_at() {
    let home = Home::indexed();
    let wrong = home.pneu(&["find", "hello", "form:bob"]);
    assert_eq!(wrong.code, Some(2));
    assert_eq!(
        wrong.err,
        "\
pneu: there is no field \"form\"
  hello form:bob
        ^^^^
did you mean \"from:\"? To search for the text, quote it: \"form:...\"
"
    );
}

#[test]
fn what_cannot_be_answered_is_pointed_at() {
    let home = Home::indexed();
    let config = home.path().join(".config/pneu");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "headers = [\"X-Mailer\"]\n").unwrap();
    for (query, expected) in [
        (
            "hello subject:\"/a(b/\"",
            "\
pneu: the regular expression cannot be used: unclosed group, at \"(b\"
  hello subject:\"/a(b/\"
        ^^^^^^^^^^^^^^^
",
        ),
        (
            "nothing and -/x{1,/",
            "\
pneu: the regular expression cannot be used: unclosed counted repetition, at \"{1,\"
  nothing and -/x{1,/
               ^^^^^^
",
        ),
        (
            "maildir:/[/",
            "\
pneu: the regular expression cannot be used: unclosed character class, at \"[\"
  maildir:/[/
  ^^^^^^^^^^^
",
        ),
        (
            "hello x-mailer:tube",
            "\
pneu: header X-Mailer is configured but not indexed yet; run \"pneu check --repair\" to read all mail again
  hello x-mailer:tube
        ^^^^^^^^
",
        ),
    ] {
        for command in ["find", "count"] {
            let run = home.pneu(&[command, query]);
            assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (Some(2), expected, ""), "{query}");
        }
    }
}

#[test]
fn an_analysis_tells_what_answered() {
    let home = Home::indexed();
    let out = home.good(&["find", "--analyze", "body:/^hel+o$/ and subject:qwerty"]);
    // Times differ: digits go, and the blanks before them.
    let steady = |line: &str| {
        line.split_whitespace().filter(|word| word.parse::<u64>().is_err()).collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = out.lines().map(steady).collect();
    let expected = [
        "query: body:/^hel+o$/ and subject:qwerty",
        "and messages us",
        "subject:qwerty messages us text index",
        "body:/^hel+o$/ not needed every word in the text index",
        "total us",
    ];
    assert_eq!(lines, expected, "{out}");
    assert_eq!(home.good(&["count", "--analyze", "*"]).lines().next(), Some("query: *"));
}

#[test]
fn a_mistake_in_arguments_is_two() {
    let home = Home::indexed();
    for (arguments, part) in [
        (&["fnd"][..], "unrecognized subcommand"),
        (&["find", "--fields", "d o"], "there is no field 'o'; fields are d date"),
        (&["find", "--fields", "date,form"], "there is no field 'form'; fields are d date"),
        (&["find", "--sort", "colour"], "possible values: date, size"),
        (&["find", "--print0", "--format", "json"], "--print0 works only with"),
        (&["find", "--maildir", "Elsewhere"], "Elsewhere is not indexed; run \"pneu index --maildir"),
        (&["view", "subject:second or subject:first"], "2 messages match"),
    ] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(wrong.err.contains(part), "{arguments:?}: {}", wrong.err);
    }
}

#[test]
fn without_an_index_everything_says_how_to_make_one() {
    let home = Home::new();
    for arguments in [&["find"][..], &["count"], &["check"], &["view", "id:x"]] {
        let run = home.pneu(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.err.contains("run \"pneu index\" first"), "{}", run.err);
    }
    fs::remove_dir_all(home.mail()).unwrap();
    let index = home.pneu(&["index"]);
    assert!(
        index.code == Some(2) && index.err.contains("Name its directory once: pneu index --maildir DIR"),
        "{index:?}"
    );
    assert!(home.good(&["info"]).contains("none yet"));
    assert!(!home.data().exists(), "nothing is made by looking");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let home = Home::indexed();
    for arguments in [
        &["find"][..],
        &["find", "--format", "json"],
        &["find", "--format", "sexp"],
        &["find", "--format", "paths"],
        &["find", "--format", "mbox"],
        &["find", "--format", "count"],
        &["find", "--format", "links", "--links-dir", "Found"],
        &["view", "id:1@example.org"],
        &["info"],
    ] {
        let mut child = home.start(arguments);
        drop(child.stdout.take());
        let run = end(child);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_under_the_output_is_an_error() {
    let home = Home::indexed();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = home.command(&["find"]);
    let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("pneu: cannot write the output: No space left on device"), "{said}");
}

/// Runs a command whose standard output has no room. Returns its exit code and what it says.
fn run_on_full_disk(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = home.command(arguments);
    let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_was_done_is_told_although_the_output_cannot_be_written() {
    let home = Home::indexed();
    let all = "all that was to be done is done: ";
    for (arguments, done) in [
        (&["flag", "+F", "--", "id:1@example.org"][..], "1 message: 1 file changed"),
        (&["undo"], "undone for 1 of 1 file changed at "),
        (&["tag", "+x", "--", "id:1@example.org"], "1 message: 1 changed"),
        (&["mkdir", "aside"], &home.mail().display().to_string()),
        (&["rename-folder", "lists/rust", "lists/crabs"], "1 folder renamed"),
        (&["delete", "--for-good", "--yes", "id:1@example.org"], "1 message: 1 file removed for good"),
    ] {
        let (code, said) = run_on_full_disk(&home, arguments);
        assert_eq!(code, Some(3), "{arguments:?}: {said}");
        let expected =
            format!("pneu: cannot write the output: No space left on device (os error 28); {all}{done}");
        assert!(said.starts_with(&expected), "{arguments:?}: {said}");
    }
    assert_eq!(home.good(&["count", "maildir:/lists/crabs"]), "1\n");
    // The reader of a pipe that goes away is told nothing, and what was left alone still counts.
    let mut child = home.start(&["flag", "+F", "--", "*"]);
    drop(child.stdout.take());
    let run = end(child);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let (code, said) = run_on_full_disk(&home, &["--quiet", "flag", "-F", "--", "*"]);
    assert_eq!((code, said.as_str()), (Some(0), ""), "there was nothing to write");
}

#[test]
fn an_index_of_a_newer_version_is_refused_and_left_alone() {
    let home = Home::indexed();
    let manifest = home.index_directory().join("manifest");
    let mut bytes = fs::read(&manifest).unwrap();
    // The version follows the magic.
    bytes[8] = 99;
    fs::write(&manifest, &bytes).unwrap();
    for arguments in [&["find"][..], &["index"], &["check"]] {
        let run = home.pneu(arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(
            run.err.contains("manifest") && run.err.contains("99") && run.err.contains("newer"),
            "{}",
            run.err
        );
    }
    assert_eq!(fs::read(&manifest).unwrap(), bytes);
}

#[test]
fn a_damaged_index_is_an_error_that_names_the_file() {
    let home = Home::new();
    // More rows than the journal takes.
    generate(&home.mail().join("more"), &CorpusOptions { folders: 5, ..CorpusOptions::small(5000, 3) })
        .unwrap();
    home.first_index();
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    let names = fs::read_dir(home.index_directory()).unwrap().map(|entry| entry.unwrap().path());
    let segments: Vec<_> =
        names.filter(|path| path.extension().is_some_and(|extension| extension == "seg")).collect();
    for path in &segments {
        let bytes = fs::read(path).unwrap();
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        fs::write(path, &flipped).unwrap();
        let run = home.pneu(&["check", "--deep"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(run.out.contains(name) || run.err.contains(name), "{name}: {run:?}");
        fs::write(path, &bytes).unwrap();
    }
    assert!(!segments.is_empty());
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
}

#[test]
fn help_and_version_are_zero() {
    let home = Home::new();
    for arguments in [&["--help"][..], &["help", "find"], &["index", "-h"], &["--version"]] {
        assert!(!home.good(arguments).is_empty());
    }
    let nothing = run(&mut home.command::<&str>(&[]));
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("Usage: pneu"));
}

#[test]
fn what_was_done_with_an_archive_is_done_although_it_cannot_be_printed() {
    let home = crate::archive::archived();
    let (target, mbox) = (home.home.path().join("restored"), home.home.path().join("old.mbox"));
    fs::write(&mbox, "From a@x Tue Mar  4 10:00:00 2025\nSubject: old\nMessage-ID: <old@x>\n\nold\n")
        .unwrap();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    let full = |arguments: &[&str]| {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = home.command(arguments);
        let child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        end(child)
    };
    let mbox = mbox.display().to_string();
    for (arguments, done) in [
        (&["archive", "backup"][..], ": snapshot "),
        (&["archive", "restore", "latest", "--target", target.to_str().unwrap()], " restored to "),
        (&["archive", "unlock"], ": 0 locks removed\n"),
        (&["import", "--create", "imported", &mbox], ": 1 message imported\n"),
        (&["undelete", "tubes"], "done\npneu: 1 message put back; "),
    ] {
        if arguments[0] == "undelete" {
            fs::remove_file(home.home.mail().join("lists/rust/cur/3:2,FS")).unwrap();
        }
        let run = full(arguments);
        assert_eq!(run.code, Some(3), "{arguments:?}: {run:?}");
        let said =
            "cannot write the output: No space left on device (os error 28); all that was to be done is done";
        assert!(run.err.contains(said) && run.err.contains(done), "{arguments:?}: {run:?}");
    }
    assert!(home.home.mail().join("lists/rust/cur/3:2,FS").exists() && target.exists());
    // Nothing was done but printing.
    assert_eq!(full(&["import", "--dry-run", "--create", "other", &mbox]).code, Some(2));
}
