//! Reads one directory and compares it with its rows.
//!
//! In: a folder, and which of its directories. Out: what came of it. A directory that cannot be read is unknown. Must not know the
//! other directories.

use crate::error::Result;
use crate::pass::compare::{Closer, Difference, Found, compare};
use crate::pass::known::{Known, NoRows};
use crate::pass::listing::Listing;
use crate::pass::scan::{Directory, Outcome, ScannedFolder};
use crate::pass::{Mode, Problem};
use crate::rows::{DirectoryState, FileRow, Place, file_key};
use mail::{FileStat, Fingerprint, ScanBuffer};
use std::path::Path;

/// Reads directories one after another with the same memory.
pub(super) struct Reader<'a> {
    mode: Mode,
    known: &'a Known,
    buffer: ScanBuffer,
    listing: Listing,
}

impl<'a> Reader<'a> {
    /// Takes the memory.
    pub(super) fn new(mode: Mode, known: &'a Known) -> Reader<'a> {
        Reader { mode, known, buffer: ScanBuffer::new(), listing: Listing::default() }
    }

    /// Reads `cur` or `new` of the folder that is the scan's number `index`.
    ///
    /// # Errors
    /// Damage in the store.
    pub(super) fn read(
        &mut self,
        folder: &ScannedFolder,
        index: usize,
        place: Place,
    ) -> Result<(Outcome, Vec<Problem>)> {
        let mut problems = Vec::new();
        let path = folder.path.join(place.name());
        let is_listed = folder.has[place.index()];
        if folder.is_there && is_listed && !folder.is_new && self.closer(folder) == Closer::Drafts {
            let stored = folder.row.directories[place.index()];
            if let Some(file_count) = self.glance(&path, &stored) {
                let mut directory = Directory { state: stored, file_count, ..Directory::default() };
                let difference = self.drafts(folder.row.number, (index, place))?;
                look_closer(&folder.path, difference, &mut directory);
                return Ok((Outcome::Read(Box::new(directory)), problems));
            }
        }
        let has_rows = || Ok::<bool, crate::Error>(self.known.count(folder.row.number, place)? > 0);
        let stamp = if folder.is_there && !is_listed && !folder.is_new && has_rows()? {
            let what = "is no directory any more; what is indexed of it stays".to_owned();
            return Ok((Outcome::Unknown, vec![Problem { path, what }]));
        } else if folder.is_there && is_listed {
            match self.list(&path, &mut problems) {
                Some(stamp) => stamp,
                None => return Ok((Outcome::Unknown, problems)),
            }
        } else {
            self.listing.clear();
            mail::Stamp::default()
        };
        let mut directory = Directory {
            state: DirectoryState { stamp, fingerprint: self.listing.fingerprint() },
            file_count: self.listing.len() as u64,
            ..Directory::default()
        };
        let stored = folder.row.directories[place.index()].fingerprint;
        let closer = self.closer(folder);
        let at = (index, place);
        let same = !folder.is_new && stored == directory.state.fingerprint;
        let difference = if same && closer == Closer::Drafts {
            self.drafts(folder.row.number, at)?
        } else if folder.is_new {
            compare(&self.listing, at, closer, &NoRows)?
        } else {
            compare(&self.listing, at, closer, &self.known.directory(folder.row.number, place)?)?
        };
        look_closer(&folder.path, difference, &mut directory);
        Ok((Outcome::Read(Box::new(directory)), problems))
    }

    fn closer(&self, folder: &ScannedFolder) -> Closer {
        if self.mode == Mode::Thorough || is_drafts_folder(&folder.row.path) {
            Closer::All
        } else {
            Closer::Drafts
        }
    }

    /// Reads the names of a directory that seems unchanged by its stamp, without keeping them: in a large one, memory for names costs as
    /// much as all else that is done about them. Returns how many files there are, with drafts alone in the listing; `None` if it is
    /// not unchanged after all, or cannot be read.
    fn glance(&mut self, path: &Path, stored: &DirectoryState) -> Option<u64> {
        let directory = mail::Directory::open(path).ok()?;
        if directory.stamp() != stored.stamp {
            return None;
        }
        self.listing.clear();
        let listing = &mut self.listing;
        let mut fingerprint = Fingerprint::default();
        let (mut file_count, mut is_unknown) = (0, false);
        let read = directory.read(&mut self.buffer, |entry| {
            if entry.name.starts_with(b".") {
                return;
            }
            match entry.is_message_file() {
                Ok(true) => {
                    fingerprint.add(mail::entry_hash(entry.name, entry.inode));
                    file_count += 1;
                    if mail::is_draft(entry.name) {
                        listing.push(entry.name, entry.inode);
                    }
                }
                Ok(false) => {}
                Err(_) => is_unknown = true,
            }
        });
        (read.is_ok() && !is_unknown && fingerprint == stored.fingerprint).then_some(file_count)
    }

    /// Fills the listing; `None` if the directory cannot be read.
    fn list(&mut self, path: &Path, problems: &mut Vec<Problem>) -> Option<mail::Stamp> {
        self.listing.clear();
        let listing = &mut self.listing;
        let mut unknown = None;
        let result = mail::read_directory(path, &mut self.buffer, |entry| match entry.is_message_file() {
            Ok(true) => listing.push(entry.name, entry.inode),
            Ok(false) => {}
            Err(error) => unknown = Some(error),
        });
        let result = unknown.map_or(result, Err);
        match result {
            Ok(stamp) => Some(stamp),
            Err(error) => {
                problems.push(Problem {
                    path: path.to_owned(),
                    what: format!("{error}; what is indexed of it stays"),
                });
                None
            }
        }
    }

    /// An unchanged directory: only drafts are looked at.
    fn drafts(&self, folder: u32, at: (usize, Place)) -> Result<Difference> {
        let mut difference = Difference::default();
        for entry in self.listing.entries() {
            let name = self.listing.name(entry);
            if mail::is_draft(name)
                && let Some(row) = self.known.file(&file_key(folder, at.1, name))?
            {
                let found = Found { folder: at.0, place: at.1, name: name.to_vec(), inode: entry.inode };
                difference.to_stat.push((row, found));
            }
        }
        Ok(difference)
    }
}

/// Says whether a folder is one where programs rewrite files in place.
pub(super) fn is_drafts_folder(path: &[u8]) -> bool {
    let last = path.rsplit(|byte| matches!(byte, b'/' | b'.')).next().unwrap_or_default();
    last.eq_ignore_ascii_case(b"drafts") || last.eq_ignore_ascii_case(b"draft")
}

/// Looks at the files whose rows may be outdated.
fn look_closer(folder: &Path, difference: Difference, directory: &mut Directory) {
    directory.added = difference.added;
    directory.gone = difference.gone;
    for (row, found) in difference.other_inode {
        match stat(folder, &found) {
            Some(stat) if stat.size_bytes == row.size_bytes && stat.mtime_ns == row.mtime_ns => {
                directory.restated.push((row, found, stat));
            }
            Some(_) => directory.suspect.push((row, found)),
            None => {}
        }
    }
    directory.suspect.extend(changed_in_place(folder, difference.to_stat));
}

/// Returns those rows whose file has another size or other times now.
pub(super) fn changed_in_place(
    folder: &Path,
    rows: impl IntoIterator<Item = (FileRow, Found)>,
) -> impl Iterator<Item = (FileRow, Found)> {
    rows.into_iter().filter(move |(row, found)| stat(folder, found).is_some_and(|stat| !row.has_stat(&stat)))
}

/// Asks for a file's size and times. One that is gone meanwhile is left to the next pass.
fn stat(folder: &Path, found: &Found) -> Option<FileStat> {
    mail::stat_file(&mail::join(&folder.join(found.place.name()), &found.name)).ok()
}
