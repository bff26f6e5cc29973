//! A file being written on a simulated disk.
//!
//! Input: bytes. Output: the same bytes, which become durable with a sync. Does not depend on the writer.

use super::operation::Operation;
use super::sim::SimDisk;
use crate::Random;
use disk::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};

/// Separates the random numbers of refused writes from those of images.
const REFUSALS_STREAM: u64 = 2;

/// An open file. After a failure it behaves like a file of the real disk; see `real.rs` of `disk`.
pub(super) struct SimFile {
    disk: SimDisk,
    inode: usize,
    path: PathBuf,
    durable_bytes: usize,
    has_failed: bool,
}

impl SimFile {
    pub(super) fn new(disk: &SimDisk, inode: usize, path: &Path, durable_bytes: usize) -> SimFile {
        SimFile { disk: disk.clone(), inode, path: path.to_owned(), durable_bytes, has_failed: false }
    }

    fn refuse_if_failed(&self, action: &'static str) -> Result<()> {
        if self.has_failed {
            return Err(Error::io(action, &self.path, io::Error::other("an earlier write to it failed")));
        }
        Ok(())
    }

    /// Leaves the file as a refused operation may: with a part of `bytes`, and then perhaps cut back to the
    /// durable length.
    fn fail(&mut self, bytes: &[u8]) {
        self.has_failed = true;
        let mut inner = self.disk.inner();
        if inner.faults.has_crashed {
            return;
        }
        let mut random = Random::of(inner.seed, REFUSALS_STREAM, inner.trace.len() as u64);
        let part = random.index(bytes.len() + 1);
        if part > 0 {
            inner.state.write(self.inode, &bytes[..part]);
        }
        let (was_on_its_way, is_cut) = (random.per_mille(500), random.per_mille(500));
        if was_on_its_way {
            inner.state.sync(self.inode);
        }
        if is_cut {
            inner.state.cut(self.inode, self.durable_bytes);
        }
    }
}

impl disk::File for SimFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.refuse_if_failed("write")?;
        let operation = Operation::Write { path: self.path.clone(), length_bytes: bytes.len() };
        let disk = self.disk.clone();
        let turn = disk.begin(operation).inspect_err(|_| self.fail(bytes))?;
        let (_turn, ()) = turn.happen(|state| {
            state.write(self.inode, bytes);
            Ok(())
        })?;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.refuse_if_failed("sync")?;
        let disk = self.disk.clone();
        let turn = disk.begin(Operation::Sync(self.path.clone())).inspect_err(|_| self.fail(&[]))?;
        let (mut turn, ()) = turn.happen(|_| Ok(()))?;
        turn.inner.state.sync(self.inode);
        self.durable_bytes = turn.inner.state.inodes[self.inode].seen.len();
        Ok(())
    }
}
