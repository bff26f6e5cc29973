//! The one pass over the disk: what was added, moved, changed and gone since the last one.
//!
//! Data flows one way: `scan` lists directories and compares them with rows, `plan` decides, `contents` reads
//! what is new, `ingest` makes rows of it, `commit` writes. In: roots. Out: a new state of the store, and a
//! summary. Must not know terminals or queries.

mod adopt;
mod batch;
mod commit;
mod compare;
mod contents;
mod dates;
mod ingest;
mod known;
mod lazy;
mod leftovers;
mod link;
mod listing;
mod lookup;
mod moves;
mod people;
mod plan;
mod reader;
pub(crate) mod roots;
mod scan;
mod scanned;
#[cfg(test)]
mod tests;
mod tidy;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::remedy::Remedy;
use crate::state::Root;
use crate::tables::HeaderCodec;
use crate::{open, rows, user};
pub use adopt::{Adopted, adopt};
use batch::RootChange;
use commit::Session;
pub(crate) use leftovers::TEXT_MERGE_LOCK;
use plan::Gone;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
pub(crate) use tidy::merge_due;
use work::{Progress, Stage};

/// How much the pass trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Names and inodes; a closer look at drafts.
    Default,
    /// The times of directories: one that has not changed is not read. Drafts as by default.
    Lazy,
    /// Size and times of every file.
    Thorough,
}

/// What becomes of rows whose file is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// They go: what the pass did not see is gone.
    Pass,
    /// They stay, until a pass with cleanup.
    Keep,
    /// They go, after each row's file was looked up on its own: slow, and sharing as little as can be with
    /// the pass. For comparison.
    Legacy,
}

/// What to do when most of a root's files are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Leave that root as it is and say so.
    Refuse,
    /// It is meant.
    Accept,
}

/// How to run a pass.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// How much to trust.
    pub mode: Mode,
    /// What to do when most files are gone.
    pub loss: Loss,
    /// What becomes of rows whose file is gone.
    pub cleanup: Cleanup,
    /// New messages after which what is done so far is published.
    pub batch_message_count: usize,
    /// Time after which what is done so far is published.
    pub batch_time: Duration,
    /// Content of one message that is held in memory; one that is longer is read in pieces.
    pub message_bytes_max: usize,
    /// Names of header fields that are indexed besides those that every message has.
    pub headers: Vec<String>,
    /// How header records are compressed, if this pass makes the index.
    pub codec: HeaderCodec,
}

impl Default for UpdateOptions {
    fn default() -> UpdateOptions {
        UpdateOptions {
            mode: Mode::Default,
            loss: Loss::Refuse,
            cleanup: Cleanup::Pass,
            batch_message_count: 65_536,
            batch_time: Duration::from_secs(30),
            message_bytes_max: 100 << 20,
            headers: Vec::new(),
            codec: HeaderCodec::default(),
        }
    }
}

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files seen.
    pub file_count: u64,
    /// New files, of them those with new content.
    pub added: u64,
    /// Messages that were not known before.
    pub new_messages: u64,
    /// Files moved, renamed or reflagged.
    pub moved: u64,
    /// Files whose content or times changed.
    pub changed: u64,
    /// Files gone.
    pub gone: u64,
    /// What could not be read, a sentence each; the rest was done.
    pub problems: Vec<Problem>,
    /// Directories that a file `.noindex` leaves out, with everything below them.
    pub excluded: Vec<PathBuf>,
}

/// Ends the sentence of a problem with a directory that could not be read.
pub(crate) const STAYS: &str = "; what is indexed of it stays";

/// Something that could not be read or was not done; everything else was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong, for people.
    pub what: String,
    /// What helps, where the program has a command or an option for it.
    pub remedy: Option<Remedy>,
}

impl Problem {
    /// Returns a problem against which the program has no remedy.
    pub(crate) fn new(path: PathBuf, what: String) -> Problem {
        Problem { path, what, remedy: None }
    }
}

/// Brings the index in step with the disk.
///
/// # Errors
/// [`Error::Interrupted`] when the observer asked to stop; what was done is published. Damage and a full
/// disk: the index is then as it was at the last publish.
pub fn update(
    environment: &Environment,
    roots: &[Root],
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    user::keep_twice(environment);
    observer.stage(Stage::List);
    let snapshot = match open::snapshot(environment) {
        Err(Error::NoIndex { .. }) => {
            roots::expect_mail(roots)?;
            open::create_or_open(environment, options.codec)?
        }
        other => other?,
    };
    let remembered = open::state(&snapshot, &environment.index_directory())?.roots;
    let folders = rows::folders(&snapshot)?;
    let all_roots = with_forgotten(roots, &remembered, &folders);
    let input = scanned::Input {
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

/// Brings some folders of the index in step with the disk, and leaves all others as they are. `folders` are
/// the paths of the directories that have `cur` and `new`, or had them: they may be new or gone. The folders
/// below them are not meant.
///
/// Every decision is that of [`update`]. A file that left one of these folders for another one of them is
/// moved, not read again. One that came from any other folder is read, and that folder's row stays until a
/// pass looks there.
///
/// Of the roots that hold the folders all directories are listed, but no other `cur` or `new` is read.
///
/// # Errors
/// [`Error::NoIndex`] if there is no index; as [`update`]. A folder that is in no root of the index is a
/// problem, no error.
pub fn update_folders(
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
    let input = scanned::Input {
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
        summary.problems.push(Problem::new(folder.clone(), "lies in no root of the index".to_owned()));
    }
    Ok(summary)
}

/// Scans, decides and publishes. `roots_after` says which roots to remember, of the places in the input of
/// those that stay as they were.
fn run(
    input: &scanned::Input<'_>,
    options: &UpdateOptions,
    observer: &dyn Progress,
    roots_after: impl FnOnce(&[usize]) -> RootChange,
) -> Result<Summary> {
    let environment = input.environment;
    let scan = scan::scan(input, observer)?;
    let gone = match options.cleanup {
        Cleanup::Pass => Gone::NotSeen,
        Cleanup::Keep => Gone::None,
        Cleanup::Legacy => {
            Gone::LookedUp(lookup::look_up(&scan, &known::Known::new(input.snapshot)?, observer)?)
        }
    };
    if observer.is_cancelled() {
        // What was not looked up, or not listed, may be there.
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
        leftovers::remove_after_failure(environment);
    }
    done.map(|()| summary)
}

/// Returns the roots, and after them those that are remembered, are no longer named, and still have rows:
/// their files count as gone, which a pass does not take for granted.
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

/// Returns the roots to remember: one of which nothing is known, a mistyped one perhaps, stays as it was
/// remembered, or is left out.
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
