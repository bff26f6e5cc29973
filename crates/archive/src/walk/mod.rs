//! Walks: every tree below the trees of some snapshots, each read once, on all threads.
//!
//! Comes in: the trees at the top, and a visitor. Goes out: every node to the visitor, and what could not be read as a list. Must not
//! know what the visitor looks for.
//!
//! A walk goes level by level: all directories of one depth, then all of the next. So what snapshots share is known before it is read:
//! a tree that thirty snapshots have at the same path is one item with a set of thirty numbers. Within a level trees are read in the
//! order in which they lie in packs. In memory are the directories of two levels, and one tree for each thread.

mod level;
mod repeats;
mod roots;

pub use repeats::Repeats;
pub use roots::RootSet;

use crate::blob::BlobKind;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::progress::Progress;
use crate::read::{Reading, Wanted};
use crate::repository::Repository;
use crate::threads::on_all_threads;
use crate::tree::{Node, TreeReader};
use level::{Item, Level};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Directories deeper than this are not entered: no system has paths of such a depth.
pub const DEPTH_COUNT_MAX: usize = 2_048;
/// So many directories of one depth are walked, each path for itself: ten times what the largest file systems have.
const LEVEL_COUNT_MAX: usize = 10_000_000;
/// A thread takes so many trees of a level at once, all of one pack.
const UNIT_TREE_COUNT_MAX: usize = 64;

/// So much is said of one damaged tree; more would not help.
const FAULT_COUNT_MAX: usize = 16;

/// What counts as one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A tree is visited once, at whichever path it is met first: for those who count what is used.
    ByTree,
    /// A tree is visited once for each path at which it lies, with the set of all roots that have it there.
    ByPath,
}

/// Where a visited node lies.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The directory's path: empty at the top, "/home/ana" below; bytes as they were in file names.
    pub path: &'a [u8],
    /// The directory's tree.
    pub tree: &'a Id,
    /// Which of the roots have it there; with [`Sharing::ByTree`], at least one of those that have it.
    pub roots: &'a RootSet,
}

impl Place<'_> {
    /// Returns the path of a node of this directory.
    pub fn path_of(&self, node: &Node<'_>) -> Vec<u8> {
        [self.path, b"/", &node.name].concat()
    }
}

/// Somebody who is shown all nodes, from many threads, in no order but that of a directory's own nodes.
pub trait Visitor: Sync {
    /// Says whether to read the directory that `node` of the one at `place` is.
    fn enters(&self, place: &Place<'_>, node: &Node<'_>) -> bool {
        let _ = (place, node);
        true
    }

    /// Sees one node of the directory at `place`.
    ///
    /// # Errors
    /// Whatever should end the walk.
    fn visit(&self, place: &Place<'_>, node: &Node<'_>) -> Result<()>;
}

/// A tree that could not be read, or not wholly.
#[derive(Debug)]
pub struct WalkProblem {
    /// The tree.
    pub tree: Id,
    /// Where it lies, or lies too.
    pub path: Vec<u8>,
    /// Why.
    pub error: Error,
}

/// Returns a path of a snapshot for people: the top of it is a slash.
pub fn shown_path(path: &[u8]) -> String {
    if path.is_empty() { "/".to_owned() } else { String::from_utf8_lossy(path).into_owned() }
}

/// Shows `visitor` every node below `roots`, the trees of as many snapshots. Returns the trees that could not be read.
///
/// # Errors
/// The index cannot be read, what the visitor returns, or [`Error::Interrupted`]. [`Error::Damage`] if paths
/// multiply without end ([`Repeats`]): of such a snapshot no part is told from what it repeats.
pub fn walk(
    repository: &Repository,
    roots: &[Id],
    sharing: Sharing,
    visitor: &dyn Visitor,
    progress: &dyn Progress,
) -> Result<Vec<WalkProblem>> {
    let mut level = Level::new(sharing, Default::default());
    for (number, tree) in roots.iter().enumerate() {
        let roots = Arc::new(RootSet::of(number, roots.len()));
        level.add(Item { tree: *tree, path: Vec::new(), roots }, LEVEL_COUNT_MAX);
    }
    let mut problems = Vec::new();
    let repeats = Mutex::new(Repeats::new(roots.len()));
    for depth in 0.. {
        let Some((items, seen)) = level.into_items() else {
            let what = format!("there are more than {LEVEL_COUNT_MAX} directories {depth} levels deep");
            return Err(Error::damage("a snapshot", what));
        };
        if items.is_empty() {
            break;
        }
        if depth == DEPTH_COUNT_MAX {
            let what = format!("it lies deeper than {DEPTH_COUNT_MAX} directories, and was not read");
            let too_deep = |item: Item| item.problem(Error::damage(BlobKind::Tree.named(&item.tree), &*what));
            problems.extend(items.into_iter().map(too_deep));
            break;
        }
        let step = Step {
            repository,
            visitor,
            progress,
            next: Mutex::new(Level::new(sharing, seen)),
            repeats: (sharing == Sharing::ByPath).then_some(&repeats),
            problems: Mutex::default(),
        };
        step.run(&items)?;
        problems.append(&mut step.problems.into_inner().unwrap_or_else(PoisonError::into_inner));
        level = step.next.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    problems.sort_by(|left, right| (&left.path, left.tree).cmp(&(&right.path, right.tree)));
    Ok(problems)
}

/// One level of a walk.
struct Step<'a> {
    repository: &'a Repository,
    visitor: &'a dyn Visitor,
    progress: &'a dyn Progress,
    next: Mutex<Level>,
    /// Where each path counts.
    repeats: Option<&'a Mutex<Repeats>>,
    problems: Mutex<Vec<WalkProblem>>,
}

