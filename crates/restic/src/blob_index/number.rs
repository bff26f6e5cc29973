//! Numbers packs, and drops rows that are known already.
//!
//! A pure step between reading index files and storing their rows. Input: the content of index files, and
//! what is known. Output: rows for the tables.
//!
//! Several index files may name the same pack: its rows are taken once. If one file has rows that another
//! lacks, those are taken too. A pack that is split over index files is damage, but its blobs exist.

use super::columns::{Columns, Row};
use super::read::{FilePack, FileRows};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::mem::take;
use std::ops::Range;

/// What is known before index files are added.
pub(super) trait ExistingRows {
    fn blob_count(&self) -> u32;
    fn pack_count(&self) -> u32;
    fn file_count(&self) -> u32;
    fn pack_number(&self, id: &Id) -> Result<Option<u32>>;
    fn has_row(&self, kind: BlobKind, row: &Row) -> Result<bool>;
}

/// Which index file names which pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MentionRow {
    pub(super) file: u32,
    pub(super) pack: u32,
    /// How many blobs the file says are in the pack.
    pub(super) blob_count: u32,
}

/// Rows to add.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    /// Names of packs, the first one with the number that comes next.
    pub(super) packs: Vec<Id>,
    /// Names of index files, likewise.
    pub(super) files: Vec<Id>,
    /// By file, then by pack.
    pub(super) mentions: Vec<MentionRow>,
    pub(super) data: Vec<Columns>,
    pub(super) trees: Vec<Columns>,
}

/// Numbers the contents of index files, after the known ones.
///
/// # Errors
/// If there are more than 2^32, or the known rows cannot be read.
pub(super) fn number(known: &dyn ExistingRows, mut files: Vec<FileRows>) -> Result<Numbered> {
    let mut numbering = Numbering {
        known,
        seen: HashMap::new(),
        again: HashMap::new(),
        kept: files.iter().map(|_| RowsToKeep::default()).collect(),
        out: Numbered::default(),
    };
    for place in 0..files.len() {
        numbering.add(place, &mut files)?;
    }
    let Numbering { kept, mut out, .. } = numbering;
    for (mut file, kept) in files.into_iter().zip(kept) {
        file.data.keep(&kept.data);
        file.trees.keep(&kept.trees);
        out.files.push(file.id);
        out.data.extend(Some(file.data).filter(|rows| rows.len() > 0));
        out.trees.extend(Some(file.trees).filter(|rows| rows.len() > 0));
    }
    Ok(out)
}

/// Returns the error for more than 2^32 of something.
pub(super) fn too_many(what: &str) -> Error {
    Error::Unsupported { file: "index".to_owned(), what: format!("there are 2^32 {what} or more") }
}

/// Where a pack was named: the places of the file and of the pack in it.
type PackPosition = (u32, u32);

/// A pack that one of the new files names.
struct Seen {
    number: u32,
    first: PackPosition,
    /// Whether it was known before all new files.
    is_known: bool,
}

/// For each row of a file whether it is kept; all rows after the end are.
#[derive(Default)]
struct RowsToKeep {
    data: Vec<bool>,
    trees: Vec<bool>,
}

struct Numbering<'a> {
    known: &'a dyn ExistingRows,
    seen: HashMap<Id, Seen>,
    /// Of packs that several files name, all places but the first.
    again: HashMap<Id, Vec<PackPosition>>,
    /// By file.
    kept: Vec<RowsToKeep>,
    out: Numbered,
}

