//! Divides two sorted tables into ranges of keys that can be compared one by one.

use super::side::Side;
use std::cmp::Ordering;
use std::ops::Range;

/// Places on both sides whose rows have keys within the same limits.
pub(super) type Pair = (Range<usize>, Range<usize>);

/// Returns ranges that together hold all rows, in the order of the keys. A range has at most `rows_max` rows
/// of each side, or more if they all have one key.
pub(super) fn ranges(old: &Side, new: &Side, rows_max: usize) -> Vec<Pair> {
    let mut found = Vec::new();
    let mut left = vec![(0..old.count(), 0..new.count())];
    while let Some((one, two)) = left.pop() {
        let longer = one.len().max(two.len());
        let divided = if longer > rows_max { divide(old, new, &one, &two) } else { None };
        match divided {
            Some((middle, other_middle)) => {
                left.push((middle..one.end, other_middle..two.end));
                left.push((one.start..middle, two.start..other_middle));
            }
            None => found.push((one, two)),
        }
    }
    found
}

/// Returns the places before which both ranges can be divided: where a key in the middle of the longer one
/// begins, or ends if nothing is before it. `None` if all rows have this key.
fn divide(old: &Side, new: &Side, one: &Range<usize>, two: &Range<usize>) -> Option<(usize, usize)> {
    let is_old_longer = one.len() >= two.len();
    let (side, range) = if is_old_longer { (old, one) } else { (new, two) };
    let key = range.start + range.len() / 2;
    let before = |wanted: fn(Ordering) -> bool| {
        let place = |of: &Side, range: &Range<usize>| {
            first_without(range, |place| wanted(of.compare(place, side, key)))
        };
        (place(old, one), place(new, two))
    };
    let is_progress = |&(middle, other_middle): &(usize, usize)| {
        let is_begin = middle == one.start && other_middle == two.start;
        let is_end = middle == one.end && other_middle == two.end;
        !is_begin && !is_end
    };
    Some(before(Ordering::is_lt))
        .filter(is_progress)
        .or_else(|| Some(before(Ordering::is_le)).filter(is_progress))
}

/// Returns the first place of a range for which a condition does not hold, which holds for all before.
fn first_without(range: &Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
