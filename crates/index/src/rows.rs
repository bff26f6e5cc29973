//! Rows of the mail tables as plain values, and their conversion from and to the store.
//!
//! Input: parts of a store snapshot. Output: folders and files as values; values as store rows. Must not know
//! how they are used.

use crate::error::{Error, Result};
use crate::record::{self, LineRecord, Rest};
use crate::tables::{absent, files, folders, messages};
use mail::{FileStat, Fingerprint, Flags, Stamp};
use std::path::Path;
use std::sync::Arc;
use store::{ColumnSlice, Part, PayloadReader, RowId, Rows, Schema, Snapshot, Table, Value};

/// The two directories of a Maildir that hold messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subdirectory {
    /// `cur`: messages that a mail program has seen.
    Cur,
    /// `new`: messages just delivered.
    New,
}

impl Subdirectory {
    /// Both.
    pub const ALL: [Subdirectory; 2] = [Subdirectory::Cur, Subdirectory::New];

    /// Returns the flags of a file in this directory whose name has the flags `in_name`.
    pub(crate) fn flags(self, in_name: Flags) -> Flags {
        match self {
            Subdirectory::Cur => in_name,
            Subdirectory::New => in_name | Flags::NEW,
        }
    }

    /// Returns the directory's name.
    pub fn name(self) -> &'static str {
        match self {
            Subdirectory::Cur => "cur",
            Subdirectory::New => "new",
        }
    }

    /// Returns its number in rows.
    pub(crate) fn number(self) -> u8 {
        match self {
            Subdirectory::Cur => 0,
            Subdirectory::New => 1,
        }
    }

    /// Returns the directory with this number.
    pub(crate) fn from_number(number: u8) -> Subdirectory {
        if number == 0 { Subdirectory::Cur } else { Subdirectory::New }
    }

    /// Returns its place in an array of both.
    pub(crate) fn index(self) -> usize {
        usize::from(self.number())
    }
}

/// The state of one of a folder's two directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectoryState {
    /// The directory's stamp when it was last read completely; zero if it never was.
    pub stamp: Stamp,
    /// The sum of the hashes of its committed files.
    pub fingerprint: Fingerprint,
}

/// A row of `folders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FolderRow {
    /// The folder's number.
    pub number: u32,
    /// The root's name.
    pub root: String,
    /// The path below the root.
    pub path: Vec<u8>,
    /// Whether `.noupdate` was present.
    pub no_update: bool,
    /// The states of `cur` and `new`.
    pub directories: [DirectoryState; 2],
    /// The names of keywords, separated by line feeds, starting with that of letter `a`.
    pub keyword_names: Vec<u8>,
}

/// A row of `files`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    /// The folder's number.
    pub folder: u32,
    /// `cur` or `new`.
    pub subdirectory: Subdirectory,
    /// The file's name, byte for byte.
    pub name: Vec<u8>,
    /// The file's inode.
    pub inode: u64,
    /// The file's size in bytes.
    pub size_bytes: u64,
    /// The file's time of modification, nanoseconds.
    pub mtime_ns: i64,
    /// The file's time of status change, nanoseconds.
    pub ctime_ns: i64,
    /// Maildir flags, including `NEW`.
    pub flags: Flags,
    /// Dovecot keywords.
    pub keywords: u32,
    /// The number of its message.
    pub message: u32,
}

impl FileRow {
    /// Returns the file's share of its directory's fingerprint.
    pub(crate) fn entry_hash(&self) -> u128 {
        mail::entry_hash(&self.name, self.inode)
    }

    /// Returns whether a file has the size and the times of this row.
    pub(crate) fn has_stat(&self, stat: &FileStat) -> bool {
        self.size_bytes == stat.size_bytes && self.mtime_ns == stat.mtime_ns && self.ctime_ns == stat.ctime_ns
    }
}

/// Returns the primary key of a file.
pub(crate) fn file_key(folder: u32, subdirectory: Subdirectory, name: &[u8]) -> [Value<'_>; 3] {
    [Value::U32(folder), Value::U8(subdirectory.number()), Value::Bytes(name)]
}

/// A damaged file may claim more folders than there are. Room is made for so many at once.
const FOLDERS_EXPECTED_MAX: usize = 4096;

