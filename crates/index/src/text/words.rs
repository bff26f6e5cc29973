//! Lists of a segment's distinct words, a part of its file, for queries about parts of words (docs/FORMAT.md,
//! "Lists of words").
//!
//! Input: the terms of a segment while it is written, or after a merge; later a test. Output: the words that
//! the test accepts.
//! tantivy's own list of terms is compact and expensive to unpack. Here the words of a field are contiguous
//! and are searched at memory speed. A list pays off only for many words; a segment without this part uses
//! tantivy's list. Must not know what is searched for.

use crate::text::directory::TextFiles;
use crate::text::fields::TextField;
use crate::text::parts::{Part, WORDS};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use tantivy::directory::{Directory, FileHandle, OwnedBytes, TerminatingWrite, WritePtr};
use tantivy::{Index, SegmentReader};

/// Fewest distinct words of a field for which a segment has a list.
pub(super) const WORD_COUNT_MIN: usize = 1 << 14;
/// A piece ends after the word that reaches this many bytes. One thread searches one piece at a time.
const PIECE_BYTES: u64 = 1 << 18;
/// Ends each word; no word contains it.
const END: u8 = b'\n';
/// Bytes of a piece's entry in the table: its field's number, its start and its end.
const ENTRY_BYTES: usize = 24;
/// Bytes of the tail: the number of pieces.
const TAIL_BYTES: u64 = 8;

/// A test of words, one by one or many at once.
pub(crate) trait WordTest: Clone + Send + Sync {
    /// Returns whether it accepts a word.
    fn likes(&self, word: &[u8]) -> bool;

    /// Calls `each` with the range of every word in `words` that it accepts, in order. A line feed ends each
    /// word, and no word contains one.
    fn find_all(&self, words: &[u8], each: &mut dyn FnMut(Range<usize>)) {
        test_each(words, 0..words.len(), |word| self.likes(word), each);
    }
}

/// Accepts every word.
#[derive(Clone)]
pub(super) struct Any;

impl WordTest for Any {
    fn likes(&self, _word: &[u8]) -> bool {
        true
    }
}

/// Calls `each` with the range of every word in `part` of `words` that `likes` accepts. The part begins and
/// ends at word boundaries.
pub(crate) fn test_each(
    words: &[u8],
    part: Range<usize>,
    likes: impl Fn(&[u8]) -> bool,
    each: &mut dyn FnMut(Range<usize>),
) {
    let mut start = part.start;
    for length in words.get(part).unwrap_or_default().split_inclusive(|byte| *byte == END).map(<[u8]>::len) {
        let word = start..start + length - 1;
        start += length;
        if likes(words.get(word.clone()).unwrap_or_default()) {
            each(word);
        }
    }
}

/// Returns the range of the word that contains the byte at `place`.
pub(crate) fn word_around(words: &[u8], place: usize) -> Range<usize> {
    let (before, behind) = words.split_at(place.min(words.len()));
    let start = memchr::memrchr(END, before).map_or(0, |end| end + 1);
    let end = memchr::memchr(END, behind).map_or(words.len(), |end| place + end);
    start..end
}

/// Consecutive words of one field of a segment.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    field: u64,
    bytes: Range<u64>,
}

/// The list of words of a segment.
pub(super) struct WordList {
    part: Part,
    pieces: Vec<Piece>,
}

impl WordList {
    /// Opens the list of a segment. Returns `None` if it has none.
    ///
    /// # Errors
    /// A damaged file.
    pub(super) fn open(files: &TextFiles, segment: &str) -> tantivy::Result<Option<WordList>> {
        let Some(part) = files.part(segment, WORDS)? else { return Ok(None) };
        match read_table(&part)? {
            Some(pieces) => Ok(Some(WordList { part, pieces })),
            None => Err(part.corrupt("its table of pieces of lists of words is not valid").into()),
        }
    }

    /// Returns the pieces of a field's list. There are none if the field has no list.
    pub(super) fn pieces(&self, field: TextField) -> impl Iterator<Item = &Piece> {
        let number = number(field);
        self.pieces.iter().filter(move |piece| piece.field == number)
    }

    /// Returns the words of a piece, each ended by a line feed.
    ///
    /// # Errors
    /// Damage.
    pub(super) fn words(&self, piece: &Piece) -> io::Result<OwnedBytes> {
        read(&self.part, &piece.bytes)
    }
}

fn read(file: &dyn FileHandle, range: &Range<u64>) -> io::Result<OwnedBytes> {
    let too_large = |_| io::Error::other("the file is larger than memory can be");
    file.read_bytes(
        usize::try_from(range.start).map_err(too_large)?..usize::try_from(range.end).map_err(too_large)?,
    )
}

