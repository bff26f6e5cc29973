//! Which segments of the text index were looked at for attachments, so that they are not opened again.
//!
//! Input and output: the bytes of the store's attachment `attachments`, which docs/FORMAT.md describes. What
//! is missing or not understood counts as not looked at. Must not know what is in segments.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::record::{bytes, count, put_bytes, put_count};
use crate::text::TextMerge;
use std::collections::BTreeSet;
use store::{Snapshot, Transaction};

/// The attachment's name.
const ATTACHMENT: &str = "attachments";
/// First bytes of the attachment.
const MAGIC: [u8; 8] = *b"PNEUATTS";
/// Version of the attachment.
const VERSION: u32 = 1;

/// The segments whose messages were all looked at, for these filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::pass) struct Looked {
    /// The names of the filters.
    pub filters: BTreeSet<String>,
    /// The ids of the segments.
    pub segments: BTreeSet<String>,
}

impl Looked {
    /// Returns what a commit says.
    pub(in crate::pass) fn of(snapshot: &Snapshot) -> Looked {
        snapshot.attachment(ATTACHMENT).and_then(decode).unwrap_or_default()
    }

    /// Adds it to a commit.
    pub(in crate::pass) fn add_to(&self, transaction: &mut Transaction) {
        transaction.attachments.push((ATTACHMENT.into(), encode(self)));
    }

    /// Returns what is true after an exchange of segments: if all of the old ones were looked at, so were the
    /// new ones.
    pub(in crate::pass) fn after(&self, merged: &TextMerge) -> Looked {
        let mut after = self.clone();
        let removed = merged.old.iter().filter(|id| after.segments.remove(*id)).count();
        if removed == merged.old.len() {
            after.segments.extend(merged.new.iter().map(|segment| segment.id.clone()));
        }
        after
    }
}

fn encode(looked: &Looked) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&VERSION.to_le_bytes());
    for list in [&looked.filters, &looked.segments] {
        put_count(&mut out, list.len());
        list.iter().for_each(|text| put_bytes(&mut out, text.as_bytes()));
    }
    out
}

fn decode(input: &[u8]) -> Option<Looked> {
    let mut input = input.strip_prefix(&MAGIC)?.strip_prefix(&VERSION.to_le_bytes())?;
    let input = &mut input;
    let (filters, segments) = (texts(input)?, texts(input)?);
    input.is_empty().then_some(Looked { filters, segments })
}

fn texts(input: &mut &[u8]) -> Option<BTreeSet<String>> {
    (0..count(input)?).map(|_| String::from_utf8(bytes(input)?.to_vec()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::TextSegment;

    fn set(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let looked = Looked { filters: set(&["f1", "f2"]), segments: set(&["a", "b", "c"]) };
        let whole = encode(&looked);
        assert_eq!(decode(&whole), Some(looked));
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length]), None, "cut to {length}");
        }
        let mut newer = whole;
        newer[8] = 2;
        assert_eq!(decode(&newer), None);
    }

    #[test]
    fn a_merge_was_looked_at_if_all_that_is_in_it_was() {
        let looked = Looked { filters: set(&["f"]), segments: set(&["a", "b", "c"]) };
        let merged = |old: &[&str]| {
            let new = vec![TextSegment {
                id: "x".into(),
                document_count: 1,
                digest: 1,
                place: crate::state::TextPlace::File,
            }];
            looked.after(&TextMerge { old: old.iter().map(|id| (*id).to_owned()).collect(), new }).segments
        };
        assert_eq!(merged(&["a", "b"]), set(&["c", "x"]));
        assert_eq!(merged(&["a", "d"]), set(&["b", "c"]));
        assert_eq!(merged(&["d"]), set(&["a", "b", "c"]));
    }
}
