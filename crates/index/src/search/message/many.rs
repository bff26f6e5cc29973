//! Many messages, one after the other, each as it lies in the store.
//!
//! Input: hits. Output: for each a view that is valid until the next one. What neighbours share is read once:
//! columns of rows that lie side by side, and files of messages whose numbers follow each other. A message
//! with copies is joined with them first, as it is for [`Mailbox::message`]. Does not depend on what is done
//! with the messages.

use crate::error::Result;
use crate::record::{RestView, encode_rest, line_view};
use crate::rows::{self, RecordReader, Subdirectory};
use crate::search::mailbox::{Hit, Mailbox, folder_name, folder_path};
use crate::tables::{files, messages};
use crate::user::TaggedKeys;
use mail::{ContentFlags, Flags};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::{BitOr, Bound};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use store::{RowId, Value};

/// A message, borrowed. Parts that were not asked for are empty.
#[derive(Clone, Copy, Debug)]
pub struct MessageView<'a> {
    /// Its number.
    pub number: u32,
    /// Date in seconds since 1970, if it has one.
    pub date: Option<i64>,
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
    /// Size of the content in bytes.
    pub size_bytes: u64,
    /// Content flags, including those of its copies.
    pub derived: ContentFlags,
    /// The sender, as lists show it.
    pub from: &'a str,
    /// The subject.
    pub subject: &'a str,
    /// The other header fields, joined with those of its copies.
    pub rest: RestView<'a>,
    /// Its tags, sorted: the user's tags, and the labels in the message.
    pub tags: &'a [String],
    /// Its files, sorted by path; empty if the message is absent.
    pub files: &'a [FileView<'a>],
}

/// A file that holds a message, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct FileView<'a> {
    folder: &'a FolderText,
    subdirectory: Subdirectory,
    name: &'a [u8],
    /// Its flags.
    pub flags: Flags,
}

impl<'a> FileView<'a> {
    /// Returns a file in a directory of a folder.
    pub fn new(folder: &'a FolderText, subdirectory: Subdirectory, name: &'a [u8]) -> FileView<'a> {
        FileView { folder, subdirectory, name, flags: subdirectory.flags(mail::parse_name(name).flags) }
    }

    /// Returns the folder, as queries name it.
    pub fn maildir(&self) -> &'a str {
        &self.folder.name
    }

    /// Returns its path; bytes that are not UTF-8 are replaced.
    pub fn path(&self) -> String {
        let mut path = self.raw_path();
        match String::from_utf8_lossy(&path) {
            Cow::Borrowed(_) => {}
            Cow::Owned(replaced) => path = replaced.into_bytes(),
        }
        String::from_utf8(path).unwrap_or_default()
    }

    fn raw_path(&self) -> Vec<u8> {
        let directory = &self.folder.directories[self.subdirectory.index()];
        let mut path = Vec::with_capacity(directory.len() + self.name.len());
        path.extend_from_slice(directory);
        path.extend_from_slice(self.name);
        path
    }
}

/// A folder's name, and the beginnings of its files' paths.
#[derive(Clone, Debug)]
pub struct FolderText {
    name: String,
    directories: [Vec<u8>; 2],
}

impl FolderText {
    /// Returns the texts of a folder that queries name so.
    pub fn new(name: String, path: &Path) -> FolderText {
        let directory = |subdirectory: Subdirectory| {
            let mut directory = path.join(subdirectory.name());
            // Ends it with a separator.
            directory.push("");
            directory.into_os_string().into_encoded_bytes()
        };
        FolderText { name, directories: Subdirectory::ALL.map(directory) }
    }
}

/// What is read of each message. Its date needs no reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageParts {
    /// Size, content flags, sender and subject.
    pub line: bool,
    /// The other header fields, and the SHA-256.
    pub rest: bool,
    /// Tags.
    pub tags: bool,
    /// Files.
    pub files: bool,
}

impl BitOr for MessageParts {
    type Output = MessageParts;

    fn bitor(self, other: MessageParts) -> MessageParts {
        MessageParts {
            line: self.line || other.line,
            rest: self.rest || other.rest,
            tags: self.tags || other.tags,
            files: self.files || other.files,
        }
    }
}

/// Numbers that are at most this far apart follow each other: reading what lies between costs less than a
/// search.
const GAP_MAX: u32 = 4;
/// So many messages are read side by side: their files wait in memory.
const RUN_MAX: usize = 1024;

