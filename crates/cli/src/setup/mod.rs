//! The configuration file: written for the user, adopted from a backup, or found next to restored mail.
//!
//! What a configuration may say and where mail is looked for is in the library's `pneu::setup`.

pub(crate) mod adopt;
pub(crate) mod configuration_file;
pub(crate) mod restored;
