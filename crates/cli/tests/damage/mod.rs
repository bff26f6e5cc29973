//! Tests damage of every kind of file of a repository: what each command reports and how it ends, all on one
//! page.
//!
//! Input: a small repository that restic made, with one damage. Output: whether every command that meets it
//! prints what testdata/repositories/damage.txt has, and leaves the repository unchanged; with UPDATE=1 that
//! page is rewritten. Does not depend on how sentences are made.

pub(crate) mod harm;

use crate::support::{Home, Run, letter, run};
use harm::{HARMS, Harm, Harmed, PASSWORD, copy, make};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The commands that meet a repository, each on one of its own.
const COMMANDS: [&[&str]; 12] = [
    &["archive", "snapshots"],
    &["archive", "ls", "latest"],
    &["archive", "restore", "latest", "--target", "restored"],
    &["archive", "check"],
    &["archive", "check", "--read-data"],
    &["archive", "stats"],
    &["archive", "backup"],
    &["archive", "forget", "e55adc9d"],
    &["archive", "prune"],
    &["find", "--archived", "--fields", "s", "letter"],
    &["view", "--format", "raw", "id:eb19b5e37ea96592cdcecf78c36fd21c@derived.pneu"],
    &["undelete", "subject:two"],
];
/// More than any of them takes, and little enough that a length from a file that is believed is found.
const MEMORY_KB_MAX: u32 = 3_000_000;
/// A command that takes longer hangs.
const SECONDS_MAX: u32 = 60;
/// Codes that the program ends with by itself.
const CODES: [i32; 7] = [0, 1, 2, 3, 10, 11, 12];

/// What one command did: its code and what it printed.
type Outcome = String;

#[test]
fn every_damage_is_told_and_nothing_is_changed_by_it() {
    let home = Home::indexed();
    let sound = home.path().join("sound");
    // The newest snapshot's message is one that the index knows and that is deleted.
    let message = make(&sound);
    let path = home.deliver("", "7:2,S", &message);
    home.good(&["index"]);
    fs::remove_file(path).unwrap();
    home.good(&["index"]);
    let expected: Vec<Outcome> =
        COMMANDS.iter().map(|command| outcome(&home, command, &Harm { name: "", act: |_| () })).collect();
    let mut page = String::from(
        "What every command says of every damage: its exit code, then what it prints. Commands that do what \
         they do without damage are named last. Written by a test: UPDATE=1.\n\n== no damage\n",
    );
    for (command, outcome) in COMMANDS.iter().zip(&expected) {
        page.push_str(&format!("$ pneu {}\n{outcome}", command.join(" ")));
    }
    for (harm, outcomes) in HARMS.iter().zip(all_outcomes(&home)) {
        page.push_str(&format!("\n== {}\n", harm.name));
        // Commands that say the same are told of together.
        let mut groups: Vec<(Vec<String>, &Outcome)> = Vec::new();
        let mut unmoved = Vec::new();
        for ((command, outcome), expected) in COMMANDS.iter().zip(&outcomes).zip(&expected) {
            let command = command.iter().filter(|word| **word != "archive").copied();
            match groups.iter_mut().find(|(_, other)| *other == outcome) {
                _ if outcome == expected => unmoved.push(word(command)),
                Some((commands, _)) => commands.push(word(command)),
                None => groups.push((vec![word(command)], outcome)),
            }
        }
        for (commands, outcome) in groups {
            page.push_str(&format!("{}\n{outcome}", commands.join(", ")));
        }
        if !unmoved.is_empty() {
            page.push_str(&format!("as without damage: {}\n", unmoved.join(", ")));
        }
    }
    compare(&page);
}

/// Returns what a command is called on the page.
fn word<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.collect();
    match words[..] {
        ["check", "--read-data"] => "check --read-data".to_owned(),
        ["find", ..] => "find --archived".to_owned(),
        [first, ..] => first.to_owned(),
        [] => String::new(),
    }
}

fn compare(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/repositories/damage.txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let first = kept.lines().zip(page.lines()).find(|(kept, new)| kept != new);
    assert!(kept == page, "{} says otherwise, first here: {first:?}", path.display());
}

/// Does everything with every damage, several at a time.
fn all_outcomes(home: &Home) -> Vec<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = BTreeMap::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(harm) = HARMS.get(number) else { return done };
            done.insert(
                number,
                COMMANDS.iter().map(|command| outcome(home, command, harm)).collect::<Vec<_>>(),
            );
        }
    };
    let mut all = BTreeMap::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            all.extend(worker.join().unwrap());
        }
    });
    all.into_values().collect()
}

