//! Parses the names of message files: the part that stays when a mail program moves or marks the message, and
//! the flags and fields after it.
//!
//! Input: a file name, any bytes. Output: its parts, or a name with other flags or without a field. Parts
//! without a known meaning are left alone. Does not depend on directories.
//!
//! A name is `UNIQUE[,FIELD=VALUE]...[:2,FLAGS[,EXTENSION]...]`. The colon may also be `;` or `!`, for file
//! systems and programs that cannot use a colon. In `FLAGS`, capital letters are [`Flags`] and small letters
//! Dovecot's keywords. `:1,` marks the standard's experimental semantics, which nobody uses: it ends the
//! unique part and is otherwise ignored.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::maildir::flags::Flags;

/// The parts of a message file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The part that stays when flags change or the file moves: everything before the first `,` or flag
    /// separator.
    pub unique: &'a [u8],
    /// The flags after the last flag separator.
    pub flags: Flags,
    /// Dovecot's keywords: bit 0 is `a`, bit 25 is `z`. The folder's `dovecot-keywords` has their names.
    pub keywords: u32,
}

/// The sizes that some servers write into the name to save themselves a stat. They may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeHints {
    /// `S=`: the size of the message in bytes, before any compression.
    pub size_bytes: Option<u64>,
    /// `W=`: the same with each line ending counted as CRLF.
    pub wire_size_bytes: Option<u64>,
}

/// Parses a file name.
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

/// Returns whether a name has the flag `D`. Cheap, because a pass asks it of every file: it usually looks at
/// the last few bytes only.
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

/// Returns the sizes in a name, from the fields between its unique part and its flags.
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

/// Returns the time of creation in a name, in seconds since 1970: the digits before the first dot, as mail
/// programs write them. Only times from 1990 (Maildir dates from 1995) to 2099 count.
pub fn name_seconds(name: &[u8]) -> Option<i64> {
    const PLAUSIBLE: std::ops::Range<i64> = 631_152_000..4_102_444_800;
    let length = name.iter().position(|byte| *byte == b'.')?;
    let seconds = i64::try_from(number(name.get(..length)?)?).ok()?;
    PLAUSIBLE.contains(&seconds).then_some(seconds)
}

/// Returns the number of the message on its server, which mbsync and offlineimap write into the name (`U=`).
/// Within a folder, a higher number is a newer message.
pub fn name_uid(name: &[u8]) -> Option<u64> {
    let fields = match info_separator(name, b"12") {
        Some(start) => name.get(..start).unwrap_or_default(),
        None => name,
    };
    fields.split(|byte| *byte == b',').skip(1).find_map(|field| number(field.strip_prefix(b"U=")?))
}

/// Returns `name` with exactly the flags `flags`, as a mail program would rename the file.
///
/// Keywords, unknown letters, fields and extensions are kept. Letters are sorted in ASCII order, as the
/// standard requires. [`Flags::NEW`] is not part of a name and has no effect.
pub fn with_flags(name: &[u8], flags: Flags) -> Vec<u8> {
    let bare = FlagParts { before: name, separator: b':', letters: b"", after: b"" };
    let parts = flag_parts(name).or_else(|| without_experimental(name)).unwrap_or(bare);
    let is_kept = |letter: &u8| letter.is_ascii_alphabetic() && Flags::from_letter(*letter).is_empty();
    let mut letters: Vec<u8> = parts.letters.iter().copied().filter(is_kept).chain(flags.letters()).collect();
    letters.sort_unstable();
    letters.dedup();
    [parts.before, &[parts.separator], b"2,", &letters, parts.after].concat()
}

/// Returns `name` without its fields `KEY=VALUE` between the unique part and the flags.
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

/// A name split at its last flag separator.
struct FlagParts<'a> {
    before: &'a [u8],
    separator: u8,
    letters: &'a [u8],
    after: &'a [u8],
}

/// Splits a name at its last flag separator: if a program appended flags to a name that had some, the last
/// ones count. Dovecot allows extensions after the letters, separated by a comma.
fn flag_parts(name: &[u8]) -> Option<FlagParts<'_>> {
    let start = info_separator(name, b"2")?;
    let (before, rest) = name.split_at_checked(start)?;
    let (separator, rest) = rest.split_first()?;
    let rest = rest.strip_prefix(b"2,")?;
    let length = rest.iter().position(|byte| *byte == b',').unwrap_or(rest.len());
    let (letters, after) = rest.split_at_checked(length)?;
    Some(FlagParts { before, separator: *separator, letters, after })
}

/// Strips the experimental part of a name.
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

