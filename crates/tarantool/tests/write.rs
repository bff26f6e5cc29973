//! What the writers write: byte by byte, read back, and with every disk operation failing.

use crate::support::tuple;
use proptest::prelude::*;
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use tarantool::{
    Body, FileKind, FormatVersion, Header, LogWriter, Row, RowKind, SnapWriter, Step, Unpacker, VClock,
    put_body, read_head, rows,
};
use testkit::SimDisk;
use testkit::sim_disk::Refusal;

const DIRECTORY: &str = "/tarantool";

fn header(kind: FileKind, lsn: i64) -> Header {
    let mut vclock = VClock::default();
    vclock.set(1, lsn);
    Header {
        kind,
        version: FormatVersion::V013,
        program: "test".to_owned(),
        instance: [7; 16],
        vclock,
        previous: None,
    }
}

fn disk() -> (Arc<SimDisk>, Arc<dyn disk::Disk>) {
    let sim = Arc::new(SimDisk::new(1));
    let disk: Arc<dyn disk::Disk> = sim.clone();
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    (sim, disk)
}

/// Reads a whole file. Returns the payload of each block, and whether the file was closed.
fn blocks(bytes: &[u8]) -> (Vec<(Vec<u8>, bool)>, bool) {
    let (_, mut at) = Header::parse(bytes).unwrap();
    let mut blocks = Vec::new();
    let mut unpacker = Unpacker::default();
    loop {
        match read_head(bytes, at).unwrap() {
            Step::Block(place) => {
                blocks.push((unpacker.unpack(bytes, &place).unwrap().to_vec(), place.is_compressed));
                at = place.payload.end;
            }
            step => return (blocks, step == Step::Eof),
        }
    }
}

/// The first rows of a snapshot, as the format's description shows them.
#[test]
fn a_snapshot_is_written_byte_by_byte() {
    let (_, disk) = disk();
    let mut snap =
        SnapWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Snapshot, 9), 1_677_721_600.0)
            .unwrap();
    snap.insert(280, 0, &[0x91, 1]).unwrap();
    snap.insert(512, 0, &[0x91, 2]).unwrap();
    snap.insert(513, 1, &[0x91, 3]).unwrap();
    let raft = Row {
        kind: RowKind::Raft,
        replica: 0,
        lsn: 77,
        timestamp: 0.0,
        group: 1,
        tsn: 0,
        is_commit: false,
        flags: 0,
        body: Body { bytes: &[0x81, 0, 5], ..Body::default() },
    };
    snap.row(&raft).unwrap();
    assert_eq!(snap.row_count(), 4);
    let path = snap.finish().unwrap();
    assert_eq!(path, Path::new("/tarantool/00000000000000000009.snap"));
    let bytes = disk.read(&path).unwrap();
    let time = [0x04, 0xcb, 0x41, 0xd9, 0, 0, 0, 0, 0, 0];
    let rows = [
        &[0x82, 0x00, 0x02][..],
        &time,
        &[0x82, 0x10, 0xce, 0, 0, 1, 0x18, 0x21, 0x91, 1],
        &[0x83, 0x00, 0x02, 0x03, 1],
        &time,
        &[0x82, 0x10, 0xce, 0, 0, 2, 0, 0x21, 0x91, 2],
        &[0x84, 0x00, 0x02, 0x07, 1, 0x03, 2],
        &time,
        &[0x82, 0x10, 0xce, 0, 0, 2, 1, 0x21, 0x91, 3],
        &[0x84, 0x00, 30, 0x07, 1, 0x03, 3],
        &time,
        &[0x81, 0, 5],
    ]
    .concat();
    assert_eq!(blocks(&bytes), (vec![(rows, false)], true));
    let text = header(FileKind::Snapshot, 9).text();
    assert_eq!(bytes[..text.len()], *text.as_bytes());
    // Magic, length, 0, checksum, and zeros up to 19 bytes.
    assert_eq!(bytes[text.len()..][..8], [0xd5, 0xba, 0x0b, 0xab, 0x5f, 0, 0xce, bytes[text.len() + 7]]);
    assert_eq!(bytes[text.len()..][11..19], [0xa7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[bytes.len() - 4..], [0xd5, 0x10, 0xad, 0xed]);
}

