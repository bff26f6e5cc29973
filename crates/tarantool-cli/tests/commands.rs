//! `pneu-tarantool` on small directories of Tarantool's files.

use crate::support::{Home, Run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tarantool::msgpack::{Reader, put_array_len, put_map_len, put_str, put_uint};
use tarantool::table::SpaceTable;
use tarantool::{
    Body, FileKind, FormatVersion, Header, LogWriter, Row, RowKind, SnapWriter, VClock, put_body,
};

pub(crate) fn header(kind: FileKind, lsn: i64) -> Header {
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

/// A tuple of a number and a text.
fn letter(number: u64, town: &str) -> Vec<u8> {
    let mut tuple = Vec::new();
    put_array_len(&mut tuple, 2);
    put_uint(&mut tuple, number);
    put_str(&mut tuple, town.as_bytes());
    tuple
}

/// A tuple of `_space`.
pub(crate) fn space(id: u64, name: &str, engine: &str) -> (u32, Vec<u8>) {
    let mut space = Vec::new();
    put_array_len(&mut space, 7);
    put_uint(&mut space, id);
    put_uint(&mut space, 1);
    put_str(&mut space, name.as_bytes());
    put_str(&mut space, engine.as_bytes());
    put_uint(&mut space, 0);
    put_map_len(&mut space, 0);
    put_array_len(&mut space, 0);
    (280, space)
}

/// A tuple of `_index`, of an index with one part.
pub(crate) fn index(
    space: u64,
    number: u64,
    name: &str,
    kind: &str,
    (field, part): (u64, &str),
) -> (u32, Vec<u8>) {
    let mut index = Vec::new();
    put_array_len(&mut index, 6);
    put_uint(&mut index, space);
    put_uint(&mut index, number);
    put_str(&mut index, name.as_bytes());
    put_str(&mut index, kind.as_bytes());
    put_map_len(&mut index, 1);
    put_str(&mut index, b"unique");
    tarantool::msgpack::put_boolean(&mut index, number == 0);
    put_array_len(&mut index, 1);
    put_array_len(&mut index, 2);
    put_uint(&mut index, field);
    put_str(&mut index, part.as_bytes());
    (288, index)
}

/// The tuples that describe a space with a number and a text, and an index for each.
fn definitions() -> Vec<(u32, Vec<u8>)> {
    vec![
        space(512, "letters", "memtx"),
        index(512, 0, "pk", "tree", (0, "unsigned")),
        index(512, 1, "by_town", "tree", (1, "string")),
        index(512, 2, "by_hash", "hash", (1, "string")),
    ]
}

const TOWNS: [&str; 5] = ["Paris", "Lyon", "Brest", "Paris", "Nice"];

/// A home with a directory `shop`: a snapshot with five letters, and a log that adds two, each in a block of
/// its own.
pub(crate) fn home() -> (Home, PathBuf) {
    home_with(Vec::new())
}

/// A home whose snapshot has more system rows: numbers of spaces, and tuples.
pub(crate) fn home_with(mut system: Vec<(u32, Vec<u8>)>) -> (Home, PathBuf) {
    system.extend(definitions());
    system.sort_by_key(|(space, _)| *space);
    let home = Home::new();
    let directory = home.path().join("shop");
    fs::create_dir(&directory).unwrap();
    fs::create_dir(home.path().join("empty")).unwrap();
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let mut snap = SnapWriter::create(&disk, &directory, &header(FileKind::Snapshot, 4), 1.0).unwrap();
    for (space, tuple) in system {
        snap.insert(space, 0, &tuple).unwrap();
    }
    for (number, town) in (1..).zip(TOWNS) {
        snap.insert(512, 0, &letter(number, town)).unwrap();
    }
    snap.finish().unwrap();
    let mut log = LogWriter::create(&disk, &directory, &header(FileKind::Log, 4)).unwrap();
    for lsn in [5_i64, 6] {
        let tuple = letter(lsn.unsigned_abs() + 1, "Metz");
        let mut body = Vec::new();
        put_body(&mut body, &Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
        let row = Row {
            kind: RowKind::Insert,
            replica: 1,
            lsn,
            timestamp: 1.0,
            group: 0,
            tsn: lsn,
            is_commit: true,
            flags: 0,
            body: Body { bytes: &body, ..Body::default() },
        };
        log.row(&row).unwrap();
        log.sync().unwrap();
    }
    log.finish().unwrap();
    (home, directory)
}

const LOG: &str = "00000000000000000004.xlog";

pub(crate) fn loaded() -> (Home, PathBuf) {
    let (home, directory) = home();
    let out = home.good(&["load", "shop", "--into", "s"]);
    assert!(out.starts_with("read     00000000000000000004.snap and 1 log, up to {1: 6}: "), "{out}");
    (home, directory)
}

pub(crate) fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Cuts the log within its second block.
pub(crate) fn tear(directory: &Path) {
    edit(&directory.join(LOG), |bytes| bytes.truncate(bytes.len() - 10));
}

/// Flips a bit in the log's first block.
pub(crate) fn damage(directory: &Path) {
    edit(&directory.join(LOG), |bytes| {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
        bytes[end + 25] ^= 1;
    });
}

pub(crate) fn said(run: &Run) -> (Option<i32>, &str, &str) {
    (run.code, run.out.as_str(), run.err.as_str())
}

#[test]
fn a_load_says_when_it_is_ready_and_what_sealing_took() {
    let (home, _) = home();
    let out = home.good(&["load", "shop", "--into", "s"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "read     00000000000000000004.snap and 1 log, up to {1: 6}: 11 rows of 6 spaces");
    assert!(
        lines[1].starts_with("ready    after ")
            && lines[1].ends_with(" s: the last rows were found through 5 indexes"),
        "{out}"
    );
    assert!(lines[2].starts_with("sealed   in ") && lines[2].ends_with(" in s"), "{out}");
    let again = home.run(&["load", "shop", "--into", "s"]);
    assert_eq!(said(&again), (Some(2), "", "pneu-tarantool: s holds rows already: name another directory\n"));
    assert_eq!(home.good(&["load", "shop", "--into", "t", "--quiet"]), "");
}

#[test]
fn tuples_are_found_by_each_index() {
    let (home, _) = loaded();
    let get = |arguments: &[&str]| home.run(&[&["get", "s", "letters"], arguments].concat());
    assert_eq!(said(&get(&["3"])), (Some(0), "[3,\"Brest\"]\n", ""));
    assert_eq!(said(&get(&["--index", "by_town", "Metz"])), (Some(0), "[6,\"Metz\"]\n[7,\"Metz\"]\n", ""));
    assert_eq!(said(&get(&["--index", "by_hash", "Paris"])), (Some(0), "[1,\"Paris\"]\n[4,\"Paris\"]\n", ""));
    assert_eq!(home.good(&["get", "s", "512", "1"]), "[1,\"Paris\"]\n");
    assert_eq!(said(&get(&["8"])), (Some(1), "", "pneu-tarantool: nothing found\n"));
    assert_eq!(said(&get(&["8", "-q"])), (Some(1), "", ""));
    let mistakes = [
        (&["x"][..], "\"x\" is not a key of index pk: a whole number from 0 to 2^64 - 1 is expected, not x"),
        (&["1", "2"], "index pk has 1 part, not 2"),
        (&["--index", "by_day", "1"], "there is no index by_day; there are: pk, by_town, by_hash"),
    ];
    for (arguments, what) in mistakes {
        assert_eq!(said(&get(arguments)), (Some(2), "", format!("pneu-tarantool: {what}\n").as_str()));
    }
    let elsewhere = home.run(&["get", "s", "parcels", "1"]);
    assert_eq!(
        elsewhere.err,
        "pneu-tarantool: there is no space parcels in s; pneu-tarantool info lists them\n"
    );
    let nowhere = home.run(&["get", "none", "letters", "1"]);
    assert_eq!(said(&nowhere), (Some(2), "", "pneu-tarantool: none does not exist\n"));
}

#[test]
fn tuples_are_printed_in_the_order_of_an_index() {
    let (home, _) = loaded();
    let numbers = |arguments: &[&str]| -> String {
        let out = home.good(&[&["scan", "s", "letters"], arguments].concat());
        out.lines().map(|line| line.split([',', '[']).nth(1).unwrap()).collect()
    };
    assert_eq!(numbers(&[]), "1234567");
    assert_eq!(numbers(&["--reverse", "--limit", "3"]), "765");
    assert_eq!(numbers(&["--from", "3", "--to", "5"]), "345");
    assert_eq!(numbers(&["--to", "5", "--from", "3", "--reverse"]), "543");
    assert_eq!(numbers(&["--index", "by_town"]), "3267514");
    assert_eq!(numbers(&["--index", "by_town", "--from", "Metz", "--to", "Nice"]), "675");
    assert_eq!(numbers(&["--index", "by_town", "--from", "Nice", "--limit", "2"]), "51");
    let beyond = home.run(&["scan", "s", "letters", "--from", "8"]);
    assert_eq!(said(&beyond), (Some(1), "", "pneu-tarantool: nothing found\n"));
    let hash = home.run(&["scan", "s", "letters", "--index", "by_hash"]);
    assert!(hash.err.contains("is a hash index and has no order"), "{hash:?}");
}

#[test]
fn a_directory_and_a_store_say_what_is_in_them() {
    let (home, _) = loaded();
    let out = home.good(&["info", "shop"]);
    assert_eq!(
        out,
        "snapshot   00000000000000000004.snap  {1: 4}  483 bytes, 1 block, by test\n\
         log        00000000000000000004.xlog  {1: 4}  189 bytes, 2 blocks, by test\n\
         instance   07070707-0707-0707-0707-070707070707\n\
         recovery   00000000000000000004.snap and 1 log, up to {1: 6}\n\
         space      512 letters: indexes pk, by_town, by_hash\n\
         spaces     5 of the system besides\n"
    );
    let out = home.good(&["info", "s"]);
    assert_eq!(
        out,
        "instance   07070707-0707-0707-0707-070707070707\n\
         reaches    {1: 6}\n\
         space      512 letters: indexes pk, by_town, by_hash, 7 rows in 1 segment\n\
         spaces     5 of the system besides\n"
    );
    for nothing in ["empty", "none"] {
        assert_eq!(home.run(&["info", nothing]).code, Some(2), "{nothing}");
    }
}

#[test]
fn whole_files_and_stores_are_verified() {
    let (home, _) = loaded();
    for directory in ["shop", "s"] {
        assert_eq!(home.good(&["verify", directory]), "no damage found\n");
        assert_eq!(home.good(&["verify", "--quiet", directory]), "");
    }
    let files = fs::read_dir(home.path().join("s")).unwrap().map(|entry| entry.unwrap().path());
    let largest = files.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    edit(&largest, |bytes| bytes[200] ^= 1);
    let run = home.run(&["verify", "s"]);
    assert!(
        run.code == Some(2)
            && format!("{}{}", run.out, run.err).contains(largest.file_name().unwrap().to_str().unwrap()),
        "{run:?}"
    );
}

/// A torn end is left out and reported. Only `--cut` cuts it.
#[test]
fn a_torn_end_is_said_and_cut_when_asked_for() {
    let (home, directory) = home();
    tear(&directory);
    let torn = "shop/00000000000000000004.xlog ends with a torn write: 43 bytes from byte 136 on: a block is \
        cut off";
    let run = home.run(&["load", "shop", "--into", "s", "--quiet"]);
    assert_eq!(said(&run), (Some(0), "", format!("pneu-tarantool: {torn}; they are left out\n").as_str()));
    assert_eq!(home.run(&["get", "s", "letters", "7"]).code, Some(1));
    assert_eq!(home.good(&["get", "s", "letters", "6"]), "[6,\"Metz\"]\n");
    let before = fs::read(directory.join(LOG)).unwrap();
    let run = home.run(&["verify", "shop"]);
    let hint =
        "pneu-tarantool: a load leaves these bytes out; \"pneu-tarantool verify --cut\" cuts them off\n";
    assert_eq!(said(&run), (Some(2), format!("{torn}\n").as_str(), hint));
    assert_eq!(fs::read(directory.join(LOG)).unwrap(), before);
    let running = fs::File::open(&directory).unwrap();
    running.lock().unwrap();
    let run = home.run(&["verify", "--cut", "shop"]);
    assert_eq!(
        said(&run),
        (Some(2), "", "pneu-tarantool: shop is in use: stop the Tarantool that runs there first\n")
    );
    drop(running);
    let out = home.good(&["verify", "--cut", "shop"]);
    assert_eq!(out, format!("{torn}; cut off\nno damage found\n"));
    assert_eq!(fs::read(directory.join(LOG)).unwrap(), before[..136]);
    let remark =
        "shop/00000000000000000004.xlog was not closed: the program that wrote it ended early, or still runs";
    assert_eq!(home.good(&["verify", "shop"]), format!("{remark}\nno damage found\n"));
}

/// What was closed was whole once: its damage may be a single bit.
#[test]
fn a_closed_log_is_never_cut() {
    let (home, directory) = home();
    edit(&directory.join(LOG), |bytes| {
        let at = bytes.len() - 10;
        bytes[at] ^= 1;
    });
    let before = fs::read(directory.join(LOG)).unwrap();
    let torn = "shop/00000000000000000004.xlog ends with a torn write: 53 bytes from byte 136 on: a block's \
        checksum does not fit";
    let lost = "shop/00000000000000000004.xlog: bytes 136 to 184: a block's checksum does not fit; lost: LSN \
        6 and all after it of replica 1";
    let run = home.run(&["verify", "shop"]);
    assert_eq!(said(&run), (Some(2), format!("{lost}\n{torn}\n").as_str(), ""));
    let run = home.run(&["verify", "--cut", "shop"]);
    let kept = format!("{lost}\n{torn}; not cut off: the file was closed after them\n");
    assert_eq!(said(&run), (Some(2), kept.as_str(), ""));
    assert_eq!(fs::read(directory.join(LOG)).unwrap(), before);
}

/// Damage is refused, or listed with what it took.
#[test]
fn damage_is_refused_and_salvage_lists_what_is_lost() {
    let (home, directory) = home();
    damage(&directory);
    let refused = "shop/00000000000000000004.xlog is damaged at byte 87: a block's checksum does not fit";
    let run = home.run(&["load", "shop", "--into", "s"]);
    let advice = "use --salvage to load what can be read";
    assert_eq!(said(&run), (Some(2), "", format!("pneu-tarantool: {refused}; {advice}\n").as_str()));
    assert!(!home.path().join("s").exists());
    let lost = "shop/00000000000000000004.xlog: bytes 87 to 135: a block's checksum does not fit; lost: LSN \
        5 of replica 1";
    let run = home.run(&["load", "shop", "--into", "s", "--salvage", "--quiet"]);
    assert_eq!(said(&run), (Some(3), format!("lost     {lost}\n").as_str(), ""));
    assert_eq!(home.run(&["get", "s", "letters", "6"]).code, Some(1));
    assert_eq!(home.good(&["get", "s", "letters", "7"]), "[7,\"Metz\"]\n");
    let run = home.run(&["verify", "shop"]);
    assert_eq!(
        said(&run),
        (Some(2), format!("{lost}\na load is refused: {refused}; {advice}\n").as_str(), "")
    );
    let run = home.run(&["info", "shop"]);
    assert!(run.code == Some(3) && run.out.contains(&format!("recovery   refused: {refused}")), "{run:?}");
}

/// Where a snapshot is missing, every command that refuses the directory says how to take the rest.
#[test]
fn what_can_be_salvaged_is_said_wherever_a_load_is_refused() {
    let (home, directory) = home();
    for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|extension| extension == "snap") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    for arguments in [&["load", "shop", "--into", "s"][..], &["verify", "shop"], &["info", "shop"]] {
        let run = home.run(arguments);
        let said = format!("{}{}", run.out, run.err);
        assert!(said.contains("put the snapshot back; use --salvage to load what can be read"), "{run:?}");
    }
}

/// A flipped bit in the newest snapshot shows when its rows are read: an older one and the logs since hold
/// the same.
#[test]
fn an_older_snapshot_stands_in() {
    let (home, directory) = home();
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let mut snap = SnapWriter::create(&disk, &directory, &header(FileKind::Snapshot, 6), 1.0).unwrap();
    snap.insert(512, 0, &letter(1, "Paris")).unwrap();
    let path = snap.finish().unwrap();
    edit(&path, |bytes| {
        let at = bytes.len() - 8;
        bytes[at] ^= 1;
    });
    let run = home.run(&["load", "shop", "--into", "s"]);
    assert!(
        run.code == Some(0) && run.err.ends_with("an older snapshot and the logs since hold the same\n"),
        "{run:?}"
    );
    assert!(run.out.starts_with("read     00000000000000000004.snap and 1 log, up to {1: 6}"), "{run:?}");
}

#[test]
fn logs_may_lie_elsewhere_and_a_store_is_exported_again() {
    let (home, directory) = home();
    fs::create_dir(home.path().join("wal")).unwrap();
    fs::rename(directory.join(LOG), home.path().join("wal").join(LOG)).unwrap();
    home.good(&["load", "shop", "--wal", "wal", "--into", "s"]);
    assert!(home.good(&["info", "shop", "--wal", "wal"]).contains("and 1 log, up to {1: 6}"));
    assert_eq!(home.good(&["verify", "shop", "--wal", "wal"]), "no damage found\n");
    let out = home.good(&["export", "s", "--to", "new"]);
    assert_eq!(out, "11 rows in new/00000000000000000006.snap\n");
    let again = home.run(&["export", "s", "--to", "new"]);
    assert_eq!(
        said(&again),
        (Some(2), "", "pneu-tarantool: new holds files of Tarantool already: name another directory\n")
    );
    home.good(&["load", "new", "--into", "t"]);
    let scan = |store| home.good(&["scan", store, "letters"]);
    assert_eq!(scan("s"), scan("t"));
    let merged = home.run(&["merge", "s"]);
    assert_eq!(said(&merged), (Some(0), "", "pneu-tarantool: nothing to merge\n"));
    let foreign = home.run(&["merge", "empty"]);
    assert_eq!(foreign.code, Some(2), "{foreign:?}");
}

/// Adds a segment with letters to a store, as a later load would.
fn add_segment(directory: &Path, letters: &[(u64, &str)]) {
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let mut writer = store::Writer::open(&disk, directory, store::Options::default()).unwrap();
    let spaces = tarantool::stored_spaces(&writer.snapshot().unwrap()).unwrap();
    let table = SpaceTable::new(&spaces.get(512).unwrap().unwrap());
    let mut rows = store::Rows::new(&table.schema);
    for (number, town) in letters {
        let tuple = letter(*number, town);
        let mut row = Vec::new();
        let shape = &table.shape;
        shape
            .take_keys(&mut Reader::new(&tuple), &mut Vec::new(), |_, value| row.push(value.to_owned()))
            .unwrap();
        row.push(store::OwnedValue::Bytes(tuple));
        let values: Vec<store::Value> = row.iter().map(store::OwnedValue::as_value).collect();
        rows.push(&values).unwrap();
    }
    let mut transaction = store::Transaction::new();
    transaction.put(rows);
    writer.load_transaction(transaction).unwrap();
}

/// Several segments become one, in which what was replaced is gone; every answer stays as it was.
#[test]
fn segments_are_merged_and_answer_as_before() {
    let (home, _) = loaded();
    let store = home.path().join("s");
    for round in 0..4_u64 {
        add_segment(&store, &[(2, "Lyon"), (100 - round, "Paris"), (20 + round, "Caen"), (round, "Brest")]);
    }
    let in_segments = |count: &str| {
        let info = home.good(&["info", "s"]);
        assert!(info.contains(&format!("16 rows in {count} segment")), "{info}");
    };
    in_segments("5");
    let answers = || -> Vec<String> {
        let all: [&[&str]; 7] = [
            &["scan", "s", "letters"],
            &["scan", "s", "letters", "--index", "by_town", "--reverse"],
            &["scan", "s", "letters", "--from", "2", "--to", "21"],
            &["get", "s", "letters", "--index", "by_hash", "Brest"],
            &["get", "s", "letters", "97"],
            &["count", "s", "letters"],
            &["count", "s", "letters", "--index", "by_town", "--ge", "Lyon", "--lt", "Nice"],
        ];
        all.iter().map(|arguments| home.good(arguments)).collect()
    };
    let before = answers();
    let wanted = "[0,\"Brest\"]\n[1,\"Brest\"]\n[2,\"Lyon\"]\n[3,\"Brest\"]\n\
         [4,\"Paris\"]\n[5,\"Nice\"]\n[6,\"Metz\"]\n";
    assert!(before[0].starts_with(wanted), "{before:?}");
    let out = home.good(&["merge", "s"]);
    assert!(
        out.starts_with("space_512: 5 segments became one of 16 rows, ") && out.lines().count() == 1,
        "{out}"
    );
    in_segments("1");
    assert_eq!(answers(), before);
    assert_eq!(home.good(&["verify", "s"]), "no damage found\n");
    let again = home.run(&["merge", "s"]);
    assert_eq!(said(&again), (Some(0), "", "pneu-tarantool: nothing to merge\n"));
}
