//! Messages whose last file is gone, as searches and views read them from the archive.
//!
//! Takes a view and the repository that the environment or the configuration names. Returns a view that also
//! finds the messages that only the archive has. Says what of it could not be read. Does not know any
//! command.

use super::repository::{self, ConfiguredRepository, LockOptions, ReadLock, RepositoryOptions};
use crate::amount::count;
use crate::exit::Outcome;
use crate::options::Paging;
use crate::output;
use crate::progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use backup::UnindexedMessages;
use pneu::archive::{Archive, Unread};
use pneu::{Hit, View};
use restic::Repository;
use std::cell::{Cell, OnceCell};
use work::Silent;

/// A view, and whether all that it searches could be read.
pub(crate) struct SearchedView {
    pub(crate) view: View,
    /// [`Outcome::Partly`] if something could not be read, which was reported, or else [`Outcome::Done`].
    pub(crate) outcome: Outcome,
}

/// Returns the same view, which also finds messages that only the archive has.
///
/// # Errors
/// No repository is named, or it cannot be opened or read.
pub(crate) fn with_absent(view: View, session: &Session) -> Result<SearchedView> {
    // Without a lock: only index files are read, and the answer is as of now.
    let (_, repository) = repository::open_named(session)?;
    let archive = Archive::new(session.host()?.settings(), &repository, &Silent);
    let (view, unread) = archive.with_absent(view)?;
    Ok(SearchedView { view, outcome: complain(unread) })
}

/// Reports what of the archive could not be read or found, and so may be missing in an answer.
pub(crate) fn complain(unread: Unread) -> Outcome {
    let mut problems = unread.problems;
    problems.extend(sentences(&unread.unindexed));
    for problem in &problems {
        output::complain(one_line(problem));
    }
    if problems.is_empty() { Outcome::Done } else { Outcome::Partly }
}

/// Returns sentences about messages of the archive that cannot be found.
fn sentences(unindexed: &UnindexedMessages) -> Vec<String> {
    let UnindexedMessages { message_count, pack_count, problems } = unindexed;
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
            "messages may be missing: no index file names {packs} of the archive, which cannot be read; \
             the first: {first}"
        ));
    }
    sentences
}

/// How to find messages in packs that no index file names.
const WAY_OUT: &str = "run \"restic repair index\" to rebuild the missing index files";

/// The archive as a place for messages whose files are gone. It is opened when it is first needed.
pub(crate) struct LazyArchive<'a> {
    lock: LockOptions,
    session: &'a Session,
    /// None inside if no repository is named. The lock goes with it.
    repository: OnceCell<Option<(Repository, ReadLock)>>,
    /// Whether a pager has the terminal, so that nobody can be asked for a password.
    is_paged: Cell<bool>,
}

impl<'a> LazyArchive<'a> {
    /// Stores its name; opens nothing yet.
    pub(crate) fn new(lock: LockOptions, session: &'a Session) -> LazyArchive<'a> {
        LazyArchive { lock, session, repository: OnceCell::new(), is_paged: Cell::new(false) }
    }

    /// Opens it if only it has one of these messages. Call it before a pager takes the terminal: the password
    /// may have to be typed, and a signal must find the lock as it would without a pager. Later it is not
    /// opened any more, unless nothing is paged.
    ///
    /// # Errors
    /// The repository cannot be opened or locked; a signal; damage in the index.
    pub(crate) fn open_before_pager(&self, (view, hits): (&View, &[Hit]), paging: Paging) -> Result<()> {
        for hit in hits {
            if view.is_absent(hit)? {
                self.opened()?;
                break;
            }
        }
        self.is_paged.set(self.session.terminal.is_terminal() && !paging.no_pager);
        Ok(())
    }

    /// Returns a message by its content's SHA-256; none if no repository is named or it does not have it.
    ///
    /// # Errors
    /// The repository cannot be opened or read; a signal.
    pub(crate) fn message(&self, sha256: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        // Nothing else uses it while this holds its lock.
        progress::check()?;
        let Some((repository, _)) = self.opened()? else { return Ok(None) };
        Ok(Archive::new(self.session.host()?.settings(), repository, &Silent).message(sha256)?)
    }

    fn opened(&self) -> Result<Option<&(Repository, ReadLock)>> {
        if let Some(opened) = self.repository.get() {
            return Ok(opened.as_ref());
        }
        if self.is_paged.get() {
            if !ConfiguredRepository::is_named(&RepositoryOptions::default(), self.session)? {
                return Ok(None);
            }
            bail!(
                "its file is gone, and the archive is not opened while a pager has the terminal; use \
                 --no-pager"
            );
        }
        let opened = self.open()?;
        Ok(self.repository.get_or_init(|| opened).as_ref())
    }

    fn open(&self) -> Result<Option<(Repository, ReadLock)>> {
        let Some((place, repository)) = repository::open_if_named(self.session)? else { return Ok(None) };
        let lock = place.lock_to_read(&repository, self.lock)?;
        Ok(Some((repository, lock)))
    }
}
