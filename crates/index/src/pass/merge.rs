//! Merges segments of the store and of the text index after a pass, so that queries search few of them.
//!
//! Input: an environment. Output: fewer segments, with the same contents. New rows are published before
//! merging begins. A pass does a bounded amount of merging, and leaves the rest to the next one.

use crate::changes::{Event, Group, Log};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::pass::looked::Looked;
use crate::pass::orphans::{self, TEXT_MERGER_LOCK};
use crate::set::NumberSet;
use crate::state::{State, TextSegment};
use crate::tables::messages;
use crate::text::{self, TextMerge};
use disk::{Lock, Wait};
use store::{Effort, Form, MergeOptions, Snapshot, Transaction};
use work::{Progress, Silent};

/// Most merges of each kind that one pass does, but for small ones.
const MERGES_PER_PASS: usize = 4;
/// Rows of a merge that counts as small: milliseconds of work.
const SMALL_MERGE_ROWS: u64 = 1 << 18;
/// Most small merges of rows that one pass does: one or two for each table.
const SMALL_MERGES_PER_PASS: usize = 16;
/// Documents of the text index that a pass may merge whatever it added: seconds of work.
const DOCUMENTS_PER_PASS: u64 = 262_144;
/// Further documents that a pass may merge per document that it added. A document is merged once per tier,
/// and few mailboxes have more than four tiers.
const DOCUMENTS_PER_NEW: u64 = 4;

/// When there is time, a journal of at least this many bytes is emptied: every command reads it. A few new
/// messages stay in it, as that would take more syncs than their delivery took.
const JOURNAL_BYTES_IDLE: u64 = 1 << 16;
/// Most documents of the text index that are merged at once when there is time: seconds of work.
const DOCUMENTS_IDLE: u64 = 1 << 18;

/// Merges what is due after `new_count` messages were added, up to a limit. Stops between two merges if the
/// observer says so, and at once if the environment does, with nothing left of the merge that runs: the next
/// pass goes on.
///
/// # Errors
/// Damage, a full disk.
pub(crate) fn merge_due(environment: &Environment, new_count: u64, observer: &dyn Progress) -> Result<()> {
    unless_stopped(environment, merge_all_due(environment, new_count, observer))
}

fn merge_all_due(environment: &Environment, new_count: u64, observer: &dyn Progress) -> Result<()> {
    drop_old_changes(environment)?;
    let (mut large_left, mut small_left) = (MERGES_PER_PASS, SMALL_MERGES_PER_PASS);
    while large_left > 0 && small_left > 0 && !observer.is_cancelled() {
        match merge_rows(environment, Effort::Usual)? {
            Some(row_count) if row_count >= SMALL_MERGE_ROWS => large_left -= 1,
            Some(_) => small_left -= 1,
            None => break,
        }
    }
    let mut documents_left = DOCUMENTS_PER_PASS.saturating_add(new_count.saturating_mul(DOCUMENTS_PER_NEW));
    for _ in 0..MERGES_PER_PASS {
        if observer.is_cancelled() {
            break;
        }
        match merge_text(environment, |segments| text::choose(segments, documents_left))? {
            Some(count) => documents_left = documents_left.saturating_sub(count),
            None => break,
        }
    }
    Ok(())
}

/// Merges more than is due, for a process that has nothing else to do: few segments stay, and a short
/// journal, so that commands open less. Stops as [`merge_due`] does.
///
/// # Errors
/// Damage, a full disk.
pub(crate) fn merge_idle(environment: &Environment, observer: &dyn Progress) -> Result<()> {
    unless_stopped(environment, merge_more(environment, observer))
}

fn merge_more(environment: &Environment, observer: &dyn Progress) -> Result<()> {
    if open::snapshot(environment)?.journal_bytes() >= JOURNAL_BYTES_IDLE {
        open::writer(environment, observer)?.flush()?;
    }
    let choose = |segments: &[TextSegment]| text::choose_idle(segments, DOCUMENTS_IDLE);
    while !observer.is_cancelled() && merge_text(environment, choose)?.is_some() {}
    while !observer.is_cancelled() && merge_rows(environment, Effort::Idle)?.is_some() {}
    Ok(())
}

/// Removes what a merge left that did not end well. One that was stopped is no failure.
fn unless_stopped(environment: &Environment, merged: Result<()>) -> Result<()> {
    if merged.is_err() {
        orphans::remove_after_failure(environment);
    }
    match merged {
        Err(Error::Interrupted) => Ok(()),
        other => other,
    }
}

/// Drops what the change log has held for long enough, if it is time for that.
fn drop_old_changes(environment: &Environment) -> Result<()> {
    if Log::drop_old(environment, &open::snapshot(environment)?)?.is_none() {
        return Ok(());
    }
    let mut writer = open::writer(environment, &Silent)?;
    if let Some(transaction) = Log::drop_old(environment, &writer.snapshot()?)? {
        writer.commit(transaction)?;
    }
    Ok(())
}

