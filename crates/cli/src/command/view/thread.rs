//! `pneu view --thread`: shows whole conversations.
//!
//! Takes names of messages. Writes every message of their conversations, each below the message that it
//! replies to, and reads one after the other. Does not know how messages are written.

use super::input::{from_standard_input, tell};
use super::options::{Format, How};
use super::writer::Writer;
use crate::archive::messages::{self, LazyArchive, SearchedView};
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::exit::Outcome;
use crate::output;
use crate::remedy;
use crate::sanitise::one_line;
use crate::search::locate;
use crate::session::Session;
use anyhow::{Result, bail};
use pneu::{Hit, RecordReader, Thread, ThreadEntry, ThreadOrder, View, Wanted};
use render::Position;
use render::message::{ThreadHead, numbers_above};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Shows the conversations of messages, the one with the newest message first.
///
/// # Errors
/// There is no index; none of the messages exists or can be read; the output cannot be written.
pub(super) fn show(
    names: &[OsString],
    (how, lock): (How, LockOptions),
    session: &Session,
) -> Result<Outcome> {
    if how.format == Format::Raw {
        bail!(
            "--format raw shows one message; a conversation is written by: pneu find --threads --format mbox"
        );
    }
    let view = session.view()?;
    let (mut named, mut last_error) = (Vec::new(), None);
    for name in names {
        match hits(&view, name, session) {
            Ok(hits) => named.push((name, hits)),
            Err(error) => {
                if let Some(earlier) = last_error.replace(error) {
                    remedy::complain_why(&earlier);
                }
            }
        }
    }
    let mut outcome = Outcome::Done;
    if let Some(error) = last_error {
        if named.is_empty() {
            return Err(error);
        }
        remedy::complain_why(&error);
        outcome = Outcome::Partly;
    }
    let view = match with_absent(view, &named, session)? {
        SearchedView { view, outcome: Outcome::Done } => view,
        SearchedView { view, outcome: other } => {
            outcome = other;
            view
        }
    };
    let all: Vec<Hit> = named.iter().flat_map(|(_, hits)| hits).copied().collect();
    let threads = view.threads_of(&all, &ThreadOrder::default())?.list;
    let archive = LazyArchive::new(lock, session)?;
    let hits: Vec<Hit> = threads.iter().flat_map(|thread| &thread.entries).map(|entry| entry.hit).collect();
    for name in names_without(&view, &named, &hits)? {
        let name = name.to_string_lossy();
        output::complain(one_line(&format!(
            "the last file of {name} is gone; its conversation is shown without it"
        )));
        outcome = Outcome::Partly;
    }
    archive.open_before_pager((&view, &hits), how.paging)?;
    let mut shown = Shown { view: &view, archive: &archive, how, session, writer: None, outcome };
    for thread in &threads {
        shown.thread(thread)?;
    }
    let (writer, outcome) = (shown.writer, shown.outcome);
    // Everything is read. Other processes need not wait for the lock while the user reads the page.
    drop(archive);
    match writer {
        Some(writer) => writer.finish().map(|()| outcome),
        None => bail!("no message of the conversation can be read"),
    }
}

/// Returns the messages with a name. A message from a path or standard input is looked up by its content, or
/// else by its Message-ID.
fn hits(view: &View, name: &OsStr, session: &Session) -> Result<Vec<Hit>> {
    let handle = name.to_string_lossy();
    let located = match &*handle {
        "-" => Some(from_standard_input()?),
        _ => locate::at_path(Path::new(name))?,
    };
    let Some(located) = located else {
        return locate::with_archive(view, &handle, session, &View::named_in_one_thread);
    };
    let hits = view.by_content(&located)?;
    if hits.is_empty() {
        bail!("{handle} is not indexed, so its conversation is not known; run \"pneu index\" first");
    }
    Ok(hits)
}

/// Returns the same view, with messages that only the archive has, if a name has no others.
fn with_absent(view: View, named: &[(&OsString, Vec<Hit>)], session: &Session) -> Result<SearchedView> {
    let mut is_any_absent = false;
    for (_, hits) in named {
        is_any_absent |= view.are_all_absent(hits)?;
    }
    if !is_any_absent || !ConfiguredRepository::is_named(&RepositoryOptions::default(), session)? {
        return Ok(SearchedView { view, outcome: Outcome::Done });
    }
    messages::with_absent(view, session)
}

/// Returns the names that have no message among those listed.
fn names_without<'a>(
    view: &View,
    named: &[(&'a OsString, Vec<Hit>)],
    listed: &[Hit],
) -> Result<Vec<&'a OsString>> {
    let listed: HashSet<u32> = listed.iter().map(|hit| hit.number).collect();
    let mut without = Vec::new();
    for (name, hits) in named {
        if !view.is_any_listed(hits, &listed)? {
            without.push(*name);
        }
    }
    Ok(without)
}

/// Conversations that are being shown.
struct Shown<'a> {
    view: &'a View,
    archive: &'a LazyArchive<'a>,
    how: How,
    session: &'a Session,
    /// From the first message on.
    writer: Option<Writer>,
    outcome: Outcome,
}

impl Shown<'_> {
    /// Shows a conversation. Reports messages that cannot be read.
    fn thread(&mut self, thread: &Thread) -> Result<()> {
        let mut reader = RecordReader::new();
        let id = |entry: &ThreadEntry| self.view.mailbox().message_id(&entry.hit, &mut reader);
        let ids = thread.entries.iter().map(id).collect::<index::Result<Vec<String>>>()?;
        let known: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let depths: Vec<u32> = thread.entries.iter().map(|entry| entry.depth).collect();
        for ((index, entry), above) in thread.entries.iter().enumerate().zip(numbers_above(&depths)) {
            let message = self.view.mailbox().message(&entry.hit, &mut reader)?;
            let located = match locate::read(self.view, &message, Wanted::Message, self.archive) {
                Ok(located) => located,
                Err(error) => {
                    remedy::complain_why(&error);
                    self.outcome = Outcome::Partly;
                    continue;
                }
            };
            tell(&located, self.how, self.session);
            let answered = message.rest.references.last().map(String::as_str);
            let head = ThreadHead {
                number: index + 1,
                count: thread.entries.len(),
                above,
                missing: answered.filter(|id| !known.contains(id)),
            };
            let first = ids.first().map_or("", String::as_str);
            let place = (Position { thread: first, depth: entry.depth, origin: entry.origin }, head);
            let message_known = located.known_as(message.clone());
            let writer = self.writer.get_or_insert_with(|| Writer::new(self.how, self.session));
            writer.message(&located, message_known.as_ref(), Some(&place))?;
        }
        Ok(())
    }
}
