//! Makes an index anew from the mail, beside the old one, which it replaces only when it is whole.
//!
//! In: an environment, roots. Out: a new state in `index/`, by one publish. Readers have the old one until
//! then; a crash leaves the one or the other. What the user said, in `user/`, is not touched. What could not
//! be read is not in the new index, and is named with what the old one had of it.

mod missing;

use crate::archive::{NoArchive, ReadableArchive};
use crate::environment::Environment;
use crate::error::{Error, Result, TableError};
use crate::pass::{Adopted, Summary, TEXT_MERGE_LOCK, UpdateOptions, adopt, expect_mail, update};
use crate::state::{self, ATTACHMENT, Root};
use crate::text::remove_unnamed;
use crate::{open, state::VERSION, user};
use disk::{Disk, Wait};
use std::path::{Path, PathBuf};
use store::Snapshot;
use work::Progress;

/// Where a new index is made, below the data directory.
pub(crate) const PLACE: &str = "rebuild";
/// The file in it that says who is at work.
const LOCK: &str = "lock";

/// Makes the index anew from the mail in `roots`. There may be none, or one that is damaged or of an older
/// version.
///
/// # Errors
/// [`Error::NoMaildir`] if one of the roots holds no mail: it may not be mounted. [`Error::Version`] if the
/// index is of a newer version, [`disk::Error::Locked`] if somebody else makes one anew,
/// [`Error::Interrupted`]; what the disk says. The old index is then as it was.
pub fn rebuild(
    environment: &Environment,
    roots: &[Root],
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    Ok(rebuild_with(environment, roots, &NoArchive, options, observer)?.0)
}

/// Does what [`rebuild`] does, and takes in the messages of a place that are on no disk: they are absent in
/// the new index.
///
/// # Errors
/// As [`rebuild`], and what the place says: then nothing was exchanged.
pub fn rebuild_with(
    environment: &Environment,
    roots: &[Root],
    archive: &dyn ReadableArchive,
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<(Summary, Adopted)> {
    refuse_newer(environment)?;
    for root in roots {
        expect_mail(std::slice::from_ref(root))?;
    }
    user::keep_twice(environment);
    let disk = environment.disk.as_ref();
    let place = environment.data.join(PLACE);
    disk.create_directory(&place)?;
    let _lock = disk.lock(&place.join(LOCK), &environment.holder, Wait::Refuse)?;
    let beside = Environment { data: place, ..environment.clone() };
    // Of a rebuild that was interrupted: it may be of another version, or damaged.
    clear(disk, &beside)?;
    let before = missing::indexed(environment);
    let result = update(&beside, roots, options, observer).and_then(|mut summary| {
        let after = missing::indexed(&beside).unwrap_or_default();
        missing::tell(&mut summary.problems, before.as_ref(), &after);
        let adopted = adopt(&beside, archive, options, observer)?;
        replace(environment, &beside, observer)?;
        Ok((summary, adopted))
    });
    // What cannot be removed now is removed by the next one.
    let _ = clear(disk, &beside);
    result
}

/// Returns the roots that an index remembers, of whatever older version it is; `None` if that cannot be read.
pub fn remembered_roots(environment: &Environment) -> Option<Vec<Root>> {
    let snapshot = Snapshot::open(&environment.disk, &environment.index_directory()).ok()?;
    snapshot.attachment(ATTACHMENT).and_then(state::decode_roots)
}

/// Puts the index in `beside` in the place of the old one.
fn replace(environment: &Environment, beside: &Environment, observer: &dyn Progress) -> Result<()> {
    let disk = environment.disk.as_ref();
    let (text, new_text) = (environment.text_directory(), beside.text_directory());
    disk.create_directory(&text)?;
    // Whoever finds this taken removes no files that nothing names yet.
    let lock = disk.lock(&text.join(TEXT_MERGE_LOCK), &environment.holder, Wait::Block)?;
    let state = open::state(&open::snapshot(beside)?, &beside.index_directory())?;
    let is_named = |name: &str| state.text.iter().any(|segment| name.starts_with(&segment.id));
    for name in disk.list(&new_text)? {
        if name.to_str().is_some_and(is_named) {
            copy(disk, &new_text.join(&name), &text.join(&name))?;
        }
    }
    disk.sync_directory(&text)?;
    store::replace(
        &environment.disk,
        &environment.index_directory(),
        &beside.index_directory(),
        &open::options(environment, Wait::Block),
    )?;
    let writer = open::writer(environment, observer)?;
    let state = open::state(&writer.snapshot()?, &environment.index_directory())?;
    let named = state.text.iter().map(|segment| segment.id.as_str()).collect();
    remove_unnamed(disk, &text, &named)?;
    drop(lock);
    Ok(())
}

fn refuse_newer(environment: &Environment) -> Result<()> {
    let newer = |error: &Error| match error {
        Error::Version { found, newest, .. }
        | Error::Store(TableError(store::Error::Version { found, newest, .. })) => found > newest,
        _ => false,
    };
    let opened = open::snapshot(environment)
        .and_then(|snapshot| open::state(&snapshot, &environment.index_directory()).map(|_| ()));
    match opened {
        Err(error) if newer(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Removes all files of an index; its directories stay.
fn clear(disk: &dyn Disk, environment: &Environment) -> Result<()> {
    for directory in [environment.index_directory(), environment.text_directory()] {
        for path in files_in(disk, &directory)? {
            disk.remove(&path)?;
        }
    }
    Ok(())
}

/// Returns the files in a directory, not the directories; none if it is not there.
fn files_in(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>> {
    match disk.list(directory) {
        Ok(names) => {
            Ok(names.iter().filter(|name| **name != *"text").map(|name| directory.join(name)).collect())
        }
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Copies a file, durably but for its name. One of the same name is of a rebuild that was interrupted.
fn copy(disk: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    let bytes = disk.map(from)?;
    disk.remove(to)?;
    let mut file = disk.create(to)?;
    file.write(&bytes)?;
    Ok(file.sync()?)
}

/// Says whether an index could not be used because it is of an older version.
pub fn is_older(error: &Error) -> bool {
    matches!(error, Error::Version { found, .. } if *found < VERSION)
}
