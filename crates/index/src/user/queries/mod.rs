//! Saved queries: the names that the user gave to queries. A text file in `user/`, which backups store as it
//! is.
//!
//! Input: names and queries. Output: a file that is replaced as a whole, under a lock, after its second copy
//! in `user/copy/`. docs/FORMAT.md describes the format. The caller that saves a query checks it first. Must
//! not know the query language.

use crate::environment::Environment;
use crate::error::{Error, Result};
use disk::{Lock, Wait};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The file's name.
pub(crate) const FILE: &str = "queries";
/// The lock file that a writer holds.
pub(crate) const LOCK: &str = "queries.lock";
/// The first line: the kind of the file and the version of the format.
const HEADER: &str = "pneu-queries 2";
/// The first line of version 1, which has no checksum.
const HEADER_1: &str = "pneu-queries 1";
/// The beginning of the last line. The XXH3-64 of all bytes before that line follows, in 16 digits.
const CHECKSUM: &str = "# checksum ";
/// The beginning of the first line in every version.
const HEADER_START: &str = "pneu-queries ";
/// Longest name in bytes.
pub const QUERY_NAME_BYTES_MAX: usize = 64;

/// Returns all saved queries by their names.
///
/// # Errors
/// The file cannot be read or is damaged; it is of a newer version.
pub fn saved_queries(environment: &Environment) -> Result<BTreeMap<String, String>> {
    let parsed = match first(environment)? {
        Some((path, bytes)) => parse(&bytes, path),
        None => Ok(BTreeMap::new()),
    };
    parsed.map_err(|error| match sound_in(environment, &second(environment)) {
        Some(_) => error.kept_in(second(environment)),
        None => error,
    })
}

/// Changes the saved queries. `change` gets the current ones, and returns whether to save its changes.
/// Returns whether they were saved.
///
/// # Errors
/// As [`saved_queries`]; an invalid name; a full disk, a data directory that cannot be written: nothing was
/// changed.
pub fn change_queries(
    environment: &Environment,
    change: &mut dyn FnMut(&mut BTreeMap<String, String>) -> bool,
) -> Result<bool> {
    let _lock = lock(environment)?;
    let mut queries = saved_queries(environment)?;
    if !change(&mut queries) {
        return Ok(false);
    }
    let mut text = format!("{HEADER}\n");
    for (name, query) in &queries {
        check_query_name(name).map_err(|what| Error::QueryName { name: name.clone(), what })?;
        // A query is a single line. Any white space separates words, so control characters become spaces.
        let query: String = query.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.push_str(&format!("{name}\t{}\n", query.trim()));
    }
    publish(environment, with_checksum(text).as_bytes())?;
    Ok(true)
}

/// Returns the bytes of the file, for backups. If it is missing or damaged, returns its second copy. Returns
/// `None` if nothing was ever saved.
///
/// # Errors
/// Both are damaged or cannot be read.
pub fn export_queries(environment: &Environment) -> Result<Option<Vec<u8>>> {
    let sound = [path(environment), second(environment)].iter().find_map(|path| sound_in(environment, path));
    match (sound, first(environment)?) {
        (Some(bytes), _) => Ok(Some(bytes)),
        (None, Some((path, bytes))) => parse(&bytes, path).map(|_| Some(bytes)),
        (None, None) => Ok(None),
    }
}

