//! Decodes index files of a repository on one core: in restic's form, and in a form that no program writes.
//!
//! Input: the number of rounds. Output: lines. Does not know who measures.

use anyhow::{Result, ensure};
use measure::told;
use restic::index_file::{self, BLOB_COUNT_FULL, IndexFileWriter};
use restic::{BlobKind, FileKind, FileName, Id, PackedBlob};
use std::io::Write;
use std::time::Instant;
use testkit::Random;

/// Enough index files to exceed all caches of the processor.
const FILE_COUNT: u64 = 20;
/// Blobs of a pack.
const PACK_BLOBS: usize = 100;

/// Measures both.
pub(super) fn measure(rounds: usize) -> Result<()> {
    let files: Vec<Vec<u8>> = (0..FILE_COUNT).map(file).collect();
    let spaced: Vec<Vec<u8>> = files.iter().map(|json| spaced(json)).collect();
    let count = FILE_COUNT * BLOB_COUNT_FULL as u64;
    for round in 0..=rounds {
        for (files, how, goal) in
            [(&files, "index files", "<= 400 ns an entry"), (&spaced, "index files with spaces", "")]
        {
            let begin = Instant::now();
            let mut found = Found::default();
            for json in files {
                decode(json, &mut found)?;
            }
            let seconds = begin.elapsed().as_secs_f64();
            ensure!(found.blob_count == count, "{} of {count} blobs were decoded", found.blob_count);
            let bytes: usize = files.iter().map(Vec::len).sum();
            let note = format!("; {:.0} MB/s", bytes as f64 / seconds / 1e6);
            if round > 0 {
                let line = told::line(format!("archive: decode of {how}"), goal, &note, seconds, count);
                writeln!(std::io::stdout(), "{line}")?;
            }
        }
    }
    Ok(())
}

/// What makes sure that everything was decoded.
#[derive(Default)]
struct Found {
    blob_count: u64,
    sum: u64,
}

fn decode(json: &[u8], found: &mut Found) -> Result<()> {
    let name = FileName { kind: FileKind::Index, id: Id::default() };
    index_file::scan(name, json, |_, blobs| {
        found.blob_count += blobs.len() as u64;
        let sum =
            |blob: &PackedBlob| u64::from(blob.offset) + u64::from(blob.length) + u64::from(blob.id.0[31]);
        found.sum += blobs.iter().map(sum).sum::<u64>();
        Ok(())
    })?;
    std::hint::black_box(found.sum);
    Ok(())
}

/// Makes an index file of random ids, with the lengths of usual messages.
fn file(number: u64) -> Vec<u8> {
    let mut random = Random::of(4711, 2, number);
    let id = |random: &mut Random| {
        let mut id = Id::default();
        random.fill(&mut id.0);
        id
    };
    let mut writer = IndexFileWriter::default();
    while writer.blob_count() < BLOB_COUNT_FULL {
        let pack = id(&mut random);
        let mut offset = 0;
        let mut blobs = Vec::with_capacity(PACK_BLOBS);
        for _ in 0..PACK_BLOBS {
            let length = u32::try_from(random.between(100, 330_000)).unwrap_or(u32::MAX);
            let id = id(&mut random);
            blobs.push(PackedBlob {
                kind: BlobKind::Data,
                id,
                offset,
                length,
                uncompressed_length: length * 3,
            });
            offset += length;
        }
        writer.add(&pack, &blobs);
    }
    writer.finish()
}

/// Inserts a space after each comma, so that no blob is in restic's form.
fn spaced(json: &[u8]) -> Vec<u8> {
    let mut spaced = Vec::with_capacity(json.len() * 11 / 10);
    for piece in json.split_inclusive(|byte| *byte == b',') {
        spaced.extend_from_slice(piece);
        spaced.push(b' ');
    }
    spaced
}