/// Reads parts of many messages. Threads share it.
#[derive(Debug)]
pub struct MessageScan<'m> {
    mailbox: &'m Mailbox,
    parts: MessageParts,
    /// By number.
    folders: Vec<(u32, FolderText)>,
    /// If given, contents that are not in it have no tags.
    tagged: Option<TaggedKeys>,
}

/// Memory that messages use one after the other.
#[derive(Default)]
struct Scratch<'m> {
    line: Vec<u8>,
    rest: Vec<u8>,
    tags: Vec<String>,
    files: Vec<FileView<'m>>,
}

impl Mailbox {
    /// Prepares to read these parts of about `count` messages.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn scan(&self, parts: MessageParts, count: usize) -> Result<MessageScan<'_>> {
        let has_flag_tags = parts.tags && !self.meaning().flag_tags.all().is_empty();
        let parts = MessageParts {
            // Labels of a message are tags, too, and its tags lie under its SHA-256.
            rest: parts.rest || parts.tags,
            files: parts.files || has_flag_tags,
            ..parts
        };
        let folders = self
            .folders()
            .iter()
            .map(|row| (row.number, FolderText::new(folder_name(row), &folder_path(self.roots(), row))));
        let tagged = match self.user_tags()? {
            Some(tags) if parts.tags => tags.keys_if_fewer(count)?,
            _ => None,
        };
        Ok(MessageScan {
            mailbox: self,
            parts,
            folders: if parts.files { folders.collect() } else { Vec::new() },
            tagged,
        })
    }
}

