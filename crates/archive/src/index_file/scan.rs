//! Reads index files: restic's own layout fast, any other JSON as well.
//!
//! Comes in: JSON. Goes out: each pack with its blobs, or an error that says at which byte. Must not know what is made of them.
//!
//! Keys that are not known are left out, as restic leaves them out: `supersedes` of old files, rustic's `time`, `size` and `packs_to_delete`.
//! A key that stands twice is refused. What is missing that restic always writes is refused too; packs and blobs may be missing or
//! `null`.

use super::cursor::{Cursor, Fault};
use super::fast;
use crate::blob::{BlobKind, PackedBlob};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::storage::FileName;

/// Calls `visit` with each pack and its blobs, in the order of the file. A pack that stands twice is passed on twice.
///
/// `file` is the name for messages. Takes no more memory than the blobs of one pack.
///
/// # Errors
/// [`Error::Damage`] if it is no index file: what was visited before it counts for nothing then. What `visit` says.
pub fn scan(
    file: FileName,
    json: &[u8],
    mut visit: impl FnMut(&Id, &[PackedBlob]) -> Result<()>,
) -> Result<()> {
    let mut stopped = None;
    let mut scanner = Scanner {
        blobs: Vec::new(),
        visit: |id: &Id, blobs: &[PackedBlob]| {
            visit(id, blobs).map_err(|error| stopped = Some(error)).is_ok()
        },
    };
    let outcome = scanner.file(&mut Cursor::new(json));
    match (stopped, outcome) {
        (Some(error), _) => Err(error),
        (None, Err(fault)) => Err(Error::damage(file, format!("byte {}: {}", fault.at, fault.what))),
        (None, Ok(())) => Ok(()),
    }
}

/// What stays the same from pack to pack.
struct Scanner<Visit> {
    /// The blobs of one pack; its id may stand behind them.
    blobs: Vec<PackedBlob>,
    /// Says whether to go on.
    visit: Visit,
}

impl<Visit: FnMut(&Id, &[PackedBlob]) -> bool> Scanner<Visit> {
    fn file(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Fault> {
        let mut packs = None;
        cursor.object(|cursor, key| match key {
            b"packs" => once(&mut packs, cursor, |cursor| {
                if cursor.take_null() { Ok(()) } else { cursor.array(|cursor| self.pack(cursor)) }
            }),
            _ => cursor.skip_value(),
        })?;
        cursor.end()
    }

    fn pack(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Fault> {
        self.blobs.clear();
        let (mut id, mut blobs) = (None, None);
        cursor.object(|cursor, key| match key {
            b"id" => once(&mut id, cursor, Cursor::id),
            b"blobs" => once(&mut blobs, cursor, |cursor| {
                if cursor.take_null() { Ok(()) } else { cursor.array(|cursor| self.blob(cursor)) }
            }),
            _ => cursor.skip_value(),
        })?;
        let Some(id) = id else { return cursor.fault("the pack before has no id") };
        if (self.visit)(&id, &self.blobs) { Ok(()) } else { cursor.fault("stopped") }
    }

    fn blob(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Fault> {
        let blob = match fast::blob(cursor.rest()) {
            Some((blob, bytes)) => {
                cursor.advance(bytes);
                blob
            }
            None => any_blob(cursor)?,
        };
        self.blobs.push(blob);
        Ok(())
    }
}

/// Reads a blob whatever way it is written.
fn any_blob(cursor: &mut Cursor<'_>) -> std::result::Result<PackedBlob, Fault> {
    let (mut id, mut kind, mut offset, mut length, mut uncompressed) = (None, None, None, None, None);
    cursor.object(|cursor, key| match key {
        b"id" => once(&mut id, cursor, Cursor::id),
        b"type" => once(&mut kind, cursor, blob_kind),
        b"offset" => once(&mut offset, cursor, Cursor::size),
        b"length" => once(&mut length, cursor, Cursor::size),
        b"uncompressed_length" => {
            once(&mut uncompressed, cursor, |cursor| if cursor.take_null() { Ok(0) } else { cursor.size() })
        }
        _ => cursor.skip_value(),
    })?;
    let (Some(id), Some(kind), Some(offset), Some(length)) = (id, kind, offset, length) else {
        return cursor.fault("the blob before has no id, type, offset or length");
    };
    Ok(PackedBlob { kind, id, offset, length, uncompressed_length: uncompressed.unwrap_or(0) })
}

fn blob_kind(cursor: &mut Cursor<'_>) -> std::result::Result<BlobKind, Fault> {
    let wrong = cursor.fault("a blob is data or tree");
    match cursor.string("data or tree is expected")?.as_ref() {
        b"data" => Ok(BlobKind::Data),
        b"tree" => Ok(BlobKind::Tree),
        _ => wrong,
    }
}

/// Reads the value of a key that may stand only once in its object.
fn once<'json, T>(
    value: &mut Option<T>,
    cursor: &mut Cursor<'json>,
    read: impl FnOnce(&mut Cursor<'json>) -> std::result::Result<T, Fault>,
) -> std::result::Result<(), Fault> {
    if value.is_some() {
        return cursor.fault("a key stands twice");
    }
    *value = Some(read(cursor)?);
    Ok(())
}
