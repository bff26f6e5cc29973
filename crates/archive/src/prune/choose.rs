//! Chooses which copy of each blob stays, which packs go, and which are written anew.
//!
//! Comes in: what there is, and how much waste is tolerated. Goes out: a plan. Changes nothing.
//!
//! The rules are close to restic's (<https://restic.readthedocs.io/en/stable/060_forget.html>), and neither program undoes what the other
//! did; but after ours restic may still find something to write anew, for three reasons. What is small we say of each pack by itself, below
//! 3.2 MiB, where restic counts from the sizes of all packs: so that a pack which is tidy stays so whatever is added. A small pack with
//! some waste we leave as long as all waste together is tolerated: it costs less to keep than to write. And who tolerates any waste has
//! nothing written anew by us but trees that are not compressed or lie beside data, where restic rewrites all trees with waste and small
//! packs: what is asked for then is that space be freed without reading and writing.

use super::look::Look;
use super::{Choice, PruneFigures};
use crate::blob::BlobKind;
use crate::blob_index::{Entry, PackSummary};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::repository::Repository;
use crate::storage::{FileKind, FileName};
use crate::unpacked::Version;
use crate::used::Marks;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Packs below this are small: together they make fewer files. 0.8 of the least that restic lets a pack have.
const SMALL_BYTES: u64 = (4 << 20) / 10 * 8;
/// So many small packs of a kind are left alone.
const SMALL_COUNT_MIN: usize = 10;

/// How much waste may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxUnused {
    /// So many hundredths of all that is left.
    Percent(u8),
    /// So many bytes.
    Bytes(u64),
    /// Any: only packs of which nothing is used go.
    Unlimited,
}

/// How to prune.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneOptions {
    /// How much waste may stay.
    pub max_unused: MaxUnused,
}

impl Default for PruneOptions {
    fn default() -> PruneOptions {
        PruneOptions { max_unused: MaxUnused::Percent(5) }
    }
}

impl MaxUnused {
    /// Returns how many unused bytes may stay beside so many used ones.
    fn bytes(self, used_bytes: u64) -> u64 {
        match self {
            // Of all that is left, used and unused.
            MaxUnused::Percent(percent) if percent < 100 => {
                let part = u128::from(used_bytes) * u128::from(percent) / u128::from(100 - percent);
                u64::try_from(part).unwrap_or(u64::MAX)
            }
            MaxUnused::Bytes(bytes) => bytes,
            MaxUnused::Percent(_) | MaxUnused::Unlimited => u64::MAX,
        }
    }
}

/// What one pack holds.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    used_count: u32,
    used_bytes: u64,
    unused_bytes: u64,
    /// It holds a tree that is not compressed, in a repository whose trees are.
    is_old: bool,
}

/// Makes the plan.
pub(super) fn choose(
    repository: &Repository,
    look: &Look<'_>,
    options: &PruneOptions,
) -> Result<(Choice, PruneFigures)> {
    let mut tallies = vec![Tally::default(); look.packs.len()];
    let mut figures = PruneFigures { pack_count: look.stored.len() as u64, ..PruneFigures::default() };
    let keep = keep_one_of_each(look, &mut tallies, &mut figures)?;
    let is_compressing = repository.config().version == Version::Two;
    look.survey.for_each(|entry| {
        let tally = &mut tallies[entry.pack as usize];
        let length = u64::from(entry.blob.length);
        if keep.has(entry.number) {
            tally.is_old |=
                is_compressing && entry.blob.kind == BlobKind::Tree && entry.blob.uncompressed_length == 0;
            return;
        }
        tally.unused_bytes += length;
        if look.used.marks.has(entry.number) {
            figures.duplicate_count += 1;
            figures.duplicate_bytes += length;
        } else {
            figures.unused_blob_count += 1;
            figures.unused_bytes += length;
        }
    })?;
    let mut choice = Choice { remove: Vec::new(), repack: Vec::new(), gone: Vec::new(), keep };
    sort_packs(look, options, &tallies, (&mut choice, &mut figures));
    Ok((choice, figures))
}

