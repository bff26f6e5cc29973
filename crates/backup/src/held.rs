//! What an archive holds of messages: which, and their content.
//!
//! In: SHA-256 of messages. Out: whether they are there, whole, and their bytes. A message shorter than a piece is the piece of its name, so
//! the index of the archive alone answers for it. Of a longer one the pieces are known from backups made here, or from lists in
//! snapshots, and so is the file of one that is compressed.

use crate::entry::Content;
use crate::error::{Error, Result};
use crate::learned::Learned;
use crate::strays::Strays;
use crate::vault::{Again, MESSAGE_BYTES_MAX, Vault, Walk, content, message_place};
use archive::{Id, Progress};
use index::{Contents, Elsewhere, Kept};
use mail::Compression;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A compressed message is unpacked up to so many bytes.
const UNPACKED_BYTES_MAX: usize = 1 << 30;

/// The messages of an archive.
pub struct Held<'a> {
    vault: Box<dyn Vault + 'a>,
    learned: Learned<'a>,
    doubt: Doubt,
    progress: &'a dyn Progress,
    /// The trees of snapshots that are listed.
    trees: Vec<Id>,
    /// Files of the snapshots by their keys, once they are listed.
    files: OnceLock<HashMap<[u8; 32], File>>,
    trouble: Mutex<Trouble>,
    /// Messages that were asked for and are not there, as far as index files say.
    denied: Mutex<Vec<[u8; 32]>>,
    strays: OnceLock<Strays>,
}

/// What was asked for, lies in the archive, and is not found there: no index file names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unindexed {
    /// How many messages.
    pub message_count: u64,
    /// How many packs no index file names.
    pub pack_count: u64,
    /// Such packs that cannot be read, a sentence each.
    pub problems: Vec<String>,
}

/// What could not be listed or read. It is no reason to do without all the rest.
#[derive(Debug, Default)]
struct Trouble {
    sentences: Vec<String>,
    /// Whether the archive failed as a whole: nothing more is asked of it.
    is_out: bool,
}

/// What it means that something of the archive cannot be read which may say that a message is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The message is not there as far as anybody knows: for who looks for messages.
    IsNo,
    /// Nobody can say: for who forgets messages that are not there.
    IsAnError,
}

/// A message file of a snapshot.
#[derive(Clone, Debug)]
struct File {
    pieces: Vec<Id>,
    /// The earliest time that its names say.
    named_seconds: Option<i64>,
}

impl<'a> Held<'a> {
    /// Takes note of where to look. `trees` are those of the snapshots whose messages are to be listed; they need not be given to look
    /// single messages up.
    pub(crate) fn new(
        vault: Box<dyn Vault + 'a>,
        (learned, doubt): (Learned<'a>, Doubt),
        trees: Vec<Id>,
        progress: &'a dyn Progress,
    ) -> Held<'a> {
        let (files, strays) = (OnceLock::new(), OnceLock::new());
        let (trouble, denied) = (Mutex::default(), Mutex::default());
        Held { vault, learned, doubt, progress, trees, files, trouble, denied, strays }
    }

    /// Returns how much of what was asked for by now lies in packs that no index file names. Nothing is asked
    /// of the archive if everything was there.
    ///
    /// # Errors
    /// The archive cannot be reached; [`Error::Interrupted`].
    pub fn unindexed(&self) -> Result<Unindexed> {
        let denied = std::mem::take(&mut *self.denied.lock().unwrap_or_else(PoisonError::into_inner));
        let mut unindexed = Unindexed::default();
        for message in &denied {
            unindexed.message_count += u64::from(self.is_unindexed(message)?);
        }
        if let Some(strays) = self.strays.get() {
            (unindexed.pack_count, unindexed.problems) = (strays.pack_count, strays.problems.clone());
        }
        Ok(unindexed)
    }

