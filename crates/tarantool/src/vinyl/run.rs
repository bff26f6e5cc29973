//! A run: two files, one with rows in pages, one that says where the pages are.
//!
//! Input: the bytes of both files. Output: [`RunFiles`], and the [`Pages`] of a run in order. Does not know
//! what rows mean.
//!
//! A page is a block of the `.run` file. The `.index` file has a row about the run, then a row for each page.
//! Nothing that it says is trusted: a page is where a block is.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::key::{KeyBuffer, KeyReader};
use crate::error::{Damage, Error, Result};
use crate::file::block::{BlockPlace, Step, Unpacker, read_head};
use crate::file::header::{FileKind, Header};
use crate::file::row::{Row, RowKind, rows};
use crate::msgpack::{self, Reader};
use disk::{Disk, Map};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Kinds of rows in these files.
const RUN_INFO: RowKind = RowKind::Other(100);
const PAGE_INFO: RowKind = RowKind::Other(101);
pub(super) const ROW_INDEX: RowKind = RowKind::Other(102);

/// The files of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunFiles {
    /// The file with rows.
    pub(crate) path: PathBuf,
    /// The file that says where the pages are.
    pub(crate) index_path: PathBuf,
    /// Its content, or why it cannot be read.
    rows: std::result::Result<Map, String>,
    /// The content of the other one.
    index: std::result::Result<Map, String>,
}

/// A page of a run.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// The block.
    pub(super) place: BlockPlace,
    /// How many rows it has, if that is known.
    pub(super) row_count: Option<u64>,
    /// Its first key, in the bytes of [`Pages`].
    key: Range<usize>,
}

/// The pages of a run, in order.
#[derive(Debug, Default)]
pub(super) struct Pages {
    pub(super) pages: Vec<Page>,
    /// Whether the mark of a closed file comes after the last page.
    pub(super) are_closed: bool,
    keys: Vec<u8>,
}

/// What an index file says about its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunInfo {
    /// How many pages there are.
    pub(crate) page_count: u64,
    /// How many rows are in them.
    pub(crate) row_count: u64,
}

impl Pages {
    /// Returns the first key of a page.
    pub(super) fn first_key(&self, page: &Page) -> &[u8] {
        self.keys.get(page.key.clone()).unwrap_or_default()
    }

    /// Returns the number of the first page that may have rows from `key` on.
    pub(super) fn first_with(&self, key: &[u8]) -> usize {
        // Several pages may begin with one key, and the page before them may end with it.
        self.pages.partition_point(|page| self.first_key(page) < key).saturating_sub(1)
    }
}

impl RunFiles {
    /// Opens a run of an index.
    pub(crate) fn open(disk: &dyn Disk, directory: &Path, space: u32, index: u32, run: i64) -> RunFiles {
        let directory = directory.join(space.to_string()).join(index.to_string());
        let path = directory.join(format!("{run:020}.{}", FileKind::Run.extension()));
        let index_path = directory.join(format!("{run:020}.{}", FileKind::RunIndex.extension()));
        let map = |path: &Path| disk.map(path).map_err(|error| error.to_string());
        let (rows, index) = (map(&path), map(&index_path));
        RunFiles { path, index_path, rows, index }
    }