/// Returns all folders.
///
/// # Errors
/// Damage in the store.
pub(crate) fn folders(snapshot: &Snapshot) -> Result<Vec<FolderRow>> {
    let table = snapshot.table(folders::TABLE)?;
    // A list that grows touches several times the memory, which takes a short command longer than reading.
    let expected = usize::try_from(table.row_count())
        .map_or(FOLDERS_EXPECTED_MAX, |count| count.min(FOLDERS_EXPECTED_MAX));
    let mut rows = Vec::with_capacity(expected);
    for part in table.parts() {
        // Whole columns: every command reads all folders.
        let columns = (0..=folders::KEYWORDS).map(|column| part.column(column));
        let columns: Vec<ColumnSlice> = columns.collect::<store::Result<_>>()?;
        for row in part.live_rows() {
            rows.push(folder(&columns, row).ok_or(Error::Inconsistent { what: "a folder is damaged" })?);
        }
    }
    Ok(rows)
}

/// Returns a row of the columns of `folders`, or `None` if it is not within them.
fn folder(columns: &[ColumnSlice], row: u32) -> Option<FolderRow> {
    let value = |column: usize| columns.get(column)?.value(row);
    let bytes = |column: usize| match value(column)? {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    };
    let number = |column: usize| match value(column)? {
        Value::U8(number) => Some(u64::from(number)),
        Value::U32(number) => Some(u64::from(number)),
        Value::U64(number) => Some(number),
        _ => None,
    };
    let time = |column: usize| match value(column)? {
        Value::I64(time) => Some(time),
        _ => None,
    };
    let directory = |first: usize| {
        let [low, high] = [number(first + 4)?, number(first + 5)?].map(u128::from);
        let stamp = Stamp {
            device: number(first)?,
            inode: number(first + 1)?,
            mtime_ns: time(first + 2)?,
            ctime_ns: time(first + 3)?,
        };
        Some(DirectoryState { stamp, fingerprint: Fingerprint(high << 64 | low) })
    };
    Some(FolderRow {
        number: u32::try_from(number(folders::NUMBER)?).ok()?,
        root: String::from_utf8_lossy(bytes(folders::ROOT)?).into_owned(),
        path: bytes(folders::PATH)?.to_vec(),
        no_update: number(folders::NO_UPDATE)? != 0,
        directories: [directory(folders::CUR)?, directory(folders::NEW)?],
        keyword_names: bytes(folders::KEYWORDS)?.to_vec(),
    })
}

/// Returns the low and the high half of a number, for the two columns that hold it.
pub(crate) fn halves(number: u128) -> (u64, u64) {
    let bytes = number.to_le_bytes();
    let (low, high) = bytes.split_at(8);
    let half = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("half of 16 bytes is 8"));
    (half(low), half(high))
}

/// Appends a folder to rows of `folders`.
///
/// # Errors
/// A limit of the store.
pub(crate) fn push_folder(rows: &mut Rows, folder: &FolderRow) -> Result<()> {
    let mut values = vec![
        Value::U32(folder.number),
        Value::Bytes(folder.root.as_bytes()),
        Value::Bytes(&folder.path),
        Value::U8(u8::from(folder.no_update)),
    ];
    for directory in &folder.directories {
        let (low, high) = halves(directory.fingerprint.0);
        values.extend([
            Value::U64(directory.stamp.device),
            Value::U64(directory.stamp.inode),
            Value::I64(directory.stamp.mtime_ns),
            Value::I64(directory.stamp.ctime_ns),
            Value::U64(low),
            Value::U64(high),
        ]);
    }
    values.push(Value::Bytes(&folder.keyword_names));
    Ok(rows.push(&values)?)
}

