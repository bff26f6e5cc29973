//! Sorts rows by key: a radix sort by the hints of the keys. Whole keys are compared only where hints are
//! equal.
//!
//! Input: the keys of many rows. Output: their positions in key order; rows with equal keys stay in row
//! order. Does not depend on what the order is for. Rows that are already in order are detected while their
//! hints are computed, and cost nothing more.
//!
//! Memory: 24 bytes a row while it runs (12 in parts, 12 for the result), or 16 where hints need not be kept.

use crate::rows::source::RowRef;
use crate::sort::keys::Keys;
use crate::sort::partition::{Pair, Parts, part_count, partition};
use crate::sort::row_set::{PREFETCH_DISTANCE, RowSet, narrow};
use crate::value::hint;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering as Memory};

/// Rows in key order.
pub(crate) struct KeyOrder {
    /// The positions in key order, or none if all are in order as they are.
    pub(crate) rows: Option<Vec<u32>>,
    /// The hints in key order.
    pub(crate) hints: Vec<u64>,
}

/// Rows whose hints are made together.
const BLOCK_ROWS: usize = 1 << 16;
const BLOCK_ROWS_NARROW: u32 = 1 << 16;
/// Pairs from which a run is sorted on all cores: such a run fills no core's cache and keeps all others
/// waiting.
const LARGE_RUN: usize = 1 << 16;
/// Pairs below which comparing is faster than counting.
const SMALL_RUN: usize = 64;
/// Pairs with equal hints from which the next 8 bytes of their keys are made their hints, so that their keys
/// are read once and not once a comparison.
const TIES_BY_HINT: usize = 16;
/// How often the next 8 bytes are tried before whole keys are compared.
const TIE_DEPTH_MAX: usize = 32;

/// Rows in the order of keys that are their hints.
pub(crate) struct ExactOrder {
    /// The positions in key order, or none if all are in order as they are.
    pub(crate) rows: Option<Vec<u32>>,
    /// Whether no two rows have one key.
    pub(crate) is_unique: bool,
}

/// Sorts the rows of `keys`, all of whose keys are their hints. Hints are made twice and not kept, which
/// saves 8 bytes a row.
///
/// Memory: 16 bytes a row while it runs.
pub(crate) fn sort_exact(keys: &Keys) -> ExactOrder {
    assert!(keys.is_exact(), "equal hints are equal keys");
    let Ends { smallest, largest, is_sorted, is_strict } = ends(keys);
    if is_sorted {
        return ExactOrder { rows: None, is_unique: is_strict };
    }
    let count = part_count(keys.len());
    let digits = Digits { base: smallest, shift: shift_for(largest - smallest, count) };
    let make = |rows, out: &mut Vec<u64>| keys.hints(rows, out);
    let parts = partition(keys.len(), count, make, |hint| digit(hint, digits.base, digits.shift));
    let mut rows = vec![0; keys.len() as usize];
    // Equal keys are in the same part, so they are found while its pairs are in the cache.
    let has_equal = AtomicBool::new(false);
    split_by_parts(&parts, &mut rows).into_par_iter().for_each_init(
        || (Vec::new(), Vec::new()),
        |(pairs, spare), (part, rows)| {
            parts.gather(part, pairs);
            sort_pairs(pairs, spare, digits);
            rows.iter_mut().zip(pairs.iter()).for_each(|(row, pair)| *row = pair.row);
            if pairs.windows(2).any(|pair| pair[0].number() == pair[1].number()) {
                has_equal.store(true, Memory::Relaxed);
            }
        },
    );
    ExactOrder { rows: Some(rows), is_unique: !has_equal.into_inner() }
}

/// Rows in key order, of those with equal keys the last.
pub(crate) struct Last {
    /// The rows.
    pub(crate) rows: Vec<RowRef>,
    /// How many were left out.
    pub(crate) replaced: u32,
}