impl MessageScan<'_> {
    /// Calls `each` with each of some messages, in their order. Is fastest in the order of their numbers.
    ///
    /// # Errors
    /// [`crate::Error::MessageRemoved`]; damage in the store.
    pub fn read(
        &self,
        hits: &[Hit],
        reader: &mut RecordReader,
        each: &mut dyn FnMut(&MessageView<'_>),
    ) -> Result<()> {
        let hits = hits.iter().map(|hit| self.mailbox.located(hit)).collect::<Result<Vec<_>>>()?;
        let mut scratch = Scratch::default();
        let follows = |a: &Hit, b: &Hit| {
            a.row.part == b.row.part
                && (1..=GAP_MAX).contains(&b.number.wrapping_sub(a.number))
                && (1..=GAP_MAX).contains(&b.row.row.wrapping_sub(a.row.row))
        };
        for run in hits.chunk_by(follows).flat_map(|run| run.chunks(RUN_MAX)) {
            self.read_run(run, reader, &mut scratch, each)?;
        }
        Ok(())
    }

    /// Reads messages whose rows lie side by side.
    fn read_run<'m>(
        &'m self,
        run: &[Hit],
        reader: &mut RecordReader,
        scratch: &mut Scratch<'m>,
        each: &mut dyn FnMut(&MessageView<'_>),
    ) -> Result<()> {
        let ([first, ..], [.., last]) = (run, run) else { return Ok(()) };
        let mailbox = self.mailbox;
        let part = rows::part_of(mailbox.message_table(), first.row);
        let rows = first.row.row..last.row.row + 1;
        let MessageParts { line, rest, tags, files } = self.parts;
        let sizes = if line { part.u64s(messages::SIZE, rows.clone())? } else { &[] };
        let derived = if line { part.u16s(messages::DERIVED, rows.clone())? } else { &[] };
        let ids = if rest { part.ids(messages::SHA256, rows.clone())? } else { &[] };
        let message_ids = if tags { part.u64s(messages::MESSAGE_ID_HASH, rows.clone())? } else { &[] };
        let file_rows = if files { self.file_rows(first.number, last.number)? } else { Vec::new() };
        let mut file_rows = file_rows.as_slice();
        let damaged = || rows::damaged_record(mailbox.directory());
        let (copies, personal) = (mailbox.copies()?.members(), mailbox.personal()?);
        for hit in run {
            let place = (hit.row.row - rows.start) as usize;
            let has_copies = copies.contains(hit.number);
            let mut view = MessageView {
                number: hit.number,
                date: hit.date_seconds(),
                sha256: ids.get(place).copied().unwrap_or_default(),
                size_bytes: sizes.get(place).copied().unwrap_or_default(),
                derived: ContentFlags::from_bits(derived.get(place).copied().unwrap_or_default()),
                from: "",
                subject: "",
                rest: RestView::default(),
                tags: &[],
                files: &[],
            };
            if line {
                scratch.line.clear();
                scratch.line.extend_from_slice(rows::line_bytes(part, hit.row.row, reader)?);
                (view.from, view.subject) = line_view(&scratch.line).ok_or_else(damaged)?;
                if has_copies {
                    view.derived = mailbox.derived(hit)?;
                } else if personal.contains(hit.number) {
                    view.derived.insert(ContentFlags::PERSONAL);
                }
            }
            if rest && has_copies {
                scratch.rest = encode_rest(&mailbox.rest(hit, reader)?);
                view.rest = RestView::new(&scratch.rest).ok_or_else(damaged)?;
            }
            if files {
                let (own, others) = split_at_message(file_rows, hit.number);
                file_rows = others;
                scratch.files.clear();
                if has_copies {
                    self.files_of_copies(hit.number, &mut scratch.files)?;
                } else {
                    for (_, id) in own {
                        scratch.files.extend(self.file(*id)?);
                    }
                }
                sort_by_path(&mut scratch.files);
                view.files = &scratch.files;
            }
            if rest && !has_copies {
                let record = rows::rest_bytes(part, hit.row.row, reader)?;
                view.rest = RestView::new(record).ok_or_else(damaged)?;
            }
            if tags {
                let is_tagged = has_copies
                    || self.tagged.as_ref().is_none_or(|keys| {
                        keys.may_have(&view.sha256, message_ids.get(place).copied().unwrap_or_default())
                    });
                self.tags(hit, is_tagged, &view, &mut scratch.tags)?;
                view.tags = &scratch.tags;
            }
            each(&view);
        }
        Ok(())
    }

    /// Returns the files of messages with these numbers and those between them, sorted by number.
    fn file_rows(&self, first: u32, last: u32) -> Result<Vec<(u32, RowId)>> {
        let table = self.mailbox.file_table();
        let (first, last) = ([Value::U32(first)], [Value::U32(last)]);
        let found = table.range(files::BY_MESSAGE, Bound::Included(&first), Bound::Included(&last))?;
        let numbered = |id: store::Result<RowId>| {
            let id = id?;
            Ok((rows::part_of(table, id).u32_at(files::MESSAGE, id.row)?, id))
        };
        found.map(numbered).collect()
    }

    fn files_of_copies<'m>(&'m self, number: u32, found: &mut Vec<FileView<'m>>) -> Result<()> {
        for number in self.mailbox.copies_of(number)? {
            for (_, id) in self.file_rows(number, number)? {
                found.extend(self.file(id)?);
            }
        }
        Ok(())
    }

    /// Returns a file, or `None` if its folder has no row.
    fn file(&self, id: RowId) -> Result<Option<FileView<'_>>> {
        let (part, row) = (rows::part_of(self.mailbox.file_table(), id), id.row);
        let number = part.u32_at(files::FOLDER, row)?;
        let Ok(place) = self.folders.binary_search_by_key(&number, |(number, _)| *number) else {
            return Ok(None);
        };
        let subdirectory = Subdirectory::from_number(part.u8_at(files::PLACE, row)?);
        let name = part.bytes(files::NAME, row)?;
        Ok(self.folders.get(place).map(|(_, folder)| FileView::new(folder, subdirectory, name)))
    }

    /// Puts the tags of a message into `tags`. If it is not `is_tagged`, the user gave it none.
    fn tags(&self, hit: &Hit, is_tagged: bool, view: &MessageView<'_>, tags: &mut Vec<String>) -> Result<()> {
        tags.clear();
        let flags = view.files.iter().map(|file| file.flags);
        if is_tagged {
            tags.extend(self.mailbox.tags_with_flags(self.mailbox.stored_tags_of(hit)?, flags));
        } else {
            tags.extend(self.mailbox.tags_with_flags(Default::default(), flags));
        }
        // Only a file has a flag, whatever the message says.
        let labels = view.rest.labels.iter().filter(|label| !self.mailbox.is_flag_tag(label));
        tags.extend(labels.map(str::to_owned));
        tags.sort_unstable();
        tags.dedup();
        Ok(())
    }
}

/// Returns the rows of a message, and those of messages with higher numbers.
fn split_at_message(rows: &[(u32, RowId)], number: u32) -> (&[(u32, RowId)], &[(u32, RowId)]) {
    let before = rows.iter().take_while(|(other, _)| *other < number).count();
    let rows = rows.get(before..).unwrap_or_default();
    rows.split_at(rows.iter().take_while(|(other, _)| *other == number).count())
}

/// Sorts files as paths are sorted: directory by directory.
fn sort_by_path(files: &mut [FileView<'_>]) {
    if files.len() > 1 {
        files.sort_by_cached_key(|file| Path::new(OsStr::from_bytes(&file.raw_path())).to_owned());
    }
}
