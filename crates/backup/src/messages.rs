//! The messages of one directory: each looked at, its content known or read and saved.
//!
//! In: what the index and the last backup know of a directory's files. Out: entries of a tree, and what is to be known next time. Files that
//! were renamed meanwhile are found again by their unique part, others that are gone are left out with a line. Work is spread
//! over all cores; in memory is a file shorter than a piece for each of them.

use crate::compare::{IndexRow, Row, Verdict, judge};
use crate::depot::Depot;
use crate::entry::{Content, Entry, PIECE_BYTES_MIN, Stat};
use crate::error::{Error, Problem, Result};
use crate::known::{Known, KnownDirectory, KnownNode};
use crate::read::{ReadFile, read};
use archive::{Id, Progress};
use rayon::prelude::*;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files that a thread looks at in a row.
const LOOK_COUNT: usize = 128;

/// A file that should be in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Its name.
    pub name: Vec<u8>,
    /// What the index knows of it; nothing of a file that is no message.
    pub index: Option<IndexRow>,
}

/// What all directories share.
pub(crate) struct Source<'a> {
    /// Where content goes.
    pub depot: &'a dyn Depot,
    /// What the last backup knows.
    pub known: Option<&'a Known>,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

/// What became of a directory's files.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Its files in the order of their names.
    pub entries: Vec<Entry>,
    /// What is to be known of them.
    pub nodes: Vec<KnownNode>,
    /// The pieces of contents that were cut.
    pub pieces: Vec<([u8; 32], Vec<Id>)>,
    /// Messages in compressed files, each with the content of its file.
    pub compressed: Vec<([u8; 32], [u8; 32])>,
    /// Files that the last snapshot had with the same content under the same name.
    pub unchanged_count: u64,
    /// Files that it had with another content, or of which something else changed.
    pub changed_count: u64,
    /// Files that it did not have under this name.
    pub new_count: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files that were renamed into the folder's other directory.
    pub elsewhere: Vec<Expected>,
    /// What was left out.
    pub problems: Vec<Problem>,
}

/// A file that is there.
struct Present {
    expected: Expected,
    stat: Stat,
    verdict: Verdict,
    has_row: bool,
}

/// Where files are looked for that are not where they should be.
pub(crate) struct Whereabouts<'a> {
    /// The directory.
    pub here: &'a Path,
    /// The folder's other directory with messages, if it is stored later.
    pub other: Option<&'a Path>,
}

/// Stores the files of a directory. `expected` is in the order of names.
///
/// # Errors
/// What the archive says, the directory cannot be opened, [`Error::Interrupted`]. What a single file says is a problem.
pub(crate) fn store(
    source: &Source<'_>,
    places: &Whereabouts<'_>,
    expected: Vec<Expected>,
    before: &KnownDirectory,
) -> Result<Stored> {
    let mut stored = Stored::default();
    let directory = open(places.here)?;
    let present = find(source, (&directory, places), expected, (before, &mut stored))?;
    let contents = contents(source, places.here, &present, &mut stored)?;
    for (file, content) in present.into_iter().zip(contents) {
        let Some((stat, sha256, pieces)) = content else { continue };
        let is_same = matches!(file.verdict, Verdict::Same(known) if known == sha256);
        let node = KnownNode::new(&file.expected.name, &stat, sha256);
        match (file.has_row, is_same && is_as_before(before, &node)) {
            (_, true) => stored.unchanged_count += 1,
            (true, false) => stored.changed_count += 1,
            (false, false) => stored.new_count += 1,
        }
        stored.bytes += stat.size_bytes;
        if stat.size_bytes >= PIECE_BYTES_MIN {
            stored.pieces.push((sha256, pieces.clone()));
        }
        if let Some(message) = compressed_message(&file.expected, &node) {
            stored.compressed.push((message, sha256));
        }
        stored.nodes.push(node);
        stored.entries.push(Entry { name: file.expected.name, stat, content: Content::File(pieces) });
    }
    Ok(stored)
}

