//! What `find` does with the files of found messages, instead of printing what the index knows of them.
//!
//! In: hits. Out: an mbox, links, or commands that were run. A file that a mail program moved since the last index is found under its
//! new name; one that is gone is told of, and the others are done. Must not know how messages were found.

pub(crate) mod exec;
pub(crate) mod links;
pub(crate) mod mbox;

use crate::exit::Outcome;
use crate::format::Places;
use crate::locate;
use crate::output::complain;
use anyhow::Result;
use index::{Hit, Mailbox, MessageFile, PayloadReader};
use std::path::PathBuf;

/// Says of each message that could not be done why not, and counts.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    count: usize,
}

impl Troubles {
    /// Tells of one.
    pub(crate) fn add(&mut self, what: impl std::fmt::Display) {
        self.count += 1;
        complain(what);
    }

    /// Returns how the command ended.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.count == 0 { Outcome::Done } else { Outcome::Partly }
    }
}

/// Tells of hits without a file, where paths are what was asked for.
///
/// # Errors
/// Damage in the store.
pub(crate) fn tell_without_files(mailbox: &Mailbox, hits: &[Hit]) -> Result<Outcome> {
    let mut troubles = Troubles::default();
    let mut reader = PayloadReader::new();
    for hit in hits {
        if mailbox.files(hit)?.is_empty() {
            troubles.add(no_file(mailbox, hit, &mut reader)?);
        }
    }
    Ok(troubles.outcome())
}

fn no_file(mailbox: &Mailbox, hit: &Hit, reader: &mut PayloadReader) -> Result<String> {
    let name = locate::name(&mailbox.message(hit, reader)?);
    Ok(format!("{name} has no file, only the archive has it; \"pneu undelete\" puts it back"))
}

/// Calls `each` with the files of all hits, as they are on the disk now.
fn each_file(
    (mailbox, hits): (&Mailbox, &[Hit]),
    places: Places,
    troubles: &mut Troubles,
    mut each: impl FnMut(&MessageFile, PathBuf, &mut Troubles) -> Result<()>,
) -> Result<()> {
    let mut reader = PayloadReader::new();
    for hit in hits {
        let files = mailbox.files(hit)?;
        if files.is_empty() {
            troubles.add(no_file(mailbox, hit, &mut reader)?);
        }
        for file in places.of(&files) {
            match locate::present(&file.path) {
                Some(path) => each(file, path, troubles)?,
                None => troubles
                    .add(format!("{} is gone; run \"pneu index\" to see where to", file.path.display())),
            }
        }
    }
    Ok(())
}
