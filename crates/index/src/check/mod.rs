//! Checks an index: every checksum, every key order, and that the tables agree with each other and with the
//! text index.
//!
//! Input: an environment. Output: a list of damage, empty if the index is sound. Writes nothing.

mod damage;
mod places;
mod threads;
mod user;

use crate::environment::Environment;
use crate::error::{Error, Result, TableError};
use crate::opened::Opened;
use crate::rows::{self, RecordReader, Subdirectory};
use crate::search::Mailbox;
use crate::set::NumberSet;
use crate::tables::{absent, files, messages};
use crate::{open, text};
use damage::is_damage;
pub use damage::{Damage, Depth, Repair};
use mail::Fingerprint;
pub use places::strangers;
use std::collections::HashMap;
use std::path::Path;
use store::Snapshot;

/// How often a check is repeated if a writer replaced files meanwhile.
const TRY_COUNT: usize = 5;

/// Checks the newest commit.
///
/// # Errors
/// There is no index, or it cannot be opened.
pub(crate) fn check(environment: &Environment, depth: Depth) -> Result<Vec<Damage>> {
    // What a process has open is as its files were then.
    let environment = &Environment { opened: Opened::default(), ..environment.clone() };
    let mut tries = 0;
    loop {
        let mailbox = Mailbox::open(environment)?;
        let found = check_commit(environment, &mailbox, depth)?;
        tries += 1;
        // A concurrent merge removes files of this commit, which looks like damage. Check again if there is a
        // newer commit.
        let is_newest = mailbox.snapshot().version() == open::snapshot(environment)?.version();
        if found.is_empty() || is_newest || tries == TRY_COUNT {
            return Ok(found);
        }
    }
}

/// Checks the index. An error that prevents opening it counts as damage too, if a rebuild would repair it.
///
/// # Errors
/// There is no index, the index is newer, or the disk fails.
pub fn diagnose(environment: &Environment, depth: Depth) -> Result<Vec<Damage>> {
    match check(environment, depth) {
        Err(error) if is_mendable(&error) => {
            let mut found = vec![Damage::of_error(environment.index_directory(), &error, Repair::Rebuild)];
            user::check(environment, depth, &mut found);
            places::check(environment, depth, &mut found)?;
            Ok(found)
        }
        other => other,
    }
}

/// Returns the damage in the user's data.
pub fn damage_of_user(environment: &Environment) -> Vec<Damage> {
    let mut found = Vec::new();
    user::check(environment, Depth::Deep, &mut found);
    found
}

/// Returns whether rebuilding the index helps against an error.
fn is_mendable(error: &Error) -> bool {
    match error {
        Error::Damaged { .. } | Error::Text { .. } => true,
        Error::Version { found, newest, .. } => found < newest,
        Error::Store(TableError(error)) => is_damage(error) || error.is_not_found(),
        Error::Disk(error) => error.is_not_found(),
        _ => false,
    }
}

fn check_commit(environment: &Environment, mailbox: &Mailbox, depth: Depth) -> Result<Vec<Damage>> {
    let snapshot = mailbox.snapshot();
    let mut found = Vec::new();
    let is_deep = depth == Depth::Deep;
    if is_deep {
        for damage in store::verify(snapshot) {
            found.push(Damage::of_index(damage.file, damage.what));
        }
    }
    let state = open::state(snapshot, &environment.index_directory())?;
    let (disk, directory) = (environment.disk.as_ref(), environment.text_directory());
    let damage = text::verify(disk, &directory, &state.text, is_deep);
    let is_text_whole = damage.is_empty();
    found.extend(damage.into_iter().map(|(file, what)| Damage::of_index(file, what)));
    if is_deep {
        if is_text_whole {
            in_text(mailbox, snapshot, environment, &mut found)?;
        }
        records(environment, snapshot, &mut found)?;
    }
    agreement(environment, snapshot, &mut found)?;
    user::check(environment, depth, &mut found);
    places::check(environment, depth, &mut found)?;
    Ok(found)
}

