//! Stores the files of one directory: looks at each, and reads those whose content is not known.
//!
//! Input: what is stored of the directory, and the directory in the cache. Output: the files with their
//! pieces in the repository, and how they differ from the cache. If nothing differs, no list of files is
//! made. Files that were renamed meanwhile are found by their unique part; others that are gone are reported.
//! Work is spread over all cores. Each thread holds at most one file that is shorter than a piece in memory.

use crate::blobs::entry::{ContentView, EntryView, PIECE_BYTES_MIN, Stat};
use crate::cache::{CachedDirectory, CachedFile, Difference, FileState};
use crate::error::{Problem, Result};
use crate::write::compare::{Verdict, judge};
use crate::write::context::{BackupContext, look, open};
use crate::write::expected::{self, Expected};
use crate::write::layout::Directory;
use crate::write::save_file::{Predicted, SavedFile, save_file};
use crate::write::seen::Seen;
use crate::write::unchanged::{Unchanged, unchanged};
use index::Inventory;
use mail::RootBoundary;
use rayon::prelude::*;
use restic::Id;
use rustix::fd::OwnedFd;
use rustix::fs::AtFlags;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files that one task of a thread looks at.
const LOOK_COUNT: usize = 128;

/// A directory whose files are stored, and where renamed files are searched.
pub(crate) struct FilesPlace<'a> {
    /// What is stored of the directory.
    pub directory: &'a Directory,
    /// Its path.
    pub here: &'a Path,
    /// Whether it holds directories that were stored.
    pub has_directories: bool,
    /// The folder's other directory with messages, if it is stored later.
    pub other: Option<&'a Path>,
    /// The root.
    pub root: &'a RootBoundary,
    /// What is known of the files that the cache has.
    pub seen: Option<&'a Seen>,
}

/// A file that is there.
pub(crate) struct PresentFile<'a> {
    expected: Expected<'a>,
    /// The file of the same name in the cache.
    known: Option<CachedFile<'a>>,
    stat: Stat,
    /// The SHA-256 of its content; zeros while it is not known.
    content: Id,
    state: State,
    /// Its pieces, if it is not just one, which has the name of the whole.
    pieces: Option<Vec<Id>>,
}

/// The remaining work for a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its content is in the repository, and the last backup has the file unchanged.
    Same,
    /// Its content is in the archive.
    Saved,
    /// It must be read. `content` is its expected content.
    Predicted,
    /// It must be read.
    Unread,
    /// It is not stored.
    Skipped,
}

/// The result of storing the files of a directory.
pub(crate) enum FilesOutcome<'a> {
    /// They are all as the last snapshot has them, and so is its tree.
    Unchanged(Unchanged),
    /// They were stored.
    Stored(StoredFiles<'a>),
}

/// The files of a directory after they were stored.
#[derive(Default)]
pub(crate) struct StoredFiles<'a> {
    /// Its files sorted by name.
    pub files: Vec<PresentFile<'a>>,
    /// How they differ from the cache.
    pub difference: Difference,
    /// The pieces of contents that were cut.
    pub pieces: Vec<([u8; 32], Vec<Id>)>,
    /// Messages in compressed files, each with the content of its file.
    pub compressed: Vec<([u8; 32], [u8; 32])>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files that were renamed into the folder's other directory.
    pub moved: Vec<Expected<'a>>,
    /// Files that were left out, with the reasons.
    pub problems: Vec<Problem>,
}

/// Stores the files of a directory: those that should be there, and `renamed` ones, which came into it
/// meanwhile.
///
/// # Errors
/// The repository or the index reports a failure, [`Interrupted`](crate::Error::Interrupted);
/// [`Io`](crate::Error::Io) and [`Mail`](crate::Error::Mail) if the directory cannot be read. An error of a
/// single file is a problem.
pub(crate) fn store_files<'a>(
    context: &BackupContext<'a>,
    inventory: &'a Inventory,
    place: &FilesPlace<'_>,
    renamed: Vec<Expected<'a>>,
    before: &CachedDirectory<'a>,
) -> Result<FilesOutcome<'a>> {
    let (directory, at) = (place.directory, (place.here, place.root));
    let messages = expected::messages(inventory, directory, at)?;
    let has_others = directory.has_extras || place.has_directories || !renamed.is_empty();
    if directory.messages.is_some()
        && !has_others
        && let Some(unchanged) = unchanged(context, place.here, &messages, (before, place.seen))?
    {
        return Ok(FilesOutcome::Unchanged(unchanged));
    }
    let expected = expected::all(messages, renamed, directory, at)?;
    let mut stored = StoredFiles::default();
    if !expected.is_empty() {
        store_expected(context, place, expected, (before, &mut stored))?;
    }
    Ok(FilesOutcome::Stored(stored))
}

