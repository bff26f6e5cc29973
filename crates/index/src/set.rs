//! Sets of message numbers: bitmaps in chunks.
//!
//! Numbers are nearly dense, and a column scan sets bits in any order, so a plain bitmap does: and, or, xor
//! and not run at memory speed. Most sets of a short command have a few numbers, or all of them. A bitmap of
//! a million numbers then takes longer to touch than to compute with, so chunks without any number and
//! chunks with all of theirs take no memory. This is the scheme of roaring bitmaps (Chambi, Lemire, Kaser
//! and Godin, 2016) without its lists of numbers and of runs. Must not know tables or queries.

use std::ops::Range;

/// Numbers of a chunk. Its words take 1 KiB.
const CHUNK_NUMBERS: u32 = if cfg!(test) { 128 } else { 8192 };
/// Words of a chunk.
const CHUNK_WORDS: usize = (CHUNK_NUMBERS / 64) as usize;

/// A set of message numbers below a bound.
#[derive(Clone, Debug)]
pub struct NumberSet {
    chunks: Vec<Chunk>,
    bound: u32,
}

/// Which of the numbers of a chunk are in the set.
#[derive(Clone, Debug)]
enum Chunk {
    None,
    /// All that are below the bound.
    All,
    /// Those with a one. Numbers that are not below the bound have none.
    Words(Box<[u64]>),
}

/// What two sets are combined by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
    Minus,
}

impl NumberSet {
    /// Returns an empty set for numbers below `bound`.
    pub fn new(bound: u32) -> NumberSet {
        NumberSet { chunks: vec![Chunk::None; bound.div_ceil(CHUNK_NUMBERS) as usize], bound }
    }

    /// Returns the set of all numbers below `bound`.
    pub fn full(bound: u32) -> NumberSet {
        NumberSet { chunks: vec![Chunk::All; bound.div_ceil(CHUNK_NUMBERS) as usize], bound }
    }

    /// Returns the bound; all numbers in the set are below it.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Raises the bound to `bound` if it is lower.
    pub fn grow(&mut self, bound: u32) {
        if bound <= self.bound {
            return;
        }
        if let Some(last) = self.chunks.len().checked_sub(1) {
            // What is all of the last chunk will be a part of it.
            let numbers = numbers_of(last, self.bound);
            if numbers < CHUNK_NUMBERS && matches!(self.chunks.get(last), Some(Chunk::All)) {
                self.chunks[last] = Chunk::Words(first_numbers(numbers));
            }
        }
        self.chunks.resize(bound.div_ceil(CHUNK_NUMBERS) as usize, Chunk::None);
        self.bound = bound;
    }

    /// Adds a number. Ignores a number that is not below the bound.
    pub fn insert(&mut self, number: u32) {
        if number >= self.bound {
            return;
        }
        let (place, word, bit) = place_of(number);
        match self.chunks.get_mut(place) {
            Some(Chunk::Words(words)) => words[word] |= bit,
            Some(chunk @ Chunk::None) => {
                let mut words = no_numbers();
                words[word] = bit;
                *chunk = Chunk::Words(words);
            }
            Some(Chunk::All) | None => {}
        }
    }

    /// Adds consecutive numbers. Ignores those that are not below the bound.
    pub fn insert_all(&mut self, numbers: Range<u32>) {
        let end = numbers.end.min(self.bound);
        let mut start = numbers.start;
        while start < end {
            let place = (start / CHUNK_NUMBERS) as usize;
            let first = start % CHUNK_NUMBERS;
            let count = numbers_of(place, self.bound).min(end - (start - first)) - first;
            match self.chunks.get_mut(place) {
                Some(chunk) if count == numbers_of(place, self.bound) => *chunk = Chunk::All,
                Some(Chunk::Words(words)) => insert_run(words, first..first + count),
                Some(chunk @ Chunk::None) => {
                    let mut words = no_numbers();
                    insert_run(&mut words, first..first + count);
                    *chunk = Chunk::Words(words);
                }
                Some(Chunk::All) | None => {}
            }
            start += count;
        }
    }

