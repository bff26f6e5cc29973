//! What this crate needs of a repository that is read, and walks over trees.
//!
//! In: names. Out: entries and content, verified by whoever implements it. Must not know mail.

use crate::entry::{Content, Entry};
use crate::error::{Error, Problem, Result};
use crate::layout::child;
use crate::lost::problem;
use crate::strays::Strays;
use archive::{Id, Progress, Repeats};
use std::collections::HashSet;

/// Directories deeper than this are not entered: no system has paths of such a depth.
const DEPTH_MAX: usize = 2_048;

/// A message is read up to so many bytes: a snapshot may say of a file that it is the same piece a million
/// times.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 4 << 30;

/// A repository that is read.
pub(crate) trait Vault: Sync {
    /// Returns the entries of a tree.
    fn tree(&self, id: &Id) -> Result<Vec<Entry>>;

    /// Returns a piece of a file.
    fn piece(&self, id: &Id) -> Result<Vec<u8>>;

    /// Says of each piece of a file whether it is there.
    fn holds_pieces(&self, ids: &[Id]) -> Result<Vec<bool>>;

    /// Returns the pieces that are there, too, and that nobody finds: no index file names them.
    fn strays(&self, progress: &dyn Progress) -> Result<Strays>;
}

impl<V: Vault + ?Sized> Vault for &V {
    fn tree(&self, id: &Id) -> Result<Vec<Entry>> {
        (**self).tree(id)
    }

    fn piece(&self, id: &Id) -> Result<Vec<u8>> {
        (**self).piece(id)
    }

    fn holds_pieces(&self, ids: &[Id]) -> Result<Vec<bool>> {
        (**self).holds_pieces(ids)
    }

    fn strays(&self, progress: &dyn Progress) -> Result<Strays> {
        (**self).strays(progress)
    }
}

/// What to do with a tree that was met before, in this walk or an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It is entered again: paths count.
    Enter,
    /// It is passed by: only what is in it counts.
    Pass,
}

/// A walk over the trees of snapshots.
pub(crate) struct Walk<'a> {
    vault: &'a dyn Vault,
    progress: &'a dyn Progress,
    again: Again,
    seen: HashSet<Id>,
    repeats: Repeats,
}

impl<'a> Walk<'a> {
    /// Begins.
    pub(crate) fn new(vault: &'a dyn Vault, progress: &'a dyn Progress, again: Again) -> Walk<'a> {
        Walk { vault, progress, again, seen: HashSet::new(), repeats: Repeats::new(1) }
    }

    /// Says whether a tree was met in this walk, or in an earlier one.
    pub(crate) fn has_met(&self, tree: &Id) -> bool {
        self.seen.contains(tree)
    }

    /// Shows all entries below a tree with the path of their directory: empty at the top, `/home` below.
    ///
    /// # Errors
    /// A tree cannot be read, or paths multiply without end; what `visit` says;
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(crate) fn run(
        &mut self,
        tree: &Id,
        visit: &mut dyn FnMut(&[u8], &Entry) -> Result<()>,
    ) -> Result<()> {
        self.go(tree, visit, &mut |_, error| Err(error))
    }

    /// Does what [`Walk::run`] does, and goes on after trees that cannot be read: each is a problem.
    ///
    /// # Errors
    /// The storage cannot be reached; what `visit` says; [`Error::Interrupted`](crate::Error::Interrupted).
    pub(crate) fn run_past(
        &mut self,
        tree: &Id,
        problems: &mut Vec<Problem>,
        visit: &mut dyn FnMut(&[u8], &Entry) -> Result<()>,
    ) -> Result<()> {
        self.go(tree, visit, &mut |path, error| note(problems, path, error))
    }

    /// Visits all entries below a tree of which a part may be gone by right. What is there and cannot be read
    /// is a problem.
    ///
    /// # Errors
    /// As [`run_past`](Walk::run_past).
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
            if self.again == Again::Pass && !self.seen.insert(tree) {
                continue;
            }
            self.progress.check()?;
            let entries = match self.vault.tree(&tree) {
                Ok(entries) => entries,
                Err(error) => {
                    unread(&path, error)?;
                    continue;
                }
            };
            if self.again == Again::Enter {
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

/// Takes note of a tree that cannot be read, unless nothing more can.
fn note(problems: &mut Vec<Problem>, path: &[u8], error: Error) -> Result<()> {
    if error.is_end() {
        return Err(error);
    }
    problems.push(problem(path, &error));
    Ok(())
}

/// Returns the content of a file, which may have `bytes_max` bytes.
///
/// # Errors
/// A piece cannot be read; there are more bytes.
pub(crate) fn content(vault: &dyn Vault, pieces: &[Id], bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for piece in pieces {
        let more = vault.piece(piece)?;
        if (bytes.len() + more.len()) as u64 > bytes_max {
            let what = format!("its pieces have more than {bytes_max} bytes together");
            return Err(archive::Error::damage("a file of a snapshot", what).into());
        }
        // Most files are one piece, of which no copy is made.
        if bytes.is_empty() {
            bytes = more;
        } else {
            bytes.extend(more);
        }
    }
    Ok(bytes)
}

/// Says whether files in the directory of this path hold messages, and whether that is `new`.
pub(crate) fn message_place(directory: &[u8]) -> Option<(&[u8], index::Place)> {
    let (folder, name) = crate::layout::split(directory)?;
    index::Place::ALL.into_iter().find(|place| place.name().as_bytes() == name).map(|place| (folder, place))
}
