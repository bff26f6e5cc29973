//! Publishes a manifest (docs/FORMAT.md, "Order of writes"). All other files are written first, under names
//! that nothing refers to yet.
//!
//! Input: a draft of the next state, with its new segments written. Output: the state, visible and durable.
//! Does not depend on why it is published.

use crate::commit::dead::DeadRows;
use crate::commit::journal::{self, JournalContents};
use crate::commit::manifest::{Attachments, DeadEntry, JournalIdentity, Manifest, SegmentEntry, TableEntry};
use crate::error::{Error, Result, check_limit};
use crate::file::names::{self, Maker, Namer};
use crate::file::sealed::Sealed;
use crate::file::sealed_write::SealedWriter;
use crate::format::{KIND_DEAD, MANIFEST_VERSION};
use crate::limits::{
    ATTACHMENT_BYTES_MAX, ATTACHMENTS_BYTES_MAX, ATTACHMENTS_MAX, NAME_BYTES_MAX, ROWS_PER_SEGMENT_MAX,
};
use crate::read::loaded::Loaded;
use crate::read::marks::Marks;
use crate::read::part::{Part, PartRows};
use crate::read::state::{Durable, State};
use crate::read::table::{Table, TableState};
use crate::rows::source::Order;
use crate::rows::transaction::Transaction;
use crate::schema::Schema;
use crate::segment::mapped::Segment;
use crate::segment::write::{Content, Form, write_content};
use crate::write::resolve::{Survivors, TablePlan};
use disk::{Disk, File};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most rows of a segment that uses another segment's dictionaries. Training takes about 0.1 s, which is more
/// than all other work for a thousand rows, and little compared to the work for more rows than this.
const LENT_ROWS_MAX: usize = 16_384;

/// The next state of a store while it is put together.
pub(crate) struct Draft {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    pub(crate) namer: Namer,
    pub(crate) number: u64,
    pub(crate) sequence: u64,
    pub(crate) tables: Vec<DraftTable>,
    pub(crate) attachments: Attachments,
    /// How numbers lie in new segments.
    pub(crate) form: Form,
    /// Files written for this state.
    pub(crate) written: UnpublishedFiles,
}

/// Files that no manifest names yet. Dropping this removes them.
pub(crate) struct UnpublishedFiles {
    disk: Arc<dyn Disk>,
    paths: Vec<PathBuf>,
}

/// The segments of one table; nothing is left in its memtable.
pub(crate) struct DraftTable {
    pub(crate) schema: Arc<Schema>,
    pub(crate) segments: Vec<DraftSegment>,
}

/// A segment with its dead rows as they are, and as its files have them.
#[derive(Clone)]
pub(crate) struct DraftSegment {
    pub(crate) part: Part,
    pub(crate) entry: SegmentEntry,
}

/// The result of a publish for the writer.
pub(crate) struct Published {
    pub(crate) state: State,
    /// The new journal, empty.
    pub(crate) journal: Box<dyn File>,
}

impl Draft {
    /// Begins the state after `state`, without the rows of the memtables.
    ///
    /// # Errors
    /// Disk errors.
    pub(crate) fn after(state: &State, seed: u64, maker: Maker) -> Result<Draft> {
        let number = state.manifest.number + 1;
        let namer = Namer::new(seed, maker, number, state.disk.list(&state.directory)?);
        let tables = state.manifest.tables.iter().zip(&state.tables).map(|(entry, table)| DraftTable {
            schema: Arc::clone(&entry.schema),
            segments: entry
                .segments
                .iter()
                .zip(table.parts())
                .map(|(&entry, part)| DraftSegment { part: part.clone(), entry })
                .collect(),
        });
        Ok(Draft {
            disk: Arc::clone(&state.disk),
            directory: state.directory.clone(),
            namer,
            number,
            sequence: state.sequence,
            tables: tables.collect(),
            attachments: state.attachments.clone(),
            form: Form::Plain,
            written: UnpublishedFiles::new(&state.disk),
        })
    }

