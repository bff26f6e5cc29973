//! The directories of a snapshot, and what is stored of each.
//!
//! Input: roots and folders. Output: all directories, sorted by path. Pure: does not read the disk.

use crate::paths::{child, plain};
use index::Subdirectory;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// What is stored of a directory, besides subdirectories that are stored themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Directory {
    /// The messages of this folder, by its index in the list of folders.
    pub messages: Option<(usize, Subdirectory)>,
    /// Whether files that are no messages are stored.
    pub has_extras: bool,
    /// Whether it may be missing without a word.
    pub is_optional: bool,
    /// How many bytes of its path are that of the root; none above roots. Of roots in each other the outer
    /// one counts.
    pub root_bytes: Option<usize>,
}

/// All directories by path, without a trailing slash; empty for the top. The path of anything below a
/// directory is longer and begins with the directory's path.
pub(crate) type Layout = BTreeMap<Vec<u8>, Directory>;

/// A folder: its path below its root, and its directory.
pub(crate) type Folder<'a> = (&'a [u8], &'a Path);

/// Returns all directories of these folders, and the indexes of folders that are left out because their path
/// is not a plain absolute one.
pub(crate) fn layout(folders: &[Folder<'_>]) -> (Layout, Vec<usize>) {
    let (mut layout, mut refused) = (Layout::new(), Vec::new());
    layout.insert(Vec::new(), Directory::default());
    for (number, (below_root, directory)) in folders.iter().enumerate() {
        let Some(path) = plain(directory) else {
            refused.push(number);
            continue;
        };
        // The root is as many names above the folder as the folder's path below it has.
        let depth = path.iter().filter(|byte| **byte == b'/').count();
        let below = below_root.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count();
        let root_bytes =
            (0..=path.len()).rev().filter(|end| is_end(&path, *end)).nth(below).unwrap_or(path.len());
        for (count, end) in (1..).zip(ends(&path)) {
            let directory = layout.entry(path.get(..end).unwrap_or_default().to_vec()).or_default();
            if count + below >= depth {
                directory.has_extras = true;
                directory.add_root(root_bytes);
            }
        }
        for subdirectory in Subdirectory::ALL {
            let directory = layout.entry(child(&path, subdirectory.name().as_bytes())).or_default();
            directory.messages = Some((number, subdirectory));
            directory.add_root(root_bytes);
        }
        let temporary = layout.entry(child(&path, b"tmp")).or_default();
        temporary.is_optional = true;
    }
    (layout, refused)
}

/// Returns the folders whose directories with messages hold no other directories: the directories of each,
/// `new` before `cur`.
pub(crate) fn folders_without_directories(layout: &Layout) -> Vec<Vec<(&Vec<u8>, &Directory)>> {
    let mut folders: BTreeMap<usize, Vec<(&Vec<u8>, &Directory)>> = BTreeMap::new();
    for (path, directory) in layout.iter().rev() {
        if let Some((number, _)) = directory.messages {
            folders.entry(number).or_default().push((path, directory));
        }
    }
    let holds_none = |path: &&Vec<u8>| {
        let below = child(path, b"");
        layout.range(below.clone()..).next().is_none_or(|(next, _)| !next.starts_with(&below))
    };
    folders.into_values().filter(|folder| folder.iter().map(|(path, _)| path).all(holds_none)).collect()
}

/// Returns the directories that are not `done`, those of equal depth together, the deepest first: the entries
/// of a directory come before it.
pub(crate) fn levels<'a>(
    layout: &'a Layout,
    done: &HashSet<Vec<u8>>,
) -> Vec<Vec<(&'a Vec<u8>, &'a Directory)>> {
    let mut levels: BTreeMap<usize, Vec<(&Vec<u8>, &Directory)>> = BTreeMap::new();
    for (path, directory) in layout.iter().rev().filter(|(path, _)| !done.contains(*path)) {
        let depth = path.iter().filter(|byte| **byte == b'/').count();
        levels.entry(depth).or_default().push((path, directory));
    }
    levels.into_values().rev().collect()
}

impl Directory {
    fn add_root(&mut self, bytes: usize) {
        self.root_bytes = Some(self.root_bytes.map_or(bytes, |other| other.min(bytes)));
    }

    /// Returns the root in the path of this directory; the path itself above roots.
    pub(crate) fn root<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        self.root_bytes.and_then(|bytes| path.get(..bytes)).unwrap_or(path)
    }
}

fn is_end(path: &[u8], end: usize) -> bool {
    matches!(path.get(end), None | Some(b'/'))
}

/// Returns where the names of a path end.
fn ends(path: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let slashes = path.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/').map(|(index, _)| index);
    slashes.chain((!path.is_empty()).then_some(path.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn show(folders: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<PathBuf> =
            folders.iter().map(|(root, path)| mail::join(Path::new(root), path.as_bytes())).collect();
        let folders: Vec<Folder<'_>> = folders
            .iter()
            .zip(&paths)
            .map(|((_, path), directory)| (path.as_bytes(), directory.as_path()))
            .collect();
        let (layout, refused) = layout(&folders);
        let show = |(path, directory): (&Vec<u8>, &Directory)| {
            let messages = directory
                .messages
                .map_or(String::new(), |(folder, subdirectory)| format!(" {folder}{}", subdirectory.name()));
            let extras = if directory.has_extras { " extras" } else { "" };
            format!("{}{messages}{extras}", String::from_utf8_lossy(path))
        };
        layout.iter().map(show).chain(refused.iter().map(|folder| format!("refused {folder}"))).collect()
    }

    #[test]
    fn levels_begin_with_the_deepest_and_leave_out_what_is_done() {
        let paths: Vec<PathBuf> = ["/m", "/m/a/b", "/m/z"].map(PathBuf::from).to_vec();
        let folders: Vec<Folder<'_>> =
            [&b""[..], b"a/b", b"z"].into_iter().zip(paths.iter().map(PathBuf::as_path)).collect();
        let (layout, _) = layout(&folders);
        let done =
            HashSet::from(["/m/a/b/cur", "/m/a/b/new", "/m/z/new"].map(|path| path.as_bytes().to_vec()));
        let shown: Vec<Vec<String>> = levels(&layout, &done)
            .into_iter()
            .map(|level| {
                level.into_iter().map(|(path, _)| String::from_utf8_lossy(path).into_owned()).collect()
            })
            .collect();
        assert_eq!(
            shown,
            [
                vec!["/m/a/b/tmp"],
                vec!["/m/z/tmp", "/m/z/cur", "/m/a/b"],
                vec!["/m/z", "/m/tmp", "/m/new", "/m/cur", "/m/a"],
                vec!["/m"],
                vec![""],
            ]
        );
    }

    #[test]
    fn directories_on_the_way_are_there_and_those_below_the_root_with_extras() {
        assert_eq!(
            show(&[
                ("/home/ana/Mail", ""),
                ("/home/ana/Mail", "lists/rust"),
                ("relative", "x"),
                ("/a/../b", "")
            ]),
            [
                "",
                "/home",
                "/home/ana",
                "/home/ana/Mail extras",
                "/home/ana/Mail/cur 0cur",
                "/home/ana/Mail/lists extras",
                "/home/ana/Mail/lists/rust extras",
                "/home/ana/Mail/lists/rust/cur 1cur",
                "/home/ana/Mail/lists/rust/new 1new",
                "/home/ana/Mail/lists/rust/tmp",
                "/home/ana/Mail/new 0new",
                "/home/ana/Mail/tmp",
                "refused 2",
                "refused 3",
            ]
        );
    }
}