/// Returns whether the comma at `comma` is the last byte of a separator with one of `digits`.
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the parts of a name as text: unique part, flags, keywords.
    fn told(name: &str) -> String {
        let parsed = parse_name(name.as_bytes());
        let keywords: String = ('a'..='z')
            .enumerate()
            .filter(|(bit, _)| parsed.keywords >> bit & 1 == 1)
            .map(|(_, letter)| letter)
            .collect();
        format!("{} {}/{}", String::from_utf8_lossy(parsed.unique), parsed.flags, keywords)
    }

    #[test]
    fn names_of_known_programs() {
        let cases = [
            // The standard, qmail, mutt.
            ("1204680122.27448_1.coyote:2,S", "1204680122.27448_1.coyote S/"),
            ("1204680122.27448_1.coyote:2,DFPRST", "1204680122.27448_1.coyote DFPRST/"),
            ("1204680122.27448_1.coyote:2,", "1204680122.27448_1.coyote /"),
            ("1204680122.27448_1.coyote", "1204680122.27448_1.coyote /"),
            // Dovecot: sizes, keywords, extensions after the flags.
            ("1035478339.M271P1.host,S=3212,W=3290:2,FSab", "1035478339.M271P1.host FS/ab"),
            ("1035478339.M271P1.host,S=3212:2,Sz,x=D,F", "1035478339.M271P1.host S/z"),
            // offlineimap, mbsync.
            (
                "1252765459_0.1201.host,U=4,FMD5=7e33429f656f1e6e9d79b29c3f82c57e:2,FRS",
                "1252765459_0.1201.host FRS/",
            ),
            ("1252765459.R1.host,U=4:2,", "1252765459.R1.host /"),
            // Other separators.
            ("1234.host;2,RS", "1234.host RS/"),
            ("1234.host!2,T", "1234.host T/"),
            // Experimental, unknown letters, letters twice, in another order, digits.
            ("1234.host:1,SF", "1234.host /"),
            ("1234.host:2,SXS9FÄ", "1234.host FS/"),
            // Not a separator.
            ("1234.host:3,S", "1234.host:3 /"),
            ("1234.host:2S", "1234.host:2S /"),
            ("1234:host", "1234:host /"),
            // Flags appended twice: the last count.
            ("1234.host:2,S:2,F", "1234.host F/"),
            ("1234.host:2,S!2,R", "1234.host R/"),
            ("1234.host:1,S:2,R", "1234.host R/"),
            // Hardly names.
            ("", " /"),
            (",", " /"),
            (":2,", " /"),
            ("2,S", "2 /"),
            (":2,D", " D/"),
        ];
        for (name, expected) in cases {
            assert_eq!(told(name), expected, "{name}");
            assert_eq!(
                is_draft(name.as_bytes()),
                parse_name(name.as_bytes()).flags.contains(Flags::DRAFT),
                "{name}"
            );
        }
        assert_eq!(parse_name(b"\xff\n\x00\xfe:2,S\xff").unique, b"\xff\n\x00\xfe");
    }

    #[test]
    fn sizes_stand_between_the_unique_part_and_the_flags() {
        let sizes = |name: &[u8]| {
            let hints = size_hints(name);
            (hints.size_bytes, hints.wire_size_bytes)
        };
        assert_eq!(sizes(b"1.host,S=3212,W=3290:2,S"), (Some(3212), Some(3290)));
        assert_eq!(sizes(b"1.host,W=18446744073709551615"), (None, Some(u64::MAX)));
        assert_eq!(sizes(b"1.host,S=18446744073709551616,W=+1:2,"), (None, None));
        assert_eq!(sizes(b"1.host,S=:2,S=5,W=7"), (None, None));
        assert_eq!(sizes(b"S=5:2,S"), (None, None));
    }

    #[test]
    fn other_flags_make_another_name() {
        let cases: [(&str, Flags, &str); 11] = [
            ("1.host", Flags::SEEN, "1.host:2,S"),
            ("1.host", Flags::SEEN | Flags::NEW, "1.host:2,S"),
            ("1.host:2,S", Flags::NONE, "1.host:2,"),
            ("1.host:2,S", Flags::TRASHED | Flags::DRAFT | Flags::REPLIED, "1.host:2,DRT"),
            ("1.host,S=5:2,FSa", Flags::SEEN, "1.host,S=5:2,Sa"),
            ("1.host;2,ba", Flags::SEEN | Flags::FLAGGED, "1.host;2,FSab"),
            ("1.host:2,XS!2", Flags::FLAGGED, "1.host:2,FX"),
            ("1.host:2,XXa,x", Flags::SEEN, "1.host:2,SXa,x"),
            ("1.host:2,S,x=1", Flags::FLAGGED, "1.host:2,F,x=1"),
            ("1.host!1,abc", Flags::FLAGGED, "1.host!2,F"),
            ("1.host:2,S:2,F", Flags::REPLIED, "1.host:2,S:2,R"),
        ];
        for (name, flags, expected) in cases {
            assert_eq!(String::from_utf8(with_flags(name.as_bytes(), flags)).unwrap(), expected);
        }
    }

    #[test]
    fn a_field_is_taken_out_wherever_it_stands() {
        for (name, expected) in [
            ("1.host,U=4:2,S", "1.host:2,S"),
            ("1.host,U=4,FMD5=7e:2,FRS", "1.host,FMD5=7e:2,FRS"),
            ("1.host,S=12,U=4", "1.host,S=12"),
            ("1.host,U=4,U=5!2,", "1.host!2,"),
            // Not a field of this key, or none at all.
            ("1.host,UID=4,XU=5,U:2,S", "1.host,UID=4,XU=5,U:2,S"),
            ("U=4:2,S,U=4", "U=4:2,S,U=4"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(without_field(name.as_bytes(), b"U")).unwrap(), expected, "{name}");
        }
    }

    /// Any bytes, most of them with a meaning somewhere in a name.
    fn name() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            4 => proptest::sample::select(&b":;!12,DFPRSTNazX=S0"[..]),
            1 => any::<u8>(),
        ];
        let piece = prop_oneof![
            3 => proptest::collection::vec(byte, 0..4),
            1 => proptest::sample::select(
                [b":2,", b";2,", b"!2,", b":1,"].map(|separator| separator.to_vec()).to_vec()
            ),
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    /// Tries every separator at every position, as the definition says.
    fn separators(name: &[u8], wanted: &[&[u8]]) -> Vec<usize> {
        (0..name.len())
            .filter(|start| wanted.iter().any(|separator| name[*start..].starts_with(separator)))
            .collect()
    }

    const FLAGS: [&[u8]; 3] = [b":2,", b";2,", b"!2,"];
    const ANY: [&[u8]; 7] = [b":2,", b";2,", b"!2,", b":1,", b";1,", b"!1,", b","];

    proptest! {
        #[test]
        fn any_bytes_are_taken_apart_like_the_twin_does(name in name()) {
            let unique = &name[..separators(&name, &ANY).first().copied().unwrap_or(name.len())];
            let letters = match separators(&name, &FLAGS).last() {
                Some(start) => name[start + 3..].split(|byte| *byte == b',').next().unwrap(),
                None => &[],
            };
            let flags = letters.iter().fold(Flags::NONE, |flags, letter| flags | Flags::from_letter(*letter));
            let keyword_bits = (0..26).filter(|bit| letters.contains(&(b'a' + bit)));
            let keywords = keyword_bits.fold(0, |set, bit| set | 1 << bit);
            prop_assert_eq!(parse_name(&name), Name { unique, flags, keywords });
            prop_assert_eq!(is_draft(&name), flags.contains(Flags::DRAFT));
            size_hints(&name);
        }

        #[test]
        fn a_name_with_other_flags_says_them_and_all_else_as_before(name in name(), bits in 0_u16..128) {
            let flags = Flags::from_bits(bits);
            let before = parse_name(&name);
            let renamed = with_flags(&name, flags);
            let expected = Name { flags: flags - Flags::NEW, ..before };
            prop_assert_eq!(parse_name(&renamed), expected);
            prop_assert_eq!(size_hints(&renamed), size_hints(&name));
            prop_assert_eq!(with_flags(&renamed, flags), renamed);
        }

        #[test]
        fn a_name_without_a_field_says_all_else_as_before(name in name()) {
            let without = without_field(&name, b"S");
            prop_assert_eq!(parse_name(&without), parse_name(&name));
            prop_assert!(without == name || without.len() < name.len());
        }
    }

    #[test]
    fn names_say_when_their_files_were_made() {
        for (name, expected) in [
            ("1204680122.27c448113ab77.host:2,S", Some(1_204_680_122)),
            ("1700000000.M1P2.host,S=5:2,", Some(1_700_000_000)),
            ("4102444799.x", Some(4_102_444_799)),
            ("631152000.x", Some(631_152_000)),
            ("631151999.x", None),
            ("4102444800.x", None),
            ("20170429.x", None),
            ("1204680122", None),
            ("1204680122:2,S", None),
            ("+1204680122.x", None),
            ("cur.1204680122.x", None),
            ("99999999999999999999999.x", None),
            (".x", None),
            ("", None),
        ] {
            assert_eq!(name_seconds(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn the_number_on_the_server_is_a_field_before_the_flags() {
        for (name, expected) in [
            ("1700000000_3.1.host,U=10:2,S", Some(10)),
            ("1700000000_3.1.host,S=5,U=7,FMD5=ab:2,", Some(7)),
            ("1700000000.host,U=18446744073709551615", Some(u64::MAX)),
            ("1700000000.host,U=18446744073709551616", None),
            ("1700000000.host,U=:2,S", None),
            ("1700000000.host,U=-1:2,S", None),
            ("1700000000.host:2,S,U=4", None),
            ("U=4", None),
        ] {
            assert_eq!(name_uid(name.as_bytes()), expected, "{name}");
        }
    }
}
