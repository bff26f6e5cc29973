//! Headers as Tarantool writes them, and the errors for broken headers.

use proptest::prelude::*;
use tarantool::{Damage, FileKind, FormatVersion, HEADER_BYTES_MAX, Header, VClock, parse_uuid, uuid_text};

const LOG: &str = "XLOG\n0.13\nVersion: 2.6.0-0-g47aa4e01e\nInstance: a5b176b6-0877-4007-9cb5-d445f9d00fe3\n\
                   VClock: {0: 3, 1: 10}\nPrevVClock: {0: 3, 1: 9}\n\n";

fn clock(pairs: &[(u32, i64)]) -> VClock {
    let mut clock = VClock::default();
    pairs.iter().for_each(|&(replica, lsn)| clock.set(replica, lsn));
    clock
}

#[test]
fn a_header_of_tarantool_is_read_and_rewritten() {
    let bytes = [LOG.as_bytes(), b"\xd5\xba"].concat();
    let (header, length) = Header::parse(&bytes).unwrap();
    assert_eq!(length, LOG.len());
    assert_eq!((header.kind, header.version), (FileKind::Log, FormatVersion::V013));
    assert_eq!(header.program, "2.6.0-0-g47aa4e01e");
    assert_eq!(uuid_text(&header.instance), "a5b176b6-0877-4007-9cb5-d445f9d00fe3");
    assert_eq!(header.vclock, clock(&[(0, 3), (1, 10)]));
    assert_eq!(header.previous, Some(clock(&[(0, 3), (1, 9)])));
    assert_eq!(header.file_name(), "00000000000000000013.xlog");
    assert_eq!(header.text(), LOG);
}

#[test]
fn old_snapshots_and_unknown_lines_are_read() {
    let text =
        "SNAP\n0.12\nServer:\t a5b176b6-0877-4007-9cb5-d445f9d00fe3\nColour: blue: red\nVClock: {}\n\nrest";
    let (header, length) = Header::parse(text.as_bytes()).unwrap();
    assert_eq!(&text[length..], "rest");
    assert_eq!((header.kind, header.version), (FileKind::Snapshot, FormatVersion::V012));
    assert_eq!((header.vclock.signature(), header.previous.is_none()), (0, true));
    assert_eq!(header.file_name(), "00000000000000000000.snap");
    let (again, _) = Header::parse(header.text().as_bytes()).unwrap();
    assert_eq!(again, header);
    assert!(header.text().contains("\nServer: a5b176b6-"));
    let (vinyl, _) = Header::parse(b"VYLOG\n0.13\nVClock: {}\n\n").unwrap();
    assert_eq!((vinyl.kind, vinyl.instance, vinyl.kind.extension()), (FileKind::Vinyl, [0; 16], "vylog"));
}

#[test]
fn broken_headers_are_readable_errors() {
    let damage = |from: &str, to: &str| {
        assert!(LOG.contains(from));
        let Damage { offset, what } = Header::parse(LOG.replace(from, to).as_bytes()).unwrap_err();
        (offset, what)
    };
    assert_eq!(damage("XLOG", "LOGX"), (0, "the first line is not SNAP or XLOG"));
    assert_eq!(damage("0.13", "0.14"), (5, "the version is not 0.12 or 0.13"));
    assert_eq!(damage("a5b176b6", "a5b176b"), (38, "the instance UUID is not valid"));
    assert_eq!(damage("a5b176b6", "+5b176b6"), (38, "the instance UUID is not valid"));
    assert_eq!(damage("VClock: {0: 3, 1: 10}\n", ""), (109, "the header has no VClock"));
    assert_eq!(damage("1: 10", "1: -1"), (85, "the VClock is not valid"));
    assert_eq!(damage("1: 9", "1: 9}}"), (107, "the PrevVClock is not valid"));
    assert_eq!(damage("Version:", "Version"), (10, "a line of the header has no colon"));
    assert_eq!(damage("}\n\n", "}\n"), (132, "the header does not end with an empty line"));
    assert_eq!(
        Header::parse(b"SNAP\n0.13\nVersion: \xff\n\n").unwrap_err().what,
        "a line of the header is not text"
    );
    // A header of the greatest length can be read. One more byte is refused.
    let filled = |length: usize| {
        let text = LOG.replace("2.6.0", &"x".repeat(length - LOG.len() + 5));
        assert_eq!(text.len(), length);
        Header::parse(text.as_bytes()).map(|(_, length)| length)
    };
    assert_eq!(filled(HEADER_BYTES_MAX), Ok(HEADER_BYTES_MAX));
    assert_eq!(filled(HEADER_BYTES_MAX + 1).unwrap_err().what, "the header does not end with an empty line");
}

#[test]
fn vector_clocks_are_read_strictly() {
    assert_eq!(VClock::parse("{}"), Some(VClock::default()));
    assert_eq!(VClock::parse(" { 1 : 7 ,31:9223372036854775807} "), Some(clock(&[(1, 7), (31, i64::MAX)])));
    for wrong in
        ["", "{", "1: 7", "{1: 7", "{1}", "{1: }", "{: 7}", "{1: 7,}", "{,}", "{32: 1}", "{1: 7, 1: 8}"]
    {
        assert_eq!(VClock::parse(wrong), None, "{wrong}");
    }
    for wrong in ["{+1: 7}", "{1: +7}", "{1: 9223372036854775808}", "{1: 7}{}"] {
        assert_eq!(VClock::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn vector_clocks_are_compared_part_by_part() {
    let (small, large, other) = (clock(&[(1, 7)]), clock(&[(1, 7), (2, 1)]), clock(&[(2, 9)]));
    assert!(large.covers(&small) && !small.covers(&large) && small.covers(&VClock::default()));
    assert!(!large.covers(&other) && !other.covers(&large));
    assert_eq!(large.union(&other), clock(&[(1, 7), (2, 9)]));
    assert_eq!(large.signature(), 8);
    let mut clock = large.clone();
    assert!(clock.follow(1, 9) && !clock.follow(1, 9) && !clock.follow(1, 8) && clock.follow(3, 1));
    assert_eq!(clock.to_string(), "1: 9, 2: 1, 3: 1");
    clock.set(2, 0);
    assert_eq!((clock.get(2), clock.iter().count()), (0, 2));
    assert_eq!(VClock::parse("{1: 9, 3: 1, 4: 0}"), Some(clock));
}

proptest! {
    #[test]
    fn headers_come_back(
        instance in any::<[u8; 16]>(),
        pairs in prop::collection::vec((0_u32..=31, 1..=i64::MAX), 0..32),
        previous in prop::option::of(prop::collection::vec((0_u32..=31, 1..=i64::MAX), 0..32)),
        is_old in any::<bool>(),
        is_snapshot in any::<bool>(),
    ) {
        let header = Header {
            kind: if is_snapshot { FileKind::Snapshot } else { FileKind::Log },
            version: if is_old { FormatVersion::V012 } else { FormatVersion::V013 },
            program: "3.9.0".to_owned(),
            instance,
            vclock: clock(&pairs),
            previous: previous.map(|pairs| clock(&pairs)),
        };
        let text = header.text();
        prop_assert_eq!(parse_uuid(&uuid_text(&instance)), Some(instance));
        prop_assert_eq!(Header::parse(text.as_bytes()), Ok((header, text.len())));
    }
}
