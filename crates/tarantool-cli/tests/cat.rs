//! `pneu-tarantool cat` and `info` on single files of rows: forms, choices, damage, files that grow.

use crate::support::Home;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use tarantool::msgpack::{Reader, put_array_len, put_ext, put_map_len, put_nil, put_str, put_uint};
use tarantool::{
    Body, FileKind, FormatVersion, Header, LogWriter, Row, RowKind, SnapWriter, VClock, put_body,
};

const SNAP: &str = "00000000000000000004.snap";
const LOG: &str = "00000000000000000004.xlog";
const NEXT_LOG: &str = "00000000000000000012.xlog";

fn header(kind: FileKind, lsn: i64, previous: Option<i64>) -> Header {
    let clock = |lsn| {
        let mut vclock = VClock::default();
        vclock.set(1, lsn);
        vclock
    };
    Header {
        kind,
        version: FormatVersion::V013,
        program: "test".to_owned(),
        instance: [7; 16],
        vclock: clock(lsn),
        previous: previous.map(clock),
    }
}

/// A tuple of `_space` that names the fields of space 512.
fn definition(fields: &[&str]) -> Vec<u8> {
    let mut space = Vec::new();
    put_array_len(&mut space, 7);
    put_uint(&mut space, 512);
    put_uint(&mut space, 1);
    put_str(&mut space, b"letters");
    put_str(&mut space, b"memtx");
    put_uint(&mut space, 0);
    put_map_len(&mut space, 0);
    put_array_len(&mut space, u32::try_from(fields.len()).unwrap());
    for field in fields {
        put_map_len(&mut space, 1);
        put_str(&mut space, b"name");
        put_str(&mut space, field.as_bytes());
    }
    space
}

fn letter(number: u64, town: &str) -> Vec<u8> {
    let mut tuple = Vec::new();
    put_array_len(&mut tuple, 3);
    put_uint(&mut tuple, number);
    put_str(&mut tuple, town.as_bytes());
    // 1.50
    put_ext(&mut tuple, 1, &[2, 0x15, 0x0c]);
    tuple
}

fn key(number: u64) -> Vec<u8> {
    let mut key = Vec::new();
    put_array_len(&mut key, 1);
    put_uint(&mut key, number);
    key
}

fn operations() -> Vec<u8> {
    let mut operations = Vec::new();
    put_array_len(&mut operations, 1);
    put_array_len(&mut operations, 3);
    put_str(&mut operations, b"=");
    put_uint(&mut operations, 1);
    put_nil(&mut operations);
    operations
}

/// A row by its body. The time is its LSN.
fn row(kind: RowKind, lsn: i64, bytes: &[u8]) -> Row<'_> {
    let body = Body { bytes, ..Body::default() };
    let timestamp = lsn as f64;
    Row { kind, replica: 1, lsn, timestamp, group: 0, tsn: lsn, is_commit: true, flags: 0, body }
}

fn body(body: &Body) -> Vec<u8> {
    let mut out = Vec::new();
    put_body(&mut out, body);
    out
}

fn write(log: &mut LogWriter, kind: RowKind, lsn: i64, fields: &Body) {
    let bytes = body(&Body { space: Some(512), ..*fields });
    log.row(&row(kind, lsn, &bytes)).unwrap();
    log.sync().unwrap();
}

fn disk() -> Arc<dyn disk::Disk> {
    Arc::new(disk::RealDisk)
}

