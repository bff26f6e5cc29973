//! Chooses which copy of each blob stays, which packs are removed, and which are rewritten.
//!
//! Input: an inventory of the repository, and how much waste is tolerated. Output: a plan. Changes nothing.
//!
//! The rules are close to restic's (<https://restic.readthedocs.io/en/stable/060_forget.html>), and neither
//! program undoes what the other did. After a prune here restic may still find something to rewrite, for
//! three reasons. First, a pack is small if it is below 3.2 MiB, where restic derives the limit from the
//! sizes of all packs; so a tidy pack stays tidy whatever is added. Second, a small pack with some waste is
//! left alone as long as all waste together is tolerated, because keeping it costs less than rewriting it.
//! Third, if any waste is tolerated, only packs whose trees are uncompressed or mixed with data are
//! rewritten, where restic rewrites all trees with waste and all small packs. A user with this setting
//! wants to free space without reading and writing.

use super::inventory::Inventory;
use super::plan::{PackChoice, PruneFigures};
use crate::blob_index::{Entry, PackSummary};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::blob::BlobKind;
use crate::format::unpacked::Version;
use crate::repository::Repository;
use crate::trees::used::Marks;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Packs below this size are small and worth merging: 0.8 of restic's smallest pack size.
const SMALL_BYTES: u64 = (4 << 20) / 10 * 8;
/// Fewer small packs of a kind than this are left alone.
const SMALL_COUNT_MIN: usize = 10;

/// How much unused space may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxUnused {
    /// This percentage of what is left.
    Percent(u8),
    /// This many bytes.
    Bytes(u64),
    /// Any amount: only packs without used blobs are removed.
    Unlimited,
}

/// Options of a prune.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneOptions {
    /// How much unused space may stay.
    pub max_unused: MaxUnused,
}

impl Default for PruneOptions {
    fn default() -> PruneOptions {
        PruneOptions { max_unused: MaxUnused::Percent(5) }
    }
}

impl MaxUnused {
    /// Returns how many unused bytes may stay if `used_bytes` are used.
    fn bytes(self, used_bytes: u64) -> u64 {
        match self {
            // Of everything that remains, used and unused.
            MaxUnused::Percent(percent) if percent < 100 => {
                let part = u128::from(used_bytes) * u128::from(percent) / u128::from(100 - percent);
                u64::try_from(part).unwrap_or(u64::MAX)
            }
            MaxUnused::Bytes(bytes) => bytes,
            MaxUnused::Percent(_) | MaxUnused::Unlimited => u64::MAX,
        }
    }
}

/// The contents of one pack.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    used_count: u32,
    used_bytes: u64,
    unused_bytes: u64,
    /// It holds an uncompressed tree in a repository that compresses trees.
    is_old: bool,
}

/// Makes the plan.
pub(super) fn choose(
    repository: &Repository,
    inventory: &Inventory<'_>,
    options: &PruneOptions,
) -> Result<(PackChoice, PruneFigures)> {
    let mut tallies = vec![Tally::default(); inventory.packs.len()];
    let mut figures = PruneFigures { pack_count: inventory.stored.len() as u64, ..PruneFigures::default() };
    let keep = keep_one_of_each(inventory, &mut tallies, &mut figures)?;
    let is_compressing = repository.config().version == Version::Two;
    inventory.survey.for_each(|entry| {
        let tally = &mut tallies[entry.pack as usize];
        let length = u64::from(entry.blob.length);
        if keep.has(entry.number) {
            tally.is_old |=
                is_compressing && entry.blob.kind == BlobKind::Tree && entry.blob.uncompressed_length == 0;
            return;
        }
        tally.unused_bytes += length;
        if inventory.used.marks.has(entry.number) {
            figures.duplicate_count += 1;
            figures.duplicate_bytes += length;
        } else {
            figures.unused_blob_count += 1;
            figures.unused_bytes += length;
        }
    })?;
    let mut choice = PackChoice { remove: Vec::new(), repack: Vec::new(), gone: Vec::new(), keep };
    sort_packs(inventory, options, &tallies, (&mut choice, &mut figures));
    Ok((choice, figures))
}

/// Chooses one copy of each used blob, preferably in packs that stay anyway.
fn keep_one_of_each(
    inventory: &Inventory<'_>,
    tallies: &mut [Tally],
    figures: &mut PruneFigures,
) -> Result<Marks> {
    let keep = Marks::new(inventory.survey.entry_count());
    let mut several = Vec::new();
    let mut take = |entry: &Entry, tallies: &mut [Tally]| {
        keep.set(entry.number);
        let tally = &mut tallies[entry.pack as usize];
        tally.used_count += 1;
        tally.used_bytes += u64::from(entry.blob.length);
        figures.used_blob_count += 1;
        figures.used_bytes += u64::from(entry.blob.length);
    };
    let mut numbers = Vec::new();
    for number in (0..inventory.survey.entry_count()).filter(|&number| inventory.used.marks.has(number)) {
        let entry = inventory.survey.entry(number)?;
        numbers.clear();
        inventory.survey.find(entry.blob.kind, &entry.blob.id, &mut numbers)?;
        match numbers.as_slice() {
            [_only] => {
                let pack = &inventory.packs[entry.pack as usize];
                if !inventory.is_good(pack) {
                    return Err(not_good(inventory, pack, &entry));
                }
                take(&entry, tallies);
            }
            // Each group only once.
            _ if numbers.iter().min() == Some(&number) => several.push(numbers.clone()),
            _ => {}
        }
    }
    for copies in several {
        let copies =
            copies.iter().map(|&number| inventory.survey.entry(number)).collect::<Result<Vec<Entry>>>()?;
        let good = copies.iter().filter(|copy| inventory.is_good(&inventory.packs[copy.pack as usize]));
        let best = good.max_by_key(|copy| (tallies[copy.pack as usize].used_count, Reverse(copy.number)));
        match (best, copies.first()) {
            (Some(best), _) => take(best, tallies),
            (None, Some(first)) => {
                return Err(not_good(inventory, &inventory.packs[first.pack as usize], first));
            }
            (None, None) => {}
        }
    }
    Ok(keep)
}

