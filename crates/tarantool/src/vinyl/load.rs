//! Loads the tuples of a tree into columns, on several threads.
//!
//! Input: the ranges of a tree, the runs in them, and the table of the space. Output: batches of rows in the
//! order of the primary key, and what could not be read. Does not know logs.
//!
//! Ranges are cut into pieces at the first keys of pages. Each thread takes the next piece, and merges what
//! the runs have for its keys. Memory: the rows themselves, a page of each run of the piece, and the keys of
//! pages.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::key::{KeyBuffer, KeyReader};
use super::merge::{Sink, merge};
use super::run::{Pages, RunFiles};
use super::source::{DamagedPage, Limits, Run, Source};
use super::trees::Tree;
use super::upsert::Upserts;
use crate::check::loss::counted_rows;
use crate::error::{Damage, Error, Result};
use crate::load::{ColumnBuilder, OnDamage, rows_of};
use crate::msgpack::Reader;
use crate::space::Space;
use crate::space::table::SpaceTable;
use crate::state::double_fields;
use crate::update::Context;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use store::{Rows, Values};
use work::Progress;

/// Stored bytes of a piece, about.
const PIECE_BYTES: u64 = 8 << 20;
/// Slices of a range.
const SLICES_MAX: usize = 10_000;
/// At most this many losses of a tree are listed. Further ones are only counted.
const LISTED_MAX: usize = 1000;

/// The tuples of a tree.
#[derive(Debug, Default)]
pub(crate) struct TreeRows {
    /// The rows, in the order of the primary key.
    pub(crate) batches: Vec<Rows>,
    /// What could not be read, a sentence each.
    pub(crate) lost: Vec<String>,
}

/// A tree to load.
#[derive(Clone, Copy)]
pub(super) struct TreeJob<'a> {
    pub(super) tree: &'a Tree,
    pub(super) files: &'a BTreeMap<i64, RunFiles>,
    /// The log that describes the tree.
    pub(super) log: &'a Path,
    pub(super) target: TreeTarget<'a>,
}

/// What the rows of a tree become, and how it is loaded.
#[derive(Clone, Copy)]
pub(crate) struct TreeTarget<'a> {
    pub(crate) space: &'a Space,
    pub(crate) table: &'a SpaceTable,
    pub(crate) on_damage: OnDamage,
    pub(crate) thread_count: usize,
    pub(crate) progress: &'a dyn Progress,
}

/// Some keys of a range.
struct Piece<'a> {
    limits: Limits<'a>,
    slices: &'a [KeyedSlice<'a>],
}

/// A range with its limits as bytes.
struct KeyedRange<'a> {
    begin: Vec<u8>,
    end: Option<Vec<u8>>,
    slices: Vec<KeyedSlice<'a>>,
    /// Where it is cut into pieces.
    cuts: Vec<Vec<u8>>,
}

struct KeyedSlice<'a> {
    run: &'a Run<'a>,
    begin: Vec<u8>,
    end: Option<Vec<u8>>,
}

/// Loads a tree. `progress` counts pages and their stored bytes.
///
/// # Errors
/// Damage, unless it is to be left out; limits of the store; [`Error::Cancelled`].
pub(super) fn load_tree(job: TreeJob) -> Result<TreeRows> {
    let target = job.target;
    let name = format!("space {} ({})", target.space.name, target.space.id);
    let Some(keys) = KeyReader::new(target.space) else {
        let what =
            "its rows are in files of vinyl, which cannot be merged without the order of its primary key";
        return Ok(TreeRows { batches: Vec::new(), lost: vec![format!("{name}: {what}")] });
    };
    let mut lost = Vec::new();
    let runs = open_runs(&job, &keys, &name, &mut lost)?;
    let ranges = keyed_ranges(&job, &keys, &runs, &name, &mut lost)?;
    let pieces: Vec<Piece> = ranges.iter().flat_map(KeyedRange::pieces).collect();
    let double_fields = double_fields(target.space);
    let context = Context { index_base: 0, fields: &target.space.fields, double_fields: &double_fields };
    let upserts = Upserts { space: target.space, keys: &keys, context };
    let loading = Loading { job, keys: &keys, upserts: &upserts, name: &name };
    loading.all(&pieces, lost)
}