/// Returns the file, or else its second copy, with its path. Returns `None` if there is neither.
fn first(environment: &Environment) -> Result<Option<(PathBuf, Vec<u8>)>> {
    for path in [path(environment), second(environment)] {
        match environment.disk.read(&path) {
            Ok(bytes) => return Ok(Some((path, bytes))),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Checks the file and its second copy, and returns the damage in each.
pub(super) fn check(environment: &Environment) -> [Option<(PathBuf, String)>; 2] {
    [path(environment), second(environment)].map(|path| {
        let damage = match environment.disk.read(&path) {
            Ok(bytes) => parse(&bytes, path.clone()).err(),
            Err(error) if error.is_not_found() => None,
            Err(error) => Some(error.into()),
        };
        damage.map(|damage| (path, damage.to_string()))
    })
}

/// Replaces a damaged or missing file by its intact second copy, or the copy by the file.
///
/// # Errors
/// An error of the disk.
pub(super) fn repair(environment: &Environment) -> Result<()> {
    let _lock = lock(environment)?;
    let places = [path(environment), second(environment)];
    let sound = places.clone().map(|path| sound_in(environment, &path));
    // The file comes first: somebody may have edited it by hand, so it may be newer than its copy.
    let Some(bytes) = sound.iter().flatten().next() else { return Ok(()) };
    for (place, _) in places.iter().zip(&sound).filter(|(_, sound)| sound.is_none()) {
        publish_at(environment, place, bytes)?;
    }
    Ok(())
}

/// Returns the bytes of a file if it is intact.
fn sound_in(environment: &Environment, path: &Path) -> Option<Vec<u8>> {
    let bytes = environment.disk.read(path).ok()?;
    parse(&bytes, path.to_owned()).is_ok().then_some(bytes)
}

/// Adds the second copy and the newest version's checksum to a file that lacks them. All of its lines stay as
/// they are, including those written by hand.
///
/// # Errors
/// As [`change_queries`].
pub(super) fn keep_twice(environment: &Environment) -> Result<()> {
    let _lock = lock(environment)?;
    let Some((path, bytes)) = first(environment)? else { return Ok(()) };
    parse(&bytes, path)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.split_once('\n').map_or("", |(_, lines)| lines).lines();
    let lines = lines.filter(|line| !line.starts_with(CHECKSUM)).map(|line| format!("{line}\n"));
    publish(environment, with_checksum(format!("{HEADER}\n{}", lines.collect::<String>())).as_bytes())
}

fn with_checksum(mut text: String) -> String {
    let checksum = xxh3_64(text.as_bytes());
    text.push_str(&format!("{CHECKSUM}{checksum:016x}\n"));
    text
}

/// Imports saved queries as they were exported, byte for byte, if none were ever saved. Returns how many they
/// are, or `None` if there are queries already.
///
/// # Errors
/// The file is damaged or newer: nothing was changed. As [`change_queries`].
pub fn import_queries(environment: &Environment, bytes: &[u8]) -> Result<Option<usize>> {
    if first(environment)?.is_some() {
        return Ok(None);
    }
    let count = parse(bytes, path(environment))?.len();
    let _lock = lock(environment)?;
    if first(environment)?.is_some() {
        return Ok(None);
    }
    publish(environment, bytes)?;
    Ok(Some(count))
}

/// Checks that a text can be the name of a saved query.
///
/// # Errors
/// A sentence that says why not.
pub fn check_query_name(name: &str) -> std::result::Result<(), String> {
    if name.is_empty() {
        Err("a name has at least one character".to_owned())
    } else if name.len() > QUERY_NAME_BYTES_MAX {
        Err(format!("a name has at most {QUERY_NAME_BYTES_MAX} bytes"))
    } else if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-')) {
        Err("a name has letters, digits, . _ and - only".to_owned())
    } else if name.starts_with('-') {
        Err("a name does not begin with -".to_owned())
    } else {
        Ok(())
    }
}

fn path(environment: &Environment) -> PathBuf {
    environment.user_directory().join(FILE)
}

/// Returns the path of the second copy.
fn second(environment: &Environment) -> PathBuf {
    store::second_copy(&environment.user_directory()).join(FILE)
}

fn lock(environment: &Environment) -> Result<Lock> {
    let directory = environment.user_directory();
    environment.disk.create_directory(&directory)?;
    Ok(environment.disk.lock(&directory.join(LOCK), &environment.holder, Wait::Block)?)
}

/// Writes the second copy, then the file.
fn publish(environment: &Environment, bytes: &[u8]) -> Result<()> {
    publish_at(environment, &second(environment), bytes)?;
    publish_at(environment, &path(environment), bytes)
}

fn publish_at(environment: &Environment, path: &Path, bytes: &[u8]) -> Result<()> {
    let directory = path.parent().unwrap_or(path);
    environment.disk.create_directory(directory)?;
    Ok(disk::publish(environment.disk.as_ref(), directory, FILE, bytes)?)
}

/// Returns whether a file of version 2 ends with the checksum of what precedes it.
fn is_checksum_right(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let start = lines.rfind('\n').map_or(0, |end| end + 1);
    let (before, last) = text.split_at(start);
    last == format!("{CHECKSUM}{:016x}\n", xxh3_64(before.as_bytes()))
}

fn parse(bytes: &[u8], path: PathBuf) -> Result<BTreeMap<String, String>> {
    let wrong =
        |line: usize, what: &str| Err(Error::QueryText { path: path.clone(), line, what: what.to_owned() });
    let Ok(text) = std::str::from_utf8(bytes) else { return wrong(1, "it is not UTF-8 text") };
    let mut lines = (1..).zip(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
    match lines.next() {
        Some((_, HEADER_1)) => {}
        Some((_, HEADER)) if is_checksum_right(text) => {}
        Some((_, HEADER)) => {
            let last = text.lines().count().max(1);
            return wrong(last, "the checksum at the end does not fit what stands before it");
        }
        Some((_, line)) if line.starts_with(HEADER_START) => {
            return wrong(1, "it was written by a newer pneu, which is needed to read it");
        }
        _ => return wrong(1, "it does not begin with \"pneu-queries 2\""),
    }
    let mut queries = BTreeMap::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let Some((name, query)) = line.split_once('\t') else {
            return wrong(number, "there is no tab between a name and a query");
        };
        if let Err(what) = check_query_name(name) {
            return wrong(number, &what);
        }
        if queries.insert(name.to_owned(), query.to_owned()).is_some() {
            return wrong(number, "its name is listed twice");
        }
    }
    Ok(queries)
}

#[cfg(test)]
mod tests;
