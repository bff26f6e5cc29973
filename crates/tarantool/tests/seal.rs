//! Recovered rows, sealed into a new store: with crashes and refusals at every operation, and with as many
//! spaces as a store allows.
//!
//! Input: snapshots and logs by our writers. Output: failures. Uses only the public interface.

use crate::load::{DIRECTORY, header, index, log, recovered, space, written};
use crate::support::Watch;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::limits::TABLES_MAX;
use store::{Options, Snapshot, Table, verify};
use tarantool::space::{SPACE_INDEX, SPACE_SPACE, Spaces};
use tarantool::{
    Body, FileKind, LogWriter, Mode, PlanOptions, Recovered, RowKind, SnapWriter, plan, recover,
};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};

/// Writes a snapshot of spaces without rows.
fn with_spaces(count: usize) -> Arc<dyn disk::Disk> {
    let disk: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    let header = header(FileKind::Snapshot);
    let mut writer = SnapWriter::create(&disk, Path::new(DIRECTORY), &header, 1e9).unwrap();
    let ids = || (512..).take(count);
    ids().for_each(|id| writer.insert(SPACE_SPACE, 0, &space(id)).unwrap());
    ids().for_each(|id| {
        writer.insert(SPACE_INDEX, 0, &index(id, 0, "tree", &[(0, "unsigned")])).unwrap();
    });
    writer.finish().unwrap();
    disk
}

#[test]
fn a_crash_or_a_refusal_while_sealing_leaves_all_of_a_new_store_or_none() {
    let one = Arc::new(recovered(&written(60, 11), Mode::Strict).unwrap());
    let other = Arc::new(recovered(&with_spaces(1), Mode::Strict).unwrap());
    let seal = |recovered: &Recovered, disk: &SimDisk| {
        let disk: Arc<dyn disk::Disk> = Arc::new(disk.clone());
        let note = vec![("note".to_owned(), recovered.row_count().to_string().into_bytes())];
        recovered.seal(&disk, Path::new("/store"), Options::default(), note)
    };
    let check_whole = |disk: &SimDisk, expected: &Recovered| {
        let disk: Arc<dyn disk::Disk> = Arc::new(disk.clone());
        let snapshot = Snapshot::open(&disk, Path::new("/store"))?;
        assert_eq!(snapshot.tables().len(), expected.tables.len());
        let count: u64 = snapshot.tables().iter().map(Table::row_count).sum();
        // Some keys occurred more than once.
        assert!(count > 0 && count <= expected.row_count());
        assert_eq!(snapshot.attachment("note"), Some(expected.row_count().to_string().as_bytes()));
        assert_eq!(verify(&snapshot), []);
        Ok::<(), store::Error>(())
    };
    let check_found = {
        let one = Arc::clone(&one);
        move |disk: &SimDisk, is_done: &bool| match check_whole(disk, &one) {
            Err(error) if error.is_not_found() => {
                assert!(!is_done, "what was acknowledged is there");
                seal(&other, disk).unwrap();
                check_whole(disk, &other).unwrap();
            }
            found => found.unwrap(),
        }
    };
    let work = move |disk: &SimDisk, ledger: &Acknowledged<bool>| {
        seal(&one, disk)?;
        ledger.record(|is_done| *is_done = true);
        Ok::<(), tarantool::Error>(())
    };
    let runs = crash_at_every_operation(&SimDisk::new(31), false, work.clone(), check_found.clone());
    assert!(runs.operation_count > 15 && runs.checked_count > 30, "{runs:?}");
    fail_at_every_operation(&SimDisk::new(32), false, work, check_found);
}

#[test]
fn more_spaces_than_a_store_takes_are_refused_before_their_rows_are_read() {
    let most = TABLES_MAX - Spaces::new().ids().count();
    let recovered = |disk: &Arc<dyn disk::Disk>| {
        let read = AtomicU64::new(0);
        let plan = plan(&**disk, Path::new(DIRECTORY), &PlanOptions::default()).unwrap();
        let progress = Watch(|bytes| {
            read.fetch_add(bytes, Ordering::Relaxed);
        });
        let recovered = recover(&plan, Mode::Strict, 2, &progress);
        (recovered.map_err(|error| error.to_string()), read.into_inner())
    };
    let all = recovered(&with_spaces(most)).0.unwrap();
    assert_eq!(all.tables.len(), TABLES_MAX);
    let store: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    all.seal(&store, Path::new("/store"), Options::default(), Vec::new()).unwrap();

    let disk = with_spaces(most + 1);
    let what = "1025 spaces and multikey indexes have rows, including Tarantool's own, and a store takes \
        1024: drop some in Tarantool, and let it make a snapshot";
    let (refused, read_bytes) = recovered(&disk);
    assert_eq!(refused.unwrap_err(), format!("{DIRECTORY}/00000000000000000000.snap: {what}"));
    assert_eq!(read_bytes, 0);
    // The number of spaces after the logs counts.
    let mut writer = LogWriter::create(&disk, Path::new(DIRECTORY), &header(FileKind::Log)).unwrap();
    log(&mut writer, 1, RowKind::Replace, Body { tuple: Some(&[0x91, 1]), ..Body::default() });
    writer.sync().unwrap();
    assert_eq!(recovered(&disk).0.unwrap_err(), format!("{DIRECTORY}/00000000000000000000.xlog: {what}"));
    let key = [0x91, 0xcd, 0x02, 0x00];
    let body = Body { space: Some(SPACE_SPACE), key: Some(&key), ..Body::default() };
    log(&mut writer, 2, RowKind::Delete, body);
    writer.finish().unwrap();
    assert_eq!(recovered(&disk).0.unwrap().tables.len(), TABLES_MAX);
}
