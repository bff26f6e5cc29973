//! Exit codes: the only place that knows them. docs/OUTPUT.md lists them.
//!
//! In: how a command ended. Out: the code of the process. Must not know what any command does.

use std::io;
use std::process::ExitCode;

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It found something, or did all there was to do.
    Done,
    /// It found nothing.
    Nothing,
    /// It found damage.
    Damaged,
    /// It did what it could; some input could not be read.
    Partly,
    /// Ctrl-C, or another signal that asks for an end, ended it.
    Interrupted,
}

const DONE: u8 = 0;
const NOTHING: u8 = 1;
const FAILED: u8 = 2;
const PARTLY: u8 = 3;
/// What restic's exit codes are, too.
const NO_REPOSITORY: u8 = 10;
const LOCKED: u8 = 11;
const WRONG_PASSWORD: u8 = 12;
/// What shells add to the number of the signal that ended a process: 130 is Ctrl-C.
const SIGNALLED: u8 = 128;

/// Nothing was found, and why is worth a sentence.
#[derive(Debug)]
pub(crate) struct NotFound(pub String);

impl std::fmt::Display for NotFound {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotFound {}

/// Returns the code for how a command ended; `interrupted` if a signal ended it.
pub(crate) fn code(result: &anyhow::Result<Outcome>, interrupted: u8) -> ExitCode {
    ExitCode::from(number(result, interrupted))
}

/// Returns the code of a process that a signal ended.
pub(crate) fn of_signal(signal: i32) -> u8 {
    u8::try_from(signal).ok().and_then(|signal| SIGNALLED.checked_add(signal)).unwrap_or(u8::MAX)
}

/// Prints help, the version, or what is wrong with the arguments, and returns the code for it.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Where not even this can be printed, nobody is left to tell.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { FAILED } else { DONE })
}

/// Says whether whoever read our output has gone, which is no error.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Says whether a signal ended what was being done.
fn is_interrupted(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(archive::Error::Interrupted))
        || matches!(error.downcast_ref(), Some(index::Error::Interrupted))
        || matches!(error.downcast_ref(), Some(backup::Error::Interrupted))
}

fn number(result: &anyhow::Result<Outcome>, interrupted: u8) -> u8 {
    match result {
        Ok(Outcome::Done) => DONE,
        Ok(Outcome::Nothing) => NOTHING,
        Ok(Outcome::Damaged) => FAILED,
        Ok(Outcome::Partly) => PARTLY,
        Ok(Outcome::Interrupted) => interrupted,
        Err(error) if is_closed_pipe(error) => DONE,
        Err(error) if is_interrupted(error) => interrupted,
        Err(error) if error.is::<NotFound>() => NOTHING,
        Err(error) if matches!(error.downcast_ref(), Some(index::Error::NoSuchMessage { .. })) => NOTHING,
        Err(error) => match error.downcast_ref() {
            Some(archive::Error::NoRepository { .. }) => NO_REPOSITORY,
            Some(archive::Error::Locked { .. }) => LOCKED,
            Some(archive::Error::WrongPassword { .. }) => WRONG_PASSWORD,
            _ => FAILED,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Unwritable;

    #[test]
    fn every_ending_has_its_code() {
        let failed = |error: anyhow::Error| number(&Err(error), 143);
        assert_eq!(number(&Ok(Outcome::Done), 143), 0);
        assert_eq!(number(&Ok(Outcome::Nothing), 143), 1);
        assert_eq!(number(&Ok(Outcome::Damaged), 143), 2);
        assert_eq!(number(&Ok(Outcome::Partly), 143), 3);
        assert_eq!(number(&Ok(Outcome::Interrupted), 143), 143);
        assert_eq!(failed(anyhow::anyhow!("no")), 2);
        assert_eq!(failed(NotFound("none".into()).into()), 1);
        let address = || "/repo".to_owned();
        assert_eq!(failed(archive::Error::NoRepository { address: address() }.into()), 10);
        assert_eq!(failed(archive::Error::NoConfig { address: address() }.into()), 2);
        assert_eq!(failed(archive::Error::Locked { address: address(), by: "ana".into() }.into()), 11);
        assert_eq!(failed(archive::Error::WrongPassword { address: address() }.into()), 12);
        assert_eq!(failed(archive::Error::LockLost { address: address() }.into()), 2);
        assert_eq!(failed(index::Error::NoSuchMessage { handle: "id:x".into() }.into()), 1);
        assert_eq!(failed(archive::Error::Interrupted.into()), 143);
        assert_eq!(failed(index::Error::Interrupted.into()), 143);
        assert_eq!(failed(backup::Error::from(archive::Error::Interrupted).into()), 143);
        assert_eq!(failed(backup::Error::Interrupted.into()), 143);
        assert_eq!([1, 2, 15, 500, -1].map(of_signal), [129, 130, 143, 255, 255]);
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is_one() {
        let unwritable = |kind| anyhow::Error::from(Unwritable(io::Error::from(kind)));
        assert_eq!(number(&Err(unwritable(io::ErrorKind::BrokenPipe)), 143), 0);
        assert_eq!(number(&Err(unwritable(io::ErrorKind::StorageFull)), 143), 2);
    }
}
