//! What a snapshot has besides the Maildirs: the directory `.pneu` at its top, with what only this program knows.
//!
//! In: names and contents. Out: entries. A file whose content is what it was keeps its time, so that nothing changes where nothing
//! changed. Must not know what the contents mean.

use crate::depot::Depot;
use crate::entry::{Content, Entry, PIECE_BYTES_MIN, Stat};
use crate::error::Result;
use crate::known::{Difference, KnownDirectory, KnownFile};
use archive::Id;
use sha2::{Digest, Sha256};

/// The directory's path in a snapshot.
pub(crate) const PATH: &[u8] = b"/.pneu";
/// Type and rights of the directory.
const DIRECTORY_MODE: u32 = 0o040_700;
/// Type and rights of a file in it.
const FILE_MODE: u32 = 0o100_600;

/// What is in the directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnFiles {
    /// Names and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// The time of what is new, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Whose they are.
    pub uid: u32,
    /// Of which group they are.
    pub gid: u32,
}

/// The directory, as it was stored.
#[derive(Debug, Default)]
pub(crate) struct StoredOwn {
    /// Its files in the order of their names.
    pub entries: Vec<Entry>,
    /// How they differ from what was known.
    pub difference: Difference,
    /// What it says of itself.
    pub stat: Stat,
}

/// Stores the files.
///
/// # Errors
/// What the archive says.
pub(crate) fn store_own(depot: &dyn Depot, own: &OwnFiles, before: &KnownDirectory<'_>) -> Result<StoredOwn> {
    let mut files: Vec<&(String, Vec<u8>)> = own.files.iter().collect();
    files.sort();
    let mut stored = StoredOwn::default();
    let mut now = Vec::new();
    for (name, content) in files {
        let sha256: [u8; 32] = Sha256::digest(content).into();
        let pieces = match content.len() as u64 {
            0 => Vec::new(),
            1..PIECE_BYTES_MIN => {
                let piece = Id(sha256);
                if !depot.has_pieces(&[piece])?.contains(&true) {
                    depot.save_piece(piece, content)?;
                }
                vec![piece]
            }
            _ => depot.save_stream(&mut content.as_slice())?,
        };
        let known = before.files.iter().find(|file| file.name == name.as_bytes());
        let row = known.map(KnownFile::row).transpose()?.filter(|row| row.content == sha256);
        let time_ns = row.map_or(own.now_ns, |row| row.mtime_ns);
        let stat = Stat {
            mode: FILE_MODE,
            uid: own.uid,
            gid: own.gid,
            link_count: 1,
            size_bytes: content.len() as u64,
            mtime_ns: time_ns,
            ctime_ns: time_ns,
            ..Stat::default()
        };
        let is_same = known.map(|known| known.holds(&stat, sha256)).transpose()? == Some(true);
        now.push((name.as_bytes(), stat, sha256, is_same));
        stored.entries.push(Entry { name: name.clone().into_bytes(), stat, content: Content::File(pieces) });
    }
    let files = now.iter().map(|(name, stat, sha256, is_same)| (*name, stat, *sha256, *is_same));
    stored.difference = Difference::of(before, files);
    let newest_ns = now.iter().map(|(_, stat, ..)| stat.mtime_ns).max().unwrap_or(own.now_ns);
    stored.stat = Stat {
        mode: DIRECTORY_MODE,
        uid: own.uid,
        gid: own.gid,
        mtime_ns: newest_ns,
        ctime_ns: newest_ns,
        ..Stat::default()
    };
    Ok(stored)
}
