//! Encryption: the key that seals everything, and the key files that a password opens.
//!
//! Does not depend on what is sealed.

pub(crate) mod key;
pub mod key_file;
pub(crate) mod password;
