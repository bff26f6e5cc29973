//! Records of vinyl's log: what happened to a tree, a range, a run or a slice.
//!
//! Input: a row of a `.vylog`. Output: a [`Record`]. Does not know what follows from it.
//!
//! A record is `[kind, {property: value}]`. Numbers that are 0 are not written. Unknown properties are
//! skipped; an unknown kind is damage.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;
use crate::msgpack::{Reader, Result};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    CreateTree,
    DropTree,
    InsertRange,
    DeleteRange,
    PrepareRun,
    CreateRun,
    DropRun,
    ForgetRun,
    InsertSlice,
    DeleteSlice,
    DumpTree,
    /// All records before it describe the state at the snapshot with the log's name.
    Snapshot,
    /// Written by old versions; has no meaning.
    TruncateTree,
    ModifyTree,
    ForgetTree,
    PrepareTree,
    /// The instance began anew; what follows counts when a snapshot is made.
    Rebootstrap,
    AbortRebootstrap,
}

/// The kinds, by number.
const KINDS: [RecordKind; 18] = [
    RecordKind::CreateTree,
    RecordKind::DropTree,
    RecordKind::InsertRange,
    RecordKind::DeleteRange,
    RecordKind::PrepareRun,
    RecordKind::CreateRun,
    RecordKind::DropRun,
    RecordKind::ForgetRun,
    RecordKind::InsertSlice,
    RecordKind::DeleteSlice,
    RecordKind::DumpTree,
    RecordKind::Snapshot,
    RecordKind::TruncateTree,
    RecordKind::ModifyTree,
    RecordKind::ForgetTree,
    RecordKind::PrepareTree,
    RecordKind::Rebootstrap,
    RecordKind::AbortRebootstrap,
];

/// A record. Properties that it does not have are 0 or `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) kind: RecordKind,
    pub(super) tree: i64,
    pub(super) range: i64,
    pub(super) run: i64,
    pub(super) slice: i64,
    /// The first key; `None` if there is no limit.
    pub(super) begin: Option<&'a [u8]>,
    /// The key after the last one; `None` if there is no limit.
    pub(super) end: Option<&'a [u8]>,
    pub(super) index: u32,
    pub(super) space: u32,
    pub(super) create_lsn: i64,
    pub(super) drop_lsn: i64,
    pub(super) dump_lsn: i64,
}

/// Reads a record.
///
/// # Errors
/// Damage, if it is malformed or of an unknown kind.
pub(super) fn read_record(bytes: &[u8]) -> Result<Record<'_>> {
    let mut reader = Reader::new(bytes);
    if reader.array_len()? != 2 {
        return Err(reader.damage("a record of vinyl's log does not have two parts"));
    }
    let unknown = reader.damage("vinyl's log has a record of an unknown kind");
    let kind = usize::try_from(reader.uint()?).ok().and_then(|number| KINDS.get(number).copied());
    let kind = kind.ok_or(unknown)?;
    let mut record = Record {
        kind,
        tree: 0,
        range: 0,
        run: 0,
        slice: 0,
        begin: None,
        end: None,
        index: 0,
        space: 0,
        create_lsn: 0,
        drop_lsn: 0,
        dump_lsn: 0,
    };
    for _ in 0..reader.map_len()? {
        match reader.uint()? {
            0 => record.tree = signed(&mut reader)?,
            1 => record.range = signed(&mut reader)?,
            2 => record.run = signed(&mut reader)?,
            3 => record.begin = key(&mut reader)?,
            4 => record.end = key(&mut reader)?,
            5 => record.index = narrow(&mut reader)?,
            6 => record.space = narrow(&mut reader)?,
            8 => record.slice = signed(&mut reader)?,
            9 => record.dump_lsn = signed(&mut reader)?,
            12 => record.create_lsn = signed(&mut reader)?,
            14 => record.drop_lsn = signed(&mut reader)?,
            _ => {
                reader.skip()?;
            }
        }
    }
    // Old versions identified a tree by the LSN that created it.
    if kind == RecordKind::CreateTree && record.create_lsn == 0 {
        record.create_lsn = record.tree;
    }
    Ok(record)
}

/// Reads a key; one without parts stands for no limit.
fn key<'a>(reader: &mut Reader<'a>) -> Result<Option<&'a [u8]>> {
    let has_parts = Reader::new(reader.rest()).array_len()? > 0;
    let key = reader.skip()?;
    Ok(has_parts.then_some(key))
}

fn signed(reader: &mut Reader) -> Result<i64> {
    let damage: Damage = reader.damage("a number is over 63 bits");
    i64::try_from(reader.uint()?).map_err(|_| damage)
}

fn narrow(reader: &mut Reader) -> Result<u32> {
    let damage: Damage = reader.damage("a number is over 32 bits");
    u32::try_from(reader.uint()?).map_err(|_| damage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_whole_or_not_at_all() {
        // Insert slice 5 of run 4 into range 3, from [7] on, without an end; property 99 is not known.
        let bytes = [0x92, 8, 0x86, 1, 3, 2, 4, 8, 5, 3, 0x91, 7, 4, 0x90, 0x63, 0xc0];
        let record = read_record(&bytes).unwrap();
        assert_eq!((record.kind, record.range, record.run, record.slice), (RecordKind::InsertSlice, 3, 4, 5));
        assert_eq!((record.begin, record.end), (Some(&[0x91, 7][..]), None));
        for cut in 0..bytes.len() {
            assert!(read_record(&bytes[..cut]).is_err(), "{cut} bytes");
        }
        let damage = read_record(&[0x92, 18, 0x80]).unwrap_err();
        assert_eq!(damage.what, "vinyl's log has a record of an unknown kind");
        assert!(read_record(&[0x91, 0]).is_err());
        let old = read_record(&[0x92, 0, 0x81, 0, 9]).unwrap();
        assert_eq!((old.tree, old.create_lsn), (9, 9));
    }
}
