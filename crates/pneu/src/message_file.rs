//! Reads a message from the disk as it is now.
//!
//! The index says where a message was. Its file may have been renamed or rewritten since, so what is read is
//! compared with what was asked for. Input: a path, or a message as the index knows it. Output: the message's
//! bytes, or why they cannot be read.

use crate::remedy::Remedy;
use index::Message;
use mail::{Compression, FileContent, Identity, LargeMessage, Links, MessageParts, PreferredAlternative};
use printable::hex;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Cancel;

/// Most bytes of a message that is held in memory. A longer one is read in pieces.
const MESSAGE_BYTES_MAX: usize = 100 << 20;
/// Most bytes of a message that is read at once, whatever the size of its file.
const SMALL_BYTES: usize = 1 << 20;

/// Why no file of a message can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file is not where the index has it.
    #[error("{} is gone", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// The file holds another message now.
    #[error("{} holds another message now", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The message has no file any more.
    #[error("the last file of {name} is gone; only its header is still indexed")]
    Absent {
        /// A handle of the message: `id:` and its Message-ID, or its SHA-256.
        name: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Mail(#[from] mail::Error),
}

impl FileError {
    pub(crate) fn remedy(&self) -> Option<Remedy> {
        match self {
            FileError::Gone { .. } => Some(Remedy::UpdateAgain),
            FileError::Replaced { .. } => Some(Remedy::UpdateThoroughly),
            FileError::Absent { .. } | FileError::Mail(_) => None,
        }
    }
}

/// A message that was read.
#[derive(Debug)]
pub struct MessageContent {
    /// Where it was read; `None` if it came from elsewhere.
    pub path: Option<PathBuf>,
    /// The bytes; none if the message is too large to be held.
    pub content: FileContent,
    /// A message that is too large to be held, parsed.
    large: Option<Box<mail::Message>>,
    /// The SHA-256 of the message.
    pub sha256: [u8; 32],
    /// Its length in bytes.
    pub size_bytes: u64,
    /// Whether this is a later version of the message that was asked for.
    pub is_later_version: bool,
    now_ns: i64,
    /// Stops reading the file again, if the message is too large to be held.
    cancel: Cancel,
}

impl MessageContent {
    /// Wraps bytes that were read. `now_ns` is the present, for judging odd dates.
    pub fn new(path: Option<PathBuf>, content: FileContent, now_ns: i64) -> MessageContent {
        let sha256 = Sha256::digest(&content.bytes).into();
        let size_bytes = content.bytes.len() as u64;
        let (is_later_version, cancel) = (false, Cancel::new());
        MessageContent { path, content, large: None, sha256, size_bytes, is_later_version, now_ns, cancel }
    }

    /// Reads a file with any content.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or is not a regular file.
    pub fn read(path: &Path, now_ns: i64) -> mail::Result<MessageContent> {
        MessageContent::read_until(path, now_ns, &Cancel::new())
    }

    /// Reads a file, unless the request is cancelled. Then it fails, or returns before it is parsed.
    fn read_until(path: &Path, now_ns: i64, cancel: &Cancel) -> mail::Result<MessageContent> {
        let mut content = mail::read_message(path, SMALL_BYTES)?;
        if content.truncated && length(path, &content, cancel)? <= MESSAGE_BYTES_MAX as u64 {
            content = mail::read_message(path, MESSAGE_BYTES_MAX)?;
        }
        if content.truncated {
            return MessageContent::read_in_pieces(path, now_ns, cancel);
        }
        let read = MessageContent::new(Some(path.to_owned()), content, now_ns);
        Ok(MessageContent { cancel: cancel.clone(), ..read })
    }

    /// Reads the file at a path, or the file that a mail program renamed it to when it changed its flags.
    /// `None` if there is neither.
    ///
    /// # Errors
    /// It cannot be read, or is not a regular file.
    pub fn read_current(path: &Path, now_ns: i64) -> mail::Result<Option<MessageContent>> {
        MessageContent::read_current_until(path, now_ns, &Cancel::new())
    }

    fn read_current_until(path: &Path, now_ns: i64, cancel: &Cancel) -> mail::Result<Option<MessageContent>> {
        let read = |path: &Path| MessageContent::read_until(path, now_ns, cancel);
        match read(path) {
            Err(error) if error.is_not_found() => {
                mail::find_renamed(path).map(|path| read(&path)).transpose()
            }
            other => other.map(Some),
        }
    }

    /// Reads a file whose content is too large to be held.
    fn read_in_pieces(path: &Path, now_ns: i64, cancel: &Cancel) -> mail::Result<MessageContent> {
        let mut large = open(path, cancel)?;
        let mut content = FileContent::default();
        (content.stat, content.compression) = (large.stat(), large.compression());
        let Identity { sha256, size_bytes, is_cut } = large.identify()?;
        content.truncated = is_cut;
        let message = large.parse(&context(now_ns, PreferredAlternative::Better))?;
        let (path, large) = (Some(path.to_owned()), Some(Box::new(message)));
        let (is_later_version, cancel) = (false, cancel.clone());
        Ok(MessageContent { path, content, large, sha256, size_bytes, is_later_version, now_ns, cancel })
    }

    /// Returns the message, parsed, with the preferred form of a text that comes in several. A message that
    /// is not held and whose file cannot be read again, or whose request is cancelled, has the better form.
    pub fn parsed(&self, preferred: PreferredAlternative) -> Cow<'_, mail::Message> {
        let context = context(self.now_ns, preferred);
        let Some(message) = &self.large else {
            return Cow::Owned(mail::parse(&self.content.bytes, &context));
        };
        let path = self.path.as_deref().filter(|_| preferred != PreferredAlternative::Better);
        let read = path.and_then(|path| open(path, &self.cancel).ok()?.parse(&context).ok());
        read.map_or(Cow::Borrowed(message), Cow::Owned)
    }

    /// Passes the whole message, decompressed, to `take` in blocks.
    ///
    /// # Errors
    /// What `take` returns; the file of a message that is not held cannot be read again, or the request is
    /// cancelled.
    pub fn each_block<E: From<mail::Error>>(
        &self,
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(path) = self.path.as_ref().filter(|_| self.large.is_some()) else {
            return take(&self.content.bytes);
        };
        let mut taken = Ok(());
        open(path, &self.cancel)?.each_block(&mut |block| {
            if taken.is_ok() {
                taken = take(block);
            }
        })?;
        taken
    }

    /// Splits the message into its parts, and does some work with them.
    ///
    /// # Errors
    /// The file of a message that is not held cannot be read again, or the request is cancelled.
    pub fn with_parts<T>(&self, work: impl FnOnce(&mut MessageParts<'_>) -> T) -> mail::Result<T> {
        let Some(path) = self.path.as_ref().filter(|_| self.large.is_some()) else {
            return Ok(work(&mut MessageParts::of_bytes(&self.content.bytes)));
        };
        let mut large = open(path, &self.cancel)?;
        if large.identify()?.sha256 != self.sha256 {
            return Err(mail::Error::Changed { path: path.clone() });
        }
        Ok(work(&mut MessageParts::of_large(&large)?))
    }

    /// Returns whether this is a later version of a message: another content with its Message-ID, such as a
    /// draft that was saved again.
    pub fn is_version_of(&self, message: &Message) -> bool {
        self.sha256 != message.sha256
            && self.parsed(PreferredAlternative::Better).message_id == message.rest.message_id
    }

    /// Returns what the index knows of this message, if it knows the file that it was read from. If it was
    /// read from no file, nothing is said of files.
    pub fn known_as(&self, message: Message) -> Option<Message> {
        match &self.path {
            Some(path) => message.files.iter().any(|file| file.path == *path).then_some(message),
            None => Some(Message { files: Vec::new(), ..message }),
        }
    }
}

/// What is wanted of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Exactly the content that the index knows.
    Content,
    /// The message, which a draft still is when its editor saved it again.
    Message,
}

