//! A password that is never printed and is wiped from memory after use.

use std::fmt::{Debug, Formatter};
use zeroize::Zeroizing;

/// The password of a repository. It is wiped from memory when it is dropped, and never printed.
pub struct Password(Zeroizing<Vec<u8>>);

impl Password {
    /// Takes the password. All bytes count: the caller removes a newline at the end first.
    pub fn new(bytes: Vec<u8>) -> Password {
        Password(Zeroizing::new(bytes))
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its bytes, for the function that derives a key from them.
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
