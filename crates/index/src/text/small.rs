//! Small segments of text lie in the commit itself: a message that arrives alone costs neither a file nor the
//! two syncs that make one durable.
//!
//! Input: new segments, and the state that they are added to. Output: attachments of the transaction, one for
//! each slot, or a file for a segment that finds no free slot. A merge frees the slots of what it has merged.
//! Must not know what is in a segment.

use crate::environment::Environment;
use crate::error::Result;
use crate::state::{self, State, TextPlace, TextSegment};
use crate::text::directory::file_name;
use store::{Snapshot, Transaction};

/// How many segments may lie in a commit: twice as many as are merged at a time.
pub const TEXT_SLOTS: u8 = 16;

/// Returns the name of a slot's attachment.
pub(crate) fn slot_name(slot: u8) -> String {
    format!("text {slot}")
}

/// Makes new segments ready for a commit on top of `state`: those that do not find a free slot are written as
/// files, and the names of files are made durable.
///
/// # Errors
/// A full disk.
pub(crate) fn settle(
    environment: &Environment,
    state: &State,
    segments: &[TextSegment],
) -> Result<Vec<TextSegment>> {
    let (disk, directory) = (environment.disk.as_ref(), environment.text_directory());
    let mut free_count = free_slots(state).filter(|slot| *slot < environment.text_slots).count();
    let settled = segments.iter().map(|segment| match &segment.place {
        TextPlace::Commit { slot: None, .. } if free_count > 0 => {
            free_count -= 1;
            Ok(segment.clone())
        }
        TextPlace::Commit { slot: None, bytes } => {
            let mut file = disk.create(&directory.join(file_name(&segment.id)))?;
            file.write(bytes)?;
            file.sync()?;
            Ok(TextSegment { place: TextPlace::File, ..segment.clone() })
        }
        TextPlace::Commit { slot: Some(_), .. } | TextPlace::File => Ok(segment.clone()),
    });
    let settled = settled.collect::<Result<Vec<_>>>()?;
    if settled.iter().any(|segment| segment.place == TextPlace::File) {
        disk.sync_directory(&directory)?;
    }
    Ok(settled)
}

/// Adds the state to a transaction that is committed on top of `before`, with the attachments of its small
/// segments. Returns false, and adds nothing, if there are not enough free slots.
pub(crate) fn attach(before: &Snapshot, state: &mut State, transaction: &mut Transaction) -> bool {
    let mut free = free_slots(state).collect::<Vec<_>>().into_iter();
    let mut added = Vec::new();
    for segment in &mut state.text {
        if let TextPlace::Commit { slot: slot @ None, bytes } = &mut segment.place {
            *slot = free.next();
            let Some(slot) = *slot else { return false };
            added.push((slot_name(slot), bytes.to_vec()));
        }
    }
    // What a merge has taken need not be kept any longer.
    let is_held = |slot: &u8| before.attachment(&slot_name(*slot)).is_some_and(|bytes| !bytes.is_empty());
    added.extend(free.filter(is_held).map(|slot| (slot_name(slot), Vec::new())));
    transaction.attachments.extend(added);
    transaction.attachments.push((state::ATTACHMENT.into(), state::encode(state)));
    true
}

/// Returns the slots that no segment of `state` has.
fn free_slots(state: &State) -> impl Iterator<Item = u8> {
    let is_taken = |slot: u8| {
        state.text.iter().any(
            |segment| matches!(segment.place, TextPlace::Commit { slot: Some(taken), .. } if taken == slot),
        )
    };
    (0..TEXT_SLOTS).filter(move |slot| !is_taken(*slot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use store::Writer;

    fn small(slot: Option<u8>) -> TextSegment {
        let place = TextPlace::Commit { slot, bytes: [1].into() };
        TextSegment { id: "0".repeat(32), document_count: 1, digest: 1, place }
    }

    #[test]
    fn more_segments_than_free_slots_are_not_attached() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
        let writer = Writer::create(&disk, &place.path().join("store"), &[], Default::default()).unwrap();
        let before = writer.snapshot().unwrap();
        let taken = (1..TEXT_SLOTS).map(|slot| small(Some(slot)));
        let mut state = State { text: taken.collect(), ..State::default() };
        for (fits, slot) in [(true, Some(0)), (false, None)] {
            state.text.push(small(None));
            let mut transaction = Transaction::default();
            assert_eq!(attach(&before, &mut state, &mut transaction), fits);
            assert_eq!(state.text.last(), Some(&small(slot)));
            assert_eq!(transaction.is_empty(), !fits);
        }
    }
}
