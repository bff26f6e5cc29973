//! Leaves that are answered from `files` and `folders`: flags, keywords, folders, paths, times of change.
//!
//! In: flags and patterns. Out: message numbers added to a set, without their copies. A message has a flag
//! when any of its files has it, and is unread when any of them is not seen.

use crate::error::Result;
use crate::rows::{FolderRow, Place};
use crate::search::pattern::{self, Wanted};
use crate::search::{Mailbox, values};
use crate::set::NumberSet;
use crate::state::Root;
use crate::tables::files;
use mail::Flags;
use query::FlagName;
use query::fold::fold;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use store::Value;

/// Adds messages that have a flag: one of their files has it, or their content.
pub(super) fn flag(mailbox: &Mailbox, flag: FlagName, found: &mut NumberSet) -> Result<()> {
    if flag == FlagName::Personal {
        found.or(mailbox.personal()?);
        return Ok(());
    }
    if let Some(derived) = values::derived_flag(flag) {
        return values::derived(mailbox, derived, found);
    }
    let has = |wanted: Flags| move |flags: u16| flags & wanted.bits() != 0;
    match flag {
        FlagName::Draft => with_flags(mailbox, has(Flags::DRAFT), found),
        FlagName::Flagged => with_flags(mailbox, has(Flags::FLAGGED), found),
        FlagName::Passed => with_flags(mailbox, has(Flags::PASSED), found),
        FlagName::Replied => with_flags(mailbox, has(Flags::REPLIED), found),
        FlagName::Seen => with_flags(mailbox, has(Flags::SEEN), found),
        FlagName::Trashed => with_flags(mailbox, has(Flags::TRASHED), found),
        FlagName::New => with_flags(mailbox, has(Flags::NEW), found),
        // One file that was read marks no other as read.
        _ => with_flags(mailbox, |flags| flags & Flags::SEEN.bits() == 0, found),
    }
}

