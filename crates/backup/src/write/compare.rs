//! Decides from a file's metadata whether its content is known or must be read.
//!
//! Input: the file's metadata, and earlier states of it: from the cache under the same name, from the cache
//! under another name, and from the index. Output: a verdict. Pure.
//!
//! | the file | its content is |
//! |---|---|
//! | has the inode, size, mtime and ctime of its row in the cache | that of the row |
//! | differs in one of them from the row of its own name | read again: it was written, or its mode changed |
//! | has no row; the index has the same inode, size, mtime, ctime | that of the message, if not compressed |
//! | has no row; another name has the same unique part, inode, size, mtime | that of this other row (1) |
//! | else | read |
//!
//! (1) The file was moved or its flags changed, which changes ctime.

use crate::blobs::entry::Stat;
use crate::cache::FileState;

/// The state of a file in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexedState {
    /// The file as it was when it was read, with the SHA-256 of its message.
    pub row: FileState,
    /// The size of its message: another one than that of the file if it is compressed.
    pub message_bytes: u64,
}

/// Where a file's content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing of the file changed since the last backup.
    Same([u8; 32]),
    /// Its content is this, under another name or from the index.
    Known([u8; 32]),
    /// It must be read.
    Read,
}

/// Decides.
pub(crate) fn judge(
    now: &Stat,
    same_name: Option<&FileState>,
    other_name: impl FnOnce() -> Option<FileState>,
    index: Option<&IndexedState>,
) -> Verdict {
    if let Some(row) = same_name {
        return if is_same(now, row) { Verdict::Same(row.content) } else { Verdict::Read };
    }
    // Before other names are asked for, which takes a table of all of them.
    if let Some(IndexedState { row, message_bytes }) = index
        && is_same(now, row)
        && *message_bytes == now.size_bytes
    {
        return Verdict::Known(row.content);
    }
    match other_name() {
        Some(row)
            if (row.inode, row.size_bytes, row.mtime_ns) == (now.inode, now.size_bytes, now.mtime_ns) =>
        {
            Verdict::Known(row.content)
        }
        _ => Verdict::Read,
    }
}

fn is_same(now: &Stat, row: &FileState) -> bool {
    (row.inode, row.size_bytes, row.mtime_ns, row.ctime_ns)
        == (now.inode, now.size_bytes, now.mtime_ns, now.ctime_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Stat = Stat {
        mode: 0o100_600,
        uid: 1,
        gid: 1,
        device: 1,
        inode: 5,
        link_count: 1,
        size_bytes: 10,
        mtime_ns: 20,
        ctime_ns: 30,
    };

    fn row(content: u8) -> FileState {
        FileState { inode: 5, size_bytes: 10, mtime_ns: 20, ctime_ns: 30, content: [content; 32] }
    }

    #[test]
    fn what_changed_under_its_own_name_is_read_again() {
        let other = || Some(row(2));
        let index = IndexedState { row: row(3), message_bytes: 10 };
        assert_eq!(judge(&NOW, Some(&row(1)), other, Some(&index)), Verdict::Same([1; 32]));
        for changed in [
            FileState { inode: 6, ..row(1) },
            FileState { size_bytes: 11, ..row(1) },
            FileState { mtime_ns: 21, ..row(1) },
            FileState { ctime_ns: 31, ..row(1) },
        ] {
            assert_eq!(judge(&NOW, Some(&changed), other, Some(&index)), Verdict::Read, "{changed:?}");
        }
    }

    #[test]
    fn what_was_moved_is_known_whatever_its_ctime() {
        let moved = |row: FileState| judge(&NOW, None, || Some(row), None);
        assert_eq!(moved(row(1)), Verdict::Known([1; 32]));
        assert_eq!(moved(FileState { ctime_ns: 29, ..row(1) }), Verdict::Known([1; 32]));
        for other in [
            FileState { inode: 6, ..row(1) },
            FileState { size_bytes: 11, ..row(1) },
            FileState { mtime_ns: 21, ..row(1) },
        ] {
            assert_eq!(moved(other), Verdict::Read, "{other:?}");
        }
    }

    #[test]
    fn the_index_is_believed_of_files_that_are_as_it_read_them() {
        let of_index = |row: FileState, message_bytes| {
            judge(&NOW, None, || None, Some(&IndexedState { row, message_bytes }))
        };
        assert_eq!(of_index(row(1), 10), Verdict::Known([1; 32]));
        assert_eq!(of_index(row(1), 25), Verdict::Read, "a compressed file is not its message");
        assert_eq!(of_index(FileState { ctime_ns: 29, ..row(1) }, 10), Verdict::Read);
        assert_eq!(judge(&NOW, None, || None, None), Verdict::Read);
        let asked = || panic!("nobody asks for other names of what the index knows");
        let index = IndexedState { row: row(1), message_bytes: 10 };
        assert_eq!(judge(&NOW, None, asked, Some(&index)), Verdict::Known([1; 32]));
    }
}