    /// Says of a message that is not there whether it is all the same, and no index file names all of its
    /// pieces.
    ///
    /// # Errors
    /// As [`Held::unindexed`].
    pub fn is_unindexed(&self, message: &[u8; 32]) -> Result<bool> {
        let strays = self.strays()?;
        if strays.pieces.is_empty() {
            return Ok(false);
        }
        for pieces in self.ways(message)? {
            let held = self.vault.holds_pieces(&pieces)?;
            if pieces.iter().zip(held).all(|(piece, held)| held || strays.pieces.contains(piece)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn strays(&self) -> Result<&Strays> {
        if let Some(strays) = self.strays.get() {
            return Ok(strays);
        }
        let read = self.vault.strays(self.progress)?;
        Ok(self.strays.get_or_init(|| read))
    }

    /// Returns what could not be listed or read so far, for an index that took in all else: a sentence each.
    pub fn problems(&self) -> Vec<String> {
        let mut sentences = self.learned.problems().to_vec();
        sentences.extend_from_slice(&self.trouble.lock().unwrap_or_else(PoisonError::into_inner).sentences);
        sentences
    }

    /// Takes note of an error, unless it ends everything.
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

    /// Returns a message's bytes; `None` if the archive does not have it, whole.
    ///
    /// # Errors
    /// A piece cannot be read.
    pub fn message(&self, sha256: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        let Some(pieces) = self.pieces_of(sha256)? else { return Ok(None) };
        let bytes = content(&*self.vault, &pieces, MESSAGE_BYTES_MAX)?;
        if Sha256::digest(&bytes)[..] == sha256[..] {
            return Ok(Some(bytes));
        }
        let mut message = Vec::new();
        let unpacked = mail::unpack(&bytes, Compression::of(&bytes), UNPACKED_BYTES_MAX, &mut message);
        // What is known may be of another file by now: only the message itself will do.
        let is_it = unpacked.is_ok() && Sha256::digest(&message)[..] == sha256[..];
        Ok(is_it.then_some(message))
    }

    /// Returns all that is known of which pieces a message may be.
    fn ways(&self, message: &[u8; 32]) -> Result<Vec<Vec<Id>>> {
        let mut ways = self.near_ways(message)?;
        ways.extend(self.learned.lists()?.list.0.get(message).cloned());
        Ok(ways)
    }

    /// Returns what of that no list in a snapshot has to be read for.
    fn near_ways(&self, message: &[u8; 32]) -> Result<Vec<Vec<Id>>> {
        let mut ways = vec![vec![Id(*message)]];
        ways.append(&mut self.learned.pieces_of(message)?);
        Ok(ways)
    }

    /// Returns the pieces of a message, if all of them are there.
    fn pieces_of(&self, message: &[u8; 32]) -> Result<Option<Vec<Id>>> {
        for pieces in self.near_ways(message)? {
            if self.vault.holds_pieces(&pieces)?.iter().all(|has| *has) {
                return Ok(Some(pieces));
            }
        }
        let lists = self.learned.lists()?;
        if let Some(pieces) = lists.list.0.get(message)
            && self.vault.holds_pieces(pieces)?.iter().all(|has| *has)
        {
            return Ok(Some(pieces.clone()));
        }
        match lists.problems.first() {
            Some(what) if self.doubt == Doubt::IsAnError => Err(Error::Unlisted { what: what.clone() }),
            _ => Ok(None),
        }
    }

    fn files(&self) -> Result<&HashMap<[u8; 32], File>> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        let mut walk = Walk::new(&*self.vault, self.progress, Again::Pass);
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

    /// Returns what a file is listed under: the SHA-256 of its content where that is known, else one of its pieces' names.
    fn key(&self, pieces: &[Id]) -> Result<[u8; 32]> {
        if let Some(message) = self.learned.message_of(pieces)? {
            return Ok(message);
        }
        let names: Vec<u8> = pieces.iter().flat_map(|piece| piece.0).collect();
        Ok(Sha256::digest(&names).into())
    }
}

impl Held<'_> {
    /// Decides about a message that no index file knows: who forgets what is not there keeps it if it may be
    /// there all the same.
    fn is_doubtful(&self, message: &[u8; 32]) -> index::Result<bool> {
        if self.doubt == Doubt::IsNo {
            self.denied.lock().unwrap_or_else(PoisonError::into_inner).push(*message);
            return Ok(false);
        }
        let strays = self.strays().map_err(index::Error::elsewhere)?;
        match strays.problems.first() {
            Some(what) => Err(index::Error::elsewhere(Error::Unnamed { what: what.clone() })),
            None => self.is_unindexed(message).map_err(index::Error::elsewhere),
        }
    }
}

impl Elsewhere for Held<'_> {
    fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
        let ids: Vec<Id> = sha256.iter().map(|id| Id(*id)).collect();
        let mut held = self.vault.holds_pieces(&ids).map_err(index::Error::elsewhere)?;
        for (id, held) in sha256.iter().zip(&mut held).filter(|(_, held)| !**held) {
            *held = self.pieces_of(id).map_err(index::Error::elsewhere)?.is_some() || self.is_doubtful(id)?;
        }
        Ok(held)
    }
}

/// What is damaged or missing is passed by, and once the archive cannot be reached at all nothing more of it is listed or read:
/// [`Held::problems`] says so. Only an interruption is an error.
impl Contents for Held<'_> {
    fn each_key(&self, visit: &mut dyn FnMut([u8; 32]) -> index::Result<()>) -> index::Result<()> {
        let mut keys: Vec<[u8; 32]> =
            self.files().map_err(index::Error::elsewhere)?.keys().copied().collect();
        keys.sort_unstable();
        keys.into_iter().try_for_each(visit)
    }

    fn read(&self, key: &[u8; 32]) -> index::Result<Option<Kept>> {
        let Some(file) = self.files().map_err(index::Error::elsewhere)?.get(key) else { return Ok(None) };
        if self.is_out() {
            return Ok(None);
        }
        match content(&*self.vault, &file.pieces, MESSAGE_BYTES_MAX) {
            Ok(bytes) => Ok(Some(Kept { bytes, named_seconds: file.named_seconds })),
            Err(error) => self.note(error).map(|()| None).map_err(index::Error::elsewhere),
        }
    }
}
