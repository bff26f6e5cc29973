//! Tests devices, pipes and programs in the place of small files: reading them would never end, or never
//! begin.
//!
//! Input: such files in place of those of the user, of the environment and of the index. Output: whether each
//! command ends by itself, with a sentence, and with little memory. Does not depend on how anything is read.

use crate::support::{Home, Run, run, run_with_input};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Address space of a command in KiB: too little for what never ends.
const MEMORY: &str = "ulimit -v 4000000";

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.append(&mut files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// Fails unless the command ended with this sentence.
fn assert_refused(run: &Run, said: &str) {
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
    assert!(run.err.contains(said) && run.err.lines().count() == 1, "{said}: {run:?}");
}

#[test]
fn passwords_and_addresses_without_end_are_refused() {
    let home = Home::indexed();
    let repository = "RESTIC_REPOSITORY=repository RESTIC_PASSWORD=x";
    assert_eq!(home.pneu_after(&format!("export {repository}"), &["archive", "init"]).code, Some(0));
    let long = "it has more than 65536 bytes";
    for (variables, options, said) in [
        (
            "RESTIC_REPOSITORY=repository",
            &["--password-command", "cat /dev/zero"][..],
            "password command prints: it has more",
        ),
        ("RESTIC_REPOSITORY=repository", &["--password-command", "yes"], long),
        (
            "RESTIC_REPOSITORY=repository",
            &["--password-file", "/dev/zero"],
            "the password file /dev/zero: it has",
        ),
        ("RESTIC_REPOSITORY=repository RESTIC_PASSWORD_FILE=/dev/zero", &[], long),
        ("RESTIC_REPOSITORY=repository RESTIC_PASSWORD_COMMAND='cat /dev/zero'", &[], long),
        (
            "RESTIC_REPOSITORY_FILE=/dev/zero",
            &[],
            "cannot read RESTIC_REPOSITORY_FILE /dev/zero: it has more",
        ),
    ] {
        let run = home.pneu_after(
            &format!("{MEMORY}; export {variables}"),
            &[&["archive", "snapshots"], options].concat(),
        );
        assert_refused(&run, said);
    }
    let mut command = home.command(&["archive", "snapshots"]);
    command.env("RESTIC_REPOSITORY", home.path().join("repository"));
    let piped = run_with_input(&mut command, &vec![b'x'; 100_000][..60_000]);
    assert_eq!(piped.code, Some(12), "a long one, but one: {piped:?}");
    let endless = home.pneu_after(
        &format!("{MEMORY}; export RESTIC_REPOSITORY=repository; exec < /dev/zero"),
        &["archive", "snapshots"],
    );
    assert_refused(&endless, "the password on standard input is too long");
    // What a shell puts in the place of a program is a pipe.
    let given = run(Command::new("bash")
        .args(["-c", "exec \"$0\" archive snapshots --repo repository --password-file <(echo x)"])
        .arg(env!("CARGO_BIN_EXE_pneu"))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home.path())
        .current_dir(home.path()));
    assert_eq!((given.code, given.err.as_str()), (Some(1), ""));
}

#[test]
fn a_zone_without_end_is_none() {
    let home = Home::indexed();
    pipe(&home.path().join("pipe"));
    let expected = home.good(&["find", "hello"]);
    for zone in ["/dev/zero", ":/dev/zero", "$PWD/pipe", "../../../../../../../../../../dev/zero"] {
        let run = home.pneu_after(&format!("{MEMORY}; export TZ={zone}"), &["find", "hello"]);
        assert_eq!((run.code, run.out.as_str()), (Some(0), expected.as_str()), "{run:?}");
        assert!(
            run.err.contains("cannot be used: it is not a regular file; times are shown in UTC\n"),
            "{run:?}"
        );
        assert_eq!(run.err.lines().count(), 1);
    }
}

#[test]
fn a_configuration_without_end_is_refused() {
    let home = Home::indexed();
    let directory = home.path().join(".config/pneu");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("config.toml");
    for (kind, said) in [
        ("zero", "it is not a regular file"),
        ("pipe", "it is not a regular file"),
        ("huge", "it has more than 1048576 bytes"),
    ] {
        match kind {
            "zero" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
            "pipe" => pipe(&path),
            _ => fs::File::create(&path).unwrap().set_len(10 << 30).unwrap(),
        }
        for arguments in [&["index"][..], &["find", "hello"]] {
            let run = home.pneu_after(MEMORY, arguments);
            assert_refused(&run, &format!("cannot read the configuration {}: {said}", path.display()));
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_pipe_in_the_place_of_any_file_of_ours_keeps_nobody_waiting() {
    let home = Home::indexed();
    home.good(&["tag", "+work", "--", "hello"]);
    home.good(&["query", "mine", "hello"]);
    let files = files_below(&home.data());
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let copied = home.path().join("copy");
        copy(&home.data(), &copied);
        let place = copied.join(file.strip_prefix(home.data()).unwrap());
        fs::remove_file(&place).unwrap();
        pipe(&place);
        for arguments in [
            &["find", "hello"][..],
            &["tag"],
            &["find", "query:mine"],
            &["check", "--deep"],
            &["tag", "+a", "--", "hello"],
            &["index"],
        ] {
            let run = home.pneu_after(MEMORY, &[&["--data", "copy"], arguments].concat());
            assert!(
                matches!(run.code, Some(0..=3)) && !run.err.contains("panick"),
                "{file:?} {arguments:?}: {run:?}"
            );
        }
        fs::remove_dir_all(&copied).unwrap();
    }
}
