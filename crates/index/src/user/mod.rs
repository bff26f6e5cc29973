//! The user's own data, which mail does not contain. Tags of messages, and what is kept of folders and of
//! identities, are in a store of their own, `user/`, which outlives the index; saved queries are in a file
//! beside it. Neither can be rebuilt, so each has a second copy in `user/copy/`.
//!
//! Input: an environment. Output: snapshots of that store, and writers. Must not know how messages are found.

mod arrivals;
mod awaited;
mod change;
mod flag_tags;
pub(crate) mod folders;
pub(crate) mod identities;
pub(crate) mod queries;
mod tables;
mod tags;
mod text;

use crate::changes::Log;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use disk::{Disk, Wait};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{MergeOptions, Options, Snapshot, Writer};
use work::Progress;

pub use arrivals::{Arrivals, Looked, Seen, awaited_text, end_awaiting, expect_arrivals, replace_arrivals};
pub use awaited::Awaited;
pub use change::{TagChange, TagEdit, TagEdits, TagSummary, change_tags, edit_tags};
pub use flag_tags::{FLAG_TAGS, FlagTag, FlagTags};
pub use folders::{
    FolderId, FolderKey, KeptFolder, change_folder, export_folders, follow_folders, forget_folder,
    import_folders, keep_folders_back, settle_folders,
};
pub use identities::{IdentityKey, KeptIdentities, KeptIdentity, NamedAddress, change_identity};
pub use queries::{
    QUERY_NAME_BYTES_MAX, change_queries, check_query_name, export_queries, import_queries, saved_queries,
};
pub use tags::{MUTED, TAG_BYTES_MAX, check_tag};
pub(crate) use tags::{TaggedKeys, Tags};
pub use text::{TagImport, export_tags, has_no_tags, import_tags, import_tags_of, tags_by_message};

/// Name of the attachment that holds the version of the tables.
const ATTACHMENT: &str = "user";
/// First bytes of the attachment.
pub const MAGIC: [u8; 8] = *b"PNEUUSER";
/// Version of the tables of `user/`.
pub const VERSION: u32 = 2;
/// The version without a change log, which is read as it is. The first change upgrades it.
const VERSION_WITHOUT_CHANGES: u32 = 1;

/// Opens the newest commit for reading. Returns `None` if no tag was ever set.
///
/// # Errors
/// Damage, a newer version.
pub(crate) fn snapshot(disk: &Arc<dyn Disk>, directory: &Path) -> Result<Option<Snapshot>> {
    match Snapshot::open_newer(disk, directory) {
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(with_copy(disk, directory, error)),
        Ok(snapshot) => {
            check_version(&snapshot, directory)?;
            Ok(Some(snapshot))
        }
    }
}

/// Takes the writer's lock as [`writer_for`] does, waiting until the environment stops that.
///
/// # Errors
/// As [`writer_for`].
fn writer(environment: &Environment) -> Result<Writer> {
    writer_for(environment, &environment.context.cancel)
}

/// Takes the writer's lock. If another process holds it, waits until the environment stops that, or the
/// observer gives up. Creates the store if there is none.
///
/// # Errors
/// [`Error::Interrupted`]; damage, a newer version, a data directory that cannot be written.
fn writer_for(environment: &Environment, observer: &dyn Progress) -> Result<Writer> {
    let directory = environment.user_directory();
    let options = Options {
        holder: environment.holder.clone(),
        seed: environment.seed,
        keeps_copy: true,
        ..Options::default()
    };
    let take = |wait| {
        let options = Options { wait, ..options.clone() };
        Writer::open_or_create(&environment.disk, &directory, &tables::schemas(), options)
    };
    let writer = open::until_free(environment, observer, take)
        .map_err(|error| with_copy(&environment.disk, &directory, error))?;
    check_version(&writer.snapshot()?, &directory)?;
    Ok(writer)
}

/// Drops old changes, and merges one group of segments, if that is due and no other process is merging.
///
/// # Errors
/// Damage, a full disk. What was committed stays.
fn merge(environment: &Environment) -> Result<()> {
    if let Some(user) = snapshot(&environment.disk, &environment.user_directory())?
        && Log::drop_old(environment, &user)?.is_some()
    {
        let mut writer = writer(environment)?;
        if let Some(transaction) = Log::drop_old(environment, &writer.snapshot()?)? {
            writer.commit(transaction)?;
        }
    }
    let options = MergeOptions {
        holder: environment.holder.clone(),
        seed: environment.seed,
        keeps_copy: true,
        ..MergeOptions::default()
    };
    match store::merge(&environment.disk, &environment.user_directory(), &options) {
        Ok(_) | Err(store::Error::Io(disk::Error::Locked { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Adds to an error about damage that the second copy is intact, if it is.
fn with_copy(disk: &Arc<dyn Disk>, directory: &Path, error: store::Error) -> Error {
    let copy = store::second_copy(directory);
    // The same program writes both, so a store that seems to be newer than its copy is damaged.
    let is_damage = matches!(error, store::Error::Corrupt { .. } | store::Error::Version { .. });
    match Snapshot::open(disk, &copy) {
        Ok(_) if is_damage => Error::from(error).kept_in(copy),
        _ => error.into(),
    }
}

/// Adds the second copy and the newest version to data that an earlier version wrote. If this fails, the next
/// call tries again; the index works without it.
pub(crate) fn keep_twice(environment: &Environment) {
    let directory = environment.user_directory();
    let is_once = |name: &str| {
        environment.disk.size(&directory.join(name)).is_ok()
            && environment.disk.size(&store::second_copy(&directory).join(name)).is_err()
    };
    if is_once("manifest") {
        let _ = writer(environment).and_then(|mut writer| Ok(writer.flush()?));
    }
    if is_once(queries::FILE) {
        let _ = queries::keep_twice(environment);
    }
}

/// Repairs the user's data from its second copy, and the copy from the data, file by file. A file that is
/// damaged in both stays as it is.
///
/// # Errors
/// An error of the disk; a newer version.
pub fn repair_user(environment: &Environment) -> Result<()> {
    let directory = environment.user_directory();
    if !environment.disk.list(&directory).is_ok_and(|names| !names.is_empty()) {
        return Ok(());
    }
    let options = Options { holder: environment.holder.clone(), wait: Wait::Block, ..Options::default() };
    store::repair(&environment.disk, &directory, &options)?;
    queries::repair(environment)
}

/// Checks the saved queries and their second copy. Returns the damage in each.
pub(crate) fn check_queries(environment: &Environment) -> [Option<(PathBuf, String)>; 2] {
    queries::check(environment)
}

/// Returns the bytes of the attachment.
fn version_bytes() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

fn check_version(snapshot: &Snapshot, directory: &Path) -> Result<()> {
    // A store that was created but never written to has no attachment.
    let Some(bytes) = snapshot.attachment(ATTACHMENT) else { return Ok(()) };
    let version = bytes.strip_prefix(&MAGIC).and_then(|rest| <[u8; 4]>::try_from(rest).ok());
    match version.map(u32::from_le_bytes) {
        Some(VERSION) => Ok(snapshot.expect_schemas(&tables::schemas())?),
        Some(VERSION_WITHOUT_CHANGES) => {
            // A crash may have come between the new table and the new version.
            let mut schemas = tables::schemas();
            schemas.truncate(snapshot.tables().len());
            Ok(snapshot.expect_schemas(&schemas)?)
        }
        Some(found) => Err(Error::UserVersion { path: directory.to_owned(), found, newest: VERSION }),
        None => Err(Error::UserDamaged { path: directory.to_owned() }),
    }
}
