//! Imports mail that other programs keep in files of their own: mbox files, MH folders, message files.
//!
//! Input: files, directories or a stream, and a folder. Output: messages in that folder and below it,
//! indexed, with their flags and tags. A message is there once: a second import of the same files, or one
//! after a crash, adds only what is missing. `mail` reads the files; what is where is decided here.

mod known;
mod model;
mod own;
mod run;
mod sources;
mod tags;
mod take;
mod targets;

pub use model::{ImportCounts, ImportedFolder, MailImportOptions, MailImported, MailInput};
