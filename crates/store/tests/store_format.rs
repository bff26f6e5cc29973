//! The formats of manifest, journal and dead rows: bytes are where docs/FORMAT.md says, and stores of all
//! versions still open.
//!
//! Reads the bytes without the crate's readers.
//!
//! `UPDATE=1` rewrites the store of the newest version. Stores of older versions never change.

use crate::support::{Change, Twin, check, directory, item, key_of, link, options, schemas, shared};
use disk::Disk;
use std::path::PathBuf;
use store::format::{
    DEAD_PADDING_OFFSET, DEAD_PIECE_WORDS, HEAD_BYTES, HEAD_MAGIC_OFFSET, HEAD_VERSION_OFFSET,
    JOURNAL_CHECKSUM_OFFSET, JOURNAL_HEAD_BYTES, JOURNAL_MAGIC, JOURNAL_MANIFEST_OFFSET, JOURNAL_VERSION,
    KIND_DEAD, MANIFEST_CHECKSUM_BYTES, MANIFEST_MAGIC, MANIFEST_VERSION, RECORD_CHECKSUM_OFFSET,
    RECORD_LENGTH_OFFSET, RECORD_MAGIC, RECORD_PAYLOAD_CHECKSUM_OFFSET, RECORD_PAYLOAD_OFFSET,
    RECORD_SEQUENCE_OFFSET, SECTOR_BYTES, SECTOR_CHECKSUM_OFFSET,
};
use store::{Rows, Schema, Sealed, Snapshot, Writer, verify};
use testkit::SimDisk;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Writes the store of `testdata/format`: two segments of items, dead rows in the first, one segment of
/// links, a journal of two records. It must never change.
fn golden(disk: &SimDisk) -> Twin {
    let mut writer = Writer::create(&shared(disk), directory(), &schemas(), options(100)).unwrap();
    let many = (0..30).fold(Change::default().attach("state", b"one"), |change, number| {
        change.put(0, item(number, number % 4)).put(1, link(u64::from(number % 5), "right", 7))
    });
    let changes = [
        many,
        Change::default().put(0, item(3, 9)).delete(0, key_of(0, &item(4, 0))).attach("other", b""),
        Change::default().put(0, item(40, 1)).attach("state", b"two"),
        Change::default().put(0, item(5, 8)).delete(1, key_of(1, &link(1, "right", 0))),
    ];
    let mut twin = Twin::default();
    for (number, change) in changes.iter().enumerate() {
        match number {
            0 | 1 => writer.load_transaction(change.transaction()).unwrap(),
            _ => writer.commit(change.transaction()).unwrap(),
        };
        twin.apply(change);
    }
    twin
}

fn golden_directory(version: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/format/v{version}/store"))
}

/// Copies the files of a store of an older version to a disk.
fn put_golden(disk: &SimDisk, version: u32) {
    disk.create_directory(directory()).unwrap();
    for entry in std::fs::read_dir(golden_directory(version)).unwrap() {
        let entry = entry.unwrap();
        disk.put(&directory().join(entry.file_name()), &std::fs::read(entry.path()).unwrap());
    }
}

fn update(disk: &SimDisk) {
    let to = golden_directory(MANIFEST_VERSION);
    if to.exists() {
        std::fs::remove_dir_all(&to).unwrap();
    }
    std::fs::create_dir_all(&to).unwrap();
    for path in disk.files().iter().filter(|path| !path.ends_with("lock")) {
        std::fs::write(to.join(path.file_name().unwrap()), disk.read(path).unwrap()).unwrap();
    }
}

#[test]
fn stores_of_all_versions_still_open_answer_and_can_be_written() {
    let disk = SimDisk::new(1);
    let twin = golden(&disk);
    if std::env::var_os("UPDATE").is_some() {
        update(&disk);
    }
    for version in 1..=MANIFEST_VERSION {
        let disk = SimDisk::new(1);
        put_golden(&disk, version);
        let snapshot = Snapshot::open(&shared(&disk), directory()).unwrap();
        check(&snapshot, &twin).unwrap();
        assert_eq!(verify(&snapshot), [], "version {version}");
        let mut writer = Writer::open(&shared(&disk), directory(), options(100)).unwrap();
        let change = Change::default().put(0, item(6, 6));
        writer.commit(change.transaction()).unwrap();
        writer.flush().unwrap();
        check(&writer.snapshot().unwrap(), &twin.after(&change)).unwrap();
    }
}

/// Takes bytes from the front of a slice.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn u32(&mut self) -> usize {
        u32::from_le_bytes(self.take(4).try_into().unwrap()) as usize
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn attachment(&mut self) -> (&'a [u8], &'a [u8]) {
        let (name_length, length) = (self.u32(), self.u32());
        (self.take(name_length), self.take(length))
    }
}

fn number_at(bytes: &[u8], offset: usize) -> u64 {
    Reader(&bytes[offset..]).u64()
}

