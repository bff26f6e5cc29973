//! Reads and prints messages, many at the same time, in their order.
//!
//! In: hits, and a printer. Out: bytes. The first are out before the others are read, and what waits to be written stays small
//! however many there are. Must not know formats.

use crate::format::{Listed, Printer};
use crate::output::Output;
use anyhow::Result;
use index::{Hit, Mailbox, PayloadReader};
use rayon::prelude::*;

/// Hits that are read before other threads are woken for more: what a person looks at is there without them.
const FIRST_COUNT: usize = 128;
/// Hits whose bytes wait to be written. About 4 MB of JSON.
const WAITING_COUNT: usize = 4096;
/// Hits that a thread takes at a time.
const TAKEN_COUNT: usize = 64;

/// Prints all hits.
///
/// # Errors
/// Damage in the store; the output cannot be written.
pub(crate) fn print(
    mailbox: &Mailbox,
    hits: &[Hit],
    printer: &dyn Printer,
    output: &mut Output,
) -> Result<()> {
    let (first, others) = hits.split_at(hits.len().min(FIRST_COUNT));
    let mut reader = PayloadReader::new();
    output.bytes(&printed(mailbox, first, printer, &mut reader)?)?;
    for waiting in others.chunks(WAITING_COUNT) {
        let pieces: Vec<index::Result<Vec<u8>>> = waiting
            .par_chunks(TAKEN_COUNT)
            .map_init(PayloadReader::new, |reader, taken| printed(mailbox, taken, printer, reader))
            .collect();
        for piece in pieces {
            output.bytes(&piece?)?;
        }
    }
    Ok(())
}

fn printed(
    mailbox: &Mailbox,
    hits: &[Hit],
    printer: &dyn Printer,
    reader: &mut PayloadReader,
) -> index::Result<Vec<u8>> {
    let mut out = Vec::new();
    for hit in hits {
        printer.print(&Listed::read(mailbox, hit, printer.need(), reader)?, &mut out);
    }
    Ok(out)
}
