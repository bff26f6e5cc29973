//! Blobs: the contents of messages, of their parts and of uploads (RFC 8620, section 6.2).
//!
//! Input: an id. Output: bytes: of a message from the first of its files that still holds it, or from the
//! archive if it has none any more; of a part those that are decoded. An id names a content, never a path.

use crate::abridged::Abridged;
use crate::account::Account;
use crate::blob_id::{BlobId, BlobSource};
use crate::error::failed;
use crate::messages::{Reading, is_large};
use crate::past::Read;
use jmap::{Context, Id, MethodError};
use mail::Email;
use pneu::{Error, FileError, MailError, MessageContent, PartRead, RecordReader};
use std::sync::Arc;

/// The most bytes of a part in another part that are held.
const PART_BYTES_MAX: u64 = 100 << 20;

/// Why a blob cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobError {
    /// There is no such blob, or no more.
    NotFound,
    /// It cannot be read now.
    Unreadable,
    /// It is only in the archive, if anywhere, and that cannot be opened.
    Archived,
}

/// The bytes of a blob.
#[derive(Debug)]
pub struct Blob {
    /// How many bytes they are.
    pub size_bytes: u64,
    held: Held,
}

/// Where the bytes are.
#[derive(Debug)]
enum Held {
    /// Here.
    Bytes(Vec<u8>),
    /// In the file of a message that is too large to be held; only this part of it is meant.
    File(Box<MessageContent>, Option<usize>),
}

impl Blob {
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Blob {
        Blob { size_bytes: bytes.len() as u64, held: Held::Bytes(bytes) }
    }

    /// Passes the bytes to `take`, in blocks.
    ///
    /// # Errors
    /// What `take` returns; a file that was too large to be held cannot be read again.
    pub fn each_block<E: From<MailError>>(
        &self,
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.held {
            Held::Bytes(bytes) => take(bytes),
            Held::File(content, None) => content.each_block(take),
            Held::File(content, Some(number)) => {
                let mut taken = Ok(());
                each_block_of_part(content, *number, &mut |block| {
                    if taken.is_ok() {
                        taken = take(block);
                    }
                })?;
                taken
            }
        }
    }

    /// Returns the bytes.
    ///
    /// # Errors
    /// They are too many to be held: [`Blob::each_block`] gives them.
    pub fn into_bytes(self) -> Result<Vec<u8>, Blob> {
        match self.held {
            Held::Bytes(bytes) => Ok(bytes),
            held @ Held::File(..) => Err(Blob { held, ..self }),
        }
    }
}

/// What a call gets of a blob.
pub(crate) enum Found {
    /// Its bytes.
    Bytes(BlobBytes),
    /// There is no such blob, or its files cannot be read.
    Nothing,
    /// The archive does not give its message, which has no file: why.
    NotRead(MethodError),
}

/// The bytes of a blob, for a call.
pub(crate) enum BlobBytes {
    /// A message.
    Message(Arc<Reading>),
    /// Something else.
    Other(Vec<u8>),
}

impl BlobBytes {
    /// Returns the bytes, or what is held of a message that is too large.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            BlobBytes::Message(reading) => reading.bytes(),
            BlobBytes::Other(bytes) => bytes,
        }
    }

    /// Returns what is held of a message that is too large.
    pub(crate) fn abridged(&self) -> Option<&Abridged> {
        match self {
            BlobBytes::Message(reading) => reading.abridged(),
            BlobBytes::Other(_) => None,
        }
    }

    /// Returns how many bytes the blob has.
    pub(crate) fn size_bytes(&self) -> u64 {
        match self {
            BlobBytes::Message(reading) => reading.content.size_bytes,
            BlobBytes::Other(bytes) => bytes.len() as u64,
        }
    }
}