/// Blocks are closed at 128 KiB, head included, and compressed from 2 KiB on. Frames have neither size nor
/// checksum.
#[test]
fn blocks_are_cut_and_compressed_as_by_tarantool() {
    let (_, disk) = disk();
    let mut snap =
        SnapWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Snapshot, 1), 1.0).unwrap();
    let rows_of = |number: u64, text: usize| tuple(number, &"x".repeat(text));
    for number in 0..40_000 {
        snap.insert(512, 0, &rows_of(number, 3)).unwrap();
    }
    let bytes = disk.read(&snap.finish().unwrap()).unwrap();
    let (found, _) = blocks(&bytes);
    let sizes: Vec<usize> = found.iter().map(|(payload, _)| payload.len() + 19).collect();
    let (last, full) = sizes.split_last().unwrap();
    assert!(full.len() > 5 && full.iter().all(|size| (131_072..131_072 + 34).contains(size)), "{sizes:?}");
    assert!(full.iter().any(|&size| size < 131_072 + 19), "the head counts: {sizes:?}");
    assert!(*last < 131_072);
    assert!(found.iter().all(|(_, is_compressed)| *is_compressed));
    assert_eq!(found.iter().map(|(payload, _)| rows(payload).count()).sum::<usize>(), 40_000);
    let (_, at) = Header::parse(&bytes).unwrap();
    let frame = at + 19;
    assert_eq!(bytes[frame..frame + 4], [0x28, 0xb5, 0x2f, 0xfd], "a frame of zstd");
    assert_eq!(bytes[frame + 4] & 0b1110_0100, 0, "neither size, nor one segment, nor checksum");
    for (length, is_compressed) in [(2002, false), (2003, true)] {
        let mut snap =
            SnapWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Snapshot, 2), 1.0).unwrap();
        snap.insert(512, 0, &rows_of(1, length)).unwrap();
        let (found, _) = blocks(&disk.read(&snap.finish().unwrap()).unwrap());
        let [(payload, found)] = &found[..] else { panic!("there is one block") };
        assert_eq!((payload.len() + 19 >= 2048, *found), (is_compressed, is_compressed), "{}", payload.len());
    }
}

/// A row in the form of a log.
fn log_row<'a>(lsn: i64, tsn: i64, is_commit: bool, body: &'a [u8]) -> Row<'a> {
    Row {
        kind: RowKind::Replace,
        replica: 1,
        lsn,
        timestamp: 1.0,
        group: 0,
        tsn,
        is_commit,
        flags: if is_commit && tsn != lsn { 1 } else { 0 },
        body: Body { bytes: body, ..Body::default() },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Transactions of any size stay within one block, and every row can be read back.
    #[test]
    fn transactions_read_back_whole(sizes in prop::collection::vec((1_i64..200, 1_usize..3000), 1..30)) {
        let (_, disk) = disk();
        let mut log = LogWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Log, 0)).unwrap();
        let mut lsn = 0_i64;
        for (index, &(count, text)) in sizes.iter().enumerate() {
            let first = lsn + 1;
            for place in 1..=count {
                lsn += 1;
                let tuple = tuple(lsn.unsigned_abs(), &"y".repeat(text));
                let mut body = Vec::new();
                put_body(&mut body, &Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
                log.row(&log_row(lsn, first, place == count, &body)).unwrap();
            }
            if index % 5 == 4 {
                log.sync().unwrap();
            }
        }
        let path = log.path().to_owned();
        log.finish().unwrap();
        let bytes = disk.read(&path).unwrap();
        let (found, is_closed) = blocks(&bytes);
        prop_assert!(is_closed);
        let mut numbers = Vec::new();
        for (payload, _) in &found {
            let of_block: Vec<Row> = rows(payload).map(Result::unwrap).collect();
            prop_assert!(of_block.last().unwrap().is_commit);
            numbers.extend(of_block.iter().map(|row| row.lsn));
        }
        prop_assert_eq!(numbers, (1..=lsn).collect::<Vec<_>>());
    }
}

