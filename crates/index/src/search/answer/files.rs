//! Leaves that `files` and `folders` answer: flags, keywords, folders, paths, times of change.
//!
//! Input: flags and patterns. Output: message numbers, added to a set without their copies. A message has a
//! flag if any of its files has it, and is unread if any of them is not seen.

use crate::error::{Error, Result};
use crate::rows::{FolderRow, Subdirectory};
use crate::search::answer::pattern::{self, Spelling, Wanted};
use crate::search::answer::values;
use crate::search::commit::FileFlag;
use crate::search::mailbox::{FoundFile, Mailbox, disk_name, folder_names, folder_path};
use crate::set::NumberSet;
use crate::tables::files;
use crate::user::MUTED;
use mail::Flags;
use query::fields::{Field, FieldSet};
use query::fold::fold;
use query::{FlagName, Leaf, Matcher, Pattern, Query, Target};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use store::Value;

/// Adds messages with a flag, either of one of their files or of their content.
pub(super) fn flag(mailbox: &Mailbox, flag: FlagName, found: &mut NumberSet) -> Result<()> {
    if flag == FlagName::Personal {
        found.or(mailbox.personal()?);
        return Ok(());
    }
    if flag == FlagName::Muted {
        found.or(&mailbox.with_user_tag(MUTED)?);
        return Ok(());
    }
    if let Some(derived) = values::derived_flag(flag) {
        return values::derived(mailbox, derived, found);
    }
    let wanted = match flag {
        FlagName::Draft => FileFlag::Has(Flags::DRAFT),
        FlagName::Flagged => FileFlag::Has(Flags::FLAGGED),
        FlagName::Passed => FileFlag::Has(Flags::PASSED),
        FlagName::Replied => FileFlag::Has(Flags::REPLIED),
        FlagName::Seen => FileFlag::Has(Flags::SEEN),
        FlagName::Trashed => FileFlag::Has(Flags::TRASHED),
        FlagName::New => FileFlag::Has(Flags::NEW),
        _ => FileFlag::Unread,
    };
    mailbox.add_flagged(wanted, found)
}

