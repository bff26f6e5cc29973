//! The floor of a recovery: checks and unpacks all blocks of a directory's files, with each core taking the
//! next block, and keeps nothing.
//!
//! Input: a directory. Output: how many bytes were unpacked. Does not know what is measured.

use anyhow::{Context, Result};
use clap::Args;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tarantool::{Header, Unpacker, blocks};

/// What to unpack.
#[derive(Debug, Args)]
pub(crate) struct UnpackArguments {
    directory: PathBuf,
}

/// Unpacks everything and says that it is ready.
pub(crate) fn unpack(arguments: &UnpackArguments) -> Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&arguments.directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "snap" || end == "xlog"));
    let bytes: u64 = paths.iter().map(|path| unpack_file(path)).sum::<Result<u64>>()?;
    Ok(writeln!(std::io::stdout(), "ready: {bytes} bytes")?)
}

fn unpack_file(path: &Path) -> Result<u64> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (header, header_bytes) = Header::parse(&bytes).map_err(|damage| damage.in_file(path, 0))?;
    let blocks = blocks(path, &bytes, header_bytes)?;
    let next = AtomicUsize::new(0);
    let work = || -> Result<u64> {
        let mut unpacker = Unpacker::for_file(header.kind);
        let mut unpacked = 0;
        while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let payload = unpacker.unpack(&bytes, block).map_err(|damage| damage.in_file(path, 0))?;
            unpacked += payload.len() as u64;
        }
        Ok(unpacked)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("an unpacking thread does not panic")).sum()
    })
}
