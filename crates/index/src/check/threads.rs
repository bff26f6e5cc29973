//! Checks that messages and `threads` agree: every node has a row, every message has the node of its
//! Message-ID, and every copy has the same hashes as the first of its group.
//!
//! Input: a snapshot. Output: sentences. Writes nothing.

use crate::edges::{Grouping, LATE};
use crate::error::Result;
use crate::tables::{NO_NODE, copies, messages, threads};
use std::collections::HashMap;
use store::Snapshot;

/// Calls `damage` for every disagreement. Nodes have numbers below `node_count`.
///
/// # Errors
/// Damage in the store.
pub(super) fn agree(snapshot: &Snapshot, node_count: u32, damage: &mut impl FnMut(String)) -> Result<()> {
    let hashes = nodes(snapshot, node_count, damage)?;
    let mut firsts = firsts(snapshot)?;
    let mut seen: HashMap<u32, [u64; 3]> = HashMap::new();
    for part in snapshot.table(messages::TABLE)?.parts() {
        for row in part.live_rows() {
            let number = part.u32_at(messages::NUMBER, row)?;
            let hash = part.u64_at(messages::MESSAGE_ID_HASH, row)?;
            let node = part.u32_at(messages::NODE, row)?;
            let parent = part.u32_at(messages::PARENT, row)?;
            if hashes.get(node as usize) != Some(&Some(hash)) {
                damage(format!("message {number} has node {node}, which is not that of its Message-ID"));
            }
            if parent != NO_NODE && parent >= node_count {
                damage(format!("message {number} answers node {parent}, which has no row"));
            }
            if let Some(first) = firsts.remove(&number) {
                let low = part.u64_at(messages::COPY_HASH_LOW, row)?;
                let high = part.u64_at(messages::COPY_HASH_HIGH, row)?;
                // All messages of a group must have the same hashes. The first one may be swept.
                if *seen.entry(first).or_insert([hash, low, high]) != [hash, low, high] {
                    damage(format!("message {number} is marked a copy of message {first}, and is another"));
                }
            }
        }
    }
    // The first message of a group has no row in `copies`, and may be swept.
    for (number, first) in firsts.into_iter().filter(|(number, first)| number != first) {
        damage(format!("message {number} is marked a copy of message {first}, and has no row"));
    }
    Ok(())
}

/// Returns the first message of its group for every message in one, including first messages.
fn firsts(snapshot: &Snapshot) -> Result<HashMap<u32, u32>> {
    let mut firsts = HashMap::new();
    for part in snapshot.table(copies::TABLE)?.parts() {
        for row in part.live_rows() {
            let first = part.u32_at(copies::FIRST, row)?;
            firsts.insert(first, first);
            firsts.insert(part.u32_at(copies::NUMBER, row)?, first);
        }
    }
    Ok(firsts)
}

/// Returns the hashes of all nodes.
fn nodes(snapshot: &Snapshot, node_count: u32, damage: &mut impl FnMut(String)) -> Result<Vec<Option<u64>>> {
    let mut hashes = vec![None; node_count as usize];
    for part in snapshot.table(threads::TABLE)?.parts() {
        for row in part.live_rows() {
            let node = part.u32_at(threads::NODE, row)?;
            let above = part.u32_at(threads::ABOVE, row)?;
            match hashes.get_mut(node as usize) {
                Some(slot) => *slot = Some(part.u64_at(threads::MESSAGE_ID_HASH, row)?),
                None => damage(format!("node {node} of a thread is not numbered below {node_count}")),
            }
            if Grouping::Conversations.above(node, above).is_none() {
                let above = above & !LATE;
                damage(format!("node {node} of a thread stands below {above}, whose number is not lower"));
            }
        }
    }
    for (node, hash) in hashes.iter().enumerate() {
        if hash.is_none() {
            damage(format!("node {node} of a thread has no row"));
        }
    }
    Ok(hashes)
}
