//! Finds the message that the user means, and reads it as it is on the disk now.
//!
//! Takes a path, `id:` and a Message-ID, a prefix of a SHA-256, or a query that matches one message. Returns
//! the bytes of the message and where they were read. The index knows where a message was, but files may have
//! moved or changed since, so what is read is compared with what was asked for. Does not know how a message
//! is shown.

use crate::archive::messages::{self, LazyArchive};
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::environment;
use crate::exit::{NotFound, Outcome};
use crate::search::typed_query::TypedQuery;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use index::{Error, Hit, Mailbox, Message, Order, Origin, RecordReader, ThreadOrder};
use mail::FileContent;
use pneu::MessageContent;
use render::hex;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A message that was read, and what the user should know of it.
#[derive(Debug)]
pub(crate) struct Located {
    read: MessageContent,
    /// What the user should know, a sentence.
    pub note: Option<String>,
}

impl Deref for Located {
    type Target = MessageContent;

    fn deref(&self) -> &MessageContent {
        &self.read
    }
}

impl Located {
    /// Wraps what was read.
    pub(crate) fn new(path: Option<PathBuf>, content: FileContent) -> Located {
        Located::of(MessageContent::new(path, content, environment::clock_ns()))
    }

    fn of(read: MessageContent) -> Located {
        Located { read, note: None }
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
    let message = mailbox.message(&hit, &mut RecordReader::new())?;
    let by_content = hex(&message.sha256).starts_with(&handle.to_ascii_lowercase());
    let wanted = if by_content { Wanted::Content } else { Wanted::Message };
    let mut located = read(&message, wanted, &LazyArchive::new(lock, session))?;
    if other_count > 0 && located.note.is_none() {
        let have = if other_count == 1 { "more message has" } else { "more messages have" };
        located.note = Some(format!(
            "{other_count} {have} this Message-ID; this is the newest. All of them: pneu find {handle}"
        ));
    }
    Ok(located)
}

/// Reads the file at a path, or the one that it became when a mail program changed its flags. `None` if the
/// handle is no path.
pub(crate) fn at_path(path: &Path) -> Result<Option<Located>> {
    match MessageContent::read_current(path, environment::clock_ns()) {
        // A word of a query may be the name of a directory here.
        Err(mail::Error::NotAFile { .. }) if path.components().count() == 1 => Ok(None),
        read => Ok(read?.map(Located::of)),
    }
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
    Ok(mailbox.message(&hit, &mut RecordReader::new())?.sha256)
}

/// Returns the newest hit of a handle, and how many others there are.
fn hit(mailbox: &Mailbox, handle: &str, session: &Session) -> Result<(Hit, usize)> {
    match mailbox.resolve(handle) {
        Ok(hits) => {
            let hits = mailbox.distinct_hits(hits)?;
            let newest = hits.iter().max_by_key(|hit| hit.date).copied();
            let newest = newest.ok_or_else(|| NotFound(format!("there is no message {handle}")))?;
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
    let question = TypedQuery::new(&[handle.to_owned()], session)?;
    let order = Order { limit: Some(1), ..Order::default() };
    let hit = with_archive(mailbox, handle, session, &|mailbox| {
        let hits = mailbox.find(&question.query, &order).map_err(|error| question.explain(error))?;
        match (hits.list.first(), hits.total) {
            (Some(_), total @ 2..) => bail!(
                "{total} messages match {handle}; view shows one: narrow the query, or choose from: pneu \
                 find --fields 'd f s i' '{handle}'"
            ),
            (hit, _) => Ok(hit.copied()),
        }
    })?;
    Ok((hit, 0))
}

/// Returns the messages with a name that is no path, or of a query whose matches are of one thread.
///
/// # Errors
/// There is no such message; several threads match; the query cannot be answered.
pub(crate) fn hits_of_one_thread(mailbox: &Mailbox, handle: &str, session: &Session) -> Result<Vec<Hit>> {
    match mailbox.resolve(handle) {
        Err(Error::NoSuchMessage { .. }) if !is_exact(handle) => {}
        resolved => return Ok(resolved?),
    }
    let question = TypedQuery::new(&[handle.to_owned()], session)?;
    let order = ThreadOrder { limit: Some(1), ..ThreadOrder::default() };
    with_archive(mailbox, handle, session, &|mailbox| {
        let found = mailbox.evaluate(&question.query).map_err(|error| question.explain(error))?;
        let threads = mailbox.threads(&found, &order)?;
        match (threads.list.first(), threads.total) {
            (Some(_), total @ 2..) => bail!(
                "messages of {total} conversations match {handle}; view shows one: narrow the query, or \
                 choose from: pneu find --threads=summary '{handle}'"
            ),
            (None, _) => Ok(None),
            (Some(thread), _) => {
                let found = thread.entries.iter().filter(|entry| entry.origin == Origin::Found);
                Ok(Some(found.map(|entry| entry.hit).collect()))
            }
        }
    })
}

/// Looks for what a query means: in the index, and if nothing matches there, among the messages that only the
/// archive has, too.
fn with_archive<T>(
    mailbox: &Mailbox,
    handle: &str,
    session: &Session,
    find: &dyn Fn(&Mailbox) -> Result<Option<T>>,
) -> Result<T> {
    if let Some(found) = find(mailbox)? {
        return Ok(found);
    }
    if ConfiguredRepository::is_named(&RepositoryOptions::default(), session)? {
        let searched = messages::with_absent(session.mailbox()?, session)?;
        if let Some(found) = find(&searched.mailbox)? {
            return Ok(found);
        }
        if searched.outcome == Outcome::Partly {
            bail!(
                "there is no message {handle}, and no message is known to match it as a query: \
                 some of the archive could not be read"
            )
        }
    }
    Err(NotFound(format!("there is no message {handle}, and no message matches it as a query")).into())
}

/// What of a message was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Exactly this content.
    Content,
    /// The message, which a draft still is when its editor saved it again.
    Message,
}

/// Reads the first of a message's files that still holds it; if none does, asks the archive.
///
/// # Errors
/// None of them can be read or holds it, and the archive does not have it or cannot be asked.
pub(crate) fn read(message: &Message, wanted: Wanted, archive: &LazyArchive<'_>) -> Result<Located> {
    let mut trouble = match message.files.first() {
        Some(file) => anyhow!("{} is gone; run \"pneu index\" to find where it moved", file.path.display()),
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
    match rewritten.filter(|located| located.is_version_of(message)) {
        Some(mut located) if wanted == Wanted::Message => {
            located.note =
                Some("the message changed since it was indexed; run \"pneu index --thorough\"".to_owned());
            Ok(located)
        }
        _ => match archive.message(&message.sha256)? {
            Some(bytes) => Ok(from_archive(message, bytes)),
            None => Err(trouble),
        },
    }
}

fn from_archive(message: &Message, bytes: Vec<u8>) -> Located {
    let mut content = FileContent::default();
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
