//! Walks every tree below the trees of some snapshots, each once, on all threads.
//!
//! Shows every node to a visitor, and returns what could not be read.
//!
//! A walk goes level by level: all directories of one depth, then all of the next. So the walk knows what
//! snapshots share before it reads it: a tree that thirty snapshots have at the same path is one item with a
//! set of thirty numbers. Within a level, trees are read in the order in which they lie in packs. Memory
//! holds the directories of two levels, and one tree for each thread.

mod level;
mod problem;
mod repeats;
mod roots;
mod visitor;

pub use level::Sharing;
pub use problem::{WalkProblem, shown_path};
pub use repeats::Repeats;
pub use roots::RootSet;
pub use visitor::{VisitedDirectory, Visitor};

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;
use crate::format::tree::TreeReader;
use crate::repository::Repository;
use crate::repository::read::{Reading, Wanted};
use crate::threads::on_all_threads;
use level::{Item, Level};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use work::Progress;

/// Directories deeper than this are not entered. No system has paths that deep.
pub const DEPTH_COUNT_MAX: usize = 2_048;
/// The most directories of one depth, each path counted: ten times what the largest file systems have.
const LEVEL_COUNT_MAX: usize = 10_000_000;
/// The most trees of one pack that a thread takes at once.
const UNIT_TREE_COUNT_MAX: usize = 64;

/// The most faults that are reported of one damaged tree.
const FAULT_COUNT_MAX: usize = 16;

/// Shows `visitor` every node below `roots`, the trees of snapshots. Returns the trees that could not be
/// read.
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
        let thread_count = self.repository.surroundings().context.threads.count();
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
        let directory = VisitedDirectory { path: &item.path, tree: &item.tree, roots: &item.roots };
        let mut reader = TreeReader::new(bytes);
        let (mut below, mut faults, mut node_count) = (Vec::new(), Vec::new(), 0);
        for node in &mut reader {
            node_count += 1;
            match node {
                Ok(node) => {
                    if let Some(tree) = node.subtree.filter(|_| self.visitor.enters(&directory, &node)) {
                        below.push((tree, directory.path_of(&node)));
                    }
                    self.visitor.visit(&directory, &node)?;
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

/// A panic is reported when the thread is joined.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
