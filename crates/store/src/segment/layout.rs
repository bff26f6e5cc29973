//! The sections of a segment, checked against its schema (docs/FORMAT.md, "Segment").
//!
//! Input: a sealed file of the segment kind, and the expected schema. Output: a [`Layout`] of sections that
//! follow one another and have the lengths that the row count requires. The cost does not depend on the
//! number of rows.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::error::{Damage, Error, Result};
use crate::file::sealed::Sealed;
use crate::format::{
    BLOCK_ENTRY_BYTES, BUCKET_BYTES, ENTRY_BYTES, FOOTER_BYTES, FOOTER_RESERVED_OFFSET, PACKED_ENTRY_BYTES,
    PACKED_LINE_BYTES, PACKED_ROWS, SECTION_ALIGNMENT, SECTION_BLOB, SECTION_BLOCK_TABLE, SECTION_BLOCKS,
    SECTION_DICTIONARY, SECTION_FIXED, SECTION_HASH_BUCKETS, SECTION_HASH_GROUPS, SECTION_OFFSETS_LARGE,
    SECTION_OFFSETS_SMALL, SECTION_ORDER_HINTS, SECTION_ORDER_ROWS, SECTION_PACKED, SECTION_PACKED_TABLE,
    SEGMENT_VERSION, SEGMENT_VERSION_PLAIN,
};
use crate::limits::{DICTIONARY_BYTES_MAX, ROWS_PER_SEGMENT_MAX};
use crate::schema::{Codec, IndexKind, Kind, Schema};

/// A piece of a segment's content, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) start: u64,
    pub(crate) length: u64,
}

/// The positions of a segment's parts.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) row_count: u32,
    pub(crate) columns: Vec<ColumnLayout>,
    pub(crate) indexes: Vec<IndexLayout>,
    /// All sections of the content except the footer, in file order.
    pub(crate) sections: Vec<Section>,
}

/// The position of a column.
#[derive(Debug)]
pub(crate) enum ColumnLayout {
    /// Numbers.
    Numbers(NumbersLayout),
    /// Ids.
    Ids(Section),
    /// Values one after another, or compressed row by row.
    Rows { dictionary: Option<Section>, blob: Section, offsets: OffsetsLayout },
    /// Values compressed in blocks.
    Blocks(BlocksLayout),
}

/// The positions of a column of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlocksLayout {
    pub(crate) dictionary: Option<Section>,
    pub(crate) blocks: Section,
    pub(crate) table: Section,
}

/// The position of numbers, of which there is one for each row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumbersLayout {
    /// One after another, each as wide as its kind.
    Plain(Section),
    /// In few bits each.
    Packed(PackedLayout),
}

/// The position of packed numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedLayout {
    pub(crate) blocks: Section,
    pub(crate) table: Section,
}

/// The position of a column's offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OffsetsLayout {
    /// u32 each.
    Small(Section),
    /// u64 each.
    Large(Section),
    /// Packed.
    Packed(PackedLayout),
}

impl NumbersLayout {
    /// Returns where the numbers begin.
    pub(crate) fn start(self) -> u64 {
        match self {
            NumbersLayout::Plain(section) => section.start,
            NumbersLayout::Packed(packed) => packed.blocks.start,
        }
    }
}

impl OffsetsLayout {
    /// Returns where the offsets begin.
    pub(crate) fn start(self) -> u64 {
        match self {
            OffsetsLayout::Small(section) | OffsetsLayout::Large(section) => section.start,
            OffsetsLayout::Packed(packed) => packed.blocks.start,
        }
    }
}

/// The position of an index.
#[derive(Debug)]
pub(crate) enum IndexLayout {
    Ordered { rows: NumbersLayout, hints: NumbersLayout },
    Hash { buckets: Section, home_count: u64, groups: Section },
}

/// One entry of the directory.
#[derive(Clone, Copy)]
struct Entry {
    tag: u32,
    owner: u32,
    section: Section,
    detail: u64,
}

