//! `pneu-tarantool repair`, and `info` of damaged files.

use crate::commands::{damage, edit, home, said, tear};
use crate::support::Home;
use std::fs;
use std::path::Path;
use tarantool::{Header, Step, read_head};
use testkit::tarantool;

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const STAYS_6: &str = "stays    00000000000000000004.snap and 1 log, up to {1: 6}: 11 rows of 6 spaces\n";
const STAYS_5: &str = "stays    00000000000000000004.snap and 1 log, up to {1: 5}: 10 rows of 6 spaces\n";

#[test]
fn what_is_sound_is_left_alone() {
    let (home, directory) = home();
    let before = names(&directory);
    assert_eq!(home.good(&["repair", "shop"]), format!("{STAYS_6}nothing  to repair\n"));
    assert_eq!(names(&directory), before);
    let run = home.run(&["repair", "empty"]);
    assert_eq!(said(&run), (Some(2), "", "pneu-tarantool: empty has no files of Tarantool\n"));
}

#[test]
fn a_torn_end_is_cut_off_only_when_that_is_confirmed() {
    let (home, directory) = home();
    tear(&directory);
    let path = directory.join("00000000000000000004.xlog");
    let before = fs::read(&path).unwrap();
    let plan = format!(
        "cut      shop/00000000000000000004.xlog ends with a torn write: 43 bytes from byte 136 on: a block \
         is cut off\n{STAYS_5}"
    );
    let run = home.run(&["repair", "shop"]);
    assert_eq!(
        said(&run),
        (
            Some(2),
            plan.as_str(),
            "pneu-tarantool: nothing was changed: there is no terminal to ask at; use --yes to repair\n"
        )
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(home.good(&["repair", "shop", "--yes"]), format!("{plan}repaired shop\n"));
    assert_eq!(fs::read(&path).unwrap(), before[..136]);
    let remark = "remark   shop/00000000000000000004.xlog was not closed: the program that wrote \
        it ended early, or still runs\n";
    assert_eq!(home.good(&["repair", "shop"]), format!("{remark}{STAYS_5}nothing  to repair\n"));
}

#[test]
fn damage_gives_a_new_snapshot_and_the_old_files_are_kept() {
    let (home, directory) = home();
    damage(&directory);
    let run = home.run(&["repair", "shop", "--yes"]);
    assert_eq!(
        said(&run),
        (
            Some(3),
            "refused  shop/00000000000000000004.xlog is damaged at byte 87: a block's checksum does not fit\n\
             write    shop/00000000000000000006.snap\n\
             aside    shop/00000000000000000004.xlog becomes shop/00000000000000000004.xlog.damaged\n\
             lost     shop/00000000000000000004.xlog: bytes 87 to 135: a block's checksum does not fit; \
             lost: LSN 5 of replica 1\n\
             stays    00000000000000000004.snap and 1 log, up to {1: 6}: 10 rows of 6 spaces\n\
             repaired shop\n",
            ""
        )
    );
    assert_eq!(
        names(&directory),
        ["00000000000000000004.snap", "00000000000000000004.xlog.damaged", "00000000000000000006.snap"]
    );
    home.good(&["load", "shop", "--into", "s", "--quiet"]);
    assert_eq!(home.good(&["scan", "s", "letters", "--from", "5"]), "[5,\"Nice\"]\n[7,\"Metz\"]\n");
}

#[test]
fn a_copy_is_repaired_and_the_report_is_for_programs() {
    let (home, directory) = home();
    damage(&directory);
    let before = names(&directory);
    let run = home.run(&["repair", "shop", "--yes", "--into", "new", "--format", "json"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    let objects: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps: Vec<&str> = objects.iter().map(|object| object["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["refused", "write", "lost", "stays", "done"]);
    assert_eq!(objects[3]["rows"], 10);
    assert_eq!(names(&directory), before);
    assert_eq!(names(&home.path().join("new")), ["00000000000000000006.snap"]);
    let again = home.run(&["repair", "shop", "--yes", "--into", "new"]);
    assert!(again.code == Some(2) && again.err.contains("holds files of Tarantool already"), "{again:?}");
}

#[test]
fn info_of_a_snapshot_that_is_cut_off_says_so() {
    let (home, directory) = home();
    let snapshot = directory.join("00000000000000000004.snap");
    let whole = fs::read(&snapshot).unwrap();
    for (cut, what) in [(4, "the end mark is missing: the file is cut off"), (30, "a block is cut off")] {
        fs::write(&snapshot, &whole[..whole.len() - cut]).unwrap();
        for command in [&["info"][..], &["info", "--format", "json"], &["cat", "--show-system"]] {
            let run = home.run(&[command, &["shop/00000000000000000004.snap"]].concat());
            assert_eq!(run.code, Some(3), "{command:?}: {run:?}");
            assert!(format!("{}{}", run.out, run.err).contains(what), "{command:?}: {run:?}");
        }
    }
    // A log may be going on.
    edit(&directory.join("00000000000000000004.xlog"), |bytes| bytes.truncate(bytes.len() - 4));
    assert_eq!(home.run(&["info", "shop/00000000000000000004.xlog"]).code, Some(0));
}

/// Tarantool refuses the directory before the repair, and starts from it afterwards, with all other rows.
#[test]
fn tarantool_starts_from_what_was_repaired() {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    let write = "
        box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
        local rows = box.schema.space.create('rows')
        rows:create_index('pk')
        for number = 1, 200 do rows:insert{number} end
        os.exit(0)";
    if tarantool(&from, write).is_none() {
        return;
    }
    let count = "
        local ok, what = pcall(box.cfg, {memtx_dir='.', wal_dir='.', log='tarantool.log'})
        print(ok and box.space.rows:len() or what)
        if ok then box.space.rows:replace{1000} end
        os.exit(0)";
    let log = from.join("00000000000000000000.xlog");
    edit(&log, |bytes| {
        let (_, mut at) = Header::parse(bytes).unwrap();
        for _ in 0..100 {
            let Ok(Step::Block(place)) = read_head(bytes, at) else { panic!("there are over 200 blocks") };
            at = place.payload.end;
        }
        bytes[at - 1] ^= 1;
    });
    let run = home.run(&["repair", "from", "--into", "copy", "--yes", "--quiet"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    let run = home.run(&["repair", "from", "--yes", "--quiet"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    for directory in ["from", "copy"] {
        let directory = home.path().join(directory);
        assert_eq!(tarantool(&directory, count).unwrap(), "199\n");
        assert_eq!(tarantool(&directory, count).unwrap().trim(), "200", "it goes on from there");
    }
}