/// Adds messages with a file that changed in this range of seconds, inclusive.
pub(super) fn changed(
    mailbox: &Mailbox,
    range: (Option<i64>, Option<i64>),
    found: &mut NumberSet,
) -> Result<()> {
    let (from, to) = (range.0.unwrap_or(i64::MIN), range.1.unwrap_or(i64::MAX));
    for part in mailbox.file_table().parts() {
        let times = part.i64s(files::CTIME, 0..part.row_count())?;
        let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
        for (_, (time, number)) in part.live_values(times.iter().zip(numbers.iter())) {
            if (from..=to).contains(&time.div_euclid(1_000_000_000)) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Adds messages with a file that has a wanted keyword.
pub(super) fn keyword(mailbox: &Mailbox, wanted: &Wanted, found: &mut NumberSet) -> Result<()> {
    let letters: HashMap<u32, u32> =
        mailbox.folders().iter().map(|folder| (folder.number, keyword_letters(folder, wanted))).collect();
    for part in mailbox.file_table().parts() {
        let rows = 0..part.row_count();
        let keywords = part.u32s(files::KEYWORDS, rows.clone())?;
        let folders = part.u32s(files::FOLDER, rows.clone())?;
        let numbers = part.u32s(files::MESSAGE, rows.clone())?;
        for (_, ((keywords, folder), number)) in
            part.live_values(keywords.iter().zip(folders.iter()).zip(numbers.iter()))
        {
            // Few files have keywords.
            if *keywords != 0 && letters.get(folder).is_some_and(|letters| keywords & letters != 0) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Returns the letters, as bits, of the wanted keywords in a folder. A letter without a name there is its own
/// name.
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

/// The folders that a leaf means.
#[derive(Clone, Debug)]
pub(super) enum WantedFolders {
    /// Those whose names are wanted.
    Named(Wanted),
    /// Those that have a role.
    At(Vec<PathBuf>),
}

impl WantedFolders {
    /// Returns the folders that a leaf with `maildir:` means.
    ///
    /// # Errors
    /// A pattern that cannot be searched; a role that is none.
    pub(super) fn new(mailbox: &Mailbox, leaf: &Leaf) -> Result<WantedFolders> {
        if let (Matcher::Value(Pattern::Whole(name)), Some(roles)) = (&leaf.matcher, &mailbox.meaning().roles)
            && name.starts_with(':')
        {
            let wrong = |what| Error::Query { span: leaf.span.clone(), what, remedy: None };
            let paths = roles(&mailbox.folder_places(), mailbox.roots(), name).map_err(wrong)?;
            return Ok(WantedFolders::At(paths));
        }
        let is_known = |name: &str| is_folder(mailbox, name);
        Ok(WantedFolders::Named(pattern::wanted(leaf, Spelling::Folded, is_known)?))
    }

    fn holds(&self, mailbox: &Mailbox, folder: &FolderRow) -> bool {
        match self {
            WantedFolders::Named(wanted) => folder_names(folder).iter().any(|name| is_wanted(wanted, name)),
            WantedFolders::At(paths) => paths.contains(&folder_path(mailbox.roots(), folder)),
        }
    }
}

/// Adds messages with a file in a wanted folder.
pub(super) fn maildir(mailbox: &Mailbox, wanted: &WantedFolders, found: &mut NumberSet) -> Result<()> {
    for folder in mailbox.folders() {
        mailbox.check_cancelled()?;
        if wanted.holds(mailbox, folder) {
            folder_files(mailbox, folder, None, found)?;
        }
    }
    Ok(())
}

/// Which files of a message a query means.
#[derive(Debug)]
enum Meant {
    /// The query says nothing of files.
    Any,
    /// Those in these folders.
    In(HashSet<PathBuf>),
    /// Those for which all of these hold.
    All(Vec<Meant>),
    /// Those for which any of these holds.
    Either(Vec<Meant>),
    /// The others.
    Not(Box<Meant>),
}

impl Meant {
    /// Returns whether files in a folder are meant; `None` if this says nothing of them.
    fn holds(&self, folder: &Path) -> Option<bool> {
        match self {
            Meant::Any => None,
            Meant::In(folders) => Some(folders.contains(folder)),
            Meant::All(parts) => {
                let known: Vec<bool> = parts.iter().filter_map(|part| part.holds(folder)).collect();
                (!known.is_empty()).then(|| !known.contains(&false))
            }
            Meant::Either(parts) => {
                let known: Vec<Option<bool>> = parts.iter().map(|part| part.holds(folder)).collect();
                match known.contains(&Some(true)) {
                    true => Some(true),
                    false if known.contains(&None) => None,
                    false => Some(false),
                }
            }
            Meant::Not(part) => part.holds(folder).map(|holds| !holds),
        }
    }
}

impl Mailbox {
    /// Keeps those files that a query means: if its `maildir:` terms say in which folders a file must be for
    /// its message to match, only files in these. `maildir:/a or maildir:/b` means files in both,
    /// `maildir:/a or from:ana` says nothing of files.
    ///
    /// # Errors
    /// A pattern that cannot be searched.
    pub fn retain_meant(&self, query: &Query, files: &mut Vec<FoundFile>) -> Result<()> {
        let meant = self.meant(query)?;
        files.retain(|file| meant.holds(&file.folder) != Some(false));
        Ok(())
    }

    fn meant(&self, query: &Query) -> Result<Meant> {
        let all = |queries: &[Query]| queries.iter().map(|query| self.meant(query)).collect::<Result<_>>();
        Ok(match query {
            Query::All | Query::Xor(_) => Meant::Any,
            Query::And(queries) => Meant::All(all(queries)?),
            Query::Or(queries) => Meant::Either(all(queries)?),
            Query::Not(query) => Meant::Not(Box::new(self.meant(query)?)),
            Query::Leaf(leaf) if leaf.target == Target::Fields(FieldSet::of(Field::Maildir)) => {
                let wanted = WantedFolders::new(self, leaf)?;
                let rows = self.folders().iter().filter(|row| wanted.holds(self, row));
                Meant::In(rows.map(|row| folder_path(self.roots(), row)).collect())
            }
            Query::Leaf(_) => Meant::Any,
        })
    }
}

/// Tests a name. Regular expressions see it unchanged and ignore case; all other patterns see it folded.
fn is_wanted(wanted: &Wanted, name: &str) -> bool {
    if wanted.is_regex() { wanted.is_match(name.as_bytes()) } else { wanted.is_match(fold(name).as_bytes()) }
}

/// Adds messages with a file whose path is wanted.
pub(super) fn paths(mailbox: &Mailbox, wanted: &Wanted, found: &mut NumberSet) -> Result<()> {
    for part in mailbox.file_table().parts() {
        for row in part.live_rows() {
            mailbox.check_cancelled()?;
            let Some(file) = mailbox.message_file(part, row)? else { continue };
            if is_wanted(wanted, &file.path.to_string_lossy()) {
                found.insert(part.u32_at(files::MESSAGE, row)?);
            }
        }
    }
    Ok(())
}

/// Adds messages with a file below a directory.
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
        for subdirectory in Subdirectory::ALL {
            let subdirectory_name = format!("{}/{}", name.trim_end_matches('/'), subdirectory.name());
            if is_below(&directory.join(subdirectory.name()), &subdirectory_name) {
                folder_files(mailbox, folder, Some(subdirectory), found)?;
            }
        }
    }
    Ok(())
}

/// Adds messages at a path: of a file, of a folder, or of a folder's `cur` or `new`.
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
            for subdirectory in Subdirectory::ALL {
                if name.join(subdirectory.name()) == Path::new(path) {
                    folder_files(mailbox, folder, Some(subdirectory), found)?;
                }
            }
        }
    }
    Ok(())
}

/// Adds messages with a file in a folder.
pub(in crate::search) fn folder_files(
    mailbox: &Mailbox,
    folder: &FolderRow,
    subdirectory: Option<Subdirectory>,
    found: &mut NumberSet,
) -> Result<()> {
    let mut key = vec![Value::U32(folder.number)];
    key.extend(subdirectory.map(|subdirectory| Value::U8(subdirectory.number())));
    for part in mailbox.file_table().parts() {
        // Rows of a folder are contiguous, so their column is read once, not row by row.
        let rows: Vec<u32> = part.primary_range(&key)?.collect();
        let (Some(first), Some(last)) = (rows.iter().min(), rows.iter().max()) else { continue };
        let messages = part.u32s(files::MESSAGE, *first..last + 1)?;
        for row in &rows {
            found.insert(messages[(row - first) as usize]);
        }
    }
    Ok(())
}

/// Returns whether any folder has this folded name.
fn is_folder(mailbox: &Mailbox, folded: &str) -> bool {
    mailbox.folders().iter().flat_map(folder_names).any(|name| fold(&name) == folded)
}
