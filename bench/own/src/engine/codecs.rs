//! Header records with each codec: writing them, reading all of them, reading a few scattered ones, and their
//! size.
//!
//! Input: generated mail. Output: lines. Does not know who measures.

use super::job;
use super::job::tell_line;
use anyhow::{Context, Result};
use disk::RealDisk;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use store::{Codec, Column, Form, Kind, Order, PayloadReader, Rows, Schema, Segment, Value, write_segment};
use testkit::Random;

/// Records.
const RECORD_COUNT: u32 = 200_000;
/// Scattered records to read.
const SCATTERED_COUNT: u64 = 10_000;

/// Header fields that a record holds.
const FIELDS: [&str; 7] = ["from:", "to:", "cc:", "subject:", "date:", "message-id:", "references:"];

/// Returns the records of a Maildir: the fields that a list of messages shows, and a few more.
fn records(mail: &Path) -> Result<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    let mut directories = vec![mail.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries =
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?;
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                directories.push(entry.path());
            } else if records.len() < RECORD_COUNT as usize {
                records.push(record(&fs::read(entry.path())?));
            }
        }
    }
    Ok(records)
}

fn record(message: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    let mut is_kept = false;
    for line in
        message.split_inclusive(|byte| *byte == b'\n').take_while(|line| !line.trim_ascii().is_empty())
    {
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let begins = |field: &str| {
                line.get(..field.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(field.as_bytes()))
            };
            is_kept = FIELDS.iter().any(|field| begins(field));
        }
        if is_kept {
            record.extend_from_slice(line);
        }
    }
    record
}

fn codecs() -> Vec<(String, Codec)> {
    let mut codecs = vec![("none".to_owned(), Codec::None)];
    for block_bytes in [0, 4 << 10, 16 << 10, 64 << 10, 256 << 10] {
        let how = if block_bytes == 0 {
            "row by row".to_owned()
        } else {
            format!("blocks of {} KiB", block_bytes >> 10)
        };
        codecs.push((format!("lz4, {how}"), Codec::Lz4 { block_bytes }));
        codecs.push((format!("zstd 3, {how}"), Codec::Zstd { level: 3, block_bytes }));
    }
    for dictionary_bytes in [16 << 10, 64 << 10, 110 << 10] {
        for block_bytes in [0, 1 << 10, 4 << 10, 16 << 10] {
            let how = if block_bytes == 0 {
                "row by row".to_owned()
            } else {
                format!("blocks of {} KiB", block_bytes >> 10)
            };
            let name = format!("zstd 3 with a dictionary of {} KiB, {how}", dictionary_bytes >> 10);
            codecs.push((name, Codec::ZstdDictionary { level: 3, dictionary_bytes, block_bytes }));
        }
    }
    codecs
}

/// Measures all codecs.
pub(super) fn measure(directory: &Path, mail: &Path, rounds: usize) -> Result<()> {
    let records = records(mail)?;
    let raw_bytes: usize = records.iter().map(Vec::len).sum();
    let path = directory.join("records.seg");
    for round in 0..=rounds {
        for (name, codec) in codecs() {
            let column = |name: &str, kind| Column { name: name.into(), kind };
            let schema = Arc::new(Schema {
                name: "records".into(),
                columns: vec![column("number", Kind::U32), column("record", Kind::Payload(codec))],
                primary: vec![0],
                indexes: Vec::new(),
            });
            let mut rows = Rows::new(&schema);
            for (number, record) in (0..).zip(&records) {
                rows.push(&[Value::U32(number), Value::Bytes(record)])?;
            }
            job::remove(&path)?;
            let begin = Instant::now();
            let written = write_segment(&RealDisk, &path, &schema, &[&rows], (Order::AsIs, Form::Plain))?;
            let init = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            let segment = Segment::open(&RealDisk, &path, &schema)?;
            let mut reader = PayloadReader::new();
            let mut total = 0;
            for row in 0..segment.row_count() {
                total += segment.payload(1, row, &mut reader)?.len();
            }
            anyhow::ensure!(total == raw_bytes, "{total} bytes came back of {raw_bytes}");
            let reload = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            let mut reader = PayloadReader::new();
            let mut random = Random::new(round as u64);
            for _ in 0..SCATTERED_COUNT {
                let row = u32::try_from(random.below(u64::from(segment.row_count())))?;
                std::hint::black_box(segment.payload(1, row, &mut reader)?.len());
            }
            let scattered = begin.elapsed().as_secs_f64();
            if round > 0 {
                let count = records.len() as u64;
                let size = format!(
                    "; {} bytes, ratio {:.2}",
                    written.file_bytes,
                    raw_bytes as f64 / written.file_bytes as f64
                );
                tell_line(&format!("{count} header records, {name}: write"), "", init, count, &size)?;
                tell_line(&format!("{count} header records, {name}: read all"), "", reload, count, "")?;
                tell_line(
                    &format!("{count} header records, {name}: read 10,000 anywhere"),
                    "",
                    scattered,
                    SCATTERED_COUNT,
                    "",
                )?;
            }
        }
    }
    Ok(())
}
