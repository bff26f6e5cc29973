//! Reads index files: restic's own layout fast, and any other JSON as well.
//!
//! Output: each pack with its blobs, or an error with the offset.
//!
//! Unknown keys are ignored, as in restic: `supersedes` of old files, rustic's `time`, `size` and
//! `packs_to_delete`. A key that occurs twice is an error. So is a missing key that restic always writes,
//! except that packs and blobs may be missing or `null`.

use super::fast;
use crate::encoding::hex;
use crate::encoding::id::Id;
use crate::encoding::json::scan::{Result as Scanned, Scanner};
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::format::blob::{BlobKind, PackedBlob};

/// Calls `visit` with each pack and its blobs, in the order of the file. A pack that is listed twice is
/// passed on twice.
///
/// `file` is the name for messages. Takes no more memory than the blobs of one pack.
///
/// # Errors
/// [`Error::Damage`] if it is not a valid index file; the caller must then discard what was visited. Errors
/// of `visit`.
pub fn scan(
    file: FileName,
    json: &[u8],
    mut visit: impl FnMut(&Id, &[PackedBlob]) -> Result<()>,
) -> Result<()> {
    let mut stopped = None;
    let mut reader = PackReader {
        blobs: Vec::new(),
        visit: |id: &Id, blobs: &[PackedBlob]| {
            visit(id, blobs).map_err(|error| stopped = Some(error)).is_ok()
        },
    };
    let outcome = reader.file(&mut Scanner::new(json));
    match (stopped, outcome) {
        (Some(error), _) => Err(error),
        (None, Err(fault)) => Err(Error::damage(file, fault.to_string())),
        (None, Ok(())) => Ok(()),
    }
}

/// What stays the same from pack to pack.
struct PackReader<Visit> {
    /// The blobs of one pack. Its id may come after them.
    blobs: Vec<PackedBlob>,
    /// Returns whether to go on.
    visit: Visit,
}

impl<Visit: FnMut(&Id, &[PackedBlob]) -> bool> PackReader<Visit> {
    fn file(&mut self, scanner: &mut Scanner<'_>) -> Scanned<()> {
        let mut packs = None;
        scanner.object(|scanner, key| match key {
            b"packs" => once(&mut packs, scanner, |scanner| {
                if scanner.take_null()? { Ok(()) } else { scanner.array(|scanner| self.pack(scanner)) }
            }),
            _ => scanner.skip(),
        })?;
        if scanner.peek().is_none() { Ok(()) } else { scanner.fault("more follows after the end") }
    }

    fn pack(&mut self, scanner: &mut Scanner<'_>) -> Scanned<()> {
        self.blobs.clear();
        let (mut id, mut blobs) = (None, None);
        scanner.object(|scanner, key| match key {
            b"id" => once(&mut id, scanner, self::id),
            b"blobs" => once(&mut blobs, scanner, |scanner| {
                if scanner.take_null()? { Ok(()) } else { scanner.array(|scanner| self.blob(scanner)) }
            }),
            _ => scanner.skip(),
        })?;
        let Some(id) = id else { return scanner.fault("the pack before has no id") };
        if (self.visit)(&id, &self.blobs) { Ok(()) } else { scanner.fault("stopped") }
    }

    fn blob(&mut self, scanner: &mut Scanner<'_>) -> Scanned<()> {
        scanner.peek();
        let blob = match fast::blob(scanner.rest()) {
            Some((blob, bytes)) => {
                scanner.advance(bytes);
                blob
            }
            None => any_blob(scanner)?,
        };
        self.blobs.push(blob);
        Ok(())
    }
}

/// Reads a blob in any valid spelling.
fn any_blob(scanner: &mut Scanner<'_>) -> Scanned<PackedBlob> {
    let (mut id, mut kind, mut offset, mut length, mut uncompressed) = (None, None, None, None, None);
    scanner.object(|scanner, key| match key {
        b"id" => once(&mut id, scanner, self::id),
        b"type" => once(&mut kind, scanner, blob_kind),
        b"offset" => once(&mut offset, scanner, size),
        b"length" => once(&mut length, scanner, size),
        b"uncompressed_length" => {
            once(
                &mut uncompressed,
                scanner,
                |scanner| if scanner.take_null()? { Ok(0) } else { size(scanner) },
            )
        }
        _ => scanner.skip(),
    })?;
    let (Some(id), Some(kind), Some(offset), Some(length)) = (id, kind, offset, length) else {
        return scanner.fault("the blob before has no id, type, offset or length");
    };
    Ok(PackedBlob { kind, id, offset, length, uncompressed_length: uncompressed.unwrap_or(0) })
}

fn blob_kind(scanner: &mut Scanner<'_>) -> Scanned<BlobKind> {
    let before = *scanner;
    match scanner.text()?.decode().as_ref() {
        "data" => Ok(BlobKind::Data),
        "tree" => Ok(BlobKind::Tree),
        _ => before.fault("a blob is \"data\" or \"tree\""),
    }
}

fn id(scanner: &mut Scanner<'_>) -> Scanned<Id> {
    let before = *scanner;
    let digits = scanner.text()?.decode();
    match digits.as_bytes().try_into().ok().and_then(hex::decode) {
        Some(bytes) => Ok(Id(bytes)),
        None => before.fault("an id has 64 hexadecimal digits"),
    }
}

/// Reads a number of bytes.
fn size(scanner: &mut Scanner<'_>) -> Scanned<u32> {
    let size = scanner.number(u64::from(u32::MAX))?;
    Ok(u32::try_from(size).expect("it is at most u32::MAX"))
}

/// Reads the value of a key that may occur only once in its object.
fn once<'json, T>(
    value: &mut Option<T>,
    scanner: &mut Scanner<'json>,
    read: impl FnOnce(&mut Scanner<'json>) -> Scanned<T>,
) -> Scanned<()> {
    if value.is_some() {
        return scanner.fault("a key occurs twice");
    }
    *value = Some(read(scanner)?);
    Ok(())
}
