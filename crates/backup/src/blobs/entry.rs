//! Files and directories of a snapshot as plain values. Does not depend on how a repository stores them.

use restic::Id;
use std::path::Path;

/// Files of at least this many bytes are cut into pieces. A shorter file is one piece, whose id is the file's
/// SHA-256.
pub(crate) const PIECE_BYTES_MIN: u64 = 512 << 10;

/// The metadata of a file or directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Type and permissions, as `st_mode` has them.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// How many names it has.
    pub link_count: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its time of modification in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Its time of status change in nanoseconds since 1970.
    pub ctime_ns: i64,
}

/// A file or directory of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name in its directory, exact bytes.
    pub name: Vec<u8>,
    /// Its metadata.
    pub stat: Stat,
    /// Its content.
    pub content: Content,
}

/// The content of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The pieces of a file, in order.
    File(Vec<Id>),
    /// The tree of a directory.
    Directory(Id),
    /// Anything else, which this program does not write: a link, a pipe.
    Other,
}

/// A borrowed [`Entry`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryView<'a> {
    /// Its name in its directory, exact bytes.
    pub name: &'a [u8],
    /// Its metadata.
    pub stat: &'a Stat,
    /// Its content.
    pub content: ContentView<'a>,
}

/// A borrowed [`Content`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContentView<'a> {
    /// The pieces of a file, in order.
    File(&'a [Id]),
    /// The tree of a directory.
    Directory(Id),
    /// Anything else, which this program does not write.
    Other,
}

impl Entry {
    /// Borrows the entry.
    pub(crate) fn view(&self) -> EntryView<'_> {
        let content = match &self.content {
            Content::File(pieces) => ContentView::File(pieces),
            Content::Directory(tree) => ContentView::Directory(*tree),
            Content::Other => ContentView::Other,
        };
        EntryView { name: &self.name, stat: &self.stat, content }
    }
}

impl Stat {
    /// Returns whether it is a regular file.
    pub(crate) fn is_file(&self) -> bool {
        rustix::fs::FileType::from_raw_mode(self.mode) == rustix::fs::FileType::RegularFile
    }

    /// Returns whether it is a directory.
    pub(crate) fn is_directory(&self) -> bool {
        rustix::fs::FileType::from_raw_mode(self.mode) == rustix::fs::FileType::Directory
    }
}

impl From<rustix::fs::Stat> for Stat {
    fn from(stat: rustix::fs::Stat) -> Stat {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stat {
            mode: stat.st_mode,
            uid: stat.st_uid,
            gid: stat.st_gid,
            device: stat.st_dev,
            inode: stat.st_ino,
            link_count: widened(stat.st_nlink),
            // A size is never negative.
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ns: nanoseconds(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            ctime_ns: nanoseconds(stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        }
    }
}

/// Returns a number in 64 bits. The count of links has 64 on some processors and 32 on others.
fn widened(number: impl Into<u64>) -> u64 {
    number.into()
}

/// Returns the metadata of a file or directory. Follows links.
pub(crate) fn look(path: &Path) -> std::io::Result<Stat> {
    Ok(rustix::fs::stat(path)?.into())
}