/// Reads the index of each run that a slice needs.
fn open_runs<'a>(
    job: &TreeJob<'a>,
    keys: &KeyReader,
    name: &str,
    lost: &mut Vec<String>,
) -> Result<BTreeMap<i64, Run<'a>>> {
    let mut runs = BTreeMap::new();
    for slice in job.tree.ranges.iter().flat_map(|range| &range.slices) {
        let Some(files) = job.files.get(&slice.run) else { continue };
        if runs.contains_key(&slice.run) {
            continue;
        }
        let pages = match files.pages(keys) {
            Ok(pages) => pages,
            Err(error) if job.target.on_damage == OnDamage::Refuse => return Err(error),
            Err(error) => without_index(files, keys, name, &error, lost),
        };
        runs.insert(slice.run, Run { files, pages });
    }
    Ok(runs)
}

/// Finds the pages of a run whose index is of no use, and lists what is lost.
fn without_index(
    files: &RunFiles,
    keys: &KeyReader,
    name: &str,
    error: &Error,
    lost: &mut Vec<String>,
) -> Pages {
    let stale = "rows of it are missing, or older than they were";
    match files.pages_without_index(keys) {
        Ok(pages) => {
            let unread = files.unread_bytes(&pages);
            let told = files.info().map_or(0, |info| info.page_count);
            let missing = told.saturating_sub(pages.pages.len() as u64);
            let why = match () {
                () if unread > 0 => Some(format!("{unread} bytes of the run are not pages")),
                () if !pages.are_closed => Some("the run is cut off".to_owned()),
                () if missing > 0 => Some(format!("its index tells of {missing} more pages")),
                () => None,
            };
            lost.extend(why.map(|why| format!("{name}: {error}; {why}: {stale}")));
            pages
        }
        Err(_) => {
            let count = files
                .info()
                .map_or_else(|_| String::new(), |info| format!(", {}", counted_rows(info.row_count)));
            lost.push(format!("{name}: {error}; the whole run is left out{count}: {stale}"));
            Pages::default()
        }
    }
}

/// Returns the ranges in the order of their keys.
fn keyed_ranges<'a>(
    job: &TreeJob,
    keys: &KeyReader,
    runs: &'a BTreeMap<i64, Run<'a>>,
    name: &str,
    lost: &mut Vec<String>,
) -> Result<Vec<KeyedRange<'a>>> {
    let in_log =
        |what: &str| Error::Damage { path: job.log.to_owned(), offset: 0, what: format!("{name}: {what}") };
    let mut buffer = KeyBuffer::default();
    let mut key = |bytes: &Option<Vec<u8>>| -> Result<Option<Vec<u8>>> {
        let Some(bytes) = bytes else { return Ok(None) };
        let mut out = Vec::new();
        keys.of_key(bytes, &mut buffer, &mut out).map_err(|damage| in_log(damage.what))?;
        Ok(Some(out))
    };
    let mut ranges = Vec::new();
    for range in &job.tree.ranges {
        if range.slices.len() > SLICES_MAX {
            return Err(in_log("a range has over 10,000 slices"));
        }
        let mut slices = Vec::new();
        for slice in &range.slices {
            let Some(run) = runs.get(&slice.run) else { continue };
            slices.push(KeyedSlice {
                run,
                begin: key(&slice.begin)?.unwrap_or_default(),
                end: key(&slice.end)?,
            });
        }
        if has_overlap(&slices) {
            let what = "a range has a part of a run twice";
            if job.target.on_damage == OnDamage::Refuse {
                return Err(in_log(what));
            }
            lost.push(format!("{name}: {what}: the second time does not count"));
            cut_overlaps(&mut slices);
        }
        let (begin, end) = (key(&range.begin)?.unwrap_or_default(), key(&range.end)?);
        let mut range = KeyedRange { begin, end, slices, cuts: Vec::new() };
        range.cut();
        ranges.push(range);
    }
    ranges.sort_by(|one, two| one.begin.cmp(&two.begin));
    match gap(&ranges) {
        None => {}
        Some(what) if job.target.on_damage == OnDamage::Refuse => return Err(in_log(what)),
        Some(what) => {
            lost.push(format!("{name}: {what}: rows are missing, or older than they were"));
            ranges.dedup_by(|next, before| before.end.as_ref().is_none_or(|end| *end > next.begin));
        }
    }
    Ok(ranges)
}

