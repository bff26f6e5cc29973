//! Exit codes. docs/OUTPUT.md lists them.
//!
//! Turns the end of a command into the exit code of the process. The program defines the meaning of its own
//! errors: see [`Meaning`].

#[cfg(target_env = "musl")]
use crate::allocator;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It found something, or did everything.
    Done,
    /// It found nothing.
    Nothing,
    /// It found damage.
    Damaged,
    /// It did what it could; some input could not be read.
    Partly,
    /// Ctrl-C, SIGTERM or SIGHUP ended it.
    Interrupted,
}

const DONE: u8 = 0;
const NOTHING: u8 = 1;
const FAILED: u8 = 2;
const PARTLY: u8 = 3;
/// The number that shells add to the signal that ended a process: 130 is Ctrl-C.
const SIGNALLED: u8 = 128;

/// Nothing was found, with a sentence that says why.
#[derive(Debug)]
pub struct NotFound(pub String);

impl std::fmt::Display for NotFound {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotFound {}

/// The meaning of an error for the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The command failed.
    Failure,
    /// Something that was asked for does not exist.
    NotFound,
    /// A signal ended the command.
    Interrupted,
    /// The command failed in a way that has a code of its own.
    Code(u8),
}

/// Returns the code for how a command ended. `interrupted` is the code if a signal ended it; `meaning` says
/// what an error of the program's libraries means.
pub fn code(
    result: &anyhow::Result<Outcome>,
    interrupted: u8,
    meaning: impl Fn(&anyhow::Error) -> Meaning,
) -> ExitCode {
    ExitCode::from(number(result, interrupted, meaning))
}

/// Ends the process of a static program with the code that [`code`] returns; of other programs, returns it.
///
/// A static program would give its memory back piece by piece before it ends, which takes up to a
/// millisecond. Everything that has to be written must be written: nothing else runs.
pub fn end(
    result: &anyhow::Result<Outcome>,
    interrupted: u8,
    meaning: impl Fn(&anyhow::Error) -> Meaning,
) -> ExitCode {
    let number = number(result, interrupted, meaning);
    // An error was told when the output was finished.
    let _ = io::stdout().flush();
    #[cfg(target_env = "musl")]
    allocator::end(number);
    #[cfg(not(target_env = "musl"))]
    ExitCode::from(number)
}

/// Returns the code of a process that a signal ended.
pub fn of_signal(signal: i32) -> u8 {
    u8::try_from(signal).ok().and_then(|signal| SIGNALLED.checked_add(signal)).unwrap_or(u8::MAX)
}

/// Prints help, the version, or what is wrong with the arguments, and returns the code for it.
pub fn usage(error: &clap::Error) -> ExitCode {
    // If even this cannot be printed, no message is possible.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { FAILED } else { DONE })
}

/// Returns whether the reader of the output closed the pipe, which is not an error.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

fn number(
    result: &anyhow::Result<Outcome>,
    interrupted: u8,
    meaning: impl Fn(&anyhow::Error) -> Meaning,
) -> u8 {
    match result {
        Ok(Outcome::Done) => DONE,
        Ok(Outcome::Nothing) => NOTHING,
        Ok(Outcome::Damaged) => FAILED,
        Ok(Outcome::Partly) => PARTLY,
        Ok(Outcome::Interrupted) => interrupted,
        Err(error) if is_closed_pipe(error) => DONE,
        Err(error) if error.is::<NotFound>() => NOTHING,
        Err(error) => match meaning(error) {
            Meaning::Failure => FAILED,
            Meaning::NotFound => NOTHING,
            Meaning::Interrupted => interrupted,
            Meaning::Code(code) => code,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Unwritable;

    #[test]
    fn every_ending_has_its_code() {
        let of = |result: &anyhow::Result<Outcome>| number(result, 143, |_| Meaning::Failure);
        assert_eq!(of(&Ok(Outcome::Done)), 0);
        assert_eq!(of(&Ok(Outcome::Nothing)), 1);
        assert_eq!(of(&Ok(Outcome::Damaged)), 2);
        assert_eq!(of(&Ok(Outcome::Partly)), 3);
        assert_eq!(of(&Ok(Outcome::Interrupted)), 143);
        assert_eq!(of(&Err(anyhow::anyhow!("no"))), 2);
        assert_eq!(of(&Err(NotFound("none".into()).into())), 1);
        assert_eq!([1, 2, 15, 500, -1].map(of_signal), [129, 130, 143, 255, 255]);
    }

    #[test]
    fn a_program_says_what_its_errors_mean() {
        for (meaning, expected) in [
            (Meaning::Failure, 2),
            (Meaning::NotFound, 1),
            (Meaning::Interrupted, 143),
            (Meaning::Code(11), 11),
        ] {
            assert_eq!(number(&Err(anyhow::anyhow!("no")), 143, |_| meaning), expected);
        }
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is_one() {
        let of = |kind| {
            let unwritable = anyhow::Error::from(Unwritable(io::Error::from(kind)));
            number(&Err(unwritable), 143, |_| Meaning::Failure)
        };
        assert_eq!(of(io::ErrorKind::BrokenPipe), 0);
        assert_eq!(of(io::ErrorKind::StorageFull), 2);
    }
}
