//! Writes trees again without some of their files, or with other contents of some.
//!
//! Input: the tree of a snapshot, and a decision about each file. Output: the tree that the snapshot has
//! then; the same one if nothing in it changes. A tree that several snapshots share is decided about once.
//! Does not know why.

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;
use crate::format::tree::{Node, TreeWriter};
use crate::repository::Repository;
use crate::repository::read::Reading;
use crate::save::Saver;
use crate::trees::list::load_tree;
use crate::trees::walk::DEPTH_COUNT_MAX;
use std::collections::HashMap;

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited {
    /// It stays as it is.
    Same,
    /// It is left out.
    Gone,
    /// It gets another content.
    Content {
        /// The blobs of the content, in order.
        pieces: Vec<Id>,
        /// Its length.
        size_bytes: u64,
    },
}

/// Decides about a file, by the name of its directory and its node; the name of the top is empty.
pub type Edit<'a, E> = dyn FnMut(&[u8], &Node<'_>) -> std::result::Result<Edited, E> + 'a;

/// Rewrites the trees of the snapshots of one repository.
pub struct TreeRewriter<'a> {
    repository: &'a Repository,
    saver: Option<&'a Saver<'a>>,
    reading: Reading,
    /// By tree and name: what it is now.
    done: HashMap<(Id, Vec<u8>), Id>,
}

/// A directory that is being rewritten.
struct Step {
    tree: Id,
    name: Vec<u8>,
    left: std::vec::IntoIter<Node<'static>>,
    /// The directory that the step above is about.
    entered: Option<Node<'static>>,
    kept: Vec<Node<'static>>,
    is_changed: bool,
}

impl<'a> TreeRewriter<'a> {
    /// Begins. Without a saver nothing is written.
    pub fn new(repository: &'a Repository, saver: Option<&'a Saver<'a>>) -> TreeRewriter<'a> {
        TreeRewriter { repository, saver, reading: Reading::default(), done: HashMap::new() }
    }

    /// Returns the tree that `root` is after `edit` has decided about its files. It is durable once the saver
    /// has finished. `edit` is asked about each tree once for each name of a directory that has it.
    ///
    /// # Errors
    /// That of `edit`; a tree cannot be read, or would lose something that this program does not know; it is
    /// too deep; as [`Saver::save_blob`].
    pub fn rewrite<E: From<Error>>(
        &mut self,
        root: &Id,
        edit: &mut Edit<'_, E>,
    ) -> std::result::Result<Id, E> {
        if let Some(tree) = self.done.get(&(*root, Vec::new())) {
            return Ok(*tree);
        }
        let mut steps = vec![self.enter(*root, Vec::new())?];
        loop {
            let depth = steps.len();
            let Some(step) = steps.last_mut() else { return Ok(*root) };
            let Some(node) = step.left.next() else {
                let tree = self.finish(step)?;
                steps.pop();
                let Some(above) = steps.last_mut() else { return Ok(tree) };
                above.take_entered(tree);
                continue;
            };
            let Some(below) = node.subtree else {
                step.take(node, edit)?;
                continue;
            };
            let key = (below, node.name.to_vec());
            let known = self.done.get(&key).copied();
            step.entered = Some(node);
            match known {
                Some(tree) => step.take_entered(tree),
                None if depth < DEPTH_COUNT_MAX => steps.push(self.enter(key.0, key.1)?),
                None => {
                    let what = format!("it lies deeper than {DEPTH_COUNT_MAX} directories");
                    return Err(Error::damage(BlobKind::Tree.named(&below), what).into());
                }
            }
        }
    }

    fn enter(&mut self, tree: Id, name: Vec<u8>) -> Result<Step> {
        let left = load_tree(self.repository, &mut self.reading, &tree)?.into_iter();
        Ok(Step { tree, name, left, entered: None, kept: Vec::new(), is_changed: false })
    }

    /// Returns the tree of a directory that is done.
    fn finish(&mut self, step: &mut Step) -> Result<Id> {
        let tree = if step.is_changed { self.write(step)? } else { step.tree };
        self.done.insert((step.tree, std::mem::take(&mut step.name)), tree);
        Ok(tree)
    }

    fn write(&mut self, step: &Step) -> Result<Id> {
        let damage = |what: String| Error::damage(BlobKind::Tree.named(&step.tree), what);
        let encode = |nodes: &[Node<'_>]| {
            let mut writer = TreeWriter::new();
            nodes
                .iter()
                .try_for_each(|node| writer.append(node))
                .map_err(|error| damage(error.to_string()))?;
            Ok::<_, Error>(writer.finish())
        };
        // Another program may know more about its files than this one.
        let before = load_tree(self.repository, &mut self.reading, &step.tree)?;
        if Id::of(&encode(&before)?) != step.tree {
            let what = "it cannot be written again without losing something; nothing was changed";
            return Err(damage(what.to_owned()));
        }
        let content = encode(&step.kept)?;
        match self.saver {
            Some(saver) => Ok(saver.save_blob(BlobKind::Tree, None, &content)?.id),
            None => Ok(Id::of(&content)),
        }
    }
}

impl Step {
    /// Takes over a node that is no directory, as it is decided.
    fn take<E>(&mut self, mut node: Node<'static>, edit: &mut Edit<'_, E>) -> std::result::Result<(), E> {
        match edit(&self.name, &node)? {
            Edited::Same => self.kept.push(node),
            Edited::Gone => self.is_changed = true,
            Edited::Content { pieces, size_bytes } => {
                self.is_changed = true;
                (node.content, node.size) = (Some(pieces.into()), size_bytes);
                self.kept.push(node);
            }
        }
        Ok(())
    }

    /// Takes over the directory that was entered, with the tree that it has now.
    fn take_entered(&mut self, tree: Id) {
        let Some(mut node) = self.entered.take() else { return };
        self.is_changed |= node.subtree != Some(tree);
        node.subtree = Some(tree);
        self.kept.push(node);
    }
}
