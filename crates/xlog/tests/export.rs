//! A store that is exported, with a crash or a refusal at every operation of the disk.
//!
//! Comes in: snapshots by our writer, recovered and sealed. Goes out: failures. Must not know the crate's insides.

use crate::load::{recovered, written};
use disk::Disk;
use std::path::Path;
use std::sync::Arc;
use store::{Options, Snapshot};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};
use xlog::export::{Target, export};
use xlog::{Depth, Header, Mode, ORIGIN, PlanOptions, plan, recover, stored_header, stored_spaces};

const STORE: &str = "/store";
const TARGET: &str = "/new";
const NAME: &str = "00000000000000000000.snap";

/// A disk with a store of some thousand rows.
fn with_store() -> SimDisk {
    let disk = SimDisk::new(41);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let recovered = recovered(&written(3000, 12), Mode::Strict).unwrap();
    let origin = Header { program: "test".to_owned(), ..crate::load::header(xlog::FileKind::Snapshot) };
    let origin = vec![(ORIGIN.to_owned(), origin.text().into_bytes())];
    recovered.seal(&shared, Path::new(STORE), Options::default(), origin).unwrap();
    disk
}

/// Does what the command does: makes the directory, and writes the snapshot.
fn export_all(disk: &SimDisk) -> xlog::Result<u64> {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let snapshot = Snapshot::open(&shared, Path::new(STORE))?;
    let spaces = stored_spaces(&snapshot)?;
    let header = stored_header(&snapshot)?.unwrap();
    shared.create_directory(Path::new(TARGET))?;
    let target = Target { disk: &shared, directory: Path::new(TARGET), seconds: 1.5 };
    Ok(export(&snapshot, &spaces, &header, target, &|_| ())?.row_count)
}

/// Says whether a snapshot is there. If it is, all of it is: every row is read.
fn is_there(disk: &SimDisk, row_count: u64) -> bool {
    let Ok(names) = disk.list(Path::new(TARGET)) else { return false };
    let in_progress = format!("{NAME}.inprogress");
    assert!(names.iter().all(|name| *name == *NAME || *name == *in_progress), "{names:?}");
    if !names.iter().any(|name| *name == *NAME) {
        return false;
    }
    let options = PlanOptions { depth: Depth::Rows, ..PlanOptions::default() };
    let plan = plan(disk, Path::new(TARGET), &options).unwrap();
    assert_eq!(plan.snapshot.as_ref().map(|file| (file.row_count, file.is_closed)), Some((row_count, true)));
    assert_eq!(recover(&plan, Mode::Strict, &|_| ()).unwrap().row_count(), row_count);
    true
}

#[test]
fn a_crash_or_a_refusal_while_exporting_leaves_a_whole_snapshot_or_none() {
    let start = with_store();
    let row_count = export_all(&start.fork()).unwrap();
    assert!(row_count > 2000);
    let check = move |disk: &SimDisk, is_done: &bool| {
        let is_there = is_there(disk, row_count);
        assert!(is_there || !is_done, "what was acknowledged is there");
        if !is_there {
            // What was left behind is in nobody's way.
            assert_eq!(export_all(disk).unwrap(), row_count);
        }
        assert!(self::is_there(disk, row_count));
    };
    let work = |disk: &SimDisk, ledger: &Acknowledged<bool>| {
        export_all(disk)?;
        ledger.record(|is_done| *is_done = true);
        Ok::<(), xlog::Error>(())
    };
    let runs = crash_at_every_operation(&start, false, work, check);
    assert!(runs.operation_count > 8 && runs.checked_count > 16, "{runs:?}");
    fail_at_every_operation(&start, false, work, check);
}