/// A home with a directory `shop`: a snapshot with two letters, and a log with a row of each kind, each in a
/// block of its own. The fourth row changes the names of the fields.
fn home() -> (Home, PathBuf) {
    let home = Home::new();
    let directory = home.path().join("shop");
    fs::create_dir(&directory).unwrap();
    let mut snap =
        SnapWriter::create(&disk(), &directory, &header(FileKind::Snapshot, 4, None), 1.5).unwrap();
    snap.insert(280, 0, &definition(&["number", "town"])).unwrap();
    for (number, town) in [(1, "Paris"), (2, "Lyon")] {
        snap.insert(512, 0, &letter(number, town)).unwrap();
    }
    snap.finish().unwrap();
    let mut log = LogWriter::create(&disk(), &directory, &header(FileKind::Log, 4, None)).unwrap();
    let (tuple, operations) = (letter(3, "it's"), operations());
    write(&mut log, RowKind::Insert, 5, &Body { tuple: Some(&tuple), ..Body::default() });
    write(
        &mut log,
        RowKind::Update,
        6,
        &Body { key: Some(&key(1)), tuple: Some(&operations), ..Body::default() },
    );
    write(&mut log, RowKind::Delete, 7, &Body { key: Some(&key(2)), ..Body::default() });
    let renamed = body(&Body {
        space: Some(280),
        tuple: Some(&definition(&["id", "place", "price"])),
        ..Body::default()
    });
    log.row(&row(RowKind::Replace, 8, &renamed)).unwrap();
    let tuple = letter(4, "Nice");
    write(
        &mut log,
        RowKind::Upsert,
        9,
        &Body { tuple: Some(&tuple), ops: Some(&operations), ..Body::default() },
    );
    log.row(&row(RowKind::Nop, 10, &[])).unwrap();
    // A transaction of two rows, which waits for replicas.
    let bytes = body(&Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
    let first = Row { is_commit: false, flags: 2, ..row(RowKind::Replace, 11, &bytes) };
    log.row(&first).unwrap();
    log.row(&Row { tsn: 11, flags: 2, ..row(RowKind::Replace, 12, &bytes) }).unwrap();
    log.finish().unwrap();
    (home, directory)
}

const ALL: &str = r#"{"lsn":5,"replica":1,"time":5.0,"type":"insert","space_id":512,"space":"letters","tuple":{"number":3,"town":"it's","3":"1.50"}}
{"lsn":6,"replica":1,"time":6.0,"type":"update","space_id":512,"space":"letters","key":[1],"ops":[["=",1,null]]}
{"lsn":7,"replica":1,"time":7.0,"type":"delete","space_id":512,"space":"letters","key":[2]}
{"lsn":9,"replica":1,"time":9.0,"type":"upsert","space_id":512,"space":"letters","tuple":{"id":4,"place":"Nice","price":"1.50"},"ops":[["=",1,null]]}
{"lsn":10,"replica":1,"time":10.0,"type":"nop"}
{"lsn":11,"replica":1,"time":11.0,"tsn":11,"wait_sync":true,"type":"replace","space_id":512,"space":"letters","tuple":{"id":4,"place":"Nice","price":"1.50"}}
{"lsn":12,"replica":1,"time":12.0,"tsn":11,"commit":true,"wait_sync":true,"type":"replace","space_id":512,"space":"letters","tuple":{"id":4,"place":"Nice","price":"1.50"}}
"#;

fn log_path() -> String {
    format!("shop/{LOG}")
}

fn lsns(printed: &str) -> Vec<i64> {
    let lsn = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["lsn"].as_i64().unwrap();
    printed.lines().map(lsn).collect()
}

#[test]
fn rows_are_objects_with_the_names_of_their_time() {
    let (home, _) = home();
    assert_eq!(home.good(&["cat", &log_path()]), ALL);
    assert_eq!(home.good(&["cat", "shop"]), ALL);
    assert_eq!(
        home.good(&["cat", &format!("shop/{SNAP}")]),
        "{\"lsn\":1,\"time\":1.5,\"type\":\"insert\",\"space_id\":512,\"space\":\"letters\",\
         \"tuple\":{\"number\":1,\"town\":\"Paris\",\"3\":\"1.50\"}}\n\
         {\"lsn\":2,\"time\":1.5,\"type\":\"insert\",\"space_id\":512,\"space\":\"letters\",\
         \"tuple\":{\"number\":2,\"town\":\"Lyon\",\"3\":\"1.50\"}}\n"
    );
    let exact = home.good(&["cat", &log_path(), "--exact", "--to", "6"]);
    assert!(
        exact.ends_with("\"tuple\":{\"number\":3,\"town\":\"it's\",\"3\":{\"$decimal\":\"1.50\"}}}\n"),
        "{exact}"
    );
    // Under another name, in a directory without a snapshot, there are no names until the log has them.
    fs::copy(home.path().join(log_path()), home.path().join("copy")).unwrap();
    let copy = home.good(&["cat", "copy"]);
    assert!(
        copy.starts_with(
            r#"{"lsn":5,"replica":1,"time":5.0,"type":"insert","space_id":512,"tuple":[3,"it's","1.50"]}"#
        ),
        "{copy}"
    );
    assert!(copy.contains(r#""tuple":{"id":4,"#), "{copy}");
    // A snapshot of the instance before it, or its directory, has them.
    assert_eq!(home.good(&["cat", "copy", "--snapshots", "shop"]), ALL);
    assert!(home.good(&["cat", &format!("shop/{SNAP}"), "copy"]).ends_with(ALL));
}

#[test]
fn other_forms_are_those_of_tarantoolctl_and_of_the_file() {
    let (home, directory) = home();
    let range = ["--from", "5", "--to", "7"];
    let yaml = home.good(&[&["cat", &log_path(), "--format", "yaml"], &range[..]].concat());
    assert_eq!(
        yaml,
        "---\nHEADER:\n  lsn: 5\n  replica_id: 1\n  type: INSERT\n  timestamp: 5\nBODY:\n  space_id: 512\n  \
         tuple: [3, 'it''s', 1.50]\n---\nHEADER:\n  lsn: 6\n  replica_id: 1\n  type: UPDATE\n  timestamp: 6\n\
         BODY:\n  space_id: 512\n  key: [1]\n  tuple: [['=', 1, null]]\n...\n\n"
    );
    let lua = home.good(&[&["cat", &log_path(), "--format", "lua"], &range[..]].concat());
    assert_eq!(
        lua,
        "box.space[512]:insert({[1] = 3, [2] = '\\x69\\x74\\x27\\x73', [3] = 1.50})\n\
         box.space[512]:update({[1] = 1}, {[1] = {[1] = '\\x3d', [2] = 1, [3] = cdata<void *>: NULL}})\n"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
    let arguments = ["cat", LOG, "--format", "msgpack", "--show-system"];
    let output = command.args(arguments).current_dir(&directory).output().unwrap();
    let mut reader = Reader::new(&output.stdout);
    let mut maps = Vec::new();
    while !reader.is_empty() {
        let mut ahead = reader;
        ahead.map_len().unwrap();
        maps.push(reader.skip().unwrap());
    }
    assert_eq!(maps.len(), 2 * 8, "a header and a body for each row");
    assert_eq!(
        maps[10],
        [0x84, 0x00, 0x0c, 0x02, 0x01, 0x03, 0x0a, 0x04, 0xcb, 0x40, 0x24, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(maps[11], [0x80], "a row that does nothing has no body");
}

#[test]
fn rows_are_chosen() {
    let (home, _) = home();
    let log = log_path();
    for (chosen, expected) in [
        (&["--show-system"][..], &[5, 6, 7, 8, 9, 10, 11, 12][..]),
        (&["--space", "letters"], &[5, 6, 7, 9, 11, 12]),
        (&["--space", "_space"], &[8]),
        (&["--space", "512", "--space", "280"], &[5, 6, 7, 8, 9, 11, 12]),
        (&["--from", "7"], &[7, 9, 10, 11, 12]),
        (&["--to", "7"], &[5, 6]),
        (&["--from", "{1: 7}", "--to", "{1: 10}"], &[9, 10]),
        (&["--from", "1970-01-01T00:00:07", "--to", "@10"], &[7, 9]),
        (&["--replica", "1", "--from", "12"], &[12]),
        (&["--type", "delete,NOP"], &[7, 10]),
        (&["--key", "4"], &[9, 11, 12]),
        (&["--key", "1"], &[6]),
    ] {
        let given = [&["cat", log.as_str()], chosen].concat();
        assert_eq!(lsns(&home.good(&given)), expected, "{chosen:?}");
    }
    for nothing in [&["--replica", "2"][..], &["--space", "600"], &["--type", "raft"]] {
        let run = home.run(&[&["cat", log.as_str()], nothing].concat());
        assert_eq!((run.code, run.err.as_str()), (Some(1), "pneu-tarantool: nothing found\n"), "{nothing:?}");
    }
    for (wrong, said) in [
        (&["--from", "x"][..], "\"x\" is no position"),
        (&["--type", "inser"], "\"inser\" is no type of rows"),
        (&["--space", "leters"], "no definition names a space leters"),
        (&["--exact", "--format", "yaml"], "--exact is for JSON"),
    ] {
        let run = home.run(&[&["cat", log.as_str()], wrong].concat());
        assert!(run.code == Some(2) && run.err.contains(said), "{run:?}");
    }
}

/// The offsets of the blocks of a log.
fn blocks(bytes: &[u8]) -> Vec<tarantool::BlockPlace> {
    let (_, mut at) = Header::parse(bytes).unwrap();
    let mut places = Vec::new();
    while let tarantool::Step::Block(place) = tarantool::read_head(bytes, at).unwrap() {
        at = place.payload.end;
        places.push(place);
    }
    places
}

#[test]
fn damage_is_told_and_the_rest_is_printed() {
    let (home, directory) = home();
    let path = directory.join(LOG);
    let whole = fs::read(&path).unwrap();
    let places = blocks(&whole);
    let mut damaged = whole.clone();
    damaged[places[1].payload.start + 3] ^= 1;
    fs::write(&path, &damaged).unwrap();
    let run = home.run(&["cat", &log_path()]);
    assert_eq!((run.code, lsns(&run.out)), (Some(3), vec![5, 7, 9, 10, 11, 12]));
    let (first, last) = (places[1].offset, places[1].payload.end - 1);
    assert_eq!(
        run.err,
        format!(
            "pneu-tarantool: shop/{LOG}: bytes {first} to {last}: a block's checksum does not fit; left out\n"
        )
    );
    let run = home.run(&["info", &log_path()]);
    assert!(
        run.code == Some(3) && run.out.contains(&format!("damage     shop/{LOG}: bytes {first} to {last}")),
        "{run:?}"
    );
    assert!(run.out.contains("gap        LSN 6 to 6 of replica 1"), "{run:?}");
    // A wrong head, in the middle.
    let mut damaged = whole.clone();
    damaged[places[1].offset] = 0;
    fs::write(&path, &damaged).unwrap();
    assert_eq!(lsns(&home.run(&["cat", &log_path()]).out), [5, 7, 9, 10, 11, 12]);
    // The end is torn: that is told as such.
    let last = places.last().unwrap();
    fs::write(&path, &whole[..last.payload.end - 1]).unwrap();
    let run = home.run(&["cat", &log_path()]);
    assert_eq!((run.code, lsns(&run.out)), (Some(3), vec![5, 6, 7, 9]));
    assert!(run.err.contains("ends with a write that was torn, or is not done: "), "{run:?}");
    // A log that is not closed is whole.
    fs::write(&path, &whole[..last.payload.end]).unwrap();
    assert_eq!(home.good(&["cat", &log_path()]), ALL);
}

#[test]
fn hostile_sizes_are_damage() {
    let (home, directory) = home();
    let path = directory.join(LOG);
    let whole = fs::read(&path).unwrap();
    let (_, begin) = Header::parse(&whole).unwrap();
    let block = |payload: &[u8]| {
        let mut out = tarantool::PLAIN.to_vec();
        for number in [u32::try_from(payload.len()).unwrap(), 0, tarantool::checksum(payload)] {
            out.push(0xce);
            out.extend(number.to_be_bytes());
        }
        [out, payload.to_vec()].concat()
    };
    // An array and a map of 4 G values, text of 4 GiB, a body of nothing.
    let tuples = [
        &[0xdd_u8, 0xff, 0xff, 0xff, 0xff][..],
        &[0xdf, 0xff, 0xff, 0xff, 0xff],
        &[0xdb, 0xff, 0xff, 0xff, 0xff],
    ];
    for tuple in tuples {
        let bad = [&[0x81, 0x00, 0x02, 0x82, 0x10, 0xcd, 0x02, 0x00, 0x21][..], tuple].concat();
        let bytes = [&whole[..begin], &block(&bad), &whole[begin..]].concat();
        fs::write(&path, bytes).unwrap();
        for format in ["json", "yaml", "lua", "msgpack"] {
            let run = home.run(&["cat", &log_path(), "--format", format]);
            assert!(run.code == Some(3) && run.err.contains("a value is cut off; left out"), "{run:?}");
        }
    }
    // A block that claims 2 GiB, and is not there.
    let mut head = tarantool::PLAIN.to_vec();
    head.extend([0xce, 0x7f, 0xff, 0xff, 0xff, 0x00, 0x00, 0xa7, 0, 0, 0, 0, 0, 0, 0]);
    fs::write(&path, [&whole[..begin], &head].concat()).unwrap();
    let run = home.run(&["cat", &log_path()]);
    assert!(run.code == Some(3) && run.err.contains("19 bytes from byte"), "{run:?}");
    // Nesting: JSON has no limit, the others say so.
    let deep =
        [&[0x81, 0x00, 0x02, 0x82, 0x10, 0xcd, 0x02, 0x00, 0x21][..], &vec![0x91; 100_000], &[0x05]].concat();
    fs::write(&path, [&whole[..begin], &block(&deep)].concat()).unwrap();
    assert!(home.good(&["cat", &log_path()]).contains("[[[["));
    let run = home.run(&["cat", &log_path(), "--format", "yaml"]);
    assert!(run.code == Some(3) && run.err.contains("nested deeper than 512 levels; left out"), "{run:?}");
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let (home, directory) = home();
    fs::write(directory.join("notes"), "hello\n").unwrap();
    fs::write(directory.join("new.xlog"), "XLOG\n0.14\nVersion: 9\n\n").unwrap();
    for (name, said) in [
        ("shop/notes", "shop/notes: this is not a file of Tarantool: its first line is \"hello\""),
        ("shop/new.xlog", "shop/new.xlog: this is a XLOG file of version 0.14"),
        ("shop/none", "shop/none"),
    ] {
        for command in ["cat", "info"] {
            let run = home.run(&[command, name]);
            assert!(run.code == Some(2) && run.err.contains(said), "{command}: {run:?}");
        }
    }
    // The others are printed.
    let run = home.run(&["cat", "shop/notes", &log_path()]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), ALL));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let (home, directory) = home();
    let mut log = LogWriter::create(&disk(), &directory, &header(FileKind::Log, 12, Some(4))).unwrap();
    let tuple = letter(5, &"long ".repeat(100));
    for lsn in 13..3000 {
        let bytes = body(&Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
        log.row(&row(RowKind::Replace, lsn, &bytes)).unwrap();
    }
    log.finish().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
    command.args(["cat", &format!("shop/{NEXT_LOG}")]).current_dir(home.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"lsn\":13,"), "{line}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// A program that follows, and what it prints. It is ended when a test fails.
struct Following {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Following {
    fn start(home: &Path, arguments: &[&str]) -> Following {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
        command.arg("cat").args(arguments).arg("--follow").current_dir(home).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Following { child, lines }
    }

    /// Waits for so many lines, and returns their LSNs.
    fn lsns(&mut self, count: usize) -> Vec<i64> {
        let mut text = String::new();
        for _ in 0..count {
            assert!(self.lines.read_line(&mut text).unwrap() > 0, "it ended: {text}");
        }
        lsns(&text)
    }

    /// Asks for an end, and returns the code and what else was printed.
    fn end(mut self) -> (Option<i32>, String, String) {
        assert!(
            Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success()
        );
        let (mut out, mut err) = (String::new(), String::new());
        self.lines.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), out, err)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_log_is_followed_into_the_next_one() {
    let (home, directory) = home();
    let mut followed = Following::start(home.path(), &["shop"]);
    assert_eq!(followed.lsns(7), [5, 6, 7, 9, 10, 11, 12]);
    // The log is closed; the next one appears, and grows block by block.
    let mut log = LogWriter::create(&disk(), &directory, &header(FileKind::Log, 12, Some(4))).unwrap();
    let tuple = letter(6, "Brest");
    let insert = Body { tuple: Some(&tuple), ..Body::default() };
    write(&mut log, RowKind::Insert, 13, &insert);
    assert_eq!(followed.lsns(1), [13]);
    write(&mut log, RowKind::Replace, 14, &insert);
    write(&mut log, RowKind::Replace, 15, &insert);
    assert_eq!(followed.lsns(2), [14, 15]);
    // Half a block is waited for.
    let path = log.path().to_owned();
    let before = fs::metadata(&path).unwrap().len();
    write(&mut log, RowKind::Replace, 16, &insert);
    assert_eq!(followed.lsns(1), [16]);
    let block = fs::read(&path).unwrap().split_off(usize::try_from(before).unwrap());
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    for half in [&block[..block.len() / 2], &block[block.len() / 2..]] {
        std::io::Write::write_all(&mut file, half).unwrap();
    }
    assert_eq!(followed.lsns(1), [16], "the same block again");
    // A log that a crash left open is done when the next one is there.
    drop(log);
    let mut log = LogWriter::create(&disk(), &directory, &header(FileKind::Log, 16, Some(12))).unwrap();
    write(&mut log, RowKind::Insert, 17, &insert);
    assert_eq!(followed.lsns(1), [17]);
    assert_eq!(followed.end(), (Some(130), String::new(), String::new()));
}

#[test]
fn names_follow_a_growing_log_and_snapshots_do_not_grow() {
    let (home, _) = home();
    let mut followed = Following::start(home.path(), &[&log_path()]);
    let mut lines = String::new();
    for _ in 0..7 {
        followed.lines.read_line(&mut lines).unwrap();
    }
    assert_eq!(lines, ALL);
    assert_eq!(followed.end().0, Some(130));
    let run = home.run(&["cat", "--follow", &format!("shop/{SNAP}")]);
    assert!(run.code == Some(2) && run.err.contains("only logs are followed"), "{run:?}");
}

#[test]
fn a_file_is_summarised_for_people_and_programs() {
    let (home, _) = home();
    let out = home.good(&["info", &log_path()]);
    for line in [
        "instance   07070707-0707-0707-0707-070707070707",
        "VClock     {1: 4}",
        "closed     yes",
        "replica 1  8 rows: LSN 5 to 12, 1970-01-01T00:00:05Z to 1970-01-01T00:00:12Z",
        "space      280 _space: 1 row, ",
        "space      512 letters: 6 rows, ",
        "space      none: 1 row, ",
    ] {
        assert!(out.contains(line), "{line}:\n{out}");
    }
    let object: serde_json::Value =
        serde_json::from_str(&home.good(&["info", &log_path(), "--format", "json"])).unwrap();
    assert_eq!(object["kind"], "xlog");
    assert_eq!((object["rows"].as_u64(), object["closed"].as_bool()), (Some(8), Some(true)));
    assert_eq!(object["vclock"], serde_json::json!({"1": 4}));
    assert_eq!(object["replicas"][0]["last_lsn"], 12);
    assert_eq!(object["spaces"][2]["name"], "letters");
    assert_eq!(object["damage"], serde_json::json!([]));
    let all = home.good(&["info", "shop", "--format", "json"]);
    let kinds: Vec<String> = all
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(kinds, ["\"snap\"", "\"xlog\""]);
}