/// Chooses one copy of each used blob, where copies are in packs that stay anyway.
fn keep_one_of_each(look: &Look<'_>, tallies: &mut [Tally], figures: &mut PruneFigures) -> Result<Marks> {
    let keep = Marks::new(look.survey.entry_count());
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
    for number in (0..look.survey.entry_count()).filter(|&number| look.used.marks.has(number)) {
        let entry = look.survey.entry(number)?;
        numbers.clear();
        look.survey.find(entry.blob.kind, &entry.blob.id, &mut numbers)?;
        match numbers.as_slice() {
            [_only] => {
                let pack = &look.packs[entry.pack as usize];
                if !look.is_good(pack) {
                    return Err(not_good(look, pack, &entry));
                }
                take(&entry, tallies);
            }
            // Each group once.
            _ if numbers.iter().min() == Some(&number) => several.push(numbers.clone()),
            _ => {}
        }
    }
    for copies in several {
        let copies =
            copies.iter().map(|&number| look.survey.entry(number)).collect::<Result<Vec<Entry>>>()?;
        let good = copies.iter().filter(|copy| look.is_good(&look.packs[copy.pack as usize]));
        let best = good.max_by_key(|copy| (tallies[copy.pack as usize].used_count, Reverse(copy.number)));
        match (best, copies.first()) {
            (Some(best), _) => take(best, tallies),
            (None, Some(first)) => return Err(not_good(look, &look.packs[first.pack as usize], first)),
            (None, None) => {}
        }
    }
    Ok(keep)
}

fn not_good(look: &Look<'_>, pack: &PackSummary, entry: &Entry) -> Error {
    let file = FileName { kind: FileKind::Pack, id: pack.id };
    let blob = entry.blob.kind.named(&entry.blob.id);
    let what = match look.stored.get(&pack.id) {
        Some(size) => format!("it has {size} bytes, and index files say {}", pack.size_bytes),
        None => "it is missing".to_owned(),
    };
    Error::damage(file, format!("{what}; {blob} in it is needed, and nothing was removed"))
}

/// Sorts packs into those that go, those that are written anew, and those that stay as they are.
fn sort_packs(
    look: &Look<'_>,
    options: &PruneOptions,
    tallies: &[Tally],
    (choice, figures): (&mut Choice, &mut PruneFigures),
) {
    let (mut candidates, mut small) = (Vec::new(), Vec::new());
    for (number, (pack, tally)) in (0_u32..).zip(look.packs.iter().zip(tallies)) {
        let is_mixed = pack.data_count > 0 && pack.tree_count > 0;
        if tally.used_count == 0 {
            if look.stored.contains_key(&pack.id) {
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
        // Their number is what is wrong with them: one made of several is worth writing them anew.
        if of_kind.len() >= SMALL_COUNT_MIN {
            candidates.extend(of_kind);
        }
    }
    // Trees first, which are small and read often; then the most waste for the least writing.
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
    count_removed(look, choice, figures);
}

/// Adds the packs that no index file names, and counts all that go.
fn count_removed(look: &Look<'_>, choice: &mut Choice, figures: &mut PruneFigures) {
    let named: HashSet<_> = look.packs.iter().map(|pack| pack.id).collect();
    let mut unindexed: Vec<_> = look.stored.keys().filter(|id| !named.contains(id)).copied().collect();
    unindexed.sort_unstable();
    let bytes_of = |id: &Id| look.stored.get(id).copied().unwrap_or(0);
    figures.unindexed_pack_count = unindexed.len() as u64;
    figures.unindexed_bytes = unindexed.iter().map(bytes_of).sum();
    choice.remove.extend(unindexed);
    let repacked = choice.repack.iter().map(|&number| &look.packs[number as usize].id);
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