    /// Begins the first state of a store, without rows. Overwrites no file in `taken`.
    pub(crate) fn first(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        schemas: &[Schema],
        seed: u64,
        taken: Vec<OsString>,
    ) -> Draft {
        let mut draft = Draft {
            disk: Arc::clone(disk),
            directory: directory.to_owned(),
            namer: Namer::new(seed, Maker::Writer, 1, taken),
            number: 1,
            sequence: 0,
            tables: Vec::new(),
            attachments: Attachments::new(),
            form: Form::Plain,
            written: UnpublishedFiles::new(disk),
        };
        draft.add_tables(schemas);
        draft
    }

    /// Adds empty tables after the others.
    pub(crate) fn add_tables(&mut self, schemas: &[Schema]) {
        let empty = |schema: &Schema| DraftTable { schema: Arc::new(schema.clone()), segments: Vec::new() };
        self.tables.extend(schemas.iter().map(empty));
    }

    /// Marks rows as dead and writes new ones, as planned for the state that the draft follows.
    ///
    /// # Errors
    /// Disk errors, or that a source is damaged.
    pub(crate) fn write_planned(&mut self, plan: &[TablePlan<'_>], rows_per_segment: u32) -> Result<()> {
        for TablePlan { table, survivors, dying } in plan {
            for (segment, rows) in self.tables[*table].segments.iter_mut().zip(dying) {
                for row in rows {
                    segment.part.dead.kill(*row);
                }
            }
            self.write_rows(*table, survivors, rows_per_segment)?;
        }
        Ok(())
    }

    /// Counts a group of transactions, if there is any, and takes over its named bytes.
    pub(crate) fn add_group(&mut self, group: &[Transaction]) {
        self.sequence += u64::from(!group.is_empty());
        let attachments = group.iter().flat_map(|transaction| &transaction.attachments);
        self.attachments.extend(attachments.map(|(name, bytes)| (name.clone(), bytes.as_slice().into())));
    }

    /// Writes the rows of a table in memory, as [`write_rows`](Draft::write_rows) does.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn write_loaded(
        &mut self,
        table: usize,
        loaded: &Loaded,
        rows_per_segment: u32,
    ) -> Result<()> {
        let (sources, sorted) = loaded.sealed_order()?;
        self.write_rows(table, &Survivors { sources, rows: sorted.rows }, rows_per_segment)
    }

    /// Writes rows as new segments of a table, of at most `rows_per_segment` rows each.
    ///
    /// # Errors
    /// Disk errors, or that a source is damaged.
    pub(crate) fn write_rows(&mut self, table: usize, rows: &Survivors, rows_per_segment: u32) -> Result<()> {
        let row_count = rows.len();
        let most = rows_per_segment.clamp(1, ROWS_PER_SEGMENT_MAX) as usize;
        if row_count == 0 {
            return Ok(());
        }
        if row_count <= most {
            return self.write_one(table, rows, rows.order());
        }
        let all: Vec<_> = rows.iter().collect();
        all.chunks(most).try_for_each(|chunk| self.write_one(table, rows, Order::Chosen(chunk)))
    }

    fn write_one(&mut self, table: usize, rows: &Survivors, order: Order) -> Result<()> {
        let number = self.namer.next();
        let path = self.directory.join(number.segment());
        self.written.add(&path);
        let DraftTable { schema, segments } = &self.tables[table];
        let lenders = lenders(segments.iter().map(|segment| &segment.part), rows.len());
        let form = self.form;
        let content = Content { sources: &rows.sources, order, lenders: &lenders, cancel: None, form };
        let segment = write_new_segment(&*self.disk, &path, schema, &content)
            .inspect_err(|error| self.written.forget_if_there(&path, error))?;
        let entry = SegmentEntry::of(number, &segment);
        let part = Part { rows: PartRows::Segment(Arc::new(segment)), dead: DeadRows::default() };
        self.tables[table].segments.push(DraftSegment { part, entry });
        Ok(())
    }

