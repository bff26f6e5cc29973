//! The long operations, on as many threads as the environment allows.
//!
//! Everything in this crate and in the store runs parallel work on the current rayon pool. Here that pool is
//! chosen, once per operation. A pass parses files on threads of its own, as many as the pool has.

use crate::archive::{Archive, ReadableArchive};
use crate::check::{self, Damage, Depth};
use crate::environment::Environment;
use crate::error::Result;
use crate::pass::{self, Adopted, AttachmentsRead, Look, Places, Summary, UpdateOptions};
use crate::rebuild::{self};
use crate::state::Root;
use crate::sweep::{self, Swept};
use work::{Progress, on_threads};

/// Updates the index from the disk. Creates the index if there is none.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) if the observer cancelled the pass; finished batches are
/// published. Damage and a full disk: the index is then as it was at the last publish.
pub fn update(
    environment: &Environment,
    roots: &[Root],
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    on(environment, || pass::update(environment, roots, options, observer))
}

/// Updates some places of the index, and leaves everything else as it is.
///
/// Decides as [`update`] does. A file that moved between two of these places is moved in the index, not read
/// again. A file that came from elsewhere is read, and its old row stays until a pass looks there.
///
/// # Errors
/// [`Error::NoIndex`](crate::Error::NoIndex) if there is no index; as [`update`]. A folder that is in no root
/// of the index is a problem, not an error.
pub fn update_places(
    environment: &Environment,
    places: &Places,
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    on(environment, || pass::update_places(environment, places, options, observer))
}

/// Adds the messages of an archive that the index does not know. They have no file.
///
/// # Errors
/// There is no index; an error of the archive; as [`update`].
pub fn adopt(
    environment: &Environment,
    archive: &dyn ReadableArchive,
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Adopted> {
    on(environment, || pass::adopt(environment, archive, options, observer))
}

/// Adds the text of attachments to messages that the options' reader has not read yet. Calls `published`
/// after each commit with such text.
///
/// # Errors
/// There is no index; as [`update`].
pub fn read_attachments(
    environment: &Environment,
    options: &UpdateOptions,
    look: Look,
    observer: &dyn Progress,
    published: &(dyn Fn() + Sync),
) -> Result<AttachmentsRead> {
    on(environment, || pass::read_attachments(environment, options, look, observer, published))
}

/// How much to merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// What is due after passes that did not merge ([`UpdateOptions::merges`]).
    Due {
        /// How many messages they added.
        new_count: u64,
    },
    /// More than that, since nothing else is to be done: few segments stay, and a short journal.
    Idle,
}

/// Merges segments, so that queries open and search few of them. Runs beside passes and other writers: of two
/// that merge at once, one does nothing. Works on the threads of its caller; a pass waits for them if they
/// are its own. Stops between two merges if the observer says so, and in the middle of one, of which nothing
/// is left then, if the context of the environment says so. Neither is an error.
///
/// # Errors
/// There is no index; damage; a full disk. Every merge before that is published.
pub fn merge(environment: &Environment, merging: Merging, observer: &dyn Progress) -> Result<()> {
    match merging {
        Merging::Due { new_count } => pass::merge_due(environment, new_count, observer),
        Merging::Idle => pass::merge_idle(environment, observer),
    }
}

/// Makes the index anew from the mail in these roots. The new index replaces the old one when it is complete.
///
/// # Errors
/// A root holds no mail; as [`update`]. The old index then stays.
pub fn rebuild(
    environment: &Environment,
    roots: &[Root],
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    on(environment, || rebuild::rebuild(environment, roots, options, observer))
}

/// Rebuilds as [`rebuild`] does, and adds the messages of an archive that have no file.
///
/// # Errors
/// As [`rebuild`]; an error of the archive.
pub fn rebuild_with(
    environment: &Environment,
    roots: &[Root],
    archive: &dyn ReadableArchive,
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<(Summary, Adopted)> {
    on(environment, || rebuild::rebuild_with(environment, roots, archive, options, observer))
}

/// Checks the index, and returns all damage found.
///
/// # Errors
/// There is no index; it cannot be opened.
pub fn check(environment: &Environment, depth: Depth) -> Result<Vec<Damage>> {
    on(environment, || check::check(environment, depth))
}

/// Removes the messages whose last file was found to be gone at least `older_than_seconds` ago and that the
/// archive does not hold.
///
/// # Errors
/// There is no index; an error of the archive; damage; a full disk; [`Error::Clock`](crate::Error::Clock);
/// [`Error::Interrupted`](crate::Error::Interrupted). Earlier commits of the same sweep stay.
pub fn sweep(
    environment: &Environment,
    older_than_seconds: i64,
    archive: &dyn Archive,
    observer: &dyn Progress,
) -> Result<Swept> {
    on(environment, || sweep::sweep(environment, older_than_seconds, archive, observer))
}

/// Removes messages whose last file is gone, however short ago, and whatever an archive holds. Others stay.
/// Returns how many were removed.
///
/// # Errors
/// As [`sweep`], except that no archive and no clock is asked.
pub fn forget(environment: &Environment, sha256: &[[u8; 32]], observer: &dyn Progress) -> Result<u64> {
    on(environment, || sweep::forget(environment, sha256, observer))
}

fn on<T: Send>(environment: &Environment, work: impl FnOnce() -> T + Send) -> T {
    on_threads(environment.context.threads, work)
}
