//! Files and directories as the cache has them.

use crate::blobs::entry::Stat;
use crate::cache::columns::nodes;
use crate::error::Result;
use restic::Id;
use store::Part;

/// The state of a file when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    /// Its inode.
    pub inode: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its time of modification.
    pub mtime_ns: i64,
    /// Its time of status change.
    pub ctime_ns: i64,
    /// SHA-256 of its content.
    pub content: [u8; 32],
}

/// A directory in the cache.
#[derive(Clone, Default)]
pub(crate) struct CachedDirectory<'a> {
    /// Its number in the tables; none if it has no rows there.
    pub number: Option<u32>,
    /// Its tree in the last snapshot.
    pub tree: Option<Id>,
    /// Its files sorted by name.
    pub files: Vec<CachedFile<'a>>,
}

/// A file, to be written into the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    /// Its name.
    pub name: Vec<u8>,
    /// Its inode, size, times and content.
    pub row: FileState,
    /// Its type and permissions.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

/// A file in the cache, as a row of a table.
#[derive(Clone, Copy)]
pub(crate) struct CachedFile<'a> {
    /// Its name.
    pub name: &'a [u8],
    pub(super) part: &'a Part,
    pub(super) row: u32,
}

impl CachedFile<'_> {
    /// Returns the SHA-256 of its content.
    pub(crate) fn content(&self) -> Result<[u8; 32]> {
        Ok(self.part.id_at(nodes::CONTENT, self.row)?)
    }

    /// Returns whether a file with this metadata is the same file, unchanged.
    pub(crate) fn is_as(&self, stat: &Stat) -> Result<bool> {
        let (part, row) = (self.part, self.row);
        Ok(part.u64_at(nodes::INODE, row)? == stat.inode
            && part.u64_at(nodes::SIZE, row)? == stat.size_bytes
            && part.i64_at(nodes::MTIME, row)? == stat.mtime_ns
            && part.i64_at(nodes::CTIME, row)? == stat.ctime_ns
            && part.u32_at(nodes::MODE, row)? == stat.mode
            && part.u32_at(nodes::UID, row)? == stat.uid
            && part.u32_at(nodes::GID, row)? == stat.gid)
    }

    /// Returns whether a file with this metadata and content is the same file, unchanged.
    pub(crate) fn holds(&self, stat: &Stat, content: [u8; 32]) -> Result<bool> {
        Ok(self.is_as(stat)? && self.content()? == content)
    }

    /// Returns the metadata of a file that is as this row, with what the row does not have.
    pub(crate) fn stat(&self, device: u64, link_count: u64) -> Result<Stat> {
        let (part, row) = (self.part, self.row);
        Ok(Stat {
            mode: part.u32_at(nodes::MODE, row)?,
            uid: part.u32_at(nodes::UID, row)?,
            gid: part.u32_at(nodes::GID, row)?,
            device,
            inode: part.u64_at(nodes::INODE, row)?,
            link_count,
            size_bytes: part.u64_at(nodes::SIZE, row)?,
            mtime_ns: part.i64_at(nodes::MTIME, row)?,
            ctime_ns: part.i64_at(nodes::CTIME, row)?,
        })
    }

    /// Returns the state to compare with a file that may be a different one.
    pub(crate) fn row(&self) -> Result<FileState> {
        row(self.part, self.row)
    }
}

impl<'a> CachedDirectory<'a> {
    /// Returns the place of the file of each name in the list. `names` are sorted.
    pub(crate) fn join<'n>(&self, names: impl Iterator<Item = &'n [u8]>) -> Vec<Option<usize>> {
        let mut files = self.files.iter().enumerate().peekable();
        let of_name = |name: &[u8]| {
            while files.next_if(|(_, file)| file.name < name).is_some() {}
            files.next_if(|(_, file)| file.name == name).map(|(place, _)| place)
        };
        names.map(of_name).collect()
    }

    /// Returns the state of the file with this unique part and inode, under any name.
    pub(crate) fn same_file(&self, unique: &[u8], inode: u64) -> Result<Option<FileState>> {
        let first = self.files.partition_point(|file| file.name < unique);
        let files = self.files.iter().skip(first).take_while(|file| file.name.starts_with(unique));
        for file in files.filter(|file| mail::parse_name(file.name).unique == unique) {
            let state = file.row()?;
            if state.inode == inode {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }
}

impl FileRow {
    /// Makes the row of a file.
    pub(crate) fn new(name: &[u8], stat: &Stat, content: [u8; 32]) -> FileRow {
        let row = FileState {
            inode: stat.inode,
            size_bytes: stat.size_bytes,
            mtime_ns: stat.mtime_ns,
            ctime_ns: stat.ctime_ns,
            content,
        };
        FileRow { name: name.to_vec(), row, mode: stat.mode, uid: stat.uid, gid: stat.gid }
    }
}

/// Reads the row of a file.
pub(super) fn row(part: &Part, row: u32) -> Result<FileState> {
    Ok(FileState {
        inode: part.u64_at(nodes::INODE, row)?,
        size_bytes: part.u64_at(nodes::SIZE, row)?,
        mtime_ns: part.i64_at(nodes::MTIME, row)?,
        ctime_ns: part.i64_at(nodes::CTIME, row)?,
        content: part.id_at(nodes::CONTENT, row)?,
    })
}

#[cfg(test)]
mod tests {
    use crate::blobs::entry::{Content, Entry, Stat};
    use crate::cache::Cache;
    use crate::pieces::lists::PieceLists;
    use restic::Id;

    #[test]
    fn a_file_is_found_by_its_unique_part_and_inode_under_any_name_of_its_directory() {
        let entry = |(inode, name): (u64, &str)| {
            let stat = Stat { inode, size_bytes: 1, ..Stat::default() };
            let content = Id([u8::try_from(inode).unwrap(); 32]);
            Entry { name: name.as_bytes().to_vec(), stat, content: Content::File(vec![content]) }
        };
        let names = [(1, "5.x"), (2, "5.x,S=3:2,"), (3, "5.x:2,S"), (4, "5.xy:2,"), (5, "50.x:2,S")];
        let tree = vec![(b"/m/cur".to_vec(), names.map(entry).to_vec())];
        let cache = Cache::of_trees(&tree, &PieceLists::default()).unwrap();
        let directory = cache.directory(b"/m/cur").unwrap();
        let found = |unique: &str, inode| {
            directory.same_file(unique.as_bytes(), inode).unwrap().map(|file| file.content[0])
        };
        let expected = [
            ("5.x", 1, Some(1)),
            ("5.x", 3, Some(3)),
            ("5.x", 4, None),
            ("5.xy", 4, Some(4)),
            ("4.x", 1, None),
        ];
        for (unique, inode, content) in expected {
            assert_eq!(found(unique, inode), content, "{unique} {inode}");
        }
        assert_eq!(found("50.x", 5), Some(5));
    }
}
