//! Finds the message that the user means, and reads it as it is on the disk now.
//!
//! In: a handle: a path, `id:` and a Message-ID, the beginning of a SHA-256, or a query that one message matches. Out: the message's
//! bytes and where they were read. The index says where a message was; its files may have moved or changed since, so that what is
//! read is compared with what was asked for. Must not know how a message is shown.

use crate::archived::{self, Keeper};
use crate::exit::{NotFound, Outcome};
use crate::format::record::hex;
use crate::question::Question;
use crate::repository::{LockOptions, Place, RepositoryOptions};
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use index::{Error, Hit, Mailbox, Message, Order, PayloadReader};
use mail::Content;
use sha2::{Digest, Sha256};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of a message that are read to be shown.
const MESSAGE_BYTES_MAX: usize = 100 << 20;

/// A message that was read.
#[derive(Debug)]
pub(crate) struct Located {
    /// Where it was read; `None` for standard input.
    pub path: Option<PathBuf>,
    /// What was read.
    pub content: Content,
    /// The SHA-256 of that.
    pub sha256: [u8; 32],
    /// What the user should know, a sentence.
    pub note: Option<String>,
}

impl Located {
    /// Wraps what was read.
    pub(crate) fn new(path: Option<PathBuf>, content: Content) -> Located {
        let sha256 = Sha256::digest(&content.bytes).into();
        Located { path, content, sha256, note: None }
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
        located.note = Some(format!(
            "{other_count} more messages have this Message-ID; this is the newest. The others: pneu find {handle}"
        ));
    }
    Ok(located)
}

/// Reads the file at a path, or the one that it became when a mail program changed its flags. `None` if the handle is no path.
fn at_path(path: &Path) -> Result<Option<Located>> {
    match mail::read_message(path, MESSAGE_BYTES_MAX) {
        Ok(content) => return Ok(Some(Located::new(Some(path.to_owned()), content))),
        Err(error) if error.is_not_found() => {}
        // A word of a query may be the name of a directory here.
        Err(mail::Error::NotAFile { .. }) if path.components().count() == 1 => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    match renamed(path) {
        Some(path) => {
            Ok(Some(Located::new(Some(path.clone()), mail::read_message(&path, MESSAGE_BYTES_MAX)?)))
        }
        None => Ok(None),
    }
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
            Ok(Some(located)) if located.sha256 == message.sha256 || located.content.truncated => {
                return Ok(located);
            }
            Ok(Some(located)) => {
                trouble = anyhow!("{} holds another message now; run \"pneu index\"", file.path.display());
                rewritten = rewritten.or(Some(located));
            }
            Ok(None) => {}
            Err(error) => trouble = error,
        }
    }
    match rewritten.filter(|located| has_message_id(located, &message.rest.message_id)) {
        Some(mut located) if asked == Asked::Message => {
            located.note = Some("the message changed since it was indexed; run \"pneu index\"".to_owned());
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
    // A message that does not say its date has the one that it had when its file was read.
    content.stat.mtime_ns = message.line.date.saturating_mul(1_000_000_000);
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
    parse(&located.content, 0).message_id == message_id
}

/// Takes a message apart.
pub(crate) fn parse(content: &Content, now_seconds: i64) -> mail::Message {
    let context = mail::Context::new(content.stat.mtime_ns.div_euclid(1_000_000_000), now_seconds);
    mail::parse(&content.bytes, &context)
}