impl Numbering<'_> {
    /// Numbers the packs of one file. The rows that are not kept stay until all files are done: later ones
    /// are compared with them.
    fn add(&mut self, place: usize, files: &mut [FileRows]) -> Result<()> {
        let file_place = u32::try_from(place).map_err(|_| too_many("index files"))?;
        let file = self.known.file_count().checked_add(file_place).ok_or_else(|| too_many("index files"))?;
        let first_mention = self.out.mentions.len();
        let packs = take(&mut files[place].packs);
        for (index, pack) in packs.iter().enumerate() {
            let here = (file_place, u32::try_from(index).map_err(|_| too_many("packs"))?);
            let number = self.number(pack, here, files)?;
            let FileRows { data, trees, .. } = &mut files[place];
            data.packs[pack.data.clone()].fill(number);
            trees.packs[pack.trees.clone()].fill(number);
            let blob_count = u32::try_from(pack.data.len() + pack.trees.len()).unwrap_or(u32::MAX);
            self.out.mentions.push(MentionRow { file, pack: number, blob_count });
        }
        files[place].packs = packs;
        self.out.mentions[first_mention..].sort_unstable();
        Ok(())
    }

    /// Returns the number of a pack, and notes which of its rows are not kept.
    fn number(&mut self, pack: &FilePack, here: PackPosition, files: &[FileRows]) -> Result<u32> {
        let (number, is_known) = match self.seen.entry(pack.id) {
            Entry::Occupied(seen) => {
                let &Seen { number, first, is_known } = seen.get();
                let again = self.again.entry(pack.id).or_default();
                let earlier: Vec<PackPosition> =
                    std::iter::once(first).chain(again.iter().copied()).collect();
                again.push(here);
                leave_out_seen(
                    &mut self.kept[here.0 as usize],
                    pack,
                    &files[here.0 as usize],
                    files,
                    &earlier,
                );
                (number, is_known)
            }
            Entry::Vacant(new) => {
                let known = self.known.pack_number(&pack.id)?;
                let number = match known {
                    Some(number) => number,
                    None => {
                        let count = u32::try_from(self.out.packs.len()).ok();
                        let number = count.and_then(|count| self.known.pack_count().checked_add(count));
                        self.out.packs.push(pack.id);
                        number.ok_or_else(|| too_many("packs"))?
                    }
                };
                new.insert(Seen { number, first: here, is_known: known.is_some() });
                (number, known.is_some())
            }
        };
        if is_known {
            self.leave_out_known(pack, number, here, &files[here.0 as usize])?;
        }
        Ok(number)
    }

    fn leave_out_known(
        &mut self,
        pack: &FilePack,
        number: u32,
        here: PackPosition,
        rows: &FileRows,
    ) -> Result<()> {
        let kept = &mut self.kept[here.0 as usize];
        for (kind, columns, range, kept) in [
            (BlobKind::Data, &rows.data, &pack.data, &mut kept.data),
            (BlobKind::Tree, &rows.trees, &pack.trees, &mut kept.trees),
        ] {
            for index in range.clone() {
                if self.known.has_row(kind, &Row { pack: number, ..columns.row(index) })? {
                    leave_out(kept, index..index + 1);
                }
            }
        }
        Ok(())
    }
}

/// Notes the rows of a pack that are not kept, since earlier files have them.
fn leave_out_seen(
    kept: &mut RowsToKeep,
    pack: &FilePack,
    rows: &FileRows,
    files: &[FileRows],
    earlier: &[PackPosition],
) {
    let mut others = earlier.iter().map(|&(file, index)| {
        let file = &files[file as usize];
        (file, &file.packs[index as usize])
    });
    let is_same = |(file, other): (&FileRows, &FilePack)| {
        rows.data.same(pack.data.clone(), &file.data, other.data.clone())
            && rows.trees.same(pack.trees.clone(), &file.trees, other.trees.clone())
    };
    if others.clone().any(is_same) {
        leave_out(&mut kept.data, pack.data.clone());
        leave_out(&mut kept.trees, pack.trees.clone());
        return;
    }
    let of = |columns: &Columns, index| Row { pack: 0, ..columns.row(index) };
    let (mut data, mut trees) = (BTreeSet::new(), BTreeSet::new());
    for (file, other) in others.by_ref() {
        data.extend(other.data.clone().map(|index| of(&file.data, index)));
        trees.extend(other.trees.clone().map(|index| of(&file.trees, index)));
    }
    for index in pack.data.clone().filter(|&index| data.contains(&of(&rows.data, index))) {
        leave_out(&mut kept.data, index..index + 1);
    }
    for index in pack.trees.clone().filter(|&index| trees.contains(&of(&rows.trees, index))) {
        leave_out(&mut kept.trees, index..index + 1);
    }
}

fn leave_out(kept: &mut Vec<bool>, rows: Range<usize>) {
    if kept.len() < rows.end {
        kept.resize(rows.end, true);
    }
    kept[rows].fill(false);
}
