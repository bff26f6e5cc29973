//! Finds the message that the user means, and reads it as it is on the disk now.
//!
//! In: a handle: a path, `id:` and a Message-ID, the beginning of a SHA-256, or a query that one message matches. Out: the message's
//! bytes and where they were read. The index says where a message was; its files may have moved or changed since, so that what is
//! read is compared with what was asked for. Must not know how a message is shown.

use crate::archived::{self, Keeper};
use crate::environment;
use crate::exit::{NotFound, Outcome};
use crate::format::record::hex;
use crate::question::Question;
use crate::repository::{LockOptions, Place, RepositoryOptions};
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use index::{Error, Hit, Mailbox, Message, Order, PayloadReader};
use mail::{Compression, Content, Large, Preferred};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of a message that is held in memory to be shown; one that is longer is read in pieces.
const MESSAGE_BYTES_MAX: usize = 100 << 20;
/// Bytes of a message that is read at once whatever its file's size.
const SMALL_BYTES: usize = 1 << 20;

/// A message that was read.
#[derive(Debug)]
pub(crate) struct Located {
    /// Where it was read; `None` for standard input.
    pub path: Option<PathBuf>,
    /// What was read; of a message that is too large to be held no bytes.
    pub content: Content,
    /// Such a message, taken apart.
    large: Option<Box<mail::Message>>,
    /// The SHA-256 of the message.
    pub sha256: [u8; 32],
    /// Its length.
    pub size_bytes: u64,
    /// What the user should know, a sentence.
    pub note: Option<String>,
}

impl Located {
    /// Wraps what was read.
    pub(crate) fn new(path: Option<PathBuf>, content: Content) -> Located {
        let sha256 = Sha256::digest(&content.bytes).into();
        let size_bytes = content.bytes.len() as u64;
        Located { path, content, large: None, sha256, size_bytes, note: None }
    }

    /// Reads a file.
    fn read(path: &Path) -> mail::Result<Located> {
        let mut content = mail::read_message(path, SMALL_BYTES)?;
        if content.truncated && length(path, &content)? <= MESSAGE_BYTES_MAX as u64 {
            content = mail::read_message(path, MESSAGE_BYTES_MAX)?;
        }
        if content.truncated {
            return Located::read_in_pieces(path);
        }
        Ok(Located::new(Some(path.to_owned()), content))
    }

    /// Reads a file whose content is too large to be held.
    fn read_in_pieces(path: &Path) -> mail::Result<Located> {
        let mut large = Large::open(path)?;
        let mut content = Content::default();
        (content.stat, content.compression) = (large.stat(), large.compression());
        let mut hasher = Sha256::new();
        let extent = large.each_block(&mut |block| hasher.update(block))?;
        let (mut sha256, mut size_bytes) = (hasher.finalize().into(), extent.size_bytes);
        content.truncated = extent.is_cut;
        if extent.is_cut {
            // Of what is not taken apart whole, the id is that of the whole file.
            let mut hasher = Sha256::new();
            size_bytes = large.each_stored_block(&mut |block| hasher.update(block))?;
            sha256 = hasher.finalize().into();
        }
        let message = large.parse(&context(now_seconds(), Preferred::Better))?;
        let path = Some(path.to_owned());
        Ok(Located { path, content, large: Some(Box::new(message)), sha256, size_bytes, note: None })
    }

    /// Returns the message, taken apart; of several forms of its text the one that is preferred. Of a message that is not held and whose
    /// file cannot be read again it is the better one.
    pub(crate) fn message(&self, preferred: Preferred) -> Cow<'_, mail::Message> {
        let Some(message) = &self.large else {
            return Cow::Owned(parse(&self.content, now_seconds(), preferred));
        };
        let path = self.path.as_deref().filter(|_| preferred != Preferred::Better);
        let read =
            path.and_then(|path| Large::open(path).ok()?.parse(&context(now_seconds(), preferred)).ok());
        read.map_or(Cow::Borrowed(message), Cow::Owned)
    }

    /// Hands out all of the message, decompressed.
    ///
    /// # Errors
    /// What `take` says; the file cannot be read again.
    pub(crate) fn each_block(&self, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Some(path) = self.path.as_ref().filter(|_| self.large.is_some()) else {
            return take(&self.content.bytes);
        };
        let mut taken = Ok(());
        Large::open(path)?.each_block(&mut |block| {
            if taken.is_ok() {
                taken = take(block);
            }
        })?;
        taken
    }
}

