//! Runs a command on the content of a part: the content is its standard input, the text its output.
//!
//! Input: a command of the configuration, bytes, limits. Output: what it printed, or why there is none. The
//! command is run by /bin/sh, which sets limits on memory and processor time before it. Does not know
//! messages.

use crate::attachments::programs::test_script;
use crate::child::{self, Bounds, Talk};
use std::ffi::OsString;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The exit codes with which a shell says that it could not run a command.
const CANNOT_BE_RUN: [i32; 2] = [126, 127];
/// How long it may take to find out whether programs are there.
const TEST_TIME: Duration = Duration::from_secs(10);

/// Limits of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// When it is killed.
    pub end: Instant,
    /// Most seconds that one process may compute.
    pub cpu_seconds: u64,
    /// Most memory (address space) of one process.
    pub memory_mib: u64,
    /// Most bytes of output.
    pub output_bytes: usize,
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program<'a> {
    /// A command for the shell.
    pub command: &'a str,
    /// Its environment.
    pub variables: &'a [(OsString, OsString)],
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// It printed this.
    Text(Vec<u8>),
    /// It printed more than this, and was killed.
    Cut(Vec<u8>),
    /// It ended with an error.
    Failed,
    /// It took too long, and was killed.
    Slow,
    /// The shell was not started, or says that a program was not.
    NotStarted,
    /// It was killed because all work stops.
    Stopped,
}

/// Returns whether the programs that a command names are there, as far as that can be told.
pub(super) fn is_there(program: Program<'_>, limits: &Limits, is_stopped: &dyn Fn() -> bool) -> bool {
    let script = test_script(program.command);
    let limits = Limits { end: Instant::now() + TEST_TIME, ..*limits };
    let ran = run(Program { command: &script, ..program }, &[], &limits, is_stopped);
    !matches!(ran, Ran::Failed | Ran::NotStarted)
}

/// Runs a command.
pub(super) fn run(program: Program<'_>, input: &[u8], limits: &Limits, is_stopped: &dyn Fn() -> bool) -> Ran {
    let Ok(child) = spawn(program, limits) else { return Ran::NotStarted };
    let bounds = Bounds { end: limits.end, output_bytes: limits.output_bytes };
    match child::finish(child, input, &bounds, is_stopped) {
        (Talk::Ended(text), Ok(status)) if status.success() => Ran::Text(text),
        (Talk::Ended(_), Ok(status)) if status.code().is_some_and(|code| CANNOT_BE_RUN.contains(&code)) => {
            Ran::NotStarted
        }
        (Talk::Ended(_) | Talk::Failed, _) => Ran::Failed,
        (Talk::Cut(text), _) => Ran::Cut(text),
        (Talk::Slow, _) => Ran::Slow,
        (Talk::Stopped, _) => Ran::Stopped,
    }
}

