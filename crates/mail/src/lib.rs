//! Reads Maildirs, stores messages in them, and parses messages.
//!
//! Input: directories, and the bytes of message files. Output: folders, file names, flags and stamps, and
//! parsed messages. This crate does not depend on how any of it is stored.

mod body;
mod bytes;
mod calendar;
mod compose;
mod decode;
mod email;
mod error;
mod extract;
mod hash;
mod header;
mod import;
mod large;
mod maildir;
mod message;
mod mime;
mod problem;
mod text;

pub mod limits;

pub use body::alternatives::PreferredAlternative;
pub use body::attachments::{Attachment, PartRole};
pub use body::html_part::html_part;
pub use body::read::OtherForm;
pub use calendar::event::{Calendar, CalendarEvent, Guest, Moment, MomentZone, read_calendar};
pub use compose::{NewContent, NewPart, NewValue, compose, is_field_name, is_field_text};
pub use email::field::{HeaderField, ZonedDate};
pub use email::form::HeaderForm;
pub use email::part::BodyPart;
pub use email::structure::Email;
pub use email::value::BodyValue;
pub use error::{Error, Result};
pub use extract::info::PartInfo;
pub use extract::parts::{MessageParts, PartRead, PartText};
pub use header::addresses::AddressGroup;
pub use header::block::without_fields;
pub use header::dates::DateSource;
pub use header::mailbox::Address;
pub use import::batch::{BATCH_BYTES_MAX, BATCH_COUNT_MAX, Batch, Place, Written};
pub use import::draft::{DRAFT_BYTES_MAX, Draft};
pub use import::marks::{LABELS_MAX, Marks, marks};
pub use import::mbox::{CONTENT_LENGTH_MAX, Dialect, Envelope, Mbox};
pub use import::open::{ContentKind, Opened, open_file, open_stream};
pub use import::state::own_message_id;
pub use import::tree::{
    DEPTH_MAX as IMPORT_DEPTH_MAX, FILE_COUNT_MAX as IMPORT_FILE_COUNT_MAX, MailSource, MailTree,
    find_mail_files,
};
pub use large::{Extent, Identity, LargeMessage};
pub use maildir::compression::{Compression, Unpacked, unpack, unpacked};
pub use maildir::deliver::{
    create_directory, create_folder, deliver, host_name, rename_to_new, sync_directory,
};
pub use maildir::file_name::{
    Name, SizeHints, is_draft, name_seconds, name_uid, parse_name, size_hints, with_flags, without_field,
};
pub use maildir::find::{find_folders, find_folders_within, folders_left_out, look_at_folder};
pub use maildir::flags::Flags;
pub use maildir::folder::{Folder, FolderLimits, FolderProblem, FolderProblemKind, Folders};
pub use maildir::folder_name::{encoded_folder, readable_folder};
pub use maildir::keywords::{
    KEYWORD_COUNT_MAX, KEYWORDS_FILE, KEYWORDS_FILE_BYTES_MAX, keyword_names, read_keyword_names,
};
pub use maildir::link::RootBoundary;
pub use maildir::message_file::{FileContent, read_message, read_message_into};
pub use maildir::path::join;
pub use maildir::relocate::{
    copy_file, files_by_inode, have_same_bytes, move_file, name_elsewhere, rename_directory, stat_entry,
};
pub use maildir::renamed::{find_renamed, names_by_unique_part};
pub use maildir::scan::{Directory, Entry, EntryKind, Fingerprint, ScanBuffer, entry_hash, read_directory};
pub use maildir::stamp::{FileStat, RACY_NS, Stamp, stat_directory, stat_file};
pub use maildir::unique_name::{UniqueParts, unique_name};
pub use maildir::walk::is_folder_setting;
pub use message::content_flags::ContentFlags;
pub use message::model::{Context, Message};
pub use message::parse::parse;
pub use mime::protected::{Protected, ProtectedContent, Protection, protected_contents};
pub use mime::protected_header::{HeaderDifference, header_differences, protected_fields};
pub use problem::{MESSAGE_CUT, Problem, is_problem_kind, problem_group, problem_groups, problem_kinds};
pub use text::links::{Link, LinkList, Links};
