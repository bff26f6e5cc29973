//! Forgets messages whose last file has been gone for a long time, or that the user removed for good, by
//! removing their rows.
//!
//! Input: an environment, a minimum age, and an archive. A message that the archive holds stays findable and
//! is never forgotten. Output: fewer rows of `messages`, `absent` and `copies`. Documents of the text index
//! stay until their segment is merged, as no query finds a message without a row. Tags of a message are in
//! the archive, and stay.
//!
//! An implausible clock never causes a message to be forgotten: nothing is forgotten while the clock is
//! implausible, and a message that a pass marked absent under such a clock counts as absent since the first
//! sweep that sees it.

use crate::archive::{Archive, BATCH_COUNT};
use crate::changes::{Forgotten, Group, Log};
use crate::environment::{CLOCK_SECONDS, Environment};
use crate::error::{Error, Result};
use crate::open;
use crate::pass::merge_due;
use crate::rows::{self, RecordReader};
use crate::tables::{absent, copies, files, messages};
use disk::Wait;
use store::{OwnedValue, PRIMARY, Snapshot, Transaction, Value};
use work::{Progress, Stage};

/// Messages removed in one commit.
const BATCH_MESSAGE_COUNT: usize = 65_536;

/// A message whose last file is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// SHA-256 of its content.
    pub sha256: [u8; 32],
    /// Its sender, as lists show it.
    pub from: String,
    /// Its subject.
    pub subject: String,
    /// When the last file was found to be gone, in seconds since 1970.
    pub since_seconds: i64,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Messages removed.
    pub forgotten: u64,
    /// Messages that are old enough, but stay because the archive holds them.
    pub held: u64,
    /// Messages marked absent under an implausible clock; they now count as absent since this sweep.
    pub dated: u64,
}

/// Returns the messages that [`sweep`](crate::sweep()) would remove now, longest absent first.
///
/// # Errors
/// There is no index; damage; [`Error::Clock`].
pub fn sweepable(
    environment: &Environment,
    older_than_seconds: i64,
    archive: &dyn Archive,
) -> Result<Vec<Absent>> {
    let snapshot = open::snapshot(environment)?;
    let directory = environment.index_directory();
    open::state(&snapshot, &directory)?;
    let table = snapshot.table(messages::TABLE)?;
    let mut reader = RecordReader::new();
    let mut found = Vec::new();
    let due = due(&snapshot, environment.credible_seconds()?, older_than_seconds)?.old;
    for (message, since_seconds) in not_held(&snapshot, &due, archive, usize::MAX)?.0 {
        let Some(id) = table.get(PRIMARY, &[Value::U32(message)])? else { continue };
        let part = rows::part_of(&table, id);
        let line = rows::line(part, id.row, &mut reader, &directory)?;
        let sha256 = part.id_at(messages::SHA256, id.row)?;
        found.push(Absent { sha256, from: line.from, subject: line.subject, since_seconds });
    }
    Ok(found)
}

/// Removes the messages whose last file was found to be gone at least `older_than_seconds` ago and that the
/// archive does not hold.
///
/// # Errors
/// There is no index; an error of the archive; damage; a full disk; [`Error::Clock`]; [`Error::Interrupted`].
/// Earlier commits of the same sweep stay.
pub(crate) fn sweep(
    environment: &Environment,
    older_than_seconds: i64,
    archive: &dyn Archive,
    observer: &dyn Progress,
) -> Result<Swept> {
    let mut swept = Swept::default();
    loop {
        // The archive may be far away, so it is asked before the writer's lock is taken.
        let make = |snapshot: &Snapshot| removal(environment, snapshot, older_than_seconds, archive);
        let newest = || open::snapshot(environment);
        let options = open::options(environment, Wait::Block);
        let take_writer = || open::writer(environment, observer);
        let Removal { forgotten, held, dated } =
            store::commit_on_newest(&options, newest, make, take_writer)?.made;
        // Each round counts all messages that stay, so the last round has the total.
        swept.held = held;
        swept.dated += dated;
        swept.forgotten += forgotten;
        let is_last = forgotten < BATCH_MESSAGE_COUNT as u64;
        if observer.is_cancelled() {
            return Err(Error::Interrupted);
        }
        if is_last {
            break;
        }
    }
    if swept.forgotten > 0 {
        observer.stage(Stage::Merge);
        merge_due(environment, 0, observer)?;
    }
    Ok(swept)
}

