//! Builds hash indexes in bulk at their exact size, and probes them (docs/FORMAT.md, "Hash index").
//!
//! Input: the keys of many rows, or a key's hash and a way to read a bucket. Output: buckets in file order,
//! or the slots that may have the key. Does not depend on where buckets are stored, nor on the form of a key.
//!
//! A bucket is one cache line: 12 tags of 8 bits, 12 rows, and 32 bits that say which keys of this bucket
//! did not fit and are in a later one. At 9 keys a bucket, 3 % of the keys are in a later one. A look-up of
//! an absent key reads 1.01 buckets on average, and 4 % of these look-ups read a row that does not match.

use crate::error::Result;
use crate::format::{BUCKET_SLOT_COUNT, GROUP_MARK};
use crate::sort::keys::Keys;
use crate::sort::partition::{Pair, Parts, part_count, partition};
use crate::sort::radix::{Digits, sort_pairs};
use crate::sort::row_set::narrow;
use rayon::prelude::*;
use std::cmp::Ordering;

/// One cache line of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Bucket {
    pub(crate) tags: [u8; BUCKET_SLOT_COUNT],
    pub(crate) overflow: u32,
    pub(crate) rows: [u32; BUCKET_SLOT_COUNT],
}

/// Keys in a bucket, on average.
const LOAD: u64 = 9;
/// Number of parts in which distinct keys are counted to estimate their total. Hashing makes all parts
/// similar.
const SAMPLED_PARTS: usize = 16;
/// Parts whose buckets are built at once and then written.
const WAVE_PARTS: usize = 64;

/// Returns the bucket where a key's search begins.
#[inline]
pub(crate) fn home(hash: u64, home_count: u64) -> u64 {
    ((hash >> 32) * home_count) >> 32
}

/// Returns the tag for a key's slot, never 0.
#[inline]
pub(crate) fn tag_of(hash: u64) -> u8 {
    let [low, ..] = hash.to_le_bytes();
    low.max(1)
}

/// Returns the key's bit among its bucket's overflow bits.
#[inline]
fn overflow_bit(hash: u64) -> u32 {
    1 << (hash >> 8 & 31)
}

impl Bucket {
    /// Returns a bit for each slot with the key's tag.
    #[inline]
    fn matches(&self, tag: u8) -> u64 {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = self.tags;
        let repeated = u64::from(tag) * 0x0101_0101_0101_0101;
        let first = zero_bytes(u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ repeated);
        let second = zero_bytes(u64::from_le_bytes([i, j, k, l, 0, 0, 0, 0]) ^ repeated);
        first | (second & 0xf) << 8
    }

    /// Returns whether the search for a key continues in the next bucket.
    #[inline]
    pub(crate) fn leads_on(&self, hash: u64) -> bool {
        self.overflow & overflow_bit(hash) != 0
    }

    /// Puts a key into a free slot. If none is free, notes that the key is in a later bucket, and returns
    /// false.
    #[inline]
    fn insert(&mut self, key: &Pair) -> bool {
        match self.tags.iter().position(|&tag| tag == 0) {
            Some(slot) => {
                self.tags[slot] = tag_of(key.number());
                self.rows[slot] = key.row;
                true
            }
            None => {
                self.overflow |= overflow_bit(key.number());
                false
            }
        }
    }
}

/// Returns a bit for each zero byte of a number.
#[inline]
fn zero_bytes(number: u64) -> u64 {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The high bit of a byte stays 0 only if the byte is zero; there are no carries between bytes.
    let marked = !(((number & LOW_BITS) + LOW_BITS) | number | LOW_BITS);
    // The product gathers the bits of all bytes in the highest byte.
    marked.wrapping_mul(0x0002_0408_1020_4081) >> 56
}

/// Visits the slots that may have the key with this hash: a row each, or the marked place of a group of rows.
///
/// `bucket` reads one of `bucket_count` buckets. `home_count` of them are home buckets. `visit` returns
/// false to end the search.
#[inline]
pub(crate) fn probe<'a>(
    hash: u64,
    home_count: u64,
    bucket_count: u64,
    bucket: impl Fn(u64) -> Result<&'a Bucket>,
    mut visit: impl FnMut(u32) -> Result<bool>,
) -> Result<()> {
    let mut number = home(hash, home_count);
    while number < bucket_count {
        let bucket = bucket(number)?;
        let mut matches = bucket.matches(tag_of(hash));
        while matches != 0 {
            let slot = matches.trailing_zeros() as usize;
            if !visit(bucket.rows[slot])? {
                return Ok(());
            }
            matches &= matches - 1;
        }
        if !bucket.leads_on(hash) {
            return Ok(());
        }
        number += 1;
    }
    Ok(())
}