/// Sorts `rows` by their keys, and keeps only the last of several rows with equal keys. Returns `None` if
/// their hints are already ascending.
///
/// Both steps are done part by part, while a part is in a core's cache. Memory: 20 bytes a row while it runs,
/// 8 of which are the result.
pub(crate) fn sort_last(keys: &Keys, rows: &RowSet) -> Option<Last> {
    let Ends { smallest, largest, is_sorted, .. } = ends(keys);
    if is_sorted {
        return None;
    }
    let count = part_count(keys.len());
    let digits = Digits { base: smallest, shift: shift_for(largest - smallest, count) };
    let make = |rows, out: &mut Vec<u64>| keys.hints(rows, out);
    let parts = partition(keys.len(), count, make, |hint| digit(hint, digits.base, digits.shift));
    // As arrays: the system gives zeros without touching them, which it does for no type but its own.
    let mut places: Vec<RowRef> = bytemuck::cast_vec(vec![[0_u32; 2]; keys.len() as usize]);
    let kept = split_by_parts(&parts, &mut places).into_par_iter().map_init(
        || (Vec::new(), Vec::new()),
        |(pairs, spare), (part, places)| {
            parts.gather(part, pairs);
            sort_pairs(pairs, spare, digits);
            let count = keep_last(keys, pairs);
            for (place, pair) in places.iter_mut().zip(&pairs[..count]) {
                *place = rows.at(pair.row);
            }
            count
        },
    );
    let kept: Vec<usize> = kept.collect();
    let (mut from, mut to) = (0, 0);
    for (part, count) in kept.into_iter().enumerate() {
        if from != to {
            places.copy_within(from..from + count, to);
        }
        from += parts.row_count(part);
        to += count;
    }
    let replaced = narrow((places.len() - to) as u64);
    places.truncate(to);
    Some(Last { rows: places, replaced })
}

/// Sorts pairs, which are sorted by number, by their whole keys. Moves the pairs that are kept to the front,
/// and returns how many they are: of several rows with equal keys, the last one is kept.
fn keep_last(keys: &Keys, pairs: &mut [Pair]) -> usize {
    let mut kept = 0;
    let mut start = 0;
    while start < pairs.len() {
        ask_ahead(keys, pairs, start);
        let number = pairs[start].number();
        let mut end = start + 1;
        while pairs.get(end).is_some_and(|pair| pair.number() == number) {
            end += 1;
        }
        if end - start > 1 && !keys.is_exact() {
            sort_ties(keys, &mut pairs[start..end], 1);
        }
        for place in start..end {
            let pair = pairs[place];
            let is_equal = |next: &Pair| keys.is_exact() || keys.compare(pair.row, next.row).is_eq();
            if !pairs[place + 1..end].first().is_some_and(is_equal) {
                pairs[kept] = pair;
                kept += 1;
            }
        }
        start = end;
    }
    kept
}

/// Asks for keys some way ahead that will have to be compared.
#[inline]
fn ask_ahead(keys: &Keys, pairs: &[Pair], place: usize) {
    if keys.is_exact() {
        return;
    }
    if let Some([one, two]) = pairs.get(place + PREFETCH_DISTANCE..place + PREFETCH_DISTANCE + 2)
        && one.number() == two.number()
    {
        keys.prefetch(one.row);
        keys.prefetch(two.row);
    }
}

/// The smallest and the largest of many hints, and whether they ascend; and whether no two are equal, if they
/// do.
struct Ends {
    smallest: u64,
    largest: u64,
    is_sorted: bool,
    is_strict: bool,
}

fn ends(keys: &Keys) -> Ends {
    let blocks = (0..keys.len().div_ceil(BLOCK_ROWS_NARROW)).into_par_iter();
    let of_block = |buffer: &mut Vec<u64>, block: u32| {
        let start = block * BLOCK_ROWS_NARROW;
        // One more than the block, to compare it with the next.
        let end = keys.len().min(start.saturating_add(BLOCK_ROWS_NARROW + 1));
        buffer.clear();
        keys.hints(start..end, buffer);
        let is_strict = buffer.is_sorted_by(|one, two| one < two);
        let is_sorted = is_strict || buffer.is_sorted();
        let mut ends = Ends { smallest: u64::MAX, largest: 0, is_sorted, is_strict };
        for &hint in buffer.iter() {
            (ends.smallest, ends.largest) = (ends.smallest.min(hint), ends.largest.max(hint));
        }
        ends
    };
    let both = |one: Ends, two: Ends| Ends {
        smallest: one.smallest.min(two.smallest),
        largest: one.largest.max(two.largest),
        is_sorted: one.is_sorted && two.is_sorted,
        is_strict: one.is_strict && two.is_strict,
    };
    let none = || Ends { smallest: u64::MAX, largest: 0, is_sorted: true, is_strict: true };
    blocks.map_init(Vec::new, of_block).reduce(none, both)
}