    /// Returns why the files cannot be read.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.rows.as_ref().err().or(self.index.as_ref().err()).map(String::as_str)
    }

    /// Returns how long both files are together.
    pub(crate) fn length_bytes(&self) -> u64 {
        let length = |map: &std::result::Result<Map, String>| map.as_ref().map_or(0, |map| map.len());
        length(&self.rows).saturating_add(length(&self.index)) as u64
    }

    /// Returns the content of the file with rows.
    pub(super) fn rows(&self) -> &[u8] {
        self.rows.as_deref().unwrap_or_default()
    }

    /// Reads the index file.
    ///
    /// # Errors
    /// Damage; a file that is missing.
    pub(super) fn pages(&self, keys: &KeyReader) -> Result<Pages> {
        let mut pages = Pages::default();
        let (mut buffer, mut key) = (KeyBuffer::default(), Vec::new());
        let begin = self.first_block()?;
        let bytes = self.rows();
        let mut at = begin;
        self.each_page(|info| {
            keys.of_whole_key(info.min_key, &mut buffer, &mut key)?;
            let place = page_at(bytes, &info, at)?;
            at = place.payload.end;
            let first = pages.keys.len();
            pages.keys.extend_from_slice(&key);
            let page = Page { place, row_count: Some(info.row_count), key: first..pages.keys.len() };
            let before = pages.pages.last().map(|page| pages.first_key(page));
            if before.is_some_and(|before| before > key.as_slice()) {
                return Err(Damage::new(0, "the pages of a run are not in order"));
            }
            pages.pages.push(page);
            Ok(())
        })?;
        // Everything in the file must be a page of it.
        match read_head(bytes, at) {
            Ok(Step::Eof) => Ok(Pages { are_closed: true, ..pages }),
            Ok(_) => Err(Damage::new(at, "its index does not have all pages").in_file(&self.path, 0)),
            Err(damage) => Err(damage.in_file(&self.path, 0)),
        }
    }

    /// Reads what the index file says about the run, without keys.
    ///
    /// # Errors
    /// Damage; a file that is missing.
    pub(crate) fn info(&self) -> Result<RunInfo> {
        let mut info = RunInfo::default();
        self.each_page(|page| {
            info.page_count = info.page_count.saturating_add(1);
            info.row_count = info.row_count.saturating_add(page.row_count);
            Ok(())
        })?;
        Ok(info)
    }

    /// Finds the pages of a run without its index: all blocks whose first row has a key.
    ///
    /// # Errors
    /// If the file is missing.
    pub(super) fn pages_without_index(&self, keys: &KeyReader) -> Result<Pages> {
        let mut pages = Pages::default();
        let (mut buffer, mut key) = (KeyBuffer::default(), Vec::new());
        let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
        let bytes = self.rows();
        let mut at = self.first_block()?;
        while let Ok(Step::Block(place)) = read_head(bytes, at) {
            at = place.payload.end;
            let first = unpacker.unpack(bytes, &place).ok().and_then(|payload| rows(payload).next()?.ok());
            let Some(row) = first else { continue };
            if key_of(&row, keys, &mut buffer, &mut key).is_err() {
                continue;
            }
            let first = pages.keys.len();
            pages.keys.extend_from_slice(&key);
            pages.pages.push(Page { place, row_count: None, key: first..pages.keys.len() });
        }
        pages.are_closed = matches!(read_head(bytes, at), Ok(Step::Eof));
        Ok(pages)
    }

    /// Returns the bytes of the run that are no page, if its index is not used: what is damaged.
    pub(super) fn unread_bytes(&self, pages: &Pages) -> u64 {
        let bytes = self.rows();
        let begin = self.first_block().unwrap_or(0);
        let read = pages.pages.iter().map(|page| page.place.payload.end.saturating_sub(page.place.offset));
        let read = read.fold(begin, usize::saturating_add).saturating_add(crate::file::block::END.len());
        bytes.len().saturating_sub(read) as u64
    }

    /// Returns the offset of the first block of the file with rows.
    pub(super) fn first_block(&self) -> Result<usize> {
        let rows = content(&self.rows, &self.path)?;
        header(rows, FileKind::Run).map_err(|damage| damage.in_file(&self.path, 0))
    }

    /// Passes what the index file says of each page to `take`.
    fn each_page(&self, mut take: impl FnMut(PageInfo) -> msgpack::Result<()>) -> Result<()> {
        let index = content(&self.index, &self.index_path)?;
        each_page_info(index, &mut take).map_err(|damage| damage.in_file(&self.index_path, 0))
    }
}

/// Returns the content of a file, or the error of one that cannot be read.
fn content<'a>(map: &'a std::result::Result<Map, String>, path: &Path) -> Result<&'a Map> {
    map.as_ref().map_err(|what| {
        let what = format!("a run of vinyl cannot be read: {what}");
        Error::Refused { path: path.to_owned(), what }
    })
}

/// Reads the header of a file of a run. Returns where the first block is.
fn header(bytes: &[u8], kind: FileKind) -> msgpack::Result<usize> {
    let (header, offset) = Header::parse(bytes)?;
    if header.kind != kind {
        return Err(Damage::new(0, "its first line and its name disagree"));
    }
    Ok(offset)
}