/// The result of building, besides the buckets.
#[derive(Debug)]
pub(crate) struct HashBuilt {
    /// How many of the buckets are home buckets.
    pub(crate) home_count: u64,
    /// The rows of keys that several rows have.
    pub(crate) groups: Vec<u32>,
}

/// Builds the index of `keys` and gives its buckets to `sink`, in file order.
///
/// `is_unique` says that hardly any key is expected twice, which saves counting. The result is correct
/// either way. Memory: 12 bytes a row, 4 more for each row that shares its key, and some MiB.
pub(crate) fn build(
    keys: &Keys,
    is_unique: bool,
    sink: &mut dyn FnMut(&[Bucket]) -> Result<()>,
) -> Result<HashBuilt> {
    let count = part_count(keys.len());
    let part = |hash: u64| narrow(home(hash, u64::from(count)));
    let parts = partition(keys.len(), count, |rows, out| keys.hashes(rows, out), part);
    let key_count = if is_unique { u64::from(keys.len()) } else { estimate_keys(keys, &parts) };
    let homes_per_part = key_count.div_ceil(LOAD * u64::from(count)).max(1);
    let mut built = HashBuilt { home_count: homes_per_part * u64::from(count), groups: Vec::new() };
    let mut carried = Vec::new();
    for wave in (0..parts.count()).step_by(WAVE_PARTS) {
        let end = parts.count().min(wave + WAVE_PARTS);
        let made = (wave..end).into_par_iter().map_init(Scratch::default, |scratch, part| {
            group_part(keys, &parts, part, scratch);
            place_part(scratch, part, homes_per_part, built.home_count)
        });
        for mut placed in made.collect::<Vec<Placed>>() {
            placed.shift_groups(narrow(built.groups.len() as u64));
            carried = place_carried(&mut placed.buckets, carried);
            carried.append(&mut placed.carried);
            built.groups.append(&mut placed.groups);
            sink(&placed.buckets)?;
        }
    }
    while !carried.is_empty() {
        let mut bucket = [Bucket::default()];
        carried = place_carried(&mut bucket, carried);
        sink(&bucket)?;
    }
    Ok(built)
}

/// Returns an upper bound of the number of buckets for this many rows. Does not count the few buckets at the
/// end, for keys that did not fit before.
pub(crate) fn bucket_count_max(row_count: u32) -> u64 {
    let count = u64::from(part_count(row_count));
    u64::from(row_count).div_ceil(LOAD * count).max(1) * count + 64
}

/// Memory that one thread reuses for each part.
#[derive(Default)]
struct Scratch {
    pairs: Vec<Pair>,
    spare: Vec<Pair>,
    groups: Vec<u32>,
}

/// One part's buckets.
struct Placed {
    buckets: Vec<Bucket>,
    groups: Vec<u32>,
    /// Keys that did not fit before the end of the part.
    carried: Vec<Pair>,
}

impl Placed {
    /// Converts places in this part's groups to places in all groups, where `base` rows come before.
    fn shift_groups(&mut self, base: u32) {
        if base == 0 || self.groups.is_empty() {
            return;
        }
        let rows = self.buckets.iter_mut().flat_map(|bucket| &mut bucket.rows);
        for row in rows.chain(self.carried.iter_mut().map(|key| &mut key.row)) {
            if *row & GROUP_MARK != 0 {
                *row += base;
            }
        }
    }
}

/// Estimates the number of distinct keys.
fn estimate_keys(keys: &Keys, parts: &Parts) -> u64 {
    let sampled = parts.count().min(SAMPLED_PARTS);
    let counts = (0..sampled).into_par_iter().map_init(Scratch::default, |scratch, part| {
        group_part(keys, parts, part, scratch);
        scratch.pairs.len() as u64
    });
    let found: u64 = counts.sum();
    (found * parts.count() as u64).div_ceil(sampled as u64)
}