fn not_good(inventory: &Inventory<'_>, pack: &PackSummary, entry: &Entry) -> Error {
    let file = FileName { kind: FileKind::Pack, id: pack.id };
    let blob = entry.blob.kind.named(&entry.blob.id);
    let what = match inventory.stored.get(&pack.id) {
        Some(size) => format!("it has {size} bytes, but index files say {}", pack.size_bytes),
        None => "it is missing".to_owned(),
    };
    Error::damage(file, format!("{what}; {blob} in it is needed, and nothing was removed"))
}

/// Sorts packs into those to remove, those to rewrite, and those that stay.
fn sort_packs(
    inventory: &Inventory<'_>,
    options: &PruneOptions,
    tallies: &[Tally],
    (choice, figures): (&mut PackChoice, &mut PruneFigures),
) {
    let (mut candidates, mut small) = (Vec::new(), Vec::new());
    for (number, (pack, tally)) in (0_u32..).zip(inventory.packs.iter().zip(tallies)) {
        let is_mixed = pack.data_count > 0 && pack.tree_count > 0;
        if tally.used_count == 0 {
            if inventory.stored.contains_key(&pack.id) {
                choice.remove.push(pack.id);
            } else {
                choice.gone.push(number);
            }
        } else if tally.unused_bytes > 0 || is_mixed || tally.is_old {
            candidates.push((number, pack, tally));
        } else if pack.size_bytes < SMALL_BYTES && options.max_unused != MaxUnused::Unlimited {
            small.push((number, pack, tally));
        }
    }
    for is_tree in [true, false] {
        let of_kind: Vec<_> = small.iter().filter(|(_, pack, _)| (pack.tree_count > 0) == is_tree).collect();
        // They are rewritten because they are many: merging several into one is worth the writing.
        if of_kind.len() >= SMALL_COUNT_MIN {
            candidates.extend(of_kind);
        }
    }
    // Trees first, which are small and read often. Then the packs with the most waste for the least
    // writing.
    candidates.sort_by_key(|(number, pack, tally)| {
        let per_mille = tally.unused_bytes * 1000 / pack.size_bytes.max(1);
        (pack.tree_count == 0, Reverse(per_mille), *number)
    });
    let tolerated = options.max_unused.bytes(figures.used_bytes);
    let mut left: u64 = candidates.iter().map(|(_, _, tally)| tally.unused_bytes).sum();
    for (number, pack, tally) in candidates {
        let is_wanted = left > tolerated || tally.unused_bytes == 0;
        if pack.tree_count > 0 && options.max_unused != MaxUnused::Unlimited || tally.is_old || is_wanted {
            choice.repack.push(number);
            figures.repacked_bytes += tally.used_bytes;
            left -= tally.unused_bytes;
        }
    }
    figures.left_bytes = left;
    count_removed(inventory, choice, figures);
}

/// Adds the packs that no index file names, and counts all packs to remove.
fn count_removed(inventory: &Inventory<'_>, choice: &mut PackChoice, figures: &mut PruneFigures) {
    let named: HashSet<_> = inventory.packs.iter().map(|pack| pack.id).collect();
    let mut unindexed: Vec<_> = inventory.stored.keys().filter(|id| !named.contains(id)).copied().collect();
    unindexed.sort_unstable();
    let bytes_of = |id: &Id| inventory.stored.get(id).copied().unwrap_or(0);
    figures.unindexed_pack_count = unindexed.len() as u64;
    figures.unindexed_bytes = unindexed.iter().map(bytes_of).sum();
    choice.remove.extend(unindexed);
    let repacked = choice.repack.iter().map(|&number| &inventory.packs[number as usize].id);
    let removed = choice.remove.iter().chain(repacked);
    figures.repacked_pack_count = choice.repack.len() as u64;
    figures.removed_pack_count = (choice.remove.len() + choice.repack.len()) as u64;
    figures.removed_bytes = removed.map(bytes_of).sum();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waste_is_counted_against_all_that_is_left() {
        assert_eq!(MaxUnused::Percent(5).bytes(95), 5);
        assert_eq!(MaxUnused::Percent(50).bytes(95), 95);
        assert_eq!(MaxUnused::Percent(0).bytes(95), 0);
        assert_eq!(MaxUnused::Percent(100).bytes(95), u64::MAX);
        assert_eq!(MaxUnused::Bytes(7).bytes(95), 7);
        assert_eq!(MaxUnused::Unlimited.bytes(0), u64::MAX);
    }
}
