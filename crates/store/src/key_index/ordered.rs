//! Searches keys in order, in an index or in the primary key.
//!
//! Input: the ends of a range, and a way to compare the key at a position. Output: positions. Does not
//! depend on where keys are stored.

use crate::error::Result;
use crate::value::{Value, hint_range};
use std::cmp::Ordering;
use std::ops::{Bound, Range};

/// A key or a prefix to search for.
pub(crate) struct Needle<'k> {
    /// Its values.
    pub(crate) key: &'k [Value<'k>],
    /// The smallest and the largest hint of keys that begin with it.
    low: u64,
    high: u64,
    /// Whether only keys that begin with it have such hints.
    is_exact: bool,
}

impl<'k> Needle<'k> {
    /// Takes the first values of keys of `column_count` columns.
    pub(crate) fn new(key: &'k [Value<'k>], column_count: usize) -> Needle<'k> {
        let (low, high) = hint_range(key, column_count);
        let has_bytes = key.iter().any(|value| matches!(value, Value::Bytes(_)));
        let width: usize = key.iter().map(|value| value.byte_count()).sum();
        Needle { key, low, high, is_exact: !has_bytes && width <= 8 }
    }

    /// Returns the smallest hint of keys that begin with it.
    pub(crate) fn hint(&self) -> u64 {
        self.low
    }

    /// Compares a key with this one. The caller passes the key's hint. `whole` compares whole keys if the
    /// hint does not decide.
    #[inline]
    pub(crate) fn compare(&self, hint: u64, whole: impl FnOnce() -> Result<Ordering>) -> Result<Ordering> {
        if hint < self.low {
            Ok(Ordering::Less)
        } else if hint > self.high {
            Ok(Ordering::Greater)
        } else if self.is_exact {
            Ok(Ordering::Equal)
        } else {
            whole()
        }
    }
}

/// Returns the positions of the keys between two ends, out of `count` keys in order. An end may be a
/// prefix: it is equal to all keys that begin with it. `compare` compares the key at a position with an
/// end. `guess` guesses the position of an end.
pub(crate) fn find_range(
    count: u32,
    from: Bound<&Needle>,
    to: Bound<&Needle>,
    compare: &dyn Fn(u32, &Needle) -> Result<Ordering>,
    guess: &dyn Fn(&Needle) -> Result<Option<u32>>,
) -> Result<Range<u32>> {
    let before = |needle: &Needle| {
        partition_point(count, guess(needle)?, |position| Ok(compare(position, needle)?.is_lt()))
    };
    let behind = |needle: &Needle| {
        partition_point(count, guess(needle)?, |position| Ok(compare(position, needle)?.is_le()))
    };
    let start = match from {
        Bound::Unbounded => 0,
        Bound::Included(needle) => before(needle)?,
        Bound::Excluded(needle) => behind(needle)?,
    };
    let end = match to {
        Bound::Unbounded => count,
        // Few keys are equal to one key: their end is near their start.
        Bound::Included(needle) if is_same(from, needle) => {
            partition_point(count, Some(start), |position| {
                Ok(position < start || compare(position, needle)?.is_le())
            })?
        }
        Bound::Included(needle) => behind(needle)?,
        Bound::Excluded(needle) => before(needle)?,
    };
    Ok(start..end.max(start))
}

/// Returns whether both ends of a range are the same key, of which the range has all rows.
fn is_same(from: Bound<&Needle>, to: &Needle) -> bool {
    matches!(from, Bound::Included(from) if std::ptr::eq(from.key, to.key))
}

