//! The plan of a restore: directories, files with the pieces of their content, links and pipes.
//!
//! Input: the nodes of one tree and everything below it. Does not depend on the target.

use super::options::Choice;
use super::report::RestoreProblem;
use crate::encoding::id::Id;
use crate::error::Result;
use crate::format::blob::BlobKind;
use crate::format::tree::{Node, NodeKind};
use crate::repository::Repository;
use crate::repository::read::Wanted;
use crate::trees::walk::{VisitedDirectory, Visitor};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A directory to create.
#[derive(Debug)]
pub(super) struct Directory {
    /// Below the target: "/cur"; empty for the target itself.
    pub(super) path: Vec<u8>,
    /// The position of its parent directory; the target is its own parent.
    pub(super) parent: usize,
    /// Its node in the snapshot; `None` for the target itself.
    pub(super) node: Option<Node<'static>>,
    /// Whether to create it: it was chosen, or something in it was.
    pub(super) is_needed: bool,
}

/// A file, link or pipe to create.
#[derive(Debug)]
pub(super) struct Entry {
    /// The position of its directory in [`Plan::directories`].
    pub(super) directory: usize,
    /// Its node, without a file's content unless it had several hard links.
    pub(super) node: Node<'static>,
    /// The number of a file's pieces.
    pub(super) piece_count: usize,
}

/// A piece of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The blob.
    pub(super) wanted: Wanted,
    /// The position of its file in [`Plan::entries`].
    pub(super) entry: usize,
    /// Where it begins in the file, in bytes.
    pub(super) offset: u64,
}

/// The plan of a restore.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Parents come before their content.
    pub(super) directories: Vec<Directory>,
    pub(super) entries: Vec<Entry>,
    /// Ordered by their position in packs.
    pub(super) pieces: Vec<Piece>,
    pub(super) problems: Vec<RestoreProblem>,
}

/// Collects a plan while trees are walked.
pub(super) struct Planner<'a> {
    repository: &'a Repository,
    choose: &'a (dyn Fn(&[u8]) -> Choice + Sync),
    collected: Mutex<Collected>,
}

#[derive(Default)]
struct Collected {
    plan: Plan,
    by_path: HashMap<Vec<u8>, usize>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        choose: &'a (dyn Fn(&[u8]) -> Choice + Sync),
    ) -> Planner<'a> {
        let mut collected = Collected::default();
        collected.directory(b"");
        Planner { repository, choose, collected: Mutex::new(collected) }
    }

    /// Returns the plan, in order.
    pub(super) fn finish(self) -> Plan {
        let mut plan = self.collected.into_inner().unwrap_or_else(PoisonError::into_inner).plan;
        for entry in &plan.entries {
            plan.directories[entry.directory].is_needed = true;
        }
        // Parents come first, so a directory's entries are handled before the directory.
        for place in (0..plan.directories.len()).rev() {
            let Directory { parent, is_needed, .. } = plan.directories[place];
            plan.directories[parent].is_needed |= is_needed;
        }
        plan.pieces.sort_unstable_by_key(|piece| {
            (piece.wanted.location.pack, piece.wanted.location.offset, piece.entry, piece.offset)
        });
        plan
    }

    /// A panic ends the restore, so what it left does not matter.
    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the blobs of a file's content, each with its offset in the file; `None` if one is missing.
    fn pieces(&self, content: &[Id]) -> Result<Option<Vec<(Wanted, u64)>>> {
        let index = self.repository.index()?;
        let (mut pieces, mut copies, mut offset) = (Vec::with_capacity(content.len()), Vec::new(), 0);
        for &id in content {
            copies.clear();
            index.find(BlobKind::Data, &id, &mut copies)?;
            let Some(&location) = copies.first() else { return Ok(None) };
            pieces.push((Wanted { kind: BlobKind::Data, id, location }, offset));
            offset += location.plain_length();
        }
        Ok(Some(pieces))
    }
}

impl Visitor for Planner<'_> {
    fn enters(&self, visited: &VisitedDirectory<'_>, node: &Node<'_>) -> bool {
        (self.choose)(&visited.path_of(node)) != Choice::Skip
    }

    fn visit(&self, visited: &VisitedDirectory<'_>, node: &Node<'_>) -> Result<()> {
        let path = visited.path_of(node);
        let choice = (self.choose)(&path);
        if node.kind == NodeKind::Directory {
            if choice != Choice::Skip {
                let mut collected = self.collected();
                let known = collected.directory(&path);
                let directory = &mut collected.plan.directories[known];
                directory.is_needed |= choice == Choice::Take;
                directory.node = Some(node.clone().into_owned());
            }
            return Ok(());
        }
        if choice != Choice::Take {
            return Ok(());
        }
        // All threads look up at the same time; only the results are collected one after the other.
        let pieces = self.pieces(node.content.as_deref().unwrap_or_default())?;
        let mut node = node.clone().into_owned();
        if node.links < 2 {
            // It is needed again only for files with several hard links, and there may be millions of others.
            node.content = None;
        }
        let mut collected = self.collected();
        match pieces {
            Some(pieces) => {
                let directory = collected.directory(visited.path);
                let entry = collected.plan.entries.len();
                collected.plan.entries.push(Entry { directory, node, piece_count: pieces.len() });
                let pieces = pieces.into_iter().map(|(wanted, offset)| Piece { wanted, entry, offset });
                collected.plan.pieces.extend(pieces);
            }
            None => {
                let what = "part of its content is in no index; it was not restored".to_owned();
                collected.plan.problems.push(RestoreProblem { path, what });
            }
        }
        Ok(())
    }
}

impl Collected {
    /// Returns the position of a directory. A walk goes level by level, so its parent has a position already.
    fn directory(&mut self, path: &[u8]) -> usize {
        if let Some(&place) = self.by_path.get(path) {
            return place;
        }
        let place = self.plan.directories.len();
        let above = path.iter().rposition(|&byte| byte == b'/').and_then(|slash| path.get(..slash));
        let parent = above.and_then(|above| self.by_path.get(above)).copied().unwrap_or(0);
        self.by_path.insert(path.to_owned(), place);
        self.plan.directories.push(Directory { path: path.to_owned(), parent, node: None, is_needed: false });
        place
    }
}