/// Splits a slice with one element per row into one slice per part.
fn split_by_parts<'a, T>(parts: &Parts, mut places: &'a mut [T]) -> Vec<(usize, &'a mut [T])> {
    let cut = |part| {
        let (of_part, later) = std::mem::take(&mut places).split_at_mut(parts.row_count(part));
        places = later;
        (part, of_part)
    };
    (0..parts.count()).map(cut).collect()
}

/// Sorts the rows of `keys`.
pub(crate) fn sort(keys: &Keys) -> KeyOrder {
    let mut hints = vec![0; keys.len() as usize];
    let (base, largest) = make_hints(keys, &mut hints);
    if is_sorted(keys, &hints) {
        return KeyOrder { rows: None, hints };
    }
    let count = part_count(keys.len());
    let shift = shift_for(largest - base, count);
    let parts = partition(
        keys.len(),
        count,
        |rows, out| out.extend_from_slice(&hints[rows.start as usize..rows.end as usize]),
        |hint| digit(hint, base, shift),
    );
    let mut rows = vec![0; hints.len()];
    sort_parts(keys, &parts, Digits { base, shift }, &mut hints, &mut rows);
    KeyOrder { rows: Some(rows), hints }
}

/// The digits of a hint to sort by. Above `shift`, the hints of a part are equal.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    /// What to subtract first.
    pub(crate) base: u64,
    /// How many low bits are to be sorted by.
    pub(crate) shift: u32,
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the shift leaves at most 12 bits")]
fn digit(hint: u64, base: u64, shift: u32) -> u32 {
    // One part of hints over all 64 bits leaves no bit.
    (hint - base).checked_shr(shift).unwrap_or(0) as u32
}

/// Fills in all hints and returns the smallest and the largest.
fn make_hints(keys: &Keys, hints: &mut [u64]) -> (u64, u64) {
    let blocks = hints.par_chunks_mut(BLOCK_ROWS).enumerate();
    let ranges = blocks.map_init(Vec::new, |buffer, (number, block)| {
        let start = number * BLOCK_ROWS;
        buffer.clear();
        keys.hints(narrow(start as u64)..narrow((start + block.len()) as u64), buffer);
        block.copy_from_slice(buffer);
        let smallest = buffer.iter().copied().min().unwrap_or(u64::MAX);
        (smallest, buffer.iter().copied().max().unwrap_or(0))
    });
    ranges.reduce(|| (u64::MAX, 0), |one, two| (one.0.min(two.0), one.1.max(two.1)))
}

/// Returns whether all rows are in key order as they are.
fn is_sorted(keys: &Keys, hints: &[u64]) -> bool {
    let last = keys.len().saturating_sub(1);
    (0..last).into_par_iter().all(|row| match hints[row as usize].cmp(&hints[row as usize + 1]) {
        Ordering::Less => true,
        Ordering::Equal => keys.is_exact() || keys.compare(row, row + 1).is_le(),
        Ordering::Greater => false,
    })
}

/// Returns how many low bits to leave out so that numbers up to `largest` fall into `count` parts.
fn shift_for(largest: u64, count: u32) -> u32 {
    let bits = 64 - largest.leading_zeros();
    bits.saturating_sub(count.trailing_zeros())
}

