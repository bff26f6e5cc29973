//! Header records: the fields that a list of messages shows and a few more, keyed by the time in the file's
//! name.
//!
//! Input: a folder of a Maildir. Output: a file of keys and records, sorted by key; when it is read, the
//! records. Does not depend on stores.

use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Header fields that a record holds.
const FIELDS: [&str; 7] = ["from:", "to:", "cc:", "subject:", "date:", "message-id:", "references:"];
/// At most this much of a message's header is read.
const HEADER_BYTES_MAX: u64 = 256 << 10;
/// The low bits of a key are the number of the file in the folder.
const NUMBER_BITS: u32 = 28;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The time in the file's name, then the number of the file.
    pub(super) key: u64,
    pub(super) value: Vec<u8>,
}

/// Makes the file of a folder's records, and returns how many there are.
pub(super) fn make(folder: &Path, file: &Path) -> Result<u64> {
    let mut paths = Vec::new();
    for part in ["cur", "new"] {
        let directory = folder.join(part);
        let entries =
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?;
        for entry in entries {
            paths.push(entry?.path());
        }
    }
    paths.sort();
    let mut records = Vec::with_capacity(paths.len());
    for (number, path) in (0..).zip(&paths) {
        let value = header(path).with_context(|| format!("cannot read {}", path.display()))?;
        records.push(Record {
            key: seconds(path.file_name().unwrap_or_default()) << NUMBER_BITS | number,
            value,
        });
    }
    records.sort_by_key(|record| record.key);
    write(file, &records)?;
    Ok(records.len() as u64)
}

/// Writes records into a new file.
pub(super) fn write(file: &Path, records: &[Record]) -> Result<()> {
    let mut out =
        BufWriter::new(File::create(file).with_context(|| format!("cannot make {}", file.display()))?);
    for record in records {
        out.write_all(&record.key.to_be_bytes())?;
        out.write_all(&u32::try_from(record.value.len())?.to_be_bytes())?;
        out.write_all(&record.value)?;
    }
    out.flush()?;
    Ok(())
}

/// Reads records one by one.
pub(super) fn read(file: &Path) -> Result<impl Iterator<Item = Result<Record>>> {
    let open = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    let mut input = BufReader::with_capacity(256 << 10, open);
    Ok(std::iter::from_fn(move || next(&mut input).transpose()))
}

fn next(input: &mut impl BufRead) -> Result<Option<Record>> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let (mut key, mut length) = ([0; 8], [0; 4]);
    input.read_exact(&mut key)?;
    input.read_exact(&mut length)?;
    let length = u64::from(u32::from_be_bytes(length));
    ensure!(length <= HEADER_BYTES_MAX, "a record claims {length} bytes");
    let mut value = Vec::new();
    input.take(length).read_to_end(&mut value)?;
    ensure!(value.len() as u64 == length, "the file of records ends too early");
    Ok(Some(Record { key: u64::from_be_bytes(key), value }))
}

/// Returns the number at the beginning of a file's name: seconds.
fn seconds(name: &OsStr) -> u64 {
    let digits = name.as_bytes().iter().take_while(|byte| byte.is_ascii_digit()).take(10);
    digits.fold(0, |number, &digit| number * 10 + u64::from(digit - b'0'))
}

/// Returns the fields of a message's header that a record holds.
fn header(path: &Path) -> Result<Vec<u8>> {
    let mut input = BufReader::new(File::open(path)?.take(HEADER_BYTES_MAX));
    let (mut record, mut line, mut is_kept) = (Vec::new(), Vec::new(), false);
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 || line.trim_ascii().is_empty() {
            return Ok(record);
        }
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            is_kept = FIELDS.iter().any(|field| {
                line.get(..field.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(field.as_bytes()))
            });
        }
        if is_kept {
            record.extend_from_slice(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_by_time_with_folded_fields() {
        let place = tempfile::tempdir().unwrap();
        for part in ["cur", "new"] {
            fs::create_dir(place.path().join(part)).unwrap();
        }
        let put = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
        put("cur/20.b:2,S", "Received: x\n\ty\nSubject: one\n two\nX-Other: z\nFROM: me\n\nSubject: body\n");
        put("new/3.a", "Subject: early");
        let file = place.path().join("records");
        assert_eq!(make(place.path(), &file).unwrap(), 2);
        let records: Vec<Record> = read(&file).unwrap().map(Result::unwrap).collect();
        let told: Vec<(u64, &[u8])> =
            records.iter().map(|record| (record.key >> NUMBER_BITS, record.value.as_slice())).collect();
        let expected: [(u64, &[u8]); 2] = [(3, b"Subject: early"), (20, b"Subject: one\n two\nFROM: me\n")];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_file_that_was_cut_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("records");
        write(&file, &[Record { key: 1, value: b"value".to_vec() }]).unwrap();
        let bytes = fs::read(&file).unwrap();
        for length in 1..bytes.len() {
            fs::write(&file, &bytes[..length]).unwrap();
            assert!(read(&file).unwrap().next().unwrap().is_err(), "{length}");
        }
    }
}