/// Returns the message that the index knows in a file which has another content: a compressed one.
fn compressed_message(expected: &Expected, node: &KnownNode) -> Option<[u8; 32]> {
    let Row { inode, size_bytes, mtime_ns, content, .. } = expected.index?.row;
    let is_it = (inode, size_bytes, mtime_ns) == (node.row.inode, node.row.size_bytes, node.row.mtime_ns);
    (is_it && content != node.row.content).then_some(content)
}

fn is_as_before(before: &KnownDirectory, node: &KnownNode) -> bool {
    before
        .nodes
        .binary_search_by(|known| known.name.cmp(&node.name))
        .is_ok_and(|place| before.nodes.get(place) == Some(node))
}

/// Opens a directory.
pub(crate) fn open(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|error| Error::Io {
        action: "open",
        path: path.to_owned(),
        source: error.into(),
    })
}

/// Looks at all files, finds again those that were renamed, and judges each.
fn find(
    source: &Source<'_>,
    (directory, places): (&OwnedFd, &Whereabouts<'_>),
    expected: Vec<Expected>,
    (before, stored): (&KnownDirectory, &mut Stored),
) -> Result<Vec<Present>> {
    let looks = look_all(directory, &expected);
    let mut there: Vec<(Expected, Stat)> = Vec::with_capacity(expected.len());
    let mut lost = Vec::new();
    for (expected, look) in expected.into_iter().zip(looks) {
        let path = || mail::join(places.here, &expected.name);
        match look {
            Ok(stat) if stat.is_file() => {
                there.push((expected, stat));
            }
            Ok(_) => {
                stored.problems.push(Problem { path: path(), what: "it is no file any more".to_owned() });
            }
            Err(rustix::io::Errno::NOENT) => lost.push(expected),
            Err(error) => {
                stored.problems.push(Problem { path: path(), what: std::io::Error::from(error).to_string() });
            }
        }
    }
    if !lost.is_empty() {
        find_again((directory, places), lost, (&mut there, stored));
        // Sorting is stable: of two with one name the one that was expected comes first, and stays.
        there.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        there.dedup_by(|(a, _), (b, _)| a.name == b.name);
    }
    let mut present = Vec::with_capacity(there.len());
    for (expected, stat) in there {
        let place = before.nodes.binary_search_by(|known| known.name.cmp(&expected.name)).ok();
        let row: Option<&Row> = place.and_then(|place| before.nodes.get(place)).map(|node| &node.row);
        let mut failure = None;
        let moved = || {
            let unique = mail::parse_name(&expected.name).unique;
            let found = source.known.map(|known| known.same_file(unique, stat.inode)).transpose();
            found.map(Option::flatten).unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        };
        let verdict = judge(&stat, row, moved, expected.index.as_ref());
        failure.map_or(Ok(()), Err)?;
        present.push(Present { has_row: row.is_some(), expected, stat, verdict });
    }
    Ok(present)
}

fn look_all(directory: &OwnedFd, expected: &[Expected]) -> Vec<rustix::io::Result<Stat>> {
    let look = |file: &Expected| {
        let name = OsStr::from_bytes(&file.name);
        rustix::fs::statat(directory, name, AtFlags::empty()).map(Stat::from)
    };
    expected.par_iter().with_min_len(LOOK_COUNT).map(look).collect()
}

/// Looks for files under other names with the same unique part.
fn find_again(
    (directory, places): (&OwnedFd, &Whereabouts<'_>),
    lost: Vec<Expected>,
    (there, stored): (&mut Vec<(Expected, Stat)>, &mut Stored),
) {
    let here = names_by_unique_part(places.here);
    let other = places.other.map(names_by_unique_part).unwrap_or_default();
    for expected in lost {
        let unique = mail::parse_name(&expected.name).unique.to_vec();
        if let Some(name) = here.get(&unique) {
            if let Ok(stat) =
                rustix::fs::statat(directory, OsStr::from_bytes(name), AtFlags::empty()).map(Stat::from)
                && stat.is_file()
            {
                // The index read it under its old name: what it knows holds but for ctime, which a rename changes.
                let index = expected.index.map(|index| renamed(index, &stat));
                there.push((Expected { name: name.clone(), index }, stat));
                continue;
            }
        } else if let Some(name) = other.get(&unique) {
            stored.elsewhere.push(Expected { name: name.clone(), index: expected.index });
            continue;
        }
        let path = mail::join(places.here, &expected.name);
        stored
            .problems
            .push(Problem { path, what: "it went away, and is in no snapshot made now".to_owned() });
    }
}

/// Returns what the index would know of a file under its new name.
fn renamed(index: IndexRow, stat: &Stat) -> IndexRow {
    let row = index.row;
    let is_it = (row.inode, row.size_bytes, row.mtime_ns) == (stat.inode, stat.size_bytes, stat.mtime_ns);
    if is_it { IndexRow { row: Row { ctime_ns: stat.ctime_ns, ..row }, ..index } } else { index }
}

fn names_by_unique_part(directory: &Path) -> HashMap<Vec<u8>, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(directory) else { return HashMap::new() };
    let names = entries.flatten().map(|entry| entry.file_name().as_bytes().to_vec());
    names.map(|name| (mail::parse_name(&name).unique.to_vec(), name)).collect()
}

/// A file's stat, the SHA-256 of its content and its pieces.
type Contents = Option<(Stat, [u8; 32], Vec<Id>)>;

/// Returns the content of each file, saved if it is new; none of those that cannot be read.
fn contents(
    source: &Source<'_>,
    directory: &Path,
    present: &[Present],
    stored: &mut Stored,
) -> Result<Vec<Contents>> {
    let mut contents = known_contents(source, present)?;
    let wanted: Vec<usize> = contents
        .iter()
        .enumerate()
        .filter(|(_, content)| content.is_none())
        .map(|(place, _)| place)
        .collect();
    let is_known = (present.len() - wanted.len()) as u64;
    source.progress.add(is_known, 0);
    let results: Vec<Result<ReadFile>> = wanted
        .par_iter()
        .map(|place| {
            source.progress.check()?;
            let Present { expected, stat, verdict, .. } = &present[*place];
            let path = mail::join(directory, &expected.name);
            let foreseen = match verdict {
                Verdict::Same(sha256) | Verdict::Known(sha256) => Some((stat, *sha256)),
                Verdict::Read => None,
            };
            let read = read(source.depot, &path, foreseen)?;
            if let ReadFile::Whole(stat, ..) = &read {
                source.progress.add(1, stat.size_bytes);
            }
            Ok(read)
        })
        .collect();
    for (place, result) in wanted.into_iter().zip(results) {
        match result? {
            ReadFile::Whole(stat, sha256, pieces) => contents[place] = Some((stat, sha256, pieces)),
            ReadFile::Left(what) => {
                let path = mail::join(directory, &present[place].expected.name);
                stored.problems.push(Problem { path, what });
            }
        }
    }
    Ok(contents)
}

/// Returns the contents that are known and whose every piece is in the archive.
fn known_contents(source: &Source<'_>, present: &[Present]) -> Result<Vec<Contents>> {
    let mut contents = Vec::with_capacity(present.len());
    let mut asked = Vec::with_capacity(present.len());
    for file in present {
        let sha256 = match file.verdict {
            Verdict::Same(sha256) | Verdict::Known(sha256) => Some(sha256),
            Verdict::Read => None,
        };
        let pieces = match (sha256, source.known) {
            (None, _) => None,
            (Some(sha256), Some(known)) => known.pieces(sha256, file.stat.size_bytes)?,
            (Some(sha256), None) => {
                (file.stat.size_bytes > 0 && file.stat.size_bytes < PIECE_BYTES_MIN).then(|| vec![Id(sha256)])
            }
        };
        asked.extend(pieces.iter().flatten());
        contents.push(sha256.zip(pieces).map(|(sha256, pieces)| (file.stat, sha256, pieces)));
    }
    let mut has = source.depot.has_pieces(&asked)?.into_iter();
    for content in &mut contents {
        let count = content.as_ref().map_or(0, |(.., pieces)| pieces.len());
        // Each is asked of, whatever the one before said.
        if has.by_ref().take(count).filter(|has| !has).count() > 0 {
            *content = None;
        }
    }
    Ok(contents)
}
