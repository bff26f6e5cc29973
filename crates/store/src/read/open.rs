//! Opens the files that a manifest names, and starts again if a writer replaced the manifest in the meantime.
//!
//! Input: a directory, and what an older snapshot has open. Output: a [`State`]. Takes no lock and writes
//! nothing (docs/FORMAT.md, "Order of writes").

use crate::commit::dead::DeadRows;
use crate::commit::journal::{self, JournalContents};
use crate::commit::manifest::{DeadEntry, Manifest, SegmentEntry, TableEntry};
use crate::error::{Error, Result};
use crate::file::names::{self, FileNumber};
use crate::file::sealed::{MappedFile, Sealed};
use crate::format::KIND_DEAD;
use crate::limits::OPEN_ATTEMPTS_MAX;
use crate::read::follow::follow;
use crate::read::marks::Marks;
use crate::read::part::{Part, PartRows};
use crate::read::state::{Durable, OpenSegment, State};
use crate::read::table::{Table, TableState};
use crate::schema::Schema;
use crate::segment::mapped::Segment;
use disk::Disk;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Opens the newest state of the store in `directory`. What `known`, an older state, has open is not opened
/// again.
///
/// # Errors
/// If there is no store, a file is damaged, missing or of a newer version, or the disk refuses.
pub(crate) fn open_state(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    known: Option<&Arc<State>>,
) -> Result<Arc<State>> {
    let mut bytes = disk.read(&directory.join(names::MANIFEST))?;
    let is_there = |known: &&Arc<State>| Arc::ptr_eq(&known.disk, disk) && known.directory == *directory;
    if let Some(state) = known.filter(is_there).and_then(|known| follow(known, &bytes)) {
        return Ok(state);
    }
    let open = known.map(|known| known.open_segments()).unwrap_or_default();
    for _ in 0..OPEN_ATTEMPTS_MAX {
        let error = match open_named(disk, directory, &bytes, &open) {
            Ok(state) => return Ok(Arc::new(state)),
            Err(error) => error,
        };
        // A writer may have published another manifest and removed files that this one names, or cut the
        // journal's torn tail.
        let newer = disk.read(&directory.join(names::MANIFEST))?;
        if newer == bytes {
            return Err(missing_file(error));
        }
        bytes = newer;
    }
    Err(Error::Limit {
        what: "attempts to open a store that changes all the time",
        value: u64::from(OPEN_ATTEMPTS_MAX) + 1,
        limit: u64::from(OPEN_ATTEMPTS_MAX),
    })
}

/// Opens everything that a manifest names.
fn open_named(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    manifest_bytes: &[u8],
    open: &HashMap<FileNumber, OpenSegment>,
) -> Result<State> {
    let manifest = Manifest::decode(&directory.join(names::MANIFEST), manifest_bytes)?;
    let mut bound = manifest.clone();
    let has_digests = manifest.has_digests();
    // All of them before the first is checked, so that the disk reads their ends at the same time.
    let named = manifest.tables.iter().flat_map(|table| &table.segments).map(|entry| entry.number);
    let new = named.filter(|number| has_digests && !open.contains_key(number));
    let mut mapped: HashMap<FileNumber, Result<MappedFile>> =
        new.map(|number| (number, map(&**disk, directory, number))).collect();
    let tables = bound.tables.iter_mut().map(|table| {
        // An old manifest has no digests: its files are accepted as they are found. From then on only these
        // very files are accepted.
        let find = |entry: &mut SegmentEntry, schema: &_| match has_digests {
            true => {
                let files = (open.get(&entry.number), mapped.remove(&entry.number));
                open_segment(&**disk, directory, schema, entry, files)
            }
            false => open_unbound(&**disk, directory, schema, entry),
        };
        open_table(table, find)
    });
    let tables = tables.collect::<Result<_>>()?;
    let state = State {
        disk: Arc::clone(disk),
        directory: directory.to_owned(),
        manifest: Arc::new(bound),
        sequence: manifest.sequence,
        tables,
        attachments: manifest.attachments.clone(),
        journal_bytes: 0,
        torn_bytes: 0,
        journal_rows: 0,
        marks: Marks::new(manifest_bytes, &[], &JournalContents::default()),
        durable: Durable::default(),
    };
    let (mut state, journal, contents) = with_journal(&state)?;
    state.marks = Marks::new(manifest_bytes, &journal, &contents);
    state.journal_bytes = contents.valid_bytes;
    state.torn_bytes = contents.torn_bytes;
    Ok(state)
}

/// Maps a segment, and asks for its end.
fn map(disk: &dyn Disk, directory: &Path, number: FileNumber) -> Result<MappedFile> {
    let file = MappedFile::new(disk, &directory.join(number.segment()))?;
    file.ask_for_end();
    Ok(file)
}

