//! What is said of one part of a message.

use crate::body::attachments::PartRole;

/// A part of a message that has content of its own: everything except multiparts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartInfo {
    /// Its number, from 1, in the order of the message.
    pub number: usize,
    /// How many messages and signed or compressed parts (S/MIME) it is inside.
    pub depth: usize,
    /// Type and subtype in lower case.
    pub mime: String,
    /// The file name given by the sender, or empty. Never use it as a path.
    pub name: String,
    /// Of a nested message, its subject.
    pub subject: String,
    /// The size of the decoded content; `None` if the content is not kept, see `LARGE_NESTED_BYTES_MAX`.
    pub size_bytes: Option<u64>,
    /// Its role in the message.
    pub role: PartRole,
    /// Whether it is a nested message, which contains the parts that follow with a greater depth.
    pub is_message: bool,
    /// Its transfer encoding is damaged. What can be decoded is its content.
    pub is_damaged: bool,
}