    /// Makes the draft the store's state, visible and durable.
    ///
    /// # Errors
    /// Disk errors. Then either the old state or the new one is in place, and it is unknown which.
    pub(crate) fn publish(&mut self) -> Result<Published> {
        self.write_dead_rows()?;
        let manifest = self.manifest();
        let bytes = manifest.encode()?;
        let (journal, head) = self.create_journal(&manifest.journal_identity())?;
        // All names must be durable before anything refers to them.
        self.disk.sync_directory(&self.directory)?;
        // From here on the files may be named by a manifest that survives.
        self.written.keep();
        disk::publish(&*self.disk, &self.directory, names::MANIFEST, &bytes)?;
        let tables = self.tables.drain(..).map(DraftTable::into_table).collect();
        let state = State {
            disk: Arc::clone(&self.disk),
            directory: self.directory.clone(),
            manifest: Arc::new(manifest),
            sequence: self.sequence,
            tables,
            attachments: std::mem::take(&mut self.attachments),
            journal_bytes: head.len() as u64,
            torn_bytes: 0,
            journal_rows: 0,
            marks: Marks::new(
                &bytes,
                &head,
                &JournalContents { valid_bytes: head.len() as u64, ..JournalContents::default() },
            ),
            durable: Durable::default(),
        };
        Ok(Published { state, journal })
    }

    /// Writes the dead rows of each segment that has more than its file says, and leaves segments without
    /// live rows out. What was written is not written again.
    ///
    /// # Errors
    /// Disk errors.
    pub(crate) fn write_dead_rows(&mut self) -> Result<()> {
        for table in 0..self.tables.len() {
            self.tables[table].segments.retain(|segment| segment.part.live_count() > 0);
            for index in 0..self.tables[table].segments.len() {
                let DraftSegment { part, entry } = self.tables[table].segments[index].clone();
                if part.dead_count() != entry.dead_count() {
                    let dead = self.write_dead(&part)?;
                    self.tables[table].segments[index].entry.dead = Some(dead);
                }
            }
        }
        Ok(())
    }

    fn write_dead(&mut self, part: &Part) -> Result<DeadEntry> {
        let number = self.namer.next();
        let path = self.directory.join(number.dead());
        self.written.add(&path);
        let mut file = SealedWriter::create(&*self.disk, &path, KIND_DEAD)
            .inspect_err(|error| self.written.forget_if_there(&path, error))?;
        file.write(&part.dead.encode(part.row_count()))?;
        file.finish()?;
        let digest = Sealed::open(&*self.disk, &path, KIND_DEAD)?.digest();
        Ok(DeadEntry { number, dead_count: part.dead_count(), digest })
    }

    fn manifest(&mut self) -> Manifest {
        let tables = self.tables.iter().map(|table| TableEntry {
            schema: Arc::clone(&table.schema),
            segments: table.segments.iter().map(|segment| segment.entry).collect(),
        });
        Manifest {
            version: MANIFEST_VERSION,
            number: self.number,
            sequence: self.sequence,
            journal_seed: self.namer.identity(),
            tables: tables.collect(),
            attachments: self.attachments.clone(),
        }
    }

    /// Creates an empty journal. Returns its bytes, too.
    fn create_journal(&mut self, identity: &JournalIdentity) -> Result<(Box<dyn File>, Vec<u8>)> {
        let path = self.directory.join(names::journal(identity.manifest));
        // Left from a publish that did not succeed; it holds no record.
        self.disk.remove(&path)?;
        self.written.add(&path);
        let mut file = self.disk.create(&path)?;
        let bytes = journal::encode_empty(identity);
        file.write(&bytes)?;
        file.sync()?;
        Ok((file, bytes))
    }
}

impl UnpublishedFiles {
    pub(crate) fn new(disk: &Arc<dyn Disk>) -> UnpublishedFiles {
        UnpublishedFiles { disk: Arc::clone(disk), paths: Vec::new() }
    }

    /// Adds a file that is about to be written.
    pub(crate) fn add(&mut self, path: &Path) {
        self.paths.push(path.to_owned());
    }

    /// Forgets a file that could not be created because it was there: it belongs to somebody with the same
    /// seed.
    fn forget_if_there(&mut self, path: &Path, error: &Error) {
        let is_there = matches!(error, Error::Io(disk::Error::Io { source, .. })
            if source.kind() == io::ErrorKind::AlreadyExists);
        if is_there {
            self.paths.retain(|written| written != path);
        }
    }

    /// Takes over the files of another.
    pub(crate) fn adopt(&mut self, mut other: UnpublishedFiles) {
        self.paths.append(&mut other.paths);
    }

    /// Forgets all files: they are named now, or may be.
    fn keep(&mut self) {
        self.paths.clear();
    }
}

