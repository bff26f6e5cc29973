//! Looks at every file of a directory, whether a recovery would read it or not.
//!
//! Comes in: directories. Goes out: what each file says of itself, and what is wrong in it. Must not know how files hang together: that is
//! the plan's.

use crate::directory::{self, Opened};
use crate::error::{Error, Result};
use crate::header::{FileKind, Header};
use crate::lost::Lost;
use crate::plan::PlanOptions;
use crate::walk::{Way, walk};
use disk::Disk;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was found in a file.
#[derive(Debug)]
pub struct FileReport {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// How long it is.
    pub length_bytes: u64,
    /// What it says of itself; or why that cannot be used.
    pub header: std::result::Result<Header, Error>,
    /// How many whole blocks there are.
    pub block_count: u64,
    /// How many rows are in them; 0 if they were not read.
    pub row_count: u64,
    /// Whether it was closed.
    pub is_closed: bool,
    /// What is wrong between and behind whole blocks.
    pub damage: Vec<Lost>,
}

/// Looks at all snapshots of a directory, then at all logs, where and as closely as a plan with these options would, the oldest first; shows
/// each to `each` when it is done, which says whether to go on.
///
/// # Errors
/// What the disk says.
pub fn inspect(
    disk: &dyn Disk,
    directory: &Path,
    options: &PlanOptions,
    mut each: impl FnMut(FileReport) -> bool,
) -> Result<()> {
    let log_directory = options.log_directory.as_deref().unwrap_or(directory);
    for (directory, kind) in [(directory, FileKind::Snapshot), (log_directory, FileKind::Log)] {
        for named in directory::list(disk, directory, kind)? {
            let report = match directory::open(disk, &named, kind)? {
                Ok(opened) => look(opened, kind, options),
                Err(unusable) => FileReport {
                    path: unusable.path,
                    kind,
                    length_bytes: unusable.length_bytes as u64,
                    header: Err(unusable.error),
                    block_count: 0,
                    row_count: 0,
                    is_closed: false,
                    damage: Vec::new(),
                },
            };
            if !each(report) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn look(opened: Opened, kind: FileKind, options: &PlanOptions) -> FileReport {
    let expected = match kind {
        FileKind::Snapshot => BTreeMap::from([(0, 0)]),
        FileKind::Log | FileKind::Vinyl => {
            opened.header.vclock.iter().map(|(replica, lsn)| (replica, lsn.saturating_add(1))).collect()
        }
    };
    let checked = options.checked_file(&opened.path);
    let way = Way { bytes: &opened.bytes, begin: opened.header_bytes, kind, depth: options.depth, checked };
    let walk = walk(way, expected);
    let damage = walk.holes.iter().map(|hole| Lost::hole(&opened.path, kind, hole, None)).collect();
    FileReport {
        path: opened.path,
        kind,
        length_bytes: opened.bytes.len() as u64,
        header: Ok(opened.header),
        block_count: walk.block_count,
        row_count: walk.row_count,
        is_closed: walk.is_closed,
        damage,
    }
}
