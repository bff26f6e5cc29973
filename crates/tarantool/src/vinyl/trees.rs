//! The trees of vinyl at some time: what its log says of them, record by record.
//!
//! Input: [`Record`]s. Output: the newest [`Tree`] of each index, with its ranges and the slices of runs in
//! them. Does not know files.
//!
//! A tree is an index at one time of its life: a truncated space has a new tree. A tree has ranges of keys,
//! a range has slices, a slice is a run limited to some keys, and a run is a file.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::record::{Record, RecordKind};
use std::collections::BTreeMap;

/// A tree that is the newest one of its index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// The space.
    pub(crate) space: u32,
    /// The number of the index.
    pub(crate) index: u32,
    /// The signature of the transaction that created it; `None` if it was prepared and is not in use yet.
    pub(crate) create_lsn: Option<i64>,
    /// The signature of the transaction that dropped it.
    pub(crate) drop_lsn: Option<i64>,
    /// Its runs have all rows up to this signature.
    pub(crate) dump_lsn: i64,
    /// Its ranges, in no order.
    pub(crate) ranges: Vec<TreeRange>,
    /// The tree that is to replace this one, if it was prepared.
    pub(crate) prepared: Option<Box<Tree>>,
}

/// A range of keys of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeRange {
    /// Its first key as msgpack; `None` without limit.
    pub(crate) begin: Option<Vec<u8>>,
    /// The key after its last one.
    pub(crate) end: Option<Vec<u8>>,
    /// Its slices, in no order.
    pub(crate) slices: Vec<Slice>,
}

/// A run, limited to some keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    /// The number of the run.
    pub(crate) run: i64,
    /// Its first key as msgpack; `None` without limit.
    pub(crate) begin: Option<Vec<u8>>,
    /// The key after its last one.
    pub(crate) end: Option<Vec<u8>>,
}

/// All objects that the log has so far.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By id, which grows with time.
    trees: BTreeMap<i64, TreeObject>,
    ranges: BTreeMap<i64, RangeObject>,
    runs: BTreeMap<i64, RunObject>,
    slices: BTreeMap<i64, SliceObject>,
    /// How many trees were made; their order tells which is newer.
    tree_count: u64,
    is_in_rebootstrap: bool,
}

#[derive(Debug)]
struct TreeObject {
    order: u64,
    space: u32,
    index: u32,
    create_lsn: Option<i64>,
    drop_lsn: Option<i64>,
    dump_lsn: i64,
    is_of_rebootstrap: bool,
    /// How many ranges and runs it has.
    part_count: usize,
}

#[derive(Debug)]
struct RangeObject {
    tree: i64,
    begin: Option<Vec<u8>>,
    end: Option<Vec<u8>>,
    slice_count: usize,
}

#[derive(Debug)]
struct RunObject {
    tree: i64,
    is_dropped: bool,
}

#[derive(Debug)]
struct SliceObject {
    range: i64,
    slice: Slice,
}

/// Why a record contradicts those before it.
type Contradiction = &'static str;

const TREE_UNKNOWN: &str = "a record of vinyl's log names a tree that does not exist";
const TREE_TWICE: &str = "vinyl's log creates a tree twice";
const RANGE_UNKNOWN: &str = "a record of vinyl's log names a range that does not exist";
const RUN_UNKNOWN: &str = "a record of vinyl's log names a run that does not exist";
const SLICE_UNKNOWN: &str = "a record of vinyl's log names a slice that does not exist";

impl Objects {
    /// Applies a record.
    ///
    /// # Errors
    /// If it does not fit those before it. Then it changes nothing.
    pub(super) fn apply(&mut self, record: &Record) -> Result<(), Contradiction> {
        match record.kind {
            RecordKind::PrepareTree
            | RecordKind::CreateTree
            | RecordKind::DropTree
            | RecordKind::ForgetTree
            | RecordKind::DumpTree
            | RecordKind::ModifyTree => self.change_tree(record),
            RecordKind::InsertRange | RecordKind::DeleteRange => self.change_range(record),
            RecordKind::PrepareRun | RecordKind::CreateRun | RecordKind::DropRun | RecordKind::ForgetRun => {
                self.change_run(record)
            }
            RecordKind::InsertSlice | RecordKind::DeleteSlice => self.change_slice(record),
            RecordKind::Snapshot | RecordKind::TruncateTree => Ok(()),
            RecordKind::Rebootstrap => {
                self.abort_rebootstrap();
                self.is_in_rebootstrap = true;
                Ok(())
            }
            RecordKind::AbortRebootstrap => {
                self.abort_rebootstrap();
                self.is_in_rebootstrap = false;
                Ok(())
            }
        }
    }

