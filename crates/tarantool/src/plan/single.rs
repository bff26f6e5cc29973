//! Plans to read one snapshot alone, without logs and whatever its name.

use super::options::{Mode, PlanOptions};
use super::planned::Plan;
use super::snapshot::{damage_of, scan_snapshot};
use crate::check::scan::Depth;
use crate::error::{Error, Result};
use crate::file::directory::Opened;
use crate::file::header::{FileKind, HEADER_BYTES_MAX, Header};
use disk::Disk;
use std::path::Path;

/// Makes a plan of the snapshot at `path` alone.
///
/// # Errors
/// Disk errors; the file is no snapshot; damage, unless it is to be listed.
pub fn plan_snapshot(disk: &dyn Disk, path: &Path, options: &PlanOptions) -> Result<Plan> {
    let bytes = disk.map(path)?;
    let head = bytes.get(..HEADER_BYTES_MAX).unwrap_or(&bytes);
    let (header, header_bytes) = Header::parse(head).map_err(|damage| damage.in_file(path, 0))?;
    if header.kind != FileKind::Snapshot {
        let what = "it is no snapshot; logs are read with their snapshot: name the directory".to_owned();
        return Err(Error::Unsupported { path: path.to_owned(), what });
    }
    let mut options = options.clone();
    if options.mode == Mode::Salvage {
        options.depth = Depth::Rows;
    }
    let scanned = scan_snapshot(&Opened { path: path.to_owned(), header, header_bytes, bytes }, &options);
    if options.mode == Mode::Strict
        && let Some(error) = damage_of(&scanned)
    {
        return Err(error);
    }
    Ok(Plan {
        reached: scanned.file.header.vclock.clone(),
        snapshot: Some(scanned.file),
        logs: Vec::new(),
        vinyl: None,
        lost: scanned.lost,
        remarks: Vec::new(),
        torn: Vec::new(),
        cut: None,
        ends_at_point: false,
        mode: options.mode,
    })
}