impl Drop for UnpublishedFiles {
    fn drop(&mut self) {
        // If this fails, the next writer removes them.
        for path in &self.paths {
            let _ = self.disk.remove(path);
        }
    }
}

impl DraftTable {
    fn into_table(self) -> Table {
        let mut parts: Vec<Part> = self.segments.into_iter().map(|segment| segment.part).collect();
        parts.push(Part::memtable(&self.schema));
        Table { state: Arc::new(TableState { schema: self.schema, parts }) }
    }
}

/// Refuses attachments that would exceed a manifest's limits together with the existing ones.
pub(crate) fn check_attachments(attached: &Attachments, group: &[Transaction]) -> Result<()> {
    let mut lengths: BTreeMap<&str, u64> =
        attached.iter().map(|(name, bytes)| (name.as_str(), bytes.len() as u64)).collect();
    for (name, bytes) in group.iter().flat_map(|transaction| &transaction.attachments) {
        check_limit("bytes in an attachment", bytes.len() as u64, ATTACHMENT_BYTES_MAX)?;
        check_limit("bytes in an attachment's name", name.len() as u64, NAME_BYTES_MAX as u64)?;
        lengths.insert(name, bytes.len() as u64);
    }
    check_limit("attachments", lengths.len() as u64, ATTACHMENTS_MAX as u64)?;
    check_limit("bytes in all attachments", lengths.values().sum(), ATTACHMENTS_BYTES_MAX)
}

/// Returns the segments of a table that lend their dictionaries to a new one of `row_count` rows, the largest
/// first: those that have at least as many. None, if the new one has enough rows for its own.
pub(crate) fn lenders<'a>(parts: impl Iterator<Item = &'a Part>, row_count: usize) -> Vec<&'a Segment> {
    let segments = parts.filter_map(|part| match &part.rows {
        PartRows::Segment(segment) => Some(&**segment),
        PartRows::Memory(_) => None,
    });
    let is_lender =
        |segment: &&Segment| row_count <= LENT_ROWS_MAX && row_count <= segment.row_count() as usize;
    let mut lenders: Vec<_> = segments.filter(is_lender).collect();
    lenders.sort_by_key(|segment| std::cmp::Reverse(segment.row_count()));
    lenders
}

/// Writes a segment and opens it, so that an unreadable segment is never published.
pub(crate) fn write_new_segment(
    disk: &dyn Disk,
    path: &Path,
    schema: &Arc<Schema>,
    content: &Content,
) -> Result<Segment> {
    let written = write_content(disk, path, schema, content)?;
    let segment = Segment::open(disk, path, schema)?;
    assert_eq!(segment.row_count(), written.row_count, "a segment holds the rows that were written");
    Ok(segment)
}

/// Removes files that `old` names and `new` does not. Readers that have them open keep them; others read
/// the new manifest.
pub(crate) fn remove_replaced(disk: &dyn Disk, directory: &Path, old: &Manifest, new: &Manifest) {
    let kept = named_files(new);
    for name in named_files(old).into_iter().filter(|name| !kept.contains(name)) {
        // If this fails, the next writer removes it.
        let _ = disk.remove(&directory.join(name));
    }
}

/// Removes files of the store that its manifest does not name, or all of them if there is no manifest.
/// Files that cannot be removed are left for the next writer: a full disk must not prevent opening the
/// store.
pub(crate) fn remove_unnamed(disk: &dyn Disk, directory: &Path, manifest: Option<&Manifest>) {
    let kept = manifest.map(named_files).unwrap_or_default();
    for name in disk.list(directory).unwrap_or_default() {
        let is_kept = name.to_str().is_some_and(|name| kept.contains(name));
        if names::is_removable(&name) && !is_kept {
            let _ = disk.remove(&directory.join(name));
        }
    }
}

fn named_files(manifest: &Manifest) -> std::collections::HashSet<String> {
    let segments = manifest.tables.iter().flat_map(|table| &table.segments);
    let dead = segments.clone().filter_map(|segment| Some(segment.dead?.number.dead()));
    let segments = segments.map(|segment| segment.number.segment());
    segments.chain(dead).chain([names::journal(manifest.number)]).collect()
}
