//! What searches and views take from the archive: messages whose last file is gone.
//!
//! In: a mailbox, and the repository that the environment or the configuration names. Out: a mailbox that also finds what is only there.
//! Must not know commands.

use crate::amount::count;
use crate::exit::Outcome;
use crate::output;
use crate::progress;
use crate::repository::{LockOptions, Place, ReadLock, RepositoryOptions};
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use archive::{Id, Repository, Snapshot, Unwatched, snapshot};
use backup::{Archive, Held, Unindexed};
use index::{Mailbox, Scope};
use std::cell::OnceCell;

/// A mailbox, and whether everything could be read that it is to be searched in.
pub(crate) struct Searched {
    pub(crate) mailbox: Mailbox,
    /// What it is not: [`Outcome::Partly`], which was said why, or [`Outcome::Done`].
    pub(crate) outcome: Outcome,
}

/// Returns the same mailbox, which also finds messages that only the archive has.
///
/// # Errors
/// No repository is named, or it cannot be opened or read.
pub(crate) fn with_absent(mailbox: Mailbox, session: &Session) -> Result<Searched> {
    // Without a lock: only index files are read, and the answer is that of the moment.
    let (_, repository) = open(session)?;
    let archive = Archive { environment: &session.index, repository: &repository };
    let held = archive.held(&[], &Unwatched);
    let mailbox = mailbox.with_scope(Scope::WithAbsent(&held))?;
    let outcome = complain(&held)?;
    Ok(Searched { mailbox, outcome })
}

/// Says what of the archive could not be read or found, so that an answer may lack it.
///
/// # Errors
/// The archive cannot be reached any more.
pub(crate) fn complain(held: &Held<'_>) -> Result<Outcome> {
    let mut problems = held.problems();
    problems.extend(sentences(&held.unindexed()?));
    for problem in &problems {
        output::complain(one_line(problem));
    }
    Ok(if problems.is_empty() { Outcome::Done } else { Outcome::Partly })
}

/// Says what lies in the archive and is not found there.
fn sentences(unindexed: &Unindexed) -> Vec<String> {
    let Unindexed { message_count, pack_count, problems } = unindexed;
    let mut sentences = Vec::new();
    if *message_count > 0 {
        let (messages, packs) = (count(*message_count, "message"), count(*pack_count, "pack"));
        let verb = if *message_count == 1 { "is" } else { "are" };
        sentences.push(format!(
            "{messages} of the archive {verb} not found, because no index file names {packs}; {WAY_OUT}"
        ));
    }
    if let Some(first) = problems.first() {
        let packs = count(problems.len() as u64, "pack");
        sentences.push(format!(
            "messages may be missing: no index file names {packs} of the archive that cannot be read, \
             the first: {first}"
        ));
    }
    sentences
}

/// What is said of one message that lies in such a pack.
pub(crate) const UNINDEXED: &str = "the archive has the message in a pack that no index file names: \
                                    index files are missing, which \"restic repair index\" makes anew from the packs";
/// What brings back what lies in packs that no index file names.
const WAY_OUT: &str = "index files are missing, which \"restic repair index\" makes anew from the packs";

/// The archive as a place for messages whose files are gone. It is opened when it is first asked.
pub(crate) struct Keeper<'a> {
    lock: LockOptions,
    session: &'a Session,
    /// None inside if no repository is named. The lock goes with it.
    repository: OnceCell<Option<(Repository, ReadLock)>>,
}

impl<'a> Keeper<'a> {
    /// Names it; nothing is opened yet.
    pub(crate) fn new(lock: LockOptions, session: &'a Session) -> Keeper<'a> {
        Keeper { lock, session, repository: OnceCell::new() }
    }

    /// Returns a message by its content's SHA-256; none if no repository is named or it does not have it.
    ///
    /// # Errors
    /// The repository cannot be opened or read; a signal.
    pub(crate) fn message(&self, sha256: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        // Under its lock nothing else asks.
        progress::check()?;
        let repository = match self.repository.get() {
            Some(repository) => repository,
            None => {
                let opened = self.open()?;
                self.repository.get_or_init(|| opened)
            }
        };
        let Some((repository, _)) = repository else { return Ok(None) };
        let archive = Archive { environment: &self.session.index, repository };
        let held = archive.held(&[], &Unwatched);
        match held.message(sha256)? {
            None if held.is_unindexed(sha256)? => bail!("{UNINDEXED}"),
            other => Ok(other),
        }
    }

    fn open(&self) -> Result<Option<(Repository, ReadLock)>> {
        let Some((place, repository)) = open_named(self.session)? else { return Ok(None) };
        let lock = place.lock_to_read(&repository, self.lock)?;
        Ok(Some((repository, lock)))
    }
}

/// Opens the repository if one is named.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_named(session: &Session) -> Result<Option<(Place, Repository)>> {
    let is_named = Place::is_named(&RepositoryOptions::default(), session)?;
    is_named.then(|| open(session)).transpose()
}

/// Opens the repository that is named.
///
/// # Errors
/// None is named, or it cannot be opened.
pub(crate) fn open(session: &Session) -> Result<(Place, Repository)> {
    let place = Place::new(&RepositoryOptions::default(), session)?;
    let repository = place.open()?;
    Ok((place, repository))
}

/// Returns all snapshots.
///
/// # Errors
/// One cannot be read.
pub(crate) fn snapshots(repository: &Repository) -> Result<Vec<Snapshot>> {
    Ok(snapshots_with_ids(repository)?.into_iter().map(|(_, snapshot)| snapshot).collect())
}

/// Returns all snapshots, and what they are called.
///
/// # Errors
/// One cannot be read.
pub(crate) fn snapshots_with_ids(repository: &Repository) -> Result<Vec<(Id, Snapshot)>> {
    let threads = repository.surroundings().thread_count;
    let mut listed = snapshot::list(repository.storage(), repository.key(), threads)?;
    match listed.unread.pop() {
        Some((_, error)) => Err(error.into()),
        None => Ok(listed.snapshots),
    }
}
