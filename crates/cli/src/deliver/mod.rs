//! What `find` and `export` do with the files of found messages: write an mbox, make links, or run commands.
//!
//! A file that a mail program moved since the last index is found under its new name. A file that is gone is
//! reported, and the others are processed. Does not know how messages were found.

pub(crate) mod exec;
pub(crate) mod links;
pub(crate) mod mbox;

use crate::exit::Outcome;
use crate::format::FileChoice;
use crate::output::complain;
use anyhow::Result;
use pneu::{Hit, MessageFile, View, handle_of};
use std::path::PathBuf;

/// Reports each message that failed, and counts them.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    count: usize,
}

impl Troubles {
    /// Reports one.
    pub(crate) fn add(&mut self, what: impl std::fmt::Display) {
        self.count += 1;
        complain(what);
    }

    /// Returns how the command ended.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.count == 0 { Outcome::Done } else { Outcome::Partly }
    }
}

/// Reports hits without a file, if paths were asked for.
///
/// # Errors
/// Damage in the store.
pub(crate) fn tell_without_files(view: &View, hits: &[Hit]) -> Result<Outcome> {
    let mut troubles = Troubles::default();
    for hit in hits {
        if view.mailbox().files(hit)?.is_empty() {
            troubles.add(no_file(view, hit)?);
        }
    }
    Ok(troubles.outcome())
}

fn no_file(view: &View, hit: &Hit) -> Result<String> {
    let name = handle_of(&view.message(hit)?);
    Ok(format!("{name} has no file, only the archive has it; \"pneu undelete\" puts it back"))
}

/// Calls `each` with the files of all hits, as they are on the disk now.
fn each_file(
    (view, hits): (&View, &[Hit]),
    places: FileChoice,
    troubles: &mut Troubles,
    mut each: impl FnMut(&MessageFile, PathBuf, &mut Troubles) -> Result<()>,
) -> Result<()> {
    for hit in hits {
        let files = view.mailbox().files(hit)?;
        if files.is_empty() {
            troubles.add(no_file(view, hit)?);
        }
        for file in places.of(&files) {
            match pneu::current_path(&file.path) {
                Some(path) => each(file, path, troubles)?,
                None => troubles.add(format!(
                    "{} is gone; run \"pneu index\" to find where it moved",
                    file.path.display()
                )),
            }
        }
    }
    Ok(())
}
