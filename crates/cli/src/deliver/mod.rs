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
use index::{Hit, Mailbox, MessageFile};
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

/// Calls `each` with the files of all hits, as they are on the disk now.
fn each_file(
    (mailbox, hits): (&Mailbox, &[Hit]),
    places: Places,
    troubles: &mut Troubles,
    mut each: impl FnMut(&MessageFile, PathBuf, &mut Troubles) -> Result<()>,
) -> Result<()> {
    for hit in hits {
        for file in places.of(&mailbox.files(hit)?) {
            match locate::present(&file.path) {
                Some(path) => each(file, path, troubles)?,
                None => troubles
                    .add(format!("{} is gone; run \"pneu index\" to see where to", file.path.display())),
            }
        }
    }
    Ok(())
}