/// Stores files and says how they differ from the cache. `expected` is sorted by name.
fn store_expected<'a>(
    context: &BackupContext<'a>,
    place: &FilesPlace<'_>,
    expected: Vec<Expected<'a>>,
    (before, stored): (&CachedDirectory<'a>, &mut StoredFiles<'a>),
) -> Result<()> {
    let directory = open(place.here)?;
    let (path, root, seen) = (place.here, place.root, place.seen);
    let open = OpenDirectory { context, directory: &directory, path, root, before, seen };
    let lost = open.store_files(expected, stored)?;
    if !lost.is_empty() {
        let (found, mut gone) = find_again(place, lost, stored);
        // Of two with one name the one that was expected under it stays; one that is renamed again is not
        // looked for again.
        let (named, taken): (Vec<Expected<'a>>, Vec<Expected<'a>>) =
            found.into_iter().partition(|file| stored.place_of(&file.name).is_err());
        gone.extend(open.store_files(named, stored)?);
        gone.extend(taken);
        stored.files.sort_by(|a, b| a.name().cmp(b.name()));
        stored.problems.extend(gone.into_iter().map(|file| {
            let path = mail::join(place.here, &file.name);
            Problem::new(path, "it was removed during the backup and is not in the new snapshot")
        }));
    }
    stored.sum_up(before)
}

impl PresentFile<'_> {
    /// Returns its name.
    pub(crate) fn name(&self) -> &[u8] {
        &self.expected.name
    }

    /// Returns whether progress counts it: the index knows how many of these files there are.
    fn is_counted(&self) -> bool {
        self.expected.listed.is_some()
    }

    /// Returns the file as an entry of a tree.
    pub(crate) fn entry(&self) -> EntryView<'_> {
        let pieces = self.pieces.as_deref().unwrap_or(std::slice::from_ref(&self.content));
        EntryView { name: self.name(), stat: &self.stat, content: ContentView::File(pieces) }
    }

    /// Returns the message that the index knows in the file, if that is another content than the file's: it
    /// is compressed.
    fn compressed_message(&self) -> Result<Option<[u8; 32]>> {
        // Whether it is must be known of each file, and its length is found without its row.
        match &self.expected.listed {
            Some(listed) if listed.message_bytes()? != self.stat.size_bytes => {}
            _ => return Ok(None),
        }
        let Some(index) = self.expected.of_index(&self.stat)? else { return Ok(None) };
        let (row, now) = (index.row, &self.stat);
        let is_it = (row.inode, row.size_bytes, row.mtime_ns) == (now.inode, now.size_bytes, now.mtime_ns);
        Ok((is_it && row.content != self.content.0).then_some(row.content))
    }
}

impl<'a> StoredFiles<'a> {
    fn place_of(&self, name: &[u8]) -> std::result::Result<usize, usize> {
        self.files.binary_search_by(|file| file.name().cmp(name))
    }

    /// Says what there is to say of all files.
    fn sum_up(&mut self, before: &CachedDirectory<'a>) -> Result<()> {
        let states = self.files.iter().map(|file| {
            let is_same = file.state == State::Same;
            (file.name(), &file.stat, file.content.0, is_same)
        });
        self.difference = Difference::of(before, states);
        for file in &self.files {
            self.bytes += file.stat.size_bytes;
            if let Some(pieces) = file.pieces.as_ref().filter(|_| file.stat.size_bytes >= PIECE_BYTES_MIN) {
                self.pieces.push((file.content.0, pieces.clone()));
            }
            if let Some(message) = file.compressed_message()? {
                self.compressed.push((message, file.content.0));
            }
        }
        Ok(())
    }
}

/// A directory that is open.
struct OpenDirectory<'a, 'p> {
    context: &'p BackupContext<'a>,
    directory: &'p OwnedFd,
    path: &'p Path,
    root: &'p RootBoundary,
    before: &'p CachedDirectory<'a>,
    seen: Option<&'p Seen>,
}

