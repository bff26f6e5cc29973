//! Tests mail with every kind of name, size and mode: restic restores what pneu saved, and pneu what restic
//! saved.
//!
//! Input: one Maildir, in repositories of both versions with every compression. Output: whether each program
//! restores, lists and mounts exactly what is on the disk. Does not depend on how anything is stored.

use crate::support::{Home, Run, letter, run};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use testkit::{Random, Restic};

const PASSWORD: &str = "pneumatic";
/// More than the longest piece that a file is cut into.
const LARGE_BYTES: usize = 9 << 20;
/// Bytes that names of files may have.
const NAMES: [&[u8]; 7] = [
    b"1.\xff\xfe.tower:2,S",
    b"2.new\nline:2,",
    b"3.back\\slash\\x41:2,S",
    b"4.\"quote\" 'and':2,F",
    b"5.<&>\xe2\x80\xa8\xc3\xa9\xe6\x97\xa5:2,S",
    b"6. leading and trailing :2, ",
    b"7.\x01\x7f\t*?[a]:2,RS",
];

/// Makes a home with odd mail in it, indexed.
fn odd() -> Home {
    let home = Home::new();
    for name in NAMES {
        let number = char::from(name[0]).to_string();
        home.deliver_bytes("odd", name, &letter(&number, "odd", &format!("words {number}")));
    }
    let odd_folder = home.mail().join(OsStr::from_bytes(b"lists/\xfcber \"uns\"\\"));
    for place in ["cur", "new", "tmp"] {
        fs::create_dir_all(odd_folder.join(place)).unwrap();
    }
    fs::write(odd_folder.join("new/8.tower"), letter("8", "in a folder", "words")).unwrap();
    fs::write(odd_folder.join("dovecot-uidlist"), "3 V1 N9\n").unwrap();
    home.deliver("odd", "9.empty:2,S", b"");
    let mut attachment = vec![0; LARGE_BYTES];
    Random::new(9).fill(&mut attachment);
    home.deliver("odd", "10.large:2,S", &[&letter("10", "large", "attached")[..], &attachment].concat());
    home.deliver(
        "odd",
        "11.zeros:2,S",
        &[&letter("11", "zeros", "attached")[..], &vec![0; LARGE_BYTES]].concat(),
    );
    for (name, mode, ns) in [
        ("9.empty:2,S", 0o400, 1),
        ("10.large:2,S", 0o640, 123_456_789),
        ("11.zeros:2,S", 0o604, 999_999_999),
    ] {
        let path = home.mail().join("odd/cur").join(name);
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_007, ns);
        fs::File::open(&path).unwrap().set_modified(time).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(home.mail().join("odd"), Permissions::from_mode(0o2750)).unwrap();
    let indexed = home.pneu(&["index", "--maildir", "Mail"]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    home
}

/// Says what lies in a directory: a line for each path, with its mode, its times, its owner and its content.
fn described(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = match metadata.is_dir() {
            true => {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                String::new()
            }
            false => format!("{} {}", metadata.len(), restic::Id::of(&fs::read(&path).unwrap())),
        };
        lines.push(format!(
            "{:?} {:o} {}.{:09} {}:{} {content}",
            path.strip_prefix(root).unwrap(),
            metadata.mode(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.uid(),
            metadata.gid(),
        ));
    }
    lines.sort();
    lines
}

fn pneu(home: &Home, arguments: &[&str]) -> Run {
    let mut command = home.command(&[&["archive"], arguments].concat());
    command.env("RESTIC_REPOSITORY", home.path().join("repository")).env("RESTIC_PASSWORD", PASSWORD);
    let run = run(&mut command);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
    run
}

/// Restores the newest snapshot by both programs, and fails unless each brings back what lies in the mail's
/// directory.
fn assert_both_restore(home: &Home, restic: &Restic, what: &str) {
    let (theirs, ours) = (home.path().join("theirs"), home.path().join("ours"));
    let expected = described(&home.mail());
    restic.succeed(&["restore", "latest", "--target", "theirs"]);
    pneu(home, &["restore", "latest", "--target", "ours"]);
    let below = |target: &Path| target.join(home.mail().strip_prefix("/").unwrap());
    assert_eq!(described(&below(&theirs)), expected, "{what}: restored by restic");
    assert_eq!(described(&below(&ours)), expected, "{what}: restored by us");
    fs::remove_dir_all(theirs).unwrap();
    fs::remove_dir_all(ours).unwrap();
}

#[test]
fn odd_mail_goes_both_ways_in_every_version_with_every_compression() {
    let home = odd();
    for (version, compression) in
        [("2", "auto"), ("2", "off"), ("2", "max"), ("1", "auto"), ("1", "off"), ("1", "max")]
    {
        let what = format!("version {version}, {compression}");
        let Some(restic) = testkit::restic(home.path(), "repository", PASSWORD) else { return };
        restic.succeed(&["init", "--repository-version", version]);
        let saved = pneu(&home, &["backup", "--compression", compression]);
        assert!(saved.out.contains(" 12 new, 0 changed; "), "{what}: {saved:?}");
        restic.succeed(&["check", "--read-data"]);
        assert_both_restore(&home, &restic, &what);
        let mail = home.mail().display().to_string();
        restic.succeed(&["backup", "--compression", compression, "--force", &mail]);
        assert_both_restore(&home, &restic, &what);
        // What restic made alone, with nothing of ours to begin from.
        fs::remove_dir_all(home.path().join("repository")).unwrap();
        restic.succeed(&["init", "--repository-version", version]);
        restic.succeed(&["backup", "--compression", compression, &mail]);
        assert_both_restore(&home, &restic, &what);
        assert!(pneu(&home, &["check", "--read-data"]).out.ends_with("no damage found\n"));
        // And ours upon that saves no message anew.
        let again = pneu(&home, &["backup", "--compression", compression]);
        assert!(again.out.contains(" 0 changed; "), "{what}: {again:?}");
        assert!(
            again.out.ends_with(" KiB added\n") || again.out.ends_with(" bytes added\n"),
            "{what}: {again:?}"
        );
        restic.succeed(&["check", "--read-data"]);
        assert_both_restore(&home, &restic, &what);
        fs::remove_dir_all(home.path().join("repository")).unwrap();
    }
}

/// A process that mounts a repository. It is unmounted on drop.
struct Mounted {
    child: std::process::Child,
    at: PathBuf,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        _ = Command::new("fusermount").args(["-u", "-z"]).arg(&self.at).status();
        _ = self.child.wait();
    }
}

#[test]
fn restic_mounts_what_we_saved_with_all_that_belongs_to_it() {
    let home = odd();
    let Some(restic) = testkit::restic(home.path(), "repository", PASSWORD) else { return };
    let may_mount = fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok()
        && Command::new("fusermount").arg("-V").output().is_ok();
    if !testkit::may_ask(
        "fusermount",
        "apt-get install fuse, where /dev/fuse may be opened",
        may_mount,
        false,
    ) {
        return;
    }
    restic.succeed(&["init"]);
    pneu(&home, &["backup"]);
    let at = home.path().join("mounted");
    fs::create_dir(&at).unwrap();
    let mut command = restic.command();
    command.args(["mount", "--owner-root=false"]).arg(&at).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_there = lines.any(|line| line.contains("Now serving"));
    let mounted = Mounted { child, at };
    assert!(is_there, "restic does not mount");
    let below = mounted.at.join("snapshots/latest").join(home.mail().strip_prefix("/").unwrap());
    assert_eq!(described(&below), described(&home.mail()));
    drop(mounted);
}