    fn change_tree(&mut self, record: &Record) -> Result<(), Contradiction> {
        let known = self.trees.get_mut(&record.tree);
        match (record.kind, known) {
            (RecordKind::PrepareTree, None) => self.add_tree(record, None),
            (RecordKind::CreateTree, None) => self.add_tree(record, Some(record.create_lsn)),
            (RecordKind::CreateTree, Some(tree)) if tree.create_lsn.is_none() && tree.drop_lsn.is_none() => {
                tree.create_lsn = Some(record.create_lsn);
            }
            (RecordKind::PrepareTree | RecordKind::CreateTree, Some(_)) => return Err(TREE_TWICE),
            (_, None) => return Err(TREE_UNKNOWN),
            (RecordKind::DropTree, Some(tree)) => match tree.drop_lsn {
                Some(_) => return Err("vinyl's log drops a tree twice"),
                None => tree.drop_lsn = Some(record.drop_lsn),
            },
            (RecordKind::DumpTree, Some(tree)) => tree.dump_lsn = tree.dump_lsn.max(record.dump_lsn),
            (RecordKind::ForgetTree, Some(tree)) => {
                if tree.part_count > 0 {
                    return Err("vinyl's log forgets a tree that has ranges or runs");
                }
                self.trees.remove(&record.tree);
            }
            // Definitions are those of the space.
            (_, Some(_)) => {}
        }
        Ok(())
    }

    fn add_tree(&mut self, record: &Record, create_lsn: Option<i64>) {
        self.tree_count = self.tree_count.saturating_add(1);
        let tree = TreeObject {
            order: self.tree_count,
            space: record.space,
            index: record.index,
            create_lsn,
            drop_lsn: None,
            dump_lsn: if create_lsn.is_some() { record.dump_lsn } else { -1 },
            is_of_rebootstrap: self.is_in_rebootstrap,
            part_count: 0,
        };
        self.trees.insert(record.tree, tree);
    }

    fn change_range(&mut self, record: &Record) -> Result<(), Contradiction> {
        if record.kind == RecordKind::DeleteRange {
            return match self.ranges.get(&record.range) {
                None => Err(RANGE_UNKNOWN),
                Some(range) if range.slice_count > 0 => Err("vinyl's log deletes a range that has slices"),
                Some(range) => {
                    let tree = range.tree;
                    self.ranges.remove(&record.range);
                    self.remove_part(tree);
                    Ok(())
                }
            };
        }
        if self.ranges.contains_key(&record.range) {
            return Err("vinyl's log inserts a range twice");
        }
        self.add_part(record.tree)?;
        let own = |key: Option<&[u8]>| key.map(<[u8]>::to_vec);
        let range =
            RangeObject { tree: record.tree, begin: own(record.begin), end: own(record.end), slice_count: 0 };
        self.ranges.insert(record.range, range);
        Ok(())
    }

    fn change_run(&mut self, record: &Record) -> Result<(), Contradiction> {
        let known = self.runs.get_mut(&record.run);
        match (record.kind, known) {
            (RecordKind::PrepareRun, Some(_)) => Err("vinyl's log prepares a run twice"),
            (RecordKind::PrepareRun | RecordKind::CreateRun, None) => {
                self.add_part(record.tree)?;
                let run = RunObject { tree: record.tree, is_dropped: false };
                self.runs.insert(record.run, run);
                Ok(())
            }
            (_, None) => Err(RUN_UNKNOWN),
            (RecordKind::CreateRun, Some(run)) => {
                if run.is_dropped {
                    return Err("vinyl's log creates a run after it dropped it");
                }
                if !self.trees.contains_key(&record.tree) {
                    return Err(TREE_UNKNOWN);
                }
                let before = std::mem::replace(&mut run.tree, record.tree);
                self.remove_part(before);
                self.add_part(record.tree)
            }
            (RecordKind::DropRun, Some(run)) => {
                if run.is_dropped {
                    return Err("vinyl's log drops a run twice");
                }
                run.is_dropped = true;
                Ok(())
            }
            (_, Some(run)) => {
                let tree = run.tree;
                self.runs.remove(&record.run);
                self.remove_part(tree);
                Ok(())
            }
        }
    }

    /// Counts a range or a run of a tree.
    fn add_part(&mut self, tree: i64) -> Result<(), Contradiction> {
        let tree = self.trees.get_mut(&tree).ok_or(TREE_UNKNOWN)?;
        tree.part_count = tree.part_count.saturating_add(1);
        Ok(())
    }

