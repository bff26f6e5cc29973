//! What a walk shows its caller: nodes, each with the directory it lies in.

use super::roots::RootSet;
use crate::encoding::id::Id;
use crate::error::Result;
use crate::format::tree::Node;

/// The directory that a visited node lies in.
#[derive(Clone, Copy, Debug)]
pub struct VisitedDirectory<'a> {
    /// The directory's path: empty at the top, "/home/ana" below; bytes as they were in file names.
    pub path: &'a [u8],
    /// The directory's tree.
    pub tree: &'a Id,
    /// Which of the roots have it there; with [`Sharing::ByTree`](super::Sharing::ByTree), at least one of
    /// those that have it.
    pub roots: &'a RootSet,
}

impl VisitedDirectory<'_> {
    /// Returns the path of a node of this directory.
    pub fn path_of(&self, node: &Node<'_>) -> Vec<u8> {
        [self.path, b"/", &node.name].concat()
    }
}

/// Is shown all nodes, from many threads. Only the nodes of one directory come in order.
pub trait Visitor: Sync {
    /// Returns whether to read the directory `node`, which lies in `directory`.
    fn enters(&self, directory: &VisitedDirectory<'_>, node: &Node<'_>) -> bool {
        let _ = (directory, node);
        true
    }

    /// Visits one node of `directory`.
    ///
    /// # Errors
    /// Any error ends the walk.
    fn visit(&self, directory: &VisitedDirectory<'_>, node: &Node<'_>) -> Result<()>;
}
