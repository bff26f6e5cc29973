//! Messages whose last file is gone, as searches and views read them from the archive.
//!
//! Takes a view and the repository that the environment or the configuration names. Returns a view that also
//! finds the messages that only the archive has. Says what of it could not be read. Does not know any
//! command.

use super::repository::{self, ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::amount::count;
use crate::exit::Outcome;
use crate::options::Paging;
use crate::output;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use backup::UnindexedMessages;
use pneu::archive::{Archive, OpenRepository, Unread};
use pneu::{Hit, View};
use restic::Repository;
use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;
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
    let repository = repository::open_named(session)?;
    let (view, unread) = with_absent_of(&repository, view, session)?;
    Ok(SearchedView { view, outcome: complain(unread) })
}

/// Does the same if a repository is named, and tells nothing.
///
/// # Errors
/// The repository cannot be opened or read.
pub(crate) fn with_absent_if_named(view: View, session: &Session) -> Result<Option<(View, Unread)>> {
    let Some(repository) = repository::open_if_named(session)? else { return Ok(None) };
    with_absent_of(&repository, view, session).map(Some)
}

fn with_absent_of(repository: &Repository, view: View, session: &Session) -> Result<(View, Unread)> {
    // Without a lock: only index files are read, and the answer is as of now.
    Ok(Archive::new(session.host()?.settings(), repository, &Silent).with_absent(view)?)
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
    archive: pneu::archive::LazyArchive<'a, anyhow::Error>,
    session: &'a Session,
    /// Whether a pager has the terminal, so that nobody can be asked for a password.
    is_paged: Rc<Cell<bool>>,
}

impl<'a> LazyArchive<'a> {
    /// Stores its name; opens nothing yet.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub(crate) fn new(lock: LockOptions, session: &'a Session) -> Result<LazyArchive<'a>> {
        let is_paged = Rc::new(Cell::new(false));
        let paged = Rc::clone(&is_paged);
        let open = move || if paged.get() { refuse_under_pager(session) } else { open(lock, session) };
        let archive = pneu::archive::LazyArchive::new(session.host()?.settings(), open);
        Ok(LazyArchive { archive, session, is_paged })
    }

    /// Opens it if only it has one of these messages. Call it before a pager takes the terminal: the password
    /// may have to be typed, and a signal must find the lock as it would without a pager. Later it is not
    /// opened any more, unless nothing is paged.
    ///
    /// # Errors
    /// The repository cannot be opened or locked; a signal; damage in the index.
    pub(crate) fn open_before_pager(&self, (view, hits): (&View, &[Hit]), paging: Paging) -> Result<()> {
        self.archive.open_for(view, hits)?;
        self.is_paged.set(self.session.terminal.is_terminal() && !paging.no_pager);
        Ok(())
    }
}

impl<'a> Deref for LazyArchive<'a> {
    type Target = pneu::archive::LazyArchive<'a, anyhow::Error>;

    fn deref(&self) -> &Self::Target {
        &self.archive
    }
}

fn open(lock: LockOptions, session: &Session) -> Result<Option<OpenRepository>> {
    let Some(repository) = repository::open_if_named(session)? else { return Ok(None) };
    let lock = repository::lock_to_read(&repository, lock)?.into_held();
    Ok(Some(OpenRepository { repository, lock }))
}

fn refuse_under_pager(session: &Session) -> Result<Option<OpenRepository>> {
    if !ConfiguredRepository::is_named(&RepositoryOptions::default(), session)? {
        return Ok(None);
    }
    bail!("its file is gone, and the archive is not opened while a pager has the terminal; use --no-pager")
}
