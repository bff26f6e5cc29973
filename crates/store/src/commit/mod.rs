//! What a commit writes besides segments: the manifest, the journal and the dead rows.
//!
//! Readers and writers of a store use it. It encodes and decodes; it does not decide the order of writes.

pub(crate) mod dead;
pub(crate) mod journal;
pub(crate) mod manifest;
pub(crate) mod manifest_file;
