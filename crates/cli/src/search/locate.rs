//! Finds the message that the user names, and reads it from the disk as it is now, or from the archive.
//!
//! Takes a path, `id:` and a Message-ID, a prefix of a SHA-256, or a query that matches one message. Returns
//! the bytes of the message, where they were read, and what the user should know of it. Does not know how a
//! message is shown.

use crate::archive::messages::{self, LazyArchive};
use crate::archive::repository::LockOptions;
use crate::environment;
use crate::exit::{NotFound, Outcome};
use crate::search::question::{self, TypedQuery};
use crate::session::Session;
use anyhow::{Result, bail};
use mail::FileContent;
use pneu::{Error, Message, MessageContent, View, Wanted, handle_of, is_exact};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
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
    /// Wraps a message that was read.
    pub(crate) fn new(path: Option<PathBuf>, content: FileContent) -> Located {
        Located::of(MessageContent::new(path, content, environment::clock_ns()))
    }

    fn of(read: MessageContent) -> Located {
        let note = "the message changed since it was indexed; run \"pneu index --thorough\"";
        Located { note: read.is_later_version.then(|| note.to_owned()), read }
    }
}

/// Joins words into one query, as `find` does, if none of them names a message by itself.
pub(crate) fn joined(names: &[OsString], session: &Session) -> Vec<OsString> {
    let texts: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    let has_query = texts.iter().any(|text| looks_like_query(text));
    let is_word = |(name, text): (&OsString, &Cow<'_, str>)| {
        let is_id = is_exact(text) && !text.starts_with('/');
        !(text == "-" || is_id || is_path(Path::new(name), has_query))
    };
    if names.len() < 2 || !names.iter().zip(&texts).all(is_word) {
        return names.to_vec();
    }
    // Without an index each name gets its own error, and so does a hash that several messages have.
    let names_nothing = |view: &View, name: &str| {
        matches!(view.resolve(name), Err(Error::Index(index::Error::NoSuchMessage { .. })))
    };
    match session.view_if_sound() {
        Some(view) if texts.iter().all(|text| names_nothing(&view, text)) => {
            let mut query = OsString::new();
            // What begins with a slash would be a path.
            if texts.first().is_some_and(|text| text.starts_with('/')) {
                query.push(" ");
            }
            query.push(names.join(OsStr::new(" ")));
            vec![query]
        }
        _ => names.to_vec(),
    }
}

/// Returns whether a word is a field and its value, or a regular expression.
fn looks_like_query(text: &str) -> bool {
    let field = text.split_once(':').map_or("", |(field, _)| field);
    let has_field = field.starts_with(|first: char| first.is_ascii_alphabetic())
        && field.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
    has_field && !is_exact(text) || text.len() > 2 && text.starts_with('/') && text.ends_with('/')
}

/// Returns whether a word is the path of a message: a file is there, or was there and may have another name
/// by now. `has_query` says whether a word beside it is certainly part of a query.
fn is_path(path: &Path, has_query: bool) -> bool {
    let is_meant = path.is_absolute() && !has_query;
    let no_file = path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir();
    match path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        _ if path.is_file() => true,
        Some(directory) => is_meant || !no_file && directory.is_dir(),
        None => false,
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
    let view = match session.view() {
        Err(error) if handle.contains('/') && is_no_index(&error) => {
            bail!("{} does not exist", path.display())
        }
        other => other?,
    };
    let named = with_archive(&view, handle, session, &View::named)?;
    let message = view.message(&named.hit)?;
    let wanted = Wanted::by_handle(handle, &message);
    let mut located = read(&view, &message, wanted, &LazyArchive::new(lock, session)?)?;
    if named.other_count > 0 && located.note.is_none() {
        let have = if named.other_count == 1 { "more message has" } else { "more messages have" };
        located.note = Some(format!(
            "{} {have} this Message-ID; this is the newest. All of them: pneu find {handle}",
            named.other_count
        ));
    }
    Ok(located)
}

/// Reads the file at a path, or the file that a mail program renamed it to when it changed its flags. `None`
/// if the handle is not a path.
pub(crate) fn at_path(path: &Path) -> Result<Option<Located>> {
    match MessageContent::read_current(path, environment::clock_ns()) {
        // A word of a query may be the name of a directory here.
        Err(mail::Error::NotAFile { .. }) if path.components().count() == 1 => Ok(None),
        read => Ok(read?.map(Located::of)),
    }
}

fn is_no_index(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Index(index::Error::NoIndex { .. })))
}

/// Returns the content that a handle names by the index: the newest, if several have its Message-ID.
///
/// # Errors
/// There is no index; there is no such message, or several match.
pub(crate) fn content_of(handle: &str, session: &Session) -> Result<[u8; 32]> {
    let view = session.view()?;
    let named = with_archive(&view, handle, session, &View::named)?;
    Ok(view.message(&named.hit)?.sha256)
}

/// Looks for what a handle means: in the index, and if nothing matches there, among the messages that only
/// the archive has, too.
///
/// # Errors
/// Those of `find`; the archive cannot be opened or read.
pub(crate) fn with_archive<T>(
    view: &View,
    handle: &str,
    session: &Session,
    find: &dyn Fn(&View, &str) -> pneu::Result<T>,
) -> Result<T> {
    let lookup =
        view.look_up(|view| find(view, handle), |view| messages::with_absent_if_named(view, session))?;
    match (lookup.found, messages::complain(lookup.unread)) {
        (Err(Error::NoMatch { .. }), Outcome::Partly) => bail!(
            "there is no message {handle}, and no message is known to match it as a query: some of the \
             archive could not be read"
        ),
        (found, _) => found.map_err(|error| explained(error, handle, view)),
    }
}

/// Makes an error point at its place in the handle, or say why nothing was found, if that is known.
fn explained(error: Error, handle: &str, view: &View) -> anyhow::Error {
    let why = || TypedQuery::read(handle.to_owned(), view).ok()?.why_nothing(view).ok()?;
    match &error {
        Error::NoMatch { .. } => match why() {
            Some(why) => NotFound(format!("{error}: {why}")).into(),
            None => error.into(),
        },
        _ => question::explain(handle, error),
    }
}

/// Reads the first of a message's files that still holds it; if none does, asks the archive.
///
/// # Errors
/// None of them can be read or holds it, and the archive does not have it or cannot be asked.
pub(crate) fn read(
    view: &View,
    message: &Message,
    wanted: Wanted,
    archive: &LazyArchive<'_>,
) -> Result<Located> {
    let read = archive.read(view, message, wanted)?;
    let is_from_archive = read.path.is_none();
    let located = Located::of(read);
    if !is_from_archive {
        return Ok(located);
    }
    let note = format!("the last file of {} is gone; this is from the archive", handle_of(message));
    Ok(Located { note: Some(note), ..located })
}
