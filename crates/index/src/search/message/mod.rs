//! A found message as a value: the fields that a list shows, and everything else.
//!
//! Input: a hit. Output: header fields, files and flags. Reads payloads, never mail.

mod flags;
mod many;

use crate::error::Result;
use crate::record::{LineRecord, Rest, RestView};
use crate::rows::{self, RecordReader, Subdirectory};
use crate::search::mailbox::{Hit, Mailbox, folder_name, folder_path};
use crate::tables::{files, messages};
use flags::joined;
pub use flags::shown_flags;
use mail::{ContentFlags, Flags};
pub use many::{FileView, FolderText, MessageParts, MessageScan, MessageView};
use query::flags::FlagInfo;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use store::{Part, RowId, Value};

/// The fields of a message that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Date in seconds since 1970, if it has one.
    pub date: Option<i64>,
    /// Size of the content in bytes.
    pub size_bytes: u64,
    /// Content flags, including those of its copies.
    pub derived: ContentFlags,
    /// The sender, as lists show it.
    pub from: String,
    /// The subject.
    pub subject: String,
}

/// A file that holds a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFile {
    /// The root's name.
    pub root: String,
    /// The folder, as queries name it.
    pub maildir: String,
    /// Its path.
    pub path: PathBuf,
    /// Its flags.
    pub flags: Flags,
    /// Its Dovecot keywords, a-z as bits.
    pub keywords: u32,
    /// When it was last changed, in seconds since 1970.
    pub changed_seconds: i64,
}

/// All fields of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
    /// The fields that a list shows.
    pub line: Line,
    /// The other header fields. The list id comes from the first copy that has one; configured fields come
    /// from all copies.
    pub rest: Rest,
    /// Its tags, sorted: the user's tags, and the labels in the message.
    pub tags: Vec<String>,
    /// Its files, sorted by path; empty if the message is absent.
    pub files: Vec<MessageFile>,
}

impl Message {
    /// Returns the flags that at least one of its files has.
    pub fn flags(&self) -> Flags {
        self.files.iter().fold(Flags::NONE, |flags, file| flags | file.flags)
    }

    /// Returns the flags that the message shows, in the order of the table.
    pub fn shown_flags(&self) -> impl Iterator<Item = &'static FlagInfo> {
        shown_flags(self.files.iter().map(|file| file.flags), self.line.derived)
    }
}

