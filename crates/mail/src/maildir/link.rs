//! Decides which symbolic links in a Maildir are followed: those that lead to mail, or stay below their root.
//!
//! Input: a root, and links below it. Output: whether the target may be read. The author of a Maildir chooses
//! its links. Without this rule, a link could lead to a private key, which would then be indexed, shown and
//! backed up like mail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A root, and everything below it.
#[derive(Debug)]
pub struct RootBoundary {
    root: PathBuf,
    /// The root with its symbolic links resolved; none if they cannot be.
    real: OnceLock<Option<PathBuf>>,
}

impl RootBoundary {
    /// Returns the boundary of a root. Does not access the disk yet.
    pub fn new(root: &Path) -> RootBoundary {
        RootBoundary { root: root.to_owned(), real: OnceLock::new() }
    }

    /// Returns whether a link among messages leads to a file in a `cur` or `new`, or below the root. False
    /// for a dangling link.
    ///
    /// # Errors
    /// The link cannot be resolved.
    pub fn leads_to_message(&self, link: &Path) -> io::Result<bool> {
        self.leads(link, |file| file.parent().is_some_and(is_cur_or_new))
    }

    /// Returns whether a link named `cur` or `new` leads to a directory of such a name, or below the root.
    ///
    /// # Errors
    /// Same as [`RootBoundary::leads_to_message`].
    pub fn leads_to_place(&self, link: &Path) -> io::Result<bool> {
        self.leads(link, is_cur_or_new)
    }

    /// Returns whether a path leads to the root or below it.
    ///
    /// # Errors
    /// Same as [`RootBoundary::leads_to_message`].
    pub fn holds(&self, path: &Path) -> io::Result<bool> {
        self.leads(path, |_| false)
    }

    fn leads(&self, link: &Path, is_mail: impl Fn(&Path) -> bool) -> io::Result<bool> {
        let target = match link.canonicalize() {
            Ok(target) => target,
            Err(error) if leads_nowhere(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let root = || self.real.get_or_init(|| self.root.canonicalize().ok()).as_deref();
        Ok(is_mail(&target) || root().is_some_and(|root| target.starts_with(root)))
    }
}

fn leads_nowhere(error: &io::Error) -> bool {
    let is_loop = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    is_loop || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn is_cur_or_new(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name == "cur" || name == "new")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_to_mail_or_stay() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        for directory in ["m/box/cur", "m/.git/annex", "other/cur", "private"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for file in ["m/.git/annex/1", "other/cur/1", "private/key"] {
            fs::write(at(file), "x").unwrap();
        }
        let link = at("m/box/cur/link");
        for (target, [message, place, stays]) in [
            ("../../.git/annex/1", [true, true, true]),
            ("../../../other/cur/1", [true, false, false]),
            ("../../../other/cur", [false, true, false]),
            ("../../../private/key", [false; 3]),
            ("../../../private", [false; 3]),
            ("../../../other/cur/../../private/key", [false; 3]),
            ("nowhere", [false; 3]),
            ("link", [false; 3]),
        ] {
            symlink(target, &link).unwrap();
            let root = RootBoundary::new(&at("m"));
            assert_eq!(root.leads_to_message(&link).unwrap(), message, "{target}");
            assert_eq!(root.leads_to_place(&link).unwrap(), place, "{target}");
            assert_eq!(root.holds(&link).unwrap(), stays, "{target}");
            fs::remove_file(&link).unwrap();
        }
    }
}
