//! Lists one snapshot in order, or looks up one path in it.
//!
//! Input: a tree. Output: its nodes and all nodes below, sorted by name, each directory before its content.

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;
use crate::format::tree::{Fault, Node, TreeReader};
use crate::repository::Repository;
use crate::repository::read::Reading;
use crate::trees::walk::{DEPTH_COUNT_MAX, Repeats, WalkProblem};

/// How a listing continues after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// With its content, if it is a directory.
    Enter,
    /// With the next node beside it.
    Pass,
    /// Not at all: the listing ends.
    End,
}

/// A listing in progress.
struct Listing<'a> {
    repository: &'a Repository,
    reading: Reading,
    repeats: Repeats,
    steps: Vec<Step>,
}

/// One directory on the path to the current node.
struct Step {
    path: Vec<u8>,
    nodes: std::vec::IntoIter<Node<'static>>,
}

/// Shows `each` the nodes below `tree` with their paths: "/home", "/home/ana". Returns the trees that could
/// not be read.
///
/// # Errors
/// The index cannot be read, the storage cannot be reached, or what `each` returns. [`Error::Damage`] if
/// paths multiply without end ([`Repeats`]).
pub fn list(
    repository: &Repository,
    tree: &Id,
    each: &mut dyn FnMut(&[u8], &Node<'_>) -> Result<Next>,
) -> Result<Vec<WalkProblem>> {
    let mut problems = Vec::new();
    let mut listing =
        Listing { repository, reading: Reading::default(), repeats: Repeats::new(1), steps: Vec::new() };
    listing.enter((*tree, Vec::new()), &mut problems)?;
    while let Some(step) = listing.steps.last_mut() {
        let Some(node) = step.nodes.next() else {
            listing.steps.pop();
            continue;
        };
        let path = [&*step.path, b"/", &node.name].concat();
        match (each(&path, &node)?, node.subtree) {
            (Next::End, _) => break,
            (Next::Enter, Some(subtree)) => {
                listing.enter((subtree, path), &mut problems)?;
            }
            (Next::Enter | Next::Pass, _) => {}
        }
    }
    Ok(problems)
}

/// Returns the node at `path` below `tree`, such as "/home/ana"; slashes at either end do not count. `None`
/// if there is none.
///
/// # Errors
/// A tree on the way cannot be read.
pub fn node_at(repository: &Repository, tree: &Id, path: &[u8]) -> Result<Option<Node<'static>>> {
    let mut reading = Reading::default();
    let (mut tree, mut found) = (Some(*tree), None);
    for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
        let Some(above) = tree else { return Ok(None) };
        let nodes = load_tree(repository, &mut reading, &above)?;
        let Some(node) = nodes.into_iter().find(|node| node.name == name) else { return Ok(None) };
        tree = node.subtree;
        found = Some(node);
    }
    Ok(found)
}

/// Reads a tree.
///
/// # Errors
/// [`Error::NoBlob`], [`Error::Damage`], or a storage error.
pub fn load_tree(repository: &Repository, reading: &mut Reading, tree: &Id) -> Result<Vec<Node<'static>>> {
    let reader = TreeReader::new(repository.load_blob_with(reading, BlobKind::Tree, tree)?);
    let damage = |fault: Fault| Error::damage(BlobKind::Tree.named(tree), fault.to_string());
    reader.map(|node| node.map(Node::into_owned).map_err(damage)).collect()
}

impl Listing<'_> {
    fn enter(&mut self, (tree, path): (Id, Vec<u8>), problems: &mut Vec<WalkProblem>) -> Result<()> {
        let nodes = if self.steps.len() < DEPTH_COUNT_MAX {
            load_tree(self.repository, &mut self.reading, &tree)
        } else {
            let what = format!("it lies deeper than {DEPTH_COUNT_MAX} directories");
            Err(Error::damage(BlobKind::Tree.named(&tree), what))
        };
        match nodes {
            Ok(nodes) => {
                self.repeats.meet(&tree, nodes.len())?;
                self.steps.push(Step { path, nodes: nodes.into_iter() });
            }
            Err(error) if error.ends_work() => return Err(error),
            Err(error) => problems.push(WalkProblem { tree, path, error }),
        }
        Ok(())
    }
}
