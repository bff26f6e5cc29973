//! Limits on what is read and kept from a message.
//!
//! A message beyond a limit is still a message: the rest is left out, and its problems say so. Each constant
//! gives the reason for its value.

/// Bytes of text kept of one message, in UTF-8, including the lines kept of other forms. A novel has about 1
/// MiB; anything longer is a log or a dump.
pub const TEXT_BYTES_MAX: usize = 2 << 20;

/// Other forms of the text that are kept besides the one shown. A single message has one or two, a digest
/// many.
pub const FORM_COUNT_MAX: usize = 1_000;

/// Levels of multiparts and nested messages that are parsed. Anything deeper is read as plain text, so its
/// words are still found. Each level searches everything within it once for the boundary.
pub const MIME_DEPTH_MAX: usize = 50;

/// Bytes extracted from signed and compressed S/MIME content of one message, over all levels. Nested content
/// costs its length at each level, and compressed content can be a thousand times as long as the message.
pub const SMIME_BYTES_MAX: usize = 64 << 20;

/// Parts of one message that are read.
pub const PART_COUNT_MAX: usize = 10_000;

/// Header fields of one message or part that are read.
pub const FIELD_COUNT_MAX: usize = 4_096;

/// Bytes read of a header field with a single value: a subject, a date.
pub const VALUE_BYTES_MAX: usize = 16 << 10;

/// Bytes read of a Content-Type or Content-Disposition. A long name in an alphabet of three bytes, each
/// written as `%E4`, needs 2.3 KiB. The limit matters because mail-parser compares every parameter with every
/// other.
pub const PARAMETERS_BYTES_MAX: usize = 4 << 10;

/// Bytes read of a header field with a list: addresses, references, labels.
pub const LIST_BYTES_MAX: usize = 1 << 20;

/// Bytes of one display name, address, label, or name of an attachment.
pub const NAME_BYTES_MAX: usize = 1 << 10;

/// Addresses kept of each kind of header field.
pub const ADDRESS_COUNT_MAX: usize = 5_000;

/// Bytes of a Message-ID: what fits between the brackets in a line of 998 bytes (RFC 5322, 2.1.1).
pub const MESSAGE_ID_BYTES_MAX: usize = 996;

/// References kept: the first, which names the thread, and the last ones, which name the parents.
pub const REFERENCE_COUNT_MAX: usize = 256;

/// Attachments listed.
pub const ATTACHMENT_COUNT_MAX: usize = 1_000;

/// Different MIME types listed.
pub const MIME_TYPE_COUNT_MAX: usize = 64;

/// Fields kept of each name that [`Context::headers`](crate::Context) asks for.
pub const NAMED_FIELD_COUNT_MAX: usize = 16;

/// Links listed of one message, where links are asked for. A newsletter has some hundred.
pub const LINK_COUNT_MAX: usize = 500;

/// Bytes of the target of a link. Addresses that name their reader have up to 1 KiB.
pub const LINK_BYTES_MAX: usize = 2 << 10;

/// Labels kept.
pub const LABEL_COUNT_MAX: usize = 256;

/// Problems listed.
pub const PROBLEM_COUNT_MAX: usize = 32;

/// Characters of the snippet, as many as fit beside a subject on a wide screen.
pub const SNIPPET_CHARACTERS_MAX: usize = 120;

/// Bytes read of one message, decompressed: 4 GiB. No program sends more, and the limit bounds how long a
/// small compressed file can keep a processor busy.
pub const LARGE_BYTES_MAX: u64 = 4 << 30;

/// Bytes of a large message that are read in one step.
pub const LARGE_STEP_BYTES: usize = 128 << 10;

/// How often a large message is read again from an earlier position. After that, anything that would need it
/// is left out: the words of a text, or the search for a boundary that no header names.
pub const LARGE_REWIND_COUNT_MAX: usize = 64;

/// Bytes of a large compressed message that are decompressed again for that: as many as are read of one
/// message at most.
pub const LARGE_REWIND_BYTES_MAX: u64 = LARGE_BYTES_MAX;

/// Parts of a large message up to this size are parsed in memory; longer ones in a window.
pub const LARGE_SMALL_PART_BYTES: usize = 1 << 20;

/// Bytes of one header block of a large message.
pub const LARGE_HEADER_BYTES_MAX: usize = 8 << 20;

/// Bytes read of one text of a large message, before transfer decoding: twice `TEXT_BYTES_MAX`, encoded.
pub const LARGE_TEXT_BYTES_MAX: usize = 8 << 20;

/// Bytes read of all texts of a large message together, before transfer decoding.
pub const LARGE_TEXTS_BYTES_MAX: usize = 16 << 20;

/// Bytes of an encoded message or of S/MIME content within a large message. These are read in memory.
pub const LARGE_NESTED_BYTES_MAX: usize = 8 << 20;

/// Parts whose contents are decoded again to give them out: contents inside a message that is encoded or
/// signed, which are not kept. Each costs as much as splitting the whole message.
pub const AGAIN_COUNT_MAX: usize = 64;

/// Signed and encrypted contents of one message that are found. Each costs a run of another program.
pub const PROTECTED_COUNT_MAX: usize = 32;

/// Bytes of these contents together. Signatures around each other cover the same bytes again.
pub const PROTECTED_BYTES_MAX: usize = 256 << 20;

/// Bytes read of a calendar part. An invitation to a hundred people has 20 KiB.
pub const CALENDAR_BYTES_MAX: usize = 1 << 20;

/// Events shown of one calendar part.
pub const EVENT_COUNT_MAX: usize = 20;

/// People listed of one event.
pub const GUEST_COUNT_MAX: usize = 200;

/// Calendar parts read of one message.
pub const CALENDAR_COUNT_MAX: usize = 10;

/// Bytes of one text part that are converted to show the part alone, before transfer decoding.
pub const SHOWN_PART_BYTES_MAX: usize = 8 << 20;
