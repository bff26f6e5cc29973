//! What errors of the libraries mean for the exit code. docs/OUTPUT.md lists the codes.

use pneu::{FileError, TokenFault};
use terminal::exit::Meaning;

/// The codes that restic has for the same errors.
const NO_REPOSITORY: u8 = 10;
const LOCKED: u8 = 11;
const WRONG_PASSWORD: u8 = 12;

/// A token of `pneu changes` that cannot be used any more.
const TOKEN_EXPIRED: u8 = 4;

/// `EX_TEMPFAIL` of sysexits.h: a mail server keeps the message and tries again.
const TRY_AGAIN: u8 = 75;

/// Marks an error of a delivery.
#[derive(Debug)]
pub(crate) struct NotDelivered;

impl std::fmt::Display for NotDelivered {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the message was not delivered")
    }
}

impl std::error::Error for NotDelivered {}

/// Returns what an error means.
pub(crate) fn of(error: &anyhow::Error) -> Meaning {
    if let Some(NotDelivered) = error.downcast_ref() {
        Meaning::Code(TRY_AGAIN)
    } else if let Some(error) = error.downcast_ref() {
        of_library(error)
    } else if let Some(error) = error.downcast_ref() {
        of_repository(error)
    } else {
        match (error.downcast_ref(), error.downcast_ref()) {
            (Some(index::Error::Interrupted), _) | (_, Some(backup::Error::Interrupted)) => {
                Meaning::Interrupted
            }
            _ => Meaning::Failure,
        }
    }
}

fn of_library(error: &pneu::Error) -> Meaning {
    match error {
        pneu::Error::Cancelled => Meaning::Interrupted,
        pneu::Error::NoMatch { .. }
        | pneu::Error::File(FileError::Absent { .. })
        | pneu::Error::Index(index::Error::NoSuchMessage { .. }) => Meaning::NotFound,
        pneu::Error::Index(index::Error::Token { fault }) if *fault != TokenFault::Malformed => {
            Meaning::Code(TOKEN_EXPIRED)
        }
        pneu::Error::Repository(error) => of_repository(error),
        _ => Meaning::Failure,
    }
}

fn of_repository(error: &restic::Error) -> Meaning {
    match error {
        restic::Error::Interrupted => Meaning::Interrupted,
        restic::Error::NoRepository { .. } => Meaning::Code(NO_REPOSITORY),
        restic::Error::Locked { .. } => Meaning::Code(LOCKED),
        restic::Error::WrongPassword { .. } => Meaning::Code(WRONG_PASSWORD),
        _ => Meaning::Failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_libraries_have_their_codes() {
        let address = || "/repo".to_owned();
        let meaning = |error: anyhow::Error| of(&error);
        assert_eq!(meaning(anyhow::anyhow!("no")), Meaning::Failure);
        assert_eq!(meaning(anyhow::anyhow!("no").context(NotDelivered)), Meaning::Code(75));
        assert_eq!(meaning(restic::Error::NoRepository { address: address() }.into()), Meaning::Code(10));
        assert_eq!(meaning(restic::Error::NoConfig { address: address() }.into()), Meaning::Failure);
        let locked = restic::Error::Locked { address: address(), by: "ana".into() };
        assert_eq!(meaning(locked.into()), Meaning::Code(11));
        assert_eq!(meaning(restic::Error::WrongPassword { address: address() }.into()), Meaning::Code(12));
        assert_eq!(meaning(restic::Error::LockLost { address: address() }.into()), Meaning::Failure);
        let no_message = index::Error::NoSuchMessage { handle: "id:x".into() };
        assert_eq!(meaning(pneu::Error::from(no_message).into()), Meaning::NotFound);
        assert_eq!(meaning(pneu::Error::NoMatch { handle: "x".into() }.into()), Meaning::NotFound);
        let absent = FileError::Absent { name: "id:x".into() };
        assert_eq!(meaning(pneu::Error::from(absent).into()), Meaning::NotFound);
        let locked = restic::Error::Locked { address: address(), by: "ana".into() };
        assert_eq!(meaning(pneu::Error::from(locked).into()), Meaning::Code(11));
        assert_eq!(meaning(restic::Error::Interrupted.into()), Meaning::Interrupted);
        assert_eq!(meaning(index::Error::Interrupted.into()), Meaning::Interrupted);
        assert_eq!(meaning(pneu::Error::Cancelled.into()), Meaning::Interrupted);
        assert_eq!(meaning(backup::Error::from(restic::Error::Interrupted).into()), Meaning::Interrupted);
        assert_eq!(meaning(backup::Error::Interrupted.into()), Meaning::Interrupted);
    }
}
