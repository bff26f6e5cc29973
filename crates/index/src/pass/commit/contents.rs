//! Reads files and computes their ids. Also handles archived contents, as if they had been read from files.
//!
//! Input: files to read. Output: their contents. Memory is bounded: only the beginning of a large file is
//! read together with others. Must not know what the contents are used for.

use crate::archive::ArchivedFile;
use crate::attached::{Asking, Attached};
use crate::pass::plan::Candidate;
use mail::{Compression, FileContent, FileStat, Identity, LargeMessage, MessageParts, Unpacked};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Largest file that is read together with others, in bytes. Only this much is read of a larger one.
pub(super) const SMALL_BYTES: usize = 256 << 10;

/// How often a file is read again because it changed while being read.
const REREAD_COUNT_MAX: usize = 3;

/// The content of a file, and its id.
pub(in crate::pass) struct Read {
    /// The beginning, and whether there is more.
    pub content: FileContent,
    /// The id of the whole content, or of its beginning as long as only that was read.
    pub sha256: [u8; 32],
    /// The size in bytes of the same.
    pub size_bytes: u64,
    /// The parsed message, if it was too large for memory and is new.
    pub message: Option<Box<mail::Message>>,
    /// The text of its attachments, if it was read with the message.
    pub attached: Option<Attached>,
}

/// How larger messages are read.
pub(in crate::pass) struct Manner<'a> {
    /// The largest message held in memory, in bytes. Larger ones are read in pieces.
    pub limit_bytes: usize,
    /// The present time, to judge dates by.
    pub now_seconds: i64,
    /// Names of header fields that are indexed in addition to the standard ones.
    pub headers: &'a [String],
    /// Returns whether the message with an id is known, and need not be parsed.
    pub is_known: &'a (dyn Fn(&[u8; 32]) -> bool + Sync),
    /// What reads the text of attachments, if anything does.
    pub attached: Option<Asking<'a>>,
}

fn read(path: &Path, limit_bytes: usize) -> mail::Result<Read> {
    let content = mail::read_message(path, limit_bytes)?;
    let (sha256, size_bytes) = identity(&content.bytes);
    Ok(Read { content, sha256, size_bytes, message: None, attached: None })
}

/// Returns the id and the size of a content.
pub(super) fn identity(bytes: &[u8]) -> ([u8; 32], u64) {
    (Sha256::digest(bytes).into(), bytes.len() as u64)
}

/// Reads a file that is not small.
pub(in crate::pass) fn read_large(path: &Path, manner: &Manner<'_>) -> mail::Result<Read> {
    if mail::stat_file(path)?.size_bytes <= manner.limit_bytes as u64 {
        let whole = read(path, manner.limit_bytes)?;
        if !whole.content.truncated {
            return Ok(whole);
        }
    }
    let mut count = 0;
    loop {
        let mut large = LargeMessage::open(path)?;
        let stat = large.stat();
        match read_in_pieces(&mut large, stat, manner) {
            Err(mail::Error::Changed { .. }) if count < REREAD_COUNT_MAX => count += 1,
            other => return other,
        }
    }
}

/// Converts an archived file as if it had been read from disk. Returns `None` if it is compressed and
/// damaged.
pub(super) fn read_archived(kept: ArchivedFile, manner: &Manner<'_>) -> Option<Read> {
    let stat = FileStat { size_bytes: kept.bytes.len() as u64, ..FileStat::default() };
    let mut content = FileContent::default();
    (content.stat, content.compression) = (stat, Compression::of(&kept.bytes));
    let is_held = match content.compression {
        Compression::Plain => kept.bytes.len() <= manner.limit_bytes,
        compression => {
            let unpacked = mail::unpack(&kept.bytes, compression, manner.limit_bytes, &mut content.bytes);
            unpacked.ok()? == Unpacked::Whole
        }
    };
    if !is_held {
        drop(content);
        let mut large = LargeMessage::of_bytes(&kept.bytes, Path::new("a content of the archive")).ok()?;
        return read_in_pieces(&mut large, stat, manner).ok();
    }
    if content.compression == Compression::Plain {
        content.bytes = kept.bytes;
    }
    let (sha256, size_bytes) = identity(&content.bytes);
    Some(Read { content, sha256, size_bytes, message: None, attached: None })
}

/// Hashes a message without holding it in memory, and parses it if it is new.
fn read_in_pieces(large: &mut LargeMessage<'_>, stat: FileStat, manner: &Manner<'_>) -> mail::Result<Read> {
    let mut content = FileContent::default();
    (content.stat, content.compression) = (stat, large.compression());
    let Identity { sha256, size_bytes, is_cut } = large.identify()?;
    content.truncated = is_cut;
    let (mut message, mut attached) = (None, None);
    if !(manner.is_known)(&sha256) {
        let context = mail::Context::new(manner.now_seconds);
        let parsed = large.parse(&mail::Context { headers: manner.headers, ..context })?;
        attached = manner.attached.map(|asking| {
            let split = || MessageParts::of_large(large);
            asking.read(&parsed, split)
        });
        message = Some(Box::new(parsed));
    }
    Ok(Read { content, sha256, size_bytes, message, attached })
}

/// Returns the path of a file to read. `folder` is the directory of its folder.
pub(in crate::pass) fn path_of(folder: &Path, candidate: &Candidate) -> PathBuf {
    mail::join(&folder.join(candidate.found.subdirectory.name()), &candidate.found.name)
}

/// Returns what a large message counts for while it is in memory, in bytes. What a compressed one unpacks to
/// is not known.
pub(in crate::pass) fn large_bytes(beginning: &Read, bytes_max: u64) -> u64 {
    match beginning.content.compression {
        Compression::Plain => beginning.content.stat.size_bytes.min(bytes_max),
        _ => bytes_max,
    }
}
