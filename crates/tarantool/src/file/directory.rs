//! Lists the snapshots and logs of a directory, and opens them.
//!
//! Input: a disk and directories. Output: files by name, with their headers. It decides nothing.

use crate::error::{Error, Result};
use crate::file::find_block::{Found, SearchBudget, next_block};
use crate::file::header::{FileKind, HEADER_BYTES_MAX, Header};
use disk::{Disk, Map};
use std::path::{Path, PathBuf};

/// A file by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named {
    /// The number of rows that its name states.
    pub(crate) signature: i64,
    pub(crate) path: PathBuf,
}

/// An opened file.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) header: Header,
    pub(crate) header_bytes: usize,
    pub(crate) bytes: Map,
}

/// A file whose header cannot be used.
pub(crate) struct Unopened {
    pub(crate) path: PathBuf,
    /// The number of rows that its name states.
    pub(crate) signature: i64,
    pub(crate) length_bytes: usize,
    /// Whether a crash can have left it like this, before it had any content.
    pub(crate) was_begun: bool,
    /// The offset of the first sound block.
    pub(crate) first_block: Option<usize>,
    /// The header, if it is readable but something else is wrong.
    pub(crate) header: Option<Header>,
    pub(crate) bytes: Map,
    pub(crate) error: Error,
}

/// Lists the files of a kind, the oldest first. Files with other names are ignored, such as those that are
/// still being written.
pub(crate) fn list(disk: &dyn Disk, directory: &Path, kind: FileKind) -> Result<Vec<Named>> {
    let names = disk.list(directory)?;
    let mut files: Vec<Named> = names
        .iter()
        .filter_map(|name| {
            let digits = name.to_str()?.strip_suffix(kind.extension())?.strip_suffix('.')?;
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let signature = digits.parse().ok().filter(|_| is_number)?;
            Some(Named { signature, path: directory.join(name) })
        })
        .collect();
    files.sort();
    Ok(files)
}

/// Opens a file and reads its header.
///
/// # Errors
/// Disk errors. A header that cannot be used is in the value.
pub(crate) fn open(
    disk: &dyn Disk,
    named: &Named,
    kind: FileKind,
) -> Result<std::result::Result<Opened, Box<Unopened>>> {
    let bytes = disk.map(&named.path)?;
    let wrong = |header: Option<Header>, error| {
        let found = next_block(&bytes, 0, 0, &mut SearchBudget::for_bytes(bytes.len()));
        // Rows have another meaning in another kind of file.
        let is_other = header.as_ref().is_some_and(|header| header.kind != kind);
        let first_block = if let (Found::Block(at), false) = (found, is_other) { Some(at) } else { None };
        Ok(Err(Box::new(Unopened {
            path: named.path.clone(),
            signature: named.signature,
            length_bytes: bytes.len(),
            was_begun: Header::was_begun(&bytes, kind),
            first_block,
            header,
            bytes: bytes.clone(),
            error,
        })))
    };
    let head = bytes.get(..HEADER_BYTES_MAX).unwrap_or(&bytes);
    let (header, header_bytes) = match Header::parse(head) {
        Ok(header) => header,
        Err(damage) => return wrong(None, damage.in_file(&named.path, 0)),
    };
    let damage = |what: String| Error::Damage { path: named.path.clone(), offset: 0, what };
    if header.kind != kind {
        return wrong(
            Some(header),
            damage(format!("its first line and its name disagree: it is not a .{}", kind.extension())),
        );
    }
    if header.vclock.signature() != named.signature {
        let wanted = header.file_name();
        return wrong(Some(header), damage(format!("its name should be {wanted}, by the VClock in it")));
    }
    Ok(Ok(Opened { path: named.path.clone(), header, header_bytes, bytes }))
}
