//! A password, kept so that it is never printed and is gone from memory after use.
//!
//! Comes in: what the user typed. Goes out: its bytes, to the function that makes a key of them. Must not know where it came from.

use std::fmt::{Debug, Formatter};
use zeroize::Zeroizing;

/// The password of a repository. It is gone from memory when it is dropped, and prints nothing of itself.
pub struct Password(Zeroizing<Vec<u8>>);

impl Password {
    /// Takes the password. It is used byte by byte: a line's end that came with it has to be taken off before.
    pub fn new(bytes: Vec<u8>) -> Password {
        Password(Zeroizing::new(bytes))
    }

    /// Says whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its bytes. Only the function that makes a key of them may see them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Debug for Password {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Password")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_nothing_of_itself() {
        let password = Password::new(b"secret".to_vec());
        assert_eq!((format!("{password:?}").as_str(), password.is_empty()), ("Password", false));
        assert_eq!(password.bytes(), b"secret");
        assert!(Password::new(Vec::new()).is_empty());
    }
}
