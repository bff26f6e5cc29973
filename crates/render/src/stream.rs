//! Reads and prints messages, or threads, in order, many at the same time.
//!
//! Input: what was found, and a printer. Output: bytes, in parts. The first ones are handed out before the
//! others are read, and the amount that waits stays small, however many there are. Does not know formats.

use crate::listed::{Listed, Need, Printer};
use crate::position::Position;
use crate::thread::{ThreadMessage, ThreadSummary};
use index::{Hit, Mailbox, RecordReader, Result, Thread, ThreadEntry, read_together};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use work::in_order;

/// How many are read at a time.
struct Amounts {
    /// Read before other threads are woken for more: what a person looks at is there without them.
    first: usize,
    /// Taken by a thread at a time: a part.
    taken: usize,
    /// Parts that are made, or wait to be handed out.
    ahead: usize,
}

/// Those of messages. What waits is about 4 MB of JSON. Waking a thread for a part of 64 took a tenth of the
/// time of a long list.
const MESSAGES: Amounts = Amounts { first: 128, taken: 256, ahead: 16 };
/// Those of conversations.
const THREADS: Amounts = Amounts { first: 32, taken: 16, ahead: 64 };

/// Takes bytes: first those that a person looks at, then all others.
pub type TakeBytes<'a, E> = dyn FnMut(&[u8]) -> std::result::Result<(), E> + 'a;

/// Turns a conversation into a line: one format.
pub type ShowThread<'a> = dyn Fn(&ThreadSummary, &mut Vec<u8>) + Sync + 'a;

/// Prints messages. `positions` has the position of each in its conversation, which is known by the place of
/// its first message in the list; or is empty.
///
/// # Errors
/// Damage in the store; what `take` returns.
pub fn print_messages<E: From<index::Error>>(
    mailbox: &Mailbox,
    (hits, positions): (&[Hit], &[Position<usize>]),
    printer: &dyn Printer,
    take: &mut TakeBytes<'_, E>,
) -> std::result::Result<(), E> {
    let list = List { mailbox, hits, positions };
    let print = |range: Range<usize>, reader: &mut RecordReader| list.printed(range, printer, reader);
    let mut reader = RecordReader::new();
    read_together(hits.iter().take(MESSAGES.first), |hit| {
        Listed::read(mailbox, hit, printer.need(), &mut reader)
    });
    in_parts(hits.len(), &MESSAGES, &print, &mut |part| take(&part))
}

/// Makes parts of a list of so many messages, and hands them out in order.
///
/// # Errors
/// What `make` and `take` return.
pub(crate) fn in_parts_of_messages<T: Send, E: From<index::Error>>(
    count: usize,
    make: &Make<'_, T>,
    take: &mut dyn FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    in_parts(count, &MESSAGES, make, take)
}

/// The most large parts that are made at the same time.
const LARGE_PARTS_MAX: usize = 16;

/// Makes parts of so many messages each, a part on each processor, and hands them out in order.
///
/// # Errors
/// What `make` and `take` return.
pub(crate) fn in_large_parts<T: Send, E: From<index::Error>>(
    (count, taken): (usize, usize),
    make: &Make<'_, T>,
    take: &mut dyn FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let ahead = rayon::current_num_threads().min(LARGE_PARTS_MAX);
    in_parts(count, &Amounts { first: 0, taken, ahead }, make, take)
}

/// Prints conversations.
///
/// # Errors
/// Damage in the store; what `take` returns.
pub fn print_threads<E: From<index::Error>>(
    mailbox: &Mailbox,
    threads: &[Thread],
    show: &ShowThread<'_>,
    take: &mut TakeBytes<'_, E>,
) -> std::result::Result<(), E> {
    let print = |range: Range<usize>, reader: &mut RecordReader| -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for thread in threads.get(range).unwrap_or_default() {
            show(&summary(mailbox, thread, reader)?, &mut out);
        }
        Ok(out)
    };
    in_parts(threads.len(), &THREADS, &print, &mut |part| take(&part))
}

/// Makes a part of a range of a list.
pub(crate) type Make<'a, T> = dyn Fn(Range<usize>, &mut RecordReader) -> Result<T> + Sync + 'a;

fn in_parts<T: Send, E: From<index::Error>>(
    count: usize,
    amounts: &Amounts,
    make: &Make<'_, T>,
    take: &mut dyn FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let first = count.min(amounts.first);
    if first > 0 {
        take(make(0..first, &mut RecordReader::new())?)?;
    }
    if first == count {
        // Nothing is left for other threads, which would be started.
        return Ok(());
    }
    let ranges = (first..count).step_by(amounts.taken);
    let ranges = ranges.map(|start| start..count.min(start + amounts.taken));
    let readers = Mutex::new(Vec::new());
    let make = |range: Range<usize>| {
        let mut reader = lock(&readers).pop().unwrap_or_default();
        let part = make(range, &mut reader);
        lock(&readers).push(reader);
        part
    };
    in_order(ranges, amounts.ahead, &make, &mut |part| take(part?))
}

/// Locks readers: a panic of another holder leaves nothing half done.
fn lock(readers: &Mutex<Vec<RecordReader>>) -> MutexGuard<'_, Vec<RecordReader>> {
    readers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Messages that were found.
struct List<'a> {
    mailbox: &'a Mailbox,
    hits: &'a [Hit],
    positions: &'a [Position<usize>],
}

impl List<'_> {
    fn printed(
        &self,
        range: Range<usize>,
        printer: &dyn Printer,
        reader: &mut RecordReader,
    ) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut thread = (usize::MAX, String::new());
        for place in range {
            let Some(hit) = self.hits.get(place) else { break };
            let mut listed = Listed::read(self.mailbox, hit, printer.need(), reader)?;
            if let Some(position) = self.positions.get(place) {
                if printer.need().header && thread.0 != position.thread {
                    let first = self.hits.get(position.thread).unwrap_or(hit);
                    thread = (position.thread, self.mailbox.message_id(first, reader)?);
                }
                listed.position = Some(position.of(thread.1.clone()));
            }
            printer.print(&listed, &mut out);
        }
        Ok(out)
    }
}

fn summary(mailbox: &Mailbox, thread: &Thread, reader: &mut RecordReader) -> Result<ThreadSummary> {
    let read = |entry: &ThreadEntry| {
        let listed = Listed::read(mailbox, &entry.hit, Need::ALL, reader)?;
        Ok(ThreadMessage::new(listed, entry.origin))
    };
    let messages = thread.entries.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(ThreadSummary::new(&messages))
}
