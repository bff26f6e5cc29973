//! Makes a snapshot with only the definition of a space, for use without Tarantool.
//!
//! Input: a space. Output: a file that pneu loads. Tarantool does not load it, as its own system data is
//! missing.

use crate::peers::tarantool::Space;
use anyhow::Result;
use disk::{Disk, RealDisk};
use std::path::Path;
use std::sync::Arc;
use tarantool::msgpack::{put_array_len, put_boolean, put_map_len, put_str, put_uint};
use tarantool::{FileKind, FormatVersion, Header, SnapWriter, VClock};

/// The number that Tarantool gives the first user-defined space.
pub(super) const SPACE_ID: u32 = 512;

/// The spaces that describe spaces and their indexes.
const SPACES: u32 = 280;
const INDEXES: u32 = 288;

/// Makes the snapshot.
pub(super) fn define(directory: &Path, space: Space) -> Result<()> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut vclock = VClock::default();
    vclock.set(1, 1);
    let header = Header {
        kind: FileKind::Snapshot,
        version: FormatVersion::V013,
        program: tarantool::PROGRAM.to_owned(),
        instance: [1; 16],
        vclock,
        previous: None,
    };
    let mut writer = SnapWriter::create(&disk, directory, &header, 0.0)?;
    writer.insert(SPACES, 0, &space_tuple(space.name))?;
    for (field, index) in (0..).zip(space.indexes) {
        writer.insert(INDEXES, 0, &index_tuple(field, index, space.index_type))?;
    }
    writer.finish()?;
    Ok(())
}

fn space_tuple(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 7);
    put_uint(&mut out, u64::from(SPACE_ID));
    put_uint(&mut out, 1);
    put_str(&mut out, name.as_bytes());
    put_str(&mut out, b"memtx");
    put_uint(&mut out, 0);
    put_map_len(&mut out, 0);
    put_array_len(&mut out, 0);
    out
}

fn index_tuple(field: u64, name: &str, index_type: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 6);
    put_uint(&mut out, u64::from(SPACE_ID));
    put_uint(&mut out, field);
    put_str(&mut out, name.as_bytes());
    put_str(&mut out, index_type.as_bytes());
    put_map_len(&mut out, 1);
    put_str(&mut out, b"unique");
    put_boolean(&mut out, true);
    put_array_len(&mut out, 1);
    put_array_len(&mut out, 2);
    put_uint(&mut out, field);
    put_str(&mut out, b"unsigned");
    out
}
