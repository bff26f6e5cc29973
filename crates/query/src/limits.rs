//! The limits of the query language, by name. In: nothing. Out: numbers that parser, tokenizer and tests share.
//! Must not know: what a query means.

/// Longest query in bytes. Programs write long ones (a thousand message-ids), people do not.
pub const QUERY_BYTES_MAX: usize = 128 * 1024;

/// Most terms in one query, those of all saved queries that it names included.
pub const TERM_COUNT_MAX: usize = 4_096;

/// Deepest nesting of parentheses and saved queries. The parser recurses once for each, so this also bounds its stack.
pub const NESTING_DEPTH_MAX: usize = 100;

/// Most words in one phrase.
pub const PHRASE_WORD_COUNT_MAX: usize = 256;

/// Longest regular expression in bytes, without its slashes.
pub const REGEX_BYTES_MAX: usize = 1_024;

/// Longest word in bytes; the rest of a longer one is neither indexed nor asked for.
pub const WORD_BYTES_MAX: usize = 64;

/// Longest word in bytes that keeps its signs (`c++`): what is longer is encoded data that happens to hold
/// such signs.
pub const SIGNED_WORD_BYTES_MAX: usize = 32;