/// Reads and checks where everything lies.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Version`], or [`Error::Schema`] if the file is whole but of another schema.
pub(crate) fn read_layout(sealed: &Sealed, schema: &Schema) -> Result<Layout> {
    let end = sealed.content_length();
    let Some(footer_start) = end.checked_sub(FOOTER_BYTES as u64) else {
        return Err(sealed.corrupt(0, format!("{end} bytes are too few for a segment")));
    };
    let in_footer = |damage: Damage| damage.in_file(sealed.path(), footer_start);
    let footer = read_footer(sealed.range(footer_start..end)?).map_err(in_footer)?;
    if footer.version > SEGMENT_VERSION {
        let (path, found) = (sealed.path().to_owned(), footer.version);
        return Err(Error::Version { path, found, newest: SEGMENT_VERSION });
    }
    let [schema_section, directory_section] = check_tail(&footer, footer_start).map_err(in_footer)?;
    check_schema(sealed, schema_section, schema)?;
    let directory = sealed.range(directory_section.start..footer_start)?;
    let in_directory = |damage: Damage| damage.in_file(sealed.path(), directory_section.start);
    let entries = read_entries(directory, footer.section_count).map_err(in_directory)?;
    if footer.version == SEGMENT_VERSION_PLAIN && entries.iter().any(|entry| entry.tag == SECTION_PACKED) {
        return Err(sealed.corrupt(directory_section.start, "version 1 has no packed numbers"));
    }
    let mut walk = Walk { entries: &entries, index: 0, position: 0 };
    let mut layout = walk.layout(schema, footer.row_count).map_err(in_directory)?;
    layout.sections.extend([schema_section, directory_section]);
    if walk.position != schema_section.start || walk.index != entries.len() {
        return Err(
            sealed.corrupt(directory_section.start, "there are more sections than the schema asks for")
        );
    }
    Ok(layout)
}

struct Footer {
    version: u32,
    row_count: u32,
    schema: Section,
    directory_start: u64,
    section_count: u64,
}

fn read_footer(bytes: &[u8]) -> std::result::Result<Footer, Damage> {
    let mut cursor = Cursor::new(bytes);
    let (version, row_count) = (cursor.u32("the version")?, cursor.u32("the row count")?);
    let schema = Section { start: cursor.u64("the schema")?, length: cursor.u64("the schema's length")? };
    let directory_start = cursor.u64("the directory")?;
    let section_count = cursor.u64("the section count")?;
    let reserved: [u8; FOOTER_BYTES - FOOTER_RESERVED_OFFSET] = cursor.array("zeros")?;
    if version == 0 || row_count > ROWS_PER_SEGMENT_MAX {
        return Err(Damage::new(0, format!("version {version} with {row_count} rows")));
    }
    if reserved.iter().any(|&byte| byte != 0) {
        return Err(Damage::new(FOOTER_RESERVED_OFFSET, "reserved bytes are not zero"));
    }
    Ok(Footer { version, row_count, schema, directory_start, section_count })
}

/// Checks that schema, directory and footer follow one another.
fn check_tail(footer: &Footer, footer_start: u64) -> std::result::Result<[Section; 2], Damage> {
    let directory_length = footer.section_count.checked_mul(ENTRY_BYTES as u64);
    let directory = directory_length.map(|length| Section { start: footer.directory_start, length });
    match directory {
        Some(directory)
            if aligned_end(footer.schema) == Some(directory.start)
                && aligned_end(directory) == Some(footer_start)
                && footer.schema.start.is_multiple_of(SECTION_ALIGNMENT) =>
        {
            Ok([footer.schema, directory])
        }
        _ => Err(Damage::new(0, "schema, directory and footer do not follow one another")),
    }
}

/// Returns where the section after this one begins.
fn aligned_end(section: Section) -> Option<u64> {
    section.start.checked_add(section.length)?.checked_next_multiple_of(SECTION_ALIGNMENT)
}

fn check_schema(sealed: &Sealed, section: Section, expected: &Schema) -> Result<()> {
    let bytes = sealed.range(section.start..section.start.saturating_add(section.length))?;
    if bytes == expected.encode() {
        return Ok(());
    }
    let found = Schema::decode(bytes).map_err(|damage| damage.in_file(sealed.path(), section.start))?;
    let what = format!("{} has rows of another schema of table {}", sealed.path().display(), found.name);
    Err(Error::schema(&expected.name, what))
}

