//! Writes trees again without some of their files, or with other contents of some.
//!
//! Input: the tree of a snapshot, and a decision about each file. Output: the tree that the snapshot has
//! then, and how much was left out; the same tree if nothing in it changes. A tree that several snapshots
//! share is decided about once. Does not know why.

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

/// Where the directory of a file is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// It is the top of the snapshot.
    Top,
    /// It lies in the top, and has this name.
    First(Vec<u8>),
    /// It lies deeper.
    Deeper,
}

/// A tree after its files were decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// Its name.
    pub tree: Id,
    /// How many files of it and of the directories below are left out. It stays at its maximum.
    pub gone_count: u64,
    /// Their sizes together. They stay at the maximum, too.
    pub gone_bytes: u64,
}

/// Decides about a file, by its directory and its node.
pub type Edit<'a, E> = dyn FnMut(&Depth, &Node<'_>) -> std::result::Result<Edited, E> + 'a;

/// Rewrites the trees of the snapshots of one repository.
pub struct TreeRewriter<'a> {
    repository: &'a Repository,
    saver: Option<&'a Saver<'a>>,
    reading: Reading,
    /// By tree and depth: what it is now.
    done: HashMap<(Id, Depth), Rewritten>,
}

/// A directory that is being rewritten.
struct Step {
    tree: Id,
    depth: Depth,
    left: std::vec::IntoIter<Node<'static>>,
    /// The directory that the step above is about.
    entered: Option<Node<'static>>,
    kept: Vec<Node<'static>>,
    is_changed: bool,
    gone_count: u64,
    gone_bytes: u64,
}

impl<'a> TreeRewriter<'a> {
    /// Begins. Without a saver nothing is written.
    pub fn new(repository: &'a Repository, saver: Option<&'a Saver<'a>>) -> TreeRewriter<'a> {
        TreeRewriter { repository, saver, reading: Reading::default(), done: HashMap::new() }
    }

    /// Returns what `root` is after `edit` has decided about its files. It is durable once the saver has
    /// finished. `edit` is asked about each tree once for each [`Depth`] that it has.
    ///
    /// # Errors
    /// That of `edit`; a tree cannot be read, or would lose something that this program does not know; it is
    /// too deep; as [`Saver::save_blob`].
    pub fn rewrite<E: From<Error>>(
        &mut self,
        root: &Id,
        edit: &mut Edit<'_, E>,
    ) -> std::result::Result<Rewritten, E> {
        if let Some(known) = self.done.get(&(*root, Depth::Top)) {
            return Ok(*known);
        }
        let mut last = self.enter(*root, Depth::Top)?;
        let mut above: Vec<Step> = Vec::new();
        loop {
            let Some(node) = last.left.next() else {
                let rewritten = self.finish(&last)?;
                let Some(next) = above.pop() else { return Ok(rewritten) };
                last = next;
                last.take_entered(&rewritten);
                continue;
            };
            let Some(below) = node.subtree else {
                last.take(node, edit)?;
                continue;
            };
            let depth = if above.is_empty() { Depth::First(node.name.to_vec()) } else { Depth::Deeper };
            let key = (below, depth);
            let known = self.done.get(&key).copied();
            last.entered = Some(node);
            match known {
                Some(rewritten) => last.take_entered(&rewritten),
                None if above.len() + 1 < DEPTH_COUNT_MAX => {
                    above.push(std::mem::replace(&mut last, self.enter(key.0, key.1)?));
                }
                None => {
                    let what = format!("it lies deeper than {DEPTH_COUNT_MAX} directories");
                    return Err(Error::damage(BlobKind::Tree.named(&below), what).into());
                }
            }
        }
    }

    fn enter(&mut self, tree: Id, depth: Depth) -> Result<Step> {
        let left = load_tree(self.repository, &mut self.reading, &tree)?.into_iter();
        let (kept, is_changed) = (Vec::new(), false);
        Ok(Step { tree, depth, left, entered: None, kept, is_changed, gone_count: 0, gone_bytes: 0 })
    }

    /// Returns what a directory that is done is now.
    fn finish(&mut self, step: &Step) -> Result<Rewritten> {
        let tree = if step.is_changed { self.write(step)? } else { step.tree };
        let rewritten = Rewritten { tree, gone_count: step.gone_count, gone_bytes: step.gone_bytes };
        self.done.insert((step.tree, step.depth.clone()), rewritten);
        Ok(rewritten)
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
        match edit(&self.depth, &node)? {
            Edited::Same => self.kept.push(node),
            Edited::Gone => {
                self.is_changed = true;
                self.leave_out(1, node.size);
            }
            Edited::Content { pieces, size_bytes } => {
                self.is_changed = true;
                (node.content, node.size) = (Some(pieces.into()), size_bytes);
                self.kept.push(node);
            }
        }
        Ok(())
    }

    /// Takes over the directory that was entered, as it is now.
    fn take_entered(&mut self, now: &Rewritten) {
        let Some(mut node) = self.entered.take() else { return };
        self.is_changed |= node.subtree != Some(now.tree);
        node.subtree = Some(now.tree);
        self.kept.push(node);
        self.leave_out(now.gone_count, now.gone_bytes);
    }

    fn leave_out(&mut self, count: u64, size_bytes: u64) {
        self.gone_count = self.gone_count.saturating_add(count);
        self.gone_bytes = self.gone_bytes.saturating_add(size_bytes);
    }
}