/// Returns the order of slices by run, and where each begins in it.
fn by_run(one: &KeyedSlice, two: &KeyedSlice) -> std::cmp::Ordering {
    one.run.files.path.cmp(&two.run.files.path).then_with(|| one.begin.cmp(&two.begin))
}

/// Returns whether the second of two slices has a part of the first one.
fn overlaps(first: &KeyedSlice, second: &KeyedSlice) -> bool {
    first.run.files.path == second.run.files.path && first.end.as_ref().is_none_or(|end| *end > second.begin)
}

/// Returns whether any part of a run is in two slices: its upserts would be applied twice.
fn has_overlap(slices: &[KeyedSlice]) -> bool {
    let mut sorted: Vec<&KeyedSlice> = slices.iter().collect();
    sorted.sort_by(|one, two| by_run(one, two));
    sorted.windows(2).any(|pair| matches!(pair, [first, second] if overlaps(first, second)))
}

/// Takes what is in a slice out of the slices after it.
fn cut_overlaps(slices: &mut Vec<KeyedSlice>) {
    slices.sort_by(by_run);
    slices.dedup_by(|next, before| {
        if !overlaps(before, next) {
            return false;
        }
        // Together they are one slice up to the later end.
        let ends = before.end.take().zip(next.end.take());
        before.end = ends.map(|(one, two)| one.max(two));
        true
    });
}

/// Returns what is wrong with ranges that do not follow each other from the first key to the last.
fn gap(ranges: &[KeyedRange]) -> Option<&'static str> {
    let mut reached = Some(&[][..]);
    for range in ranges {
        match reached {
            Some(end) if end == range.begin => {}
            Some(end) if end < range.begin.as_slice() => return Some("no range of its tree has some keys"),
            _ => return Some("two ranges of its tree have the same keys"),
        }
        reached = range.end.as_deref();
    }
    match reached {
        None => None,
        Some(_) if ranges.is_empty() => Some("its tree has no range"),
        Some(_) => Some("no range of its tree has the last keys"),
    }
}

impl<'a> KeyedRange<'a> {
    fn limits(&self) -> Limits<'_> {
        Limits { begin: &self.begin, end: self.end.as_deref() }
    }

    /// Chooses where to cut the range: at pages of its largest slice, such that pieces have about as many
    /// bytes of all slices.
    fn cut(&mut self) {
        let limits = self.limits();
        let bytes = |slice: &KeyedSlice| slice.bytes(limits.within(slice.limits()));
        let all: u64 = self.slices.iter().map(bytes).fold(0, u64::saturating_add);
        let Some(largest) = self.slices.iter().max_by_key(|slice| bytes(slice)) else { return };
        let count = all.checked_div(PIECE_BYTES).unwrap_or(0);
        let Some(step) = bytes(largest).checked_div(count) else { return };
        let limits = limits.within(largest.limits());
        let (mut cuts, mut since): (Vec<Vec<u8>>, u64) = (Vec::new(), 0);
        for (key, bytes) in largest.pages(limits) {
            let last = cuts.last().map_or(limits.begin, Vec::as_slice);
            if since >= step && key > last {
                cuts.push(key.to_vec());
                since = 0;
            }
            since = since.saturating_add(bytes);
        }
        self.cuts = cuts;
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        let limits = self.limits();
        let mut pieces = Vec::new();
        let mut begin = limits.begin;
        for end in self.cuts.iter().map(|cut| Some(cut.as_slice())).chain([limits.end]) {
            pieces.push(Piece { limits: Limits { begin, end }, slices: &self.slices });
            begin = end.unwrap_or_default();
        }
        pieces
    }
}

impl<'a> KeyedSlice<'a> {
    fn limits(&self) -> Limits<'_> {
        Limits { begin: &self.begin, end: self.end.as_deref() }
    }

    /// Returns the first key and the stored bytes of each page that begins within limits.
    fn pages(&self, limits: Limits<'a>) -> impl Iterator<Item = (&'a [u8], u64)> {
        let pages = &self.run.pages;
        let from = pages.pages.get(pages.first_with(limits.begin)..).unwrap_or_default();
        let keyed = from.iter().map(|page| (pages.first_key(page), page.place.payload.len() as u64));
        keyed.take_while(move |(key, _)| limits.end.is_none_or(|end| *key < end))
    }

    fn bytes(&self, limits: Limits) -> u64 {
        self.pages(limits).map(|(_, bytes)| bytes).fold(0, u64::saturating_add)
    }
}