/// Adds messages that have a file with flags that are wanted.
fn with_flags(mailbox: &Mailbox, is_wanted: impl Fn(u16) -> bool, found: &mut NumberSet) -> Result<()> {
    for part in mailbox.file_table().parts() {
        let flags = part.u16s(files::FLAGS, 0..part.row_count())?;
        let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
        for (_, (flags, number)) in part.live_values(flags.iter().zip(numbers)) {
            if is_wanted(*flags) {
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
    for part in mailbox.file_table().parts() {
        let times = part.i64s(files::CTIME, 0..part.row_count())?;
        let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
        for (_, (time, number)) in part.live_values(times.iter().zip(numbers)) {
            if (from..=to).contains(&time.div_euclid(1_000_000_000)) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Adds messages of which a file has a keyword whose name is wanted.
pub(super) fn keyword(mailbox: &Mailbox, wanted: &Wanted, found: &mut NumberSet) -> Result<()> {
    let letters: HashMap<u32, u32> =
        mailbox.folders().iter().map(|folder| (folder.number, keyword_letters(folder, wanted))).collect();
    for part in mailbox.file_table().parts() {
        let rows = 0..part.row_count();
        let keywords = part.u32s(files::KEYWORDS, rows.clone())?;
        let folders = part.u32s(files::FOLDER, rows.clone())?;
        let numbers = part.u32s(files::MESSAGE, rows.clone())?;
        for (_, ((keywords, folder), number)) in part.live_values(keywords.iter().zip(folders).zip(numbers)) {
            // Few files have any.
            if *keywords != 0 && letters.get(folder).is_some_and(|letters| keywords & letters != 0) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Returns the letters, as bits, that stand for wanted keywords in a folder. A letter that has no name there
/// is its own name.
fn keyword_letters(folder: &FolderRow, wanted: &Wanted) -> u32 {
    let mut names = folder.keyword_names.split(|byte| *byte == b'\n');
    let mut letters = 0;
    for (bit, letter) in ('a'..='z').enumerate() {
        let name = String::from_utf8_lossy(names.next().unwrap_or_default());
        let name = if name.is_empty() { letter.to_string().into() } else { name };
        if is_wanted(wanted, &name) {
            letters |= 1 << bit;
        }
    }
    letters
}

/// Adds messages that have a file in a folder whose name is wanted.
pub(super) fn maildir(mailbox: &Mailbox, wanted: &Wanted, found: &mut NumberSet) -> Result<()> {
    for folder in mailbox.folders() {
        if folder_names(folder).iter().any(|name| is_wanted(wanted, name)) {
            folder_files(mailbox, folder, None, found)?;
        }
    }
    Ok(())
}

/// Regular expressions see names as they are, without regard to case; all else is compared folded.
fn is_wanted(wanted: &Wanted, name: &str) -> bool {
    if wanted.is_regex() { wanted.is_match(name.as_bytes()) } else { wanted.is_match(fold(name).as_bytes()) }
}

/// Adds messages that have a file whose path is wanted.
pub(super) fn paths(mailbox: &Mailbox, wanted: &Wanted, found: &mut NumberSet) -> Result<()> {
    for part in mailbox.file_table().parts() {
        for row in part.live_rows() {
            let Some(file) = mailbox.message_file(part, row)? else { continue };
            if is_wanted(wanted, &file.path.to_string_lossy()) {
                found.insert(part.u32_at(files::MESSAGE, row)?);
            }
        }
    }
    Ok(())
}

/// Adds messages that have a file below a directory.
pub(super) fn below(mailbox: &Mailbox, path: &str, found: &mut NumberSet) -> Result<()> {
    let relative = format!("/{}", path.trim_matches('/'));
    let is_below = |directory: &Path, name: &str| {
        directory.starts_with(path)
            || pattern::is_below(name.as_bytes(), relative.trim_end_matches('/').as_bytes())
    };
    for folder in mailbox.folders() {
        let (directory, name) = (folder_path(mailbox.roots(), folder), disk_name(folder));
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

/// Adds messages at a path: that of a file, of a folder, or of a folder's `cur` or `new`.
pub(super) fn whole_path(mailbox: &Mailbox, path: &str, found: &mut NumberSet) -> Result<()> {
    for (place, row) in mailbox.rows_at(Path::new(path))? {
        found.insert(mailbox.file_table().part(place).u32_at(files::MESSAGE, row)?);
    }
    for folder in mailbox.folders() {
        let directory = folder_path(mailbox.roots(), folder);
        let names = [
            directory.clone(),
            PathBuf::from(disk_name(folder)),
            PathBuf::from(disk_name(folder).trim_start_matches('/')),
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

pub(super) fn folder_files(
    mailbox: &Mailbox,
    folder: &FolderRow,
    place: Option<Place>,
    found: &mut NumberSet,
) -> Result<()> {
    let mut key = vec![Value::U32(folder.number)];
    key.extend(place.map(|place| Value::U8(place.number())));
    for part in mailbox.file_table().parts() {
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

/// Says whether any folder has this folded name.
pub(super) fn is_folder(mailbox: &Mailbox, folded: &str) -> bool {
    mailbox.folders().iter().flat_map(folder_names).any(|name| fold(&name) == folded)
}

/// Returns the names by which a folder is found: as people read it, and as it is on the disk.
pub(super) fn folder_names(folder: &FolderRow) -> [String; 2] {
    [folder_name(folder), disk_name(folder)]
}

/// Returns a folder's name as it is shown: `/` for the root, `/lists/rust` below it.
pub(crate) fn folder_name(folder: &FolderRow) -> String {
    format!("/{}", mail::readable_folder(&folder.path))
}

/// Returns the path of a folder below its root, as it is on the disk, with a slash before it.
pub(crate) fn disk_name(folder: &FolderRow) -> String {
    format!("/{}", String::from_utf8_lossy(&folder.path))
}

/// Returns where a folder is.
pub(super) fn folder_path(roots: &[Root], folder: &FolderRow) -> PathBuf {
    let root = roots.iter().find(|root| root.name == folder.root);
    mail::join(root.map_or(Path::new(""), |root| &root.path), &folder.path)
}