fn read_entries(bytes: &[u8], count: u64) -> std::result::Result<Vec<Entry>, Damage> {
    let mut cursor = Cursor::new(bytes);
    let mut entries = Vec::new();
    for _ in 0..count {
        let (tag, owner) = (cursor.u32("a section's tag")?, cursor.u32("a section's owner")?);
        let section =
            Section { start: cursor.u64("a section's start")?, length: cursor.u64("a section's length")? };
        entries.push(Entry { tag, owner, section, detail: cursor.u64("a section's detail")? });
    }
    Ok(entries)
}

/// Goes through the directory in the order that the schema prescribes.
struct Walk<'a> {
    entries: &'a [Entry],
    index: usize,
    /// The offset at which the next section must begin.
    position: u64,
}

impl Walk<'_> {
    fn layout(&mut self, schema: &Schema, row_count: u32) -> std::result::Result<Layout, Damage> {
        let mut columns = Vec::with_capacity(schema.columns.len());
        for (owner, column) in (0_u32..).zip(&schema.columns) {
            columns.push(self.column(owner, column.kind, u64::from(row_count))?);
        }
        let mut indexes = Vec::with_capacity(schema.indexes.len());
        for (owner, index) in (0_u32..).zip(&schema.indexes) {
            indexes.push(match index.kind {
                IndexKind::Ordered => self.ordered(owner, u64::from(row_count))?,
                IndexKind::Hash => self.hash(owner, u64::from(row_count))?,
            });
        }
        let sections = self.entries.iter().map(|entry| entry.section).collect();
        Ok(Layout { row_count, columns, indexes, sections })
    }

    fn column(
        &mut self,
        owner: u32,
        kind: Kind,
        row_count: u64,
    ) -> std::result::Result<ColumnLayout, Damage> {
        if kind == Kind::Id {
            return Ok(ColumnLayout::Ids(self.exactly(
                SECTION_FIXED,
                owner,
                row_count.saturating_mul(32),
            )?));
        }
        if let Some(width) = kind.width() {
            return Ok(ColumnLayout::Numbers(self.numbers(SECTION_FIXED, owner, row_count, width as u64)?));
        }
        let dictionary = match kind {
            Kind::Payload(Codec::ZstdDictionary { .. }) => {
                let fits = |length| length <= u64::from(DICTIONARY_BYTES_MAX);
                Some(self.next(SECTION_DICTIONARY, owner, fits)?.section)
            }
            _ => None,
        };
        if let Kind::Payload(codec) = kind
            && codec.block_bytes().is_some()
        {
            let blocks = self.next(SECTION_BLOCKS, owner, |_| true)?.section;
            // A table has an entry more than there are blocks, and no block is without rows.
            let entry = BLOCK_ENTRY_BYTES as u64;
            let most = row_count.saturating_add(1).saturating_mul(entry);
            let fits = |length: u64| length.is_multiple_of(entry) && (entry..=most).contains(&length);
            let table = self.next(SECTION_BLOCK_TABLE, owner, fits)?.section;
            return Ok(ColumnLayout::Blocks(BlocksLayout { dictionary, blocks, table }));
        }
        let blob = self.next(SECTION_BLOB, owner, |_| true)?.section;
        let offsets = self.offsets(owner, row_count.saturating_add(1))?;
        Ok(ColumnLayout::Rows { dictionary, blob, offsets })
    }

    fn ordered(&mut self, owner: u32, row_count: u64) -> std::result::Result<IndexLayout, Damage> {
        let rows = self.numbers(SECTION_ORDER_ROWS, owner, row_count, 4)?;
        let hints = self.numbers(SECTION_ORDER_HINTS, owner, row_count, 8)?;
        Ok(IndexLayout::Ordered { rows, hints })
    }

    fn offsets(&mut self, owner: u32, count: u64) -> std::result::Result<OffsetsLayout, Damage> {
        Ok(match self.next_tag() {
            Some(SECTION_PACKED) => OffsetsLayout::Packed(self.packed(owner, count)?),
            Some(SECTION_OFFSETS_LARGE) => {
                let length = count.saturating_mul(8);
                OffsetsLayout::Large(self.exactly(SECTION_OFFSETS_LARGE, owner, length)?)
            }
            _ => OffsetsLayout::Small(self.exactly(SECTION_OFFSETS_SMALL, owner, count.saturating_mul(4))?),
        })
    }

    /// Takes `count` numbers: packed ones, or a section `tag` of numbers of this width in bytes.
    fn numbers(
        &mut self,
        tag: u32,
        owner: u32,
        count: u64,
        width: u64,
    ) -> std::result::Result<NumbersLayout, Damage> {
        if self.next_tag() == Some(SECTION_PACKED) {
            return Ok(NumbersLayout::Packed(self.packed(owner, count)?));
        }
        Ok(NumbersLayout::Plain(self.exactly(tag, owner, count.saturating_mul(width))?))
    }

    fn packed(&mut self, owner: u32, count: u64) -> std::result::Result<PackedLayout, Damage> {
        let fits = |length: u64| length.is_multiple_of(PACKED_LINE_BYTES as u64);
        let blocks = self.next(SECTION_PACKED, owner, fits)?.section;
        let length = count.div_ceil(PACKED_ROWS as u64).saturating_mul(PACKED_ENTRY_BYTES as u64);
        let table = self.exactly(SECTION_PACKED_TABLE, owner, length)?;
        Ok(PackedLayout { blocks, table })
    }

    fn next_tag(&self) -> Option<u32> {
        self.entries.get(self.index).map(|entry| entry.tag)
    }

    fn hash(&mut self, owner: u32, row_count: u64) -> std::result::Result<IndexLayout, Damage> {
        let bucket = BUCKET_BYTES as u64;
        let fits = |length: u64| length.is_multiple_of(bucket) && length > 0;
        let buckets = self.next(SECTION_HASH_BUCKETS, owner, fits)?;
        let bucket_count = buckets.section.length.checked_div(bucket).unwrap_or(0);
        let home_count = buckets.detail;
        if home_count == 0 || home_count > bucket_count || home_count > u64::from(u32::MAX) {
            return Err(self.damage(format!("{home_count} of {bucket_count} buckets are homes")));
        }
        let most = row_count.saturating_mul(4);
        let groups =
            self.next(SECTION_HASH_GROUPS, owner, |length| length.is_multiple_of(4) && length <= most)?;
        Ok(IndexLayout::Hash { buckets: buckets.section, home_count, groups: groups.section })
    }

    fn exactly(&mut self, tag: u32, owner: u32, length: u64) -> std::result::Result<Section, Damage> {
        Ok(self.next(tag, owner, |found| found == length)?.section)
    }

    /// Takes the next entry, which must be of this tag and owner, begin where the last one ended, and have a
    /// fitting length.
    fn next(
        &mut self,
        tag: u32,
        owner: u32,
        fits: impl FnOnce(u64) -> bool,
    ) -> std::result::Result<Entry, Damage> {
        let Some(entry) = self.entries.get(self.index).copied() else {
            return Err(self.damage(format!("section {tag} of {owner} is missing")));
        };
        if (entry.tag, entry.owner, entry.section.start) != (tag, owner, self.position) {
            let what = format!(
                "section {} of {} at byte {} stands where section {tag} of {owner} at byte {} belongs",
                entry.tag, entry.owner, entry.section.start, self.position
            );
            return Err(self.damage(what));
        }
        let end = aligned_end(entry.section).filter(|_| fits(entry.section.length));
        let has_detail = entry.detail != 0;
        let (Some(end), true) = (end, !has_detail || tag == SECTION_HASH_BUCKETS) else {
            let (length, detail) = (entry.section.length, entry.detail);
            return Err(
                self.damage(format!("section {tag} of {owner} cannot have {length} bytes and {detail}"))
            );
        };
        self.position = end;
        self.index = self.index.saturating_add(1);
        Ok(entry)
    }

    fn damage(&self, what: String) -> Damage {
        Damage::new(self.index.saturating_mul(ENTRY_BYTES), what)
    }
}