/// Returns how long a message is of which the beginning was read.
fn length(path: &Path, beginning: &Content) -> mail::Result<u64> {
    match beginning.compression {
        Compression::Plain => Ok(beginning.stat.size_bytes),
        // A few bytes may become many: what is not known is not read at once.
        _ => Ok(Large::open(path)?.each_block(&mut |_| {})?.size_bytes),
    }
}

/// Finds and reads the message that a handle names.
///
/// # Errors
/// There is none, there are several, or none of its files can be read.
pub(crate) fn locate(handle: &str, path: &Path, lock: LockOptions, session: &Session) -> Result<Located> {
    if let Some(located) = at_path(path)? {
        return Ok(located);
    }
    let mailbox = match session.mailbox() {
        Err(error) if handle.contains('/') && is_no_index(&error) => bail!("{} is not there", path.display()),
        other => other?,
    };
    let (hit, other_count) = hit(&mailbox, handle, session)?;
    let message = mailbox.message(&hit, &mut PayloadReader::new())?;
    let by_content = hex(&message.sha256).starts_with(&handle.to_ascii_lowercase());
    let asked = if by_content { Asked::Content } else { Asked::Message };
    let mut located = read(&message, asked, &Keeper::new(lock, session))?;
    if other_count > 0 && located.note.is_none() {
        let have = if other_count == 1 { "more message has" } else { "more messages have" };
        located.note = Some(format!(
            "{other_count} {have} this Message-ID; this is the newest. All of them: pneu find {handle}"
        ));
    }
    Ok(located)
}

/// Reads the file at a path, or the one that it became when a mail program changed its flags. `None` if the handle is no path.
fn at_path(path: &Path) -> Result<Option<Located>> {
    match Located::read(path) {
        Ok(located) => return Ok(Some(located)),
        Err(error) if error.is_not_found() => {}
        // A word of a query may be the name of a directory here.
        Err(mail::Error::NotAFile { .. }) if path.components().count() == 1 => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    renamed(path).map(|path| Ok(Located::read(&path)?)).transpose()
}

/// Returns where a file is now: at its path, or where [`renamed`] finds it.
pub(crate) fn present(path: &Path) -> Option<PathBuf> {
    if path.symlink_metadata().is_ok() { Some(path.to_owned()) } else { renamed(path) }
}

/// Returns where a Maildir's file is now if its flags changed or if it went from `new` to `cur`.
fn renamed(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let unique = mail::parse_name(name.as_bytes()).unique;
    let folder = path.parent()?.parent()?;
    ["cur", "new"].into_iter().find_map(|place| {
        let entries = std::fs::read_dir(folder.join(place)).ok()?;
        let is_same =
            |entry: &std::fs::DirEntry| mail::parse_name(entry.file_name().as_bytes()).unique == unique;
        entries.flatten().find(is_same).map(|entry| entry.path())
    })
}

fn is_no_index(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::NoIndex { .. }))
}

/// Returns the content that a handle names by the index: the newest, if several have its Message-ID.
///
/// # Errors
/// There is no index; there is no such message, or several match.
pub(crate) fn content_of(handle: &str, session: &Session) -> Result<[u8; 32]> {
    let mailbox = session.mailbox()?;
    let (hit, _) = hit(&mailbox, handle, session)?;
    Ok(mailbox.message(&hit, &mut PayloadReader::new())?.sha256)
}

/// Returns the newest hit of a handle, and how many others there are.
fn hit(mailbox: &Mailbox, handle: &str, session: &Session) -> Result<(Hit, usize)> {
    match mailbox.resolve(handle) {
        Ok(hits) => {
            let hits = mailbox.distinct_hits(hits)?;
            let newest = hits.iter().max_by_key(|hit| hit.date).copied();
            let newest = newest.ok_or_else(|| NotFound(format!("no message is called {handle}")))?;
            Ok((newest, hits.len() - 1))
        }
        Err(Error::NoSuchMessage { .. }) if !is_exact(handle) => by_query(mailbox, handle, session),
        Err(error) => Err(error.into()),
    }
}

