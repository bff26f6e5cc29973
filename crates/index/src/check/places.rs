//! Checks the files of the data directory that belong neither to the tables nor to the text index, and lists
//! unknown files.
//!
//! Input: an environment. Output: damage, and unknown files. Must not know what the tables of backups
//! contain, only that they are stores.

use super::damage::{Damage, Depth, Repair};
use crate::environment::Environment;
use crate::error::Result;
use crate::first::INCOMPLETE_NAME;
use crate::open::{CACHE_TAG, CACHE_TAG_NAME};
use crate::pass::{ATTACHMENTS_LOCK, TEXT_LOCK, TEXT_MERGER_LOCK};
use crate::text;
use crate::user::queries;
use disk::Disk;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use store::is_store_file;

/// Directory of the tables of backups, one store per repository.
const ARCHIVE: &str = "archive";
/// The directory of what clients of `pneu serve` upload.
const UPLOADS: &str = "uploads";
/// Directory of the log of actions, below the user's data.
const ACTIONS: &str = "actions";
/// Suffix of a file's name while it is written.
const BESIDE: &str = ".new";

/// Returns whether a file name in some directory belongs to this program.
type IsOurs = fn(&str) -> bool;

/// Adds damage outside the index and the user's data: in the cache tag, and in the tables of backups.
pub(super) fn check(environment: &Environment, depth: Depth, found: &mut Vec<Damage>) -> Result<()> {
    if depth == Depth::Quick {
        return Ok(());
    }
    let tag = environment.index_directory().join(CACHE_TAG_NAME);
    match environment.disk.read(&tag) {
        Ok(bytes) if bytes == CACHE_TAG => {}
        Err(error) if error.is_not_found() => {}
        Ok(_) => found.push(Damage::of_index(tag, "it does not say what it should".to_owned())),
        Err(error) => found.push(Damage::of_index(tag, error.to_string())),
    }
    for place in directories_in(environment.disk.as_ref(), &environment.data.join(ARCHIVE))? {
        let damages = store::damage_of(&environment.disk, &place);
        let damages = damages.into_iter().map(|damage| (damage.file, damage.what));
        for (file, what) in damages.chain(without_manifest(environment.disk.as_ref(), &place)?) {
            found.push(Damage { file, what, remedy: None, repair: Repair::NextBackup });
        }
    }
    Ok(())
}

/// Returns the manifest of a store, and what is wrong, if it is missing beside files that it should name.
fn without_manifest(disk: &dyn Disk, place: &Path) -> Result<Option<(PathBuf, String)>> {
    let names = list(disk, place)?;
    let has = |is_wanted: &dyn Fn(&str) -> bool| names.iter().filter_map(|name| name.to_str()).any(is_wanted);
    let has_rest = has(&|name| is_store_file(name) && !name.ends_with("lock"));
    let is_missing = has_rest && !has(&|name| name == store::MANIFEST);
    Ok(is_missing.then(|| {
        (place.join(store::MANIFEST), "it is missing, and other files of the store are there".to_owned())
    }))
}

/// Returns the unknown files below the data directory, sorted. They are left alone.
///
/// # Errors
/// A directory cannot be listed.
pub fn strangers(environment: &Environment) -> Result<Vec<PathBuf>> {
    let disk = environment.disk.as_ref();
    let (index, user) = (environment.index_directory(), environment.user_directory());
    let mut known: Vec<(PathBuf, IsOurs)> = vec![
        (environment.data.clone(), is_server_file),
        (environment.text_directory(), is_text_file),
        (store::second_copy(&user), is_user_file),
        (user.join(ACTIONS), is_action_file),
        (user, is_user_file),
        (index, is_index_file),
        (environment.data.join(ARCHIVE), |_| false),
        (environment.data.join(UPLOADS), is_upload),
    ];
    for place in directories_in(disk, &environment.data.join(ARCHIVE))? {
        known.push((place, is_store_file));
    }
    let mut found = Vec::new();
    for (directory, is_ours) in &known {
        for name in list(disk, directory)? {
            let path = directory.join(&name);
            let is_directory = known.iter().any(|(directory, _)| *directory == path)
                || path == environment.data.join(crate::rebuild::PLACE);
            if !is_directory && !name.to_str().is_some_and(is_ours) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns whether a file in the directory of uploads has the name of one: its SHA-256.
fn is_upload(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Returns whether `pneu serve` writes a file of this name: its token, and the page that opens a browser.
fn is_server_file(name: &str) -> bool {
    name == "serve-token" || (name.starts_with("login-") && name.ends_with(".html"))
}

fn is_beside(name: &str, expected: &str) -> bool {
    name.strip_suffix(BESIDE).unwrap_or(name) == expected
}

fn is_index_file(name: &str) -> bool {
    is_store_file(name) || [CACHE_TAG_NAME, INCOMPLETE_NAME].iter().any(|known| is_beside(name, known))
}

fn is_user_file(name: &str) -> bool {
    is_store_file(name) || is_beside(name, queries::FILE) || name == queries::LOCK
}

fn is_action_file(name: &str) -> bool {
    let number = name.strip_suffix(BESIDE).unwrap_or(name).strip_suffix(".json");
    ["lock", "import.lock"].contains(&name)
        || number.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_text_file(name: &str) -> bool {
    let is_id = |id: &str| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let of_segment = |(id, end): (&str, &str)| is_id(id) && text::is_ending(end);
    [TEXT_LOCK, TEXT_MERGER_LOCK, ATTACHMENTS_LOCK].contains(&name)
        || name.split_once('.').is_some_and(of_segment)
}

/// Returns the subdirectories that are named like repositories; none if the directory does not exist.
fn directories_in(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>> {
    let is_id = |name: &OsString| {
        name.to_str()
            .is_some_and(|name| name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    Ok(list(disk, directory)?.into_iter().filter(is_id).map(|name| directory.join(name)).collect())
}

fn list(disk: &dyn Disk, directory: &Path) -> Result<Vec<OsString>> {
    match disk.list(directory) {
        Ok(names) => Ok(names),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
