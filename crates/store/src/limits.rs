//! Every limit of a store, by name. Each has a test.

/// Rows in one segment. Bit 31 of a row number is reserved for marks in indexes.
pub const ROWS_PER_SEGMENT_MAX: u32 = (1 << 31) - 1;
/// Bytes of one row: all its values together.
pub const ROW_BYTES_MAX: u64 = 64 << 20;
/// Bytes of one variable-width column of rows in memory. Offsets have 32 bits.
pub const COLUMN_BYTES_IN_MEMORY_MAX: u64 = u32::MAX as u64;
/// Columns of a table.
pub const COLUMNS_MAX: usize = 256;
/// Columns of a primary key or an index.
pub const KEY_COLUMNS_MAX: usize = 16;
/// Indexes of a table, not counting the primary key.
pub const INDEXES_MAX: usize = 64;
/// Bytes of the name of a table, column or index.
pub const NAME_BYTES_MAX: usize = 255;
/// Bytes that are compressed as one block before a new one begins.
pub const BLOCK_BYTES_MAX: u32 = 4 << 20;
/// Bytes of a compression dictionary.
pub const DICTIONARY_BYTES_MAX: u32 = 1 << 20;

/// Bytes of a journal file. A commit that does not fit goes straight to segments, together with the content
/// of the journal.
pub const JOURNAL_BYTES_MAX: u64 = 1 << 20;
/// Rows, new and dead together, in one journal.
pub const JOURNAL_ROWS_MAX: u32 = 4096;
/// Bytes of a manifest.
pub const MANIFEST_BYTES_MAX: u64 = 64 << 20;
/// Tables of a store.
pub const TABLES_MAX: usize = 1024;
/// Segments of one table. Merges keep the number far below. A program that never merges gets an error.
pub const SEGMENTS_MAX: usize = 1 << 16;
/// Attachments of a store.
pub const ATTACHMENTS_MAX: usize = 256;
/// Bytes of one attachment.
pub const ATTACHMENT_BYTES_MAX: u64 = 4 << 20;
/// Bytes of all attachments together.
pub const ATTACHMENTS_BYTES_MAX: u64 = 32 << 20;
/// How often a reader starts again because files that it was about to open were replaced.
pub const OPEN_ATTEMPTS_MAX: u32 = 100;

/// If a table has more segments than this, some are merged, whatever their sizes.
pub const SEGMENTS_BEFORE_MERGE: usize = 24;
/// The fewest segments that one merge takes, unless it removes dead rows.
pub const MERGE_SEGMENT_COUNT_MIN: usize = 4;
/// The most segments that one merge takes.
pub const MERGE_SEGMENT_COUNT_MAX: usize = 1024;
/// When there is time, segments are merged until each has more than this many times the rows of all younger
/// ones.
pub const MERGE_IDLE_RATIO: u64 = 8;
/// The most live rows that are merged at once when there is time: seconds of work.
pub const MERGE_IDLE_ROWS_MAX: u64 = 1 << 21;
/// Segments with fewer live rows count as this large.
pub const MERGE_SMALL_ROWS: u32 = 1024;
