//! The offsets and constants of every structure on disk, with the names and in the order of docs/FORMAT.md.

// ---- Sealed file ----

/// The first bytes of a sealed file's trailer.
pub const SEALED_MAGIC: [u8; 8] = *b"pneuseal";
/// The newest version of the sealed frame.
pub const SEALED_VERSION: u32 = 3;
/// The last version of the sealed frame without the file's name.
pub const SEALED_VERSION_NAMELESS: u32 = 1;
/// Bytes of content that share one checksum. A reader verifies a whole chunk for one value, so a chunk is not
/// much larger than what a disk reads at once anyway.
pub const CHUNK_BYTES: usize = 16_384;
/// The last version of the sealed frame with chunks of [`LARGE_CHUNK_BYTES`].
pub const SEALED_VERSION_LARGE_CHUNKS: u32 = 2;
/// Bytes of content that share one checksum up to version [`SEALED_VERSION_LARGE_CHUNKS`].
pub const LARGE_CHUNK_BYTES: usize = 65_536;
/// Sections begin at multiples of this, in bytes.
pub const SECTION_ALIGNMENT: u64 = 64;

/// The trailer: [`SEALED_MAGIC`].
pub const TRAILER_MAGIC_OFFSET: usize = 0;
/// The trailer: the frame's version, u32.
pub const TRAILER_VERSION_OFFSET: usize = TRAILER_MAGIC_OFFSET + 8;
/// The trailer: the kind of the content, u32, never 0.
pub const TRAILER_KIND_OFFSET: usize = TRAILER_VERSION_OFFSET + 4;
/// The trailer: the content's length in bytes, u64.
pub const TRAILER_CONTENT_LENGTH_OFFSET: usize = TRAILER_KIND_OFFSET + 4;
/// The trailer: the XXH3-64 of the table of chunk checksums, u64.
pub const TRAILER_TABLE_CHECKSUM_OFFSET: usize = TRAILER_CONTENT_LENGTH_OFFSET + 8;
/// The trailer: the XXH3-64 of the file's name, u64; 0 in version 1.
pub const TRAILER_NAME_OFFSET: usize = TRAILER_TABLE_CHECKSUM_OFFSET + 8;
/// The trailer: zeros.
pub const TRAILER_RESERVED_OFFSET: usize = TRAILER_NAME_OFFSET + 8;
/// The trailer: the XXH3-64 of the trailer's bytes before this, u64. It is also the digest by which other
/// files refer to this file.
pub const TRAILER_CHECKSUM_OFFSET: usize = TRAILER_RESERVED_OFFSET + 16;
/// Bytes of the trailer.
pub const TRAILER_BYTES: usize = TRAILER_CHECKSUM_OFFSET + 8;

/// The kind of a sealed file that is a segment.
pub const KIND_SEGMENT: u32 = 1;

// ---- Segment: the content of a sealed file of kind 1 ----

/// The newest version of the segment's layout.
pub const SEGMENT_VERSION: u32 = 2;
/// The version of segments without packed numbers: programs that do not know those read them as well.
pub const SEGMENT_VERSION_PLAIN: u32 = 1;

/// The footer, the content's last bytes: the segment's version, u32.
pub const FOOTER_VERSION_OFFSET: usize = 0;
/// The footer: how many rows, u32.
pub const FOOTER_ROW_COUNT_OFFSET: usize = FOOTER_VERSION_OFFSET + 4;
/// The footer: where the schema begins in the content, u64.
pub const FOOTER_SCHEMA_OFFSET: usize = FOOTER_ROW_COUNT_OFFSET + 4;
/// The footer: the schema's length in bytes, u64.
pub const FOOTER_SCHEMA_LENGTH_OFFSET: usize = FOOTER_SCHEMA_OFFSET + 8;
/// The footer: where the directory begins in the content, u64.
pub const FOOTER_DIRECTORY_OFFSET: usize = FOOTER_SCHEMA_LENGTH_OFFSET + 8;
/// The footer: how many sections the directory lists, u64.
pub const FOOTER_SECTION_COUNT_OFFSET: usize = FOOTER_DIRECTORY_OFFSET + 8;
/// The footer: zeros.
pub const FOOTER_RESERVED_OFFSET: usize = FOOTER_SECTION_COUNT_OFFSET + 8;
/// Bytes of the footer.
pub const FOOTER_BYTES: usize = FOOTER_RESERVED_OFFSET + 24;

