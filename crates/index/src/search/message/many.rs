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
use std::ops::{BitOr, Bound, Range};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use store::{Part, RowId, Value};

/// A message, borrowed. Parts that were not asked for may be empty.
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
        let directory = &self.folder.shown[self.subdirectory.index()];
        let name = String::from_utf8_lossy(self.name);
        let mut path = String::with_capacity(directory.len() + name.len());
        path.push_str(directory);
        path.push_str(&name);
        path
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
    /// The directories as text; bytes that are not UTF-8 are replaced.
    shown: [String; 2],
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
        let directories = Subdirectory::ALL.map(directory);
        let shown = directories.each_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        FolderText { name, directories, shown }
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

/// A row of a file, with the number of its message.
type NumberedFile = (u32, RowId);

/// Columns of messages whose rows lie side by side. Those that are not needed are empty.
struct Columns<'a> {
    first_row: u32,
    sizes: Cow<'a, [u64]>,
    derived: Cow<'a, [u16]>,
    ids: &'a [[u8; 32]],
    message_id_hashes: Cow<'a, [u64]>,
}

impl<'a> Columns<'a> {
    fn new(part: &'a Part, rows: Range<u32>, parts: MessageParts) -> Result<Columns<'a>> {
        let mut columns = Columns {
            first_row: rows.start,
            sizes: Cow::default(),
            derived: Cow::default(),
            ids: &[],
            message_id_hashes: Cow::default(),
        };
        if parts.line {
            columns.sizes = part.u64s(messages::SIZE, rows.clone())?;
            columns.derived = part.u16s(messages::DERIVED, rows.clone())?;
        }
        if parts.rest {
            columns.ids = part.ids(messages::SHA256, rows.clone())?;
        }
        if parts.tags {
            columns.message_id_hashes = part.u64s(messages::MESSAGE_ID_HASH, rows)?;
        }
        Ok(columns)
    }

    fn place(&self, hit: &Hit) -> usize {
        (hit.row.row - self.first_row) as usize
    }

    fn message_id_hash(&self, hit: &Hit) -> u64 {
        self.message_id_hashes.get(self.place(hit)).copied().unwrap_or_default()
    }

    /// Returns what these columns have of a message.
    fn view(&self, hit: &Hit) -> MessageView<'static> {
        let place = self.place(hit);
        MessageView {
            number: hit.number,
            date: hit.date_seconds(),
            sha256: self.ids.get(place).copied().unwrap_or_default(),
            size_bytes: self.sizes.get(place).copied().unwrap_or_default(),
            derived: ContentFlags::from_bits(self.derived.get(place).copied().unwrap_or_default()),
            from: "",
            subject: "",
            rest: RestView::default(),
            tags: &[],
            files: &[],
        }
    }
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
        let user_tags = if parts.tags { self.user_tags()? } else { None };
        let tagged = user_tags.map(|tags| tags.keys_if_fewer(count)).transpose()?.flatten();
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
    /// [`crate::Error::MessageRemoved`]; [`crate::Error::Interrupted`]; damage in the store.
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
            self.mailbox.check_cancelled()?;
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
        let columns = Columns::new(part, first.row.row..last.row.row + 1, self.parts)?;
        let file_rows =
            if self.parts.files { self.file_rows(first.number, last.number)? } else { Vec::new() };
        let mut file_rows = file_rows.as_slice();
        let damaged = || rows::damaged_record(mailbox.directory());
        let copies = mailbox.copies()?.members();
        for hit in run {
            let has_copies = copies.contains(hit.number);
            let mut view = columns.view(hit);
            if self.parts.line {
                scratch.line.clear();
                scratch.line.extend_from_slice(rows::line_bytes(part, hit.row.row, reader)?);
                (view.from, view.subject) = line_view(&scratch.line).ok_or_else(damaged)?;
                view.derived = self.derived(hit, has_copies, view.derived)?;
            }
            if self.parts.files {
                let own = take_message(&mut file_rows, hit.number);
                scratch.files.clear();
                self.files(hit, has_copies, own, &mut scratch.files)?;
                view.files = &scratch.files;
            }
            if self.parts.rest {
                let record = if has_copies {
                    scratch.rest = encode_rest(&mailbox.rest(hit, reader)?);
                    &scratch.rest
                } else {
                    rows::rest_bytes(part, hit.row.row, reader)?
                };
                view.rest = RestView::new(record).ok_or_else(damaged)?;
            }
            if self.parts.tags {
                let is_tagged = has_copies || self.may_be_tagged(&view, columns.message_id_hash(hit));
                self.tags(hit, is_tagged, &view, &mut scratch.tags)?;
                view.tags = &scratch.tags;
            }
            each(&view);
        }
        Ok(())
    }

    /// Returns the content flags of a message whose row has `own`.
    fn derived(&self, hit: &Hit, has_copies: bool, own: ContentFlags) -> Result<ContentFlags> {
        if has_copies {
            return self.mailbox.derived(hit);
        }
        let mut derived = own;
        if self.mailbox.personal()?.contains(hit.number) {
            derived.insert(ContentFlags::PERSONAL);
        }
        Ok(derived)
    }

    /// Returns whether the user may have given a message tags.
    fn may_be_tagged(&self, view: &MessageView<'_>, message_id_hash: u64) -> bool {
        self.tagged.as_ref().is_none_or(|keys| keys.may_have(&view.sha256, message_id_hash))
    }

    /// Adds the files of a message and of its copies, sorted by path. `own` are those of the message.
    fn files<'m>(
        &'m self,
        hit: &Hit,
        has_copies: bool,
        own: &[NumberedFile],
        found: &mut Vec<FileView<'m>>,
    ) -> Result<()> {
        for (_, id) in own {
            found.extend(self.file(*id)?);
        }
        if has_copies {
            let others = self.mailbox.copies_of(hit.number)?.into_iter().filter(|other| *other != hit.number);
            for number in others {
                for (_, id) in self.file_rows(number, number)? {
                    found.extend(self.file(id)?);
                }
            }
        }
        sort_by_path(found);
        Ok(())
    }

    /// Returns the files of messages with these numbers and those between them, sorted by number.
    fn file_rows(&self, first: u32, last: u32) -> Result<Vec<NumberedFile>> {
        let table = self.mailbox.file_table();
        let (first, last) = ([Value::U32(first)], [Value::U32(last)]);
        let found = table.range(files::BY_MESSAGE, Bound::Included(&first), Bound::Included(&last))?;
        let numbered = |id: store::Result<RowId>| {
            let id = id?;
            Ok((rows::part_of(table, id).u32_at(files::MESSAGE, id.row)?, id))
        };
        found.map(numbered).collect()
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

/// Takes the rows of a message off the front. Rows of messages with lower numbers go, too.
fn take_message<'a>(rows: &mut &'a [NumberedFile], number: u32) -> &'a [NumberedFile] {
    let before = rows.iter().take_while(|(other, _)| *other < number).count();
    let left = rows.get(before..).unwrap_or_default();
    let (taken, others) = left.split_at(left.iter().take_while(|(other, _)| *other == number).count());
    *rows = others;
    taken
}

/// Sorts files as paths are sorted: directory by directory.
fn sort_by_path(files: &mut [FileView<'_>]) {
    if files.len() > 1 {
        files.sort_by_cached_key(|file| Path::new(OsStr::from_bytes(&file.raw_path())).to_owned());
    }
}
