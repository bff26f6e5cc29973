//! Reads and prints messages in order, many at the same time.
//!
//! Takes what was found and a printer. The first messages are printed before the others are read, and the
//! amount waiting to be written stays small, however many there are. Does not know formats.

use crate::output::Output;
use crate::search::question::{Found, Spot};
use anyhow::Result;
use pneu::{Hit, RecordReader, View};
use rayon::prelude::*;
use render::Position;
use render::{Listed, Printer};
use std::ops::Range;

/// Hits that are read before other threads are woken. These fill a screen, and need no other threads.
const FIRST_COUNT: usize = 128;
/// Hits whose bytes wait to be written. About 4 MB of JSON.
const WAITING_COUNT: usize = 4096;
/// Hits that a thread takes at a time.
const TAKEN_COUNT: usize = 64;

/// Prints all that was found.
///
/// # Errors
/// Damage in the store; the output cannot be written.
pub(crate) fn print(view: &View, found: &Found, printer: &dyn Printer, output: &mut Output) -> Result<()> {
    let list = &found.hits.list;
    let taken = |range: Range<usize>| Taken {
        view,
        all: list,
        hits: list.get(range.clone()).unwrap_or_default(),
        spots: found.spots.get(range).unwrap_or_default(),
    };
    let first = list.len().min(FIRST_COUNT);
    output.bytes(&printed(&taken(0..first), printer, &mut RecordReader::new())?)?;
    if output.terminal.is_terminal() {
        output.flush()?;
    }
    for start in (first..list.len()).step_by(WAITING_COUNT) {
        let end = list.len().min(start + WAITING_COUNT);
        let pieces: Vec<index::Result<Vec<u8>>> = (start..end)
            .into_par_iter()
            .step_by(TAKEN_COUNT)
            .map_init(RecordReader::new, |reader, start| {
                printed(&taken(start..end.min(start + TAKEN_COUNT)), printer, reader)
            })
            .collect();
        for piece in pieces {
            output.bytes(&piece?)?;
        }
    }
    Ok(())
}

/// Messages that are read and printed together.
struct Taken<'a> {
    view: &'a View,
    /// All that was found.
    all: &'a [Hit],
    hits: &'a [Hit],
    /// The place of each in its conversation, or empty.
    spots: &'a [Spot],
}

fn printed(taken: &Taken<'_>, printer: &dyn Printer, reader: &mut RecordReader) -> index::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut thread = (usize::MAX, String::new());
    for (place, hit) in taken.hits.iter().enumerate() {
        let mut listed = Listed::read(taken.view.mailbox(), hit, printer.need(), reader)?;
        if let Some(spot) = taken.spots.get(place) {
            if printer.need().header && thread.0 != spot.first {
                let first = taken.all.get(spot.first).unwrap_or(hit);
                thread = (spot.first, taken.view.mailbox().message_id(first, reader)?);
            }
            listed.position =
                Some(Position { thread: thread.1.clone(), depth: spot.depth, origin: spot.origin });
        }
        printer.print(&listed, &mut out);
    }
    Ok(out)
}
