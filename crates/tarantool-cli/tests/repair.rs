//! `pneu-tarantool repair`, and `info` of damaged files.

use crate::commands::{damage, edit, home_with, index, said, space, tear};
use crate::support::Home;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tarantool::msgpack::{put_array_len, put_str, put_uint};
use tarantool::repair::examine;
use tarantool::{Header, PlanOptions, Step, read_head};
use testkit::tarantool;
use work::Silent;

/// What Tarantool does not start without: the version of its own spaces, and the instance.
fn own_rows() -> Vec<(u32, Vec<u8>)> {
    let mut version = Vec::new();
    put_array_len(&mut version, 3);
    put_str(&mut version, b"version");
    put_uint(&mut version, 2);
    put_uint(&mut version, 6);
    let mut instance = Vec::new();
    put_array_len(&mut instance, 2);
    put_uint(&mut instance, 1);
    put_str(&mut instance, b"07070707-0707-0707-0707-070707070707");
    let cluster = space(320, "_cluster", "memtx");
    let index = index(320, 0, "primary", "tree", (0, "unsigned"));
    vec![(272, version), cluster, index, (320, instance)]
}

fn home() -> (Home, PathBuf) {
    home_with(own_rows())
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const STAYS_6: &str = "stays    00000000000000000004.snap and 1 log, up to {1: 6}: 15 rows of 7 spaces\n";
const STAYS_5: &str = "stays    00000000000000000004.snap and 1 log, up to {1: 5}: 14 rows of 7 spaces\n";

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
             stays    00000000000000000004.snap and 1 log, up to {1: 6}: 14 rows of 7 spaces\n\
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
    assert_eq!(objects[3]["rows"], 14);
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

const LOG: &str = "00000000000000000004.xlog";
const SNAPSHOT: &str = "00000000000000000004.snap";

/// What is outside the directory is not cut, nor what is put in the place of the log while the user decides.
#[test]
fn only_the_file_that_was_read_is_cut() {
    let (home, directory) = home();
    tear(&directory);
    let (path, outside) = (directory.join(LOG), home.path().join("outside"));
    fs::rename(&path, &outside).unwrap();
    symlink(&outside, &path).unwrap();
    let before = fs::read(&outside).unwrap();
    let run = home.run(&["repair", "shop", "--yes"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("it is a link, which is not followed"), "{run:?}");
    assert_eq!(fs::read(&outside).unwrap(), before);

    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let replace_and_repair = |replace: &dyn Fn()| {
        let _ = fs::remove_file(&path);
        fs::write(&path, &before).unwrap();
        let repair = examine(disk.as_ref(), &directory, &PlanOptions::default(), 1, &Silent).unwrap();
        replace();
        repair.carry_out(&disk, 1.0, &Silent).map(drop).map_err(|error| error.to_string())
    };
    let refused = replace_and_repair(&|| {
        fs::remove_file(&path).unwrap();
        symlink(&outside, &path).unwrap();
    });
    assert!(refused.unwrap_err().contains("it is a link, which is not followed"));
    let refused = replace_and_repair(&|| {
        fs::rename(&path, directory.join("was")).unwrap();
        fs::write(&path, &before).unwrap();
    });
    assert!(refused.unwrap_err().contains("it is not the file that was read before"));
    let refused = replace_and_repair(&|| edit(&path, |bytes| bytes.push(0)));
    assert!(refused.unwrap_err().contains("its length has changed"));
    assert_eq!(fs::read(&outside).unwrap(), before);
    assert_eq!(replace_and_repair(&|| {}), Ok(()));
    assert_eq!(fs::read(&path).unwrap(), before[..136]);
}

/// A name that was free when the plan was made is not replaced.
#[test]
fn nothing_is_replaced_by_what_is_set_aside() {
    let (_home, directory) = home();
    damage(&directory);
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let repair = examine(disk.as_ref(), &directory, &PlanOptions::default(), 1, &Silent).unwrap();
    let taken = directory.join(format!("{LOG}.damaged"));
    fs::write(&taken, b"from another repair").unwrap();
    let refused = repair.carry_out(&disk, 1.0, &Silent).map(drop).unwrap_err().to_string();
    assert!(refused.contains("exists"), "{refused}");
    assert_eq!(fs::read(&taken).unwrap(), b"from another repair");
}

#[test]
fn nothing_is_written_that_tarantool_does_not_start_from() {
    for (rows, lacks) in
        [(Vec::new(), "_schema"), (own_rows().drain(..3).collect(), "this instance is not in _cluster")]
    {
        let (home, directory) = home_with(rows);
        damage(&directory);
        let before = names(&directory);
        for arguments in [&["repair", "shop", "--yes"][..], &["repair", "shop", "--yes", "--into", "new"]] {
            let run = home.run(arguments);
            assert_eq!(run.code, Some(2), "{run:?}");
            assert!(run.err.contains(lacks) && run.err.contains("put a snapshot back"), "{run:?}");
        }
        assert_eq!(names(&directory), before);
        assert!(!home.path().join("new").exists());
    }
    // The only block of the only snapshot.
    let (home, directory) = home();
    edit(&directory.join(SNAPSHOT), |bytes| {
        let end = bytes.len() - 10;
        bytes[end] ^= 1;
    });
    let run = home.run(&["repair", "shop", "--yes"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("put a snapshot back"), "{run:?}");
    assert_eq!(names(&directory), [SNAPSHOT, LOG]);
}

/// Tarantool reads the headers of old files, too.
#[test]
fn old_files_that_tarantool_refuses_are_set_aside() {
    let (home, directory) = home();
    let log = fs::read(directory.join(LOG)).unwrap();
    fs::write(directory.join("00000000000000000001.snap"), b"").unwrap();
    fs::write(directory.join("00000000000000000001.xlog"), b"").unwrap();
    fs::write(directory.join("00000000000000000002.xlog"), &log).unwrap();
    let text = String::from_utf8_lossy(&log).replace("07070707-0707", "08080808-0707");
    let foreign = text.replace("VClock: {1: 4}", "VClock: {1: 3}");
    let end = foreign.find("\n\n").unwrap() + 2;
    let foreign = [&foreign.as_bytes()[..end], b"\xd5\x10\xad\xed"].concat();
    fs::write(directory.join("00000000000000000003.xlog"), foreign).unwrap();
    let run = home.run(&["repair", "shop", "--yes"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    for name in [
        "00000000000000000001.snap",
        "00000000000000000001.xlog",
        "00000000000000000002.xlog",
        "00000000000000000003.xlog",
    ] {
        let aside = format!("aside    shop/{name} becomes shop/{name}.damaged\n");
        assert!(run.out.contains(&aside), "{run:?}");
        assert!(run.out.contains(&format!("remark   shop/{name}")), "{run:?}");
    }
    assert!(run.out.contains(STAYS_6), "{run:?}");
    assert_eq!(home.good(&["repair", "shop"]), format!("{STAYS_6}nothing  to repair\n"));
}

#[test]
fn a_directory_with_rows_of_vinyl_gets_no_new_snapshot() {
    // Without an index a space has no rows, and no files of vinyl.
    let mut rows = own_rows();
    rows.push(space(513, "on_disk", "vinyl"));
    let (home, directory) = home_with(rows.clone());
    tear(&directory);
    let out = home.good(&["repair", "shop", "--yes"]);
    assert!(out.contains("cut ") && !out.contains("lost "), "{out}");
    rows.push(index(513, 0, "pk", "tree", (0, "unsigned")));
    let (home, directory) = home_with(rows);
    let before = names(&directory);
    let run = home.run(&["repair", "shop", "--yes"]);
    assert!(
        run.code == Some(2) && run.out.contains("name the directory of vinyl with --vinyl-dir"),
        "{run:?}"
    );
    assert!(run.err.contains("a new snapshot would not match them; use --into"), "{run:?}");
    assert_eq!(names(&directory), before);
    let run = home.run(&["repair", "shop", "--yes", "--into", "new"]);
    assert!(run.code == Some(3) && run.out.contains("lost "), "{run:?}");
}

#[test]
fn a_new_snapshot_has_the_owner_and_the_mode_of_the_one_before() {
    use std::os::unix::fs::{MetadataExt, chown};
    let (home, directory) = home();
    damage(&directory);
    let old = directory.join(SNAPSHOT);
    fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).unwrap();
    // Only root can give a file away.
    let _ = chown(&old, Some(1234), Some(1235));
    let run = home.run(&["repair", "shop", "--yes"]);
    assert_eq!((run.code, run.err.as_str()), (Some(3), ""), "{run:?}");
    let of = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
    };
    assert_eq!(of(&directory.join("00000000000000000006.snap")), of(&old));
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

/// Tarantool refuses a directory for the header of any file, however old.
#[test]
fn tarantool_starts_beside_what_was_set_aside() {
    let home = Home::new();
    let write = "
        box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
        local rows = box.schema.space.create('rows')
        rows:create_index('pk')
        rows:insert{1}
        box.snapshot()
        rows:insert{2}
        box.snapshot()
        rows:insert{3}
        os.exit(0)";
    let start = "
        box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
        print(box.space.rows:len())
        os.exit(0)";
    for (place, damage) in OLD_DAMAGE.iter().enumerate() {
        let name = format!("from{place}");
        let from = home.path().join(&name);
        fs::create_dir(&from).unwrap();
        if tarantool(&from, write).is_none() {
            return;
        }
        damage(&from);
        fs::write(from.join("start.lua"), start).unwrap();
        let refused = Command::new("tarantool").arg("start.lua").current_dir(&from).output().unwrap();
        assert!(!refused.status.success(), "{place}: {refused:?}");
        let run = home.run(&["repair", &name, "--yes", "--quiet"]);
        assert_eq!(run.code, Some(0), "{place}: {run:?}");
        assert_eq!(tarantool(&from, start).unwrap(), "3\n", "{place}");
    }
}

/// Returns a file of a kind by its place, the oldest first.
fn file_of(directory: &Path, ending: &str, place: usize) -> PathBuf {
    let mut names = names(directory);
    names.retain(|name| name.ends_with(ending));
    directory.join(&names[place])
}

/// Ways to damage files that no row is needed from.
const OLD_DAMAGE: [fn(&Path); 5] = [
    |from| edit(&file_of(from, ".xlog", 0), |bytes| bytes[..4].copy_from_slice(b"XXXX")),
    |from| edit(&file_of(from, ".xlog", 0), Vec::clear),
    |from| edit(&file_of(from, ".snap", 0), Vec::clear),
    |from| fs::rename(file_of(from, ".xlog", 0), from.join("00000000000000000001.xlog")).unwrap(),
    |from| {
        edit(&file_of(from, ".xlog", 0), |bytes| {
            let place = bytes.windows(10).position(|bytes| bytes == b"Instance: ").unwrap() + 10;
            bytes[place] = if bytes[place] == b'1' { b'2' } else { b'1' };
        });
    },
];
