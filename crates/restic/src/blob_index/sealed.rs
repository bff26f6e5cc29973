//! Blobs in the cache: mapped segments, searched by id, by pack and by number.
//!
//! Errors here are the store's. They lead to a new cache and never reach the user.

use super::columns::Row;
use super::number::{ExistingRows, MentionRow};
use super::tables::{BY_ID, DATA, FILES, MENTIONS, PACKS, SCHEMAS, TREES, blob, mention, named};
use crate::encoding::id::Id;
use crate::format::blob::BlobKind;
use std::cell::RefCell;
use store::{ColumnSlice, Error, Part, Result, Snapshot, Table, Value};

/// The tables of one snapshot of a cache.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) snapshot: Snapshot,
    data: Rows,
    trees: Rows,
    packs: Rows,
    files: Rows,
    mentions: Table,
}

/// A table whose rows never die, so that its rows are numbered without gaps, part by part.
#[derive(Debug)]
struct Rows {
    table: Table,
    /// The number of the first row of each part that has any.
    starts: Vec<u32>,
    count: u32,
}

thread_local! {
    /// Rows that were found: kept for its memory, since a look-up costs less than to ask for some.
    static FOUND: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

impl Sealed {
    /// Opens the tables of a snapshot.
    ///
    /// # Errors
    /// If it has other tables, or if damage is found in a file.
    pub(super) fn new(snapshot: Snapshot) -> Result<Sealed> {
        let schemas: Vec<_> = SCHEMAS.iter().map(|schema| (**schema).clone()).collect();
        snapshot.expect_schemas(&schemas)?;
        let rows = |name| Rows::new(snapshot.table(name)?);
        let (data, trees, packs, files) = (rows(DATA)?, rows(TREES)?, rows(PACKS)?, rows(FILES)?);
        let mentions = snapshot.table(MENTIONS)?;
        if data.count.checked_add(trees.count).is_none() {
            return Err(unsound(&data.table, "there are 2^32 rows or more"));
        }
        Ok(Sealed { snapshot, data, trees, packs, files, mentions })
    }

    pub(super) fn has(&self, kind: BlobKind, id: &Id) -> Result<bool> {
        FOUND.with_borrow_mut(|found| {
            for (part, _) in self.rows(kind).parts() {
                found.clear();
                part.find(BY_ID, &[Value::Id(&id.0)], found)?;
                if !found.is_empty() {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Sets each entry of `has` whose blob exists.
    pub(super) fn has_batch(&self, kind: BlobKind, ids: &[[u8; Id::BYTES]], has: &mut [bool]) -> Result<()> {
        let mut found = Vec::with_capacity(ids.len());
        for (part, _) in self.rows(kind).parts() {
            found.clear();
            part.find_batch(BY_ID, &[ColumnSlice::Id(ids)], &mut found)?;
            for &(key, _) in &found {
                if let Some(has) = has.get_mut(key as usize) {
                    *has = true;
                }
            }
        }
        Ok(())
    }

    /// Appends the numbers of all copies of a blob.
    pub(super) fn find(&self, kind: BlobKind, id: &Id, numbers: &mut Vec<u32>) -> Result<()> {
        let rows = self.rows(kind);
        let first = self.first(kind);
        FOUND.with_borrow_mut(|found| {
            for (part, start) in rows.parts() {
                found.clear();
                part.find(BY_ID, &[Value::Id(&id.0)], found)?;
                numbers.extend(found.iter().map(|row| first + start + row));
            }
            Ok(())
        })
    }

    /// Returns how many blobs there are. They have numbers: first the data, then the trees.
    pub(super) fn len(&self) -> u32 {
        self.data.count + self.trees.count
    }

    /// Returns the blob with an existing number.
    pub(super) fn row(&self, number: u32) -> Result<(BlobKind, Row)> {
        let kind = if number < self.data.count { BlobKind::Data } else { BlobKind::Tree };
        let (part, row) = self.rows(kind).place(number - self.first(kind))?;
        Ok((kind, row_of(part, row)?))
    }

    /// Calls `visit` with each blob's number and row, pack by pack within each part.
    pub(super) fn for_each(&self, visit: &mut dyn FnMut(u32, BlobKind, &Row)) -> Result<()> {
        for kind in [BlobKind::Data, BlobKind::Tree] {
            let rows = self.rows(kind);
            for (part, start) in rows.parts() {
                let all = 0..part.row_count();
                let (packs, offsets) =
                    (part.u32s(blob::PACK, all.clone())?, part.u32s(blob::OFFSET, all.clone())?);
                let (ids, lengths) =
                    (part.ids(blob::ID, all.clone())?, part.u32s(blob::LENGTH, all.clone())?);
                let uncompressed = part.u32s(blob::UNCOMPRESSED_LENGTH, all)?;
                let blobs = ids.iter().zip(lengths.iter()).zip(uncompressed.iter());
                let places = packs.iter().zip(offsets.iter()).zip(blobs);
                for (number, ((&pack, &offset), ((id, &length), &uncompressed_length))) in
                    (self.first(kind) + start..).zip(places)
                {
                    visit(number, kind, &Row { pack, offset, id: Id(*id), length, uncompressed_length });
                }
            }
        }
        Ok(())
    }

    /// Appends the numbers of the blobs in a pack, of either kind by place.
    pub(super) fn of_pack(&self, pack: u32, numbers: &mut Vec<u32>) -> Result<()> {
        for kind in [BlobKind::Data, BlobKind::Tree] {
            let rows = self.rows(kind);
            for (part, start) in rows.parts() {
                let found = part.primary_range(&[Value::U32(pack)])?;
                numbers.extend(found.map(|row| self.first(kind) + start + row));
            }
        }
        Ok(())
    }

    /// Returns the name of the pack with this number.
    pub(super) fn pack_id(&self, number: u32) -> Result<Id> {
        self.packs.name(number)
    }

    /// Returns the names of all packs, by number.
    pub(super) fn packs(&self) -> Result<Vec<Id>> {
        self.packs.names()
    }

    /// Returns the names of all index files, by number.
    pub(super) fn files(&self) -> Result<Vec<Id>> {
        self.files.names()
    }

    /// Appends which index file names which pack.
    pub(super) fn mentions(&self, out: &mut Vec<MentionRow>) -> Result<()> {
        for part in self.mentions.parts() {
            let all = 0..part.row_count();
            let (files, packs) =
                (part.u32s(mention::FILE, all.clone())?, part.u32s(mention::PACK, all.clone())?);
            let counts = part.u32s(mention::BLOB_COUNT, all)?;
            let rows = files.iter().zip(packs.iter()).zip(counts.iter());
            out.extend(rows.map(|((&file, &pack), &blob_count)| MentionRow { file, pack, blob_count }));
        }
        Ok(())
    }

    /// Verifies every byte that may be asked for from now on.
    pub(super) fn verify(&self) -> Result<()> {
        let tables =
            [&self.data.table, &self.trees.table, &self.packs.table, &self.files.table, &self.mentions];
        tables.iter().flat_map(|table| table.parts()).try_for_each(Part::verify_checksums)
    }

    fn rows(&self, kind: BlobKind) -> &Rows {
        match kind {
            BlobKind::Data => &self.data,
            BlobKind::Tree => &self.trees,
        }
    }

    /// Returns the number of the first blob of a kind.
    fn first(&self, kind: BlobKind) -> u32 {
        match kind {
            BlobKind::Data => 0,
            BlobKind::Tree => self.data.count,
        }
    }

    fn find_pack(&self, id: &Id) -> Result<Option<u32>> {
        let mut found = Vec::new();
        for (part, start) in self.packs.parts() {
            part.find(BY_ID, &[Value::Id(&id.0)], &mut found)?;
            if let Some(row) = found.first() {
                return Ok(Some(start + row));
            }
        }
        Ok(None)
    }
}

impl ExistingRows for Sealed {
    fn blob_count(&self) -> u32 {
        self.len()
    }

    fn pack_count(&self) -> u32 {
        self.packs.count
    }

    fn file_count(&self) -> u32 {
        self.files.count
    }

    fn pack_number(&self, id: &Id) -> crate::Result<Option<u32>> {
        Ok(self.find_pack(id)?)
    }

    fn has_row(&self, kind: BlobKind, row: &Row) -> crate::Result<bool> {
        let same = |found: Option<store::RowId>| found.is_some();
        Ok(same(self.rows(kind).table.get(store::PRIMARY, &row.values())?))
    }
}

impl Rows {
    fn new(table: Table) -> Result<Rows> {
        let mut starts = Vec::with_capacity(table.parts().len());
        let mut count = 0_u32;
        // The last part is the journal, which is empty here, so look-ups skip it.
        for part in table.parts().iter().take_while(|part| part.row_count() > 0) {
            starts.push(count);
            if part.has_dead() {
                return Err(unsound(&table, "a row is dead"));
            }
            let sum = count.checked_add(part.row_count());
            count = sum.ok_or_else(|| unsound(&table, "there are 2^32 rows or more"))?;
        }
        if u64::from(count) != table.row_count() {
            return Err(unsound(&table, "there is a journal"));
        }
        Ok(Rows { table, starts, count })
    }

    /// Returns the parts that have rows, with the number of the first one.
    fn parts(&self) -> impl Iterator<Item = (&Part, &u32)> {
        self.table.parts().iter().zip(&self.starts)
    }

    /// Returns the part and the row with a number.
    fn place(&self, number: u32) -> Result<(&Part, u32)> {
        let after = self.starts.partition_point(|&start| start <= number);
        let part =
            after.checked_sub(1).and_then(|index| self.table.parts().get(index).zip(self.starts.get(index)));
        match part {
            Some((part, start)) if number - start < part.row_count() => Ok((part, number - start)),
            _ => Err(unsound(&self.table, &format!("there is no row {number}"))),
        }
    }

    /// Returns the name that has a number.
    fn name(&self, number: u32) -> Result<Id> {
        let (part, row) = self.place(number)?;
        if part.u32_at(named::NUMBER, row)? != number {
            return Err(unsound(&self.table, "numbers have gaps"));
        }
        Ok(Id(part.id_at(named::ID, row)?))
    }

    /// Returns all names by their numbers.
    fn names(&self) -> Result<Vec<Id>> {
        let mut names = Vec::with_capacity(self.count as usize);
        for (part, start) in self.parts() {
            let all = 0..part.row_count();
            if !part.u32s(named::NUMBER, all.clone())?.iter().copied().eq(all.clone().map(|row| start + row))
            {
                return Err(unsound(&self.table, "numbers have gaps"));
            }
            names.extend(part.ids(named::ID, all)?.iter().map(|id| Id(*id)));
        }
        Ok(names)
    }
}

fn row_of(part: &Part, row: u32) -> Result<Row> {
    Ok(Row {
        pack: part.u32_at(blob::PACK, row)?,
        offset: part.u32_at(blob::OFFSET, row)?,
        id: Id(part.id_at(blob::ID, row)?),
        length: part.u32_at(blob::LENGTH, row)?,
        uncompressed_length: part.u32_at(blob::UNCOMPRESSED_LENGTH, row)?,
    })
}

fn unsound(table: &Table, what: &str) -> Error {
    Error::Schema { table: table.schema().name.clone(), what: what.to_owned() }
}
