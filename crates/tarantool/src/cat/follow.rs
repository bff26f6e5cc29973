//! Goes on printing a log that grows, and then the log after it.
//!
//! Input: a path, and calls whenever something may have been written. Output: rows, as `print` writes them.
//! Does not wait, and does not know how the caller learns of writes.

use super::print::{FilePart, Notice, Printer, Tail};
use crate::error::{Error, Result};
use crate::file::directory;
use crate::file::header::{FileKind, HEADER_BYTES_MAX, Header};
use disk::Disk;
use std::path::{Path, PathBuf};

/// Bytes that are read at once; more only if a block is longer.
const PIECE_BYTES: u64 = 16 << 20;

/// A log that may grow.
#[derive(Clone, Debug)]
pub struct Growing {
    path: PathBuf,
    /// None while the file has no whole header.
    header: Option<Header>,
    /// Everything before this is printed.
    offset: u64,
    is_closed: bool,
    shown_before: u64,
}

/// Where a log is read from, and how its end is taken.
#[derive(Clone, Copy)]
struct Reading<'a> {
    disk: &'a dyn Disk,
    tail: Tail,
}

/// What a call has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Everything that is there is printed; more may come.
    Waits,
    /// The log is done, and the next one was begun: call again.
    NextLog,
}

impl Growing {
    /// Begins at the first row of a log.
    pub fn new(path: PathBuf) -> Growing {
        Growing { path, header: None, offset: 0, is_closed: false, shown_before: 0 }
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Prints what was written since the last call. At the end of a log that has a successor in its
    /// directory, goes on with that.
    ///
    /// # Errors
    /// `Err` of the outer result: what `sink` returns. Of the inner: disk errors, or a file that is no log.
    pub fn go_on<E>(
        &mut self,
        disk: &dyn Disk,
        printer: &mut Printer,
        sink: &mut dyn FnMut(&[u8]) -> std::result::Result<(), E>,
        notice: &mut dyn FnMut(&Path, Notice),
    ) -> std::result::Result<Result<Followed>, E> {
        // A successor that is there now shows that everything before it was written.
        let next = match self.successor(disk) {
            Ok(next) => next,
            Err(error) => return Ok(Err(error)),
        };
        let tail = if next.is_some() { Tail::Ends } else { Tail::Grows };
        while !self.is_closed {
            let before = self.offset;
            match self.print_piece(Reading { disk, tail }, printer, sink, notice)? {
                Ok(is_more) if is_more && self.offset > before => {}
                Ok(_) => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        let Some(next) = next else { return Ok(Ok(Followed::Waits)) };
        printer.end_file(self.shown_before, sink)?;
        *self = Growing { shown_before: printer.totals().shown_count, ..Growing::new(next) };
        Ok(Ok(Followed::NextLog))
    }

    /// Returns the log after this one, if it was begun.
    fn successor(&self, disk: &dyn Disk) -> Result<Option<PathBuf>> {
        let Some(header) = &self.header else { return Ok(None) };
        let directory = match self.path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        let signature = header.vclock.signature();
        let logs = directory::list(disk, directory, FileKind::Log)?;
        Ok(logs.into_iter().find(|log| log.signature > signature).map(|log| log.path))
    }

    /// Prints at most one piece. Returns whether more is there.
    fn print_piece<E>(
        &mut self,
        Reading { disk, tail }: Reading,
        printer: &mut Printer,
        sink: &mut dyn FnMut(&[u8]) -> std::result::Result<(), E>,
        notice: &mut dyn FnMut(&Path, Notice),
    ) -> std::result::Result<Result<bool>, E> {
        let mut wanted = PIECE_BYTES;
        loop {
            let (bytes, is_all) = match self.read(disk, wanted) {
                Ok(read) => read,
                Err(error) => return Ok(Err(error)),
            };
            let tail = if is_all { tail } else { Tail::Grows };
            let begin = match self.read_header(&bytes, tail) {
                Ok(Some(begin)) => begin,
                Ok(None) => return Ok(Ok(false)),
                Err(error) => return Ok(Err(error)),
            };
            let part = FilePart { bytes: &bytes, begin, kind: FileKind::Log, base: self.offset };
            let path = self.path.clone();
            let reached = printer.print_part(part, tail, sink, &mut |told| notice(&path, told))?;
            let is_stuck = reached.offset == begin && !is_all;
            self.offset += reached.offset as u64;
            self.is_closed = reached.is_closed;
            if !is_stuck {
                return Ok(Ok(!is_all));
            }
            // A block is longer than a piece.
            wanted = wanted.saturating_mul(2);
        }
    }

    /// Reads from the offset on. Returns whether that is all there is.
    fn read(&self, disk: &dyn Disk, wanted: u64) -> Result<(Vec<u8>, bool)> {
        let size = disk.size(&self.path)?;
        if size < self.offset {
            let what = "the log became shorter than what was read of it already".to_owned();
            return Err(Error::Unsupported { path: self.path.clone(), what });
        }
        let length = (size - self.offset).min(wanted);
        let is_all = self.offset + length == size;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok((disk.read_range(&self.path, self.offset, length)?, is_all))
    }

    /// Reads the header, if that was not done. Returns where the first block begins in `bytes`; nothing if
    /// the header is not whole yet.
    fn read_header(&mut self, bytes: &[u8], tail: Tail) -> Result<Option<usize>> {
        if self.header.is_some() {
            return Ok(Some(0));
        }
        match Header::parse(bytes) {
            Ok((header, begin)) if header.kind == FileKind::Log => {
                self.header = Some(header);
                Ok(Some(begin))
            }
            Ok((header, _)) => {
                let kind = header.kind.extension();
                let what = format!("this is a .{kind} file, which does not grow: only logs are followed");
                Err(Error::Unsupported { path: self.path.clone(), what })
            }
            Err(_) if bytes.len() < HEADER_BYTES_MAX && tail == Tail::Grows && !has_end(bytes) => Ok(None),
            Err(damage) => Err(damage.in_file(&self.path, 0)),
        }
    }
}

/// Returns whether the empty line after a header is there.
fn has_end(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\n\n")
}