/// Says whether a handle that names no message is certainly no query.
fn is_exact(handle: &str) -> bool {
    handle.starts_with("id:") || handle.starts_with("msgid:") || handle.starts_with('/')
}

fn by_query(mailbox: &Mailbox, handle: &str, session: &Session) -> Result<(Hit, usize)> {
    let question = Question::new(&[handle.to_owned()], session)?;
    let order = Order { limit: Some(1), ..Order::default() };
    let find =
        |mailbox: &Mailbox| mailbox.find(&question.query, &order).map_err(|error| question.explain(error));
    let mut hits = find(mailbox)?;
    let mut outcome = Outcome::Done;
    // What only the archive has is there to be shown, too.
    if hits.total == 0 && Place::is_named(&RepositoryOptions::default(), session)? {
        let searched = archived::with_absent(session.mailbox()?, session)?;
        hits = find(&searched.mailbox)?;
        outcome = searched.outcome;
    }
    match (hits.list.first(), hits.total) {
        (Some(hit), 1) => Ok((*hit, 0)),
        (None, _) if outcome == Outcome::Partly => {
            bail!(
                "no message is called {handle}, and none is known to match it as a query: \
                 not all could be read"
            )
        }
        (None, _) => {
            Err(NotFound(format!("no message is called {handle}, and none matches it as a query")).into())
        }
        (Some(_), total) => bail!(
            "{total} messages match {handle}; view shows one: say more, or choose from: pneu find --fields 'd f s i' '{handle}'"
        ),
    }
}

/// What of a message was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Exactly this content.
    Content,
    /// The message, which a draft still is when its editor saved it again.
    Message,
}

/// Reads the first of a message's files that still holds it; if none does, asks the archive.
///
/// # Errors
/// None of them can be read or holds it, and the archive does not have it or cannot be asked.
pub(crate) fn read(message: &Message, asked: Asked, keeper: &Keeper<'_>) -> Result<Located> {
    let mut trouble = match message.files.first() {
        Some(file) => anyhow!("{} is gone; run \"pneu index\" to see where to", file.path.display()),
        None => {
            NotFound(format!("the last file of {} is gone; only its header is still indexed", name(message)))
                .into()
        }
    };
    let mut rewritten = None;
    for file in &message.files {
        match at_path(&file.path) {
            Ok(Some(located)) if located.sha256 == message.sha256 => {
                return Ok(located);
            }
            Ok(Some(located)) => {
                trouble = anyhow!(
                    "{} holds another message now; run \"pneu index --thorough\"",
                    file.path.display()
                );
                rewritten = rewritten.or(Some(located));
            }
            Ok(None) => {}
            Err(error) => trouble = error,
        }
    }
    match rewritten.filter(|located| has_message_id(located, &message.rest.message_id)) {
        Some(mut located) if asked == Asked::Message => {
            located.note =
                Some("the message changed since it was indexed; run \"pneu index --thorough\"".to_owned());
            Ok(located)
        }
        _ => match keeper.message(&message.sha256)? {
            Some(bytes) => Ok(from_archive(message, bytes)),
            None => Err(trouble),
        },
    }
}

fn from_archive(message: &Message, bytes: Vec<u8>) -> Located {
    let mut content = Content::default();
    content.bytes = bytes;
    let note = format!("the last file of {} is gone; this is from the archive", name(message));
    Located { note: Some(note), ..Located::new(None, content) }
}

/// Returns what a message may be called.
pub(crate) fn name(message: &Message) -> String {
    match &*message.rest.message_id {
        "" => hex(&message.sha256),
        id => format!("id:{id}"),
    }
}

fn has_message_id(located: &Located, message_id: &str) -> bool {
    located.message(Preferred::Better).message_id == message_id
}

/// Takes a message apart.
pub(crate) fn parse(content: &Content, now_seconds: i64, preferred: Preferred) -> mail::Message {
    mail::parse(&content.bytes, &context(now_seconds, preferred))
}

fn context(now_seconds: i64, preferred: Preferred) -> mail::Context<'static> {
    mail::Context { preferred, ..mail::Context::new(index::present_for_dates(now_seconds)) }
}

fn now_seconds() -> i64 {
    environment::clock_ns().div_euclid(1_000_000_000)
}
