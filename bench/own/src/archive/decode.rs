//! The index file that restic's own benchmark decodes, on one core: only read, and turned into an index that
//! answers, as in restic.
//!
//! Input: its JSON. Output: lines. Does not know who measures.

use anyhow::{Context, Result, ensure};
use measure::told;
use restic::testing::surroundings;
use restic::{BlobIndex, BlobKind, Error, FileKind, FileName, Id, IndexFiles, index_file};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use work::Silent;

/// Name of the first line: the least work of any decoder.
pub const BYTES_TOUCHED: &str = "archive: all bytes of the index file of BenchmarkDecodeIndex, added up";
/// Name of the second line.
pub const SCANNED: &str = "archive: scan of the index file of BenchmarkDecodeIndex, nothing kept";
/// Name of the third line.
pub const DECODED: &str =
    "archive: decode of the index file of BenchmarkDecodeIndex into an index that answers";

/// The approximate number of entries of that file: restic's generator makes 200,000 packs.
pub const DECODED_COUNT: u64 = 1_730_000;

/// The only index file, in memory. It is handed out once.
#[derive(Debug)]
struct OneFile(Mutex<Option<Vec<u8>>>);

impl IndexFiles for OneFile {
    fn list(&self) -> restic::Result<Vec<(Id, u64)>> {
        let json = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(vec![(Id::default(), json.as_ref().map_or(0, |json| json.len() as u64))])
    }

    fn read(&self, id: Id) -> restic::Result<Vec<u8>> {
        let json = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let file = FileName { kind: FileKind::Index, id };
        json.ok_or_else(|| Error::Missing { file, address: "the memory of a measurement".to_owned() })
    }
}

/// Adds up the bytes of the file, scans it, then makes an index of it, and prints the time of each.
pub(super) fn decode(path: &Path, about: u64) -> Result<()> {
    let json = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let megabytes = json.len() as f64 / 1e6;
    let tell = |name: &str, seconds: f64, count: u64| {
        let note = format!("; {:.0} MB/s", megabytes / seconds);
        writeln!(std::io::stdout(), "{}", told::line(name, "", &note, seconds, count))
    };
    let begin = Instant::now();
    let added = json.iter().fold(0_u64, |sum, byte| sum.wrapping_add(u64::from(*byte)));
    let touched_seconds = begin.elapsed().as_secs_f64();
    std::hint::black_box(added);
    let name = FileName { kind: FileKind::Index, id: Id::default() };
    let (mut count, mut sum, mut last) = (0_u64, 0_u64, None);
    let begin = Instant::now();
    index_file::scan(name, &json, |_, blobs| {
        count += blobs.len() as u64;
        sum += blobs.iter().map(|blob| u64::from(blob.offset) + u64::from(blob.length)).sum::<u64>();
        last = blobs.last().map(|blob| (blob.kind, blob.id)).or(last);
        Ok(())
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    std::hint::black_box(sum);
    ensure!(count.abs_diff(about) < about / 100, "{count} entries were decoded, expected about {about}");
    tell(BYTES_TOUCHED, touched_seconds, count)?;
    tell(SCANNED, seconds, count)?;
    let files: Arc<dyn IndexFiles> = Arc::new(OneFile(Mutex::new(Some(json))));
    let begin = Instant::now();
    let index = on_one_thread(&files)?;
    let seconds = begin.elapsed().as_secs_f64();
    let (kind, id) = last.context("the file has no entry")?;
    ensure!(index.has(kind, &id)? && !index.has(BlobKind::Data, &Id::default())?, "another blob is there");
    ensure!(u64::from(index.survey()?.entry_count()) == count, "the index does not have {count} entries");
    Ok(tell(DECODED, seconds, count)?)
}

/// Makes an index in memory of index files, on one thread.
pub(super) fn on_one_thread(files: &Arc<dyn IndexFiles>) -> Result<BlobIndex> {
    let mut surroundings = surroundings();
    surroundings.context.threads = work::Threads::Exactly(1);
    Ok(BlobIndex::load(files, None, &surroundings, &Silent)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use restic::PackedBlob;
    use restic::index_file::IndexFileWriter;

    #[test]
    fn an_index_is_made_of_one_file_that_is_read_once() {
        let mut writer = IndexFileWriter::default();
        let id = Id([7; 32]);
        let blob = PackedBlob { kind: BlobKind::Tree, id, offset: 0, length: 50, uncompressed_length: 100 };
        writer.add(&Id([1; 32]), &[blob]);
        let files: Arc<dyn IndexFiles> = Arc::new(OneFile(Mutex::new(Some(writer.finish()))));
        let index = on_one_thread(&files).unwrap();
        assert!(index.has(BlobKind::Tree, &id).unwrap() && !index.has(BlobKind::Data, &id).unwrap());
        assert!(matches!(files.read(Id::default()), Err(Error::Missing { .. })));
    }
}
