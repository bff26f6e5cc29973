//! Any bytes are a pack or damage: as a whole pack, and as a header that the target seals, because otherwise
//! nothing under the seal would be tested.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restic::testing::{MemoryStorage, surroundings};
use restic::{Error, FileKind, FileName, Id, Key, PackedBlob, Zstd, pack};

/// The most bytes of blobs before a header, for speed.
const BLOB_BYTES_MAX: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let key = Key::random(&surroundings());
    look(&key, bytes);
    let mut fitting = vec![1; blob_bytes(bytes).min(BLOB_BYTES_MAX)];
    key.seal(&surroundings(), bytes, &mut fitting);
    let length = u32::try_from(bytes.len() + restic::OVERHEAD).expect("inputs are short");
    fitting.extend_from_slice(&length.to_le_bytes());
    look(&key, &fitting);
});

/// Returns how many bytes the blobs in a header have, as far as the header can be read.
fn blob_bytes(mut header: &[u8]) -> usize {
    let mut sum = 0;
    while let Some((kind, rest)) = header.split_first() {
        let Some((length, _)) = rest.split_first_chunk() else { break };
        sum += u32::from_le_bytes(*length) as usize;
        header = header.get(if *kind < 2 { 37 } else { 41 }..).unwrap_or_default();
    }
    sum
}

/// Reads a pack in both ways, and each of its blobs.
fn look(key: &Key, bytes: &[u8]) {
    let id = Id::of(bytes);
    let storage = MemoryStorage::new();
    storage.put(FileName { kind: FileKind::Pack, id }, bytes.to_vec());
    let listed = pack::list(storage.as_ref(), key, id, bytes.len() as u64);
    let blobs = match (pack::open(key, id, bytes), listed) {
        (Ok(opened), Ok(listed)) => {
            assert_eq!(opened, listed);
            opened
        }
        (Err(Error::Damage { .. }), Err(Error::Damage { .. })) => return,
        other => panic!("{other:?}"),
    };
    let size = |blob: &PackedBlob| u64::from(blob.length);
    assert_eq!(pack::header_bytes(&blobs) + blobs.iter().map(size).sum::<u64>(), bytes.len() as u64);
    for blob in blobs {
        let mut sealed = bytes[blob.offset as usize..][..blob.length as usize].to_vec();
        let mut zstd = Zstd::default();
        let opened = pack::open_blob((key, &mut zstd), &mut sealed, &blob, &mut Vec::new());
        assert!(opened.is_err(), "nothing here was sealed");
    }
}
