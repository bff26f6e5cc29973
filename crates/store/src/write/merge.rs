//! Merges segments while a writer may run.
//!
//! Input: a directory, and a choice of segments. Output: one segment in their place, published. Does not
//! depend on why they were chosen.
//!
//! The new segment is written under the lock of merges alone. The writer's lock is taken only to publish it.
//! Rows that died in the meantime are marked dead in the new segment. Memory: at most 40 bytes for each row
//! of the merged segments while they are sorted, 8 bytes a row after that, and what writing one segment
//! takes (its indexes are built one at a time). The rows themselves stay in mapped files.

use crate::commit::manifest::SegmentEntry;
use crate::error::{Error, Result};
use crate::file::mirror::Mirror;
use crate::file::names::{self, Maker, Namer};
use crate::limits::ROWS_PER_SEGMENT_MAX;
use crate::read::part::{Part, PartRows, key_columns};
use crate::read::snapshot::Snapshot;
use crate::read::state::State;
use crate::read::table::Table;
use crate::rows::source::RowRef;
use crate::segment::mapped::Segment;
use crate::segment::write::{Content, Form};
use crate::write::options::Options;
use crate::write::policy::{self, SegmentSize};
use crate::write::publish::{Draft, DraftSegment, UnpublishedFiles, lenders, write_new_segment};
use crate::write::resolve::Survivors;
use crate::write::until_free::until_free;
use crate::write::writer::Writer;
use disk::{Disk, Wait};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use work::{Cancel, Progress};

/// How a merge behaves.
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// Shown to processes that find the store locked: process number and command.
    pub holder: String,
    /// What to do if another process merges. A merge always waits for a writer.
    pub wait: Wait,
    /// The only source of randomness; the name of the new file comes from it.
    pub seed: u64,
    /// How numbers lie in the new segment.
    pub form: Form,
    /// Whether the store keeps a second copy, as its writers do ([`Options::keeps_copy`]).
    pub keeps_copy: bool,
    /// A snapshot of the store, if the caller has one: what it has open is not opened again.
    pub known: Option<Snapshot>,
    /// How many segments may stay.
    pub effort: Effort,
    /// Stops the merge, also while it waits for a writer, but not while it waits for another merge, as
    /// [`Wait::Block`] does; `None` if nothing does.
    pub cancel: Option<Cancel>,
}

/// How much is merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// As little as keeps the number of segments bounded.
    #[default]
    Usual,
    /// As much as pays off when nothing else is to be done: only the largest segments stay apart.
    Idle,
}