/// Runs one command on a repository with one damage, in a home of its own.
fn outcome(home: &Home, command: &[&str], harm: &Harm) -> Outcome {
    let place = tempfile::tempdir().unwrap();
    // Each command has an index of its own: many take its lock, and those that wait say so.
    let own = place.path().join("home");
    copy(&home.path().join(".local"), &own.join(".local"));
    let harmed = Harmed { root: place.path().join("repository") };
    copy(&home.path().join("sound"), &harmed.root);
    // In a thread of its own, so that random bytes are the same each time.
    std::thread::scope(|scope| scope.spawn(|| (harm.act)(&harmed)).join().unwrap());
    let before = files(&harmed.root);
    let run = run(&mut limited(place.path(), &own, command));
    let what = format!("{}: {command:?}: {run:?}", harm.name);
    assert!(run.code.is_some_and(|code| CODES.contains(&code)), "{what}");
    assert!(!run.err.contains("panicked") && !run.err.contains(PASSWORD), "{what}");
    assert!(
        run.code == Some(0) || !run.err.is_empty() || run.code == Some(2) && !run.out.is_empty(),
        "{what}"
    );
    let after = files(&harmed.root);
    let is_restored = fs::exists(place.path().join("escaped")).unwrap();
    assert!(!is_restored && !fs::exists(place.path().parent().unwrap().join("escaped")).unwrap(), "{what}");
    // 3: done, but something could not be read.
    if !matches!(run.code, Some(0 | 3)) || !matches!(command, ["archive", "backup" | "forget" | "prune", ..])
    {
        assert!(before == after, "{what}: {:?} became {:?}", before.keys(), after.keys());
    }
    let locks =
        |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().filter(|path| path.starts_with("locks")).count();
    assert_eq!(locks(&before), locks(&after), "{what}");
    told(&run, place.path())
}

/// Returns the command with little memory and little time, in a directory where its repository and its cache
/// lie.
fn limited(place: &Path, home: &Path, arguments: &[&str]) -> Command {
    let script = format!("ulimit -v {MEMORY_KB_MAX}; exec timeout -s KILL {SECONDS_MAX} \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_pneu")]).args(arguments);
    command.env_clear().current_dir(place).env("HOME", home).env("XDG_CACHE_HOME", place.join("cache"));
    command.env("TZ", "UTC").env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command.env("PNEU_NO_WAITING", "1");
    command.env("RESTIC_REPOSITORY", place.join("repository")).env("RESTIC_PASSWORD", PASSWORD);
    command
}

/// Returns all that lies in a directory.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false => {
                    found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

/// Returns how a command ended and what it printed, without what differs from run to run.
fn told(run: &Run, home: &Path) -> Outcome {
    let mut text = format!("{}\n", run.code.unwrap());
    for line in run.out.lines().chain(run.err.lines()) {
        let line = line.replace(&format!("{}/", home.display()), "");
        let line = line.replace(&home.display().to_string(), ".");
        text.push_str(&format!("    {}\n", plain(&line)));
    }
    text
}

/// Shortens ids, and leaves out sizes and names that depend on who runs the test.
fn plain(line: &str) -> String {
    if let Some(rest) = line.strip_prefix("snapshot ").and_then(|rest| rest.split_once(':')) {
        let counts = rest.1.rsplit_once(';').map_or(rest.1, |(counts, _)| counts);
        return format!("snapshot ..:{counts}; .. added");
    }
    let mut short = String::new();
    let mut digits = String::new();
    for letter in line.chars().chain(['\n']) {
        if letter.is_ascii_digit() || ('a'..='f').contains(&letter) {
            digits.push(letter);
            continue;
        }
        match digits.len() {
            64 => short.push_str(&format!("{}..", &digits[..8])),
            _ => short.push_str(&digits),
        }
        digits.clear();
        short.push(letter);
    }
    short.trim_end().to_owned()
}

#[test]
fn another_password_is_refused_by_every_command() {
    let home = Home::indexed();
    make(&home.path().join("repository"));
    home.deliver("", "7:2,S", &letter("7", "two", "more"));
    let before = files(&home.path().join("repository"));
    for command in COMMANDS {
        let mut command = limited(home.path(), home.path(), command);
        let run = run(command.env("RESTIC_PASSWORD", "Pneumatic"));
        if command.get_args().any(|argument| argument == "view") {
            assert_eq!(run.code, Some(1), "{run:?}");
            continue;
        }
        let said = format!(
            "pneu: wrong password: it opens no key in {}\n",
            home.path().join("repository").display()
        );
        assert_eq!((run.code, run.out.as_str(), run.err), (Some(12), "", said));
    }
    assert!(files(&home.path().join("repository")) == before);
}