impl Mailbox {
    /// Returns the fields of a hit that a list shows. `reader` keeps what reads share.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn line(&self, hit: &Hit, reader: &mut RecordReader) -> Result<Line> {
        self.line_of(&self.located(hit)?, reader)
    }

    /// Does what [`Mailbox::line`] does for a hit of this commit.
    fn line_of(&self, hit: &Hit, reader: &mut RecordReader) -> Result<Line> {
        let table = self.message_table();
        let part = rows::part_of(table, hit.row);
        let LineRecord { from, subject } = rows::line(part, hit.row.row, reader, self.directory())?;
        Ok(Line {
            date: hit.date_seconds(),
            size_bytes: part.u64_at(messages::SIZE, hit.row.row)?,
            derived: self.derived(hit)?,
            from,
            subject,
        })
    }

    /// Returns the Message-ID of a hit.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn message_id(&self, hit: &Hit, reader: &mut RecordReader) -> Result<String> {
        let hit = self.located(hit)?;
        let table = self.message_table();
        let part = rows::part_of(table, hit.row);
        let record = rows::rest_bytes(part, hit.row.row, reader)?;
        let view = RestView::new(record).ok_or_else(|| rows::damaged_record(self.directory()))?;
        Ok(view.message_id.to_owned())
    }

    /// Returns all fields of a hit.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn message(&self, hit: &Hit, reader: &mut RecordReader) -> Result<Message> {
        let hit = &self.located(hit)?;
        let table = self.message_table();
        let part = rows::part_of(table, hit.row);
        let line = self.line_of(hit, reader)?;
        let rest = self.rest(hit, reader)?;
        let sha256 =
            part.ids(messages::SHA256, hit.row.row..hit.row.row + 1)?.first().copied().unwrap_or_default();
        let mut tags = self.tags_of(hit)?;
        // Only a file has a flag, whatever the message says.
        tags.extend(rest.labels.iter().filter(|label| !self.is_flag_tag(label)).cloned());
        Ok(Message { sha256, line, tags: tags.into_iter().collect(), rest, files: self.files(hit)? })
    }

    /// Returns the files of a hit and of its copies, sorted by path.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn files(&self, hit: &Hit) -> Result<Vec<MessageFile>> {
        let mut found: Vec<MessageFile> = Vec::new();
        for number in self.copies_of(hit.number)? {
            found.extend(self.files_of(number)?);
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Returns the files of the message with this number, in no order.
    ///
    /// # Errors
    /// Damage in the store.
    pub(crate) fn files_of(&self, number: u32) -> Result<Vec<MessageFile>> {
        let rows = self.file_table().find(files::BY_MESSAGE, &[Value::U32(number)])?;
        let file = |id: RowId| self.message_file(rows::part_of(self.file_table(), id), id.row);
        rows.into_iter().filter_map(|id| file(id).transpose()).collect()
    }

    /// Returns the flags derived from the content of a hit and of its copies, and from the user's addresses.
    pub(super) fn derived(&self, hit: &Hit) -> Result<ContentFlags> {
        let table = self.message_table();
        let own = |hit: &Hit| -> Result<ContentFlags> {
            let part = rows::part_of(table, hit.row);
            Ok(ContentFlags::from_bits(part.u16_at(messages::DERIVED, hit.row.row)?))
        };
        let mut derived = own(hit)?;
        for copy in self.live_copies(hit)? {
            derived = joined(derived, own(&copy)?);
        }
        if self.personal()?.contains(hit.number) {
            derived.insert(ContentFlags::PERSONAL);
        }
        Ok(derived)
    }

    /// Returns the header fields of a hit. Fields that mailing lists add may be in any of its copies; fields
    /// that the configuration names are taken from all of them.
    pub(super) fn rest(&self, hit: &Hit, reader: &mut RecordReader) -> Result<Rest> {
        let table = self.message_table();
        let mut own = |hit: &Hit| -> Result<Rest> {
            rows::rest(rows::part_of(table, hit.row), hit.row.row, reader, self.directory())
        };
        let mut rest = own(hit)?;
        for copy in self.live_copies(hit)? {
            let other = own(&copy)?;
            if rest.list_id.is_empty() {
                rest.list_id = other.list_id;
            }
            for header in other.headers {
                if !rest.headers.contains(&header) {
                    rest.headers.push(header);
                }
            }
        }
        Ok(rest)
    }

    /// Returns a file, or `None` if its folder has no row. Takes from the name what the name contains, as
    /// each column read is another access to the store.
    pub(crate) fn message_file(&self, part: &Part, row: u32) -> Result<Option<MessageFile>> {
        let Some(folder) = self.folder(part.u32_at(files::FOLDER, row)?) else { return Ok(None) };
        let subdirectory = Subdirectory::from_number(part.u8_at(files::PLACE, row)?);
        let file_name = part.bytes(files::NAME, row)?;
        let name = mail::parse_name(file_name);
        let mut path = folder_path(self.roots(), folder);
        // Both with their separators, in one allocation.
        path.reserve(subdirectory.name().len() + file_name.len() + 2);
        path.push(subdirectory.name());
        path.push(OsStr::from_bytes(file_name));
        Ok(Some(MessageFile {
            root: folder.root.clone(),
            maildir: folder_name(folder),
            path,
            flags: subdirectory.flags(name.flags),
            keywords: name.keywords,
            changed_seconds: part.i64_at(files::CTIME, row)?.div_euclid(1_000_000_000),
        }))
    }
}