/// Returns the first of `count` positions where `is_before` is false. It is true for all positions before
/// that and false for all after.
///
/// With a guess the search widens from there in growing steps. A good guess costs two comparisons, a bad
/// one twice a binary search.
pub(crate) fn partition_point(
    count: u32,
    guess: Option<u32>,
    is_before: impl Fn(u32) -> Result<bool>,
) -> Result<u32> {
    let (mut low, mut high) = (0, count);
    if let Some(guess) = guess.filter(|&guess| guess < count) {
        let mut step = 1_u32;
        if is_before(guess)? {
            low = guess + 1;
            while low < high && is_before(low.saturating_add(step).min(high) - 1)? {
                low = low.saturating_add(step).min(high);
                step = step.saturating_mul(2);
            }
            high = low.saturating_add(step).min(high);
        } else {
            high = guess;
            while low < high && !is_before(high.saturating_sub(step).max(low))? {
                high = high.saturating_sub(step).max(low);
                step = step.saturating_mul(2);
            }
            low = high.saturating_sub(step).max(low);
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Reads of hints per guess. Each reduces the distance to about its square root.
const GUESS_STEPS: usize = 3;

/// Guesses the position of the key with `hint` among `count` keys by interpolation. Works for evenly spread
/// hints, such as dense numbers and random ids. The hints of the first and the last key give a first guess,
/// the hint there a better one, and so on. If hints are far from even, a few reads are wasted.
pub(crate) fn guess(hint: u64, count: u32, hint_at: impl Fn(u32) -> Result<u64>) -> Result<Option<u32>> {
    let Some(last_position) = count.checked_sub(1) else { return Ok(None) };
    let (first, last) = (hint_at(0)?, hint_at(last_position)?);
    let Some(mut guess) = interpolate(hint, first, last, count) else { return Ok(None) };
    let distance = last.saturating_sub(first).checked_div(u64::from(last_position)).unwrap_or(0);
    for _ in 0..GUESS_STEPS {
        let there = hint_at(guess)?;
        let Some(steps) = hint.abs_diff(there).checked_div(distance).filter(|&steps| steps > 0) else {
            break;
        };
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        guess = if hint > there {
            guess.saturating_add(steps).min(last_position)
        } else {
            guess.saturating_sub(steps)
        };
    }
    Ok(Some(guess))
}

/// Guesses from the hints of the first and the last key only.
fn interpolate(hint: u64, first: u64, last: u64, count: u32) -> Option<u32> {
    let span = u128::from(last.checked_sub(first)?);
    let into = u128::from(hint.clamp(first, last) - first);
    let position = (into * u128::from(count.checked_sub(1)?)).checked_div(span)?;
    u32::try_from(position).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_search_finds_the_same_place_whatever_the_guess(
            count in 0_u32..200, place in 0_u32..200, guess in prop::option::of(0_u32..250),
        ) {
            let place = place.min(count);
            let found = partition_point(count, guess, |position| {
                assert!(position < count);
                Ok(position < place)
            });
            prop_assert_eq!(found.unwrap(), place);
        }

        #[test]
        fn guesses_lie_within(hint: u64, first: u64, last: u64, count in 0_u32..5) {
            if let Some(guess) = interpolate(hint, first, last, count) {
                prop_assert!(guess < count);
            }
        }
    }

    #[test]
    fn random_hints_are_guessed_nearly_and_uneven_ones_somewhere() {
        let mut random = testkit::Random::new(3);
        let mut hints: Vec<u64> = (0..10_000).map(|_| random.next_u64()).collect();
        hints.sort_unstable();
        let guess_in = |hints: &[u64], hint| {
            let count = u32::try_from(hints.len()).unwrap();
            guess(hint, count, |position| Ok(hints[position as usize])).unwrap()
        };
        let off: usize = (0..10_000)
            .map(|place| {
                guess_in(&hints, hints[place]).unwrap().abs_diff(u32::try_from(place).unwrap()) as usize
            })
            .sum();
        assert!(off < 30_000, "{off} in all: three places each");
        let mut uneven: Vec<u64> = (0..5000).chain((0..5000).map(|place| u64::MAX - place)).collect();
        uneven.sort_unstable();
        for hint in [0, 1, 4999, 5000, 1 << 63, u64::MAX - 1, u64::MAX] {
            assert!(guess_in(&uneven, hint).unwrap() < 10_000);
        }
        assert_eq!((guess_in(&[], 5), guess_in(&[5], 5), guess_in(&[5, 5], 5)), (None, None, None));
    }

    #[test]
    fn dense_numbers_are_guessed_exactly() {
        for hint in 100..200 {
            assert_eq!(
                interpolate(hint << 32, 100 << 32, 199 << 32, 100),
                Some(u32::try_from(hint - 100).unwrap())
            );
        }
        assert_eq!(interpolate(7, 7, 7, 1), None);
        assert_eq!(interpolate(u64::MAX, 0, u64::MAX, u32::MAX), Some(u32::MAX - 1));
    }
}