impl Default for MergeOptions {
    fn default() -> MergeOptions {
        let Options { holder, wait, seed, form, keeps_copy, known, .. } = Options::default();
        MergeOptions { holder, wait, seed, form, keeps_copy, known, effort: Effort::Usual, cancel: None }
    }
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeReport {
    /// The table.
    pub table: String,
    /// How many segments were merged.
    pub segment_count: usize,
    /// How many rows the new segment has; 0 if none was needed.
    pub row_count: u32,
    /// How many dead rows were left out.
    pub dropped_count: u64,
    /// The new file's length in bytes.
    pub file_bytes: u64,
}

/// The segments to merge.
struct Plan {
    table: usize,
    run: Range<usize>,
}

/// A merged segment that no manifest names yet.
struct Merged {
    number: names::FileNumber,
    file: UnpublishedFiles,
    /// `None` if no row was live.
    segment: Option<Segment>,
}

/// Merges the segments of the first table where the policy chooses any; `None` if there is nothing to do.
/// Call it until it returns `None`, so that the store opens fast. It must not be called while holding a
/// [`Writer`] of the same store: it would wait for that writer forever.
///
/// Memory: at most 40 bytes for each row of the merged segments, and what one index takes while it is built.
/// The rows stay in mapped files.
///
/// # Errors
/// [`disk::Error::Locked`] if another process merges and `options.wait` is [`Wait::Refuse`];
/// [`Error::Cancelled`], and what was written is removed. Also fails if a file is damaged, or on an error of
/// the disk. The store is then unchanged, or merged.
pub fn merge(disk: &Arc<dyn Disk>, directory: &Path, options: &MergeOptions) -> Result<Option<MergeReport>> {
    let choose = match options.effort {
        Effort::Usual => policy::choose,
        Effort::Idle => policy::choose_idle,
    };
    merge_chosen(disk, directory, options, &choose)
}

/// Merges all segments of the first table that has several segments, or dead rows, and fits into one
/// segment. Returns `None` if there is no such table.
///
/// # Errors
/// Same as [`merge`].
pub fn merge_all(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    options: &MergeOptions,
) -> Result<Option<MergeReport>> {
    merge_chosen(disk, directory, options, &|segments| {
        let live_rows: u64 = segments.iter().map(|size| u64::from(size.live_row_count)).sum();
        let is_worth_it = segments.len() > 1 || segments.iter().any(|size| size.dead_row_count > 0);
        (is_worth_it && live_rows <= u64::from(ROWS_PER_SEGMENT_MAX)).then_some(0..segments.len())
    })
}

fn merge_chosen(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    options: &MergeOptions,
    choose: &dyn Fn(&[SegmentSize]) -> Option<Range<usize>>,
) -> Result<Option<MergeReport>> {
    let known = match &options.known {
        // Nearly always there is nothing to merge, which takes no lock to see.
        Some(known) => {
            let newest = Snapshot::open_after(disk, directory, Some(known))?;
            if plan(&newest.state, choose).is_none() {
                return Ok(None);
            }
            Some(newest)
        }
        None => None,
    };
    let _merger = disk.lock(&directory.join(names::MERGER_LOCK), &options.holder, options.wait)?;
    // Files that no manifest names are kept as long as this share is held.
    let share = |wait| Ok(disk.share_lock(&directory.join(names::MERGE_LOCK), wait)?);
    let _share = until_free(options.cancel.as_ref(), share)?;
    let both = options.keeps_copy.then(|| Arc::new(Mirror::new(disk, directory)) as Arc<dyn Disk>);
    let before = Snapshot::open_after(both.as_ref().unwrap_or(disk), directory, known.as_ref())?.state;
    let Some(plan) = plan(&before, choose) else { return Ok(None) };
    let merged = write_merged(&before, &plan, options)?;
    let report = report(&before, &plan, merged.segment.as_ref());
    Ok(publish_merged(disk, &before, &plan, merged, options)?.then_some(report))
}

fn plan(state: &State, choose: &dyn Fn(&[SegmentSize]) -> Option<Range<usize>>) -> Option<Plan> {
    state.tables.iter().enumerate().find_map(|(number, table)| {
        let sizes: Vec<SegmentSize> = segments_of(table)
            .iter()
            .map(|part| SegmentSize { live_row_count: part.live_count(), dead_row_count: part.dead_count() })
            .collect();
        Some(Plan { table: number, run: choose(&sizes)? })
    })
}

fn segments_of(table: &Table) -> &[Part] {
    table.parts().split_last().map_or(&[], |(_memtable, segments)| segments)
}

fn report(state: &State, plan: &Plan, segment: Option<&Segment>) -> MergeReport {
    let table = &state.tables[plan.table];
    let merged = &segments_of(table)[plan.run.clone()];
    MergeReport {
        table: table.schema().name.clone(),
        segment_count: merged.len(),
        row_count: segment.map_or(0, Segment::row_count),
        dropped_count: merged.iter().map(|part| u64::from(part.dead_count())).sum(),
        file_bytes: segment.map_or(0, Segment::file_bytes),
    }
}

/// Writes the live rows of the chosen segments as one.
fn write_merged(before: &State, plan: &Plan, options: &MergeOptions) -> Result<Merged> {
    let table = &before.tables[plan.table];
    let parts = &segments_of(table)[plan.run.clone()];
    let sources: Vec<_> = parts.iter().map(Part::source).collect();
    let is_live = |place: RowRef| !parts[place.source as usize].is_dead(place.row);
    let rows = Survivors::sort(table.schema(), sources, &is_live)?;
    options.cancel.as_ref().map_or(Ok(()), Progress::check)?;
    let taken = before.disk.list(&before.directory)?;
    let number = Namer::new(options.seed, Maker::Merge, before.manifest.number, taken).next();
    let mut file = UnpublishedFiles::new(&before.disk);
    if rows.len() == 0 {
        return Ok(Merged { number, file, segment: None });
    }
    let path = before.directory.join(number.segment());
    file.add(&path);
    let lenders = lenders(segments_of(table).iter(), rows.len());
    let cancel = options.cancel.as_ref();
    let form = options.form;
    let content = Content { sources: &rows.sources, order: rows.order(), lenders: &lenders, cancel, form };
    let segment = write_new_segment(&*before.disk, &path, table.schema(), &content)?;
    Ok(Merged { number, file, segment: Some(segment) })
}

/// Replaces the segments with the merged one; returns whether they were still there.
fn publish_merged(
    disk: &Arc<dyn Disk>,
    before: &Arc<State>,
    plan: &Plan,
    merged: Merged,
    options: &MergeOptions,
) -> Result<bool> {
    let MergeOptions { holder, seed, keeps_copy, cancel, .. } = options.clone();
    let known = Some(Snapshot { state: Arc::clone(before) });
    let options = Options { holder, seed, keeps_copy, known, ..Options::default() };
    let take = |wait| Writer::open(disk, &before.directory, Options { wait, ..options.clone() });
    let mut writer = until_free(cancel.as_ref(), take)?;
    let mut draft = writer.draft(&BTreeMap::new())?;
    let old = &before.manifest.tables[plan.table].segments[plan.run.clone()];
    let segments = &draft.tables[plan.table].segments;
    // Other writers only append segments, or drop those whose rows are all dead.
    let is_old = |segment: &DraftSegment| old.iter().any(|old| old.number == segment.entry.number);
    let Some(from) = segments.iter().position(is_old) else {
        return Ok(false);
    };
    let run = from..from + segments[from..].iter().take_while(|segment| is_old(segment)).count();
    let new =
        merged.segment.map(|segment| carry_over(before, plan, &draft, merged.number, segment)).transpose()?;
    draft.tables[plan.table].segments.splice(run, new);
    draft.written.adopt(merged.file);
    writer.publish(draft)?;
    Ok(true)
}

/// Returns the merged segment, with the rows marked dead that died while it was written.
fn carry_over(
    before: &State,
    plan: &Plan,
    draft: &Draft,
    number: names::FileNumber,
    segment: Segment,
) -> Result<DraftSegment> {
    let entry = SegmentEntry::of(number, &segment);
    let mut part = Part { rows: PartRows::Segment(Arc::new(segment)), dead: Default::default() };
    let old_parts = &segments_of(&before.tables[plan.table])[plan.run.clone()];
    let old_entries = &before.manifest.tables[plan.table].segments[plan.run.clone()];
    for (old, then) in old_entries.iter().zip(old_parts) {
        let now = draft.tables[plan.table].segments.iter().find(|now| now.entry.number == old.number);
        match now {
            Some(now) => now.part.dead.since(&then.dead).try_for_each(|row| kill(&mut part, then, row))?,
            // All its rows died, so it was left out.
            None => (0..then.row_count())
                .filter(|&row| !then.is_dead(row))
                .try_for_each(|row| kill(&mut part, then, row))?,
        }
    }
    Ok(DraftSegment { part, entry })
}

/// Kills the row of `part` that was made from `row` of `old`.
fn kill(part: &mut Part, old: &Part, row: u32) -> Result<()> {
    let columns = key_columns(old.schema(), None);
    let key =
        columns.iter().map(|&column| old.value(usize::from(column), row)).collect::<Result<Vec<_>>>()?;
    let found = part.primary_find(&key)?;
    let PartRows::Segment(segment) = &part.rows else { unreachable!("it was made from a segment") };
    let Some(row) = found else {
        let what = "a row of the segments it was merged from is not there".to_owned();
        return Err(Error::Corrupt { path: segment.path().to_owned(), offset: 0, what });
    };
    part.dead.kill(row);
    Ok(())
}
