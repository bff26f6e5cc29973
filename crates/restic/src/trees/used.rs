//! Marks the blobs that snapshots use, for check, prune and statistics.
//!
//! Input: the trees of snapshots, and all blobs by number. Output: a mark for each used blob, and what is
//! missing or cannot be read.
//!
//! Each tree is read once, however many snapshots have it. A mark is one bit. All copies of a used blob are
//! marked.

use crate::blob_index::Survey;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;
use crate::format::tree::{Node, NodeKind};
use crate::repository::Repository;
use crate::trees::walk::{Sharing, VisitedDirectory, Visitor, WalkProblem, walk};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// Faults of nodes that are kept; more would not help.
const FAULT_COUNT_MAX: usize = 1_000;

/// A bit for each of many numbers, set by many threads.
#[derive(Debug)]
pub(crate) struct Marks {
    words: Vec<AtomicU64>,
}

impl Marks {
    /// Returns marks for the numbers below `count`, none of them set.
    pub(crate) fn new(count: u32) -> Marks {
        Marks { words: (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Sets a mark. Returns whether it was not set before.
    pub(crate) fn set(&self, number: u32) -> bool {
        let bit = 1 << (number % 64);
        self.words
            .get(number as usize / 64)
            .is_some_and(|word| word.fetch_or(bit, Ordering::Relaxed) & bit == 0)
    }

    /// Returns whether a mark is set.
    pub(crate) fn has(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64).map_or(0, |word| word.load(Ordering::Relaxed));
        word >> (number % 64) & 1 == 1
    }
}

/// What snapshots use.
#[derive(Debug)]
pub(crate) struct Used {
    /// By the blobs' numbers.
    pub(crate) marks: Marks,
    /// What is missing, damaged or wrong, with its path.
    pub(crate) problems: Vec<WalkProblem>,
    /// The number of further problems.
    pub(crate) untold_count: usize,
    /// Files of all snapshots; a directory that several share is counted once.
    pub(crate) file_count: u64,
    /// Their bytes.
    pub(crate) file_bytes: u64,
}

/// Marks what the trees `roots` and all below them use.
///
/// # Errors
/// The index cannot be read, or [`Error::Interrupted`].
pub(crate) fn mark_used(
    repository: &Repository,
    survey: &Survey<'_>,
    roots: &[Id],
    progress: &dyn Progress,
) -> Result<Used> {
    let marker = Marker {
        survey,
        marks: Marks::new(survey.entry_count()),
        problems: Mutex::default(),
        untold_count: AtomicUsize::new(0),
        file_count: AtomicU64::new(0),
        file_bytes: AtomicU64::new(0),
    };
    for tree in roots {
        // One that is in no index is a problem of the walk.
        marker.mark(BlobKind::Tree, tree)?;
    }
    let mut problems = walk(repository, roots, Sharing::ByTree, &marker, progress)?;
    problems.append(&mut marker.problems.into_inner().unwrap_or_else(PoisonError::into_inner));
    problems.sort_by(|one, two| (&one.path, one.tree).cmp(&(&two.path, two.tree)));
    let (file_count, file_bytes) = (marker.file_count.into_inner(), marker.file_bytes.into_inner());
    let untold_count = marker.untold_count.into_inner();
    Ok(Used { marks: marker.marks, problems, untold_count, file_count, file_bytes })
}

struct Marker<'a> {
    survey: &'a Survey<'a>,
    marks: Marks,
    problems: Mutex<Vec<WalkProblem>>,
    untold_count: AtomicUsize,
    file_count: AtomicU64,
    file_bytes: AtomicU64,
}

impl Marker<'_> {
    /// Marks all copies of a blob. Returns whether there is any.
    fn mark(&self, kind: BlobKind, id: &Id) -> Result<bool> {
        let mut numbers = Vec::new();
        self.survey.find(kind, id, &mut numbers)?;
        for &number in &numbers {
            self.marks.set(number);
        }
        Ok(!numbers.is_empty())
    }

    fn keep(&self, visited: &VisitedDirectory<'_>, node: &Node<'_>, error: Error) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < FAULT_COUNT_MAX {
            problems.push(WalkProblem { tree: *visited.tree, path: visited.path_of(node), error });
        } else {
            self.untold_count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Visitor for Marker<'_> {
    fn visit(&self, visited: &VisitedDirectory<'_>, node: &Node<'_>) -> Result<()> {
        let faulty = |what: &str| Error::damage(BlobKind::Tree.named(visited.tree), what);
        match node.kind {
            NodeKind::File => {
                self.file_count.fetch_add(1, Ordering::Relaxed);
                self.file_bytes.fetch_add(node.size, Ordering::Relaxed);
                let Some(content) = &node.content else {
                    self.keep(visited, node, faulty("a file has no list of its content"));
                    return Ok(());
                };
                for id in content.iter() {
                    if !self.mark(BlobKind::Data, id)? {
                        self.keep(visited, node, Error::NoBlob { what: BlobKind::Data.named(id) });
                    }
                }
            }
            NodeKind::Directory => match &node.subtree {
                // Whether it can be read is found when it is walked.
                Some(tree) => drop(self.mark(BlobKind::Tree, tree)?),
                None => self.keep(visited, node, faulty("a directory names no tree")),
            },
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_set_once() {
        let marks = Marks::new(130);
        assert!(marks.set(0) && marks.set(129) && !marks.set(129));
        assert!(marks.has(0) && marks.has(129) && !marks.has(128) && !marks.has(64));
        assert!(!marks.set(100_000) && !marks.has(100_000), "beyond the end nothing is marked");
    }
}
