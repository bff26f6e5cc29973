//! Any bytes can be printed as the rows of a file, in each form: nothing panics, the same rows come on one
//! thread and on several, JSON is JSON, and each notice names bytes of the file. The target corrects the
//! checksums of plain blocks, because otherwise nothing in them would be printed.
#![no_main]

use disk::Disk;
use libfuzzer_sys::fuzz_target;
use std::convert::Infallible;
use std::path::Path;
use tarantool::cat::{Notice, Printer, RowFilter, RowForm, RowsFile, open_rows, summarise};
use tarantool::text::JsonStyle;
use tarantool::{Step, checksum, read_head};
use testkit::SimDisk;

const FORMS: [RowForm; 5] = [
    RowForm::Json(JsonStyle::Readable),
    RowForm::Json(JsonStyle::Exact),
    RowForm::Yaml,
    RowForm::Lua,
    RowForm::Msgpack,
];
const HEADS: [&str; 3] = ["SNAP\n0.13\nVClock: {}\n\n", "XLOG\n0.13\nVClock: {}\n\n", "RUN\n0.13\n\n"];

fuzz_target!(|input: &[u8]| {
    let [kind, block @ ..] = input else { return };
    let head = HEADS[usize::from(*kind) % HEADS.len()];
    let mut bytes = [head.as_bytes(), block].concat();
    let mut at = head.len();
    while let Ok(Step::Block(place)) = read_head(&bytes, at) {
        // A few bytes may decompress to gigabytes. That is allowed, but too slow here.
        if place.is_compressed {
            return;
        }
        let sum = checksum(&bytes[place.payload.clone()]).to_be_bytes();
        // Only a checksum of 32 bits in its usual place can be corrected.
        let number = place.offset + 4 + 5 + 1;
        if bytes.get(number) == Some(&0xce) {
            bytes[number + 1..number + 5].copy_from_slice(&sum);
        }
        at = place.payload.end;
    }
    let disk = SimDisk::new(1);
    disk.create_directory(Path::new("/t")).expect("it is made");
    let path = Path::new("/t/file");
    disk.put(path, &bytes);
    let Ok(file) = open_rows(&disk, path) else { return };
    for form in FORMS {
        let (alone, told) = printed(&file, form, 1);
        assert_eq!(printed(&file, form, 3), (alone.clone(), told.clone()));
        for notice in told {
            if let Notice::Damage { bytes: range, .. } = notice {
                assert!(range.start <= range.end && range.end <= bytes.len() as u64);
            }
        }
        if matches!(form, RowForm::Json(_)) {
            for line in alone.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                assert!(line.starts_with(b"{\"lsn\":") && line.ends_with(b"}"));
                assert!(std::str::from_utf8(line).is_ok());
            }
        }
    }
    summarise(&file, 2);
});

fn printed(file: &RowsFile, form: RowForm, thread_count: usize) -> (Vec<u8>, Vec<Notice>) {
    let (mut out, mut told) = (Vec::new(), Vec::new());
    let filter = RowFilter { shows_system: true, ..RowFilter::default() };
    let mut printer = Printer::new(form, filter, thread_count);
    let mut sink = |bytes: &[u8]| -> Result<(), Infallible> {
        out.extend_from_slice(bytes);
        Ok(())
    };
    let Ok(()) = printer.print(file, &mut sink, &mut |notice| told.push(notice));
    (out, told)
}
