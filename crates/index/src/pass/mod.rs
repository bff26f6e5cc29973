//! The pass over the disk: finds what was added, moved, changed and removed since the last one.
//!
//! This file begins a pass, and begins it again if others were faster. `session` is one attempt. In it data
//! flows one way: `scan` lists directories and compares them with rows, `plan` decides, and `commit` reads
//! new files, makes rows of them and publishes them. `adopt` adds messages that only an archive has. Input:
//! roots. Output: a new state of the store, and a summary. Must not know terminals or queries.

mod adopt;
mod attachments;
mod commit;
mod looked;
mod merge;
mod options;
mod orphans;
mod places;
mod plan;
mod renamed;
mod scan;
mod session;
mod summary;
#[cfg(test)]
mod tests;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::state::Root;
use crate::{first, open, rows, user};
pub use adopt::Adopted;
pub(crate) use adopt::adopt;
pub(crate) use attachments::{ATTACHMENTS_LOCK, read_attachments};
pub use attachments::{AttachmentsRead, Look, is_read_by};
use commit::{RootChange, SetAside};
pub(crate) use merge::{merge_due, merge_idle};
pub use options::{Cleanup, Loss, Mode, UpdateOptions};
pub(crate) use orphans::{TEXT_LOCK, TEXT_MERGER_LOCK};
pub use places::Places;
use scan::Input;
pub(crate) use scan::{expect_mail, is_unmounted};
use session::{Attempt, Ended};
use std::path::Path;
pub(crate) use summary::STAYS;
pub use summary::{Problem, Summary};
use work::{Progress, Stage};

/// How often a pass begins again because others wrote so much that its plan was of no use. From the second
/// time on it sets its numbers aside first, so that only an index that is replaced again and again stops it.
const ATTEMPTS_MAX: usize = 5;

/// Updates the index from the disk.
///
/// # Errors
/// [`Error::Interrupted`] if the observer cancelled the pass; finished batches are published. Damage and a
/// full disk: the index is then as it was at the last publish.
pub(crate) fn update(
    environment: &Environment,
    roots: &[Root],
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    user::keep_twice(environment);
    let summary = until_done(environment, options, observer, |set_aside| {
        let snapshot = match open::snapshot(environment) {
            Err(Error::NoIndex { .. }) => {
                expect_mail(roots)?;
                open::create_or_open(environment, options.codec)?
            }
            other => other?,
        };
        let remembered = open::state(&snapshot, &environment.index_directory())?.roots;
        let folders = rows::folders(&snapshot)?;
        let all_roots = with_forgotten(roots, &remembered, &folders);
        let input = Input {
            environment,
            snapshot: &snapshot,
            roots: &all_roots,
            named_count: roots.len(),
            only: None,
            folders,
            mode: options.mode,
            loss: options.loss,
            cleanup: options.cleanup,
        };
        session::run(&input, (options, set_aside), observer, |kept| {
            let wanted = to_remember(&all_roots, &remembered, kept);
            RootChange { remembered, wanted }
        })
    })?;
    first::end(environment)?;
    Ok(summary)
}

/// Updates some places of the index, and leaves everything else as it is.
///
/// Decides as [`update`] does. A file that moved between two of these places is moved in the index, not read
/// again. A file that came from elsewhere is read, and its old row stays until a pass looks there.
///
/// Lists only the directories of whole folders. If a folder is new or gone, walks through the roots that hold
/// it, and reads no `cur` or `new` of others.
///
/// # Errors
/// [`Error::NoIndex`] if there is no index; as [`update`]. A folder that is in no root of the index is a
/// problem, not an error.
pub(crate) fn update_places(
    environment: &Environment,
    places: &Places,
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    until_done(environment, options, observer, |set_aside| {
        let snapshot = open::snapshot(environment)?;
        let remembered = open::state(&snapshot, &environment.index_directory())?.roots;
        let is_in = |folder: &Path, root: &Root| folder.starts_with(&root.path);
        let holds_any = |root: &&Root| places.folders().any(|folder| is_in(folder, root));
        let roots: Vec<Root> = remembered.iter().filter(holds_any).cloned().collect();
        let input = Input {
            environment,
            snapshot: &snapshot,
            roots: &roots,
            named_count: roots.len(),
            only: Some(places),
            folders: rows::folders(&snapshot)?,
            mode: options.mode,
            loss: options.loss,
            cleanup: options.cleanup,
        };
        let wanted = remembered.clone();
        let roots_after = |_: &[usize]| RootChange { remembered, wanted };
        let mut attempt = session::run(&input, (options, set_aside), observer, roots_after)?;
        for folder in places.folders().filter(|folder| !roots.iter().any(|root| is_in(folder, root))) {
            let what = "is in no root of the index".to_owned();
            attempt.summary.problems.push(Problem::new(folder.to_owned(), what));
        }
        Ok(attempt)
    })
}

/// Runs a pass, and again from the beginning as long as its plan turns out to be of no use. Then merges what
/// is due, if the options say so.
fn until_done(
    environment: &Environment,
    options: &UpdateOptions,
    observer: &dyn Progress,
    pass: impl Fn(SetAside) -> Result<Attempt>,
) -> Result<Summary> {
    let all = || {
        let mut before = Summary::default();
        for attempt in 0..ATTEMPTS_MAX {
            observer.stage(Stage::List);
            let set_aside = if attempt == 0 { SetAside::IfMany } else { SetAside::Always };
            let Attempt { mut summary, ended } = pass(set_aside)?;
            summary.add_earlier(&before);
            if ended == Ended::Outdated {
                orphans::remove_after_failure(environment);
                before = summary;
                continue;
            }
            if ended == Ended::Done || summary.new_messages > 0 {
                if observer.is_cancelled() {
                    return Err(Error::Interrupted);
                }
                observer.stage(Stage::Merge);
                if options.merges {
                    merge_due(environment, summary.new_messages, observer)?;
                }
            }
            return Ok(summary);
        }
        Err(Error::Inconsistent { what: "the index was replaced again and again while it was updated" })
    };
    let done = all();
    if done.is_err() {
        orphans::remove_after_failure(environment);
    }
    done
}

/// Returns the roots, followed by the remembered roots that are no longer named but still have rows. Their
/// files may have moved to a root that is named. Others count as gone only if losses are accepted.
fn with_forgotten(roots: &[Root], remembered: &[Root], folders: &[rows::FolderRow]) -> Vec<Root> {
    let mut all = roots.to_vec();
    for root in remembered {
        if !all.iter().any(|named| named.name == root.name) && folders.iter().any(|row| row.root == root.name)
        {
            all.push(root.clone());
        }
    }
    all
}

/// Returns the roots to remember. An unknown root, perhaps with a mistyped path, keeps its remembered path,
/// or is left out if it has none.
fn to_remember(roots: &[Root], remembered: &[Root], kept: &[usize]) -> Vec<Root> {
    let choose = |(index, root): (usize, &Root)| {
        if kept.contains(&index) {
            remembered.iter().find(|known| known.name == root.name).cloned()
        } else {
            Some(root.clone())
        }
    };
    roots.iter().enumerate().filter_map(choose).collect()
}
