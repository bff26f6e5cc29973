//! A read that fails under a map ends the process with code 2 and names the file; any other SIGBUS is left as
//! it was.

use crate::child;
use disk::{Disk, Map, RealDisk};
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

const SIGBUS: i32 = 7;

/// Writes a file of two pages and maps it.
fn map_new(directory: &Path, name: &str) -> Map {
    let path = directory.join(name);
    disk::write_new(&RealDisk, &path, &[7; 8192]).unwrap();
    RealDisk.map(&path).unwrap()
}

fn cut(directory: &Path, name: &str) {
    std::fs::OpenOptions::new().write(true).open(directory.join(name)).unwrap().set_len(4096).unwrap();
}

#[test]
fn child_touches_a_cut_map() {
    let Some(directory) = child::directory() else { return };
    disk::fault::install().unwrap();
    // Slots are given back: many more maps than slots come and go before.
    let other = map_new(&directory, "other.seg");
    for _ in 0..10_000 {
        drop(RealDisk.map(&directory.join("other.seg")).unwrap());
    }
    let map = map_new(&directory, "7f3a.seg").clone();
    cut(&directory, "7f3a.seg");
    black_box((map[4095], other[8191]));
    black_box(map[4096]);
}

#[test]
fn a_cut_map_names_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let output = child::run("fault::child_touches_a_cut_map", directory.path());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let sentence = format!(
        "cannot read {}: I/O error while mapped, or the file was truncated while open\n",
        directory.path().join("7f3a.seg").display()
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains(&sentence), "{output:?}");
}

#[test]
fn child_touches_a_cut_map_in_a_full_table() {
    let Some(directory) = child::directory() else { return };
    disk::fault::install().unwrap();
    drop(map_new(&directory, "many.seg"));
    let many: Vec<Map> = (0..5_000).map(|_| RealDisk.map(&directory.join("many.seg")).unwrap()).collect();
    let map = map_new(&directory, "7f3a.seg");
    assert!(many.iter().chain([&map]).all(|map| map[8191] == 7));
    cut(&directory, "7f3a.seg");
    black_box(map[4096]);
}

#[test]
fn a_map_that_found_no_slot_works_and_is_not_named() {
    let directory = tempfile::tempdir().unwrap();
    let output = child::run("fault::child_touches_a_cut_map_in_a_full_table", directory.path());
    assert_eq!(output.status.signal(), Some(SIGBUS), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("cannot read"), "{output:?}");
}

#[test]
fn child_is_sent_the_signal() {
    let Some(directory) = child::directory() else { return };
    disk::fault::install().unwrap();
    let _map = map_new(&directory, "7f3a.seg");
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::BUS).unwrap();
    // The signal may be given to another thread, a moment later.
    loop {
        std::thread::park();
    }
}

#[test]
fn a_signal_that_is_no_fault_ends_the_process_as_ever() {
    let directory = tempfile::tempdir().unwrap();
    let output = child::run("fault::child_is_sent_the_signal", directory.path());
    assert_eq!(output.status.signal(), Some(SIGBUS), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("cannot read"), "{output:?}");
}
