//! Maildirs on disk: finds folders, reads directories, reads message files with their flags, and stores new
//! ones.
//!
//! Used by the other crates through `lib.rs`, and by `large`, which reads the same files in pieces. Nothing
//! here knows what is in a message.

pub(crate) mod compression;
pub(crate) mod deliver;
pub(crate) mod file_name;
pub(crate) mod find;
pub(crate) mod flags;
pub(crate) mod folder;
pub(crate) mod folder_name;
pub(crate) mod keywords;
pub(crate) mod link;
pub(crate) mod message_file;
pub(crate) mod path;
pub(crate) mod relocate;
pub(crate) mod renamed;
pub(crate) mod scan;
pub(crate) mod stamp;
pub(crate) mod unique_name;
pub(crate) mod walk;
