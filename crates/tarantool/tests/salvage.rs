//! What salvage lists and recovers, the cut of torn ends, gaps in several replicas.

use crate::support::{Sequence, raw_block};
use std::path::Path;
use std::sync::Arc;
use tarantool::PLAIN;
use tarantool::msgpack::put_bin;
use tarantool::{
    CutReport, Depth, FileKind, LogWriter, Mode, Plan, PlanOptions, Unpacker, VClock, cut_torn_tail, plan,
    rows,
};
use testkit::SimDisk;

use crate::damage_support::*;

fn planned(disk: &Arc<dyn disk::Disk>, mode: Mode, depth: Depth) -> Plan {
    plan(disk.as_ref(), Path::new(DIRECTORY), &PlanOptions { mode, depth, ..PlanOptions::default() }).unwrap()
}

/// Returns every row of a plan's logs.
fn numbers(plan: &Plan) -> Vec<i64> {
    let mut unpacker = Unpacker::default();
    let mut numbers = Vec::new();
    for file in &plan.logs {
        for place in file.blocks() {
            numbers.extend(rows(unpacker.unpack(&file.bytes, &place).unwrap()).map(|row| row.unwrap().lsn));
        }
    }
    numbers
}

/// Listed and recovered rows together are all rows.
#[test]
fn salvage_recovers_every_row_that_it_does_not_list() {
    for seed in 0..200_u64 {
        let (sim, disk) = made();
        let mut random = Sequence(seed);
        let mut at = |limit: usize| usize::try_from(random.next()).unwrap() % limit;
        for _ in 0..=at(3) {
            let path = name([0, 300, 600][at(3)], "xlog");
            edit(&sim, &path, |bytes| {
                let header = borders(bytes)[0];
                if bytes.len() == header {
                    return;
                }
                let begin = header + at(bytes.len() - header);
                match at(3) {
                    0 => bytes[begin] ^= 1 << at(8),
                    1 => {
                        let end = bytes.len().min(begin + at(3000));
                        bytes[begin..end].fill(0);
                    }
                    _ => bytes.truncate(begin),
                }
            });
        }
        let plan = planned(&disk, Mode::Salvage, Depth::Rows);
        let mut found = numbers(&plan);
        let read_count = found.len();
        for lost in plan.lost.iter().filter(|lost| lost.kind == FileKind::Log) {
            for numbers in &lost.numbers {
                found.extend(numbers.first..=numbers.last.unwrap_or(900));
            }
        }
        // After a cut between blocks, the missing rows are unknown.
        let end = found.iter().copied().max().unwrap_or(0);
        found.sort_unstable();
        assert_eq!(found, (1..=end).collect::<Vec<_>>(), "seed {seed}: {}", told(&plan));
        assert!(end == 900 || plan.logs.last().is_some_and(|log| !log.is_closed), "seed {seed}");
        let counted: u64 = plan.logs.iter().map(|log| log.row_count).sum();
        assert_eq!(counted, read_count as u64, "seed {seed}");
    }
}

/// The cut is durable, removes nothing sound, and leaves nothing to cut.
#[test]
fn a_torn_end_is_cut_durably() {
    let tear = |sim: &SimDisk| {
        edit(sim, &name(600, "xlog"), |bytes| bytes.truncate(borders(bytes)[9] + 7));
        sim.put(&name(870, "xlog"), &[0; 512]);
    };
    let (sim, disk) = made();
    tear(&sim);
    let before = numbers(&planned(&disk, Mode::Strict, Depth::Heads));
    let plan = planned(&disk, Mode::Strict, Depth::Heads);
    let begin = sim.operation_count();
    let reports = cut_torn_tail(disk.as_ref(), &plan).unwrap();
    assert!(matches!(&reports[..], [CutReport::Cut(cut), CutReport::Removed(removed)]
        if cut.length_bytes - cut.keep_bytes == 7 && removed.length_bytes == 512));
    let count = sim.operation_count();
    for image in sim.images() {
        let disk: Arc<dyn disk::Disk> = Arc::new(image.disk);
        let plan = planned(&disk, Mode::Strict, Depth::Rows);
        assert_eq!((plan.torn.len(), numbers(&plan)), (0, before.clone()), "{}", image.description);
        assert!(cut_torn_tail(disk.as_ref(), &plan).unwrap().is_empty());
    }
    for number in 0..count - begin {
        let (sim, disk) = made();
        tear(&sim);
        let plan = planned(&disk, Mode::Strict, Depth::Heads);
        sim.crash_at(sim.operation_count() + number);
        assert!(cut_torn_tail(disk.as_ref(), &plan).is_err());
        for image in sim.images() {
            let disk: Arc<dyn disk::Disk> = Arc::new(image.disk);
            assert_eq!(numbers(&planned(&disk, Mode::Strict, Depth::Heads)), before, "operation {number}");
        }
    }
}

