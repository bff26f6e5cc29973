//! Reads again what looks damaged.
//!
//! A cable, a controller or a proxy may change bytes on their way from a storage. So nothing is reported as
//! damaged before it was read several times. All code that verifies bytes of a storage reads them through
//! this module.

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};

/// How often something is read before it is reported as damaged. With one bad answer in five, more than any
/// usable line has, one read in 125 is bad every time.
pub(crate) const READ_COUNT_MAX: u32 = 3;

/// Returns what `read` returns. Calls it again while it finds damage.
///
/// # Errors
/// The last damage, or any other error of `read`.
pub(crate) fn verified<T>(mut read: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..READ_COUNT_MAX {
        match read() {
            Err(Error::Damage { .. }) => {}
            other => return other,
        }
    }
    read()
}

/// Checks that a file is what its name says. The config has no such name.
pub(crate) fn verify_name(name: FileName, bytes: &[u8]) -> Result<()> {
    if name.kind != FileKind::Config && Id::of(bytes) != name.id {
        return Err(Error::damage(name, "its content does not match its name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(answers: [Result<u32>; 4]) -> (std::result::Result<u32, String>, usize) {
        let mut left = answers.into_iter();
        let result = verified(|| left.next().unwrap());
        (result.map_err(|error| error.to_string()), 4 - left.len())
    }

    #[test]
    fn only_damage_is_read_again_and_the_last_one_is_told() {
        let bad = |what: &str| Err(Error::damage("a", what));
        let gone = || Err(Error::NoBlob { what: "tree 1".to_owned() });
        assert_eq!(reads([Ok(1), Ok(2), Ok(3), Ok(4)]), (Ok(1), 1));
        assert_eq!(reads([bad("1"), bad("2"), Ok(3), Ok(4)]), (Ok(3), 3));
        assert_eq!(
            reads([bad("1"), bad("2"), bad("3"), Ok(4)]),
            (Err("a is damaged: 3".to_owned()), READ_COUNT_MAX as usize)
        );
        assert_eq!(reads([bad("1"), gone(), Ok(3), Ok(4)]), (Err("tree 1 is in no index".to_owned()), 2));
    }
}
