//! Converts contents that only an archive has, as files are converted, on all cores.
//!
//! Input: archived contents, plain or compressed. Output: they are numbered, parsed and linked in a batch.
//! Does not know the archive.

use crate::archive::ArchivedFile;
use crate::error::Result;
use crate::pass::commit::contents::{Read, read_archived};
use crate::pass::commit::ingest::{Ingest, Parsed, Parsing, Task};
use crate::text::Documents;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::Snapshot;

/// Bytes of unpacked archived contents that are parsed together.
const UNPACKED_BYTES_MAX: usize = 32 << 20;
/// Fewest documents per thread. Fewer documents go into one segment of the text index.
const DOCUMENTS_PER_WRITER_MIN: usize = 64;

impl Ingest {
    /// Adds archived contents, and returns how many of them could not be unpacked. Known contents are
    /// skipped.
    ///
    /// # Errors
    /// A full disk, damage in the store.
    pub(in crate::pass) fn take(&mut self, snapshot: &Snapshot, kept: Vec<ArchivedFile>) -> Result<u64> {
        let (mut fresh, mut fresh_bytes, mut damaged) = (Vec::new(), 0, 0);
        let mut kept = kept.into_iter().peekable();
        // A small compressed content may unpack to a large one, so only as many are unpacked at once as there
        // are cores.
        while kept.peek().is_some() {
            let some: Vec<ArchivedFile> = kept.by_ref().take(rayon::current_num_threads()).collect();
            let manner = self.manner(&|_| false);
            let read = |kept: ArchivedFile| (kept.named_seconds, read_archived(kept, &manner));
            let reads: Vec<(Option<i64>, Option<Read>)> = some.into_par_iter().map(read).collect();
            for (named_seconds, read) in reads {
                let Some(read) = read else {
                    damaged += 1;
                    continue;
                };
                let (number, is_new) = self.number(snapshot, read.sha256)?;
                self.named.note_seconds(number, named_seconds);
                if is_new {
                    fresh_bytes += read.content.bytes.len();
                    fresh.push((number, read));
                }
            }
            if fresh_bytes >= UNPACKED_BYTES_MAX || kept.peek().is_none() {
                self.parse_all(std::mem::take(&mut fresh))?;
                fresh_bytes = 0;
            }
        }
        Ok(damaged)
    }

    /// Parses new messages, writes their text, on all cores, and links them.
    fn parse_all(&mut self, fresh: Task) -> Result<()> {
        let parsing = Parsing { now_seconds: self.now_seconds, headers: &self.headers };
        let next = AtomicUsize::new(0);
        let count = (fresh.len() / DOCUMENTS_PER_WRITER_MIN + 1).min(self.writers.len());
        let work = |writer: &mut Box<dyn Documents>| -> Result<Vec<Parsed>> {
            let mut parsed = Vec::new();
            while let Some((number, read)) = fresh.get(next.fetch_add(1, Ordering::Relaxed)) {
                parsed.push(parsing.parse(*number, read, writer.as_mut())?);
            }
            Ok(parsed)
        };
        let results: Vec<_> = self.writers[..count].par_iter_mut().map(work).collect();
        for result in results {
            self.accept(result?)?;
        }
        Ok(())
    }
}