/// Returns one file.
///
/// # Errors
/// Damage in the store.
pub(crate) fn file(part: &Part, row: u32) -> Result<FileRow> {
    Ok(FileRow {
        folder: part.u32_at(files::FOLDER, row)?,
        subdirectory: Subdirectory::from_number(part.u8_at(files::PLACE, row)?),
        name: part.bytes(files::NAME, row)?.to_vec(),
        inode: part.u64_at(files::INODE, row)?,
        size_bytes: part.u64_at(files::SIZE, row)?,
        mtime_ns: part.i64_at(files::MTIME, row)?,
        ctime_ns: part.i64_at(files::CTIME, row)?,
        flags: Flags::from_bits(part.u16_at(files::FLAGS, row)?),
        keywords: part.u32_at(files::KEYWORDS, row)?,
        message: part.u32_at(files::MESSAGE, row)?,
    })
}

/// Appends a file to rows of `files`.
///
/// # Errors
/// A limit of the store.
pub(crate) fn push_file(rows: &mut Rows, file: &FileRow) -> Result<()> {
    Ok(rows.push(&[
        Value::U32(file.folder),
        Value::U8(file.subdirectory.number()),
        Value::Bytes(&file.name),
        Value::U64(file.inode),
        Value::U64(file.size_bytes),
        Value::I64(file.mtime_ns),
        Value::I64(file.ctime_ns),
        Value::U16(file.flags.bits()),
        Value::U32(file.keywords),
        Value::U32(file.message),
    ])?)
}

/// Returns the files of a message, in no particular order.
///
/// # Errors
/// Damage in the store.
pub(crate) fn files_of(table: &Table, message: u32) -> Result<Vec<FileRow>> {
    let found = table.find(files::BY_MESSAGE, &[Value::U32(message)])?;
    found.into_iter().map(|id| file(part_of(table, id), id.row)).collect()
}

/// Returns the part that holds a row.
pub(crate) fn part_of(table: &Table, id: RowId) -> &Part {
    table.part(id)
}

/// Reads the header records of messages, and keeps what reads share. Each thread needs its own.
#[derive(Debug, Default)]
pub struct RecordReader(PayloadReader);

impl RecordReader {
    /// Returns a new reader.
    pub fn new() -> RecordReader {
        RecordReader::default()
    }
}

/// Returns the fields of a message that a list shows.
///
/// # Errors
/// Damage in the store; `directory` names the store in the message.
pub(crate) fn line(part: &Part, row: u32, reader: &mut RecordReader, directory: &Path) -> Result<LineRecord> {
    record::decode_line(line_bytes(part, row, reader)?).ok_or_else(|| damaged_record(directory))
}

/// Returns a message's other header fields.
///
/// # Errors
/// Damage in the store; `directory` names the store in the message.
pub(crate) fn rest(part: &Part, row: u32, reader: &mut RecordReader, directory: &Path) -> Result<Rest> {
    record::decode_rest(rest_bytes(part, row, reader)?).ok_or_else(|| damaged_record(directory))
}

/// Returns the record of the fields that a list shows.
///
/// # Errors
/// Damage in the store.
pub(crate) fn line_bytes<'a>(part: &'a Part, row: u32, reader: &'a mut RecordReader) -> Result<&'a [u8]> {
    Ok(part.payload(messages::LINE, row, &mut reader.0)?)
}

/// Returns the record of the other header fields.
///
/// # Errors
/// Damage in the store.
pub(crate) fn rest_bytes<'a>(part: &'a Part, row: u32, reader: &'a mut RecordReader) -> Result<&'a [u8]> {
    Ok(part.payload(messages::REST, row, &mut reader.0)?)
}

/// Returns what to say of a header record that cannot be read. `directory` is the store's.
pub(crate) fn damaged_record(directory: &Path) -> Error {
    Error::Damaged { path: directory.to_owned(), what: "a header record" }
}

/// Appends an absent message to rows of `absent`.
///
/// # Errors
/// A limit of the store.
pub(crate) fn push_absent(rows: &mut Rows, message: u32, since_seconds: i64) -> Result<()> {
    debug_assert_eq!((absent::MESSAGE, absent::SINCE), (0, 1));
    Ok(rows.push(&[Value::U32(message), Value::I64(since_seconds)])?)
}

/// Returns empty rows for a table.
///
/// # Errors
/// The table is missing.
pub(crate) fn empty(snapshot: &Snapshot, table: &str) -> Result<Rows> {
    let table = snapshot.table(table)?;
    let schema: &Arc<Schema> = table.schema();
    Ok(Rows::new(schema))
}
