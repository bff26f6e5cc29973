//! The index file that restic's own benchmark decodes, decoded on one core.
//!
//! Comes in: its JSON. Goes out: lines. Must not know who measures.

use anyhow::{Context, Result, ensure};
use archive::{FileKind, FileName, Id, index_file};
use measure::told;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// What the job says that it did.
pub const DECODED: &str = "archive: decode of the index file of BenchmarkDecodeIndex";

/// Entries of that file, about: what restic's generator makes of 200,000 packs.
pub const DECODED_COUNT: u64 = 1_730_000;

/// Decodes the file, and says what it took.
pub(super) fn decode(path: &Path, about: u64) -> Result<()> {
    let json = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = FileName { kind: FileKind::Index, id: Id::default() };
    let (mut count, mut sum) = (0_u64, 0_u64);
    let begin = Instant::now();
    index_file::scan(name, &json, |_, blobs| {
        count += blobs.len() as u64;
        sum += blobs.iter().map(|blob| u64::from(blob.offset) + u64::from(blob.length)).sum::<u64>();
        Ok(())
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    std::hint::black_box(sum);
    ensure!(count.abs_diff(about) < about / 100, "{count} entries were decoded, expected about {about}");
    let note = format!("; {:.0} MB/s", json.len() as f64 / seconds / 1e6);
    Ok(writeln!(std::io::stdout(), "{}", told::line(DECODED, "", &note, seconds, count))?)
}