/// Writes a snapshot and a log. `acknowledged` counts the durable snapshots, and the durable rows of the log.
fn write_both(disk: &Arc<dyn disk::Disk>, acknowledged: &Cell<(u32, i64)>) -> tarantool::Result<()> {
    let mut snap = SnapWriter::create(disk, Path::new(DIRECTORY), &header(FileKind::Snapshot, 5), 1.0)?;
    snap.insert(512, 0, &tuple(1, "one"))?;
    snap.finish()?;
    acknowledged.set((1, 0));
    let mut log = LogWriter::create(disk, Path::new(DIRECTORY), &header(FileKind::Log, 5))?;
    log.row(&log_row(6, 6, true, &[0x80]))?;
    log.sync()?;
    acknowledged.set((1, 1));
    log.row(&log_row(7, 7, true, &[0x80]))?;
    log.finish()?;
    acknowledged.set((1, 2));
    Ok(())
}

/// A snapshot gets its name only when it is complete, and a log's synced rows stay, whatever fails and
/// whenever the power fails.
#[test]
fn no_failure_leaves_half_a_snapshot_or_loses_synced_rows() {
    let (sim, whole) = disk();
    let begin = sim.operation_count();
    write_both(&whole, &Cell::new((0, 0))).unwrap();
    let count = sim.operation_count();
    assert!(count - begin > 10);
    for number in begin..count {
        let (sim, disk) = disk();
        let acknowledged = Cell::new((0, 0));
        sim.crash_at(number);
        assert!(write_both(&disk, &acknowledged).is_err());
        for image in sim.images() {
            check(&image.disk, acknowledged.get(), number);
        }
        let (sim, disk) = self::disk();
        sim.refuse_at(number, Refusal::Broken);
        assert!(write_both(&disk, &acknowledged).is_err());
        check(&sim, acknowledged.get(), number);
    }
}

fn check(disk: &SimDisk, (snapshots, rows): (u32, i64), number: usize) {
    use disk::Disk as _;
    let (mut snapshots_found, mut found) = (0, 0);
    for name in disk.list(Path::new(DIRECTORY)).unwrap() {
        let name = name.into_string().unwrap();
        let bytes = disk.read(&Path::new(DIRECTORY).join(&name)).unwrap();
        if name.ends_with(".snap") {
            snapshots_found += 1;
            assert!(blocks(&bytes).1, "operation {number}: the snapshot is not whole");
        } else if name.ends_with(".xlog") {
            let (_, mut at) = Header::parse(&bytes).expect("a log with a name has its header");
            while let Ok(Step::Block(place)) = read_head(&bytes, at) {
                let Ok(_) = Unpacker::default().unpack(&bytes, &place) else { break };
                found += 1;
                at = place.payload.end;
            }
        }
    }
    assert!(found >= rows, "operation {number}: {found} rows of {rows}");
    assert!(snapshots_found >= snapshots, "operation {number}: the snapshot is gone");
}

/// A file that an interrupted call left under a temporary name is replaced.
#[test]
fn leftovers_are_replaced() {
    let (sim, disk) = disk();
    sim.put(Path::new("/tarantool/00000000000000000005.snap.inprogress"), b"left");
    sim.put(Path::new("/tarantool/00000000000000000005.xlog.inprogress"), b"left");
    write_both(&disk, &Cell::new((0, 0))).unwrap();
    check(&sim, (1, 2), 0);
    assert_eq!(sim.files().len(), 2);
}
