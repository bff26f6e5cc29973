//! The identity and last change of a directory or file, to be compared with those of an earlier time.
//!
//! Input: a path, or the stat of an open file. Output: [`Stamp`]s and [`FileStat`]s. Compare both for
//! equality only, never for order: clocks jump, and restored files are older than the ones they replace.
//! Does not depend on what a directory contains.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use rustix::fs::{AtFlags, CWD, FileType, Stat};
use std::path::Path;

/// A stamp younger than this, in nanoseconds, is not trusted.
///
/// File systems store times in steps of up to 2 s (FAT), and the kernel takes them from a clock that ticks
/// every few milliseconds: a change right after the stamp was taken may leave it unchanged.
pub const RACY_NS: i64 = 2_000_000_000;

const NS_PER_SECOND: i64 = 1_000_000_000;

/// A directory's identity and last change. All zero for a directory that was never read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Its device.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
    /// When a name in it was last added or removed, in nanoseconds since 1970; programs can set it.
    pub mtime_ns: i64,
    /// When it last changed in any way, in nanoseconds since 1970.
    pub ctime_ns: i64,
}

impl Stamp {
    /// Returns the same directory without times. Such a stamp matches no directory as it is now.
    #[must_use]
    pub fn without_times(self) -> Stamp {
        Stamp { mtime_ns: 0, ctime_ns: 0, ..self }
    }
}

/// A file's identity, size and last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileStat {
    /// Its device.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When its content last changed, in nanoseconds since 1970; programs can set it.
    pub mtime_ns: i64,
    /// When its content, name count, owner or permissions last changed, in nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Its type and permissions, as `stat` gives them.
    pub mode: u32,
}

impl Stamp {
    /// Returns whether the directory could have changed since without changing its stamp: whether the stamp
    /// is younger than [`RACY_NS`], or in the future. `now_ns` is the time when the stamp was taken, or
    /// before.
    pub fn is_racy(&self, now_ns: i64) -> bool {
        self.mtime_ns.max(self.ctime_ns) > now_ns.saturating_sub(RACY_NS)
    }

    /// Returns whether it has times. A stamp without any matches no state of its directory.
    pub fn has_times(&self) -> bool {
        (self.mtime_ns, self.ctime_ns) != (0, 0)
    }
}

impl FileStat {
    /// Returns whether it is a regular file: not a directory, pipe or device.
    pub fn is_file(&self) -> bool {
        FileType::from_raw_mode(self.mode).is_file()
    }

    /// Returns whether it is a symbolic link: only the stat of the link itself tells.
    pub fn is_link(&self) -> bool {
        FileType::from_raw_mode(self.mode).is_symlink()
    }

    /// Returns whether it is a directory.
    pub fn is_directory(&self) -> bool {
        FileType::from_raw_mode(self.mode).is_dir()
    }
}

/// Returns the stat of a file, following symbolic links.
///
/// # Errors
/// [`Error::Io`], of one that is not there too.
pub fn stat_file(path: &Path) -> Result<FileStat> {
    stat_path(path, AtFlags::empty())
}

/// Returns the stamp of a directory. When the directory is read as well, use the stamp that reading returns,
/// which is from before.
///
/// # Errors
/// [`Error::Io`], of one that is not there too.
pub fn stat_directory(path: &Path) -> Result<Stamp> {
    stat_path(path, AtFlags::empty()).map(Stamp::from)
}

fn stat_path(path: &Path, flags: AtFlags) -> Result<FileStat> {
    match rustix::fs::statat(CWD, path, flags) {
        Ok(stat) => Ok(FileStat::from(stat)),
        Err(error) => Err(Error::io("stat", path, error)),
    }
}

impl From<FileStat> for Stamp {
    fn from(stat: FileStat) -> Stamp {
        Stamp { device: stat.device, inode: stat.inode, mtime_ns: stat.mtime_ns, ctime_ns: stat.ctime_ns }
    }
}

impl From<Stat> for FileStat {
    fn from(stat: Stat) -> FileStat {
        FileStat {
            device: stat.st_dev,
            inode: stat.st_ino,
            size_bytes: stat.st_size.try_into().unwrap_or(0),
            mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            mode: stat.st_mode,
        }
    }
}

/// Joins seconds and nanoseconds. Times outside the years 1677 to 2262, which only a damaged file system has,
/// are clamped: they only have to be the same at the next look.
fn nanoseconds(seconds: i64, rest: impl TryInto<i64>) -> i64 {
    seconds.saturating_mul(NS_PER_SECOND).saturating_add(rest.try_into().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_stamp_is_trusted_two_seconds_later() {
        let stamp = |mtime_ns, ctime_ns| Stamp { mtime_ns, ctime_ns, ..Stamp::default() };
        let second = NS_PER_SECOND;
        assert!(!stamp(7 * second, 8 * second).is_racy(10 * second));
        assert!(stamp(7 * second, 8 * second + 1).is_racy(10 * second));
        assert!(stamp(8 * second + 1, 7 * second).is_racy(10 * second));
        assert!(stamp(11 * second, 0).is_racy(10 * second));
        assert!(stamp(0, i64::MAX).is_racy(10 * second));
        assert!(!stamp(i64::MIN, 0).is_racy(10 * second));
        assert!(!Stamp::default().is_racy(10 * second));
        assert!(stamp(0, 0).is_racy(i64::MIN));
    }

    #[test]
    fn a_stamp_without_times_stands_for_nothing() {
        let stamp = |mtime_ns, ctime_ns| Stamp { device: 1, inode: 2, mtime_ns, ctime_ns };
        assert!(stamp(0, 7).has_times() && stamp(7, 0).has_times());
        // A file system may keep no times at all.
        assert!(!stamp(0, 0).has_times());
    }

    #[test]
    fn times_out_of_range_stay_comparable() {
        assert_eq!(nanoseconds(1, 5_u64), NS_PER_SECOND + 5);
        assert_eq!(nanoseconds(-1, 5_u64), 5 - NS_PER_SECOND);
        assert_eq!(nanoseconds(i64::MAX, 5_u64), i64::MAX);
        assert_eq!(nanoseconds(i64::MIN, 0_u64), i64::MIN);
    }

    #[test]
    fn stats_are_those_of_the_standard_library() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, b"12345").unwrap();
        let expected = fs::metadata(&path).unwrap();
        let stat = stat_file(&path).unwrap();
        assert_eq!((stat.device, stat.inode, stat.size_bytes), (expected.dev(), expected.ino(), 5));
        assert_eq!(stat.mtime_ns, expected.mtime() * NS_PER_SECOND + expected.mtime_nsec());
        assert_eq!(stat.ctime_ns, expected.ctime() * NS_PER_SECOND + expected.ctime_nsec());
        assert_eq!(stat.mode, expected.mode());
        assert!(stat.is_file() && !stat.is_directory());
        assert!(stat_file(directory.path()).unwrap().is_directory());
        assert_eq!(stat_directory(directory.path()).unwrap().inode, fs::metadata(&directory).unwrap().ino());
        let error = stat_directory(&path.join("b")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot stat {}/b: Not a directory (os error 20)", path.display())
        );
    }
}
