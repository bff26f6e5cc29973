//! Tests passwords of repositories: read from the environment as restic does, and hidden from other programs.

use crate::support::{Home, Run, run};
use std::fs;

/// Runs the program with these variables.
fn with(home: &Home, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = home.command(arguments);
    command.env("RESTIC_REPOSITORY", home.path().join("repository")).envs(variables.iter().copied());
    run(&mut command)
}

#[test]
fn the_environment_is_read_in_the_order_of_restic() {
    let home = Home::indexed();
    fs::write(home.path().join("file"), "\t geheim nis \r\n\n").unwrap();
    let (file, command) =
        (("RESTIC_PASSWORD_FILE", "file"), ("RESTIC_PASSWORD_COMMAND", "echo '  geheim nis'"));
    assert_eq!(with(&home, &[file], &["archive", "init"]).code, Some(0));
    let wrong = ("RESTIC_PASSWORD", "wrong");
    for (variables, code) in [
        (&[("RESTIC_PASSWORD", "geheim nis")][..], 0),
        (&[wrong, file], 0),
        (&[wrong, command], 0),
        (&[wrong], 12),
        (&[("RESTIC_PASSWORD", " geheim nis")], 12),
        (&[("RESTIC_PASSWORD", "geheim nis"), ("RESTIC_PASSWORD_COMMAND", "echo wrong")], 12),
        (&[file, command], 2),
    ] {
        let run = with(&home, variables, &["archive", "stats"]);
        assert_eq!(run.code, Some(code), "{variables:?}: {run:?}");
        assert!(!run.err.contains("geheim") && !run.out.contains("geheim"), "{run:?}");
    }
    // Options count before all of them.
    let run = with(&home, &[wrong, command], &["archive", "stats", "--password-file", "file"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn commands_for_messages_do_not_get_passwords_and_keys() {
    let home = Home::indexed();
    let secrets = [
        ("RESTIC_PASSWORD", "geheim"),
        ("AWS_SECRET_ACCESS_KEY", "geheim"),
        ("AWS_SESSION_TOKEN", "geheim"),
        ("AWS_PROFILE", "bo"),
    ];
    let run = with(&home, &secrets, &["find", "--exec", "env X={}", "tubes"]);
    assert!(run.code == Some(0) && run.out.contains("AWS_PROFILE=bo\n"), "{run:?}");
    assert!(!run.out.contains("geheim"), "{run:?}");
}

#[test]
fn a_command_asks_for_the_password_once() {
    let home = Home::indexed();
    let script = "#!/bin/sh\necho asked >> asked\necho geheim\n";
    fs::write(home.path().join("script"), script).unwrap();
    let password = ("RESTIC_PASSWORD_COMMAND", "sh script");
    let good = |arguments: &[&str]| {
        let run = with(&home, &[password], arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run.out
    };
    good(&["archive", "init"]);
    good(&["archive", "backup"]);
    fs::remove_file(home.mail().join("cur/2:2,")).unwrap();
    good(&["index"]);
    for arguments in [
        &["view", "subject:thoughts"][..],
        &["view", "subject:thoughts", "id:2@example.org"],
        &["view", "--thread", "subject:thoughts"],
        &["find", "--archived", "--format", "mbox", "subject:thoughts"],
    ] {
        let _ = fs::remove_file(home.path().join("asked"));
        assert!(good(arguments).contains("hello again, with more words"), "{arguments:?}");
        let asked = fs::read_to_string(home.path().join("asked")).unwrap();
        assert_eq!(asked, "asked\n", "{arguments:?}");
    }
}
