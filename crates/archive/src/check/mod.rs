//! Checking: whether all that snapshots name is there, and, if wanted, whether all that is stored can be read.
//!
//! Comes in: a repository. Goes out: what is wrong, a sentence each with the file's name, and what is merely untidy. Changes nothing. Must
//! not know how anything is mended.
//!
//! All faults are collected; none ends the check but a storage that cannot be reached.

mod packs;
mod read;

use crate::blob_index::PackSummary;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::progress::Progress;
use crate::repository::Repository;
use crate::snapshot;
use crate::storage::FileKind;
use crate::used::mark_used;
use crate::walk::shown_path;
use std::collections::HashMap;

/// What is read of the packs themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ReadData {
    /// Nothing: only whether they are there, with the right size.
    #[default]
    Nothing,
    /// So many hundredths of all packs, chosen by chance.
    Percent(f64),
    /// All of them.
    All,
}

/// What was found.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// What is wrong: snapshots may not be restored whole.
    pub faults: Vec<Error>,
    /// What is untidy, and does no harm. Each a sentence.
    pub hints: Vec<String>,
    /// Snapshots that were looked at.
    pub snapshot_count: u64,
    /// Packs that index files name.
    pub pack_count: u64,
    /// Blobs that index files name, copies included.
    pub blob_count: u64,
    /// Blobs that no snapshot uses.
    pub unused_blob_count: u64,
    /// Packs that were read.
    pub read_pack_count: u64,
}

/// Checks a repository.
///
/// # Errors
/// The storage cannot be reached, or [`Error::Interrupted`]. What is wrong with files is in the report.
pub fn check(repository: &Repository, read_data: ReadData, progress: &dyn Progress) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    // One whose index is read now, and that nobody else asks: it does without what is damaged.
    let repository = &repository.reread();
    // Snapshots first: all that they name is in the index by then.
    let threads = repository.surroundings().thread_count;
    let listed = snapshot::list(repository.storage(), repository.key(), threads)?;
    report.faults.extend(listed.unread.into_iter().map(|(_, error)| error));
    report.snapshot_count = listed.snapshots.len() as u64;
    let index = repository.load_sound_index(progress, &mut report.faults)?;
    let survey = index.survey()?;
    let packs = survey.packs()?;
    (report.pack_count, report.blob_count) = (packs.len() as u64, survey.entry_count().into());
    let stored = repository.storage().list(FileKind::Pack)?.into_iter().collect();
    packs::compare(&packs, &stored, &mut report);
    report.hints.extend(hint_of_unfinished(repository.storage().unfinished_count()?));
    let roots: Vec<Id> = listed.snapshots.iter().map(|(_, snapshot)| snapshot.tree).collect();
    let used = mark_used(repository, &survey, &roots, progress)?;
    let numbers = 0..survey.entry_count();
    report.unused_blob_count = numbers.filter(|&number| !used.marks.has(number)).count() as u64;
    report.faults.extend(
        used.problems
            .into_iter()
            .map(|problem| Error::At { path: shown_path(&problem.path), source: Box::new(problem.error) }),
    );
    if used.untold_count > 0 {
        report.hints.push(format!("{} more faults of snapshots are not listed", used.untold_count));
    }
    let chosen = choose(&packs, &stored, read_data, repository);
    report.read_pack_count = chosen.len() as u64;
    report.faults.append(&mut read::read_packs(repository, &survey, &chosen, progress)?);
    Ok(report)
}

fn hint_of_unfinished(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some(
            "1 file is left of a write that was killed, or of one that is going on; prune removes it"
                .to_owned(),
        ),
        _ => Some(format!(
            "{count} files are left of writes that were killed, or of some that are going on; prune removes them"
        )),
    }
}

/// A pack to be read: its number, its name, its size in bytes.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    number: u32,
    id: Id,
    size_bytes: u64,
}

/// Chooses which of the packs that are there to read.
fn choose(
    packs: &[PackSummary],
    stored: &HashMap<Id, u64>,
    read_data: ReadData,
    repository: &Repository,
) -> Vec<Chosen> {
    let there = (0..).zip(packs).filter_map(|(number, pack)| {
        stored.get(&pack.id).map(|&size_bytes| Chosen { number, id: pack.id, size_bytes })
    });
    let mut there: Vec<Chosen> = there.collect();
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

fn shuffle(chosen: &mut [Chosen], repository: &Repository) {
    for last in (1..chosen.len()).rev() {
        let mut bytes = [0; 8];
        (repository.surroundings().fill_random)(&mut bytes);
        let place = u64::from_le_bytes(bytes) % (last as u64 + 1);
        chosen.swap(last, usize::try_from(place).unwrap_or(last));
    }
}
