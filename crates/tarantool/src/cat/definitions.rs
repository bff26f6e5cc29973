//! Finds the names of spaces and fields at the beginning of a file.
//!
//! A snapshot has them itself. A log begins where another ended: the newest snapshot before it and the logs
//! between have its definitions, if they lie in the same directory and are sound.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::source::{RowsFile, open_rows};
use super::walk::{Next, Walk};
use crate::error::{Damage, Error, Result};
use crate::file::block::{BlockPlace, Unpacker};
use crate::file::directory;
use crate::file::header::FileKind;
use crate::file::row::rows;
use crate::load::{OnDamage, SnapshotFile, read_spaces};
use crate::space::Formats;
use disk::Disk;
use std::path::Path;

/// Returns the definitions at the beginning of a file. `directory` has the snapshots; the logs are beside the
/// file. `None` if there is no snapshot before the log.
///
/// # Errors
/// Disk errors, and damage of the files that have the definitions.
pub fn definitions_before(disk: &dyn Disk, file: &RowsFile, directory: &Path) -> Result<Option<Formats>> {
    match file.kind() {
        FileKind::Snapshot => of_snapshot(file, OnDamage::LeaveOut).map(Some),
        FileKind::Log => before_log(disk, file, directory),
        FileKind::Vinyl | FileKind::Run | FileKind::RunIndex => Ok(None),
    }
}

/// Returns all definitions of a file: those at its beginning, and those that its rows make, as far as it is
/// sound.
pub fn definitions_after(disk: &dyn Disk, file: &RowsFile, directory: &Path) -> Formats {
    // Names are a help: without them there are numbers.
    let mut formats = definitions_before(disk, file, directory).ok().flatten().unwrap_or_default();
    if file.kind() == FileKind::Log {
        let _ = follow_log(file, &mut formats);
    }
    formats
}

fn of_snapshot(file: &RowsFile, on_damage: OnDamage) -> Result<Formats> {
    let mut walk = Walk::new(&file.bytes, file.begin);
    let mut blocks: Vec<BlockPlace> = Vec::new();
    loop {
        match walk.next() {
            Next::Block(place) => blocks.push(place),
            Next::Hole(_) if on_damage == OnDamage::LeaveOut => {}
            Next::Hole(hole) => {
                return Err(Damage::new(hole.bytes.start, hole.what).in_file(&file.path, 0));
            }
            Next::End { .. } => break,
        }
    }
    let snapshot = SnapshotFile { path: &file.path, bytes: &file.bytes, blocks: &blocks };
    read_spaces(snapshot, on_damage).map(Formats::new)
}

fn before_log(disk: &dyn Disk, file: &RowsFile, snapshots: &Path) -> Result<Option<Formats>> {
    let signature = file.header.vclock.signature();
    let snapshots = directory::list(disk, snapshots, FileKind::Snapshot)?;
    let Some(snapshot) = snapshots.into_iter().rfind(|named| named.signature <= signature) else {
        return Ok(None);
    };
    let mut formats = of_snapshot(&open_rows(disk, &snapshot.path)?, OnDamage::Refuse)?;
    let logs = file.path.parent().unwrap_or(Path::new(""));
    let logs = if logs.as_os_str().is_empty() { Path::new(".") } else { logs };
    let between = snapshot.signature..signature;
    for log in directory::list(disk, logs, FileKind::Log)? {
        if between.contains(&log.signature) {
            follow_log(&open_rows(disk, &log.path)?, &mut formats)?;
        }
    }
    Ok(Some(formats))
}

/// Follows the definitions in a whole log.
fn follow_log(log: &RowsFile, formats: &mut Formats) -> Result<()> {
    let in_file = |damage: Damage| -> Error { damage.in_file(&log.path, 0) };
    let mut unpacker = Unpacker::for_file(FileKind::Log);
    let mut walk = Walk::new(&log.bytes, log.begin);
    loop {
        let place = match walk.next() {
            Next::Block(place) => place,
            // A write that a crash tore was never complete.
            Next::Hole(hole) if hole.is_tail => return Ok(()),
            Next::Hole(hole) => return Err(in_file(Damage::new(hole.bytes.start, hole.what))),
            Next::End { .. } => return Ok(()),
        };
        let at_block = |damage: Damage| in_file(Damage { offset: place.offset, ..damage });
        for row in rows(unpacker.unpack(&log.bytes, &place).map_err(at_block)?) {
            formats.follow(&row.map_err(at_block)?);
        }
    }
}