impl<'a> OpenDirectory<'a, '_> {
    /// Stores files and appends them to `stored`. Returns those that do not exist.
    fn store_files(
        &self,
        expected: Vec<Expected<'a>>,
        stored: &mut StoredFiles<'a>,
    ) -> Result<Vec<Expected<'a>>> {
        let mut lost = Vec::new();
        let mut present = self.look_at_all(expected, (&mut lost, stored))?;
        self.check_blobs(&mut present)?;
        self.read_others(&mut present, (&mut lost, stored))?;
        present.retain(|file| file.state != State::Skipped);
        if stored.files.is_empty() {
            stored.files = present;
        } else {
            stored.files.append(&mut present);
        }
        Ok(lost)
    }

    fn problem(&self, name: &[u8], what: String) -> Problem {
        Problem::new(mail::join(self.path, name), what)
    }

    /// Looks at a file, or at what a link leads to if that may be stored.
    fn look(&self, name: &[u8]) -> std::io::Result<Stat> {
        if let Some(stat) = look(self.directory, name)? {
            return Ok(stat);
        }
        let link = mail::join(self.path, name);
        let target = rustix::fs::statat(self.directory, OsStr::from_bytes(name), AtFlags::empty())?;
        if self.root.leads_to_message(&link)? {
            return Ok(Stat::from(target));
        }
        Err(std::io::Error::other("it is a link to a file outside the mail; it is not followed"))
    }

    /// Looks at a file unless it was seen before. `place` is that of its row.
    fn look_or_recall(&self, name: &[u8], place: Option<usize>) -> Result<std::io::Result<(Stat, State)>> {
        let known = place.and_then(|place| Some((place, self.before.files.get(place)?)));
        if let (Some((place, known)), Some(seen)) = (known, self.seen)
            && let Some(stat) = seen.stat(place, known)?
        {
            return Ok(Ok((stat, State::Same)));
        }
        match self.look(name) {
            Ok(stat) => {
                let is_same = known.map(|(_, known)| known.is_as(&stat)).transpose()? == Some(true);
                Ok(Ok((stat, if is_same { State::Same } else { State::Unread })))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Looks at all files and decides about each.
    fn look_at_all(
        &self,
        expected: Vec<Expected<'a>>,
        (lost, stored): (&mut Vec<Expected<'a>>, &mut StoredFiles<'a>),
    ) -> Result<Vec<PresentFile<'a>>> {
        let known = self.before.join(expected.iter().map(|file| &*file.name));
        let both = (&expected, &known);
        let looks: Vec<Result<std::io::Result<(Stat, State)>>> = both
            .into_par_iter()
            .with_min_len(LOOK_COUNT)
            .map(|(file, place)| self.look_or_recall(&file.name, *place))
            .collect();
        let mut present = Vec::with_capacity(expected.len());
        for ((expected, place), look) in expected.into_iter().zip(known).zip(looks) {
            let (stat, state) = match look? {
                Ok((stat, state)) if stat.is_file() => (stat, state),
                Ok(_) => {
                    stored.problems.push(self.problem(&expected.name, "it is no longer a file".to_owned()));
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    lost.push(expected);
                    continue;
                }
                Err(error) => {
                    stored.problems.push(self.problem(&expected.name, error.to_string()));
                    continue;
                }
            };
            let known = place.and_then(|place| self.before.files.get(place)).copied();
            let mut file = PresentFile { expected, known, stat, content: Id::default(), state, pieces: None };
            match &file.known {
                Some(known) if state == State::Same => file.content = Id(known.content()?),
                _ => self.judge(&mut file)?,
            }
            present.push(file);
        }
        Ok(present)
    }

    /// Decides about a file that differs from the cache.
    fn judge(&self, file: &mut PresentFile<'a>) -> Result<()> {
        let row = file.known.as_ref().map(CachedFile::row).transpose()?;
        let index = file.expected.of_index(&file.stat)?;
        let mut failure = None;
        let moved = || {
            self.other_name(&file.expected.name, file.stat.inode).unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        };
        let verdict = judge(&file.stat, row.as_ref(), moved, index.as_ref());
        failure.map_or(Ok(()), Err)?;
        (file.state, file.content) = match verdict {
            Verdict::Same(sha256) | Verdict::Known(sha256) => (State::Predicted, Id(sha256)),
            Verdict::Read => (State::Unread, Id::default()),
        };
        Ok(())
    }

    /// Returns the cached state of a file that has another name now. Most were renamed within their
    /// directory, and looking in others takes a table of all files.
    fn other_name(&self, name: &[u8], inode: u64) -> Result<Option<FileState>> {
        let unique = mail::parse_name(name).unique;
        match (self.before.same_file(unique, inode)?, self.context.cache) {
            (None, Some(cache)) => cache.same_file(unique, inode),
            (found, _) => Ok(found),
        }
    }

    /// Finds the files whose content is known and has every piece in the repository.
    fn check_blobs(&self, present: &mut [PresentFile<'a>]) -> Result<()> {
        let mut asked = Vec::with_capacity(present.len());
        let mut counts = Vec::with_capacity(present.len());
        for file in present.iter_mut().filter(|file| file.state != State::Unread) {
            let (content, size_bytes) = (file.content, file.stat.size_bytes);
            let is_one = (1..PIECE_BYTES_MIN).contains(&size_bytes);
            if !is_one {
                file.pieces = match (size_bytes, self.context.cache) {
                    (0, _) => Some(Vec::new()),
                    (_, Some(known)) => known.pieces(content.0, size_bytes)?,
                    (_, None) => None,
                };
            }
            let before = asked.len();
            match &file.pieces {
                Some(pieces) => asked.extend_from_slice(pieces),
                None if is_one => asked.push(content),
                None => {}
            }
            counts.push((asked.len() - before, is_one || file.pieces.is_some()));
        }
        let mut has = self.context.writer.has_pieces(&asked)?.into_iter();
        let files = present.iter_mut().filter(|file| file.state != State::Unread);
        let mut ready_count = 0;
        for (file, (count, is_known)) in files.zip(counts) {
            // The results for every piece must be consumed, even after a missing one.
            let missing_count = has.by_ref().take(count).filter(|has| !has).count();
            file.state = match (is_known && missing_count == 0, file.state) {
                (true, State::Same) => State::Same,
                (true, _) => State::Saved,
                (false, _) => State::Predicted,
            };
            ready_count += u64::from(file.state != State::Predicted && file.is_counted());
        }
        self.context.progress.add(ready_count, 0);
        Ok(())
    }

    /// Reads and saves the others.
    fn read_others(
        &self,
        present: &mut [PresentFile<'a>],
        (lost, stored): (&mut Vec<Expected<'a>>, &mut StoredFiles<'a>),
    ) -> Result<()> {
        let mut wanted: Vec<&mut PresentFile<'a>> = present
            .iter_mut()
            .filter(|file| matches!(file.state, State::Predicted | State::Unread))
            .collect();
        let progress = self.context.progress;
        let results: Vec<Result<SavedFile>> = wanted
            .par_iter()
            .map(|file| {
                progress.check()?;
                let predicted: Predicted<'_> =
                    (file.state == State::Predicted).then_some((&file.stat, file.content.0));
                let saved = save_file(self.context.writer, (self.directory, file.name()), predicted)?;
                if let SavedFile::Saved(stat, ..) = &saved {
                    progress.add(u64::from(file.is_counted()), stat.size_bytes);
                }
                Ok(saved)
            })
            .collect();
        for (file, result) in wanted.iter_mut().zip(results) {
            match result? {
                SavedFile::Saved(stat, sha256, pieces) => {
                    // The content may be the same as before; then the file is unchanged.
                    let was = file.known.as_ref().map(|known| known.holds(&stat, sha256)).transpose()?;
                    file.state = if was == Some(true) { State::Same } else { State::Saved };
                    (file.stat, file.content) = (stat, Id(sha256));
                    file.pieces = (pieces != [file.content]).then_some(pieces);
                }
                SavedFile::Skipped(what) => {
                    stored.problems.push(self.problem(file.name(), what));
                    file.state = State::Skipped;
                }
                SavedFile::Gone => {
                    lost.push(file.expected.clone());
                    file.state = State::Skipped;
                }
            }
        }
        Ok(())
    }
}

/// Looks for files under other names with the same unique part: returns those that are here, and those that
/// are nowhere.
fn find_again<'a>(
    place: &FilesPlace<'_>,
    lost: Vec<Expected<'a>>,
    stored: &mut StoredFiles<'a>,
) -> (Vec<Expected<'a>>, Vec<Expected<'a>>) {
    let names = |directory| mail::names_by_unique_part(directory).unwrap_or_default();
    let here = names(place.here);
    let other = place.other.map(names).unwrap_or_default();
    let (mut found, mut gone) = (Vec::new(), Vec::new());
    for expected in lost {
        let unique = mail::parse_name(&expected.name).unique;
        let renamed = |name: &Vec<u8>| Expected {
            name: Cow::Owned(name.clone()),
            listed: expected.listed,
            is_renamed: true,
        };
        if let Some(name) = here.get(unique).and_then(|names| names.last()) {
            found.push(renamed(name));
        } else if let Some(name) = other.get(unique).and_then(|names| names.last()) {
            stored.moved.push(renamed(name));
        } else {
            gone.push(expected);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found.dedup_by(|a, b| a.name == b.name);
    (found, gone)
}
