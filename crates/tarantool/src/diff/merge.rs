//! Compares a range of keys of two tables.

use super::ranges::Pair;
use super::side::Side;
use crate::error::Damage;
use std::cmp::Ordering;

/// A tuple that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference<'t> {
    Added(&'t [u8]),
    Removed(&'t [u8]),
    /// The old tuple and the new one.
    Changed(&'t [u8], &'t [u8]),
}

/// Passes the differences within a range to `tell`, in the order of the keys; it returns whether they count.
/// Returns how many tuples are the same.
///
/// # Errors
/// Those of `tell`.
pub(super) fn merge<'t>(
    (old, new): (&Side<'t>, &Side<'t>),
    (old_range, new_range): &Pair,
    mut tell: impl FnMut(Difference<'t>) -> Result<bool, Damage>,
) -> Result<u64, Damage> {
    let (mut one, mut two) = (old_range.start, new_range.start);
    let mut same_count = 0;
    loop {
        let left = (old_range.end - one).min(new_range.end - two);
        if left == 0 {
            break;
        }
        let run = old.same_run(one, new, two, left);
        (one, two) = (one + run, two + run);
        same_count += run as u64;
        if run == left {
            continue;
        }
        match old.compare(one, new, two) {
            Ordering::Less => {
                tell(Difference::Removed(old.tuple(one)))?;
                one += 1;
            }
            Ordering::Greater => {
                tell(Difference::Added(new.tuple(two)))?;
                two += 1;
            }
            Ordering::Equal => {
                let (old_tuple, new_tuple) = (old.tuple(one), new.tuple(two));
                let is_same = old_tuple == new_tuple || !tell(Difference::Changed(old_tuple, new_tuple))?;
                same_count += u64::from(is_same);
                (one, two) = (one + 1, two + 1);
            }
        }
    }
    for place in one..old_range.end {
        tell(Difference::Removed(old.tuple(place)))?;
    }
    for place in two..new_range.end {
        tell(Difference::Added(new.tuple(place)))?;
    }
    Ok(same_count)
}
