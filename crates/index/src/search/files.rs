//! Leaves that are answered from `files` and `folders`: flags, folders, paths, times of change.
//!
//! In: flags and patterns. Out: message numbers added to a set. A message has a flag when any of its files has it.

use crate::error::Result;
use crate::rows::{self, FolderRow, Place};
use crate::search::pattern::{self, Spelling};
use crate::search::{Mailbox, values};
use crate::set::NumberSet;
use crate::tables::files;
use mail::{Derived, Flags};
use query::fold::fold;
use query::{FlagName, Leaf, Matcher, Pattern};
use std::path::{Path, PathBuf};
use store::Value;

/// Returns messages that have a flag.
pub(super) fn flag(mailbox: &Mailbox, flag: FlagName) -> Result<NumberSet> {
    let mut found = mailbox.empty();
    match flag {
        FlagName::Draft => with_flags(mailbox, Flags::DRAFT, &mut found)?,
        FlagName::Flagged => with_flags(mailbox, Flags::FLAGGED, &mut found)?,
        FlagName::Passed => with_flags(mailbox, Flags::PASSED, &mut found)?,
        FlagName::Replied => with_flags(mailbox, Flags::REPLIED, &mut found)?,
        FlagName::Seen => with_flags(mailbox, Flags::SEEN, &mut found)?,
        FlagName::Trashed => with_flags(mailbox, Flags::TRASHED, &mut found)?,
        FlagName::New => with_flags(mailbox, Flags::NEW, &mut found)?,
        FlagName::Unread => {
            let mut seen = mailbox.empty();
            with_flags(mailbox, Flags::SEEN, &mut seen)?;
            found = NumberSet::full(mailbox.bound());
            found.minus(&seen);
        }
        FlagName::Attach => values::derived(mailbox, Derived::ATTACHMENT.bits(), &mut found)?,
        FlagName::Signed => values::derived(mailbox, Derived::SIGNED.bits(), &mut found)?,
        FlagName::Encrypted => values::derived(mailbox, Derived::ENCRYPTED.bits(), &mut found)?,
        FlagName::List => values::derived(mailbox, Derived::LIST.bits(), &mut found)?,
        FlagName::Calendar => values::derived(mailbox, Derived::CALENDAR.bits(), &mut found)?,
        FlagName::Personal => values::derived(mailbox, Derived::PERSONAL.bits(), &mut found)?,
    }
    Ok(found)
}