fn check_head(bytes: &[u8], magic: [u8; 8], version: u32) {
    assert_eq!(bytes[HEAD_MAGIC_OFFSET..][..8], magic);
    assert_eq!(bytes[HEAD_VERSION_OFFSET..HEAD_BYTES], [version.to_le_bytes(), [0; 4]].concat());
}

/// A manifest's entries of segments: name, length, row count, dead count, name of the dead rows, digests of
/// both.
type Segments = Vec<(u64, u64, usize, usize, u64, [u64; 2])>;

/// Parses a manifest by hand. Returns the journal's seed and the segments of each table.
fn read_manifest(bytes: &[u8]) -> (u64, Vec<Segments>) {
    check_head(bytes, MANIFEST_MAGIC, MANIFEST_VERSION);
    let (content, checksum) = bytes.split_at(bytes.len() - MANIFEST_CHECKSUM_BYTES);
    assert_eq!(Reader(checksum).u64(), xxh3_64(content));
    let mut reader = Reader(&content[HEAD_BYTES..]);
    assert_eq!((reader.u64(), reader.u64()), (3, 2), "the third manifest, after two commits");
    let seed = reader.u64();
    let mut tables = Vec::new();
    let table_count = reader.u32();
    for expected in &schemas()[..table_count] {
        let length = reader.u32();
        assert_eq!(Schema::decode(reader.take(length)).as_ref(), Ok(expected));
        let segment_count = reader.u32();
        let segment = |_| {
            let (name, length) = (reader.u64(), reader.u64());
            let (rows, dead, dead_name) = (reader.u32(), reader.u32(), reader.u64());
            (name, length, rows, dead, dead_name, [reader.u64(), reader.u64()])
        };
        tables.push((0..segment_count).map(segment).collect());
    }
    assert_eq!(reader.u32(), 2);
    assert_eq!(reader.attachment(), (&b"other"[..], &b""[..]));
    assert_eq!(reader.attachment(), (&b"state"[..], &b"one"[..]));
    assert!(reader.0.is_empty());
    (seed, tables)
}

