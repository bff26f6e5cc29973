//! The messages of a repository: which it has, and their content.
//!
//! Input: SHA-256 of messages. Output: whether they are there, whole, and their bytes. A message shorter than
//! a piece is one blob of its own id, so the repository's index alone is enough. The pieces of a longer or
//! compressed message come from the cache or from lists in snapshots.

use crate::blobs::entry::Content;
use crate::blobs::reader::{BlobReader, MESSAGE_BYTES_MAX, content};
use crate::blobs::unindexed::UnindexedBlobs;
use crate::blobs::walk::{Revisit, Walk};
use crate::error::{Error, Result};
use crate::paths::message_place;
use crate::pieces::ids_hash::ids_hash;
use crate::read::lookup::PieceLookup;
use index::{Archive, ArchivedFile, ReadableArchive};
use mail::Compression;
use restic::Id;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use work::Progress;

/// A compressed message is unpacked up to this many bytes.
const UNPACKED_BYTES_MAX: usize = 1 << 30;

/// The messages of an archive.
pub struct ArchivedMessages<'a> {
    reader: Box<dyn BlobReader + 'a>,
    lookup: PieceLookup<'a>,
    if_unreadable: IfUnreadable,
    progress: &'a dyn Progress,
    /// The trees of snapshots that are listed.
    trees: Vec<Id>,
    /// Files of the snapshots by their keys, once they are listed.
    files: OnceLock<HashMap<[u8; 32], File>>,
    trouble: Mutex<ReadProblems>,
    /// Messages that were asked for and are not there, as far as index files say.
    denied: Mutex<Vec<[u8; 32]>>,
    unindexed: OnceLock<UnindexedBlobs>,
}

/// Requested messages that are in the repository but were not found, because no index file names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnindexedMessages {
    /// How many messages.
    pub message_count: u64,
    /// How many packs no index file names.
    pub pack_count: u64,
    /// Such packs that cannot be read, a sentence each.
    pub problems: Vec<String>,
}

/// What could not be listed or read. Everything else is still used.
#[derive(Debug, Default)]
struct ReadProblems {
    sentences: Vec<String>,
    /// Whether the repository failed as a whole. It is asked nothing more then.
    is_out: bool,
}

/// What to do if part of the repository that may hold a message cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfUnreadable {
    /// Treat the message as absent: for searches.
    Absent,
    /// Fail: for a caller that forgets absent messages.
    Fail,
}

/// A message file of a snapshot.
#[derive(Clone, Debug)]
struct File {
    pieces: Vec<Id>,
    /// The earliest time in its names, in seconds since 1970.
    named_seconds: Option<i64>,
}

impl<'a> ArchivedMessages<'a> {
    /// Returns the messages of a repository. `trees` are the snapshots' trees whose messages are listed;
    /// look-ups of single messages do not need them. Reads nothing yet.
    pub(crate) fn new(
        reader: Box<dyn BlobReader + 'a>,
        (lookup, if_unreadable): (PieceLookup<'a>, IfUnreadable),
        trees: Vec<Id>,
        progress: &'a dyn Progress,
    ) -> ArchivedMessages<'a> {
        let (files, unindexed) = (OnceLock::new(), OnceLock::new());
        let (trouble, denied) = (Mutex::default(), Mutex::default());
        ArchivedMessages { reader, lookup, if_unreadable, progress, trees, files, trouble, denied, unindexed }
    }

    /// Returns how many of the messages that were not found are in packs that no index file names. Reads
    /// these packs once, if any message was not found.
    ///
    /// # Errors
    /// The repository cannot be reached; [`Error::Interrupted`].
    pub fn unindexed(&self) -> Result<UnindexedMessages> {
        let denied = std::mem::take(&mut *self.denied.lock().unwrap_or_else(PoisonError::into_inner));
        let mut unindexed = UnindexedMessages::default();
        for message in &denied {
            unindexed.message_count += u64::from(self.is_unindexed(message)?);
        }
        if let Some(blobs) = self.unindexed.get() {
            (unindexed.pack_count, unindexed.problems) = (blobs.pack_count, blobs.problems.clone());
        }
        Ok(unindexed)
    }

