//! Secrets of 256 bits, and how they are compared. Does not know what they open.

use crate::error::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::hint::black_box;
use std::io;

const SECRET_BYTES: usize = 32;

/// A secret of 256 bits. Nothing prints it, except for [`Secret::text`].
#[derive(Clone)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// Returns a new secret, from the system's random numbers.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn random() -> Result<Secret> {
        let mut bytes = [0; SECRET_BYTES];
        let mut rest: &mut [u8] = &mut bytes;
        while !rest.is_empty() {
            match rustix::rand::getrandom(&mut *rest, rustix::rand::GetRandomFlags::empty()) {
                Ok(count) => rest = rest.get_mut(count..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::Random(io::Error::from(error))),
            }
        }
        Ok(Secret(bytes))
    }

    /// Reads a secret.
    ///
    /// # Errors
    /// [`Error::Token`] if the text is not one.
    pub fn from_text(text: &str) -> Result<Secret> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Error::Token)?;
        bytes.try_into().map(Secret).map_err(|_| Error::Token)
    }

    /// Returns the secret in base64url, 43 characters.
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("Secret(..)")
    }
}

/// The SHA-256 of a secret's text, which is kept in its place.
#[derive(Clone)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(text: &str) -> Digest {
        Digest(Sha256::digest(text.as_bytes()).into())
    }

    /// Compares in constant time. Who sees how long it takes learns nothing, and could not choose the bytes
    /// of a digest anyway.
    pub(crate) fn is(&self, other: &Digest) -> bool {
        let differ =
            self.0.iter().zip(&other.0).fold(0, |differ, (one, two)| black_box(differ | (one ^ two)));
        differ == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_from_its_text_and_from_no_other() {
        let secret = Secret::random().unwrap();
        let text = secret.text();
        assert_eq!(text.len(), 43);
        assert_eq!(Secret::from_text(&text).unwrap().0, secret.0);
        for wrong in ["", &text[1..], &format!("{text}A"), &format!("{text}="), &"+".repeat(43)] {
            assert!(matches!(Secret::from_text(wrong), Err(Error::Token)), "{wrong}");
        }
        assert_ne!(Secret::random().unwrap().0, secret.0);
    }

    #[test]
    fn no_secret_is_printed() {
        let secret = Secret::from_text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn each_bit_of_a_digest_counts() {
        let digest = Digest::of("a");
        assert!(digest.is(&Digest::of("a")));
        for bit in 0..256 {
            let mut other = digest.clone();
            other.0[bit / 8] ^= 1 << (bit % 8);
            assert!(!digest.is(&other), "{bit}");
        }
    }
}
