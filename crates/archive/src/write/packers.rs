//! The packs that are being filled: two of each kind.
//!
//! Comes in: sealed blobs. Goes out: packs that are full, and in the end the rest. Must not know where packs are stored.
//!
//! A blob goes into one of two packs by chance, as restic does: whoever sees the packs and knows a file could otherwise tell from the
//! order and the lengths of its blobs where it was cut, and from that the polynomial that cuts files
//! (<https://github.com/restic/restic/pull/5295>).

use super::sealing::SealedBlob;
use crate::blob::BlobKind;
use crate::pack::PackBuilder;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many packs of a kind are open at the same time.
const OPEN_COUNT: usize = 2;

/// The open packs.
#[derive(Debug)]
pub(super) struct Packers {
    byte_count_min: usize,
    data: [Mutex<Option<PackBuilder>>; OPEN_COUNT],
    trees: [Mutex<Option<PackBuilder>>; OPEN_COUNT],
    /// What stored packs lay in, for the next ones: where each pack takes new memory, a large backup ends with a third more, since what is
    /// given back leaves gaps between what stays.
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Packers {
    /// Returns packers that close a pack as soon as it has `byte_count_min` bytes.
    pub(super) fn new(byte_count_min: usize) -> Packers {
        Packers {
            byte_count_min,
            data: Default::default(),
            trees: Default::default(),
            buffers: Mutex::default(),
        }
    }

    /// Adds a blob to a pack; returns that pack if it is full now.
    pub(super) fn add(&self, blob: &SealedBlob<'_>) -> Option<PackBuilder> {
        if blob.sealed.len() >= self.byte_count_min {
            // One of its own, so that none grows far beyond what it should have.
            let mut builder = PackBuilder::new(blob.kind);
            builder.add(blob.id, blob.sealed, blob.uncompressed_length);
            return Some(builder);
        }
        let mut slot = self.slot(blob);
        let builder = slot.get_or_insert_with(|| PackBuilder::in_buffer(blob.kind, self.buffer()));
        builder.add(blob.id, blob.sealed, blob.uncompressed_length);
        slot.take_if(|builder| builder.is_full() || builder.size() >= self.byte_count_min)
    }

    /// Takes back what a pack lay in that is stored.
    pub(super) fn give_back(&self, buffer: Vec<u8>) {
        // One that a very large blob needed is not kept. A buffer has at most twice the bytes that it was made for.
        if buffer.len() < 2 * self.byte_count_min {
            locked(&self.buffers).push(buffer);
        }
    }

    fn buffer(&self) -> Vec<u8> {
        locked(&self.buffers).pop().unwrap_or_default()
    }

    /// Returns what is left, small packs of a kind together.
    pub(super) fn rest(&self) -> Vec<PackBuilder> {
        let mut rest = Vec::new();
        for slots in [&self.data, &self.trees] {
            let mut packs: Vec<PackBuilder> = slots.iter().filter_map(|slot| locked(slot).take()).collect();
            let size: usize = packs.iter().map(PackBuilder::size).sum();
            if packs.len() == OPEN_COUNT && size < self.byte_count_min {
                let second = packs.remove(1);
                packs[0].append(&second);
            }
            rest.extend(packs);
        }
        rest
    }

    fn slot(&self, blob: &SealedBlob<'_>) -> MutexGuard<'_, Option<PackBuilder>> {
        let slots = match blob.kind {
            BlobKind::Data => &self.data,
            BlobKind::Tree => &self.trees,
        };
        // Sealed bytes begin with a nonce that nobody can foresee, and that everybody may see.
        let chance = blob.sealed.first().map_or(0, |&byte| usize::from(byte));
        locked(&slots[chance % OPEN_COUNT])
    }
}

/// A thread that panicked while it filled a pack poisons the whole saver before anybody can store that pack.
fn locked<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
