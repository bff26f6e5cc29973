//! The sealed frame: content of any length can be read back, and damage is reported exactly where it is.

use disk::{Disk, Look, RealDisk};
use proptest::prelude::*;
use std::path::Path;
use store::format::{
    CHUNK_BYTES, LARGE_CHUNK_BYTES, SEALED_MAGIC, SEALED_VERSION_LARGE_CHUNKS, TRAILER_BYTES,
    TRAILER_CHECKSUM_OFFSET, TRAILER_NAME_OFFSET, TRAILER_VERSION_OFFSET,
};
use store::{Error, Sealed, SealedWriter, read_together};
use testkit::{Random, SimDisk};
use xxhash_rust::xxh3::xxh3_64;

const KIND: u32 = 77;

fn path() -> &'static Path {
    Path::new("/file.sealed")
}

fn content(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Random::new(length as u64).fill(&mut bytes);
    bytes
}

/// Writes content in pieces of these lengths, which repeat.
fn seal(disk: &SimDisk, content: &[u8], pieces: &[usize]) -> u64 {
    let mut writer = SealedWriter::create(disk, path(), KIND).unwrap();
    let mut rest = content;
    for piece in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (head, after) = rest.split_at((*piece).clamp(1, rest.len()));
        writer.write(head).unwrap();
        rest = after;
    }
    assert_eq!(writer.position(), content.len() as u64);
    writer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn content_reads_back_whatever_the_pieces(
        length in prop_oneof![0_usize..300, CHUNK_BYTES - 70..CHUNK_BYTES + 70, 0..4 * CHUNK_BYTES],
        pieces in prop::collection::vec(prop_oneof![1_usize..5000, 1..3 * CHUNK_BYTES], 1..4),
        start in any::<prop::sample::Index>(), end in any::<prop::sample::Index>(),
    ) {
        let (disk, content) = (SimDisk::new(1), content(length));
        // Pieces of one byte would take too long.
        let pieces: Vec<usize> = pieces.iter().map(|piece| piece + length / 1000).collect();
        let file_bytes = seal(&disk, &content, &pieces);
        prop_assert_eq!(disk.read(path()).unwrap().len() as u64, file_bytes);
        let sealed = Sealed::open(&disk, path(), KIND).unwrap();
        prop_assert_eq!((sealed.content_length(), sealed.file_bytes()), (length as u64, file_bytes));
        let (start, end) = (start.index(length + 1), end.index(length + 1));
        let (start, end) = (start.min(end), start.max(end));
        prop_assert_eq!(sealed.range(start as u64..end as u64).unwrap(), &content[start..end]);
        prop_assert!(sealed.verify_all().is_empty());
        prop_assert!(sealed.range(0..length as u64 + 1).is_err());
        prop_assert!(sealed.range(u64::MAX - 1..u64::MAX).is_err());
    }
}

#[test]
fn damage_is_reported_where_it_is_and_only_there() {
    let disk = SimDisk::new(1);
    let length = 3 * CHUNK_BYTES + 1000;
    seal(&disk, &content(length), &[CHUNK_BYTES * 2]);
    let clean = disk.read(path()).unwrap();
    for offset in (0..clean.len()).step_by(4097).chain(length..clean.len()) {
        let disk = SimDisk::new(1);
        disk.put(path(), &clean);
        disk.flip(path(), offset);
        let opened = Sealed::open(&disk, path(), KIND);
        if offset >= length {
            assert!(matches!(opened, Err(Error::Corrupt { .. })), "byte {offset}: {opened:?}");
            continue;
        }
        let sealed = opened.unwrap();
        let chunk = offset / CHUNK_BYTES;
        for other in 0..4 {
            let start = (other * CHUNK_BYTES) as u64;
            let end = (start + CHUNK_BYTES as u64).min(length as u64);
            match sealed.range(start..end) {
                Ok(bytes) => assert!(other != chunk && bytes.len() as u64 == end - start),
                Err(Error::Corrupt { offset, .. }) => assert_eq!((other, offset), (chunk, start)),
                Err(error) => panic!("{error}"),
            }
        }
        let damage = sealed.verify_all();
        assert_eq!(damage.len(), 1);
        assert!(damage[0].to_string().starts_with("/file.sealed is damaged at byte "), "{}", damage[0]);
    }
}

