//! Writes the tuples of all spaces as a snapshot that Tarantool loads.
//!
//! Input: tuples, in a store or in memory. Output: a `.snap` file. Does not know where they come from.
//!
//! Tarantool's own spaces come first, then those of users, both by number, and the rows of each space in the
//! order of its primary key, as Tarantool writes them. Rows that are kept in order of arrival are
//! written in that order: Tarantool sorts them when it loads them.

use crate::error::{Error, Result};
use crate::file::header::{FileKind, FormatVersion, Header};
use crate::file::row::GROUP_LOCAL;
use crate::file::write::{PROGRAM, SnapWriter};
use crate::msgpack::{put_array_len, put_str, put_uint};
use crate::plan::Plan;
use crate::recover::Recovered;
use crate::space::{Engine, SPACE_SPACE, Spaces};
use crate::tuples::{SpaceTuples, Tuples};
use crate::update::{Context, update};
use disk::Disk;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Progress;

/// The target of a snapshot.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The disk.
    pub disk: &'a Arc<dyn Disk>,
    /// The directory, which must exist.
    pub directory: &'a Path,
    /// The time of its rows, in seconds since 1970.
    pub seconds: f64,
    /// A file that it gets owner and mode of, as far as that is allowed.
    pub like: Option<&'a Path>,
}

/// A snapshot that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Its path.
    pub path: PathBuf,
    /// How many rows are in it.
    pub row_count: u64,
    /// What changed in the export, a sentence each.
    pub remarks: Vec<String>,
}

/// The field of `_space` that names the engine.
const FIELD_ENGINE: u64 = 3;

/// Returns the header of a snapshot with the rows of a recovery.
pub fn snapshot_header(plan: &Plan, recovered: &Recovered) -> Header {
    let first = plan.snapshot.iter().chain(&plan.logs).next();
    Header {
        kind: FileKind::Snapshot,
        version: FormatVersion::V013,
        program: PROGRAM.to_owned(),
        instance: first.map_or([0; 16], |file| file.header.instance),
        vclock: recovered.vclock.clone(),
        previous: None,
    }
}

/// Writes all tuples into the snapshot that `header` describes. `progress` counts rows.
///
/// # Errors
/// Damage of the store, or a disk error. Then no snapshot exists.
pub fn export(
    tuples: &Tuples,
    definitions: &Spaces,
    header: &Header,
    target: Target,
    progress: &dyn Progress,
) -> Result<Exported> {
    let mut writer = SnapWriter::create(target.disk, target.directory, header, target.seconds)?;
    let mut remarks = Vec::new();
    for space in tuples.spaces() {
        let job = Job { space, definitions, directory: tuples.directory(), progress };
        job.write(&mut writer, &mut remarks)?;
    }
    let row_count = writer.row_count();
    if let Some(like) = target.like
        && let Err(refused) = writer.copy_owner(like)
    {
        let like = like.display();
        remarks
            .push(format!("{refused}; give the new snapshot those of {like}, so that Tarantool can read it"));
    }
    Ok(Exported { path: writer.finish()?, row_count, remarks })
}

/// One space to write.
struct Job<'a> {
    space: &'a SpaceTuples<'a>,
    definitions: &'a Spaces,
    directory: &'a Path,
    progress: &'a dyn Progress,
}

impl Job<'_> {
    fn write(&self, writer: &mut SnapWriter, remarks: &mut Vec<String>) -> Result<()> {
        let id = self.space.id;
        let space = self.definitions.get(id).map_err(|damage| self.unsupported(damage.what))?;
        let group = if space.is_some_and(|space| space.is_local) { GROUP_LOCAL } else { 0 };
        self.space.each(|tuple| {
            match self.in_memory(tuple, remarks)? {
                Some(changed) => writer.insert(id, group, &changed)?,
                None => writer.insert(id, group, tuple)?,
            }
            self.progress.add(1, 0);
            Ok(self.progress.check()?)
        })
    }

    /// Returns another definition for a vinyl space: its rows are now in the snapshot, which can only hold
    /// rows of memtx.
    fn in_memory(&self, tuple: &[u8], remarks: &mut Vec<String>) -> Result<Option<Vec<u8>>> {
        if self.space.id != SPACE_SPACE {
            return Ok(None);
        }
        let mut spaces = Spaces::new();
        let id = spaces.set_space(tuple).map_err(|damage| self.unsupported(damage.what))?;
        let space = spaces.get(id).map_err(|damage| self.unsupported(damage.what))?;
        let Some(space) = space.filter(|space| space.engine == Engine::Vinyl) else { return Ok(None) };
        remarks.push(format!("space {} ({id}) was kept by vinyl, and is now kept by memtx", space.name));
        let context = Context { index_base: 0, fields: &[], double_fields: &[] };
        update(tuple, &engine_memtx(), &context).map(Some).map_err(|what| self.unsupported(&what))
    }

    fn unsupported(&self, what: &str) -> Error {
        let what = format!("the table of space {} cannot be written: {what}", self.space.id);
        Error::Unsupported { path: self.directory.to_owned(), what }
    }
}

/// Returns the operation that makes memtx the engine.
fn engine_memtx() -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 1);
    put_array_len(&mut out, 3);
    put_str(&mut out, b"=");
    put_uint(&mut out, FIELD_ENGINE);
    put_str(&mut out, b"memtx");
    out
}
