//! Adds messages from an archive to the index that have no file, so that deleted mail stays findable after
//! the index was rebuilt.
//!
//! Input: an archive that lists and reads messages. Output: rows and text of the messages that the index does
//! not know, absent from now on. They are published in batches. Memory holds the rows of one batch, and
//! [`CHUNK_BYTES`] of contents or one large message.

use crate::archive::{ArchivedFile, BATCH_COUNT, ReadableArchive};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::pass::commit::{Ingest, NamedDates, Next};
use crate::pass::options::UpdateOptions;
use crate::pass::{merge_due, orphans};
use crate::state::{self, ATTACHMENT, State};
use crate::tables::{absent, messages};
use crate::{open, rows};
use std::collections::VecDeque;
use std::time::Instant;
use store::{Snapshot, Transaction, Value};
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
    let mut queue = unknown(environment, archive)?;
    if queue.is_empty() {
        return Ok(adopted);
    }
    observer.stage(Stage::Read);
    observer.expect(queue.len() as u64, 0);
    let mut all = || {
        while !queue.is_empty() && !observer.is_cancelled() {
            batch(environment, archive, (options, observer), (&mut queue, &mut adopted))?;
        }
        if observer.is_cancelled() {
            return Err(Error::Interrupted);
        }
        observer.stage(Stage::Merge);
        merge_due(environment, adopted.messages)
    };
    let done = all();
    if done.is_err() {
        orphans::remove_after_failure(environment);
    }
    done.map(|()| adopted)
}

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

/// Adds one batch and publishes it.
fn batch(
    environment: &Environment,
    archive: &dyn ReadableArchive,
    (options, observer): (&UpdateOptions, &dyn Progress),
    (queue, adopted): (&mut VecDeque<[u8; 32]>, &mut Adopted),
) -> Result<()> {
    let mut writer = open::writer(environment, observer)?;
    let snapshot = writer.snapshot()?;
    let mut state = open::state(&snapshot, &environment.index_directory())?;
    let next = Next { message: state.next_message, node: state.next_node };
    let mut ingest = Ingest::new(&snapshot, next, environment, options)?;
    let started = Instant::now();
    while !queue.is_empty()
        && ingest.new_message_count() < options.batch_message_count
        && started.elapsed() < options.batch_time
        && !observer.is_cancelled()
    {
        let (chunk, taken) = chunk(archive, queue)?;
        adopted.damaged += ingest.take(&snapshot, chunk)?;
        observer.add(taken, 0);
    }
    let count = ingest.new_message_count() as u64;
    if count == 0 {
        return Ok(());
    }
    state.read_with_headers(&options.headers);
    let first = state.next_message;
    let ingested = ingest.finish(&NamedDates::default())?;
    environment.disk.sync_directory(&environment.text_directory())?;
    let mut transaction = Transaction::default();
    transaction.puts.extend(ingested.rows.into_iter().map(|(table, rows)| (table.to_owned(), rows)));
    transaction
        .puts
        .push((absent::TABLE.into(), absent_rows(&snapshot, first..ingested.next_message, environment)?));
    state = State { next_message: ingested.next_message, next_node: ingested.next_node, ..state };
    state.text.extend(ingested.text);
    transaction.attachments.push((ATTACHMENT.into(), state::encode(&state)));
    writer.commit(transaction)?;
    adopted.messages += count;
    Ok(())
}

/// Reads as many contents as memory allows, and returns how many keys it took off the queue.
fn chunk(archive: &dyn ReadableArchive, queue: &mut VecDeque<[u8; 32]>) -> Result<(Vec<ArchivedFile>, u64)> {
    let (mut chunk, mut bytes, mut taken) = (Vec::new(), 0, 0);
    while bytes < CHUNK_BYTES && chunk.len() < CHUNK_COUNT.min(BATCH_COUNT) {
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

fn absent_rows(
    snapshot: &Snapshot,
    numbers: std::ops::Range<u32>,
    environment: &Environment,
) -> Result<store::Rows> {
    let mut list = rows::empty(snapshot, absent::TABLE)?;
    for number in numbers {
        rows::push_absent(&mut list, number, environment.now_seconds())?;
    }
    Ok(list)
}
