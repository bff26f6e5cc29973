//! Prints lists of messages and of conversations.
//!
//! Takes what was found, and what prints it. On a terminal the first ones are shown before the others are
//! read. Does not know formats.

use crate::output::Output;
use crate::search::question::Found;
use anyhow::Result;
use pneu::{Threads, View};
use render::{Printer, ShowThread};

/// Prints all messages that were found.
///
/// # Errors
/// Damage in the store; the output cannot be written.
pub(crate) fn print(view: &View, found: &Found, printer: &dyn Printer, output: &mut Output) -> Result<()> {
    let list = (found.hits.list.as_slice(), found.positions.as_slice());
    render::print_messages(view.mailbox(), list, printer, &mut first_at_once(output))
}

/// Prints conversations.
///
/// # Errors
/// Damage in the store; the output cannot be written.
pub(crate) fn print_threads(
    view: &View,
    threads: &Threads,
    show: &ShowThread<'_>,
    output: &mut Output,
) -> Result<()> {
    render::print_threads(view.mailbox(), &threads.list, show, &mut first_at_once(output))
}

/// Writes what comes, and what comes first at once, if somebody looks at it.
fn first_at_once(output: &mut Output) -> impl FnMut(&[u8]) -> Result<()> {
    let mut is_first = true;
    move |bytes| {
        output.bytes(bytes)?;
        if std::mem::take(&mut is_first) && output.terminal.is_terminal() { output.flush() } else { Ok(()) }
    }
}