/// Removes messages whose last file is gone, however short ago, and whatever an archive holds. A message that
/// has a file stays, and so does its document in the text index until the next merge of its segment. Returns
/// how many messages were removed.
///
/// # Errors
/// There is no index; damage; a full disk; [`Error::Interrupted`]. Earlier commits stay.
pub(crate) fn forget(environment: &Environment, sha256: &[[u8; 32]], observer: &dyn Progress) -> Result<u64> {
    let mut forgotten = 0;
    for batch in sha256.chunks(BATCH_MESSAGE_COUNT) {
        if observer.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let make = |snapshot: &Snapshot| {
            open::state(snapshot, &environment.index_directory())?;
            let gone = absent_of(snapshot, batch)?;
            let mut transaction = Transaction::default();
            if !gone.is_empty() {
                push_removal(environment, snapshot, &gone, &mut transaction)?;
            }
            Ok::<_, Error>(((!gone.is_empty()).then_some(transaction), gone.len() as u64))
        };
        let newest = || open::snapshot(environment);
        let options = open::options(environment, Wait::Block);
        let take_writer = || open::writer(environment, observer);
        forgotten += store::commit_on_newest(&options, newest, make, take_writer)?.made;
    }
    if forgotten > 0 {
        observer.stage(Stage::Merge);
        merge_due(environment, 0, observer)?;
    }
    Ok(forgotten)
}

/// Returns the numbers of those messages that are absent.
fn absent_of(snapshot: &Snapshot, sha256: &[[u8; 32]]) -> Result<Vec<u32>> {
    let (message_table, file_table) = (snapshot.table(messages::TABLE)?, snapshot.table(files::TABLE)?);
    let absent_table = snapshot.table(absent::TABLE)?;
    let mut gone = Vec::new();
    for id in sha256 {
        for row in message_table.find(messages::BY_SHA256, &[Value::Id(id)])? {
            let message = rows::part_of(&message_table, row).u32_at(messages::NUMBER, row.row)?;
            let key = [Value::U32(message)];
            // As for a sweep, an absent message that has a file is damage, and kept.
            if absent_table.get(PRIMARY, &key)?.is_some()
                && file_table.find(files::BY_MESSAGE, &key)?.is_empty()
            {
                gone.push(message);
            }
        }
    }
    Ok(gone)
}

/// Removes messages that have no file, and tells the change log which they were.
fn push_removal(
    environment: &Environment,
    snapshot: &Snapshot,
    removed: &[u32],
    transaction: &mut Transaction,
) -> Result<()> {
    let table = snapshot.table(messages::TABLE)?;
    let mut forgotten = Vec::with_capacity(removed.len());
    for message in removed {
        if let Some(row) = table.get(PRIMARY, &[Value::U32(*message)])? {
            let part = rows::part_of(&table, row);
            forgotten.push(Forgotten {
                number: *message,
                sha256: part.id_at(messages::SHA256, row.row)?,
                node: Some(part.u32_at(messages::NODE, row.row)?),
            });
        }
        for table in [messages::TABLE, absent::TABLE, copies::TABLE] {
            transaction.deletes.push((table.into(), vec![OwnedValue::U32(*message)]));
        }
    }
    let groups = if forgotten.is_empty() { Vec::new() } else { vec![Group::Forgotten(forgotten)] };
    Log::append(environment, snapshot, &groups, transaction)
}

/// What one commit of a sweep does.
struct Removal {
    forgotten: u64,
    held: u64,
    dated: u64,
}