/// A tree of the level, with its place among the items.
type Located = (Wanted, usize);

impl Step<'_> {
    fn run(&self, items: &[Item]) -> Result<()> {
        let located = self.locate(items)?;
        let units: Vec<&[Located]> = located
            .chunk_by(|left, right| left.0.location.pack == right.0.location.pack)
            .flat_map(|trees| trees.chunks(UNIT_TREE_COUNT_MAX))
            .collect();
        let thread_count = self.repository.surroundings().thread_count;
        on_all_threads(thread_count, &units, |reading: &mut Reading, unit| {
            self.progress.check()?;
            self.read(reading, unit, items)
        })
    }

    /// Returns where the trees lie, pack by pack; those in no pack become problems.
    fn locate(&self, items: &[Item]) -> Result<Vec<Located>> {
        let index = self.repository.index()?;
        let mut located = Vec::with_capacity(items.len());
        let mut copies = Vec::new();
        for (place, item) in items.iter().enumerate() {
            copies.clear();
            index.find(BlobKind::Tree, &item.tree, &mut copies)?;
            match copies.first() {
                Some(&location) => {
                    located.push((Wanted { kind: BlobKind::Tree, id: item.tree, location }, place));
                }
                None => {
                    let error = Error::NoBlob { what: BlobKind::Tree.named(&item.tree) };
                    self.keep(item, error);
                }
            }
        }
        located
            .sort_unstable_by_key(|(wanted, place)| (wanted.location.pack, wanted.location.offset, *place));
        Ok(located)
    }

    fn read(&self, reading: &mut Reading, unit: &[Located], items: &[Item]) -> Result<()> {
        let wanted: Vec<Wanted> = unit.iter().map(|(wanted, _)| *wanted).collect();
        self.repository.load_from_pack(reading, &wanted, &mut |place, content| {
            let Some(item) = unit.get(place).and_then(|&(_, place)| items.get(place)) else { return Ok(()) };
            self.progress.add(1, content.as_ref().map_or(0, |bytes| bytes.len() as u64));
            match content {
                Ok(bytes) => self.visit(item, bytes),
                Err(error) => {
                    self.keep(item, error);
                    Ok(())
                }
            }
        })
    }

    /// Shows the visitor the nodes of one tree, and keeps its directories for the next level.
    fn visit(&self, item: &Item, bytes: &[u8]) -> Result<()> {
        let place = Place { path: &item.path, tree: &item.tree, roots: &item.roots };
        let mut reader = TreeReader::new(bytes);
        let (mut below, mut faults, mut node_count) = (Vec::new(), Vec::new(), 0);
        for node in &mut reader {
            node_count += 1;
            match node {
                Ok(node) => {
                    if let Some(tree) = node.subtree.filter(|_| self.visitor.enters(&place, &node)) {
                        below.push((tree, place.path_of(&node)));
                    }
                    self.visitor.visit(&place, &node)?;
                }
                Err(fault) if faults.len() < FAULT_COUNT_MAX => faults.push(fault.to_string()),
                Err(_) => {}
            }
        }
        if let Some(repeats) = self.repeats {
            locked(repeats).meet(&item.tree, node_count)?;
        }
        faults.extend(reader.disorder().map(ToString::to_string));
        let mut next = locked(&self.next);
        for (tree, path) in below {
            next.add(Item { tree, path, roots: Arc::clone(&item.roots) }, LEVEL_COUNT_MAX);
        }
        drop(next);
        for what in faults {
            self.keep(item, Error::damage(BlobKind::Tree.named(&item.tree), what));
        }
        Ok(())
    }

    /// A tree that cannot be read does not end the walk.
    fn keep(&self, item: &Item, error: Error) {
        locked(&self.problems).push(item.problem(error));
    }
}

/// A thread that panicked is heard of when it is joined.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
