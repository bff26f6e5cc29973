//! The index file that restic's own benchmark decodes, decoded on one core.
//!
//! Comes in: its JSON. Goes out: lines. Must not know who measures.

use crate::engine::MARK;
use anyhow::{Context, Result, ensure};
use archive::{FileKind, FileName, Id, index_file};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// What the job says that it did.
pub(super) const NAME: &str = "archive: decode of the index file of BenchmarkDecodeIndex";

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
    writeln!(std::io::stdout(), "{MARK}{NAME}\t\t{note}\t{seconds:.9}\t{count}")?;
    Ok(())
}