fn with_flags(mailbox: &Mailbox, wanted: Flags, found: &mut NumberSet) -> Result<()> {
    for part in mailbox.snapshot.table(files::TABLE)?.parts() {
        let flags = part.u16s(files::FLAGS, 0..part.row_count())?;
        let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
        for (row, (flags, number)) in (0u32..).zip(flags.iter().zip(numbers)) {
            if flags & wanted.bits() != 0 && !part.is_dead(row) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Adds messages of which a file changed in these seconds, both ends included.
pub(super) fn changed(
    mailbox: &Mailbox,
    range: (Option<i64>, Option<i64>),
    found: &mut NumberSet,
) -> Result<()> {
    let (from, to) = (range.0.unwrap_or(i64::MIN), range.1.unwrap_or(i64::MAX));
    for part in mailbox.snapshot.table(files::TABLE)?.parts() {
        let times = part.i64s(files::CTIME, 0..part.row_count())?;
        let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
        for (row, (time, number)) in (0u32..).zip(times.iter().zip(numbers)) {
            if (from..=to).contains(&time.div_euclid(1_000_000_000)) && !part.is_dead(row) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Adds messages that have a file in a folder of this name.
pub(super) fn maildir(mailbox: &Mailbox, leaf: &Leaf, found: &mut NumberSet) -> Result<()> {
    let names: Vec<String> =
        mailbox.folders.iter().map(|folder| fold(&folder_name(folder)).into_owned()).collect();
    let wanted = pattern::wanted(leaf, Spelling::Folded, |name| names.iter().any(|known| known == name))?;
    for (folder, name) in mailbox.folders.iter().zip(&names) {
        if wanted(name) {
            folder_files(mailbox, folder, None, found)?;
        }
    }
    Ok(())
}

/// Adds messages that have a file of this path, or one below this directory.
pub(super) fn path(mailbox: &Mailbox, leaf: &Leaf, found: &mut NumberSet) -> Result<()> {
    match &leaf.matcher {
        Matcher::Value(Pattern::Whole(path)) => whole_path(mailbox, path, found),
        Matcher::Value(Pattern::Below(path)) => below(mailbox, path, found),
        _ => {
            // Any other pattern is held against the path of every file.
            let wanted = pattern::wanted(leaf, Spelling::Folded, |_| false)?;
            let table = mailbox.snapshot.table(files::TABLE)?;
            for part in table.parts() {
                for row in rows::live(part) {
                    let row = rows::file(part, row)?;
                    let path = mailbox
                        .message_file(&row)
                        .map(|file| fold(&file.path.to_string_lossy()).into_owned());
                    if path.is_some_and(|path| wanted(&path)) {
                        found.insert(row.message);
                    }
                }
            }
            Ok(())
        }
    }
}

fn below(mailbox: &Mailbox, path: &str, found: &mut NumberSet) -> Result<()> {
    let relative = format!("/{}", path.trim_matches('/'));
    let is_below = |directory: &Path, name: &str| {
        directory.starts_with(path) || pattern::is_below(name, relative.trim_end_matches('/'))
    };
    for folder in &mailbox.folders {
        let (directory, name) = (folder_path(mailbox, folder), folder_name(folder));
        if is_below(&directory, &name) {
            folder_files(mailbox, folder, None, found)?;
            continue;
        }
        for place in Place::ALL {
            let place_name = format!("{}/{}", name.trim_end_matches('/'), place.name());
            if is_below(&directory.join(place.name()), &place_name) {
                folder_files(mailbox, folder, Some(place), found)?;
            }
        }
    }
    Ok(())
}

/// A path is that of a file, of a folder, or of a folder's `cur` or `new`.
fn whole_path(mailbox: &Mailbox, path: &str, found: &mut NumberSet) -> Result<()> {
    for (place, row) in mailbox.rows_at(Path::new(path))? {
        found.insert(mailbox.snapshot.table(files::TABLE)?.part(place).u32_at(files::MESSAGE, row)?);
    }
    for folder in &mailbox.folders {
        let directory = folder_path(mailbox, folder);
        let names = [
            directory.clone(),
            PathBuf::from(folder_name(folder)),
            PathBuf::from(folder_name(folder).trim_start_matches('/')),
        ];
        for name in names {
            if name == Path::new(path) {
                folder_files(mailbox, folder, None, found)?;
            }
            for place in Place::ALL {
                if name.join(place.name()) == Path::new(path) {
                    folder_files(mailbox, folder, Some(place), found)?;
                }
            }
        }
    }
    Ok(())
}

fn folder_files(
    mailbox: &Mailbox,
    folder: &FolderRow,
    place: Option<Place>,
    found: &mut NumberSet,
) -> Result<()> {
    let mut key = vec![Value::U32(folder.number)];
    key.extend(place.map(|place| Value::U8(place.number())));
    for part in mailbox.snapshot.table(files::TABLE)?.parts() {
        // Rows of a folder lie together: their column is taken once, not once a row.
        let rows: Vec<u32> = part.primary_range(&key)?.collect();
        let (Some(first), Some(last)) = (rows.iter().min(), rows.iter().max()) else { continue };
        let messages = part.u32s(files::MESSAGE, *first..last + 1)?;
        for row in &rows {
            found.insert(messages[(row - first) as usize]);
        }
    }
    Ok(())
}

/// Returns a folder's name as queries have it: `/` for the root, `/lists/rust` below it.
pub(super) fn folder_name(folder: &FolderRow) -> String {
    format!("/{}", String::from_utf8_lossy(&folder.path))
}

/// Returns where a folder is.
pub(super) fn folder_path(mailbox: &Mailbox, folder: &FolderRow) -> PathBuf {
    let root = mailbox.roots().iter().find(|root| root.name == folder.root);
    mail::join(root.map_or(Path::new(""), |root| &root.path), &folder.path)
}