#[test]
fn damage_is_found_however_far_from_the_beginning() {
    // Chunks are read and verified in groups. The last group is not full.
    let disk = SimDisk::new(1);
    let chunk_count = 520;
    let length = chunk_count * CHUNK_BYTES - 1000;
    seal(&disk, &content(length), &[length / 2]);
    let clean = disk.read(path()).unwrap();
    for chunk in [0, 1, 254, 255, 256, 257, 511, 512, 513, chunk_count - 1] {
        let mut bytes = clean.clone();
        bytes[chunk * CHUNK_BYTES + 17] ^= 1;
        disk.put(path(), &bytes);
        let begin = (chunk * CHUNK_BYTES) as u64;
        let is_here = |error: &Error| matches!(error, Error::Corrupt { offset, .. } if *offset == begin);
        let sealed = Sealed::open(&disk, path(), KIND).unwrap();
        assert!(sealed.range(0..begin).is_ok());
        assert!(sealed.range(0..length as u64).is_err_and(|error| is_here(&error)));
        assert!(sealed.range(begin.saturating_sub(1)..begin + 1).is_err_and(|error| is_here(&error)));
        let damage = Sealed::open(&disk, path(), KIND).unwrap().verify_all();
        assert!(damage.len() == 1 && is_here(&damage[0]), "{damage:?}");
    }
}

#[test]
fn files_with_large_chunks_still_open() {
    let content = content(2 * LARGE_CHUNK_BYTES + 1000);
    let mut file = content.clone();
    file.resize(content.len().next_multiple_of(64), 0);
    let table: Vec<u8> =
        content.chunks(LARGE_CHUNK_BYTES).flat_map(|chunk| xxh3_64(chunk).to_le_bytes()).collect();
    file.extend(&table);
    let begin = file.len();
    file.extend(SEALED_MAGIC);
    file.extend(SEALED_VERSION_LARGE_CHUNKS.to_le_bytes());
    file.extend(KIND.to_le_bytes());
    file.extend((content.len() as u64).to_le_bytes());
    file.extend(xxh3_64(&table).to_le_bytes());
    file.extend(xxh3_64(path().file_name().unwrap().as_encoded_bytes()).to_le_bytes());
    file.resize(begin + TRAILER_CHECKSUM_OFFSET, 0);
    file.extend(xxh3_64(&file[begin..]).to_le_bytes());
    let disk = SimDisk::new(1);
    disk.put(path(), &file);
    let sealed = Sealed::open(&disk, path(), KIND).unwrap();
    assert_eq!(sealed.range(0..content.len() as u64).unwrap(), content);
    assert!(sealed.verify_all().is_empty());
    disk.flip(path(), LARGE_CHUNK_BYTES + 50_000);
    let sealed = Sealed::open(&disk, path(), KIND).unwrap();
    let large = LARGE_CHUNK_BYTES as u64;
    assert!(sealed.range(0..large).is_ok() && sealed.range(2 * large..content.len() as u64).is_ok());
    assert!(sealed.range(large..large + 1).is_err(), "all of the chunk is verified");
    assert_eq!(sealed.verify_all().len(), 1);
}

#[test]
fn cut_and_foreign_files_are_refused() {
    let disk = SimDisk::new(1);
    seal(&disk, &content(100_000), &[1000]);
    let whole = disk.read(path()).unwrap();
    for length in (0..whole.len()).rev().step_by(999).chain([0, 1, TRAILER_BYTES - 1, TRAILER_BYTES]) {
        disk.put(path(), &whole[..length]);
        let refused = Sealed::open(&disk, path(), KIND).unwrap_err();
        assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
    }
    disk.put(path(), &whole);
    let refused = Sealed::open(&disk, path(), KIND + 1).unwrap_err();
    assert!(refused.to_string().contains("of kind 77, not 78"), "{refused}");
    // Another file in front moves all offsets.
    disk.put(path(), &[whole.as_slice(), &whole].concat());
    assert!(Sealed::open(&disk, path(), KIND).is_err());
}

#[test]
fn sections_begin_at_multiples_of_64() {
    let disk = SimDisk::new(1);
    let mut writer = SealedWriter::create(&disk, path(), KIND).unwrap();
    for length in [0, 1, 63, 64, 65] {
        writer.write(&content(length)).unwrap();
        writer.align().unwrap();
        assert!(writer.position().is_multiple_of(64));
    }
    assert_eq!(writer.position(), 64 + 64 + 64 + 128);
}

#[test]
fn an_existing_file_is_not_replaced() {
    let disk = SimDisk::new(1);
    disk.put(path(), b"precious");
    assert!(SealedWriter::create(&disk, path(), KIND).is_err());
    assert_eq!(disk.read(path()).unwrap(), b"precious");
}