    /// Removes a number.
    pub fn remove(&mut self, number: u32) {
        let (place, word, bit) = place_of(number);
        match self.chunks.get_mut(place) {
            Some(Chunk::Words(words)) => words[word] &= !bit,
            Some(chunk @ Chunk::All) => {
                let mut words = first_numbers(numbers_of(place, self.bound));
                words[word] &= !bit;
                *chunk = Chunk::Words(words);
            }
            Some(Chunk::None) | None => {}
        }
    }

    /// Returns whether the set contains a number.
    pub fn contains(&self, number: u32) -> bool {
        let (place, word, bit) = place_of(number);
        match self.chunks.get(place) {
            Some(Chunk::Words(words)) => words[word] & bit != 0,
            Some(Chunk::All) => number < self.bound,
            Some(Chunk::None) | None => false,
        }
    }

    /// Returns how many numbers the set contains.
    pub fn count(&self) -> u64 {
        let count = |(place, chunk): (usize, &Chunk)| match chunk {
            Chunk::None => 0,
            Chunk::All => u64::from(numbers_of(place, self.bound)),
            Chunk::Words(words) => words.iter().map(|word| u64::from(word.count_ones())).sum(),
        };
        self.chunks.iter().enumerate().map(count).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.chunks.iter().all(|chunk| match chunk {
            Chunk::None => true,
            Chunk::All => false,
            Chunk::Words(words) => words.iter().all(|word| *word == 0),
        })
    }

    /// Keeps the numbers that are also in `other`.
    pub fn and(&mut self, other: &NumberSet) {
        self.combine(other, Operation::And);
    }

    /// Adds the numbers of `other`.
    pub fn or(&mut self, other: &NumberSet) {
        self.combine(other, Operation::Or);
    }

    /// Keeps the numbers that are in exactly one of the two sets.
    pub fn xor(&mut self, other: &NumberSet) {
        self.combine(other, Operation::Xor);
    }

    /// Removes the numbers of `other`.
    pub fn minus(&mut self, other: &NumberSet) {
        self.combine(other, Operation::Minus);
    }

    /// Returns the numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        Numbers { set: self, next_start: 0, start: 0, rest: 0 }
    }

    /// Combines two sets chunk by chunk. Both come from one snapshot and have the same bound.
    fn combine(&mut self, other: &NumberSet, operation: Operation) {
        use Operation::{And, Minus, Or, Xor};
        assert_eq!(self.bound, other.bound, "sets of one snapshot have one bound");
        for (place, (mine, theirs)) in self.chunks.iter_mut().zip(&other.chunks).enumerate() {
            match (operation, &mut *mine, theirs) {
                (Or | Xor | Minus, _, Chunk::None) | (And | Minus, Chunk::None, _) => {}
                (And, _, Chunk::All) | (Or, Chunk::All, _) => {}
                (And, _, Chunk::None) | (Minus, _, Chunk::All) => *mine = Chunk::None,
                (Or, _, Chunk::All) => *mine = Chunk::All,
                (And, Chunk::All, _) | (Or | Xor, Chunk::None, _) => *mine = theirs.clone(),
                (Xor, Chunk::All, Chunk::All) => *mine = Chunk::None,
                (Xor | Minus, Chunk::All, Chunk::Words(words)) => {
                    let mut rest = first_numbers(numbers_of(place, self.bound));
                    each(&mut rest, words, |all, theirs| all & !theirs);
                    *mine = Chunk::Words(rest);
                }
                (Xor, Chunk::Words(words), Chunk::All) => {
                    each(words, &first_numbers(numbers_of(place, self.bound)), |mine, all| !mine & all);
                }
                (And, Chunk::Words(mine), Chunk::Words(theirs)) => {
                    each(mine, theirs, |mine, theirs| mine & theirs);
                }
                (Or, Chunk::Words(mine), Chunk::Words(theirs)) => {
                    each(mine, theirs, |mine, theirs| mine | theirs);
                }
                (Xor, Chunk::Words(mine), Chunk::Words(theirs)) => {
                    each(mine, theirs, |mine, theirs| mine ^ theirs);
                }
                (Minus, Chunk::Words(mine), Chunk::Words(theirs)) => {
                    each(mine, theirs, |mine, theirs| mine & !theirs);
                }
            }
        }
    }
}

