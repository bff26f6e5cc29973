//! Chooses which packs a check reads.

use crate::blob_index::PackSummary;
use crate::encoding::id::Id;
use crate::repository::Repository;
use std::collections::HashMap;

/// How many packs a check reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ReadData {
    /// None: the check only looks whether they exist and have the right size.
    #[default]
    Nothing,
    /// This percentage of all packs, chosen at random.
    Percent(f64),
    /// All of them.
    All,
}

/// A pack to be read: its number, its name, its size in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenPack {
    pub(super) number: u32,
    pub(super) id: Id,
    pub(super) size_bytes: u64,
}

/// Chooses which of the packs that are there to read.
pub(super) fn choose(
    packs: &[PackSummary],
    stored: &HashMap<Id, u64>,
    read_data: ReadData,
    repository: &Repository,
) -> Vec<ChosenPack> {
    let there = (0..).zip(packs).filter_map(|(number, pack)| {
        stored.get(&pack.id).map(|&size_bytes| ChosenPack { number, id: pack.id, size_bytes })
    });
    let mut there: Vec<ChosenPack> = there.collect();
    let count = match read_data {
        ReadData::Nothing => 0,
        ReadData::All => there.len(),
        ReadData::Percent(percent) => {
            // Each kept or not by chance would now and then read nothing at all.
            shuffle(&mut there, repository);
            let wanted = (there.len() as f64 * percent / 100.0).ceil();
            // Not negative, and no more than there are.
            (0..there.len()).take_while(|&place| (place as f64) < wanted).count()
        }
    };
    there.truncate(count);
    there.sort_unstable_by_key(|chosen| chosen.id);
    there
}

fn shuffle(chosen: &mut [ChosenPack], repository: &Repository) {
    for last in (1..chosen.len()).rev() {
        let mut bytes = [0; 8];
        (repository.surroundings().fill_random)(&mut bytes);
        let place = u64::from_le_bytes(bytes) % (last as u64 + 1);
        chosen.swap(last, usize::try_from(place).unwrap_or(last));
    }
}