/// What all threads share.
struct Loading<'a> {
    job: TreeJob<'a>,
    keys: &'a KeyReader,
    upserts: &'a Upserts<'a>,
    name: &'a str,
}

/// What a piece has.
#[derive(Default)]
struct PieceRows {
    batches: Vec<Vec<Values>>,
    lost: Vec<String>,
    lost_count: usize,
}

impl Loading<'_> {
    fn all(&self, pieces: &[Piece], mut lost: Vec<String>) -> Result<TreeRows> {
        let next = AtomicUsize::new(0);
        let has_failed = AtomicBool::new(false);
        let done = Mutex::new(BTreeMap::new());
        let work = || {
            while !has_failed.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = pieces.get(number) else { break };
                let loaded = self.piece(piece);
                has_failed.fetch_or(loaded.is_err(), Ordering::Relaxed);
                done.lock().expect("nobody panics with it").insert(number, loaded);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.job.target.thread_count.min(pieces.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut batches = Vec::new();
        let (mut arrived, mut unlisted) = (0, 0_usize);
        for loaded in done.into_inner().expect("nobody panicked with it").into_values() {
            let PieceRows { batches: columns, lost: more, lost_count } = loaded?;
            for columns in columns {
                batches.push(rows_of(self.job.target.table, columns, &mut arrived)?);
            }
            // Two pieces may read the same page.
            let is_told = more.first().is_some_and(|first| lost.last() == Some(first));
            let lost_count = lost_count.saturating_sub(usize::from(is_told));
            let more = more.into_iter().skip(usize::from(is_told));
            let room = LISTED_MAX.saturating_sub(lost.len()).min(more.len());
            unlisted = unlisted.saturating_add(lost_count.saturating_sub(room));
            lost.extend(more.take(room));
        }
        if unlisted > 0 {
            lost.push(format!("{}: {unlisted} more pages or rows of runs", self.name));
        }
        Ok(TreeRows { batches, lost })
    }

    fn piece(&self, piece: &Piece) -> Result<PieceRows> {
        let limited = piece.slices.iter().map(|slice| (slice.run, piece.limits.within(slice.limits())));
        let within = limited.filter(|(_, limits)| !limits.is_empty());
        let sources: Vec<Source> = within.map(|(run, limits)| Source::new(run, limits)).collect();
        let mut sink = Columns {
            loading: self,
            builder: ColumnBuilder::new(self.job.target.table),
            lost: Vec::new(),
            lost_count: 0,
        };
        merge(sources, self.keys, self.upserts, &mut sink)?;
        let Columns { builder, lost, lost_count, .. } = sink;
        Ok(PieceRows { batches: builder.finish(), lost, lost_count })
    }
}

/// Puts tuples into columns.
struct Columns<'a> {
    loading: &'a Loading<'a>,
    builder: ColumnBuilder<'a>,
    lost: Vec<String>,
    lost_count: usize,
}

impl Sink for Columns<'_> {
    fn tuple(&mut self, tuple: &[u8]) -> std::result::Result<(), Damage> {
        let mark = self.builder.mark();
        let taken = self.builder.take(&mut Reader::new(tuple));
        if taken.is_err() {
            self.builder.rewind(mark);
        }
        taken
    }

    fn damaged(&mut self, damaged: DamagedPage) -> Result<()> {
        let DamagedPage { run, page, damage } = damaged;
        let offset = page.map_or(damage.offset, |page| page.place.offset);
        if self.loading.job.target.on_damage == OnDamage::Refuse {
            return Err(Damage { offset, ..damage }.in_file(&run.path, 0));
        }
        self.lost_count = self.lost_count.saturating_add(1);
        if self.lost.len() < LISTED_MAX {
            let rows = match page {
                Some(page) => {
                    let count = page.row_count.map_or_else(|| "its rows".to_owned(), counted_rows);
                    format!("at byte {offset}: {}: {count} are missing, or older than they were", damage.what)
                }
                None => format!("{}: a row is missing", damage.what),
            };
            self.lost.push(format!("{}: {}: {rows}", self.loading.name, run.path.display()));
        }
        Ok(())
    }

    fn progress(&mut self, bytes: u64) -> Result<()> {
        self.builder.end_block(0);
        self.loading.job.target.progress.add(1, bytes);
        Ok(self.loading.job.target.progress.check()?)
    }
}