impl Wanted {
    /// Returns what somebody wants who names a message by this handle: a SHA-256 names a content.
    pub fn by_handle(handle: &str, message: &Message) -> Wanted {
        let is_content = hex(&message.sha256).starts_with(&handle.to_ascii_lowercase());
        if is_content { Wanted::Content } else { Wanted::Message }
    }
}

/// Reads a message from the first of its files that still holds it, or, if that is wanted, from the first
/// that holds a later version of it. Returns `None` if the request is cancelled.
///
/// # Errors
/// None of its files can be read or holds it.
pub(crate) fn read(
    message: &Message,
    wanted: Wanted,
    now_ns: i64,
    cancel: &Cancel,
) -> Result<Option<MessageContent>, FileError> {
    let mut error = match message.files.first() {
        Some(file) => FileError::Gone { path: file.path.clone() },
        None => FileError::Absent { name: handle_of(message) },
    };
    let mut rewritten = None;
    for file in &message.files {
        let read = MessageContent::read_current_until(&file.path, now_ns, cancel);
        if cancel.is_cancelled() {
            // What failed because it was stopped is no failure of the file.
            return Ok(None);
        }
        match read {
            Ok(Some(content)) if content.sha256 == message.sha256 => return Ok(Some(content)),
            Ok(Some(content)) => {
                error = FileError::Replaced { path: file.path.clone() };
                rewritten = rewritten.or(Some(content));
            }
            Ok(None) => {}
            Err(other) => error = other.into(),
        }
    }
    let later = rewritten.filter(|content| wanted == Wanted::Message && content.is_version_of(message));
    later.map(|content| Some(MessageContent { is_later_version: true, ..content })).ok_or(error)
}

/// Returns a handle that names a message: `id:` and its Message-ID, or its SHA-256 if it has none.
pub fn handle_of(message: &Message) -> String {
    match &*message.rest.message_id {
        "" => hex(&message.sha256),
        id => format!("id:{id}"),
    }
}

/// Returns where a file of a Maildir is now: at its path, or under the name that it got when its flags
/// changed or it went from `new` to `cur`. `None` if it is gone.
pub fn current_path(path: &Path) -> Option<PathBuf> {
    if path.symlink_metadata().is_ok() { Some(path.to_owned()) } else { mail::find_renamed(path) }
}

/// Returns the length of a message whose beginning was read.
fn length(path: &Path, beginning: &FileContent, cancel: &Cancel) -> mail::Result<u64> {
    match beginning.compression {
        Compression::Plain => Ok(beginning.stat.size_bytes),
        // A small compressed message may be very large, so it is not read at once.
        _ => Ok(open(path, cancel)?.each_block(&mut |_| {})?.size_bytes),
    }
}

/// Opens a message to be read in pieces, until the request is cancelled.
fn open(path: &Path, cancel: &Cancel) -> mail::Result<LargeMessage<'static>> {
    let cancel = cancel.clone();
    Ok(LargeMessage::open(path)?.stopped_by(Arc::new(move || cancel.is_cancelled())))
}

fn context(now_ns: i64, preferred: PreferredAlternative) -> mail::Context<'static> {
    let now_seconds = now_ns.div_euclid(1_000_000_000);
    mail::Context {
        preferred,
        links: Links::Listed,
        ..mail::Context::new(index::present_for_dates(now_seconds))
    }
}
