//! Rebuilds an index from the mail, beside the old one, which it replaces once it is complete.
//!
//! Input: an environment, roots. Output: a new state in `index/`, published at once. Readers use the old one
//! until then, and a crash leaves either the old or the new one. The user's data in `user/` is not touched.
//! Directories that could not be read are not in the new index, and are reported with what the old one had of
//! them.

mod missing;

use crate::archive::{NoArchive, ReadableArchive};
use crate::environment::Environment;
use crate::error::{Error, Result, TableError};
use crate::pass::{Adopted, Summary, TEXT_LOCK, UpdateOptions, adopt, expect_mail, update};
use crate::state::{self, ATTACHMENT, Root};
use crate::text;
use crate::{first, open, state::VERSION, user};
use disk::{Disk, Wait};
use std::path::{Path, PathBuf};
use store::Snapshot;
use work::Progress;

/// The directory in which a new index is made, below the data directory.
pub(crate) const PLACE: &str = "rebuild";
/// The lock file in it.
const LOCK: &str = "lock";

/// Rebuilds the index from the mail in `roots`. There may be no index, or a damaged or older one.
///
/// # Errors
/// [`Error::NoMaildir`] if one of the roots holds no mail, perhaps because it is not mounted;
/// [`Error::Version`] if the index is newer; [`disk::Error::Locked`] if another process is rebuilding it;
/// [`Error::Interrupted`]; an error of the disk. The old index then stays as it was.
pub(crate) fn rebuild(
    environment: &Environment,
    roots: &[Root],
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<Summary> {
    Ok(rebuild_with(environment, roots, &NoArchive, options, observer)?.0)
}

/// Rebuilds as [`rebuild`] does, and adds the messages of an archive that have no file. They are absent in
/// the new index.
///
/// # Errors
/// As [`rebuild`], and an error of the archive: the old index then stays as it was.
pub(crate) fn rebuild_with(
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
    // Left by an interrupted rebuild, so they may be damaged or of another version.
    clear(disk, &beside)?;
    let before = missing::indexed(environment);
    let result = update(&beside, roots, options, observer).and_then(|mut summary| {
        let after = missing::indexed(&beside).unwrap_or_default();
        missing::tell(&mut summary.problems, before.as_ref(), &after);
        // What the archive adds is of the first index, too: nobody has seen it yet.
        first::begin(&beside)?;
        let adopted = adopt(&beside, archive, options, observer)?;
        replace(environment, &beside, observer)?;
        first::end(environment)?;
        Ok((summary, adopted))
    });
    // If they cannot be removed now, the next rebuild removes them.
    let _ = clear(disk, &beside);
    result
}

/// Returns the roots that an index of this or an older version remembers. Returns `None` if they cannot be
/// read.
pub fn remembered_roots(environment: &Environment) -> Option<Vec<Root>> {
    let snapshot = Snapshot::open(&environment.disk, &environment.index_directory()).ok()?;
    snapshot.attachment(ATTACHMENT).and_then(state::decode_roots)
}

/// Replaces the old index by the one in `beside`.
fn replace(environment: &Environment, beside: &Environment, observer: &dyn Progress) -> Result<()> {
    let disk = environment.disk.as_ref();
    let (text, new_text) = (environment.text_directory(), beside.text_directory());
    disk.create_directory(&text)?;
    // While this lock is held, no process removes segment files that no commit names yet, nor writes any.
    let path = text.join(TEXT_LOCK);
    let _lock = match disk.lock(&path, &environment.holder, Wait::Refuse) {
        Err(disk::Error::Locked { .. }) => {
            // They have shares, and do not say who they are.
            observer.waiting("another process that updates the index");
            disk.lock(&path, &environment.holder, Wait::Block)?
        }
        other => other?,
    };
    let state = open::state(&open::snapshot(beside)?, &beside.index_directory())?;
    let is_named = |name: &str| state.text.iter().any(|segment| *name == text::file_name(&segment.id));
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
    // The new index is there. What an end leaves here, the next pass that writes removes.
    match remove_old_text(environment, observer) {
        Err(Error::Interrupted) => Ok(()),
        other => other,
    }
}

/// Removes segments of text that the index does not name. The caller holds the lock of their files.
fn remove_old_text(environment: &Environment, observer: &dyn Progress) -> Result<()> {
    let (disk, text) = (environment.disk.as_ref(), environment.text_directory());
    let writer = open::writer(environment, observer)?;
    let state = open::state(&writer.snapshot()?, &environment.index_directory())?;
    let named = state.text.iter().map(|segment| segment.id.as_str()).collect();
    Ok(text::unnamed(disk, &text, &named)?.iter().try_for_each(|path| disk.remove(path))?)
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

/// Removes all files of an index. Its directories stay.
fn clear(disk: &dyn Disk, environment: &Environment) -> Result<()> {
    for directory in [environment.index_directory(), environment.text_directory()] {
        for path in files_in(disk, &directory)? {
            disk.remove(&path)?;
        }
    }
    Ok(())
}

/// Returns the files in a directory without its subdirectories; none if it does not exist.
fn files_in(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>> {
    match disk.list(directory) {
        Ok(names) => {
            Ok(names.iter().filter(|name| **name != *"text").map(|name| directory.join(name)).collect())
        }
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Copies a file and syncs its content, but not its name. A file with the same name is left from an
/// interrupted rebuild.
fn copy(disk: &dyn Disk, from: &Path, to: &Path) -> Result<()> {
    let bytes = disk.map(from)?;
    disk.remove(to)?;
    let mut file = disk.create(to)?;
    file.write(&bytes)?;
    Ok(file.sync()?)
}

/// Returns whether an index could not be used because it is of an older version.
pub fn is_older(error: &Error) -> bool {
    matches!(error, Error::Version { found, .. } if *found < VERSION)
}
