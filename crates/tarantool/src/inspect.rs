//! Reports on every file of a directory, whether a recovery would read it or not.
//!
//! Input: directories. Output: the header of each file, and its damage. `plan` checks whether files are
//! consecutive.

use crate::check::loss::Loss;
use crate::check::scan::{ScanInput, scan};
use crate::error::{Error, Result};
use crate::file::directory::{self, Opened};
use crate::file::header::{FileKind, Header};
use crate::plan::PlanOptions;
use disk::Disk;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The contents of a file.
#[derive(Debug)]
pub struct FileReport {
    /// Its path.
    pub path: PathBuf,
    /// Its kind.
    pub kind: FileKind,
    /// How long it is.
    pub length_bytes: u64,
    /// Its header, or why it cannot be used.
    pub header: std::result::Result<Header, Error>,
    /// How many whole blocks there are.
    pub block_count: u64,
    /// How many rows are in them; 0 if they were not read.
    pub row_count: u64,
    /// Whether it was closed.
    pub is_closed: bool,
    /// Damage between and after sound blocks.
    pub damage: Vec<Loss>,
}

/// Examines all snapshots of a directory, then all logs, the oldest first, in the directories and at the
/// depth that a plan with these options would use. Passes each to `each`, which returns whether to continue.
///
/// # Errors
/// Disk errors.
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
        _ => opened.header.vclock.iter().map(|(replica, lsn)| (replica, lsn.saturating_add(1))).collect(),
    };
    let checked = options.checked_file(&opened.path);
    let input =
        ScanInput { bytes: &opened.bytes, begin: opened.header_bytes, kind, depth: options.depth, checked };
    let scan = scan(input, expected);
    let damage = scan.holes.iter().map(|hole| Loss::hole(&opened.path, kind, hole, None)).collect();
    FileReport {
        path: opened.path,
        kind,
        length_bytes: opened.bytes.len() as u64,
        header: Ok(opened.header),
        block_count: scan.block_count,
        row_count: scan.row_count,
        is_closed: scan.is_closed,
        damage,
    }
}
