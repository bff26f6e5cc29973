//! Exporting a store, with a crash or a refusal at every operation of the disk.
//!
//! Input: snapshots by our writer, recovered and sealed. Output: failures. Uses only the public interface.

use crate::load::{recovered, written};
use disk::Disk;
use std::path::Path;
use std::sync::Arc;
use store::{Options, Snapshot};
use tarantool::export::{Target, export};
use tarantool::{
    Body, Depth, Header, Mode, ORIGIN, PlanOptions, Row, RowKind, SnapWriter, Tuples, Unpacker, plan,
    recover, rows, stored_header,
};
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};
use testkit::{SimDisk, tarantool};
use work::Silent;

const STORE: &str = "/store";
const TARGET: &str = "/new";
const NAME: &str = "00000000000000000000.snap";

/// A disk with a store of some thousand rows.
fn with_store() -> SimDisk {
    let disk = SimDisk::new(41);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let recovered = recovered(&written(3000, 12), Mode::Strict).unwrap();
    let origin = Header { program: "test".to_owned(), ..crate::load::header(tarantool::FileKind::Snapshot) };
    let origin = vec![(ORIGIN.to_owned(), origin.text().into_bytes())];
    recovered.seal(&shared, Path::new(STORE), Options::default(), origin).unwrap();
    disk
}

/// The same as the command: creates the directory and writes the snapshot.
fn export_to(disk: &Arc<dyn Disk>, store: &Path, directory: &Path) -> tarantool::Result<u64> {
    let snapshot = Snapshot::open(disk, store)?;
    let tuples = Tuples::of_store(&snapshot)?;
    let header = stored_header(&snapshot)?.unwrap();
    disk.create_directory(directory)?;
    let target = Target { disk, directory, seconds: 1.5, like: None };
    Ok(export(&tuples, &tuples.definitions()?, &header, target, &Silent)?.row_count)
}

fn export_all(disk: &SimDisk) -> tarantool::Result<u64> {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    export_to(&shared, Path::new(STORE), Path::new(TARGET))
}

/// Returns whether there is a snapshot. Fails unless all of its rows can be read.
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
    assert_eq!(recover(&plan, Mode::Strict, 2, &Silent).unwrap().row_count(), row_count);
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
            // Leftovers do not prevent the next export.
            assert_eq!(export_all(disk).unwrap(), row_count);
        }
        assert!(self::is_there(disk, row_count));
    };
    let work = |disk: &SimDisk, ledger: &Acknowledged<bool>| {
        export_all(disk)?;
        ledger.record(|is_done| *is_done = true);
        Ok::<(), tarantool::Error>(())
    };
    let runs = crash_at_every_operation(&start, false, work, check);
    assert!(runs.operation_count > 8 && runs.checked_count > 16, "{runs:?}");
    fail_at_every_operation(&start, false, work, check);
}

/// Copies the snapshot at `from` into another directory, with rows that a newer Tarantool adds: the term, the
/// vote of this instance, and the leader.
fn with_elections(disk: &Arc<dyn Disk>, from: &Path, directory: &Path) {
    let bytes = disk.read(from).unwrap();
    let (header, begin) = Header::parse(&bytes).unwrap();
    let mut snap = SnapWriter::create(disk, directory, &header, 1.5e9).unwrap();
    let row = |kind, bytes: &'static [u8]| Row {
        kind,
        replica: 0,
        lsn: 0,
        timestamp: 0.0,
        group: 1,
        tsn: 0,
        is_commit: true,
        flags: 0,
        body: Body { bytes, ..Body::default() },
    };
    let mut has_elections = false;
    let mut unpacker = Unpacker::default();
    for place in tarantool::blocks(from, &bytes, begin).unwrap() {
        for old in rows(unpacker.unpack(&bytes, &place).unwrap()).map(Result::unwrap) {
            let space = old.body.space.unwrap();
            if space >= 512 && !has_elections {
                has_elections = true;
                snap.row(&row(RowKind::Raft, &[0x82, 0, 5, 1, 1])).unwrap();
                snap.row(&row(RowKind::Promote, &[0x83, 2, 1, 3, 7, 0x53, 5])).unwrap();
            }
            snap.insert(space, old.group, old.body.tuple.unwrap()).unwrap();
        }
    }
    assert!(has_elections);
    snap.finish().unwrap();
}

/// Rows of elections are left out and reported. Tarantool 2.6 refuses a file with such rows, and loads the
/// exported file.
#[test]
fn exports_without_rows_of_elections_load_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let [from, newer, to] = ["from", "newer", "to"].map(|name| directory.path().join(name));
    [&from, &newer].into_iter().for_each(|path| std::fs::create_dir(path).unwrap());
    let write = "
        box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
        local letters = box.schema.space.create('letters')
        letters:create_index('pk')
        for number = 1, 100 do letters:insert{number, 'x'} end
        box.snapshot()
        print(box.info.signature)
        os.exit(0)";
    let Some(signature) = tarantool(&from, write) else { return };
    let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
    let name = format!("{:020}.snap", signature.trim_end().parse::<u64>().unwrap());
    with_elections(&disk, &from.join(name), &newer);
    let plan = plan(disk.as_ref(), &newer, &PlanOptions::default()).unwrap();
    let recovered = recover(&plan, Mode::Strict, 2, &Silent).unwrap();
    let said = "2 rows tell of elections (terms, votes, leaders) and are not kept: what is exported begins \
        without, as a new instance does";
    assert_eq!(recovered.remarks, [said]);
    assert_eq!(recovered.left_out, Vec::<String>::new());
    let origin = vec![(ORIGIN.to_owned(), plan.snapshot.unwrap().header.text().into_bytes())];
    let store = directory.path().join("store");
    recovered.seal(&disk, &store, Options::default(), origin).unwrap();
    assert_eq!(export_to(&disk, &store, &to).unwrap(), recovered.row_count());
    let read = "
        box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
        box.space.letters:insert{101, 'new'}
        box.snapshot()
        print(box.space.letters:len(), box.info.election and box.info.election.term, box.info.signature)
        os.exit(0)";
    let printed = tarantool(&to, read).unwrap();
    let next = signature.trim_end().parse::<u64>().unwrap() + 1;
    assert!(printed.starts_with("101\t") && printed.ends_with(&format!("\t{next}\n")), "{printed}");
}