/// Reads the table. Returns `None` if it is invalid.
fn read_table(file: &dyn FileHandle) -> io::Result<Option<Vec<Piece>>> {
    let length = file.len() as u64;
    let Some(table_end) = length.checked_sub(TAIL_BYTES) else { return Ok(None) };
    let count = number_at(&read(file, &(table_end..length))?, 0);
    let Some(table_start) =
        count.checked_mul(ENTRY_BYTES as u64).and_then(|bytes| table_end.checked_sub(bytes))
    else {
        return Ok(None);
    };
    let table = read(file, &(table_start..table_end))?;
    let pieces = table
        .chunks_exact(ENTRY_BYTES)
        .map(|entry| Piece { field: number_at(entry, 0), bytes: number_at(entry, 8)..number_at(entry, 16) });
    let pieces: Vec<Piece> = pieces.collect();
    let is_within = |piece: &Piece| piece.bytes.start <= piece.bytes.end && piece.bytes.end <= table_start;
    Ok(pieces.iter().all(is_within).then_some(pieces))
}

fn number_at(bytes: &[u8], place: usize) -> u64 {
    let found = bytes.get(place..).and_then(|rest| rest.first_chunk::<8>());
    found.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Writes the lists of segments that were just merged and are not sealed yet.
///
/// # Errors
/// An error of the disk.
pub(super) fn write(files: &TextFiles, index: &Index) -> tantivy::Result<()> {
    for segment in index.searchable_segments()? {
        let reader = SegmentReader::open(&segment)?;
        let mut lists = Lists::new(files, &segment.id().uuid_string());
        for field in TextField::all() {
            let inverted = reader.inverted_index(field.field())?;
            if !lists.begin(field, inverted.terms().num_terms())? {
                continue;
            }
            let mut words = inverted.terms().stream()?;
            while words.advance() {
                lists.push(words.key())?;
            }
            lists.end();
        }
        lists.finish()?;
    }
    Ok(())
}

/// Writes the lists of a segment, field by field. There is no such part if no field has enough words.
pub(super) struct Lists<'a> {
    files: &'a TextFiles,
    path: PathBuf,
    out: Option<WritePtr>,
    /// The pieces of lists that are whole.
    pieces: Vec<Piece>,
    /// The pieces of the list being written, of which the last one is open. None if the field has no list.
    open: Vec<Piece>,
    /// Where the next word goes in the part.
    position: u64,
}

impl<'a> Lists<'a> {
    /// Returns a writer of the lists of this segment.
    pub(super) fn new(files: &'a TextFiles, segment: &str) -> Lists<'a> {
        Lists { files, path: path(segment), out: None, pieces: Vec::new(), open: Vec::new(), position: 0 }
    }

    /// Begins a field with this many distinct words. Returns whether it gets a list.
    ///
    /// # Errors
    /// An error of the disk.
    pub(super) fn begin(&mut self, field: TextField, word_count: usize) -> tantivy::Result<bool> {
        // Words of configured headers follow the header's name in a term, and no query searches them without
        // it.
        let is_listed = word_count >= WORD_COUNT_MIN && field != TextField::Header;
        if is_listed {
            if self.out.is_none() {
                self.out = Some(self.files.open_write(&self.path)?);
            }
            self.open = vec![Piece { field: number(field), bytes: self.position..self.position }];
        }
        Ok(is_listed)
    }

    /// Adds the next word, in the order of tantivy's list. Does nothing if the field has no list.
    ///
    /// # Errors
    /// An error of the disk.
    pub(super) fn push(&mut self, word: &[u8]) -> io::Result<()> {
        let (Some(piece), Some(out)) = (self.open.last_mut(), &mut self.out) else { return Ok(()) };
        if word.contains(&END) {
            // Only whole values may contain a line feed. A field with such a value gets no list.
            self.open.clear();
            return Ok(());
        }
        out.write_all(word)?;
        out.write_all(&[END])?;
        self.position += word.len() as u64 + 1;
        piece.bytes.end = self.position;
        if self.position - piece.bytes.start >= PIECE_BYTES {
            let next = Piece { field: piece.field, bytes: self.position..self.position };
            self.open.push(next);
        }
        Ok(())
    }

    /// Ends the list of a field.
    pub(super) fn end(&mut self) {
        self.pieces.extend(self.open.drain(..).filter(|piece| !piece.bytes.is_empty()));
    }

    /// Writes the table of pieces, if there is any list.
    ///
    /// # Errors
    /// An error of the disk.
    pub(super) fn finish(self) -> io::Result<()> {
        let Some(mut out) = self.out else { return Ok(()) };
        for piece in &self.pieces {
            for number in [piece.field, piece.bytes.start, piece.bytes.end] {
                out.write_all(&number.to_le_bytes())?;
            }
        }
        out.write_all(&(self.pieces.len() as u64).to_le_bytes())?;
        out.terminate()
    }
}

fn number(field: TextField) -> u64 {
    u64::from(field.field().field_id())
}

fn path(segment: &str) -> PathBuf {
    format!("{segment}.{WORDS}").into()
}