#[test]
fn a_manifest_has_the_documented_layout() {
    let disk = SimDisk::new(1);
    golden(&disk);
    let (_, tables) = read_manifest(&disk.read(&directory().join("manifest")).unwrap());
    assert_eq!(tables.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
    for (row_counts, segments) in [(&[(30, 2), (1, 0)][..], &tables[0]), (&[(5, 0)], &tables[1])] {
        for (&(row_count, dead_count), segment) in row_counts.iter().zip(segments) {
            assert_eq!((segment.2, segment.3), (row_count, dead_count));
            assert_eq!(segment.4 == 0, dead_count == 0);
            let file = disk.read(&directory().join(format!("{:016x}.seg", segment.0))).unwrap();
            assert_eq!(segment.1, file.len() as u64);
            // A sealed file's digest is its last field.
            assert_eq!(segment.5[0], number_at(&file, file.len() - 8));
            let dead = disk.read(&directory().join(format!("{:016x}.dead", segment.4)));
            assert_eq!(segment.5[1], dead.map_or(0, |dead| number_at(&dead, dead.len() - 8)));
        }
    }
}

#[test]
fn dead_rows_have_the_documented_layout() {
    let disk = SimDisk::new(1);
    golden(&disk);
    let (_, tables) = read_manifest(&disk.read(&directory().join("manifest")).unwrap());
    let path = directory().join(format!("{:016x}.dead", tables[0][0].4));
    let file = Sealed::open(&disk, &path, KIND_DEAD).unwrap();
    let content = file.range(0..file.content_length()).unwrap();
    let mut reader = Reader(content);
    assert_eq!([reader.u32(), reader.u32(), reader.u32(), reader.u32()], [30, 2, 1, 0]);
    assert_eq!(content.len() - reader.0.len(), DEAD_PADDING_OFFSET + 4);
    assert_eq!(reader.u64(), 0, "the first piece");
    assert_eq!(reader.u64(), 1 << 3 | 1 << 4, "items 3 and 4");
    assert_eq!(reader.0, [0; (DEAD_PIECE_WORDS - 1) * 8]);
}

#[test]
fn a_journal_has_the_documented_layout() {
    let disk = SimDisk::new(1);
    golden(&disk);
    let (seed, _) = read_manifest(&disk.read(&directory().join("manifest")).unwrap());
    let bytes = disk.read(&directory().join("journal-3")).unwrap();
    check_head(&bytes, JOURNAL_MAGIC, JOURNAL_VERSION);
    assert_eq!(number_at(&bytes, JOURNAL_MANIFEST_OFFSET), 3);
    let checksum = xxh3_64_with_seed(&bytes[..JOURNAL_CHECKSUM_OFFSET], seed);
    assert_eq!(number_at(&bytes, JOURNAL_CHECKSUM_OFFSET), checksum);
    let sectors = unframe(&bytes, seed);
    assert_eq!(sectors.len(), 3, "the head and two small records");
    assert!(sectors[0][JOURNAL_HEAD_BYTES..].iter().all(|&byte| byte == 0));
    let (first, rest) = take_record(&sectors[1], seed, 3);
    assert!(rest.iter().all(|&byte| byte == 0));
    let (second, rest) = take_record(&sectors[2], seed, 4);
    assert!(rest.iter().all(|&byte| byte == 0));

    let mut reader = Reader(first);
    // One table, number 0; no dead row; one new row; one attachment.
    assert_eq!([reader.u32(), reader.u32(), reader.u32()], [1, 0, 0]);
    check_batch(&mut reader, 0, 1);
    assert_eq!(reader.u32(), 1);
    assert_eq!(reader.attachment(), (&b"state"[..], &b"two"[..]));
    assert!(reader.0.len() < 8 && reader.0.iter().all(|&byte| byte == 0));

    let mut reader = Reader(second);
    // Two tables. In the first, row 5 of part 0 dies and one row is added. In the second, row 1 of part 0
    // dies and no row is added.
    assert_eq!([reader.u32(), reader.u32(), reader.u32()], [2, 0, 1]);
    assert_eq!([reader.u32(), reader.u32(), reader.u32()], [0, 1, 5]);
    check_batch(&mut reader, 0, 1);
    assert_eq!([reader.u32(), reader.u32()], [1, 1]);
    assert_eq!([reader.u32(), reader.u32(), reader.u32()], [0, 1, 1]);
    check_batch(&mut reader, 1, 0);
    assert_eq!(reader.u32(), 0, "no attachments");
}

#[test]
fn a_record_that_contradicts_the_rows_is_damage() {
    let disk = SimDisk::new(1);
    golden(&disk);
    let (seed, _) = read_manifest(&disk.read(&directory().join("manifest")).unwrap());
    let path = directory().join("journal-3");
    let bytes = disk.read(&path).unwrap();
    let sectors = unframe(&bytes, seed);
    let (again, _) = take_record(&sectors[2], seed, 4);
    // The record's first dead row follows five numbers: tables, table, parts, part, rows.
    for (row, expected) in [(5, "row 5 dies twice"), (30, "row 30 of 30 dies")] {
        let mut payload = again.to_vec();
        payload[20..24].copy_from_slice(&u32::to_le_bytes(row));
        disk.put(&path, &[&bytes[..], &frame(record(&payload, seed, 5), 3, seed)].concat());
        let error = Snapshot::open(&shared(&disk), directory()).unwrap_err().to_string();
        assert!(error.contains("journal-3") && error.contains(expected), "{error}");
    }
}

/// Returns the data of each sector.
fn unframe(bytes: &[u8], seed: u64) -> Vec<Vec<u8>> {
    let sector = |(number, sector): (u64, &[u8])| {
        let (data, checksum) = sector.split_at(SECTOR_CHECKSUM_OFFSET);
        assert_eq!(Reader(checksum).u64(), xxh3_64_with_seed(data, seed.wrapping_add(number)));
        data.to_vec()
    };
    (0..).zip(bytes.chunks(SECTOR_BYTES)).map(sector).collect()
}

/// Returns a sector with a correct checksum.
fn frame(mut data: Vec<u8>, number: u64, seed: u64) -> Vec<u8> {
    data.resize(SECTOR_CHECKSUM_OFFSET, 0);
    let checksum = xxh3_64_with_seed(&data, seed.wrapping_add(number));
    [data, checksum.to_le_bytes().to_vec()].concat()
}

/// Returns a record with correct checksums.
fn record(payload: &[u8], seed: u64, sequence: u64) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap();
    let mut bytes = [&RECORD_MAGIC[..], &length.to_le_bytes(), &sequence.to_le_bytes()].concat();
    bytes.extend(xxh3_64_with_seed(payload, seed).to_le_bytes());
    bytes.extend(xxh3_64_with_seed(&bytes, seed).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Returns the payload of the first record, and the bytes after the record.
fn take_record(bytes: &[u8], seed: u64, sequence: u64) -> (&[u8], &[u8]) {
    assert_eq!(bytes[..4], RECORD_MAGIC);
    let length = Reader(&bytes[RECORD_LENGTH_OFFSET..]).u32();
    assert_eq!(length % 8, 0);
    assert_eq!(number_at(bytes, RECORD_SEQUENCE_OFFSET), sequence);
    let (payload, rest) = bytes[RECORD_PAYLOAD_OFFSET..].split_at(length);
    assert_eq!(number_at(bytes, RECORD_PAYLOAD_CHECKSUM_OFFSET), xxh3_64_with_seed(payload, seed));
    let checksum = xxh3_64_with_seed(&bytes[..RECORD_CHECKSUM_OFFSET], seed);
    assert_eq!(number_at(bytes, RECORD_CHECKSUM_OFFSET), checksum);
    (payload, rest)
}

fn check_batch(reader: &mut Reader, table: usize, row_count: u32) {
    let length = reader.u32();
    let schema = std::sync::Arc::new(schemas()[table].clone());
    assert_eq!(Rows::decode(&schema, reader.take(length)).unwrap().len(), row_count);
}
