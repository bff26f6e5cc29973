//! How results changed, so that a client can change its list (RFC 8620, section 5.6).
//!
//! Input: the results as they were and as they are. Output: what a client takes out, and what it puts in
//! where. Does not know what results are.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::error::{MethodError, MethodErrorKind};
use std::collections::HashMap;
use std::hash::Hash;

/// What changed in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<T> {
    /// What is no longer there, or is at another place among the others.
    pub removed: Vec<T>,
    /// What is new, and what moved, each with its place in the new list, the lowest first.
    pub added: Vec<(T, usize)>,
}

/// Returns the shortest difference between the lists `old` and `new`, in each of which an item occurs once.
///
/// A client that knows the beginning of the old list, up to `up_to`, needs nothing that is removed or added
/// after it. That is left out if `up_to` is in both lists and nothing moved, as RFC 8620, section 5.6, has it
/// for a filter and an order that never change for a record.
///
/// # Errors
/// `tooManyChanges`, if more items are removed and added than `max_changes`.
pub fn difference<T: Clone + Eq + Hash>(
    old: &[T],
    new: &[T],
    up_to: Option<&T>,
    max_changes: Option<u64>,
) -> Result<Difference<T>, MethodError> {
    // Most often, a few items change: what is the same at both ends of the lists needs no look-up.
    let is_same = |(left, right): &(&T, &T)| left == right;
    let before = old.iter().zip(new).take_while(is_same).count();
    let (old_rest, new_rest) = (old.get(before..).unwrap_or_default(), new.get(before..).unwrap_or_default());
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(is_same).count();
    let (old_rest, new_rest) = (without_end(old_rest, after), without_end(new_rest, after));
    let old_places: HashMap<&T, usize> = old_rest.iter().zip(0..).collect();
    // The items that are in both: their places in the old and in the new list, in the new order.
    let common = new_rest.iter().zip(0..).filter_map(|(item, place)| Some((*old_places.get(item)?, place)));
    let common: Vec<(usize, usize)> = common.collect();
    let kept = longest_increasing(&common);
    let is_kept_in_old = marked(old_rest.len(), kept.iter().map(|&(place, _)| place));
    let is_kept_in_new = marked(new_rest.len(), kept.iter().map(|&(_, place)| place));
    let place = |list: &[T], item| list.iter().position(|other| other == item);
    let last = up_to.filter(|_| kept.len() == common.len());
    let last = last.and_then(|item| Some((place(old, item)?, place(new, item)?)));
    let (old_end, new_end) = last.unwrap_or((old.len(), new.len()));
    let removed = old_rest.iter().zip(&is_kept_in_old).take(old_end.saturating_sub(before));
    let removed: Vec<T> = removed.filter(|&(_, is_kept)| !is_kept).map(|(item, _)| item.clone()).collect();
    let added = new_rest.iter().zip(before..).zip(&is_kept_in_new).take(new_end.saturating_sub(before));
    let added = added.filter(|&(_, is_kept)| !is_kept).map(|((item, place), _)| (item.clone(), place));
    let added: Vec<(T, usize)> = added.collect();
    let count = removed.len().saturating_add(added.len());
    if max_changes.is_some_and(|max| usize::try_from(max).is_ok_and(|max| count > max)) {
        return Err(MethodErrorKind::TooManyChanges.into());
    }
    Ok(Difference { removed, added })
}

fn without_end<T>(list: &[T], count: usize) -> &[T] {
    list.get(..list.len().saturating_sub(count)).unwrap_or_default()
}

/// Returns for each of `count` places whether it is among `places`.
fn marked(count: usize, places: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut marks = vec![false; count];
    for place in places {
        if let Some(mark) = marks.get_mut(place) {
            *mark = true;
        }
    }
    marks
}

/// Returns the most of `pairs` whose first numbers increase, in order (patience sorting).
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the place in `pairs` where the chain of n + 1 pairs ends that ends with the smallest
    // number.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let number = |place: usize| pairs.get(place).map_or(0, |&(number, _)| number);
    for place in 0..pairs.len() {
        let length = ends.partition_point(|&end| number(end) < number(place));
        before.push(length.checked_sub(1).and_then(|longest| ends.get(longest).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let step = |&place: &usize| before.get(place).copied().flatten();
    let mut chain: Vec<(usize, usize)> = std::iter::successors(ends.last().copied(), step)
        .filter_map(|place| pairs.get(place).copied())
        .collect();
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(old: &str, new: &str, up_to: Option<char>) -> (String, Vec<(char, usize)>) {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        let found = difference(&letters(old), &letters(new), up_to.as_ref(), None).unwrap();
        (found.removed.into_iter().collect(), found.added)
    }

    #[test]
    fn what_came_went_and_moved_is_told_and_nothing_else() {
        assert_eq!(between("abc", "abc", None), (String::new(), vec![]));
        assert_eq!(between("abxcd", "abycd", None), ("x".to_owned(), vec![('y', 2)]));
        assert_eq!(
            between("aba", "aba", None),
            (String::new(), vec![]),
            "an item that occurs twice does no harm"
        );
        assert_eq!(between("abcd", "xacyd", None), ("b".to_owned(), vec![('x', 0), ('y', 3)]));
        assert_eq!(between("abcd", "bcda", None), ("a".to_owned(), vec![('a', 3)]));
        assert_eq!(between("", "ab", None), (String::new(), vec![('a', 0), ('b', 1)]));
        assert_eq!(between("ab", "", None), ("ab".to_owned(), vec![]));
    }

    #[test]
    fn what_is_after_the_last_known_item_is_left_out_if_nothing_moved() {
        assert_eq!(between("abcdef", "xacydz", Some('c')), ("b".to_owned(), vec![('x', 0)]));
        assert_eq!(between("abcdef", "abc", Some('c')), (String::new(), vec![]));
        let all = ("bd".to_owned(), vec![]);
        assert_eq!(between("abcd", "ac", Some('b')), all, "it is gone");
        assert_eq!(between("abcd", "ac", Some('q')), all, "it never was there");
        assert_eq!(between("abcd", "acdb", Some('a')), ("b".to_owned(), vec![('b', 3)]), "something moved");
    }

    #[test]
    fn more_changes_than_the_client_wants_are_an_error() {
        let changes = |max| difference(&[1, 2, 3], &[3, 4, 5], None, Some(max));
        assert!(changes(4).is_ok());
        assert_eq!(changes(3).unwrap_err().kind, MethodErrorKind::TooManyChanges);
        assert!(difference(&[1], &[1], None, Some(0)).is_ok());
    }
}
