//! Checks a repository: whether everything that snapshots name exists and, if wanted, whether all stored
//! data can be read.
//!
//! Output: faults, each a sentence with the file's name, and hints on what is merely untidy. Changes nothing
//! and knows nothing of repairs.
//!
//! All faults are collected. Only a storage that cannot be reached ends the check.

mod choose;
mod packs;
mod read;
mod report;

pub use choose::ReadData;
pub use report::{CheckReport, Hint};

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::FileKind;
use crate::repository::Repository;
use crate::trees::used::mark_used;
use crate::trees::walk::shown_path;
use work::Progress;

/// Checks a repository.
///
/// # Errors
/// The storage cannot be reached, or [`Error::Interrupted`]. What is wrong with files is in the report.
pub fn check(repository: &Repository, read_data: ReadData, progress: &dyn Progress) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    // A separate handle whose index is read now. That index leaves out damaged files.
    let repository = &repository.reread();
    // Snapshots first, so that everything they name is in the index.
    let listed = repository.snapshots()?;
    report.faults.extend(listed.unread.into_iter().map(|(_, error)| error));
    report.snapshot_count = listed.snapshots.len() as u64;
    let index = repository.load_sound_index(progress, &mut report.faults)?;
    let survey = index.survey()?;
    let packs = survey.packs()?;
    (report.pack_count, report.blob_count) = (packs.len() as u64, survey.entry_count().into());
    let stored = repository.storage().list(FileKind::Pack)?.into_iter().collect();
    packs::compare(&packs, &stored, &mut report);
    report.hints.extend(hint_of_unfinished(repository.storage().unfinished_count()?).map(Hint::new));
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
        report
            .hints
            .push(Hint::new(format!("{} more faults of snapshots are not listed", used.untold_count)));
    }
    let chosen = choose::choose(&packs, &stored, read_data, repository);
    report.read_pack_count = chosen.len() as u64;
    report.faults.append(&mut read::read_packs(repository, &survey, &chosen, progress)?);
    Ok(report)
}

fn hint_of_unfinished(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some(
            "1 temporary file is left of a write that was killed or is still running; prune removes it"
                .to_owned(),
        ),
        _ => Some(format!(
            "{count} temporary files are left of writes that were killed or are still running; \
             prune removes them"
        )),
    }
}
