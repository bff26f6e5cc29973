//! `pneu-tarantool cat` with a reader or a writer at its other end: closed pipes, logs that grow.

use crate::cat_support::{ALL, NEXT_LOG, SNAP, body, disk, header, home, letter, log_path, lsns, row, write};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use tarantool::{Body, FileKind, LogWriter, RowKind};

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
