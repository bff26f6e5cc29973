//! A mailbox as a snapshot has it: where each message file lay. Does not depend on queries.

use crate::blobs::entry::Content;
use crate::blobs::reader::{BlobReader, content};
use crate::blobs::walk::{Revisit, Walk};
use crate::error::Result;
use crate::paths::message_place;
use crate::paths::plain;
use crate::read::lookup::PieceLookup;
use index::{Moment, MomentFile, MomentFolder, Root};
use restic::Id;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use work::Progress;

/// Returns the place of each message below these roots. Walks the whole tree.
///
/// # Errors
/// A tree or a cut file cannot be read; [`Error::Interrupted`](crate::Error::Interrupted).
pub(crate) fn moment(
    reader: &dyn BlobReader,
    lookup: &PieceLookup<'_>,
    tree: &Id,
    roots: &[Root],
    progress: &dyn Progress,
) -> Result<Moment> {
    let paths: Vec<Option<Vec<u8>>> = roots.iter().map(|root| plain(&root.path)).collect();
    let mut moment = Moment { roots: roots.to_vec(), ..Moment::default() };
    let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
    let mut keywords: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    Walk::new(reader, progress, Revisit::Enter).run(tree, &mut |directory, entry| {
        let Content::File(pieces) = &entry.content else { return Ok(()) };
        if entry.name == mail::KEYWORDS_FILE {
            if entry.stat.size_bytes <= mail::KEYWORDS_FILE_BYTES_MAX as u64 {
                let found = content(reader, pieces, mail::KEYWORDS_FILE_BYTES_MAX as u64)?;
                keywords.insert(directory.to_vec(), found);
            }
            return Ok(());
        }
        let Some((folder, subdirectory)) = message_place(directory) else { return Ok(()) };
        let Some((root, below)) = root_of(&paths, folder) else { return Ok(()) };
        let number = match numbers.get(folder) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(moment.folders.len()).unwrap_or(u32::MAX);
                let root = roots.get(root).map_or(String::new(), |root| root.name.clone());
                moment.folders.push(MomentFolder { root, path: below.to_vec(), keywords: Vec::new() });
                numbers.insert(folder.to_vec(), number);
                number
            }
        };
        moment.files.push(MomentFile {
            folder: number,
            subdirectory,
            name: entry.name.clone(),
            sha256: whole(reader, lookup, pieces)?,
            size_bytes: entry.stat.size_bytes,
            mtime_ns: entry.stat.mtime_ns,
            ctime_ns: entry.stat.ctime_ns,
        });
        Ok(())
    })?;
    for (folder, number) in numbers {
        if let (Some(found), Some(folder)) =
            (keywords.remove(&folder), moment.folders.get_mut(number as usize))
        {
            folder.keywords = found;
        }
    }
    Ok(moment)
}

/// Returns the deepest root that contains a folder, and the folder's path below it.
fn root_of<'a>(roots: &[Option<Vec<u8>>], folder: &'a [u8]) -> Option<(usize, &'a [u8])> {
    let below = |root: &Option<Vec<u8>>| -> Option<&'a [u8]> {
        let rest = folder.strip_prefix(root.as_deref()?)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"/") }
    };
    let found = roots.iter().enumerate().filter_map(|(number, root)| Some((number, below(root)?)));
    found.min_by_key(|(_, below)| below.len())
}

/// Returns the SHA-256 of a file's message. For a compressed file that is not in the lookup, returns that of
/// its content.
///
/// # Errors
/// A piece cannot be read; damage in the lookup.
pub(crate) fn whole(reader: &dyn BlobReader, lookup: &PieceLookup<'_>, pieces: &[Id]) -> Result<[u8; 32]> {
    if let Some(message) = lookup.message_of(pieces)? {
        return Ok(message);
    }
    let mut hasher = Sha256::new();
    for piece in pieces {
        hasher.update(reader.piece(piece)?);
    }
    Ok(hasher.finalize().into())
}
