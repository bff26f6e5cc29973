//! Header records with each codec: queries give the same answers, also after passes with another codec
//! option.

use crate::support::{Dump, Fixture, message};
use index::{HeaderCodec, UpdateOptions};
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
    let files = std::fs::read_dir(fixture.environment.index_directory()).unwrap();
    let segments = files.map(|entry| entry.unwrap().path());
    let segments: Vec<_> = segments.filter(|path| path.extension().is_some_and(|end| end == "seg")).collect();
    assert!(!segments.is_empty());
    let subject = "pneumatic ".repeat(400).into_bytes();
    segments.iter().any(|path| {
        std::fs::read(path).unwrap().windows(subject.len()).any(|window| window == subject.as_slice())
    })
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
