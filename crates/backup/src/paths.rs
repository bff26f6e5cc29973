//! Paths in snapshots, and paths of folders.
//!
//! A path in a snapshot is the absolute path as bytes, without a slash at the end: `/home/ana/Mail`. The top
//! is the empty path. Pure: reads no disk.

use index::Subdirectory;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Returns the root of a folder.
pub(crate) fn root_of<'a>(below_root: &[u8], directory: &'a Path) -> Option<&'a Path> {
    let count = below_root.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count();
    directory.ancestors().nth(count)
}

/// Returns the path of an entry in a directory.
pub(crate) fn child(directory: &[u8], name: &[u8]) -> Vec<u8> {
    [directory, b"/", name].concat()
}

/// Cuts a path into the directory and the name in it; `None` for the top.
pub(crate) fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    Some((path.get(..slash)?, path.get(slash + 1..)?))
}

/// Returns an absolute path as bytes, without a trailing slash, if all its components are plain names.
pub(crate) fn plain(path: &Path) -> Option<Vec<u8>> {
    let mut components = path.components();
    if components.next() != Some(Component::RootDir) {
        return None;
    }
    let mut bytes = Vec::new();
    for component in components {
        let Component::Normal(name) = component else { return None };
        bytes.push(b'/');
        bytes.extend_from_slice(name.as_bytes());
    }
    Some(bytes)
}

/// Returns the folder of a directory that holds messages, and whether it is `cur` or `new`.
pub(crate) fn message_place(directory: &[u8]) -> Option<(&[u8], Subdirectory)> {
    let (folder, name) = split(directory)?;
    Subdirectory::ALL
        .into_iter()
        .find(|subdirectory| subdirectory.name().as_bytes() == name)
        .map(|subdirectory| (folder, subdirectory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_at_their_last_slash() {
        assert_eq!(split(b"/a/b"), Some((&b"/a"[..], &b"b"[..])));
        assert_eq!(split(b"/a"), Some((&b""[..], &b"a"[..])));
        assert_eq!(split(b""), None);
        assert_eq!(plain(Path::new("/")), Some(Vec::new()));
    }
}