/// Sorts each part and puts the parts one after another.
fn sort_parts(keys: &Keys, parts: &Parts, digits: Digits, hints: &mut [u64], rows: &mut [u32]) {
    let both = split_by_parts(parts, hints).into_iter().zip(split_by_parts(parts, rows));
    let places: Vec<_> = both.map(|((part, hints), (_, rows))| (part, hints, rows)).collect();
    places.into_par_iter().for_each_init(
        || (Vec::new(), Vec::new()),
        |(pairs, spare), (part, part_hints, part_rows)| {
            parts.gather(part, pairs);
            sort_pairs(pairs, spare, digits);
            for (hint, pair) in part_hints.iter_mut().zip(pairs.iter()) {
                *hint = pair.number();
            }
            if !keys.is_exact() {
                for_runs(pairs, Pair::number, |run| sort_ties(keys, run, 1));
            }
            for (row, pair) in part_rows.iter_mut().zip(pairs.iter()) {
                *row = pair.row;
            }
        },
    );
}

/// Sorts the pairs of one part by number; those with equal numbers stay in row order.
///
/// Two passes over 8 bits each leave only short runs to compare if hints are spread evenly; if they are not,
/// the runs are long and comparing them costs what any sort costs.
pub(crate) fn sort_pairs(pairs: &mut Vec<Pair>, spare: &mut Vec<Pair>, digits: Digits) {
    if pairs.len() < SMALL_RUN {
        return sort_run(pairs);
    }
    let rest = digits.shift.saturating_sub(16);
    for shift in [rest, rest + 8] {
        if shift < digits.shift {
            sort_by_byte(pairs, spare, digits.base, shift);
        }
    }
    if rest > 0 {
        for_runs(pairs, |pair| (pair.number() - digits.base) >> rest, sort_run);
    }
}

/// Sorts pairs by 8 bits of their numbers, and keeps the order of those that are equal there.
fn sort_by_byte(pairs: &mut Vec<Pair>, spare: &mut Vec<Pair>, base: u64, shift: u32) {
    let byte = |pair: &Pair| ((pair.number() - base) >> shift & 0xff) as usize;
    let mut starts = [0_usize; 256];
    for pair in pairs.iter() {
        starts[byte(pair)] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    spare.clear();
    spare.resize(pairs.len(), Pair::default());
    for pair in pairs.iter() {
        let place = &mut starts[byte(pair)];
        spare[*place] = *pair;
        *place += 1;
    }
    std::mem::swap(pairs, spare);
}

/// Calls `each` with every run of two or more neighbours that are equal in `by`.
fn for_runs(pairs: &mut [Pair], by: impl Fn(&Pair) -> u64, mut each: impl FnMut(&mut [Pair])) {
    for run in pairs.chunk_by_mut(|one, two| by(one) == by(two)) {
        if run.len() > 1 {
            each(run);
        }
    }
}

/// Sorts pairs by number and row.
fn sort_run(run: &mut [Pair]) {
    let by = |pair: &Pair| (pair.number(), pair.row);
    if run.len() >= LARGE_RUN { run.par_sort_unstable_by_key(by) } else { run.sort_unstable_by_key(by) }
}

/// Sorts pairs whose keys are equal in their first `depth` times 8 bytes by key and row.
fn sort_ties(keys: &Keys, run: &mut [Pair], depth: usize) {
    if run.len() < TIES_BY_HINT || depth >= TIE_DEPTH_MAX || !make_deeper_hints(keys, run, depth) {
        let by = |one: &Pair, two: &Pair| keys.compare(one.row, two.row).then(one.row.cmp(&two.row));
        return if run.len() >= LARGE_RUN { run.par_sort_unstable_by(by) } else { run.sort_unstable_by(by) };
    }
    sort_run(run);
    for_runs(run, Pair::number, |ties| sort_ties(keys, ties, depth + 1));
}

/// Makes the numbers of pairs the 8 bytes at `depth` of their keys, and says whether any key is so long.
fn make_deeper_hints(keys: &Keys, run: &mut [Pair], depth: usize) -> bool {
    let deepen = |buffer: &mut Vec<u8>, pair: &mut Pair| {
        let rest = keys.normalised(pair.row, buffer).get(depth * 8..).unwrap_or_default();
        *pair = Pair::new(hint(rest), pair.row);
        !rest.is_empty()
    };
    if run.len() >= LARGE_RUN {
        run.par_iter_mut().map_init(Vec::new, deepen).reduce(|| false, |one, two| one | two)
    } else {
        let mut buffer = Vec::new();
        run.iter_mut().fold(false, |any, pair| deepen(&mut buffer, pair) | any)
    }
}