#[test]
fn a_file_opens_only_under_the_name_it_was_written_under() {
    let disk = SimDisk::new(1);
    seal(&disk, &content(1000), &[10]);
    let bytes = disk.read(path()).unwrap();
    for other in ["/other.sealed", "/file.other", "/file", "/file.sealed.new"] {
        disk.put(Path::new(other), &bytes);
        let refused = Sealed::open(&disk, Path::new(other), KIND).unwrap_err().to_string();
        assert!(refused.contains(other) && refused.contains("written under another name"), "{refused}");
    }
    // The name excludes the directory, because whole stores are copied.
    disk.create_directory(Path::new("/copy")).unwrap();
    disk.put(Path::new("/copy/file.sealed"), &bytes);
    let copy = Sealed::open(&disk, Path::new("/copy/file.sealed"), KIND).unwrap();
    let own = Sealed::open(&disk, path(), KIND).unwrap();
    assert_eq!(copy.digest(), own.digest());
    own.expect_digest(copy.digest()).unwrap();
    // An older content under the same name.
    disk.remove(path()).unwrap();
    seal(&disk, &content(1001), &[10]);
    let newer = Sealed::open(&disk, path(), KIND).unwrap();
    let refused = newer.expect_digest(copy.digest()).unwrap_err().to_string();
    assert!(
        refused.contains("/file.sealed") && refused.contains("not the file that was committed"),
        "{refused}"
    );
}

#[test]
fn version_1_has_no_name() {
    let disk = SimDisk::new(1);
    seal(&disk, &content(1000), &[10]);
    let mut bytes = disk.read(path()).unwrap();
    let trailer = bytes.len() - TRAILER_BYTES;
    bytes[trailer + TRAILER_VERSION_OFFSET] = 1;
    let with_checksum = |mut bytes: Vec<u8>| {
        let checksum = xxh3_64(&bytes[trailer..trailer + TRAILER_CHECKSUM_OFFSET]);
        bytes[trailer + TRAILER_CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    };
    disk.put(path(), &with_checksum(bytes.clone()));
    let refused = Sealed::open(&disk, path(), KIND).unwrap_err().to_string();
    assert!(refused.contains("version 1 has no name"), "{refused}");
    bytes[trailer + TRAILER_NAME_OFFSET..][..8].fill(0);
    disk.put(Path::new("/any"), &with_checksum(bytes));
    assert!(Sealed::open(&disk, Path::new("/any"), KIND).is_ok());
}

/// Writes a file of 8 MiB and drops it from memory. Returns its content, and whether it was dropped: some
/// file systems have everything in memory.
fn dropped(path: &Path) -> (Vec<u8>, bool) {
    let content = content(8 << 20);
    let mut writer = SealedWriter::create(&RealDisk, path, KIND).unwrap();
    writer.write(&content).unwrap();
    writer.finish().unwrap();
    let file = std::fs::File::open(path).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    // One page each, between places that a test reads first, and near the end.
    let map = RealDisk.map(path).unwrap();
    let is_dropped = [5, 14, 23, 450].iter().all(|chunk| {
        let place = chunk * CHUNK_BYTES;
        map.will_need_surely(place..place + 1) == Look::Requested
    });
    (content, is_dropped)
}

#[test]
fn look_ups_that_wait_for_the_disk_wait_together() {
    let here = std::env::current_exe().unwrap();
    let directory = tempfile::tempdir_in(here.parent().unwrap()).unwrap();
    let path = directory.path().join("file.sealed");
    let (content, is_dropped) = dropped(&path);
    let sealed = Sealed::open(&RealDisk, &path, KIND).unwrap();
    // Places far from each other, and the first one again.
    let places: Vec<usize> = (0..48).map(|number| number * 9 * CHUNK_BYTES).chain([0]).collect();
    let (mut requested, mut found) = (0, 0);
    let read = |place: usize| sealed.range(place as u64..place as u64 + 8);
    read_together(places.iter().copied(), |&place| match read(place) {
        Ok(bytes) => {
            found += 1;
            assert_eq!(bytes, &content[place..place + 8]);
        }
        Err(Error::Requested { path: requested_of }) => {
            requested += 1;
            assert_eq!(requested_of, path);
        }
        Err(error) => panic!("{error}"),
    });
    if is_dropped {
        assert!(requested > 0 && found == places.len(), "{requested} requested, {found} found");
    }
    for place in places {
        assert_eq!(read(place).unwrap(), &content[place..place + 8]);
    }
}
