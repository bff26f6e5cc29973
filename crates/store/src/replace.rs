//! Puts one store in the place of another.
//!
//! Comes in: a store that was made elsewhere, and a directory with a store that may be damaged. Goes out: the state of the first in the
//! second directory, visible by one publish: a crash leaves the one or the other. Must not know why.
//!
//! Files are copied, not moved: names must be durable in their directory before a manifest refers to them, and the source stays whole
//! until then.

use crate::error::{Error, Result};
use crate::limits::JOURNAL_BYTES_MAX;
use crate::manifest::{Manifest, SegmentEntry};
use crate::names::{self, Maker, Namer};
use crate::options::Options;
use crate::publish::{Draft, DraftSegment, DraftTable, Unnamed, remove_unnamed};
use crate::snapshot::State;
use crate::writer::Writer;
use disk::{Disk, Wait};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Puts the newest state of the store in `from` in the place of whatever store is in `directory`, readable or not. Readers of that one
/// keep what they have open. Waits for a merge of it and for its writer. The store in `from` stays as it is, but for its journal,
/// which is sealed.
///
/// # Errors
/// If the store in `from` is damaged or being written, or what the disk says: then `directory` holds what it held, or the new state.
pub fn replace(disk: &Arc<dyn Disk>, directory: &Path, from: &Path, options: &Options) -> Result<()> {
    disk.create_directory(directory)?;
    let wait = Wait::Block;
    // First the lock of merges, as a merge takes them, so that neither waits for the other for ever. Files that no manifest names stay
    // as long as it is held.
    let _merge_lock = disk.lock(&directory.join(names::MERGE_LOCK), &options.holder, wait)?;
    let _lock = disk.lock(&directory.join(names::LOCK), &options.holder, wait)?;
    let mut source = Writer::open(disk, from, options.clone())?;
    source.flush()?;
    let state = Arc::clone(source.state());
    let old = manifest_in(&**disk, directory)?;
    // What nothing names may have the names of what is to come: one that was interrupted copied the same files.
    match &old {
        Some(old) => remove_unnamed(&**disk, directory, Some(old)),
        None => remove_segments(&**disk, directory)?,
    }
    let taken = disk.list(directory)?;
    let mut written = Unnamed::new(disk);
    for entry in state.manifest.tables.iter().flat_map(|table| &table.segments) {
        for name in files_of(entry) {
            let target = directory.join(&name);
            if taken.iter().any(|taken| *taken == *name) {
                let error = io::Error::from(io::ErrorKind::AlreadyExists);
                return Err(disk::Error::io("create", &target, error).into());
            }
            written.add(&target);
            copy(&**disk, &from.join(&name), &target)?;
        }
    }
    let (number, sequence) = newest(old.as_ref(), &taken);
    let mut draft = Draft {
        disk: Arc::clone(disk),
        directory: directory.to_owned(),
        namer: Namer::new(options.seed, Maker::Writer, number, taken),
        number: number.max(state.manifest.number) + 1,
        sequence: sequence.max(state.sequence) + 1,
        tables: tables(&state),
        attachments: state.attachments.clone(),
        written,
    };
    let published = draft.publish()?;
    remove_unnamed(&**disk, directory, Some(&published.state.manifest));
    Ok(())
}

fn tables(state: &State) -> Vec<DraftTable> {
    let both = state.manifest.tables.iter().zip(&state.tables);
    both.map(|(entry, table)| DraftTable {
        schema: Arc::clone(&entry.schema),
        segments: (entry.segments.iter().zip(table.parts()))
            .map(|(&entry, part)| DraftSegment { part: part.clone(), entry })
            .collect(),
    })
    .collect()
}

/// Returns the manifest in a directory, if it can be read.
pub(crate) fn manifest_in(disk: &dyn Disk, directory: &Path) -> Result<Option<Manifest>> {
    let path = directory.join(names::MANIFEST);
    match disk.read(&path) {
        Err(error) if error.is_not_found() => Ok(None),
        bytes => match Manifest::decode(&path, &bytes?) {
            // It may hold what this program cannot make again.
            Err(error @ Error::Version { .. }) => Err(error),
            manifest => Ok(manifest.ok()),
        },
    }
}

/// Removes the segments of a store whose manifest cannot be read: nobody can open it any more.
fn remove_segments(disk: &dyn Disk, directory: &Path) -> Result<()> {
    for name in disk.list(directory)? {
        let is_segment = Path::new(&name).extension().is_some_and(|end| end == "seg" || end == "dead");
        if is_segment && names::is_removable(&name) {
            disk.remove(&directory.join(name))?;
        }
    }
    Ok(())
}

/// Returns numbers that no manifest of the old store, and no commit of it, is above: as far as can be told.
pub(crate) fn newest(old: Option<&Manifest>, names: &[OsString]) -> (u64, u64) {
    let journals =
        names.iter().filter_map(|name| name.to_str()?.strip_prefix("journal-")?.parse::<u64>().ok());
    let number = journals.max().unwrap_or(0);
    // No commit in a journal takes less than a byte.
    old.map_or((number, 0), |old| (number.max(old.number), old.sequence.saturating_add(JOURNAL_BYTES_MAX)))
}

/// Returns the names of a segment's files.
fn files_of(entry: &SegmentEntry) -> impl Iterator<Item = String> {
    let dead = entry.dead.map(|dead| dead.number.dead());
    std::iter::once(entry.number.segment()).chain(dead)
}

/// Copies a sealed file, durably but for its name.
fn copy(disk: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    let bytes = disk.map(from)?;
    let mut file = disk.create(to)?;
    file.write(&bytes)?;
    Ok(file.sync()?)
}
