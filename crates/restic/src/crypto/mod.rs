//! Encryption: the key that seals everything, and the key files that a password opens.
//!
//! Knows nothing of what is sealed.

pub(crate) mod key;
pub mod key_file;
pub(crate) mod password;
