//! The limits of the query language, which parser, tokenizer and tests share. Knows nothing of what a query
//! means.

/// Longest query in bytes. Programs write long ones (a thousand message-ids), people do not.
pub const QUERY_BYTES_MAX: usize = 128 * 1024;

/// Most terms in one query, including those of all saved queries that it names.
pub const TERM_COUNT_MAX: usize = 4_096;

/// Deepest nesting of parentheses and saved queries. The parser recurses once for each, so this also bounds
/// its stack.
pub const NESTING_DEPTH_MAX: usize = 100;

/// Most words in one phrase.
pub const PHRASE_WORD_COUNT_MAX: usize = 256;

/// Longest regular expression in bytes, without its slashes.
pub const REGEX_BYTES_MAX: usize = 1_024;

/// Longest word in bytes. The rest of a longer word is neither indexed nor searched.
pub const WORD_BYTES_MAX: usize = 64;

/// Longest word in bytes that keeps its signs (`c++`). A longer one is encoded data that happens to contain
/// such signs.
pub const SIGNED_WORD_BYTES_MAX: usize = 32;
