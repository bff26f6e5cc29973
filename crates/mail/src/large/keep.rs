//! Decides what is kept of a part that was split in memory.
//!
//! Input: a part that borrows from bytes of the message. Output: the part, with its text as far as the budget
//! allows, and the range of everything that can be read from the message again. Does not know how the message
//! is split.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use super::budget::MemoryBudget;
use super::window::wide;
use crate::bytes::range_of;
use crate::mime::parts::{Body, Part};
use crate::problem::Problems;

/// Returns the part as it is kept. `bytes` are those that were split, `offset` is theirs in the message.
pub(super) fn kept(
    (bytes, offset): (&[u8], u64),
    part: Part<'_>,
    budget: &mut MemoryBudget,
    problems: &mut Problems,
) -> Part<'static> {
    let Part { parent, content, body, .. } = part;
    let unloaded = match &body {
        Body::Leaf(Cow::Borrowed(leaf)) if !budget.keeps(&content, leaf) => range_in(bytes, leaf, offset),
        Body::Smime { bytes: Cow::Borrowed(inner), .. } | Body::Message { whole: Some(inner), .. } => {
            range_in(bytes, inner, offset)
        }
        _ => None,
    };
    let body = match (&unloaded, body) {
        (Some(_), Body::Smime { wrapping, .. }) => Body::Smime { bytes: Cow::default(), wrapping },
        (Some(_), Body::Leaf(_)) => Body::Leaf(Cow::default()),
        (_, body) => budget.bounded(body, problems),
    };
    Part { unloaded, ..Part::new(parent, content, body) }.into_owned()
}

/// Returns the range in the message of a slice of `bytes`, which start at `offset`.
fn range_in(bytes: &[u8], slice: &[u8], offset: u64) -> Option<Range<u64>> {
    let Range { start, end } = range_of(bytes, slice)?;
    Some(offset.saturating_add(wide(start))..offset.saturating_add(wide(end)))
}
