//! Names of every habit, and any bytes against a slow twin.
//!
//! Comes in: names written by hand, and random ones of the bytes that have a meaning. Goes out: whether the parts are right.
//! This file must not know the disk.

use super::*;
use proptest::prelude::*;

/// Writes what a name says as text: unique part, flags, keywords.
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
        1 => proptest::sample::select(vec![b":2,".to_vec(), b";2,".to_vec(), b"!2,".to_vec(), b":1,".to_vec()]),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// Tries every place for every separator: what the definition says, and nothing clever.
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
        let keywords = (0..26).filter(|bit| letters.contains(&(b'a' + bit))).fold(0, |set, bit| set | 1 << bit);
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