/// A directory entry: the kind of the section, u32, one of `SECTION_...`.
pub const ENTRY_SECTION_OFFSET: usize = 0;
/// A directory entry: the number of the column or index it belongs to, u32.
pub const ENTRY_OWNER_OFFSET: usize = ENTRY_SECTION_OFFSET + 4;
/// A directory entry: where the section begins in the content, u64.
pub const ENTRY_START_OFFSET: usize = ENTRY_OWNER_OFFSET + 4;
/// A directory entry: the section's length in bytes, u64.
pub const ENTRY_LENGTH_OFFSET: usize = ENTRY_START_OFFSET + 8;
/// A directory entry: for `SECTION_HASH_BUCKETS` how many home buckets, else 0, u64.
pub const ENTRY_DETAIL_OFFSET: usize = ENTRY_LENGTH_OFFSET + 8;
/// Bytes of a directory entry.
pub const ENTRY_BYTES: usize = ENTRY_DETAIL_OFFSET + 8;

/// A column's values, each as wide as its kind.
pub const SECTION_FIXED: u32 = 1;
/// The start of each value in `SECTION_BLOB`, and the end of the last one: u32 each.
pub const SECTION_OFFSETS_SMALL: u32 = 2;
/// The same as u64 each, for blobs of 4 GiB and more.
pub const SECTION_OFFSETS_LARGE: u32 = 3;
/// A column's bytes, value after value. In a payload column, each row is compressed if its codec says so.
pub const SECTION_BLOB: u32 = 4;
/// The table of compressed blocks.
pub const SECTION_BLOCK_TABLE: u32 = 5;
/// Compressed blocks, one after another.
pub const SECTION_BLOCKS: u32 = 6;
/// The dictionary of a payload column; empty if none could be trained.
pub const SECTION_DICTIONARY: u32 = 7;
/// An ordered index: row numbers in key order, u32 each.
pub const SECTION_ORDER_ROWS: u32 = 8;
/// An ordered index: the hints of the keys in the same order, u64 each.
pub const SECTION_ORDER_HINTS: u32 = 9;
/// A hash index: the buckets.
pub const SECTION_HASH_BUCKETS: u32 = 10;
/// A hash index: the rows of keys that several rows have, u32 each.
pub const SECTION_HASH_GROUPS: u32 = 11;
/// Blocks of packed numbers, one after another: in the place of `SECTION_FIXED`, `SECTION_ORDER_ROWS`,
/// `SECTION_ORDER_HINTS` or `SECTION_OFFSETS_...`.
pub const SECTION_PACKED: u32 = 12;
/// The table of these blocks.
pub const SECTION_PACKED_TABLE: u32 = 13;

/// Numbers in a block.
pub const PACKED_ROWS: usize = 256;
/// Lanes of a block: number n of a block is in lane n modulo this.
pub const PACKED_LANES: usize = 4;
/// Bytes of a line of a block: a word of each lane.
pub const PACKED_LINE_BYTES: usize = 8 * PACKED_LANES;
/// An entry of the table of packed blocks: the block's smallest number, u64.
pub const PACKED_BASE_OFFSET: usize = 0;
/// An entry of the table of packed blocks: where the block begins, in lines, u32.
pub const PACKED_START_OFFSET: usize = PACKED_BASE_OFFSET + 8;
/// An entry of the table of packed blocks: how many bits each number has, u8.
pub const PACKED_WIDTH_OFFSET: usize = PACKED_START_OFFSET + 4;
/// An entry of the table of packed blocks: how many zeros were cut off each number's end, u8.
pub const PACKED_SHIFT_OFFSET: usize = PACKED_WIDTH_OFFSET + 1;
/// An entry of the table of packed blocks: zeros.
pub const PACKED_PADDING_OFFSET: usize = PACKED_SHIFT_OFFSET + 1;
/// Bytes of an entry of the table of packed blocks.
pub const PACKED_ENTRY_BYTES: usize = PACKED_PADDING_OFFSET + 2;

/// A block table entry: where the block begins in `SECTION_BLOCKS`, u64.
pub const BLOCK_START_OFFSET: usize = 0;
/// A block table entry: the number of its first row, u32.
pub const BLOCK_FIRST_ROW_OFFSET: usize = BLOCK_START_OFFSET + 8;
/// A block table entry: its length in bytes when decompressed, u32.
pub const BLOCK_LENGTH_OFFSET: usize = BLOCK_FIRST_ROW_OFFSET + 4;
/// Bytes of a block table entry.
pub const BLOCK_ENTRY_BYTES: usize = BLOCK_LENGTH_OFFSET + 4;

/// A bucket: the tags of its slots, u8 each; 0 is an empty slot.
pub const BUCKET_TAGS_OFFSET: usize = 0;
/// A bucket: which keys of this bucket are in a later one, u32, one bit for each value of bits 8 to 12 of
/// their hash.
pub const BUCKET_OVERFLOW_OFFSET: usize = BUCKET_TAGS_OFFSET + BUCKET_SLOT_COUNT;
/// A bucket: the rows of its slots, u32 each.
pub const BUCKET_ROWS_OFFSET: usize = BUCKET_OVERFLOW_OFFSET + 4;
/// Slots in a bucket.
pub const BUCKET_SLOT_COUNT: usize = 12;
/// Bytes of a bucket: one cache line.
pub const BUCKET_BYTES: usize = BUCKET_ROWS_OFFSET + 4 * BUCKET_SLOT_COUNT;
/// In a slot: the lower 31 bits are the place of the key's first row in `SECTION_HASH_GROUPS`, not a row.
/// In a group: marks the last row.
pub const GROUP_MARK: u32 = 1 << 31;

