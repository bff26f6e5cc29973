//! Brings a state up to date by what its journal got since, if its manifest is still the newest one.
//!
//! Input: a state that this process has open, and the bytes of the newest manifest. Output: the newest state,
//! or nothing if it must be opened as a whole. Takes no lock and writes nothing.
//!
//! What is wrong with the files is not said here: it is found when they are opened as a whole.

use crate::commit::journal;
use crate::file::names;
use crate::format::JOURNAL_VERSION;
use crate::limits::JOURNAL_BYTES_MAX;
use crate::read::marks::range;
use crate::read::state::State;
use std::sync::Arc;

/// Returns the newest state, if `manifest` is that of `known`, and the journal goes on where `known` ends.
/// Whatever is wrong with the files is found when they are opened as a whole.
pub(crate) fn follow(known: &Arc<State>, manifest: &[u8]) -> Option<Arc<State>> {
    let marks = known.marks;
    let identity = known.journal_identity();
    if identity.version != JOURNAL_VERSION || !marks.is_manifest(manifest) {
        return None;
    }
    let path = known.directory.join(names::journal(known.manifest.number));
    let file_bytes = known.disk.size(&path).ok().filter(|bytes| *bytes <= JOURNAL_BYTES_MAX)?;
    let length = usize::try_from(file_bytes.checked_sub(marks.record_offset)?).ok()?;
    let bytes = known.disk.read_range(&path, marks.record_offset, length).ok()?;
    let known_length = known.journal_bytes.checked_sub(marks.record_offset)?;
    let (last, new) = bytes.split_at_checked(usize::try_from(known_length).ok()?)?;
    if !marks.is_record(last) {
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
