//! The names of message files: which part stays when a mail program moves or marks the message, and what the rest says.
//!
//! Comes in: a file name as bytes, from outside. Goes out: its parts, or another name with other flags or without a field. Any bytes are a name; what
//! has no meaning is left alone. This file must not know directories.
//!
//! A name is `UNIQUE[,FIELD=VALUE]...[:2,FLAGS[,EXTENSION]...]`. The colon may also be `;` or `!`, for file systems and programs
//! that cannot have a colon. In `FLAGS`, capital letters are [`Flags`] and small ones Dovecot's keywords. `:1,` marks the
//! standard's experimental semantics, which nobody uses: it ends the unique part and says nothing.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::Flags;

/// What the name of a message file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The part that stays when flags are changed or the file moves: all before the first `,` or flag separator.
    pub unique: &'a [u8],
    /// The flags named after the last flag separator.
    pub flags: Flags,
    /// Dovecot's keywords: bit 0 is `a`, bit 25 is `z`. What they mean stands in the folder's `dovecot-keywords`.
    pub keywords: u32,
}

/// The sizes that some servers write into the name, to save themselves a stat. They may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeHints {
    /// `S=`: the size of the message in bytes; of a compressed one, before it was compressed.
    pub size_bytes: Option<u64>,
    /// `W=`: the same with each line ending counted as CRLF.
    pub wire_size_bytes: Option<u64>,
}

/// Takes a file name apart.
pub fn parse_name(name: &[u8]) -> Name<'_> {
    let mut flags = Flags::NONE;
    let mut keywords = 0;
    for &letter in flag_parts(name).map_or(&[][..], |parts| parts.letters) {
        if letter.is_ascii_lowercase() {
            keywords |= 1 << letter.saturating_sub(b'a');
        } else {
            flags |= Flags::from_letter(letter);
        }
    }
    Name { unique: unique_part(name), flags, keywords }
}

/// Says whether a name has the flag `D`. Cheap, because a pass asks it of every file: usually it looks at the last few bytes only.
pub fn is_draft(name: &[u8]) -> bool {
    let mut found = false;
    for (index, &byte) in name.iter().enumerate().rev() {
        if byte == b',' {
            if ends_separator(name, index, b"2") {
                return found;
            }
            found = false;
        }
        found |= byte == b'D';
    }
    false
}

/// Returns the sizes that a name claims, from the fields between its unique part and its flags.
pub fn size_hints(name: &[u8]) -> SizeHints {
    let fields = match info_separator(name, b"12") {
        Some(start) => name.get(..start).unwrap_or_default(),
        None => name,
    };
    let mut hints = SizeHints::default();
    for field in fields.split(|byte| *byte == b',').skip(1) {
        if let Some(digits) = field.strip_prefix(b"S=") {
            hints.size_bytes = number(digits);
        } else if let Some(digits) = field.strip_prefix(b"W=") {
            hints.wire_size_bytes = number(digits);
        }
    }
    hints
}

/// Returns the time at which a name says that its file was made, in seconds since 1970: the digits before its
/// first dot, as mail programs write them. Only a time from 1990 (Maildirs came in 1995) to 2099 is one.
pub fn name_seconds(name: &[u8]) -> Option<i64> {
    const PLAUSIBLE: std::ops::Range<i64> = 631_152_000..4_102_444_800;
    let length = name.iter().position(|byte| *byte == b'.')?;
    let seconds = i64::try_from(number(name.get(..length)?)?).ok()?;
    PLAUSIBLE.contains(&seconds).then_some(seconds)
}

/// Returns `name` with exactly the flags `flags`, as a mail program would rename the file.
///
/// Keywords, letters without a meaning here, fields and extensions are kept; letters are put in ASCII order, as the standard wants.
/// [`Flags::NEW`] is no part of a name and changes nothing.
pub fn with_flags(name: &[u8], flags: Flags) -> Vec<u8> {
    let bare = FlagParts { before: name, separator: b':', letters: b"", after: b"" };
    let parts = flag_parts(name).or_else(|| without_experimental(name)).unwrap_or(bare);
    let is_kept = |letter: &u8| letter.is_ascii_alphabetic() && Flags::from_letter(*letter).is_empty();
    let mut letters: Vec<u8> = parts.letters.iter().copied().filter(is_kept).chain(flags.letters()).collect();
    letters.sort_unstable();
    letters.dedup();
    [parts.before, &[parts.separator], b"2,", &letters, parts.after].concat()
}

/// Returns `name` without its fields `KEY=VALUE`, which stand between the unique part and the flags.
pub fn without_field(name: &[u8], key: &[u8]) -> Vec<u8> {
    let is_end = |index: &usize| name.get(*index) == Some(&b',') && ends_separator(name, *index, b"12");
    let end = (0..name.len()).find(is_end).and_then(|comma| comma.checked_sub(2)).unwrap_or(name.len());
    let (fields, rest) = name.split_at_checked(end).unwrap_or((name, &[]));
    let mut pieces = fields.split(|byte| *byte == b',');
    let mut kept = pieces.next().unwrap_or_default().to_vec();
    for piece in pieces.filter(|piece| !piece.strip_prefix(key).is_some_and(|rest| rest.starts_with(b"="))) {
        kept.push(b',');
        kept.extend_from_slice(piece);
    }
    kept.extend_from_slice(rest);
    kept
}

/// A name cut at its last flag separator.
struct FlagParts<'a> {
    before: &'a [u8],
    separator: u8,
    letters: &'a [u8],
    after: &'a [u8],
}

/// Cuts a name at its last flag separator: after a program that appended flags to a name that had some, the last ones count.
/// Dovecot lets extensions follow the letters, after a comma.
fn flag_parts(name: &[u8]) -> Option<FlagParts<'_>> {
    let start = info_separator(name, b"2")?;
    let (before, rest) = name.split_at_checked(start)?;
    let (separator, rest) = rest.split_first()?;
    let rest = rest.strip_prefix(b"2,")?;
    let length = rest.iter().position(|byte| *byte == b',').unwrap_or(rest.len());
    let (letters, after) = rest.split_at_checked(length)?;
    Some(FlagParts { before, separator: *separator, letters, after })
}

/// Cuts off the experimental part of a name.
fn without_experimental(name: &[u8]) -> Option<FlagParts<'_>> {
    let (before, rest) = name.split_at_checked(info_separator(name, b"1")?)?;
    Some(FlagParts { before, separator: *rest.first()?, letters: b"", after: b"" })
}

fn unique_part(name: &[u8]) -> &[u8] {
    let Some(comma) = name.iter().position(|byte| *byte == b',') else { return name };
    let length = if ends_separator(name, comma, b"12") { comma.saturating_sub(2) } else { comma };
    name.get(..length).unwrap_or(name)
}

/// Returns where the last separator with one of `digits` begins.
fn info_separator(name: &[u8], digits: &[u8]) -> Option<usize> {
    let is_end = |index: usize| name.get(index) == Some(&b',') && ends_separator(name, index, digits);
    let comma = (0..name.len()).rev().find(|index| is_end(*index))?;
    comma.checked_sub(2)
}

/// Says whether the comma at `comma` is the last byte of a separator with one of `digits`.
fn ends_separator(name: &[u8], comma: usize, digits: &[u8]) -> bool {
    match name.get(..comma) {
        Some([.., b':' | b';' | b'!', digit]) => digits.contains(digit),
        _ => false,
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a test that overflows fails")]
mod tests;