/// Checks that each message is in the text index exactly once, whether or not it has text.
fn in_text(
    mailbox: &Mailbox,
    snapshot: &Snapshot,
    environment: &Environment,
    found: &mut Vec<Damage>,
) -> Result<()> {
    let directory = environment.text_directory();
    let mut seen = NumberSet::new(open::state(snapshot, &environment.index_directory())?.next_message);
    for number in mailbox.text_numbers()? {
        if seen.contains(number) {
            let what = format!("message {number} is in the text index twice");
            found.push(Damage::of_index(directory.clone(), what));
        }
        seen.insert(number);
    }
    for_each_number(snapshot, messages::TABLE, messages::NUMBER, |number| {
        if !seen.contains(number) {
            let what = format!("message {number} is not in the text index");
            found.push(Damage::of_index(directory.clone(), what));
        }
    })
}

/// Checks that every record can be read.
fn records(environment: &Environment, snapshot: &Snapshot, found: &mut Vec<Damage>) -> Result<()> {
    let directory = environment.index_directory();
    let mut reader = RecordReader::new();
    let table = snapshot.table(messages::TABLE)?;
    for part in table.parts() {
        for row in part.live_rows() {
            let both = rows::line(part, row, &mut reader, &directory)
                .and_then(|_| rows::rest(part, row, &mut reader, &directory));
            match both {
                // Its checksum error was reported already, and one wrong bit may affect a thousand rows.
                Err(Error::Store(TableError(store::Error::Corrupt { path, .. })))
                    if is_told(found, &path) => {}
                Err(error) => found.push(Damage::of_error(directory.clone(), &error, Repair::Rebuild)),
                Ok(_) => {}
            }
        }
    }
    Ok(())
}

/// Returns whether a file was already reported as damaged.
fn is_told(found: &[Damage], file: &Path) -> bool {
    found.iter().any(|damage| damage.file == file)
}

/// Checks that every file's message and folder exist, that every message has a file or is absent, and that
/// every fingerprint is the sum over its rows.
fn agreement(environment: &Environment, snapshot: &Snapshot, found: &mut Vec<Damage>) -> Result<()> {
    let directory = environment.index_directory();
    let state = open::state(snapshot, &directory)?;
    let mut damage = |what: String| found.push(Damage::of_index(directory.clone(), what));
    threads::agree(snapshot, state.next_node, &mut damage)?;
    let mut known = NumberSet::new(state.next_message);
    for_each_number(snapshot, messages::TABLE, messages::NUMBER, |number| known.insert(number))?;
    let mut without_file = known.clone();
    let mut sums: HashMap<(u32, Subdirectory), Fingerprint> = HashMap::new();
    for part in snapshot.table(files::TABLE)?.parts() {
        for row in part.live_rows() {
            let row = rows::file(part, row)?;
            sums.entry((row.folder, row.subdirectory)).or_default().add(row.entry_hash());
            without_file.remove(row.message);
            if !known.contains(row.message) {
                damage(format!(
                    "file {} has message {}, which has no row",
                    String::from_utf8_lossy(&row.name),
                    row.message
                ));
            }
        }
    }
    for_each_number(snapshot, absent::TABLE, absent::MESSAGE, |number| {
        if without_file.contains(number) {
            without_file.remove(number);
        } else {
            damage(format!("message {number} is marked absent and has a file"));
        }
    })?;
    for number in without_file.iter() {
        damage(format!("message {number} has no file and is not marked absent"));
    }
    for folder in rows::folders(snapshot)? {
        for subdirectory in Subdirectory::ALL {
            let sum = sums.remove(&(folder.number, subdirectory)).unwrap_or_default();
            if sum != folder.directories[subdirectory.index()].fingerprint {
                let path = String::from_utf8_lossy(&folder.path).into_owned();
                damage(format!(
                    "the fingerprint of {path}/{} is not the sum over its files",
                    subdirectory.name()
                ));
            }
        }
    }
    for (folder, _) in sums.keys() {
        damage(format!("files are in folder {folder}, which has no row"));
    }
    Ok(())
}

fn for_each_number(
    snapshot: &Snapshot,
    table: &str,
    column: usize,
    mut visit: impl FnMut(u32),
) -> Result<()> {
    for part in snapshot.table(table)?.parts() {
        for row in part.live_rows() {
            visit(part.u32_at(column, row)?);
        }
    }
    Ok(())
}