/// The kind of a sealed file that holds dead rows.
pub const KIND_DEAD: u32 = 2;

// ---- Manifest ----

/// The first bytes of a manifest.
pub const MANIFEST_MAGIC: [u8; 8] = *b"pneuMANI";
/// The newest version of the manifest.
pub const MANIFEST_VERSION: u32 = 2;
/// The last version of the manifest without digests of the files that it names. Its journal is of version 1
/// too.
pub const MANIFEST_VERSION_WITHOUT_DIGESTS: u32 = 1;

/// A manifest or a journal: its magic, 8 bytes.
pub const HEAD_MAGIC_OFFSET: usize = 0;
/// A manifest or a journal: its version, u32.
pub const HEAD_VERSION_OFFSET: usize = HEAD_MAGIC_OFFSET + 8;
/// A manifest or a journal: zeros.
pub const HEAD_PADDING_OFFSET: usize = HEAD_VERSION_OFFSET + 4;
/// Bytes of the head that manifest and journal share.
pub const HEAD_BYTES: usize = HEAD_PADDING_OFFSET + 4;
/// Bytes of the checksum at a manifest's end.
pub const MANIFEST_CHECKSUM_BYTES: usize = 8;

// ---- Journal ----

/// The first bytes of a journal.
pub const JOURNAL_MAGIC: [u8; 8] = *b"pneuJRNL";
/// The newest version of the journal.
pub const JOURNAL_VERSION: u32 = 2;
/// The last version of the journal without sectors.
pub const JOURNAL_VERSION_WITHOUT_SECTORS: u32 = 1;
/// Bytes of a sector: disks write one atomically.
pub const SECTOR_BYTES: usize = 512;
/// A sector: the XXH3-64 of its bytes before this, u64, seeded with the sum of the journal's seed and the
/// sector's number.
pub const SECTOR_CHECKSUM_OFFSET: usize = SECTOR_BYTES - 8;

/// The journal: the number of its manifest, u64.
pub const JOURNAL_MANIFEST_OFFSET: usize = HEAD_BYTES;
/// The journal: the XXH3-64 of its bytes before this, seeded, u64.
pub const JOURNAL_CHECKSUM_OFFSET: usize = JOURNAL_MANIFEST_OFFSET + 8;
/// Bytes of the journal's head. In version 1 the first record follows it. Since version 2 it fills the
/// first sector.
pub const JOURNAL_HEAD_BYTES: usize = JOURNAL_CHECKSUM_OFFSET + 8;

/// Records and their lengths are multiples of this, in bytes.
pub const RECORD_ALIGNMENT: usize = 8;
/// The first bytes of a record.
pub const RECORD_MAGIC: [u8; 4] = *b"pneR";
/// A record: [`RECORD_MAGIC`].
pub const RECORD_MAGIC_OFFSET: usize = 0;
/// A record: the payload's length in bytes, padding included, u32.
pub const RECORD_LENGTH_OFFSET: usize = RECORD_MAGIC_OFFSET + 4;
/// A record: its sequence number, u64.
pub const RECORD_SEQUENCE_OFFSET: usize = RECORD_LENGTH_OFFSET + 4;
/// A record: the XXH3-64 of the payload, seeded, u64.
pub const RECORD_PAYLOAD_CHECKSUM_OFFSET: usize = RECORD_SEQUENCE_OFFSET + 8;
/// A record: the XXH3-64 of its bytes before this, seeded, u64.
pub const RECORD_CHECKSUM_OFFSET: usize = RECORD_PAYLOAD_CHECKSUM_OFFSET + 8;
/// A record: where its payload begins.
pub const RECORD_PAYLOAD_OFFSET: usize = RECORD_CHECKSUM_OFFSET + 8;

// ---- Dead rows: the content of a sealed file of kind 2 ----

/// Dead rows: how many rows the segment has, u32.
pub const DEAD_ROW_COUNT_OFFSET: usize = 0;
/// Dead rows: how many of them are dead, u32.
pub const DEAD_COUNT_OFFSET: usize = DEAD_ROW_COUNT_OFFSET + 4;
/// Dead rows: how many pieces follow, u32.
pub const DEAD_PIECE_COUNT_OFFSET: usize = DEAD_COUNT_OFFSET + 4;
/// Dead rows: zeros.
pub const DEAD_PADDING_OFFSET: usize = DEAD_PIECE_COUNT_OFFSET + 4;
/// Rows in one piece.
pub const DEAD_PIECE_ROWS: u32 = 65_536;
/// Words of 64 rows in a piece.
pub const DEAD_PIECE_WORDS: usize = 1024;