/// Its damage may be a flipped bit: the program that closed the file had written all of it.
#[test]
fn a_closed_file_is_never_cut() {
    let (sim, disk) = made();
    edit(&sim, &name(600, "xlog"), |bytes| {
        let at = borders(bytes)[9] + 30;
        bytes[at] ^= 1;
    });
    let before = read(&sim, &name(600, "xlog"));
    let reports = cut_torn_tail(disk.as_ref(), &planned(&disk, Mode::Strict, Depth::Heads)).unwrap();
    assert!(matches!(&reports[..], [CutReport::Kept(kept)] if kept.keep_bytes == 9245), "{reports:?}");
    assert_eq!(read(&sim, &name(600, "xlog")), before);
}

/// Rows of a second replica are missing, but the last block has only rows of the first. Only reading every
/// row shows the gap.
#[test]
fn a_gap_in_one_of_several_replicas_is_found_before_the_next_log() {
    let (sim, disk) = made();
    for lsn in [300, 600] {
        remove(&sim, &name(lsn, "xlog"));
    }
    let mut second = header(FileKind::Log, 300, Some(0));
    second.vclock.set(2, 5);
    let log = LogWriter::create(&disk, Path::new(DIRECTORY), &second).unwrap();
    log.finish().unwrap();
    let refused = "rows are missing between /t/00000000000000000000.xlog and /t/00000000000000000305.xlog: \
        the first ends at {1: 300}, the second begins at {1: 300, 2: 5}";
    let options = PlanOptions { mode: Mode::Strict, depth: Depth::Rows, ..PlanOptions::default() };
    let error = plan(disk.as_ref(), Path::new(DIRECTORY), &options).unwrap_err();
    assert!(error.to_string().starts_with(refused), "{error}");
    let plan = planned(&disk, Mode::Strict, Depth::Heads);
    let mut reached = VClock::default();
    plan.follows(0, &reached).unwrap();
    reached.set(1, 300);
    assert!(plan.follows(1, &reached).unwrap_err().to_string().starts_with(refused));
    reached.set(2, 5);
    plan.follows(1, &reached).unwrap();
    let salvage = planned(&disk, Mode::Salvage, Depth::Heads);
    salvage.follows(1, &VClock::default()).unwrap();
    assert!(told(&salvage).contains("LSN 1 to 5 of replica 2"), "{}", told(&salvage));
}

/// Logs can be in another directory, and other files beside them do not matter.
#[test]
fn logs_may_be_in_another_directory() {
    let (sim, disk) = made();
    for lsn in [0, 300, 600] {
        let bytes = read(&sim, &name(lsn, "xlog"));
        remove(&sim, &name(lsn, "xlog"));
        disk.create_directory(Path::new("/wal")).unwrap();
        sim.put(&Path::new("/wal").join(format!("{lsn:020}.xlog")), &bytes);
    }
    for other in [
        "00000000000000000999.xlog.inprogress",
        "x.xlog",
        ".xlog",
        "+1.xlog",
        "00000000000000000999.snapshot",
    ] {
        sim.put(&Path::new("/wal").join(other), b"other");
        sim.put(&Path::new(DIRECTORY).join(other), b"other");
    }
    let options = PlanOptions { log_directory: Some("/wal".into()), ..PlanOptions::default() };
    let plan = plan(disk.as_ref(), Path::new(DIRECTORY), &options).unwrap();
    assert_eq!(numbers(&plan), (1..=900).collect::<Vec<_>>());
    assert!(planned(&disk, Mode::Strict, Depth::Heads).logs.is_empty());
}

/// Bytes that look like the beginnings of many long blocks do not take quadratic time.
#[test]
fn a_search_among_many_false_beginnings_is_limited() {
    let (sim, disk) = made();
    edit(&sim, &name(600, "xlog"), |bytes| {
        bytes.truncate(borders(bytes)[10]);
        let begin = bytes.len();
        let count = 300_000_u32;
        for number in 0..count {
            let rest = (count - number - 1) * 19;
            bytes.extend([0xd5, 0xba, 0x0b, 0xab, 0xce]);
            bytes.extend(rest.to_be_bytes());
            bytes.extend([0, 0xce, 1, 2, 3, 4, 0xa3, 0, 0, 0]);
        }
        assert_eq!(bytes.len(), begin + 19 * 300_000);
    });
    let options = PlanOptions::default();
    let error = plan(disk.as_ref(), Path::new(DIRECTORY), &options).unwrap_err();
    assert!(error.to_string().ends_with("a block's checksum does not fit"), "{error}");
}

/// This also holds if each is followed by a small sound block: all searches in a file share one limit.
#[test]
fn false_beginnings_between_sound_blocks_share_one_limit() {
    let (sim, disk) = made();
    let small = raw_block(PLAIN, &[0x81, 0x00, 0x0c]);
    let (count, each) = (5000, 19 + small.len());
    edit(&sim, &name(600, "xlog"), |bytes| {
        bytes.truncate(borders(bytes)[10]);
        for number in 0..count {
            let rest = u32::try_from((count - number) * each - 19).unwrap();
            bytes.extend([0xd5, 0xba, 0x0b, 0xab, 0xce]);
            bytes.extend(rest.to_be_bytes());
            bytes.extend([0, 0xce, 1, 2, 3, 4, 0xa3, 0, 0, 0]);
            bytes.extend(&small);
        }
    });
    let end = read(&sim, &name(600, "xlog")).len() as u64;
    let plan = planned(&disk, Mode::Salvage, Depth::Rows);
    // 16 MiB and eight times the file's length, in steps of its length.
    let holes: Vec<_> = plan.lost.iter().filter(|lost| !lost.bytes.is_empty()).collect();
    assert!((50..200).contains(&holes.len()), "{} holes", holes.len());
    let last = holes.last().unwrap();
    assert!(last.bytes.end == end && last.bytes.end - last.bytes.start > end / 2, "{last}");
    assert_eq!(numbers(&plan).iter().filter(|&&lsn| lsn > 0).count(), 900);
}