/// The numbers of a set, in ascending order.
struct Numbers<'a> {
    set: &'a NumberSet,
    /// Where the next word begins.
    next_start: u32,
    /// Where the present word begins, and those of its numbers that are left.
    start: u32,
    rest: u64,
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.rest == 0 {
            if self.next_start >= self.set.bound {
                return None;
            }
            let (place, word, _) = place_of(self.next_start);
            self.start = self.next_start;
            let end = match self.set.chunks.get(place)? {
                Chunk::None => self.start.saturating_add(CHUNK_NUMBERS),
                Chunk::All => {
                    self.rest = u64::MAX >> (64 - (self.set.bound - self.start).min(64));
                    self.start.saturating_add(64)
                }
                Chunk::Words(words) => {
                    self.rest = words[word];
                    self.start.saturating_add(64)
                }
            };
            self.next_start = end;
        }
        let bit = self.rest.trailing_zeros();
        self.rest &= self.rest - 1;
        Some(self.start + bit)
    }
}

impl PartialEq for NumberSet {
    fn eq(&self, other: &NumberSet) -> bool {
        // The same numbers may be stored in different ways.
        self.bound == other.bound && self.iter().eq(other.iter())
    }
}

impl Eq for NumberSet {}

/// Returns the chunk of a number, its word there, and its bit.
fn place_of(number: u32) -> (usize, usize, u64) {
    let in_chunk = number % CHUNK_NUMBERS;
    ((number / CHUNK_NUMBERS) as usize, (in_chunk / 64) as usize, 1 << (in_chunk % 64))
}

/// Returns how many numbers of a chunk are below the bound.
fn numbers_of(place: usize, bound: u32) -> u32 {
    let start = u32::try_from(place).unwrap_or(u32::MAX).saturating_mul(CHUNK_NUMBERS);
    bound.saturating_sub(start).min(CHUNK_NUMBERS)
}

fn no_numbers() -> Box<[u64]> {
    vec![0; CHUNK_WORDS].into()
}

/// Returns the words of the first numbers of a chunk.
fn first_numbers(count: u32) -> Box<[u64]> {
    let mut words = no_numbers();
    insert_run(&mut words, 0..count);
    words
}

/// Adds consecutive numbers of a chunk.
fn insert_run(words: &mut [u64], numbers: Range<u32>) {
    let mut start = numbers.start;
    while start < numbers.end {
        let next = numbers.end.min((start / 64 + 1) * 64);
        let bits = u64::MAX >> (64 - (next - start)) << (start % 64);
        if let Some(word) = words.get_mut((start / 64) as usize) {
            *word |= bits;
        }
        start = next;
    }
}

