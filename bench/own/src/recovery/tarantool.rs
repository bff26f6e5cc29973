//! What Tarantool is told.
//!
//! Comes in: directories. Goes out: its commands and scripts. Must not know what is measured.

use super::files::{Files, INDEXES, Kind, SPACE};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the command that recovers `files` and says that it is ready when a key was found through each index.
pub(super) fn load(files: &Files, key: u64) -> Result<Command> {
    let directory = files.directory();
    let memory = files.rows() * 256 + (512 << 20);
    let script = format!(
        "box.cfg{{memtx_memory = {memory}, memtx_dir = {0:?}, wal_dir = {0:?}, vinyl_dir = {0:?}, wal_mode = 'none', log = '/dev/null'}}\n\
         local space = box.space.{SPACE}\n\
         assert(space.index.{1}:get({{{key}}}) and space.index.{2}:get({{{key}}}))\n\
         assert(space:len() == {3}, space:len())\n\
         io.stdout:write('ready\\n') io.stdout:flush()\n\
         os.exit(0)\n",
        directory,
        INDEXES[0],
        INDEXES[1],
        files.rows()
    );
    command(&directory.with_extension("lua"), &script)
}

/// Makes a snapshot in `directory` that has the space and its indexes, and no tuple.
pub(super) fn define(directory: &Path, kind: Kind) -> Result<()> {
    let name = match kind {
        Kind::Tree => "tree",
        Kind::Hash => "hash",
    };
    let script = format!(
        "box.cfg{{memtx_dir = {0:?}, wal_dir = {0:?}, vinyl_dir = {0:?}, log = '/dev/null'}}\n\
         local space = box.schema.space.create('{SPACE}')\n\
         space:create_index('{1}', {{type = '{name}', parts = {{1, 'unsigned'}}}})\n\
         space:create_index('{2}', {{type = '{name}', parts = {{2, 'unsigned'}}}})\n\
         box.snapshot()\n\
         os.exit(0)\n",
        directory, INDEXES[0], INDEXES[1]
    );
    let output = command(&directory.with_extension("lua"), &script)?
        .output()
        .context("cannot start tarantool: apt-get install -y tarantool")?;
    if !output.status.success() {
        bail!("tarantool failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn command(script_path: &Path, script: &str) -> Result<Command> {
    fs::write(script_path, script).with_context(|| format!("cannot write {}", script_path.display()))?;
    let mut command = Command::new("tarantool");
    command.arg(script_path).env_remove("LUA_PATH");
    Ok(command)
}
