//! Packs there and back, packs that restic made, and packs that lie.

use super::{ENTRY_COUNT_MAX, PackBuilder, entry_bytes, header, header_bytes, list, open, open_blob};
use crate::crypto::key::{Key, OVERHEAD};
use crate::file_name::{FileKind, FileName};
use crate::format::compress::Zstd;
use crate::testing::{MemoryStorage, surroundings};
use crate::{BlobKind, Error, Id, PackedBlob, Result, index_file};
use proptest::prelude::*;
use std::path::PathBuf;
use zeroize::Zeroizing;

fn key() -> Key {
    Key::from_bytes(Zeroizing::new([7; Key::BYTES])).unwrap()
}

/// Puts bytes into a storage under any name, and reads the header of that pack.
fn listed(key: &Key, pack: &[u8]) -> Result<Vec<PackedBlob>> {
    let storage = MemoryStorage::new();
    let id = Id([0xab; 32]);
    storage.put(FileName { kind: FileKind::Pack, id }, pack.to_vec());
    list(storage.as_ref(), key, id, pack.len() as u64)
}

/// Returns the fault of a pack.
fn damage(result: Result<Vec<PackedBlob>>) -> String {
    match result {
        Err(Error::Damage { file, what }) => {
            assert!(file.starts_with("data/ab/abab"), "{file}");
            what
        }
        other => panic!("{other:?}"),
    }
}

fn blob_of<'a>(pack: &'a mut [u8], blob: &PackedBlob) -> &'a mut [u8] {
    &mut pack[blob.offset as usize..][..blob.length as usize]
}

/// Opens a blob of a pack.
fn opened(key: &Key, pack: &[u8], blob: &PackedBlob) -> std::result::Result<Vec<u8>, String> {
    let mut plain = b"before".to_vec();
    let sealed = blob_of(&mut pack.to_vec(), blob).to_vec();
    open_blob((key, &mut Zstd::default()), &mut sealed.clone(), blob, &mut plain)?;
    Ok(plain)
}

/// Whether a blob is compressed, and its content.
type Made = (bool, Vec<u8>);

fn built(kind: BlobKind, contents: &[Made]) -> PackBuilder {
    let (mut zstd, mut compressed) = (Zstd::default(), Vec::new());
    let mut builder = PackBuilder::new(kind);
    for (is_compressed, content) in contents {
        let mut sealed = Vec::new();
        if *is_compressed {
            zstd.compress(content, &mut compressed);
        }
        key().seal(&surroundings(), if *is_compressed { &compressed } else { content }, &mut sealed);
        let length = if *is_compressed { u32::try_from(content.len()).unwrap() } else { 0 };
        builder.add(Id::of(content), &sealed, length);
    }
    builder
}

fn contents(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Made>> {
    let content = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..300),
        proptest::collection::vec(Just(b'a'), 1..3000),
    ];
    proptest::collection::vec((any::<bool>(), content), count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packs_come_back(
        contents in contents(1..40),
        parts in 0_usize..40,
        kind in prop_oneof![Just(BlobKind::Data), Just(BlobKind::Tree)],
    ) {
        // Both parts of a pack that were filled apart.
        let (first, second) = contents.split_at(parts.min(contents.len()));
        let mut builder = built(kind, first);
        builder.append(&built(kind, second));
        let size = builder.size();
        let (pack, blobs) = builder.finish(&key(), &surroundings()).unwrap();
        prop_assert_eq!(size as u64 + header_bytes(&blobs), pack.len() as u64);
        prop_assert_eq!(&listed(&key(), &pack).unwrap(), &blobs);
        prop_assert_eq!(&open(&key(), Id::of(&pack), &pack).unwrap(), &blobs);
        prop_assert_eq!(blobs.len(), contents.len());
        for (blob, (is_compressed, content)) in blobs.iter().zip(&contents) {
            prop_assert_eq!((blob.kind, blob.uncompressed_length > 0), (kind, *is_compressed));
            prop_assert_eq!(&opened(&key(), &pack, blob).unwrap(), content);
        }
    }

    #[test]
    fn any_bytes_are_entries_or_a_sentence(
        entries in proptest::collection::vec((0..5_u8, 31..99_u32, proptest::option::of(0..3_u32)), 0..5),
        cut in 0..20_usize,
    ) {
        let bytes_of = |(kind, length, more): &_| entry(*kind, *length, *more);
        let mut bytes: Vec<u8> = entries.iter().flat_map(bytes_of).collect();
        bytes.truncate(bytes.len().saturating_sub(cut / 10 * cut));
        match header::decode(&bytes) {
            Ok(blobs) => prop_assert_eq!(header::encode(&blobs), bytes),
            Err(what) => prop_assert!(!what.is_empty()),
        }
    }
}