/// Returns the transaction that removes the oldest absent messages of a commit, if there are any.
fn removal(
    environment: &Environment,
    snapshot: &Snapshot,
    older_than_seconds: i64,
    archive: &dyn Archive,
) -> Result<(Option<Transaction>, Removal)> {
    open::state(snapshot, &environment.index_directory())?;
    let now_seconds = environment.credible_seconds()?;
    let Due { old, undated } = due(snapshot, now_seconds, older_than_seconds)?;
    let (due, held) = not_held(snapshot, &old, archive, BATCH_MESSAGE_COUNT)?;
    let removal = Removal { forgotten: due.len() as u64, held, dated: undated.len() as u64 };
    if due.is_empty() && undated.is_empty() {
        return Ok((None, removal));
    }
    let mut transaction = Transaction::default();
    if !undated.is_empty() {
        let mut dated = rows::empty(snapshot, absent::TABLE)?;
        for message in &undated {
            rows::push_absent(&mut dated, *message, now_seconds)?;
        }
        transaction.puts.push((absent::TABLE.into(), dated));
    }
    let due: Vec<u32> = due.iter().map(|(message, _)| *message).collect();
    push_removal(environment, snapshot, &due, &mut transaction)?;
    Ok((Some(transaction), removal))
}

/// Returns at most `count_max` of the messages in `due` that the archive does not hold, and how many of those
/// it was asked about it does hold.
fn not_held(
    snapshot: &Snapshot,
    due: &[(u32, i64)],
    archive: &dyn Archive,
    count_max: usize,
) -> Result<(Vec<(u32, i64)>, u64)> {
    let table = snapshot.table(messages::TABLE)?;
    let (mut left, mut held_count) = (Vec::new(), 0);
    for batch in due.chunks(BATCH_COUNT) {
        let mut ids = Vec::with_capacity(batch.len());
        for (message, _) in batch {
            let row = table.get(PRIMARY, &[Value::U32(*message)])?;
            ids.push(row.map(|row| rows::part_of(&table, row).id_at(messages::SHA256, row.row)).transpose()?);
        }
        // A message without a row is forgotten already; only its row in `absent` is left.
        let known: Vec<[u8; 32]> = ids.iter().flatten().copied().collect();
        let mut held = archive.holds(&known)?.into_iter();
        for (entry, id) in batch.iter().zip(&ids) {
            if id.is_none() || held.next() == Some(false) {
                left.push(*entry);
            } else {
                held_count += 1;
            }
        }
        if left.len() >= count_max {
            left.truncate(count_max);
            break;
        }
    }
    Ok((left, held_count))
}

/// Absent messages.
#[derive(Debug, Default)]
struct Due {
    /// Those that are old enough, with the time since which they are absent; longest absent first.
    old: Vec<(u32, i64)>,
    /// Those whose time of absence is unknown.
    undated: Vec<u32>,
}

/// Returns the absent messages that a sweep handles. A time in the future comes from a wrong clock, and does
/// not count as old.
fn due(snapshot: &Snapshot, now_seconds: i64, older_than_seconds: i64) -> Result<Due> {
    let latest = now_seconds.saturating_sub(older_than_seconds);
    let file_table = snapshot.table(files::TABLE)?;
    let mut found = Due::default();
    for part in snapshot.table(absent::TABLE)?.parts() {
        for row in part.live_rows() {
            let (message, since) = (part.u32_at(absent::MESSAGE, row)?, part.i64_at(absent::SINCE, row)?);
            if !CLOCK_SECONDS.contains(&since) {
                found.undated.push(message);
                continue;
            }
            // An absent message that has a file is damage. It is kept: damage is no reason to lose more.
            if since <= latest && file_table.find(files::BY_MESSAGE, &[Value::U32(message)])?.is_empty() {
                found.old.push((message, since));
            }
        }
    }
    found.old.sort_unstable_by_key(|(message, since)| (*since, *message));
    Ok(found)
}
