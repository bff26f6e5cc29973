//! Sets of message numbers: plain bitmaps.
//!
//! Numbers are nearly dense, so a bitmap of a million messages takes 125 kB whatever it contains. And, or,
//! xor and not run at memory speed, and a column scan sets bits in any order. A compressed bitmap (roaring)
//! should save little at this density; the two were not compared by measurement. Must not know tables or
//! queries.

use std::ops::Range;

/// A set of message numbers below a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberSet {
    words: Vec<u64>,
    bound: u32,
}

impl NumberSet {
    /// Returns an empty set for numbers below `bound`.
    pub fn new(bound: u32) -> NumberSet {
        NumberSet { words: vec![0; bound.div_ceil(64) as usize], bound }
    }

    /// Returns the set of all numbers below `bound`.
    pub fn full(bound: u32) -> NumberSet {
        let mut set = NumberSet { words: vec![u64::MAX; bound.div_ceil(64) as usize], bound };
        set.trim();
        set
    }

    /// Returns the bound; all numbers in the set are below it.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Raises the bound to `bound` if it is lower.
    pub fn grow(&mut self, bound: u32) {
        if bound > self.bound {
            self.words.resize(bound.div_ceil(64) as usize, 0);
            self.bound = bound;
        }
    }

    /// Adds a number. Ignores a number that is not below the bound.
    pub fn insert(&mut self, number: u32) {
        if number < self.bound
            && let Some(word) = self.words.get_mut((number / 64) as usize)
        {
            *word |= 1 << (number % 64);
        }
    }

    /// Adds consecutive numbers. Ignores those that are not below the bound.
    pub fn insert_all(&mut self, numbers: Range<u32>) {
        let end = numbers.end.min(self.bound);
        let mut start = numbers.start;
        while start < end {
            let next = end.min((start / 64 + 1) * 64);
            let bits = u64::MAX >> (64 - (next - start)) << (start % 64);
            if let Some(word) = self.words.get_mut((start / 64) as usize) {
                *word |= bits;
            }
            start = next;
        }
    }

    /// Removes a number.
    pub fn remove(&mut self, number: u32) {
        if let Some(word) = self.words.get_mut((number / 64) as usize) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Returns whether the set contains a number.
    pub fn contains(&self, number: u32) -> bool {
        self.words.get((number / 64) as usize).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// Returns how many numbers the set contains.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Keeps the numbers that are also in `other`.
    pub fn and(&mut self, other: &NumberSet) {
        self.each(other, |mine, theirs| mine & theirs);
    }

    /// Adds the numbers of `other`.
    pub fn or(&mut self, other: &NumberSet) {
        self.each(other, |mine, theirs| mine | theirs);
    }

    /// Keeps the numbers that are in exactly one of the two sets.
    pub fn xor(&mut self, other: &NumberSet) {
        self.each(other, |mine, theirs| mine ^ theirs);
    }

    /// Removes the numbers of `other`.
    pub fn minus(&mut self, other: &NumberSet) {
        self.each(other, |mine, theirs| mine & !theirs);
    }

    /// Returns the numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.words).flat_map(|(place, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                (bit < 64).then(|| {
                    rest &= rest - 1;
                    place * 64 + bit
                })
            })
        })
    }

    /// Combines two sets word by word. Both come from one snapshot and have the same bound.
    fn each(&mut self, other: &NumberSet, operation: impl Fn(u64, u64) -> u64) {
        assert_eq!(self.bound, other.bound, "sets of one snapshot have one bound");
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine = operation(*mine, *theirs);
        }
    }

    fn trim(&mut self) {
        if !self.bound.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << (self.bound % 64)) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(numbers: &BTreeSet<u32>, bound: u32) -> NumberSet {
        let mut set = NumberSet::new(bound);
        numbers.iter().for_each(|number| set.insert(*number));
        set
    }

    proptest! {
        #[test]
        fn agrees_with_a_tree(a in proptest::collection::btree_set(0u32..300, 0..80),
                              b in proptest::collection::btree_set(0u32..300, 0..80), extra in 0u32..70) {
            let bound = 300 + extra;
            type Operation = fn(&mut NumberSet, &NumberSet);
            let cases: [(Operation, BTreeSet<u32>); 4] = [
                (NumberSet::and, &a & &b),
                (NumberSet::or, &a | &b),
                (NumberSet::xor, &a ^ &b),
                (NumberSet::minus, &a - &b),
            ];
            for (operation, expected) in cases {
                let mut mine = set(&a, bound);
                operation(&mut mine, &set(&b, bound));
                prop_assert_eq!(mine.iter().collect::<BTreeSet<_>>(), expected.clone());
                prop_assert_eq!(mine.count(), expected.len() as u64);
            }
            let (start, end) = (a.first().copied().unwrap_or(0), b.last().copied().unwrap_or(0) + extra * 9);
            let (mut range, mut one_by_one) = (set(&b, bound), set(&b, bound));
            range.insert_all(start..end);
            (start..end).for_each(|number| one_by_one.insert(number));
            prop_assert_eq!(range, one_by_one);
            let mut rest = NumberSet::full(bound);
            rest.minus(&set(&a, bound));
            prop_assert_eq!(rest.count(), u64::from(bound) - a.len() as u64);
        }
    }
}