/// Merges one group of segments of one table, if any is due. Returns how many rows they had.
fn merge_rows(environment: &Environment, effort: Effort) -> Result<Option<u64>> {
    let options = MergeOptions {
        holder: environment.holder.clone(),
        seed: environment.seed,
        known: environment.opened.last(&environment.index_directory()),
        form: Form::Packed,
        effort,
        cancel: Some(environment.context.cancel.clone()),
        ..MergeOptions::default()
    };
    match store::merge(&environment.disk, &environment.index_directory(), &options) {
        Ok(report) => Ok(report.map(|report| u64::from(report.row_count) + report.dropped_count)),
        // Another process is already merging.
        Err(store::Error::Io(disk::Error::Locked { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Merges the segments of the text index that are chosen, if any. Returns how many documents they had.
fn merge_text(
    environment: &Environment,
    choose: impl Fn(&[TextSegment]) -> Option<Vec<TextSegment>>,
) -> Result<Option<u64>> {
    let disk = environment.disk.as_ref();
    let directory = environment.text_directory();
    let _merger = match disk.lock(
        &open::text_lock(environment, TEXT_MERGER_LOCK)?,
        &environment.holder,
        Wait::Refuse,
    ) {
        Ok(lock) => lock,
        Err(disk::Error::Locked { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let share = orphans::share(environment, &Silent)?;
    let snapshot = open::snapshot(environment)?;
    let before = open::state(&snapshot, &environment.index_directory())?;
    let Some(chosen) = choose(&before.text) else { return Ok(None) };
    let known = known_messages(&snapshot, &before)?;
    let place = (&environment.disk, directory.as_path());
    let merged = text::merge(place, &chosen, known.as_ref(), &environment.context.cancel)?;
    publish(environment, (merged, &[]), share, &Silent)?;
    Ok(Some(text::document_count(&chosen)))
}

/// Publishes the exchange of segments of text, and removes the old ones. The messages with the numbers
/// `grown`, ascending, have more text in the new ones. The caller holds the lock of mergers, and has had the
/// share while the new ones were written.
///
/// # Errors
/// Damage, a full disk.
pub(super) fn publish(
    environment: &Environment,
    (merged, grown): (TextMerge, &[u32]),
    share: Lock,
    observer: &dyn Progress,
) -> Result<()> {
    let mut writer = open::writer(environment, observer)?;
    let snapshot = writer.snapshot()?;
    let mut now = open::state(&snapshot, &environment.index_directory())?;
    let mut transaction = Transaction::default();
    let looked = Looked::of(&snapshot);
    let looked_after = looked.after(&merged);
    if looked_after != looked {
        looked_after.add_to(&mut transaction);
    }
    let new = text::settle(environment, &now, &merged.new)?;
    now.text = exchange(now.text, TextMerge { new, ..merged });
    let has_slots = text::attach(&snapshot, &mut now, &mut transaction);
    assert!(has_slots, "nobody else takes slots while the lock is held");
    if !grown.is_empty() {
        let groups = [Group::Messages(Event::Text, grown.to_vec())];
        Log::append(environment, &snapshot, &groups, &mut transaction)?;
    }
    writer.commit(transaction)?;
    drop(share);
    orphans::remove(environment, writer)
}

/// Returns the messages that have a row, if there may be documents of other messages. These were swept, or
/// another pass added their content first. Their numbers are never reused.
pub(super) fn known_messages(snapshot: &Snapshot, state: &State) -> Result<Option<NumberSet>> {
    let table = snapshot.table(messages::TABLE)?;
    if text::document_count(&state.text) <= table.row_count() {
        return Ok(None);
    }
    let mut known = NumberSet::new(state.next_message);
    for part in table.parts() {
        for row in part.live_rows() {
            known.insert(part.u32_at(messages::NUMBER, row)?);
        }
    }
    Ok(Some(known))
}

/// Puts merged segments in the place of the first segment that they replace.
fn exchange(segments: Vec<TextSegment>, merged: TextMerge) -> Vec<TextSegment> {
    let mut new = Some(merged.new);
    let mut out = Vec::with_capacity(segments.len());
    for segment in segments {
        if merged.old.contains(&segment.id) {
            out.extend(new.take().into_iter().flatten());
        } else {
            out.push(segment);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::TextPlace;

    #[test]
    fn merged_segments_stand_where_the_first_old_one_stood() {
        let segment =
            |id: &str| TextSegment { id: id.into(), document_count: 1, digest: 1, place: TextPlace::File };
        let merged = TextMerge { old: vec!["b".into(), "d".into()], new: vec![segment("x")] };
        let out = exchange(["a", "b", "c", "d", "e"].map(segment).to_vec(), merged);
        assert_eq!(out, ["a", "x", "c", "e"].map(segment));
    }
}
