//! The pass over the disk: finds what was added, moved, changed and removed since the last one.
//!
//! Data flows one way: `scan` lists directories and compares them with rows, `plan` decides, and `commit`
//! reads new files, makes rows of them and publishes them. `adopt` adds messages that only an archive has.
//! Input: roots. Output: a new state of the store, and a summary. Must not know terminals or queries.

mod adopt;
mod commit;
mod merge;
mod options;
mod orphans;
mod plan;
mod scan;
mod summary;
#[cfg(test)]
mod tests;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::state::Root;
use crate::{open, rows, user};
pub use adopt::Adopted;
pub(crate) use adopt::adopt;
use commit::{RootChange, Session};
pub(crate) use merge::merge_due;
pub use options::{Cleanup, Loss, Mode, UpdateOptions};
pub(crate) use orphans::TEXT_MERGE_LOCK;
use plan::Gone;
use scan::{FileRows, Input, look_up};
pub(crate) use scan::{expect_mail, is_unmounted};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
pub(crate) use summary::STAYS;
pub use summary::{Problem, Summary};
use work::{Progress, Stage};

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
    observer.stage(Stage::List);
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
    run(&input, options, observer, |kept| {
        let wanted = to_remember(&all_roots, &remembered, kept);
        RootChange { remembered, wanted }
    })
}

/// Updates some folders of the index, and leaves all others as they are. `folders` are the paths of
/// directories that have `cur` and `new`, or had them: they may be new or gone. Folders below them are not
/// included.
///
/// Decides as [`update`] does. A file that moved between two of these folders is moved in the index, not read
/// again. A file that came from another folder is read, and its old row stays until a pass looks at that
/// folder.
///
/// Lists all directories of the roots that hold the folders, but reads no other `cur` or `new`.
///
/// # Errors
/// [`Error::NoIndex`] if there is no index; as [`update`]. A folder that is in no root of the index is a
/// problem, not an error.
pub(crate) fn update_folders(
    environment: &Environment,
    folders: &[PathBuf],
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    observer.stage(Stage::List);
    let snapshot = open::snapshot(environment)?;
    let remembered = open::state(&snapshot, &environment.index_directory())?.roots;
    let only: HashSet<&Path> = folders.iter().map(PathBuf::as_path).collect();
    let is_in = |folder: &Path, root: &Root| folder.starts_with(&root.path);
    let holds_any = |root: &&Root| only.iter().any(|folder| is_in(folder, root));
    let roots: Vec<Root> = remembered.iter().filter(holds_any).cloned().collect();
    let input = Input {
        environment,
        snapshot: &snapshot,
        roots: &roots,
        named_count: roots.len(),
        only: Some(&only),
        folders: rows::folders(&snapshot)?,
        mode: options.mode,
        loss: options.loss,
        cleanup: options.cleanup,
    };
    let wanted = remembered.clone();
    let mut summary = run(&input, options, observer, |_| RootChange { remembered, wanted })?;
    for folder in folders.iter().filter(|folder| !roots.iter().any(|root| is_in(folder, root))) {
        summary.problems.push(Problem::new(folder.clone(), "is in no root of the index".to_owned()));
    }
    Ok(summary)
}

/// Scans, decides and publishes. `roots_after` gets the indexes of the roots that stay as they were, and
/// returns which roots to remember.
fn run(
    input: &Input<'_>,
    options: &UpdateOptions,
    observer: &dyn Progress,
    roots_after: impl FnOnce(&[usize]) -> RootChange,
) -> Result<Summary> {
    let environment = input.environment;
    let scan = scan::scan(input, observer)?;
    let gone = match options.cleanup {
        Cleanup::Pass => Gone::NotSeen,
        Cleanup::Keep => Gone::None,
        Cleanup::Legacy => Gone::LookedUp(look_up(&scan, &FileRows::new(input.snapshot)?, observer)?),
    };
    if observer.is_cancelled() {
        // The scan is incomplete: files that it did not see may still exist.
        return Err(Error::Interrupted);
    }
    let plan = plan::plan(scan, options.loss, gone);
    let mut summary = plan.summary.clone();
    let change = roots_after(&plan.kept_roots);
    if plan.is_empty() && change.is_none() {
        return Ok(summary);
    }
    let done = Session::new(environment, &change, input.snapshot.version(), options, observer)
        .run(plan, &mut summary)
        .and_then(|()| if observer.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) })
        .and_then(|()| {
            observer.stage(Stage::Merge);
            merge_due(environment, summary.new_messages)
        });
    if done.is_err() {
        orphans::remove_after_failure(environment);
    }
    done.map(|()| summary)
}

/// Returns the roots, followed by the remembered roots that are no longer named but still have rows. Their
/// files count as gone, which needs the same confirmation as other large losses.
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