#[test]
fn every_flipped_byte_is_noticed() {
    let contents = [(true, vec![b'x'; 50]), (false, b"plain".to_vec()), (true, b"y".to_vec())];
    let (pack, blobs) = built(BlobKind::Data, &contents).finish(&key(), &surroundings()).unwrap();
    for at in 0..pack.len() {
        for flip in [1, 0x80] {
            let mut flipped = pack.clone();
            flipped[at] ^= flip;
            let lists = listed(&key(), &flipped);
            match blobs
                .iter()
                .find(|blob| (blob.offset..blob.offset + blob.length).contains(&(u32::try_from(at).unwrap())))
            {
                Some(blob) => {
                    assert_eq!(lists.unwrap(), blobs, "{at}");
                    assert_eq!(opened(&key(), &flipped, blob).unwrap_err(), "its MAC is wrong", "{at}");
                }
                None => drop(damage(lists)),
            }
            let found = open(&key(), Id([0xab; 32]), &flipped);
            assert_eq!(damage(found), "its content does not match its name", "{at}");
        }
        // Cut off at either end.
        drop(damage(listed(&key(), &pack[..at])));
        if at > 0 {
            let short = damage(listed(&key(), &pack[at..]));
            assert!(short.contains("its header") || short.ends_with("too few for a pack"), "{at}: {short}");
        }
    }
}

#[test]
fn long_headers_take_one_request_more() {
    for (count, requests) in [(15, 1), (16, 2), (300, 2)] {
        let contents: Vec<Made> = (0..count).map(|number| (true, format!("{number}").into_bytes())).collect();
        let (pack, blobs) = built(BlobKind::Tree, &contents).finish(&key(), &surroundings()).unwrap();
        let storage = MemoryStorage::new();
        let id = Id::of(&pack);
        storage.put(FileName { kind: FileKind::Pack, id }, pack.clone());
        assert_eq!(list(storage.as_ref(), &key(), id, pack.len() as u64).unwrap(), blobs);
        assert_eq!(storage.operations().len(), requests, "{count}");
    }
}

/// Makes a pack of a header and as many bytes before it.
fn lying(blob_bytes: usize, header: &[u8]) -> Vec<u8> {
    let mut pack = vec![9; blob_bytes];
    key().seal(&surroundings(), header, &mut pack);
    let length = u32::try_from(header.len() + OVERHEAD).unwrap();
    pack.extend_from_slice(&length.to_le_bytes());
    pack
}

fn entry(kind: u8, length: u32, uncompressed_length: Option<u32>) -> Vec<u8> {
    let mut entry = vec![kind];
    entry.extend_from_slice(&length.to_le_bytes());
    entry.extend(uncompressed_length.into_iter().flat_map(u32::to_le_bytes));
    entry.extend_from_slice(&[0x1f; 32]);
    entry
}

#[test]
fn headers_that_lie_are_refused() {
    let told = |blob_bytes, header: &[u8]| damage(listed(&key(), &lying(blob_bytes, header)));
    let sound = entry(2, 40, Some(9));
    assert_eq!(listed(&key(), &lying(40, &sound)).unwrap().len(), 1);
    assert_eq!(told(41, &sound), "it has 118 bytes, its header asks for 117");
    assert_eq!(told(39, &sound), "it has 116 bytes, its header asks for 117");
    assert_eq!(told(0, &[]), "its header has no entries");
    assert_eq!(told(40, &entry(4, 40, None)), "entry 0 of its header is of kind 4");
    assert_eq!(
        told(40, &entry(2, 40, Some(0))),
        "entry 0 of its header is compressed and had no bytes before"
    );
    assert_eq!(told(31, &entry(0, 31, None)), "entry 0 of its header is shorter than any sealed blob");
    assert_eq!(told(40, &sound[..40]), "entry 0 of its header is cut off");
    assert_eq!(told(40, &[&sound[..], &[1]].concat()), "entry 1 of its header is cut off");
    let huge = entry(0, u32::MAX, None);
    assert_eq!(told(40, &[&huge[..], &sound].concat()), "entry 1 of its header ends after 4 GiB");
    let length = |length: u32| damage(listed(&key(), &[&[0; 100][..], &length.to_le_bytes()].concat()));
    for wrong in [0, 31, 101, u32::MAX, 1 << 24] {
        assert_eq!(length(wrong), format!("its header cannot have {wrong} bytes"));
    }
    assert_eq!(length(100), "its header cannot be opened: its nonce is zero");
    let mut long = vec![0; (16 << 20) + 100];
    long.extend_from_slice(&((16_u32 << 20) + 1).to_le_bytes());
    assert_eq!(damage(listed(&key(), &long)), "its header cannot have 16777217 bytes");
    assert_eq!(damage(listed(&key(), b"")), "it has 0 bytes, too few for a pack");
    let other = Key::from_bytes(Zeroizing::new([8; Key::BYTES])).unwrap();
    assert_eq!(damage(listed(&other, &lying(40, &sound))), "its header cannot be opened: its MAC is wrong");
}

