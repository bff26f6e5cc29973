//! Turns mail into rows and text, and answers queries.
//!
//! Input: roots with Maildirs, and queries. Output: an index that follows the disk, and the messages found in
//! it. Joins `mail`, which knows what a message is, and `store`, which knows how rows are stored. Must not
//! know terminals or HTTP. docs/FORMAT.md describes the formats.

mod archive;
mod attached;
mod changes;
mod check;
mod edges;
mod environment;
mod error;
mod first;
mod names;
mod open;
mod opened;
mod overlap;
mod pass;
mod rebuild;
mod record;
mod remedy;
mod rows;
mod search;
mod set;
mod state;
mod sweep;
mod tables;
mod text;
mod threaded;
mod user;

pub use archive::{Archive, ArchivedFile, NoArchive, ReadableArchive};
pub use attached::{AttachmentReader, AttachmentTexts};
pub use changes::{CHANGES_KEPT_SECONDS, FlagsAndKeywords};
pub use check::{Damage, Depth, Repair, damage_of_user, diagnose, strangers};
pub use edges::Grouping;
pub use environment::{CLOCK_SECONDS, Environment, present_for_dates};
pub use error::{Error, Result, TableError, TokenFault, moment};
pub use first::is_incomplete as is_first_incomplete;
pub use names::{folder_directories, folder_names, is_tag, tag_names};
pub use open::roots;
pub use opened::Opened;
pub use overlap::overlaps;
pub use pass::{
    Adopted, AttachmentsRead, Cleanup, Look, Loss, Mode, Places, Problem, Summary, UpdateOptions, is_read_by,
};
pub use rebuild::{is_older, remembered_roots};
pub use record::{Contact, PairList, Rest, RestView, TextList};
pub use remedy::Remedy;
pub use rows::{RecordReader, Subdirectory};
pub use search::{
    Analysis, AnalysisStep, Change, ChangedFolder, Changes, Circle, Content, ContentStats, Counts, Dimension,
    Direction, Duplicates, Figures, FileView, FolderCounts, FolderPlace, FolderRoles, FolderText, FoundFile,
    Group, Happened, Hint, Hit, Hits, IndexedFolder, Inventory, Line, Listed, Mailbox, Meaning, Message,
    MessageFile, MessageParts, MessageScan, MessageView, Moment, MomentFile, MomentFolder, Order, Origin,
    OwnAddresses, OwnPeople, PeopleQuestion, Person, Replies, Scope, SortKey, Stats, StoredFile,
    StoredFolder, Thread, ThreadEntry, ThreadOrder, ThreadStarts, Threads, Unknown, shown_flags,
};
pub use set::NumberSet;
pub use state::Root;
pub use store::read_together;
pub use sweep::{Absent, Swept, sweepable};
pub use tables::HeaderCodec;
pub use text::TEXT_SLOTS;
pub use threaded::{
    Merging, adopt, check, forget, merge, read_attachments, rebuild, rebuild_with, sweep, update,
    update_places,
};
pub use user::{
    Arrivals, Awaited, FLAG_TAGS, FlagTag, FlagTags, FolderId, FolderKey, IdentityKey, KeptFolder,
    KeptIdentities, KeptIdentity, Looked, MUTED, NamedAddress, QUERY_NAME_BYTES_MAX, Seen, TAG_BYTES_MAX,
    TagChange, TagEdit, TagEdits, TagImport, TagSummary, awaited_text, change_folder, change_identity,
    change_queries, change_tags, check_query_name, check_tag, edit_tags, end_awaiting, expect_arrivals,
    export_folders, export_queries, export_tags, follow_folders, forget_folder, has_no_tags, import_folders,
    import_queries, import_tags, import_tags_of, keep_folders_back, repair_user, replace_arrivals,
    saved_queries, settle_folders, tags_by_message,
};

/// Versions and magics of the formats that this crate writes, for docs/FORMAT.md; and the bytes of a header
/// record, for tests of what reads one.
pub mod format {
    pub use crate::changes::MAGIC as CHANGES_MAGIC;
    pub use crate::record::encode_rest;
    pub use crate::state::{MAGIC as STATE_MAGIC, VERSION as STATE_VERSION};
    pub use crate::text::SEALED_KIND as TEXT_SEALED_KIND;
    pub use crate::user::{MAGIC as USER_MAGIC, VERSION as USER_VERSION};
}