    fn remove_part(&mut self, tree: i64) {
        if let Some(tree) = self.trees.get_mut(&tree) {
            tree.part_count = tree.part_count.saturating_sub(1);
        }
    }

    fn change_slice(&mut self, record: &Record) -> Result<(), Contradiction> {
        if record.kind == RecordKind::DeleteSlice {
            let object = self.slices.remove(&record.slice).ok_or(SLICE_UNKNOWN)?;
            if let Some(range) = self.ranges.get_mut(&object.range) {
                range.slice_count = range.slice_count.saturating_sub(1);
            }
            return Ok(());
        }
        if self.slices.contains_key(&record.slice) {
            return Err("vinyl's log inserts a slice twice");
        }
        let run = self.runs.get(&record.run).ok_or(RUN_UNKNOWN)?;
        let range = self.ranges.get_mut(&record.range).ok_or(RANGE_UNKNOWN)?;
        if run.tree != range.tree {
            return Err("vinyl's log has a run of another index in a range");
        }
        range.slice_count = range.slice_count.saturating_add(1);
        let own = |key: Option<&[u8]>| key.map(<[u8]>::to_vec);
        let slice = Slice { run: record.run, begin: own(record.begin), end: own(record.end) };
        self.slices.insert(record.slice, SliceObject { range: record.range, slice });
        Ok(())
    }

    /// Drops what was made since the instance last began anew.
    fn abort_rebootstrap(&mut self) {
        for tree in self.trees.values_mut().filter(|tree| tree.is_of_rebootstrap) {
            (tree.is_of_rebootstrap, tree.create_lsn, tree.drop_lsn) = (false, None, Some(0));
        }
    }

    /// Returns the newest tree of each index. An instance that began anew, and made no snapshot since, did
    /// not begin anew.
    ///
    /// # Errors
    /// If two trees of an index are in use at the same time. With `None` for errors, the first one counts.
    pub(super) fn finish(mut self, errors: Option<&mut Vec<Contradiction>>) -> Result<Trees, Contradiction> {
        if self.is_in_rebootstrap {
            self.abort_rebootstrap();
        }
        let mut contents = self.contents();
        let mut in_order: Vec<(&i64, &TreeObject)> = self.trees.iter().collect();
        in_order.sort_by_key(|(_, tree)| tree.order);
        let mut trees = Trees::new();
        let mut found = Vec::new();
        for (id, object) in in_order {
            // Made for a change of an index that failed.
            if object.create_lsn.is_none() && object.drop_lsn.is_some() {
                continue;
            }
            let tree = Tree {
                space: object.space,
                index: object.index,
                create_lsn: object.create_lsn,
                drop_lsn: object.drop_lsn,
                dump_lsn: object.dump_lsn,
                ranges: contents.remove(id).unwrap_or_default(),
                prepared: None,
            };
            match trees.get_mut(&(object.space, object.index)) {
                Some(known) if known.drop_lsn.is_none() || tree.create_lsn.is_none() => {
                    if tree.create_lsn.is_some() {
                        found.push("vinyl's log creates two trees for an index");
                    } else if known.create_lsn.is_none() || known.prepared.is_some() {
                        found.push("vinyl's log prepares two trees for an index");
                    } else {
                        known.prepared = Some(Box::new(tree));
                    }
                }
                _ => {
                    trees.insert((object.space, object.index), tree);
                }
            }
        }
        match (found.first(), errors) {
            (Some(first), None) => return Err(first),
            (_, Some(errors)) => errors.append(&mut found),
            (None, None) => {}
        }
        Ok(trees)
    }

    /// Returns the ranges of each tree.
    fn contents(&mut self) -> BTreeMap<i64, Vec<TreeRange>> {
        let mut slices: BTreeMap<i64, Vec<Slice>> = BTreeMap::new();
        for (_, object) in std::mem::take(&mut self.slices) {
            slices.entry(object.range).or_default().push(object.slice);
        }
        let mut contents: BTreeMap<i64, Vec<TreeRange>> = BTreeMap::new();
        for (id, range) in std::mem::take(&mut self.ranges) {
            let RangeObject { tree, begin, end, .. } = range;
            let slices = slices.remove(&id).unwrap_or_default();
            contents.entry(tree).or_default().push(TreeRange { begin, end, slices });
        }
        contents
    }
}

/// The newest tree of each index, by the numbers of space and index.
pub(crate) type Trees = BTreeMap<(u32, u32), Tree>;
