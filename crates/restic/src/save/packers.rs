//! The packs that are being filled: two of each kind.
//!
//! Input: the kinds and lengths of blobs. Output: a pack for each, packs that are full and, at the end, the
//! rest. Does not see the blobs.
//!
//! Each blob goes into one of the two packs at random, as in restic. Otherwise somebody who sees the packs
//! and knows a file could tell from the order and lengths of its blobs where the file was cut, and from that
//! the polynomial (<https://github.com/restic/restic/pull/5295>).

use crate::format::blob::BlobKind;
use crate::format::pack::PackBuilder;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many packs of a kind are open at the same time.
const OPEN_COUNT: usize = 2;

/// A pack of trees is closed as soon as it has this many bytes, or earlier if all are. Trees are often all
/// that a backup writes, and few large packs would be written only after everything else is done.
const TREE_BYTES_MIN: usize = 4 << 20;

/// The open packs.
#[derive(Debug)]
pub(super) struct Packers {
    byte_count_min: usize,
    data: [Mutex<Option<PackBuilder>>; OPEN_COUNT],
    trees: [Mutex<Option<PackBuilder>>; OPEN_COUNT],
    /// Buffers of stored packs, for reuse. If each pack allocated new memory, a large backup would end with a
    /// third more, because freed buffers leave gaps.
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

    /// Calls `add` with the pack that the next blob of a kind goes into: one of the two, by `chance`, a
    /// random number. Returns that pack if it is full afterwards. A blob of the size of a pack gets one of
    /// its own, so that no pack grows far beyond its size.
    pub(super) fn fill(
        &self,
        (kind, blob_bytes): (BlobKind, usize),
        chance: u8,
        add: impl FnOnce(&mut PackBuilder),
    ) -> Option<PackBuilder> {
        let byte_count_min = self.byte_count_min(kind);
        if blob_bytes >= byte_count_min {
            let mut builder = PackBuilder::new(kind);
            add(&mut builder);
            return Some(builder);
        }
        let slots = match kind {
            BlobKind::Data => &self.data,
            BlobKind::Tree => &self.trees,
        };
        let mut slot = locked(&slots[usize::from(chance) % OPEN_COUNT]);
        add(slot.get_or_insert_with(|| PackBuilder::in_buffer(kind, self.buffer())));
        slot.take_if(|builder| builder.is_full() || builder.size() >= byte_count_min)
    }

    /// Takes back the buffer of a stored pack.
    pub(super) fn give_back(&self, buffer: Vec<u8>) {
        // A buffer that a very large blob needed is not kept. A buffer has at most twice the bytes it was
        // made for.
        if buffer.len() < 2 * self.byte_count_min {
            locked(&self.buffers).push(buffer);
        }
    }

    fn byte_count_min(&self, kind: BlobKind) -> usize {
        match kind {
            BlobKind::Data => self.byte_count_min,
            BlobKind::Tree => self.byte_count_min.min(TREE_BYTES_MIN),
        }
    }

    fn buffer(&self) -> Vec<u8> {
        locked(&self.buffers).pop().unwrap_or_default()
    }

    /// Returns the packs that are left; small ones of a kind are merged.
    pub(super) fn rest(&self) -> Vec<PackBuilder> {
        let mut rest = Vec::new();
        for (kind, slots) in [(BlobKind::Data, &self.data), (BlobKind::Tree, &self.trees)] {
            let mut packs: Vec<PackBuilder> = slots.iter().filter_map(|slot| locked(slot).take()).collect();
            let size: usize = packs.iter().map(PackBuilder::size).sum();
            if packs.len() == OPEN_COUNT && size < self.byte_count_min(kind) {
                let second = packs.remove(1);
                packs[0].append(&second);
            }
            rest.extend(packs);
        }
        rest
    }
}

/// A panic while a pack is filled poisons the whole saver before the pack can be stored.
fn locked<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