    /// Returns whether a message that was not found is in the repository, in packs that no index file names.
    ///
    /// # Errors
    /// Same as [`ArchivedMessages::unindexed`].
    pub fn is_unindexed(&self, message: &[u8; 32]) -> Result<bool> {
        let unindexed = self.unindexed_blobs()?;
        if unindexed.pieces.is_empty() {
            return Ok(false);
        }
        for pieces in self.possible_pieces(message)? {
            let held = self.reader.holds_pieces(&pieces)?;
            if pieces.iter().zip(held).all(|(piece, held)| held || unindexed.pieces.contains(piece)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn unindexed_blobs(&self) -> Result<&UnindexedBlobs> {
        if let Some(unindexed) = self.unindexed.get() {
            return Ok(unindexed);
        }
        let read = self.reader.unindexed_blobs(self.progress)?;
        Ok(self.unindexed.get_or_init(|| read))
    }

    /// Returns the problems of listing and reading so far, a sentence each.
    pub fn problems(&self) -> Vec<String> {
        let mut sentences = self.lookup.problems().to_vec();
        sentences.extend_from_slice(&self.trouble.lock().unwrap_or_else(PoisonError::into_inner).sentences);
        sentences
    }

    /// Notes an error, unless it is an interruption.
    fn note(&self, error: Error) -> Result<()> {
        if error.is_interruption() {
            return Err(error);
        }
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.sentences.push(error.to_string());
        trouble.is_out |= !error.is_of_a_part();
        Ok(())
    }

    fn is_out(&self) -> bool {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).is_out
    }

    /// Returns a message's bytes, or `None` if the repository does not have all of it. Reads the message's
    /// pieces; a message that is not found makes the first call read the lists in snapshots.
    ///
    /// # Errors
    /// A piece cannot be read.
    pub fn message(&self, sha256: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        let Some(pieces) = self.pieces_of(sha256)? else { return Ok(None) };
        let bytes = content(&*self.reader, &pieces, MESSAGE_BYTES_MAX)?;
        if Sha256::digest(&bytes)[..] == sha256[..] {
            return Ok(Some(bytes));
        }
        let mut message = Vec::new();
        let unpacked = mail::unpack(&bytes, Compression::of(&bytes), UNPACKED_BYTES_MAX, &mut message);
        // The pieces may now belong to another file, so the hash decides.
        let is_it = unpacked.is_ok() && Sha256::digest(&message)[..] == sha256[..];
        Ok(is_it.then_some(message))
    }

    /// Returns all lists of pieces that may make up the message.
    fn possible_pieces(&self, message: &[u8; 32]) -> Result<Vec<Vec<Id>>> {
        let mut ways = self.known_pieces(message)?;
        ways.extend(self.lookup.lists()?.list.0.get(message).cloned());
        Ok(ways)
    }

    /// Returns the lists of pieces that are known without a list in a snapshot.
    fn known_pieces(&self, message: &[u8; 32]) -> Result<Vec<Vec<Id>>> {
        let mut ways = vec![vec![Id(*message)]];
        ways.append(&mut self.lookup.pieces_of(message)?);
        Ok(ways)
    }

    /// Returns the pieces of a message, if all of them exist.
    fn pieces_of(&self, message: &[u8; 32]) -> Result<Option<Vec<Id>>> {
        for pieces in self.known_pieces(message)? {
            if self.reader.holds_pieces(&pieces)?.iter().all(|has| *has) {
                return Ok(Some(pieces));
            }
        }
        let lists = self.lookup.lists()?;
        if let Some(pieces) = lists.list.0.get(message)
            && self.reader.holds_pieces(pieces)?.iter().all(|has| *has)
        {
            return Ok(Some(pieces.clone()));
        }
        match lists.problems.first() {
            Some(what) if self.if_unreadable == IfUnreadable::Fail => {
                Err(Error::PiecesUnknown { what: what.clone() })
            }
            _ => Ok(None),
        }
    }

    fn files(&self) -> Result<&HashMap<[u8; 32], File>> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        let mut walk = Walk::new(&*self.reader, self.progress, Revisit::Skip);
        let mut files = HashMap::new();
        for tree in &self.trees {
            let walked = walk.run(tree, &mut |directory, entry| {
                if let (Some(_), Content::File(pieces)) = (message_place(directory), &entry.content) {
                    let named_seconds = mail::name_seconds(&entry.name);
                    let file = || File { pieces: pieces.clone(), named_seconds };
                    let known: &mut File = files.entry(self.key(pieces)?).or_insert_with(file);
                    known.named_seconds = known.named_seconds.into_iter().chain(named_seconds).min();
                }
                Ok(())
            });
            walked.or_else(|error| self.note(error))?;
            if self.is_out() {
                break;
            }
        }
        Ok(self.files.get_or_init(|| files))
    }

    /// Returns the key of a file: the SHA-256 of its message if that is known, else a hash of its pieces'
    /// ids.
    fn key(&self, pieces: &[Id]) -> Result<[u8; 32]> {
        Ok(self.lookup.message_of(pieces)?.unwrap_or_else(|| ids_hash(pieces)))
    }
}

impl ArchivedMessages<'_> {
    /// Decides about a message that no index file names: a caller that forgets absent messages keeps one that
    /// may be there.
    fn is_doubtful(&self, message: &[u8; 32]) -> index::Result<bool> {
        if self.if_unreadable == IfUnreadable::Absent {
            self.denied.lock().unwrap_or_else(PoisonError::into_inner).push(*message);
            return Ok(false);
        }
        let unindexed = self.unindexed_blobs().map_err(index::Error::archive)?;
        match unindexed.problems.first() {
            Some(what) => Err(index::Error::archive(Error::UnindexedPack { what: what.clone() })),
            None => self.is_unindexed(message).map_err(index::Error::archive),
        }
    }
}

