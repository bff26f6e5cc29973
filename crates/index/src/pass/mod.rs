//! The one pass over the disk: what was added, moved, changed and gone since the last one.
//!
//! Data flows one way: `scan` lists directories and compares them with rows, `plan` decides, `contents` reads what is new, `ingest`
//! makes rows of it, `commit` writes. In: roots. Out: a new state of the store, and a summary. Must not know terminals or queries.

mod adopt;
mod batch;
mod commit;
mod compare;
mod contents;
mod ingest;
mod known;
mod lazy;
mod link;
mod listing;
mod lookup;
mod moves;
mod people;
mod plan;
mod reader;
pub(crate) mod roots;
mod scan;
#[cfg(test)]
mod tests;
mod tidy;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::state::Root;
use crate::tables::HeaderCodec;
use crate::{open, rows, user};
pub use adopt::{Adopted, adopt};
use batch::RootChange;
use commit::Session;
pub(crate) use commit::TEXT_MERGE_LOCK;
use plan::Gone;
use std::path::PathBuf;
use std::time::Duration;
pub(crate) use tidy::merge_due;

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
    /// They go, after each row's file was looked up on its own: slow, and sharing as little as can be with the pass. For comparison.
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
    /// Content of one message that is indexed; what is longer is cut there, counted and hashed whole.
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
    /// What is wrong and what to do about it, for people.
    pub what: String,
}

/// What the pass is doing, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Listing directories.
    Scan,
    /// Reading new files, this many.
    Read {
        /// How many.
        file_count: u64,
    },
    /// Merging segments.
    Merge,
}

/// Watches a pass, and may end it.
pub trait Observer: Sync {
    /// A stage begins.
    fn stage(&self, _stage: Stage) {}
    /// So many more files are done.
    fn advance(&self, _file_count: u64) {}
    /// Another process holds the lock; the pass waits.
    fn waiting(&self, _holder: &str) {}
    /// Returns whether to stop: what is done so far is then published.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Brings the index in step with the disk.
///
/// # Errors
/// [`Error::Interrupted`] when the observer asked to stop; what was done is published. Damage and a full disk: the index is then
/// as it was at the last publish.
pub fn update(
    environment: &Environment,
    roots: &[Root],
    options: &UpdateOptions,
    observer: &dyn Observer,
) -> Result<Summary> {
    user::keep_twice(environment);
    observer.stage(Stage::Scan);
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
    let input = scan::Input {
        environment,
        snapshot: &snapshot,
        roots: &all_roots,
        named_count: roots.len(),
        folders,
        mode: options.mode,
        loss: options.loss,
        cleanup: options.cleanup,
    };
    let scan = scan::scan(&input, observer)?;
    let gone = match options.cleanup {
        Cleanup::Pass => Gone::NotSeen,
        Cleanup::Keep => Gone::None,
        Cleanup::Legacy => Gone::LookedUp(lookup::look_up(&scan, &known::Known::new(&snapshot)?, observer)?),
    };
    if observer.is_interrupted() {
        // What was not looked up, or not listed, may be there.
        return Err(Error::Interrupted);
    }
    let plan = plan::plan(scan, options.loss, gone);
    let mut summary = plan.summary.clone();
    let wanted = to_remember(&all_roots, &remembered, &plan.kept_roots);
    if plan.is_empty() && remembered == wanted {
        return Ok(summary);
    }
    let change = RootChange { remembered, wanted };
    Session::new(environment, &change, snapshot.version(), options, observer).run(plan, &mut summary)?;
    if observer.is_interrupted() {
        return Err(Error::Interrupted);
    }
    observer.stage(Stage::Merge);
    merge_due(environment, summary.new_messages)?;
    Ok(summary)
}

/// Returns the roots, and after them those that are remembered, are no longer named, and still have rows: their files count as gone,
/// which a pass does not take for granted.
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

/// Returns the roots to remember: one of which nothing is known, a mistyped one perhaps, stays as it was remembered, or is left out.
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
