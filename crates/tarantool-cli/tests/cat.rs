//! `pneu-tarantool cat` and `info` on single files of rows: forms, choices, damage.

use crate::cat_support::{ALL, LOG, SNAP, home, log_path, lsns};
use std::fs;
use std::process::Command;
use tarantool::Header;
use tarantool::msgpack::Reader;

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
