//! Adds messages from an archive to the index that have no file, so that deleted mail stays findable after
//! the index was rebuilt.
//!
//! Input: an archive that lists and reads messages. Output: rows and text of the messages that the index
//! does not know, absent from now on. They are published in batches. Memory holds the rows of one batch, and
//! [`CHUNK_BYTES`] of contents or one large message.

use crate::archive::{ArchivedFile, BATCH_COUNT, ReadableArchive};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::pass::commit::{Archived, Claim, Findings, Numbers, Planned, Published, Publisher, RootChange};
use crate::pass::options::UpdateOptions;
use crate::pass::{ATTEMPTS_MAX, merge_due, orphans};
use crate::tables::messages;
use std::collections::VecDeque;
use std::time::Instant;
use store::Value;
use work::{Progress, Stage};

/// Bytes of contents that are read before any is parsed.
const CHUNK_BYTES: usize = 32 << 20;
/// Messages that are read before any is parsed.
const CHUNK_COUNT: usize = 512;

/// What was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Messages that the index did not know.
    pub messages: u64,
    /// Contents that could not be unpacked.
    pub damaged: u64,
}

/// Adds all messages of an archive that the index does not know. They are absent from now on.
///
/// # Errors
/// There is no index; an error of the archive; damage; a full disk; [`Error::Interrupted`]. What was
/// published before stays.
pub(crate) fn adopt(
    environment: &Environment,
    archive: &dyn ReadableArchive,
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Adopted> {
    let mut adopted = Adopted::default();
    let mut all = || {
        for _ in 0..ATTEMPTS_MAX {
            let queue = unknown(environment, archive)?;
            // What was damaged before is counted again.
            adopted.damaged = 0;
            if queue.is_empty() || add_all(environment, archive, queue, (options, observer), &mut adopted)? {
                return Ok(());
            }
        }
        Err(REPLACED)
    };
    let done = all();
    if done.is_err() {
        orphans::remove_after_failure(environment);
    }
    done.map(|()| adopted)
}

/// Adds the messages with these keys. Returns `false` if others have written so much that it must begin
/// again.
fn add_all(
    environment: &Environment,
    archive: &dyn ReadableArchive,
    mut queue: VecDeque<[u8; 32]>,
    (options, observer): (&UpdateOptions, &dyn Progress),
    adopted: &mut Adopted,
) -> Result<bool> {
    observer.stage(Stage::Read);
    observer.expect(queue.len() as u64, 0);
    let roots = RootChange::default();
    let plan = Planned { roots: &roots, files: &[], folders: &[], gone: &[] };
    let snapshot = open::snapshot(environment)?;
    let mut publisher = Publisher::new(environment, options, plan, &snapshot);
    let ahead = |left: usize| left.min(options.batch_message_count);
    let mut findings = Findings::none(Claim::Granted);
    findings.wanted_count = ahead(queue.len());
    let mut numbers: Option<Numbers> = None;
    let share = orphans::share(environment, observer)?;
    let writer = loop {
        let Some(published) = publisher.publish(&findings, observer)? else { return Ok(false) };
        let Published { snapshot, granted, counts, writer } = published;
        adopted.messages += counts.new_messages;
        let numbers = match &mut numbers {
            Some(numbers) => {
                numbers.published(snapshot, granted);
                numbers
            }
            none => none.insert(Numbers::new(snapshot, granted)),
        };
        if findings.is_last() {
            break writer;
        }
        findings = batch(environment, archive, (options, observer), numbers, (&mut queue, &mut *adopted))?;
        let is_last = queue.is_empty() || observer.is_cancelled();
        if is_last {
            findings.end();
        } else {
            findings.wanted_count = ahead(queue.len()).saturating_sub(numbers.free_count());
        }
        numbers.end_batch();
    };
    drop(share);
    if let Some(writer) = writer {
        orphans::remove(environment, writer)?;
    }
    if observer.is_cancelled() {
        return Err(Error::Interrupted);
    }
    observer.stage(Stage::Merge);
    merge_due(environment, adopted.messages, observer)?;
    Ok(true)
}

/// The error of an index that was deleted or rebuilt while messages were added to it.
const REPLACED: Error =
    Error::Inconsistent { what: "the index was replaced while messages were added to it" };

/// Returns the keys of contents that are not the SHA-256 of any message in the index. Keys of compressed
/// contents are always among them.
fn unknown(environment: &Environment, archive: &dyn ReadableArchive) -> Result<VecDeque<[u8; 32]>> {
    let snapshot = open::snapshot(environment)?;
    open::state(&snapshot, &environment.index_directory())?;
    let table = snapshot.table(messages::TABLE)?;
    let mut queue = VecDeque::new();
    archive.each_key(&mut |key| {
        if table.get(messages::BY_SHA256, &[Value::Id(&key)])?.is_none() {
            queue.push_back(key);
        }
        Ok(())
    })?;
    Ok(queue)
}

/// Reads and parses one batch.
fn batch(
    environment: &Environment,
    archive: &dyn ReadableArchive,
    (options, observer): (&UpdateOptions, &dyn Progress),
    numbers: &mut Numbers,
    (queue, adopted): (&mut VecDeque<[u8; 32]>, &mut Adopted),
) -> Result<Findings> {
    let mut archived = Archived::new(environment, (options, observer));
    let started = Instant::now();
    while !queue.is_empty()
        && numbers.new_count() < options.batch_message_count
        && numbers.free_count() > 0
        && started.elapsed() < options.batch_time
        && !observer.is_cancelled()
    {
        let room = numbers.free_count().min(options.batch_message_count - numbers.new_count());
        let (chunk, taken) = chunk(archive, queue, room)?;
        adopted.damaged += archived.take(numbers, chunk)?;
        observer.add(taken, 0);
    }
    archived.finish()
}

/// Reads as many contents as memory allows, at most `count_max`, and returns how many keys it took off the
/// queue.
fn chunk(
    archive: &dyn ReadableArchive,
    queue: &mut VecDeque<[u8; 32]>,
    count_max: usize,
) -> Result<(Vec<ArchivedFile>, u64)> {
    let (mut chunk, mut bytes, mut taken) = (Vec::new(), 0, 0);
    while bytes < CHUNK_BYTES && chunk.len() < CHUNK_COUNT.min(BATCH_COUNT).min(count_max) {
        let Some(key) = queue.pop_front() else { break };
        taken += 1;
        // A key that is listed but cannot be read was removed meanwhile.
        if let Some(kept) = archive.read(&key)? {
            bytes += kept.bytes.len();
            chunk.push(kept);
        }
    }
    Ok((chunk, taken))
}