/// Returns a state after the records of its journal, the journal's bytes, and what else they say.
fn with_journal(before: &State) -> Result<(State, Vec<u8>, JournalContents)> {
    let path = before.directory.join(names::journal(before.manifest.number));
    let (identity, schemas) = (before.journal_identity(), before.schemas());
    let mut bytes = before.disk.read(&path)?;
    let mut attempts = 0;
    loop {
        let mut state = before.clone();
        let read = journal::read(&path, &bytes, &identity, &schemas, &mut |record| state.apply(record));
        let error = match read {
            Ok(contents) => return Ok((state, bytes, contents)),
            Err(error) => error,
        };
        attempts += 1;
        if !matches!(error, Error::Corrupt { .. }) || attempts > OPEN_ATTEMPTS_MAX {
            return Err(error);
        }
        // If a writer cut a torn tail and appended while we read, we hold the beginning of the old tail and
        // the end of the new record.
        let again = before.disk.read(&path)?;
        if again == bytes {
            return Err(error);
        }
        bytes = again;
    }
}

fn open_table(
    entry: &mut TableEntry,
    mut open: impl FnMut(&mut SegmentEntry, &Arc<Schema>) -> Result<Part>,
) -> Result<Table> {
    let mut parts = Vec::with_capacity(entry.segments.len() + 1);
    for segment in &mut entry.segments {
        parts.push(open(segment, &entry.schema)?);
    }
    parts.push(Part::memtable(&entry.schema));
    Ok(Table { state: Arc::new(TableState { schema: Arc::clone(&entry.schema), parts }) })
}

fn open_segment(
    disk: &dyn Disk,
    directory: &Path,
    schema: &Arc<Schema>,
    entry: &SegmentEntry,
    (open, mapped): (Option<&OpenSegment>, Option<Result<MappedFile>>),
) -> Result<Part> {
    let open = open.filter(|open| open.segment.digest() == entry.digest && open.segment.schema() == schema);
    let segment = match open {
        Some(open) => Arc::clone(&open.segment),
        None => {
            let file = mapped.unwrap_or_else(|| map(disk, directory, entry.number))?;
            Arc::new(Segment::of_file(file, schema)?)
        }
    };
    segment.expect_digest(entry.digest)?;
    check_segment(&segment, entry)?;
    let reused = open.filter(|open| open.entry.dead == entry.dead).and_then(|open| open.dead.clone());
    let dead = match (reused, entry.dead) {
        (Some(dead), _) => dead,
        (None, None) => DeadRows::default(),
        (None, Some(dead)) => {
            let (found, file) = open_dead(disk, directory, entry, dead)?;
            file.expect_digest(dead.digest)?;
            found
        }
    };
    Ok(Part { rows: PartRows::Segment(segment), dead })
}

/// Opens a segment of a manifest without digests, and records the digests of its files.
fn open_unbound(
    disk: &dyn Disk,
    directory: &Path,
    schema: &Arc<Schema>,
    entry: &mut SegmentEntry,
) -> Result<Part> {
    let segment = Segment::open(disk, &directory.join(entry.number.segment()), schema)?;
    check_segment(&segment, entry)?;
    entry.digest = segment.digest();
    let mut dead = DeadRows::default();
    if let Some(named) = entry.dead {
        let (found, file) = open_dead(disk, directory, entry, named)?;
        entry.dead = Some(DeadEntry { digest: file.digest(), ..named });
        dead = found;
    }
    Ok(Part { rows: PartRows::Segment(Arc::new(segment)), dead })
}

fn check_segment(segment: &Segment, entry: &SegmentEntry) -> Result<()> {
    check_equal(segment.path(), "row count", u64::from(segment.row_count()), u64::from(entry.row_count))?;
    check_equal(segment.path(), "length", segment.file_bytes(), entry.file_bytes)
}

/// Reads the dead rows of a segment.
fn open_dead(
    disk: &dyn Disk,
    directory: &Path,
    entry: &SegmentEntry,
    dead: DeadEntry,
) -> Result<(DeadRows, Sealed)> {
    let path = directory.join(dead.number.dead());
    let (found, file) = read_dead(disk, &path, entry.row_count)?;
    check_equal(&path, "count of dead rows", u64::from(found.dead_count()), u64::from(dead.dead_count))?;
    Ok((found, file))
}

/// Reads a file of dead rows.
pub(crate) fn read_dead(disk: &dyn Disk, path: &Path, row_count: u32) -> Result<(DeadRows, Sealed)> {
    let file = Sealed::open(disk, path, KIND_DEAD)?;
    let content = file.range(0..file.content_length())?;
    let dead = DeadRows::decode(content, row_count).map_err(|damage| damage.in_file(path, 0))?;
    Ok((dead, file))
}

fn check_equal(path: &Path, what: &str, found: u64, expected: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let what = format!("{what} is {found}, the manifest says {expected}");
    Err(Error::Corrupt { path: path.to_owned(), offset: 0, what })
}

/// Converts the absence of a file that the newest manifest names into the right error.
fn missing_file(error: Error) -> Error {
    match error {
        Error::Io(disk::Error::Io { path, source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Error::Corrupt {
                path,
                offset: 0,
                what: "the manifest names this file, but it does not exist".into(),
            }
        }
        other => other,
    }
}
