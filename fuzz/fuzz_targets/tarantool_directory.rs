//! A directory with any snapshot and any two logs is planned or refused, never with a panic, also up to an
//! earlier point. Everything in a plan can be read, down to the last row.
#![no_main]

use disk::Disk;
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use tarantool::{Depth, Mode, PlanOptions, Position, Unpacker, cut_torn_tail, plan, recover, rows};
use testkit::SimDisk;
use work::Silent;

const DIRECTORY: &str = "/t";

fuzz_target!(|input: (&[u8], &[u8], &[u8])| {
    let disk = SimDisk::new(1);
    disk.create_directory(Path::new(DIRECTORY)).expect("it is made");
    let names = ["00000000000000000000.snap", "00000000000000000000.xlog", "00000000000000000001.xlog"];
    for (name, (word, rest)) in
        names.into_iter().zip([("SNAP", input.0), ("XLOG", input.1), ("XLOG", input.2)])
    {
        let clock = if name.contains("1.") { "{1: 1}" } else { "{}" };
        let head = format!("{word}\n0.13\nVClock: {clock}\n\n");
        disk.put(&Path::new(DIRECTORY).join(name), &[head.as_bytes(), rest].concat());
    }
    for until in ["1", "2", "{1: 1}", "{}", "@1", "@1e9"] {
        let until = Position::parse(until);
        for mode in [Mode::Strict, Mode::Salvage] {
            let options = PlanOptions { mode, until: until.clone(), ..PlanOptions::default() };
            if let Ok(plan) = plan(&disk, Path::new(DIRECTORY), &options) {
                let _ = recover(&plan, mode, 1, &Silent);
            }
        }
    }
    for (mode, depth) in
        [(Mode::Strict, Depth::Heads), (Mode::Strict, Depth::Rows), (Mode::Salvage, Depth::Rows)]
    {
        let options = PlanOptions { mode, depth, ..PlanOptions::default() };
        let Ok(found) = plan(&disk, Path::new(DIRECTORY), &options) else {
            assert_eq!(mode, Mode::Strict, "salvage takes what there is");
            continue;
        };
        let mut unpacker = Unpacker::default();
        for file in found.snapshot.iter().chain(&found.logs).filter(|_| depth == Depth::Rows) {
            for place in file.blocks() {
                let payload = unpacker.unpack(&file.bytes, &place).expect("a plan hands out whole blocks");
                assert!(rows(payload).all(|row| row.is_ok()), "and whole rows");
            }
        }
        found.lost.iter().for_each(|lost| drop(lost.to_string()));
        if mode == Mode::Strict && depth == Depth::Rows {
            let disk = disk.fork();
            cut_torn_tail(&disk, &found).expect("it can be cut");
            let again = plan(&disk, Path::new(DIRECTORY), &options).expect("what is cut is whole");
            assert!(again.torn.is_empty() && again.reached == found.reached);
        }
    }
});