/// What an index file says of a page.
struct PageInfo<'a> {
    offset: u64,
    size_bytes: u64,
    row_count: u64,
    min_key: &'a [u8],
}

/// Reads an index file: one block, with a row about the run and a row for each page.
fn each_page_info(
    bytes: &[u8],
    take: &mut dyn FnMut(PageInfo) -> msgpack::Result<()>,
) -> msgpack::Result<()> {
    let begin = header(bytes, FileKind::RunIndex)?;
    let mut unpacker = Unpacker::default();
    let cut_off = |at| Damage::new(at, "the index of a run is cut off");
    let (mut at, mut expected, mut count) = (begin, None, 0_u64);
    loop {
        let place = match read_head(bytes, at)? {
            Step::Block(place) => place,
            Step::Eof => break,
            Step::End => return Err(cut_off(at)),
        };
        let here = |damage: Damage| Damage { offset: place.offset, ..damage };
        for row in rows(unpacker.unpack(bytes, &place)?) {
            let row = row.map_err(here)?;
            match (row.kind, expected) {
                (RUN_INFO, None) => expected = Some(page_count(row.body.bytes).map_err(here)?),
                (PAGE_INFO, Some(_)) => {
                    take(page_info(row.body.bytes).map_err(here)?).map_err(here)?;
                    count = count.saturating_add(1);
                }
                _ => return Err(here(Damage::new(0, "the index of a run has another row than is expected"))),
            }
        }
        at = place.payload.end;
    }
    match expected == Some(count) {
        true => Ok(()),
        false => Err(cut_off(at)),
    }
}

/// Reads the number of pages in a row about a run.
fn page_count(body: &[u8]) -> msgpack::Result<u64> {
    let mut reader = Reader::new(body);
    let missing = reader.damage("the index of a run does not tell the number of pages");
    let mut count = None;
    for _ in 0..reader.map_len()? {
        match reader.uint()? {
            5 => count = Some(reader.uint()?),
            _ => {
                reader.skip()?;
            }
        }
    }
    count.ok_or(missing)
}

fn page_info(body: &[u8]) -> msgpack::Result<PageInfo<'_>> {
    let mut reader = Reader::new(body);
    let missing = reader.damage("the index of a run lacks a property of a page");
    let (mut offset, mut size, mut count, mut key) = (None, None, None, None);
    for _ in 0..reader.map_len()? {
        match reader.uint()? {
            1 => offset = Some(reader.uint()?),
            2 => size = Some(reader.uint()?),
            4 => count = Some(reader.uint()?),
            5 => key = Some(reader.skip()?),
            _ => {
                reader.skip()?;
            }
        }
    }
    match (offset, size, count, key) {
        (Some(offset), Some(size_bytes), Some(row_count), Some(min_key)) => {
            Ok(PageInfo { offset, size_bytes, row_count, min_key })
        }
        _ => Err(missing),
    }
}

/// Returns the block of a page, which must be the next one in the file.
fn page_at(bytes: &[u8], info: &PageInfo, expected: usize) -> msgpack::Result<BlockPlace> {
    if info.offset != expected as u64 {
        return Err(Damage::new(0, "a page of a run is not where its index says"));
    }
    match read_head(bytes, expected)? {
        Step::Block(place) if place.payload.end.saturating_sub(expected) as u64 == info.size_bytes => {
            Ok(place)
        }
        _ => Err(Damage::new(0, "a page of a run is not as long as its index says")),
    }
}

/// Writes the key of a row in a run into `out`.
///
/// # Errors
/// If the row has none.
#[inline]
pub(super) fn key_of(
    row: &Row,
    keys: &KeyReader,
    buffer: &mut KeyBuffer,
    out: &mut Vec<u8>,
) -> msgpack::Result<()> {
    match (row.kind, row.body.tuple, row.body.key) {
        (RowKind::Insert | RowKind::Replace | RowKind::Upsert, Some(tuple), _) => {
            keys.of_tuple(tuple, buffer, out)
        }
        (RowKind::Delete, _, Some(key)) => keys.of_whole_key(key, buffer, out),
        _ => Err(Damage::new(0, "a run has a row of an unexpected kind")),
    }
}
