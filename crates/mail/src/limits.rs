//! How much of a message is kept, each limit under a name.
//!
//! Nothing comes in and nothing goes out but numbers. A message beyond a limit is still a message: what is over is left
//! out, and its problems say so. Whoever knows the reason for a limit finds it here.

/// Text kept of one message, in bytes of UTF-8, what other forms of it say more included. A novel has about 1
/// MiB; what is longer is a log or a dump.
pub const TEXT_BYTES_MAX: usize = 2 << 20;

/// Forms of the text kept beside the one that is shown; a letter has one or two, a digest of letters many.
pub const FORM_COUNT_MAX: usize = 1_000;

/// Levels of multiparts and nested messages that are taken apart. What lies deeper is read as plain text, so that its
/// words are still found. Each level costs one search for the boundary over everything within.
pub const MIME_DEPTH_MAX: usize = 50;

/// Bytes that come out of signed and compressed content (S/MIME) of one message, all levels together. Content
/// in content costs its length at each level, and compressed content may be a thousand times as long as the
/// message.
pub const UNSEALED_BYTES_MAX: usize = 64 << 20;

/// Parts of one message that are looked at.
pub const PART_COUNT_MAX: usize = 10_000;

/// Header fields of one message or part that are looked at.
pub const FIELD_COUNT_MAX: usize = 4_096;

/// Bytes of one header field that are read where it is one value: a subject, a date.
pub const VALUE_BYTES_MAX: usize = 16 << 10;

/// Bytes of a Content-Type or Content-Disposition that are read. A long name in an alphabet of three bytes, each written as
/// `%E4`, needs 2.3 KiB; mail-parser compares every parameter with every other.
pub const PARAMETERS_BYTES_MAX: usize = 4 << 10;

/// Bytes of one header field that are read where it is a list: addresses, references, labels.
pub const LIST_BYTES_MAX: usize = 1 << 20;

/// Bytes of one display name, address, label, or name of an attachment.
pub const NAME_BYTES_MAX: usize = 1 << 10;

/// Addresses kept of each header field's kind.
pub const ADDRESS_COUNT_MAX: usize = 5_000;

/// Bytes of a Message-ID: what fits into a line of 998 bytes (RFC 5322, 2.1.1) between its brackets.
pub const MESSAGE_ID_BYTES_MAX: usize = 996;

/// References kept: the first, which names the thread, and the newest, which name the parents.
pub const REFERENCE_COUNT_MAX: usize = 256;

/// Attachments listed.
pub const ATTACHMENT_COUNT_MAX: usize = 1_000;

/// Different MIME types listed.
pub const MIME_TYPE_COUNT_MAX: usize = 64;

/// Fields kept of one name that the context asks for.
pub const NAMED_FIELD_COUNT_MAX: usize = 16;

/// Labels kept.
pub const LABEL_COUNT_MAX: usize = 256;

/// Problems listed; a hundred times the same fault helps nobody.
pub const PROBLEM_COUNT_MAX: usize = 32;

/// Characters of the snippet, as many as fit beside a subject on a wide screen.
pub const SNIPPET_CHARACTERS_MAX: usize = 120;

/// Bytes of one message that are read at all, decompressed: 4 GiB. No program sends more, and a small file
/// cannot keep a processor busy for longer than it takes to unpack so many.
pub const LARGE_BYTES_MAX: u64 = 4 << 30;

/// Bytes of a large message that are read at once.
pub const LARGE_STEP_BYTES: usize = 128 << 10;

/// How often a large message is gone back in. What would have to be gone back to after that is left out: the
/// words of a text, a boundary that is nowhere named.
pub const LARGE_REWIND_COUNT_MAX: usize = 64;

/// Bytes of a large message that are decompressed again to go back in it: as many as are read of one at most.
pub const LARGE_REWIND_BYTES_MAX: u64 = LARGE_BYTES_MAX;

/// Parts of a large message that are taken apart in memory; longer ones are passed by.
pub const LARGE_NEAR_BYTES: usize = 1 << 20;

/// Bytes of one header block of a large message.
pub const LARGE_HEADER_BYTES_MAX: usize = 8 << 20;

/// Bytes of one text of a large message that are read for its words, in its transfer encoding: twice
/// `TEXT_BYTES_MAX`, encoded.
pub const LARGE_TEXT_BYTES_MAX: usize = 8 << 20;

/// Bytes of all texts of a large message together, likewise.
pub const LARGE_TEXTS_BYTES_MAX: usize = 16 << 20;

/// Bytes of an encoded message or of S/MIME within a large message, which are read in memory.
pub const LARGE_NESTED_BYTES_MAX: usize = 8 << 20;
