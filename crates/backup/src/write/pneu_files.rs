//! Stores the directory `.pneu` at the top of a snapshot: tags, saved queries, the configuration, the list of
//! pieces.
//!
//! Input: names and contents. Output: entries. A file whose content is unchanged keeps its time, so that the
//! tree stays the same. Does not depend on what the contents mean.

use crate::blobs::entry::{Content, Entry, PIECE_BYTES_MIN, Stat};
use crate::blobs::writer::BlobWriter;
use crate::cache::{CachedDirectory, CachedFile, Difference};
use crate::error::Result;
use restic::Id;
use sha2::{Digest, Sha256};

/// Type and rights of the directory.
const DIRECTORY_MODE: u32 = 0o040_700;
/// Type and rights of a file in it.
const FILE_MODE: u32 = 0o100_600;

/// The contents of the directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct PneuFiles {
    /// Names and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// The time for new files, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Whose they are.
    pub uid: u32,
    /// Of which group they are.
    pub gid: u32,
}

/// The directory as stored.
#[derive(Debug, Default)]
pub(crate) struct StoredPneuFiles {
    /// Its files sorted by name.
    pub entries: Vec<Entry>,
    /// The difference from the known files.
    pub difference: Difference,
    /// The directory's metadata.
    pub stat: Stat,
}

/// Stores the files.
///
/// # Errors
/// The repository reports a failure.
pub(crate) fn store_pneu_files(
    writer: &dyn BlobWriter,
    pneu_files: &PneuFiles,
    before: &CachedDirectory<'_>,
) -> Result<StoredPneuFiles> {
    let mut files: Vec<&(String, Vec<u8>)> = pneu_files.files.iter().collect();
    files.sort();
    let mut stored = StoredPneuFiles::default();
    let mut now = Vec::new();
    for (name, content) in files {
        let sha256: [u8; 32] = Sha256::digest(content).into();
        let pieces = match content.len() as u64 {
            0 => Vec::new(),
            1..PIECE_BYTES_MIN => {
                let piece = Id(sha256);
                if !writer.has_pieces(&[piece])?.contains(&true) {
                    writer.save_piece(piece, content)?;
                }
                vec![piece]
            }
            _ => writer.save_stream(&mut content.as_slice())?,
        };
        let known = before.files.iter().find(|file| file.name == name.as_bytes());
        let row = known.map(CachedFile::row).transpose()?.filter(|row| row.content == sha256);
        let time_ns = row.map_or(pneu_files.now_ns, |row| row.mtime_ns);
        let stat = Stat {
            mode: FILE_MODE,
            uid: pneu_files.uid,
            gid: pneu_files.gid,
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
    let newest_ns = now.iter().map(|(_, stat, ..)| stat.mtime_ns).max().unwrap_or(pneu_files.now_ns);
    stored.stat = Stat {
        mode: DIRECTORY_MODE,
        uid: pneu_files.uid,
        gid: pneu_files.gid,
        mtime_ns: newest_ns,
        ctime_ns: newest_ns,
        ..Stat::default()
    };
    Ok(stored)
}
