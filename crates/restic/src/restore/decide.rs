//! Decides what to do about one file, link, pipe or device.
//!
//! Input: the node, what exists at its path, and what the user wants. Output: a decision. Does not touch the
//! disk.

use super::options::Overwrite;
use super::target::UNFINISHED_FILE;
use crate::format::tree::{Node, NodeKind};
use rustix::fs::{FileType, Mode, Stat};

/// What to do with one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Create it; its name is free.
    Create,
    /// Create it and replace whatever has its name.
    Replace,
    /// Link it to the file of that entry.
    Link(usize),
    /// Keep what exists.
    Keep,
    /// It cannot be created, for this reason.
    Refuse(String),
    /// Skip it: its directory could not be created, which was reported.
    Leave,
}

impl Decision {
    /// Returns whether a file's content must be written.
    pub(super) fn has_content(&self) -> bool {
        matches!(self, Decision::Create | Decision::Replace)
    }
}

/// Decides for `node`, where `found` exists already.
pub(super) fn decide(node: &Node<'_>, found: Option<&Stat>, overwrite: Overwrite) -> Decision {
    match node.kind {
        // As in restic: the program that listens on a socket creates it, and it is of no use to others.
        NodeKind::Socket => return Decision::Leave,
        NodeKind::Irregular => return Decision::Refuse("its type is unknown".to_owned()),
        _ => {}
    }
    let Some(found) = found else { return Decision::Create };
    if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
        return Decision::Refuse("a directory with its name exists".to_owned());
    }
    if is_unfinished(found) {
        return Decision::Replace;
    }
    let found_time = (i128::from(found.st_mtime), i128::from(found.st_mtime_nsec));
    let time = (i128::from(node.modified.seconds()), i128::from(node.modified.nanoseconds()));
    match overwrite {
        Overwrite::Never => Decision::Keep,
        Overwrite::IfNewer if time <= found_time => Decision::Keep,
        Overwrite::IfNewer | Overwrite::Always => Decision::Replace,
    }
}

/// Returns whether a file is an incomplete one that a killed restore left.
fn is_unfinished(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
        && Mode::from_raw_mode(found.st_mode & 0o7777) == UNFINISHED_FILE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::time::Time;
    use Decision::{Create, Keep, Replace};

    /// What `stat` says of a temporary file or directory.
    fn found(path: &std::path::Path) -> Stat {
        rustix::fs::lstat(path).unwrap()
    }

    #[test]
    fn what_is_there_stays_or_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let file = found(&path);
        let node = |seconds| Node {
            modified: Time::new(seconds, u32::try_from(file.st_mtime_nsec).unwrap(), 0),
            ..Node::new(b"file", NodeKind::File)
        };
        for overwrite in [Overwrite::Never, Overwrite::IfNewer, Overwrite::Always] {
            assert_eq!(decide(&node(0), None, overwrite), Create);
            let refused = decide(&node(i64::MAX / 2), Some(&found(place.path())), overwrite);
            assert_eq!(refused, Decision::Refuse("a directory with its name exists".to_owned()));
        }
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o1600)).unwrap();
        let half = found(&path);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(decide(&node(0), Some(&half), Overwrite::Never), Replace, "left by a killed restore");
        let cases = [
            (Overwrite::Never, 1, Keep),
            (Overwrite::IfNewer, 1, Replace),
            (Overwrite::IfNewer, 0, Keep),
            (Overwrite::IfNewer, -1, Keep),
            (Overwrite::Always, -1, Replace),
        ];
        for (overwrite, later_by, expected) in cases {
            assert_eq!(decide(&node(file.st_mtime + later_by), Some(&file), overwrite), expected);
        }
    }

    #[test]
    fn what_nobody_can_make_is_refused() {
        let node = |kind| Node::new(b"pipe", kind);
        assert_eq!(decide(&node(NodeKind::Socket), None, Overwrite::Always), Decision::Leave);
        let irregular = decide(&node(NodeKind::Irregular), None, Overwrite::Always);
        assert_eq!(irregular, Decision::Refuse("its type is unknown".to_owned()));
        assert_eq!(decide(&node(NodeKind::BlockDevice), None, Overwrite::Always), Create);
    }
}
