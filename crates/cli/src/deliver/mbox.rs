//! Writes messages as one mbox, each as it is now on the disk or in the archive.
//!
//! Takes hits. Tells of messages that cannot be read. `render::mbox` knows the format.

use super::Troubles;
use crate::archive::messages::LazyArchive;
use crate::exit::Outcome;
use crate::output::Output;
use crate::remedy;
use crate::sanitise::many_lines;
use crate::search::locate;
use anyhow::Result;
use pneu::{Hit, RecordReader, View, Wanted};
use render::mbox::{Quoting, first_line};
use terminal::signals;

/// Writes all hits.
///
/// # Errors
/// Damage in the store; the output cannot be written.
pub(crate) fn write(
    (view, hits): (&View, &[Hit]),
    archive: LazyArchive<'_>,
    mut output: Output,
) -> Result<Outcome> {
    let mut troubles = Troubles::default();
    let mut reader = RecordReader::new();
    let mut entry = Vec::new();
    for hit in hits {
        if signals::is_interrupted() {
            return Ok(Outcome::Interrupted);
        }
        let message = view.mailbox().message(hit, &mut reader)?;
        let located = match locate::read(view, &message, Wanted::Message, &archive) {
            Ok(located) => located,
            Err(error) => {
                troubles.add(remedy::explained(&error));
                continue;
            }
        };
        if let Some(path) = located.path.as_ref().filter(|_| located.content.truncated) {
            troubles.add(format!("{} is very large; only the beginning is written", path.display()));
        }
        entry.extend_from_slice(first_line(&message).as_bytes());
        let mut quoting = Quoting::default();
        let written = located.each_block(&mut |block| {
            quoting.add(block, &mut entry);
            flush(&mut entry, &mut output)
        });
        quoting.finish(&mut entry);
        flush(&mut entry, &mut output)?;
        match written {
            Err(error) if error.is::<mail::Error>() => troubles.add(error),
            other => other?,
        }
    }
    // Everything is read. Other processes need not wait for the lock while the user reads the page.
    drop(archive);
    output.finish()?;
    Ok(troubles.outcome())
}

/// Writes what is ready, and empties the buffer.
fn flush(ready: &mut Vec<u8>, output: &mut Output) -> Result<()> {
    if output.terminal.is_terminal() {
        output.bytes(many_lines(&String::from_utf8_lossy(ready)).as_bytes())?;
    } else {
        output.bytes(ready)?;
    }
    ready.clear();
    Ok(())
}