impl Account<'_> {
    /// Returns the bytes that an id names, as part of what the request may read. Those of a message whose
    /// files are gone come from the archive, if the request may see such messages.
    ///
    /// # Errors
    /// `requestTooLarge`; damage in the index; the request is cancelled.
    pub(crate) fn blob_bytes(&self, id: &BlobId, context: &Context<'_>) -> Result<Found, MethodError> {
        let bytes = match &id.source {
            BlobSource::Upload(_) => self.blob_of(id).ok().and_then(|blob| blob.into_bytes().ok()),
            BlobSource::Message(sha256) => {
                let Some(hit) = self.hit(sha256, context)? else { return Ok(Found::Nothing) };
                let content = self.view.content(&hit, &mut RecordReader::new()).map_err(failed)?;
                let reading = match self.read_now_or_archived(&hit, &content.message, context)? {
                    Read::Here(reading) => reading,
                    Read::Nowhere => return Ok(Found::Nothing),
                    Read::NotInArchive(why) => return Ok(Found::NotRead(why)),
                };
                match (id.parts.as_slice(), reading.abridged()) {
                    ([], _) => return Ok(Found::Bytes(BlobBytes::Message(reading))),
                    (numbers, None) => part(reading.bytes(), numbers),
                    (_, Some(_)) => self.blob_of(id).ok().and_then(|blob| blob.into_bytes().ok()),
                }
            }
        };
        let Some(bytes) = bytes else { return Ok(Found::Nothing) };
        self.messages.count(bytes.len() as u64)?;
        Ok(Found::Bytes(BlobBytes::Other(bytes)))
    }

    /// Returns the bytes that an id names.
    ///
    /// # Errors
    /// There are none, or they cannot be read.
    pub fn blob(&self, id: &Id) -> Result<Blob, BlobError> {
        self.blob_of(&BlobId::read(id).ok_or(BlobError::NotFound)?)
    }

    pub(crate) fn blob_of(&self, id: &BlobId) -> Result<Blob, BlobError> {
        let sha256 = match id.source {
            BlobSource::Message(sha256) => sha256,
            BlobSource::Upload(sha256) => {
                let bytes = self.upload(&sha256)?;
                let bytes = if id.parts.is_empty() { Some(bytes) } else { part(&bytes, &id.parts) };
                return bytes.map(Blob::of_bytes).ok_or(BlobError::NotFound);
            }
        };
        let mut content = self.message_content(&sha256)?;
        match id.parts.as_slice() {
            [] if is_large(&content) => {
                Ok(Blob { size_bytes: content.size_bytes, held: Held::File(content.into(), None) })
            }
            [] => Ok(Blob::of_bytes(std::mem::take(&mut content.content.bytes))),
            [number, inner @ ..] if is_large(&content) => part_of_large(content, *number, inner),
            parts => part(&content.content.bytes, parts).map(Blob::of_bytes).ok_or(BlobError::NotFound),
        }
    }

    fn upload(&self, sha256: &[u8; 32]) -> Result<Vec<u8>, BlobError> {
        let uploads = self.uploads.ok_or(BlobError::NotFound)?;
        uploads.get(sha256).map_err(|_| BlobError::Unreadable)?.ok_or(BlobError::NotFound)
    }

    pub(crate) fn message_content(&self, sha256: &[u8; 32]) -> Result<MessageContent, BlobError> {
        let hit = self.view.content_hit(sha256).map_err(|_| BlobError::Unreadable)?;
        let Some(hit) = hit else { return self.archived_content(sha256) };
        let content = self.view.content(&hit, &mut RecordReader::new()).map_err(|_| BlobError::Unreadable)?;
        self.view.read(&content.message).or_else(|error| {
            let why = match error {
                Error::File(FileError::Mail(_)) => BlobError::Unreadable,
                // Its files went just now: the archive may have it.
                Error::File(_) => return self.archived_content(sha256).map_err(|_| BlobError::NotFound),
                _ => BlobError::Unreadable,
            };
            Err(why)
        })
    }

    /// Reads a message from the archive that the index knows, and that has no file any more.
    fn archived_content(&self, sha256: &[u8; 32]) -> Result<MessageContent, BlobError> {
        let known = self.view.known_content(sha256).map_err(|_| BlobError::Unreadable)?;
        let (Some(_), Some(archive)) = (known, self.archive) else { return Err(BlobError::NotFound) };
        match archive.read(&self.view, sha256) {
            Ok(content) => content.ok_or(BlobError::NotFound),
            Err(Error::Unopened(_)) => Err(BlobError::Archived),
            Err(_) => Err(BlobError::Unreadable),
        }
    }
}

/// Returns the decoded content of a part of a message, or of a part in that part, and so on.
pub(crate) fn part(message: &[u8], numbers: &[usize]) -> Option<Vec<u8>> {
    let (number, inner) = numbers.split_first()?;
    let email = Email::of_bytes(message);
    let content = email.content(email.part(*number)?);
    if inner.is_empty() { Some(content) } else { part(&content, inner) }
}

/// Returns a part of a message that is too large to be held.
fn part_of_large(content: MessageContent, number: usize, inner: &[usize]) -> Result<Blob, BlobError> {
    let mut size_bytes = 0;
    let mut held = Vec::new();
    let read = each_block_of_part(&content, number, &mut |block| {
        size_bytes += block.len() as u64;
        if !inner.is_empty() && size_bytes <= PART_BYTES_MAX {
            held.extend_from_slice(block);
        }
    });
    match read.map_err(|_| BlobError::Unreadable)? {
        PartRead::NoSuchPart => Err(BlobError::NotFound),
        PartRead::TooMany => Err(BlobError::Unreadable),
        PartRead::Clean | PartRead::Damaged if inner.is_empty() => {
            Ok(Blob { size_bytes, held: Held::File(content.into(), Some(number)) })
        }
        _ if size_bytes > PART_BYTES_MAX => Err(BlobError::Unreadable),
        _ => part(&held, inner).map(Blob::of_bytes).ok_or(BlobError::NotFound),
    }
}

fn each_block_of_part(
    content: &MessageContent,
    number: usize,
    take: &mut dyn FnMut(&[u8]),
) -> Result<PartRead, MailError> {
    content.with_parts(|parts| parts.each_block(number, take))?
}