/// An older snapshot does not replace a damaged one if no log reaches as far.
#[test]
fn an_older_snapshot_alone_does_not_replace_a_damaged_one() {
    let (sim, disk) = made();
    damaged_snapshot(&sim);
    [0, 300, 600].into_iter().for_each(|lsn| remove(&sim, &name(lsn, "xlog")));
    let refused = plan(disk.as_ref(), Path::new(DIRECTORY), &PlanOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("300.snap is damaged"), "{refused}");
}

/// A file without a UUID fits every instance.
#[test]
fn a_file_without_an_instance_is_used() {
    for extension in ["snap", "xlog"] {
        let (sim, disk) = made();
        edit(&sim, &name(0, extension), |bytes| {
            let at = bytes.windows(8).position(|eight| eight == b"07070707").unwrap();
            let end = at + bytes[at..].iter().position(|&byte| byte == b'\n').unwrap();
            bytes[at..end].iter_mut().filter(|byte| **byte == b'7').for_each(|byte| *byte = b'0');
        });
        assert_eq!(numbers(&planned(&disk, Mode::Strict, Depth::Heads)), (1..=900).collect::<Vec<_>>());
    }
}

/// A tuple may contain the bytes of a whole block. They are not a block of the file.
#[test]
fn a_block_within_a_damaged_block_is_not_used() {
    let (_, disk) = made();
    let within = raw_block(PLAIN, &[0x81, 0x00, 0x0c]);
    let mut log =
        LogWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Log, 900, Some(600))).unwrap();
    for lsn in 901..=903 {
        let mut body = vec![0x81, 0x21, 0x91];
        put_bin(&mut body, &within);
        log.row(&row(lsn, lsn, true, &body)).unwrap();
        log.sync().unwrap();
    }
    log.finish().unwrap();
    let path = name(900, "xlog");
    let mut bytes = disk.read(&path).unwrap();
    let at = borders(&bytes);
    bytes[at[1] + 22] ^= 1;
    disk.remove(&path).unwrap();
    disk::write_new(disk.as_ref(), &path, &bytes).unwrap();
    let plan = planned(&disk, Mode::Salvage, Depth::Rows);
    let [lost] = &plan.lost[..] else { panic!("{}", told(&plan)) };
    assert_eq!(lost.bytes, at[1] as u64..at[2] as u64);
    assert!(numbers(&plan).ends_with(&[900, 901, 903]));
    let pieces: Vec<usize> = plan.logs.iter().map(|log| log.pieces.len()).collect();
    assert_eq!(pieces, [1, 1, 1, 2], "neighbours are one piece");
}

/// If very many places of one file are damaged, the first are named and the others are counted. The end of
/// the file is judged as usual.
#[test]
fn only_the_first_of_very_many_holes_are_named() {
    const COUNT: i64 = 3000;
    let (sim, disk) = made();
    let mut log =
        LogWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Log, 900, Some(600))).unwrap();
    for lsn in 901..=900 + 2 * COUNT {
        log.row(&row(lsn, lsn, true, &[0x80])).unwrap();
        log.sync().unwrap();
    }
    log.finish().unwrap();
    let mut end = 0;
    edit(&sim, &name(900, "xlog"), |bytes| {
        let borders = borders(bytes);
        // Every second block, including the second last.
        borders.iter().step_by(2).take(3000).for_each(|&at| bytes[at + 19] ^= 0x40);
        end = borders[5997];
    });
    let plan = planned(&disk, Mode::Salvage, Depth::Rows);
    assert_eq!(plan.lost.len(), 1000);
    assert_eq!(numbers(&plan).iter().filter(|&&lsn| lsn > 900).count(), 3000);
    let [before, last] = &plan.lost[998..] else { panic!("there are 1000") };
    let more = format!(
        "a block's checksum does not fit, as at 2000 more places up to byte {}, with 2000 rows, which are \
         not named; lost: LSN 2897 of replica 1",
        end - 1
    );
    assert!(before.to_string().ends_with(&more), "{before}, {more}");
    assert!(last.to_string().ends_with("lost: LSN 6899 of replica 1"), "{last}");
    // A torn end still counts as one.
    edit(&sim, &name(900, "xlog"), |bytes| bytes.truncate(bytes.len() - 10));
    assert_eq!(planned(&disk, Mode::Salvage, Depth::Rows).torn.len(), 1);
}