fn each(mine: &mut [u64], theirs: &[u64], operation: impl Fn(u64, u64) -> u64) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine = operation(*mine, *theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a chunk may hold: nothing, everything, or some numbers; in each form that it can have.
    #[derive(Clone, Debug)]
    enum Held {
        None,
        All,
        Some(BTreeSet<u32>),
    }

    fn held() -> impl Strategy<Value = Held> {
        let some = proptest::collection::btree_set(0..CHUNK_NUMBERS, 0..80);
        prop_oneof![Just(Held::None), Just(Held::All), some.prop_map(Held::Some)]
    }

    fn chunks() -> impl Strategy<Value = Vec<Held>> {
        proptest::collection::vec(held(), 4)
    }

    /// Returns a set and the same numbers in a tree.
    fn made(chunks: &[Held], bound: u32) -> (NumberSet, BTreeSet<u32>) {
        let (mut set, mut tree) = (NumberSet::new(bound), BTreeSet::new());
        for (start, held) in (0..).step_by(CHUNK_NUMBERS as usize).zip(chunks) {
            match held {
                Held::None => {}
                Held::All => {
                    set.insert_all(start..start + CHUNK_NUMBERS);
                    tree.extend((start..start + CHUNK_NUMBERS).filter(|number| *number < bound));
                }
                Held::Some(numbers) => {
                    numbers.iter().for_each(|number| set.insert(start + number));
                    tree.extend(numbers.iter().map(|number| start + number).filter(|number| *number < bound));
                }
            }
        }
        (set, tree)
    }

    fn numbers(set: &NumberSet) -> BTreeSet<u32> {
        set.iter().collect()
    }

    proptest! {
        #[test]
        fn agrees_with_a_tree(a in chunks(), b in chunks(), bound in 2 * CHUNK_NUMBERS..4 * CHUNK_NUMBERS,
                              more in 0..2 * CHUNK_NUMBERS, start in 0..4 * CHUNK_NUMBERS, length in
                              0u32..300) {
            let ((mine, a), (theirs, b)) = (made(&a, bound), made(&b, bound));
            type Operation = fn(&mut NumberSet, &NumberSet);
            let cases: [(Operation, BTreeSet<u32>); 4] = [
                (NumberSet::and, &a & &b),
                (NumberSet::or, &a | &b),
                (NumberSet::xor, &a ^ &b),
                (NumberSet::minus, &a - &b),
            ];
            for (operation, expected) in cases {
                let mut found = mine.clone();
                operation(&mut found, &theirs);
                prop_assert_eq!(numbers(&found), expected.clone());
                prop_assert_eq!(found.count(), expected.len() as u64);
                prop_assert_eq!(found.is_empty(), expected.is_empty());
                prop_assert!((0..5 * CHUNK_NUMBERS).all(|n| found.contains(n) == expected.contains(&n)));
            }
            let (mut range, mut one_by_one) = (mine.clone(), mine.clone());
            range.insert_all(start..start + length);
            (start..start + length).for_each(|number| one_by_one.insert(number));
            prop_assert_eq!(&range, &one_by_one);
            (start..start + length).for_each(|number| range.remove(number));
            let is_left = |number: &u32| !(start..start + length).contains(number);
            let left: BTreeSet<u32> = a.iter().copied().filter(is_left).collect();
            prop_assert_eq!(numbers(&range), left);
            let mut rest = NumberSet::full(bound);
            rest.minus(&mine);
            prop_assert_eq!(rest.count(), u64::from(bound) - a.len() as u64);
            let mut grown = mine.clone();
            grown.grow(bound + more);
            prop_assert_eq!(grown.bound(), bound + more);
            prop_assert_eq!(numbers(&grown), a.clone());
            grown.insert_all(bound..bound + more);
            prop_assert_eq!(grown.count(), a.len() as u64 + u64::from(more));
        }
    }

    #[test]
    fn sets_of_no_and_of_all_numbers_take_no_memory_for_them() {
        let bound = 3 * CHUNK_NUMBERS + 5;
        let words =
            |set: &NumberSet| set.chunks.iter().filter(|chunk| matches!(chunk, Chunk::Words(_))).count();
        let mut all = NumberSet::new(bound);
        all.insert_all(0..u32::MAX);
        assert_eq!((words(&all), &all), (0, &NumberSet::full(bound)));
        let mut few = NumberSet::new(bound);
        few.insert(CHUNK_NUMBERS);
        all.and(&few);
        assert_eq!((words(&all), words(&few), all.count()), (1, 1, 1));
        all.minus(&NumberSet::full(bound));
        assert_eq!((words(&all), all.is_empty()), (0, true));
    }
}
