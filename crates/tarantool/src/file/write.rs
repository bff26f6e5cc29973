//! Writes snapshots and logs as Tarantool does, byte for byte except for what zstd produces.
//!
//! Input: a [`Header`] and rows. Output: a snapshot, which exists only when it is complete, or a log, which
//! grows by whole transactions. Does not know spaces.

use crate::error::{Error, Result};
use crate::file::block::{COMPRESSED, END, HEAD_BYTES, PAYLOAD_BYTES_MAX, PLAIN, checksum};
use crate::file::header::Header;
use crate::file::row::{Row, put_row};
use crate::msgpack::{put_double, put_str, put_uint};
use disk::{Disk, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zstd::zstd_safe::{CCtx, CParameter, get_error_name};

/// A block is closed when it has this many bytes of rows, head included.
const BLOCK_BYTES: usize = 128 << 10;
/// A block is compressed if it has at least this many bytes of rows, head included.
const COMPRESSED_BYTES_MIN: usize = 2 << 10;
/// The compression level of blocks.
const LEVEL: i32 = 3;
/// The ending of the name of a file that is being written.
const IN_PROGRESS: &str = "inprogress";
/// The program name in the headers of our files.
pub const PROGRAM: &str = concat!("pneu ", env!("CARGO_PKG_VERSION"));

/// Writes a snapshot. The file gets its name only when all of it is durable.
pub struct SnapWriter {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    name: String,
    blocks: Blocks,
    seconds: f64,
    lsn: i64,
}

impl SnapWriter {
    /// Creates the snapshot that `header` describes. Its rows get the time `seconds`, since 1970.
    ///
    /// # Errors
    /// Disk errors.
    pub fn create(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        header: &Header,
        seconds: f64,
    ) -> Result<SnapWriter> {
        let name = header.file_name();
        let blocks = Blocks::create(disk.as_ref(), in_progress(directory, &name), header)?;
        Ok(SnapWriter {
            disk: Arc::clone(disk),
            directory: directory.to_owned(),
            name,
            blocks,
            seconds,
            lsn: 0,
        })
    }

    /// Adds a tuple of a space. The system spaces come first, and the tuples of a space in the order of its
    /// first index. `group` is 1 for a space that is not replicated.
    ///
    /// # Errors
    /// Disk errors.
    pub fn insert(&mut self, space: u32, group: u64, tuple: &[u8]) -> Result<()> {
        // The head and the body are fixed bytes, because encoding them anew for each row would take most of
        // the time.
        let out = &mut self.blocks.payload;
        let count = 2 + u8::from(self.lsn != 0) + u8::from(group != 0);
        out.extend_from_slice(&[0x80 | count, 0x00, 0x02]);
        if group != 0 {
            out.push(0x07);
            put_uint(out, group);
        }
        if self.lsn != 0 {
            out.push(0x03);
            put_uint(out, self.lsn.unsigned_abs());
        }
        out.push(0x04);
        put_double(out, self.seconds);
        out.extend_from_slice(&[0x82, 0x10, 0xce]);
        out.extend_from_slice(&space.to_be_bytes());
        out.push(0x21);
        out.extend_from_slice(tuple);
        self.lsn += 1;
        self.blocks.close_if_full()
    }

    /// Adds any other row. This function sets its number and time.
    ///
    /// # Errors
    /// Disk errors.
    pub fn row(&mut self, row: &Row) -> Result<()> {
        let row = Row { lsn: self.lsn, tsn: self.lsn, is_commit: true, timestamp: self.seconds, ..*row };
        put_row(&mut self.blocks.payload, &row);
        self.lsn += 1;
        self.blocks.close_if_full()
    }

    /// Returns how many rows were added.
    pub fn row_count(&self) -> u64 {
        self.lsn.unsigned_abs()
    }

    /// Gives the snapshot the owner and the mode of another file.
    ///
    /// # Errors
    /// Disk errors. Then as much is set as is allowed.
    pub fn copy_owner(&self, like: &Path) -> Result<()> {
        Ok(self.disk.copy_owner(like, &self.blocks.path)?)
    }

    /// Ends the snapshot and makes it durable; returns its path.
    ///
    /// # Errors
    /// Disk errors. Then the snapshot does not exist or may not be durable.
    pub fn finish(mut self) -> Result<PathBuf> {
        self.blocks.end()?;
        let path = self.directory.join(&self.name);
        self.disk.rename(&self.blocks.path, &path)?;
        self.disk.sync_directory(&self.directory)?;
        Ok(path)
    }
}

/// Writes a log. The file has its name from the beginning, and grows by blocks of whole transactions.
pub struct LogWriter {
    path: PathBuf,
    blocks: Blocks,
}

impl LogWriter {
    /// Creates the log that `header` describes.
    ///
    /// # Errors
    /// Disk errors.
    pub fn create(disk: &Arc<dyn Disk>, directory: &Path, header: &Header) -> Result<LogWriter> {
        let name = header.file_name();
        let mut blocks = Blocks::create(disk.as_ref(), in_progress(directory, &name), header)?;
        blocks.file.sync()?;
        let path = directory.join(&name);
        disk.rename(&blocks.path, &path)?;
        disk.sync_directory(directory)?;
        blocks.path.clone_from(&path);
        Ok(LogWriter { path, blocks })
    }

    /// Returns where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a row. A block is closed only after the last row of a transaction.
    ///
    /// # Errors
    /// Disk errors.
    pub fn row(&mut self, row: &Row) -> Result<()> {
        put_row(&mut self.blocks.payload, row);
        if row.is_commit { self.blocks.close_if_full() } else { Ok(()) }
    }

    /// Closes the current block, however small, and makes all blocks durable. Call it between transactions.
    ///
    /// # Errors
    /// Disk errors.
    pub fn sync(&mut self) -> Result<()> {
        self.blocks.close()?;
        Ok(self.blocks.file.sync()?)
    }

    /// Ends the log with the mark of a closed file and makes it durable.
    ///
    /// # Errors
    /// Disk errors.
    pub fn finish(mut self) -> Result<()> {
        self.blocks.end()
    }
}

fn in_progress(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.{IN_PROGRESS}"))
}

/// A file that grows block by block.
struct Blocks {
    file: Box<dyn File>,
    path: PathBuf,
    payload: Vec<u8>,
    zstd: CCtx<'static>,
    compressed: Vec<u8>,
    written: Vec<u8>,
}

impl Blocks {
    /// Creates the file and writes the header. Replaces a file that an interrupted call left.
    fn create(disk: &dyn Disk, path: PathBuf, header: &Header) -> Result<Blocks> {
        disk.remove(&path)?;
        let mut file = disk.create(&path)?;
        file.write(header.text().as_bytes())?;
        let mut zstd = CCtx::create();
        let parameters = [
            CParameter::CompressionLevel(LEVEL),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
        ];
        for parameter in parameters {
            zstd.set_parameter(parameter).map_err(|code| refused(&path, get_error_name(code)))?;
        }
        Ok(Blocks { file, path, payload: Vec::new(), zstd, compressed: Vec::new(), written: Vec::new() })
    }

    fn close_if_full(&mut self) -> Result<()> {
        if self.payload.len() + HEAD_BYTES < BLOCK_BYTES { Ok(()) } else { self.close() }
    }

    /// Writes the collected rows as a block.
    fn close(&mut self) -> Result<()> {
        if self.payload.is_empty() {
            return Ok(());
        }
        if self.payload.len() > PAYLOAD_BYTES_MAX {
            return Err(refused(&self.path, "a transaction has over 2 GiB"));
        }
        self.written.clear();
        if self.payload.len() + HEAD_BYTES < COMPRESSED_BYTES_MIN {
            put_block(&mut self.written, PLAIN, &self.payload);
        } else {
            self.compressed.clear();
            self.compressed.reserve(zstd::zstd_safe::compress_bound(self.payload.len()));
            let done = self.zstd.compress2(&mut self.compressed, &self.payload);
            done.map_err(|code| refused(&self.path, get_error_name(code)))?;
            put_block(&mut self.written, COMPRESSED, &self.compressed);
        }
        self.payload.clear();
        Ok(self.file.write(&self.written)?)
    }

    fn end(&mut self) -> Result<()> {
        self.close()?;
        self.file.write(&END)?;
        Ok(self.file.sync()?)
    }
}

/// Appends a block: its head, padded to its fixed length, and the stored bytes.
fn put_block(out: &mut Vec<u8>, magic: [u8; 4], stored: &[u8]) {
    let begin = out.len();
    out.extend_from_slice(&magic);
    put_uint(out, stored.len() as u64);
    put_uint(out, 0);
    put_uint(out, u64::from(checksum(stored)));
    let padding = HEAD_BYTES - (out.len() - begin);
    if padding > 0 {
        put_str(out, &[0; HEAD_BYTES][..padding - 1]);
    }
    out.extend_from_slice(stored);
}

fn refused(path: &Path, what: &str) -> Error {
    Error::Unsupported { path: path.to_owned(), what: format!("cannot write a block: {what}") }
}
