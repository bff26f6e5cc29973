//! Walks the trees of snapshots.
//!
//! Input: the id of a tree. Output: every entry below it, with the path of its directory. Does not depend on
//! mail.

use crate::blobs::entry::{Content, Entry};
use crate::blobs::reader::BlobReader;
use crate::error::{Error, Problem, Result};
use crate::paths::child;
use restic::{Id, Repeats};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use work::Progress;

/// Deepest directory that is entered. No system has paths of such a depth.
pub(crate) const DEPTH_MAX: usize = 2_048;

/// What a walk does with a tree that it has seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revisit {
    /// Enters it again: the caller needs all paths.
    Enter,
    /// Skips it: the caller needs only the content.
    Skip,
}

/// A walk over the trees of snapshots.
pub(crate) struct Walk<'a> {
    reader: &'a dyn BlobReader,
    progress: &'a dyn Progress,
    revisit: Revisit,
    seen: HashSet<Id>,
    repeats: Repeats,
}

impl<'a> Walk<'a> {
    /// Returns a walk that has seen no tree yet.
    pub(crate) fn new(reader: &'a dyn BlobReader, progress: &'a dyn Progress, revisit: Revisit) -> Walk<'a> {
        Walk { reader, progress, revisit, seen: HashSet::new(), repeats: Repeats::new(1) }
    }

    /// Returns whether this walk has seen a tree.
    pub(crate) fn has_met(&self, tree: &Id) -> bool {
        self.seen.contains(tree)
    }

    /// Calls `visit` for all entries below a tree, with the path of their directory: empty at the top,
    /// `/home` below.
    ///
    /// # Errors
    /// A tree cannot be read, or trees repeat too often; errors of `visit`;
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(crate) fn run(
        &mut self,
        tree: &Id,
        visit: &mut dyn FnMut(&[u8], &Entry) -> Result<()>,
    ) -> Result<()> {
        self.go(tree, visit, &mut |_, error| Err(error))
    }

    /// Does what [`Walk::run`] does, but notes a tree that cannot be read as a problem and goes on.
    ///
    /// # Errors
    /// The storage cannot be reached; errors of `visit`; [`Error::Interrupted`](crate::Error::Interrupted).
    pub(crate) fn run_past(
        &mut self,
        tree: &Id,
        problems: &mut Vec<Problem>,
        visit: &mut dyn FnMut(&[u8], &Entry) -> Result<()>,
    ) -> Result<()> {
        self.go(tree, visit, &mut |path, error| note(problems, path, error))
    }

    /// Does what [`Walk::run_past`] does for a tree that an earlier prune may have removed in part: a tree
    /// that is missing is no problem.
    ///
    /// # Errors
    /// Same as [`run_past`](Walk::run_past).
    pub(crate) fn run_what_is_left(
        &mut self,
        tree: &Id,
        problems: &mut Vec<Problem>,
        visit: &mut dyn FnMut(&[u8], &Entry) -> Result<()>,
    ) -> Result<()> {
        self.go(tree, visit, &mut |path, error| match error.is_gone() {
            true => Ok(()),
            false => note(problems, path, error),
        })
    }

    fn go(
        &mut self,
        tree: &Id,
        visit: &mut dyn FnMut(&[u8], &Entry) -> Result<()>,
        unread: &mut dyn FnMut(&[u8], Error) -> Result<()>,
    ) -> Result<()> {
        let mut left = vec![(Vec::new(), *tree, 0)];
        while let Some((path, tree, depth)) = left.pop() {
            if self.revisit == Revisit::Skip && !self.seen.insert(tree) {
                continue;
            }
            self.progress.check()?;
            let entries = match self.reader.tree(&tree) {
                Ok(entries) => entries,
                Err(error) => {
                    unread(&path, error)?;
                    continue;
                }
            };
            if self.revisit == Revisit::Enter {
                self.repeats.meet(&tree, entries.len())?;
            }
            for entry in &entries {
                visit(&path, entry)?;
            }
            for entry in entries.iter().rev() {
                if let (Content::Directory(tree), true) = (&entry.content, depth < DEPTH_MAX) {
                    left.push((child(&path, &entry.name), *tree, depth + 1));
                }
            }
        }
        Ok(())
    }
}

/// Notes a tree that cannot be read, unless the error ends the walk.
fn note(problems: &mut Vec<Problem>, path: &[u8], error: Error) -> Result<()> {
    if error.is_end() {
        return Err(error);
    }
    problems.push(problem(path, &error));
    Ok(())
}

/// Returns the problem of a tree that cannot be read.
fn problem(path: &[u8], error: &Error) -> Problem {
    let path = if path.is_empty() { b"/" } else { path };
    let path = PathBuf::from(OsStr::from_bytes(path));
    Problem::new(path, format!("what is in it is not known: {error}"))
}
