//! Converts contents that only an archive has, as files are converted, on all cores.
//!
//! Input: archived contents, plain or compressed. Output: they are numbered and parsed, ready to be
//! published. Does not know the archive.

use crate::archive::ArchivedFile;
use crate::environment::{Environment, present_for_dates};
use crate::error::Result;
use crate::pass::commit::contents::{Manner, Read, read_archived};
use crate::pass::commit::dates::NamedDates;
use crate::pass::commit::findings::{Claim, Findings};
use crate::pass::commit::number::Numbers;
use crate::pass::commit::parse::{Parsed, Parsing, Task};
use crate::pass::options::UpdateOptions;
use crate::text::{self, Documents};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use work::Progress;

/// Bytes of unpacked archived contents that are parsed together.
const UNPACKED_BYTES_MAX: usize = 32 << 20;
/// Fewest documents per thread. Fewer documents go into one segment of the text index.
const DOCUMENTS_PER_WRITER_MIN: usize = 64;

/// A batch of archived contents.
pub(in crate::pass) struct Archived<'a> {
    environment: &'a Environment,
    options: &'a UpdateOptions,
    observer: &'a dyn Progress,
    now_seconds: i64,
    /// Writers of text, one for each thread that was needed so far.
    writers: Vec<Box<dyn Documents>>,
    messages: Vec<Parsed>,
    /// Dates in the names that the files had.
    named: NamedDates,
}

impl<'a> Archived<'a> {
    /// Begins a batch.
    pub(in crate::pass) fn new(
        environment: &'a Environment,
        (options, observer): (&'a UpdateOptions, &'a dyn Progress),
    ) -> Archived<'a> {
        Archived {
            environment,
            options,
            observer,
            now_seconds: present_for_dates(environment.now_seconds()),
            writers: Vec::new(),
            messages: Vec::new(),
            named: NamedDates::default(),
        }
    }

    /// Adds archived contents, and returns how many of them could not be unpacked. Known contents are
    /// skipped.
    ///
    /// # Errors
    /// A full disk, damage in the store.
    pub(in crate::pass) fn take(&mut self, numbers: &mut Numbers, kept: Vec<ArchivedFile>) -> Result<u64> {
        let (mut fresh, mut fresh_bytes, mut damaged) = (Vec::new(), 0, 0);
        let mut kept = kept.into_iter().peekable();
        // A small compressed content may unpack to a large one, so only as many are unpacked at once as
        // there are cores.
        while kept.peek().is_some() {
            let some: Vec<ArchivedFile> = kept.by_ref().take(rayon::current_num_threads()).collect();
            let manner = Manner {
                limit_bytes: self.options.message_bytes_max,
                now_seconds: self.now_seconds,
                headers: &self.options.headers,
                is_known: &|_| false,
                attached: self.options.asking(self.observer),
            };
            let read = |kept: ArchivedFile| (kept.named_seconds, read_archived(kept, &manner));
            let reads: Vec<(Option<i64>, Option<Read>)> = some.into_par_iter().map(read).collect();
            for (named_seconds, read) in reads {
                let Some(read) = read else {
                    damaged += 1;
                    continue;
                };
                let (number, is_new) = numbers.number(read.sha256)?;
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

    /// Returns what is to be published.
    ///
    /// # Errors
    /// A full disk.
    pub(in crate::pass) fn finish(self) -> Result<Findings> {
        let Archived { writers, mut messages, named, .. } = self;
        let finished: Vec<_> = writers.into_par_iter().map(Documents::finish).collect();
        let mut text = Vec::new();
        for segments in finished {
            text.extend(segments?);
        }
        messages.sort_unstable_by_key(|message| message.number);
        Ok(Findings { messages, text, named, are_absent: true, ..Findings::none(Claim::Granted) })
    }

    /// Parses new messages and writes their text, on all cores.
    fn parse_all(&mut self, fresh: Task) -> Result<()> {
        let attached = self.options.asking(self.observer);
        let parsing = Parsing { now_seconds: self.now_seconds, headers: &self.options.headers, attached };
        let next = AtomicUsize::new(0);
        let thread_count = self.environment.context.threads.count();
        let count = (fresh.len() / DOCUMENTS_PER_WRITER_MIN + 1).min(thread_count);
        while self.writers.len() < count {
            let (disk, directory) = (&self.environment.disk, self.environment.text_directory());
            self.writers.push(text::writer(disk, &directory, thread_count));
        }
        let work = |writer: &mut Box<dyn Documents>| -> Result<Vec<Parsed>> {
            let mut parsed = Vec::new();
            while let Some((number, read)) = fresh.get(next.fetch_add(1, Ordering::Relaxed)) {
                parsed.push(parsing.parse(*number, read, writer.as_mut())?);
            }
            Ok(parsed)
        };
        let results: Vec<_> = self.writers[..count].par_iter_mut().map(work).collect();
        for result in results {
            self.messages.extend(result?);
        }
        Ok(())
    }
}