impl Archive for ArchivedMessages<'_> {
    fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
        let ids: Vec<Id> = sha256.iter().map(|id| Id(*id)).collect();
        let mut held = self.reader.holds_pieces(&ids).map_err(index::Error::archive)?;
        for (id, held) in sha256.iter().zip(&mut held).filter(|(_, held)| !**held) {
            *held = self.pieces_of(id).map_err(index::Error::archive)?.is_some() || self.is_doubtful(id)?;
        }
        Ok(held)
    }
}

/// Skips damaged and missing parts. Once the storage cannot be reached, lists and reads nothing more; see
/// [`ArchivedMessages::problems`]. Only an interruption is an error. The first call walks the trees of all
/// snapshots.
impl ReadableArchive for ArchivedMessages<'_> {
    fn each_key(&self, visit: &mut dyn FnMut([u8; 32]) -> index::Result<()>) -> index::Result<()> {
        let mut keys: Vec<[u8; 32]> = self.files().map_err(index::Error::archive)?.keys().copied().collect();
        keys.sort_unstable();
        keys.into_iter().try_for_each(visit)
    }

    fn read(&self, key: &[u8; 32]) -> index::Result<Option<ArchivedFile>> {
        let Some(file) = self.files().map_err(index::Error::archive)?.get(key) else { return Ok(None) };
        if self.is_out() {
            return Ok(None);
        }
        match content(&*self.reader, &file.pieces, MESSAGE_BYTES_MAX) {
            Ok(bytes) => Ok(Some(ArchivedFile { bytes, named_seconds: file.named_seconds })),
            Err(error) => self.note(error).map(|()| None).map_err(index::Error::archive),
        }
    }
}
