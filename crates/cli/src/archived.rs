//! What searches and views take from the archive: messages whose last file is gone, and mailboxes as they stood.
//!
//! In: a mailbox, and the repository that the environment or the configuration names. Out: a mailbox that also finds what is only there.
//! Must not know commands.

use crate::environment;
use crate::exit::NotFound;
use crate::output;
use crate::repository::{Place, RepositoryOptions};
use crate::session::Session;
use anyhow::{Result, anyhow};
use archive::{Repository, Snapshot, Unwatched, snapshot};
use backup::Archive;
use index::{Mailbox, Scope};
use jiff::civil::Date;

/// Returns the same mailbox, which also finds messages that only the archive has.
///
/// # Errors
/// No repository is named, or it cannot be opened or read.
pub(crate) fn with_absent(mailbox: Mailbox, session: &Session) -> Result<Mailbox> {
    let repository = open(session)?;
    let archive = Archive { environment: &session.index, repository: &repository };
    let held = archive.held(&[], &Unwatched);
    Ok(mailbox.with_scope(Scope::WithAbsent(&held))?)
}

/// Returns the mailbox as the last snapshot of a day has it, or of the last day before that has one.
///
/// # Errors
/// As [`with_absent`]; there is no such snapshot.
pub(crate) fn at(mailbox: Mailbox, day: Date, session: &Session) -> Result<Mailbox> {
    let repository = open(session)?;
    let snapshots = snapshots(&repository)?;
    let zone = environment::now().time_zone().clone();
    let end = day.tomorrow().and_then(|next| next.to_zoned(zone));
    let end = end.map_err(|error| anyhow!("--at: {error}"))?.timestamp().as_second();
    let before = snapshots.into_iter().filter(|snapshot| snapshot.time.seconds() < end);
    let newest = before.max_by_key(|snapshot| snapshot.time.seconds());
    let snapshot = newest.ok_or_else(|| NotFound(format!("no snapshot is of {day} or earlier")))?;
    let archive = Archive { environment: &session.index, repository: &repository };
    let moment = archive.moment(&snapshot, mailbox.roots(), &Unwatched)?;
    let (mailbox, unknown) = mailbox.at(&moment)?;
    if unknown.messages > 0 && !session.is_quiet {
        output::complain(format!("{} messages of that snapshot are in no index any more", unknown.messages));
    }
    Ok(mailbox)
}

/// Returns a message from the archive by its content's SHA-256; none if no repository is named or it does not have it.
///
/// # Errors
/// The repository cannot be opened or read.
pub(crate) fn message(sha256: &[u8; 32], session: &Session) -> Result<Option<Vec<u8>>> {
    if !Place::is_named(&RepositoryOptions::default(), session)? {
        return Ok(None);
    }
    let repository = open(session)?;
    let archive = Archive { environment: &session.index, repository: &repository };
    Ok(archive.held(&[], &Unwatched).message(sha256)?)
}

/// Opens the repository that is named. Without a lock: nothing is written, and what somebody prunes meanwhile is said to be missing.
///
/// # Errors
/// None is named, or it cannot be opened.
pub(crate) fn open(session: &Session) -> Result<Repository> {
    Place::new(&RepositoryOptions::default(), session)?.open()
}

/// Returns all snapshots.
///
/// # Errors
/// One cannot be read.
pub(crate) fn snapshots(repository: &Repository) -> Result<Vec<Snapshot>> {
    let threads = repository.surroundings().thread_count;
    let mut listed = snapshot::list(repository.storage(), repository.key(), threads)?;
    match listed.unread.pop() {
        Some((_, error)) => Err(error.into()),
        None => Ok(listed.snapshots.into_iter().map(|(_, snapshot)| snapshot).collect()),
    }
}