/// Gathers one part and keeps one pair for each distinct key, with its row or with the marked place of its
/// rows in `groups`.
fn group_part(keys: &Keys, parts: &Parts, part: usize, scratch: &mut Scratch) {
    let Scratch { pairs, spare, groups } = scratch;
    parts.gather(part, pairs);
    sort_pairs(pairs, spare, Digits { base: 0, shift: 64 - (parts.count().trailing_zeros()) });
    groups.clear();
    if pairs.windows(2).any(|pair| pair[0].number() == pair[1].number()) {
        spare.clear();
        group_equal(pairs, |one, two| keys.compare(one, two), spare, groups);
        std::mem::swap(pairs, spare);
    }
}

/// Merges all rows with the same key into one pair. Pairs are in the order of their hashes and rows.
/// Different keys may have the same hash: `compare` compares the keys of two rows.
fn group_equal(
    pairs: &mut [Pair],
    compare: impl Fn(u32, u32) -> Ordering,
    keys: &mut Vec<Pair>,
    groups: &mut Vec<u32>,
) {
    for run in pairs.chunk_by_mut(|one, two| one.number() == two.number()) {
        if let [alone] = run {
            keys.push(*alone);
            continue;
        }
        let is_one_key = run.iter().all(|pair| compare(run[0].row, pair.row).is_eq());
        if !is_one_key {
            run.sort_by(|one, two| compare(one.row, two.row));
        }
        for group in run.chunk_by(|one, two| is_one_key || compare(one.row, two.row).is_eq()) {
            keys.push(Pair::new(group[0].number(), add_group(group, groups)));
        }
    }
}

/// Returns the slot of a key with these rows.
fn add_group(group: &[Pair], groups: &mut Vec<u32>) -> u32 {
    let [first @ .., last] = group else { unreachable!("a group has a row") };
    if first.is_empty() {
        return last.row;
    }
    let place = narrow(groups.len() as u64);
    groups.extend(first.iter().map(|pair| pair.row));
    groups.push(last.row | GROUP_MARK);
    place | GROUP_MARK
}

/// Puts the keys of one part into its buckets, in the order of their hashes.
fn place_part(scratch: &Scratch, part: usize, homes_per_part: u64, home_count: u64) -> Placed {
    let mut buckets = vec![Bucket::default(); narrow(homes_per_part) as usize];
    let first = part as u64 * homes_per_part;
    let mut carried = Vec::new();
    for key in &scratch.pairs {
        let place = home(key.number(), home_count) - first;
        if !insert_from(&mut buckets, narrow(place) as usize, key) {
            carried.push(*key);
        }
    }
    Placed { buckets, groups: scratch.groups.clone(), carried }
}

/// Puts keys that did not fit into earlier buckets into these, and returns those that do not fit here
/// either.
fn place_carried(buckets: &mut [Bucket], mut carried: Vec<Pair>) -> Vec<Pair> {
    carried.retain(|key| !insert_from(buckets, 0, key));
    carried
}

fn insert_from(buckets: &mut [Bucket], first: usize, key: &Pair) -> bool {
    buckets.iter_mut().skip(first).any(|bucket| bucket.insert(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_the_same_hash_are_told_apart() {
        // Rows 0 to 5 have the keys a b a c b a, all with one hash; row 6 is alone.
        let key = |row: u32| b"abacbad"[row as usize];
        let mut pairs: Vec<Pair> = (0..7).map(|row| Pair::new(if row < 6 { 8 } else { 9 }, row)).collect();
        let (mut keys, mut groups) = (Vec::new(), Vec::new());
        group_equal(&mut pairs, |one, two| key(one).cmp(&key(two)), &mut keys, &mut groups);
        assert_eq!(groups, [0, 2, 5 | GROUP_MARK, 1, 4 | GROUP_MARK]);
        let slots =
            [Pair::new(8, GROUP_MARK), Pair::new(8, 3 | GROUP_MARK), Pair::new(8, 3), Pair::new(9, 6)];
        assert_eq!(keys, slots);
    }

    #[test]
    fn tags_are_matched_wherever_they_are() {
        for slot in 0..BUCKET_SLOT_COUNT {
            for tag in 1..=255_u8 {
                let mut bucket = Bucket { tags: [tag ^ 0x80; BUCKET_SLOT_COUNT], ..Bucket::default() };
                bucket.tags[slot] = tag;
                assert_eq!(bucket.matches(tag), 1 << slot, "tag {tag} in slot {slot}");
                bucket.tags = [tag; BUCKET_SLOT_COUNT];
                assert_eq!(bucket.matches(tag), (1 << BUCKET_SLOT_COUNT) - 1);
                assert_eq!(bucket.matches(tag.wrapping_add(1).max(1)), 0);
            }
        }
    }
}
