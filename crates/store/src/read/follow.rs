//! Brings a state up to date by what its journal got since, if its manifest is still the newest one.
//!
//! Input: a state that this process has open, and the bytes of the newest manifest. Output: the newest state,
//! or nothing if it must be opened as a whole. Takes no lock and writes nothing.
//!
//! The journal of a manifest only grows, so its last known record is enough to recognise it. Two things break
//! this rule: a disk that fails to sync a record may lose it, and an older copy of the store may be put back.
//! Then another record, or none, stands there.

use crate::commit::journal::{self, JournalContents};
use crate::file::names;
use crate::format::JOURNAL_VERSION;
use crate::limits::JOURNAL_BYTES_MAX;
use crate::read::state::State;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// By what the files of a state are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// XXH3 of the manifest's bytes.
    manifest: u128,
    /// Where the journal's last record begins; 0, where its head does, if there is none.
    record_offset: u64,
    /// XXH3 of the journal's bytes from there to the end of the record.
    record: u128,
}

impl Marks {
    /// Returns the marks of a manifest and its journal, as they were read or written.
    pub(crate) fn new(manifest: &[u8], journal: &[u8], contents: &JournalContents) -> Marks {
        let record_offset = contents.last_offset.unwrap_or(0);
        let record = xxh3_128(range(journal, record_offset, contents.valid_bytes).unwrap_or_default());
        Marks { manifest: xxh3_128(manifest), record_offset, record }
    }

    /// Marks a record that was written at the end of the journal.
    pub(crate) fn add_record(&mut self, offset: u64, bytes: &[u8]) {
        self.record_offset = offset;
        self.record = xxh3_128(bytes);
    }
}

/// Returns the newest state, if `manifest` is that of `known`, and the journal goes on where `known` ends.
/// Whatever is wrong with the files is found when they are opened as a whole.
pub(crate) fn follow(known: &Arc<State>, manifest: &[u8]) -> Option<Arc<State>> {
    let Marks { record_offset, record, .. } = known.marks;
    let identity = known.journal_identity();
    if identity.version != JOURNAL_VERSION || xxh3_128(manifest) != known.marks.manifest {
        return None;
    }
    let path = known.directory.join(names::journal(known.manifest.number));
    let file_bytes = known.disk.size(&path).ok().filter(|bytes| *bytes <= JOURNAL_BYTES_MAX)?;
    let length = usize::try_from(file_bytes.checked_sub(record_offset)?).ok()?;
    let bytes = known.disk.read_range(&path, record_offset, length).ok()?;
    let known_length = known.journal_bytes.checked_sub(record_offset)?;
    let (last, new) = bytes.split_at_checked(usize::try_from(known_length).ok()?)?;
    if xxh3_128(last) != record {
        return None;
    }
    let place = (known.journal_bytes, new);
    if new.is_empty() && known.torn_bytes == 0 {
        return Some(Arc::clone(known));
    }
    let mut state = State::clone(known);
    let (journal, schemas) = ((identity.seed, known.sequence), known.schemas());
    let read = journal::read_on(&path, place, journal, &schemas, &mut |record| state.apply(record)).ok()?;
    if let Some(offset) = read.last_offset {
        let start = offset.checked_sub(known.journal_bytes)?;
        let bytes = range(new, start, read.valid_bytes.checked_sub(known.journal_bytes)?)?;
        state.marks.add_record(offset, bytes);
    }
    state.journal_bytes = read.valid_bytes;
    state.torn_bytes = read.torn_bytes;
    Some(Arc::new(state))
}

fn range(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}
