//! What errors of the libraries mean for the exit code. docs/OUTPUT.md lists the codes.

use terminal::exit::Meaning;

/// The codes that restic has for the same errors.
const NO_REPOSITORY: u8 = 10;
const LOCKED: u8 = 11;
const WRONG_PASSWORD: u8 = 12;

/// Returns what an error means.
pub(crate) fn of(error: &anyhow::Error) -> Meaning {
    match (error.downcast_ref(), error.downcast_ref(), error.downcast_ref()) {
        (Some(restic::Error::Interrupted), _, _)
        | (_, Some(index::Error::Interrupted), _)
        | (_, _, Some(backup::Error::Interrupted)) => Meaning::Interrupted,
        (Some(restic::Error::NoRepository { .. }), _, _) => Meaning::Code(NO_REPOSITORY),
        (Some(restic::Error::Locked { .. }), _, _) => Meaning::Code(LOCKED),
        (Some(restic::Error::WrongPassword { .. }), _, _) => Meaning::Code(WRONG_PASSWORD),
        (_, Some(index::Error::NoSuchMessage { .. }), _) => Meaning::NotFound,
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
        assert_eq!(meaning(restic::Error::NoRepository { address: address() }.into()), Meaning::Code(10));
        assert_eq!(meaning(restic::Error::NoConfig { address: address() }.into()), Meaning::Failure);
        let locked = restic::Error::Locked { address: address(), by: "ana".into() };
        assert_eq!(meaning(locked.into()), Meaning::Code(11));
        assert_eq!(meaning(restic::Error::WrongPassword { address: address() }.into()), Meaning::Code(12));
        assert_eq!(meaning(restic::Error::LockLost { address: address() }.into()), Meaning::Failure);
        assert_eq!(meaning(index::Error::NoSuchMessage { handle: "id:x".into() }.into()), Meaning::NotFound);
        assert_eq!(meaning(restic::Error::Interrupted.into()), Meaning::Interrupted);
        assert_eq!(meaning(index::Error::Interrupted.into()), Meaning::Interrupted);
        assert_eq!(meaning(backup::Error::from(restic::Error::Interrupted).into()), Meaning::Interrupted);
        assert_eq!(meaning(backup::Error::Interrupted.into()), Meaning::Interrupted);
    }
}
