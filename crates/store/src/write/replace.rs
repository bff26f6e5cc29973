//! Replaces a store with another one.
//!
//! Input: a complete store in another directory, and a directory with a store that may be damaged. Output:
//! the state of the first store in the second directory. It becomes visible by one publish: a crash leaves
//! the old state or the new one.
//!
//! Files are copied, not moved: their names must be durable in the directory before a manifest refers to
//! them, and the source stays whole until then.

use crate::commit::manifest::SegmentEntry;
use crate::commit::manifest_file::{manifest_in, newest};
use crate::error::Result;
use crate::file::names::{self, Maker, Namer};
use crate::read::state::State;
use crate::write::options::Options;
use crate::write::publish::{Draft, DraftSegment, DraftTable, UnpublishedFiles, remove_unnamed};
use crate::write::writer::Writer;
use disk::{Disk, Wait};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Replaces the store in `directory`, readable or not, with the newest state of the store in `from`.
/// Readers of the old store keep what they have open. Waits for merges, prepared commits and the writer of
/// the old store. The journal of the store in `from` is sealed; nothing else in it changes.
///
/// # Errors
/// If the store in `from` is damaged or being written, or a disk operation fails. Then `directory` holds
/// its old state, or the new one.
pub fn replace(disk: &Arc<dyn Disk>, directory: &Path, from: &Path, options: &Options) -> Result<()> {
    disk.create_directory(directory)?;
    let wait = Wait::Block;
    // In the same order as a merge, to avoid a deadlock. Files that no manifest names are kept as long as
    // this lock is held.
    let _merge_lock = disk.lock(&directory.join(names::MERGE_LOCK), &options.holder, wait)?;
    let _lock = disk.lock(&directory.join(names::LOCK), &options.holder, wait)?;
    let mut source = Writer::open(disk, from, options.clone())?;
    source.flush()?;
    let state = Arc::clone(source.state());
    let old = manifest_in(&**disk, directory)?;
    // Unnamed files may have the names of files to come: an interrupted run copied the same files.
    match &old {
        Some(old) => remove_unnamed(&**disk, directory, Some(old)),
        None => remove_segments(&**disk, directory)?,
    }
    let taken = disk.list(directory)?;
    let mut written = UnpublishedFiles::new(disk);
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
        form: options.form,
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

/// Removes the segments of a store whose manifest cannot be read. Without the manifest, nothing can open
/// them.
fn remove_segments(disk: &dyn Disk, directory: &Path) -> Result<()> {
    for name in disk.list(directory)? {
        let is_segment = Path::new(&name).extension().is_some_and(|end| end == "seg" || end == "dead");
        if is_segment && names::is_removable(&name) {
            disk.remove(&directory.join(name))?;
        }
    }
    Ok(())
}

/// Returns the names of a segment's files.
fn files_of(entry: &SegmentEntry) -> impl Iterator<Item = String> {
    let dead = entry.dead.map(|dead| dead.number.dead());
    std::iter::once(entry.number.segment()).chain(dead)
}

/// Copies a sealed file durably, except for its name.
fn copy(disk: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    let bytes = disk.map(from)?;
    let mut file = disk.create(to)?;
    file.write(&bytes)?;
    Ok(file.sync()?)
}
