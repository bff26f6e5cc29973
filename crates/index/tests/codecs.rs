//! Header records with each codec: queries give the same answers, also after passes with another codec
//! option. And how numbers lie in segments.

use crate::support::{Dump, Fixture, message};
use index::{HeaderCodec, UpdateOptions};
use store::format::{
    FOOTER_BYTES, FOOTER_VERSION_OFFSET, SEGMENT_VERSION, TRAILER_BYTES, TRAILER_CONTENT_LENGTH_OFFSET,
};
use store::{Codec, Kind, Snapshot};

/// Enough messages for a segment to be written.
const COUNT: usize = 300;

fn indexed(codec: HeaderCodec) -> (Fixture, Vec<Codec>, Dump) {
    let fixture = Fixture::new();
    let put = |number: usize| {
        let subject = format!("{number} {}", "pneumatic ".repeat(500));
        fixture.put("", "cur", &format!("{number}.x:2,S"), &message(&format!("m{number}"), &subject, "text"));
    };
    (0..COUNT).for_each(put);
    fixture.update_with(&UpdateOptions { codec, ..UpdateOptions::default() });
    // An existing index keeps its codec; the option of later passes is ignored.
    (COUNT..2 * COUNT).for_each(put);
    fixture.update();
    fixture.check();
    let snapshot = Snapshot::open(&fixture.environment.disk, &fixture.environment.index_directory()).unwrap();
    let table = snapshot.table("messages").unwrap();
    let codecs = table.schema().columns.iter().filter_map(|column| match column.kind {
        Kind::Payload(codec) => Some(codec),
        _ => None,
    });
    let (codecs, dump) = (codecs.collect(), fixture.dump());
    (fixture, codecs, dump)
}

/// Returns whether a segment of the index contains an uncompressed subject.
fn is_readable(fixture: &Fixture) -> bool {
    let subject = "pneumatic ".repeat(400).into_bytes();
    let holds = |bytes: &Vec<u8>| bytes.windows(subject.len()).any(|window| window == subject.as_slice());
    segments(fixture).iter().any(holds)
}

/// Returns the bytes of the segments of rows.
fn segments(fixture: &Fixture) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(fixture.environment.index_directory()).unwrap();
    let segments = files.map(|entry| entry.unwrap().path());
    let segments: Vec<_> = segments.filter(|path| path.extension().is_some_and(|end| end == "seg")).collect();
    assert!(!segments.is_empty());
    segments.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn segments_have_packed_numbers() {
    let (fixture, ..) = indexed(HeaderCodec::default());
    let version = |bytes: &Vec<u8>| {
        let length = bytes[bytes.len() - TRAILER_BYTES + TRAILER_CONTENT_LENGTH_OFFSET..].first_chunk();
        let content = usize::try_from(u64::from_le_bytes(*length.unwrap())).unwrap();
        let footer = &bytes[content - FOOTER_BYTES..];
        u32::from_le_bytes(*footer[FOOTER_VERSION_OFFSET..].first_chunk().unwrap())
    };
    // A folder alone is not packed, messages and their files are.
    let versions: Vec<u32> = segments(&fixture).iter().map(version).collect();
    assert!(versions.iter().filter(|&&version| version == SEGMENT_VERSION).count() >= 2, "{versions:?}");
}

#[test]
fn each_codec_gives_the_same_answers() {
    let (fixture, usual, expected) = indexed(HeaderCodec::default());
    assert_eq!(expected.len(), 2 * COUNT);
    let has_blocks = |codec: &Codec| match codec {
        Codec::ZstdDictionary { block_bytes, .. } => Some(*block_bytes > 0),
        _ => None,
    };
    assert_eq!(usual.iter().map(has_blocks).collect::<Vec<_>>(), [Some(true); 2], "{usual:?}");
    assert!(!is_readable(&fixture));
    for codec in [HeaderCodec::None, HeaderCodec::Lz4, HeaderCodec::Zstd, HeaderCodec::ZstdDictionary] {
        let (fixture, codecs, dump) = indexed(codec);
        assert!(dump == expected, "{codec:?}");
        let is_so = match codec {
            HeaderCodec::None => codecs == [Codec::None; 2],
            HeaderCodec::Lz4 => codecs == [Codec::Lz4 { block_bytes: 0 }; 2],
            HeaderCodec::Zstd => codecs == [Codec::Zstd { level: 3, block_bytes: 0 }; 2],
            _ => codecs.iter().map(has_blocks).eq([Some(false); 2]),
        };
        assert!(is_so, "{codec:?}: {codecs:?}");
        assert_eq!(is_readable(&fixture), codec == HeaderCodec::None, "{codec:?}");
    }
}
