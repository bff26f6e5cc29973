//! Tarantool: an in-memory database, and the scripts that make it recover.
//!
//! Input: directories. Output: its commands and scripts. Does not know what is measured.

use crate::peer::{Installed, Peer, said};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "Tarantool",
    variable: "PEER_TARANTOOL",
    program: "tarantool",
    version: &["--version"],
    packages: &["tarantool"],
    module: None,
};

/// A space with two indexes over its first two fields, which are unsigned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its indexes, over the first field and over the second.
    pub(crate) indexes: [&'static str; 2],
    /// The kind of both.
    pub(crate) index_type: &'static str,
}

/// Returns the command that recovers a directory and reports that it is ready when a key was found through
/// each index.
pub(crate) fn load(
    tarantool: &Installed,
    directory: &Path,
    space: Space,
    rows: u64,
    key: u64,
) -> Result<Command> {
    let memory = rows * 256 + (512 << 20);
    let Space { name, indexes: [first, second], .. } = space;
    let script = format!(
        "box.cfg{{memtx_memory = {memory}, memtx_dir = {0:?}, wal_dir = {0:?}, vinyl_dir = {0:?}, wal_mode = \
         'none', log = '/dev/null'}}\n\
         local space = box.space.{name}\n\
         assert(space.index.{first}:get({{{key}}}) and space.index.{second}:get({{{key}}}))\n\
         assert(space:len() == {rows}, space:len())\n\
         io.stdout:write('ready\\n') io.stdout:flush()\n\
         os.exit(0)\n",
        directory,
    );
    command(tarantool, &directory.with_extension("lua"), &script)
}

/// Creates a snapshot in `directory` that has the space and its indexes, and no tuple.
pub(crate) fn define(tarantool: &Installed, directory: &Path, space: Space) -> Result<()> {
    let Space { name, indexes: [first, second], index_type } = space;
    let script = format!(
        "box.cfg{{memtx_dir = {0:?}, wal_dir = {0:?}, vinyl_dir = {0:?}, log = '/dev/null'}}\n\
         local space = box.schema.space.create('{name}')\n\
         space:create_index('{first}', {{type = '{index_type}', parts = {{1, 'unsigned'}}}})\n\
         space:create_index('{second}', {{type = '{index_type}', parts = {{2, 'unsigned'}}}})\n\
         box.snapshot()\n\
         os.exit(0)\n",
        directory
    );
    said(&mut command(tarantool, &directory.with_extension("lua"), &script)?).map(drop)
}

fn command(tarantool: &Installed, script_path: &Path, script: &str) -> Result<Command> {
    fs::write(script_path, script).with_context(|| format!("cannot write {}", script_path.display()))?;
    let mut command = Command::new(&tarantool.program);
    command.arg(script_path).env_remove("LUA_PATH");
    Ok(command)
}