fn spawn(Program { command, variables }: Program<'_>, limits: &Limits) -> std::io::Result<Child> {
    let script = child::limits_script(limits.memory_mib, limits.cpu_seconds) + command + "\n";
    let mut shell = Command::new("/bin/sh");
    shell
        .env_clear()
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .args(["-c", &script])
        .current_dir("/");
    child::start(&mut shell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::io::{BufRead, Read};

    const LONG: Duration = Duration::from_secs(600);

    fn limits() -> Limits {
        Limits { end: Instant::now() + LONG, cpu_seconds: 600, memory_mib: 512, output_bytes: 1 << 20 }
    }

    fn program(command: &str) -> Program<'_> {
        Program { command, variables: &[] }
    }

    fn ran(command: &str, input: &[u8]) -> Ran {
        run(program(command), input, &limits(), &|| false)
    }

    #[test]
    fn a_command_gets_the_content_and_nothing_else() {
        assert_eq!(ran("cat", b"a\0b"), Ran::Text(b"a\0b".to_vec()));
        assert_eq!(ran("tr a b | tr b c", b"aa"), Ran::Text(b"cc".to_vec()));
        assert_eq!(ran("echo $# $0; pwd", b"x"), Ran::Text(b"0 /bin/sh\n/\n".to_vec()));
        // More than pipes hold, in both directions; and input that nobody reads.
        let much = vec![b'x'; 900 << 10];
        assert_eq!(ran("cat", &much), Ran::Text(much.clone()));
        assert_eq!(ran("echo y", &much), Ran::Text(b"y\n".to_vec()));
    }

    #[test]
    fn a_command_that_fails_has_no_text() {
        assert_eq!(ran("echo x; exit 3", b""), Ran::Failed);
        assert_eq!(ran("echo x; kill -SEGV $$", b""), Ran::Failed);
        assert_eq!(ran("/nowhere/program", b""), Ran::NotStarted);
        assert_eq!(ran("nowhere-program x", b""), Ran::NotStarted);
        assert_eq!(ran("if", b""), Ran::Failed);
    }

    #[test]
    fn a_program_that_is_missing_is_seen_wherever_it_stands() {
        let there = |command: &str| is_there(program(command), &limits(), &|| false);
        for good in ["cat", "X=1 /bin/cat -", "if true; then cat; fi", "cat | tr a b; exit 127", "(nowhere)"]
        {
            assert!(there(good), "{good}");
        }
        for bad in
            ["nowhere-program -", "nowhere-program | cat", "cat | /nowhere/program", "/etc/passwd", "/"]
        {
            assert!(!there(bad), "{bad}");
        }
    }

    #[test]
    fn a_command_has_the_environment_that_it_is_given() {
        let variables = [("PATH".into(), "/usr/bin:/bin".into()), ("LANG".into(), "x y".into())];
        let program = Program { command: "echo $LANG $HOME; env | grep -c HOME", variables: &variables };
        // `env` has nothing to tell of HOME, so `grep` fails.
        assert_eq!(run(program, b"", &limits(), &|| false), Ran::Failed);
        let program = Program { command: "echo \"$LANG$HOME\"", variables: &variables };
        assert_eq!(run(program, b"", &limits(), &|| false), Ran::Text(b"x y\n".to_vec()));
    }

    #[test]
    fn a_command_that_hangs_or_prints_without_end_is_killed() {
        let now = Limits { end: Instant::now() + Duration::from_millis(20), ..limits() };
        assert_eq!(run(program("sleep 1000"), b"", &now, &|| false), Ran::Slow);
        let now = Limits { end: Instant::now() + Duration::from_millis(20), ..limits() };
        assert_eq!(run(program("exec >&-; sleep 1000"), b"", &now, &|| false), Ran::Slow);
        let few = Limits { output_bytes: 10, ..limits() };
        assert_eq!(run(program("yes abc"), b"", &few, &|| false), Ran::Cut(b"abc\nabc\nab".to_vec()));
        let exact = Limits { output_bytes: 2, ..limits() };
        assert_eq!(run(program("echo x"), b"", &exact, &|| false), Ran::Text(b"x\n".to_vec()));
    }

    #[test]
    fn a_command_has_no_more_memory_than_it_may() {
        // `tail` keeps the last line.
        let command = "head -c 300000000 /dev/zero | tail -n 1 | wc -c";
        assert_eq!(ran(&command.replace("300000000", "30"), b""), Ran::Text(b"30\n".to_vec()));
        let few = Limits { memory_mib: 64, ..limits() };
        let Ran::Text(text) = run(program(command), b"", &few, &|| false) else { panic!("wc ends well") };
        assert_ne!(text, b"300000000\n");
    }

    /// The pipe has its end only when all processes that have it are gone.
    #[test]
    fn all_processes_of_a_command_are_killed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let command = format!("exec 5>'{}'; sleep 1000 & echo ready >&5; wait", path.display());
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut pipe = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
                let mut text = String::new();
                pipe.read_line(&mut text).unwrap();
                tell.send(()).unwrap();
                pipe.read_to_string(&mut text).unwrap();
                text
            });
            let is_ready = Cell::new(false);
            let is_stopped = || {
                is_ready.set(is_ready.get() || told.try_recv().is_ok());
                is_ready.get()
            };
            assert_eq!(run(program(&command), b"", &limits(), &is_stopped), Ran::Stopped);
            assert_eq!(reader.join().unwrap(), "ready\n");
        });
    }
}