#[test]
fn blobs_that_are_not_what_is_said_of_them_are_refused() {
    let (pack, blobs) = built(BlobKind::Data, &[(true, vec![b'x'; 50]), (false, b"plain".to_vec())])
        .finish(&key(), &surroundings())
        .unwrap();
    let told = |blob: PackedBlob| opened(&key(), &pack, &blob).unwrap_err();
    let content = |content: &[u8]| format!("its content is that of {}", Id::of(content));
    assert_eq!(told(PackedBlob { id: blobs[0].id, ..blobs[1] }), content(b"plain"));
    assert_eq!(told(PackedBlob { id: blobs[1].id, ..blobs[0] }), content(&[b'x'; 50]));
    assert!(told(PackedBlob { uncompressed_length: 49, ..blobs[0] }).contains("cannot be decompressed"));
    assert_eq!(
        told(PackedBlob { uncompressed_length: 51, ..blobs[0] }),
        "50 bytes were decompressed, not 51"
    );
    assert!(told(PackedBlob { uncompressed_length: 1 << 28, ..blobs[0] }).contains("cannot come out of"));
    assert!(told(PackedBlob { uncompressed_length: u32::MAX, ..blobs[0] }).contains("and the limit is"));
    assert!(told(PackedBlob { uncompressed_length: 5, ..blobs[1] }).contains("bytes"));
    assert!(told(PackedBlob { uncompressed_length: 0, ..blobs[0] }).starts_with("its content is that of"));
    assert_eq!(told(PackedBlob { length: 31, ..blobs[0] }), "too short for sealed content");
}

#[test]
fn packs_of_restic_are_read() {
    for (version, sizes) in [("restic-v1", [37, 37]), ("restic-v2", [41, 41])] {
        let directory =
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/archive")).join(version);
        let read = |name: &str| std::fs::read(directory.join(name)).unwrap();
        let digits = String::from_utf8(read("key.txt")).unwrap();
        let mut bytes = Zeroizing::new([0; Key::BYTES]);
        for (byte, pair) in bytes.iter_mut().zip(digits.trim().as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        }
        let key = Key::from_bytes(bytes).unwrap();
        let mut found = Vec::new();
        let json = read("index.json");
        let mut writer = index_file::IndexFileWriter::default();
        let name = FileName { kind: FileKind::Index, id: Id::default() };
        index_file::scan(name, &json, |id, blobs| {
            writer.add(id, blobs);
            let pack = read(&id.to_string());
            assert_eq!(
                pack.len() as u64,
                header_bytes(blobs) + blobs.iter().map(|blob| u64::from(blob.length)).sum::<u64>()
            );
            assert_eq!(open(&key, *id, &pack)?, blobs);
            assert_eq!(listed(&key, &pack)?, blobs);
            for blob in blobs {
                found.push((blob.kind, opened(&key, &pack, blob).unwrap(), entry_bytes(blob)));
            }
            Ok(())
        })
        .unwrap();
        // What restic wrote is what would be written here, byte for byte.
        assert_eq!(writer.finish(), json);
        let of = |kind| found.iter().filter(move |(found, ..)| *found == kind);
        assert_eq!((of(BlobKind::Data).count(), of(BlobKind::Tree).count()), (7, 3));
        assert!(of(BlobKind::Data).any(|(_, content, _)| content == b"x\n"));
        assert!(of(BlobKind::Data).any(|(_, content, _)| content.ends_with(b"streets.\n")));
        assert!(of(BlobKind::Tree).all(|(_, content, _)| content.starts_with(b"{\"nodes\":[")));
        assert!(found.iter().all(|(.., size)| sizes.contains(size)), "{version}");
    }
}

#[test]
fn a_pack_is_full_when_its_header_is() {
    let mut builder = PackBuilder::new(BlobKind::Data);
    let sealed = [0; 33];
    for number in 0..ENTRY_COUNT_MAX {
        assert!(!builder.is_full(), "{number}");
        builder.add(Id::default(), &sealed, 1);
    }
    assert!(builder.is_full());
    assert_eq!(builder.blobs().len(), 409_199);
    let (pack, blobs) = builder.finish(&key(), &surroundings()).unwrap();
    assert_eq!(listed(&key(), &pack).unwrap(), blobs);
}

#[test]
#[should_panic(expected = "data and trees never share a pack")]
fn kinds_are_never_mixed() {
    PackBuilder::new(BlobKind::Data).append(&PackBuilder::new(BlobKind::Tree));
}

#[test]
#[should_panic(expected = "a pack holds a blob at least")]
fn there_are_no_empty_packs() {
    let _ = PackBuilder::new(BlobKind::Data).finish(&key(), &surroundings());
}
