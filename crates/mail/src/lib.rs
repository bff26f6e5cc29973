//! What a Maildir and a message are.
//!
//! Comes in: directories, and the bytes of message files. Goes out: folders, names, stamps, and messages taken apart. This crate
//! must not know how any of it is kept.

mod addresses;
mod attachments;
mod base64;
mod bodies;
mod body_hash;
mod boundary;
mod bytes;
mod charset;
mod cms;
mod content;
mod copy_hash;
mod dates;
mod derived;
mod error;
mod extended;
mod far;
mod flags;
mod folder;
mod folder_name;
mod forms;
mod headers;
mod hidden;
mod html;
mod html_part;
mod ids;
mod keywords;
mod language;
mod large;
mod link;
mod mailbox;
mod message;
mod name;
mod part_text;
mod parts;
mod problem;
mod read;
mod scan;
mod shifted;
mod snippet;
mod stamp;
mod transfer;
mod unpack;
mod utf7;
mod walk;
mod words;

pub mod limits;

pub use attachments::Attachment;
pub use bodies::OtherForm;
pub use dates::DateSource;
pub use derived::Derived;
pub use error::{Error, Result};
pub use flags::Flags;
pub use folder::{
    Folder, FolderLimits, FolderProblem, FolderProblemKind, Folders, find_folders, find_folders_within,
    folders_left_out, join,
};
pub use folder_name::readable_folder;
pub use forms::Preferred;
pub use html_part::html_part;
pub use keywords::{
    KEYWORD_COUNT_MAX, KEYWORDS_FILE, KEYWORDS_FILE_BYTES_MAX, keyword_names, read_keyword_names,
};
pub use large::{Extent, Large};
pub use link::Boundary;
pub use mailbox::Address;
pub use message::{Context, Message, parse};
pub use name::{Name, SizeHints, is_draft, name_seconds, parse_name, size_hints, with_flags, without_field};
pub use problem::{MESSAGE_CUT, Problem, is_problem_kind, problem_group, problem_groups};
pub use read::{Content, read_message, read_message_into};
pub use scan::{Directory, Entry, EntryKind, Fingerprint, ScanBuffer, entry_hash, read_directory};
pub use stamp::{FileStat, RACY_NS, Stamp, stat_directory, stat_file};
pub use unpack::{Compression, Unpacked, unpack};
