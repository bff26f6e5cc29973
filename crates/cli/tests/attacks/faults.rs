//! A system that fails: strace kills the program at a system call, or refuses one, where a seed says.
//!
//! Input: random numbers, a stage with mail that is not indexed yet. Output: what was lost or reported
//! wrongly, as text. Does not depend on what the program does in which order.

use super::judge::{OF_MAIL, ask, ending, judge, told};
use super::stage::Stage;
use crate::support::{Run, run};
use std::process::Command;
use testkit::Random;

/// A command of the program.
type Words = &'static [&'static str];

/// What is at work when the system fails.
const COMMANDS: [Words; 5] = [
    &["index"],
    &["tag", "+marked", "--", "hello"],
    &["query", "late", "date:2024"],
    &["check", "--repair", "--maildir", "Mail"],
    &["archive", "backup"],
];

/// Where it fails, and how often such a call is made at most before that.
const CALLS: [(&str, u64); 10] = [
    ("write,pwrite64,writev", 60),
    ("fsync,fdatasync", 30),
    ("rename,renameat,renameat2", 10),
    ("ftruncate", 6),
    ("unlink,unlinkat", 12),
    ("mkdir,mkdirat", 6),
    ("flock", 6),
    ("getdents64", 20),
    ("statx", 60),
    ("read,pread64", 60),
];

/// What it answers; none is a kill.
const ERRORS: [Option<&str>; 5] = [None, None, Some("EIO"), Some("ENOSPC"), Some("EMFILE")];

/// What the shell says of a program whose libraries could not be loaded: it never began.
const NEVER_BEGAN: i32 = 127;

/// Says whether there is something that makes calls fail.
pub(super) fn is_possible() -> bool {
    let tried = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    let is_there = tried.is_ok_and(|output| output.status.success());
    testkit::may_ask("strace", "apt-get install strace", is_there, testkit::is_ci())
}

/// Chooses a command and where the system fails under it; returns both as words of strace and of the program.
pub(super) fn choose(random: &mut Random) -> (Vec<String>, Words) {
    let (calls, count_max) = *random.pick(&CALLS);
    let what = random.pick(&ERRORS).map_or("signal=KILL".to_owned(), |error| format!("error={error}"));
    let inject = format!("inject={calls}:{what}:when={}", random.between(1, count_max));
    let words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}"), "-e", &inject];
    (words.map(str::to_owned).to_vec(), *random.pick(&COMMANDS))
}

/// Runs the command while the system fails, and again while it does not. `right` is what is answered when all
/// is done.
pub(super) fn fail(stage: &Stage, strace: &[String], command: &[&str], right: &[Run]) -> Result<(), String> {
    let words: Vec<&str> = strace.iter().map(String::as_str).collect();
    let refused = run(&mut stage.command(&words, command));
    let is_killed =
        refused.code.is_none_or(|code| code == 137) && words.iter().any(|word| word.contains("KILL"));
    let is_to_be_judged = !is_killed && refused.code != Some(NEVER_BEGAN);
    if let Some(fault) = ending(&refused).filter(|_| is_to_be_judged) {
        return Err(fault);
    }
    let check = stage.run(&["check", "--deep"]);
    if check.code != Some(0) {
        return Err(format!("after {}: check says {}", told(&refused), told(&check)));
    }
    for command in [command, &["index"], &["tag", "+marked", "--", "hello"], &["query", "late", "date:2024"]]
    {
        let again = stage.run(command);
        if again.code != Some(0) {
            return Err(format!("after {}: {command:?} says {}", told(&refused), told(&again)));
        }
    }
    let verdict = judge(&OF_MAIL, &ask(stage, &OF_MAIL), right);
    match verdict.right_count == right.len() {
        true => Ok(()),
        false => Err(format!("after {}: {}", told(&refused), verdict.faults.concat())),
    }
}
