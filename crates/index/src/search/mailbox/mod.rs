//! A mailbox: one commit with a scope, the user's addresses, and optionally a moment in the past.
//!
//! Input: a commit. Output: the data from which queries are answered. A clone costs a few reference counts.
//! Takes no lock, writes nothing, and is never blocked by a writer.

mod copies;
mod folder_names;
mod folder_place;
mod found_files;
mod hit;
mod lookup;
mod meaning;
mod moment;
mod personal;
mod scope;

use crate::edges::Grouping;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::rows::FolderRow;
use crate::search::commit::{Commit, CopyGroups, FileFlag, Forest, Newer, once};
use crate::set::NumberSet;
use crate::state::{Root, State};
use crate::text::TextReader;
use crate::user::{self, Tags};
pub use copies::Duplicates;
use disk::Disk;
pub(crate) use folder_names::{disk_name, folder_name};
pub(in crate::search) use folder_names::{folder_names, folder_path};
pub use folder_place::FolderPlace;
pub use found_files::FoundFile;
pub use hit::{Hit, Hits};
pub use meaning::{FolderRoles, Meaning};
pub use moment::{Moment, MomentFile, MomentFolder, Unknown};
pub use personal::OwnAddresses;
use personal::Personal;
pub(in crate::search) use personal::address_of;
pub use scope::Scope;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use store::{Snapshot, Table};
use work::Cancel;

/// One commit, open for reading as long as the mailbox exists. Its files stay open even if a writer removes
/// them.
#[derive(Clone)]
pub struct Mailbox {
    commit: Arc<Commit>,
    /// The files and folders of a moment in the past, which replace those of the commit.
    past: Option<Arc<Past>>,
    /// Absent messages that a search can find.
    archived: Option<Arc<NumberSet>>,
    /// The messages that a search can find; computed on first use.
    live: Arc<OnceLock<NumberSet>>,
    personal: Arc<Personal>,
    meaning: Meaning,
    user: Arc<UserTags>,
    cancel: Cancel,
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Mailbox");
        shown.field("directory", &self.commit.directory).field("version", &self.commit.snapshot.version());
        shown.finish_non_exhaustive()
    }
}

/// The files and folders of a moment in the past.
pub(super) struct Past {
    pub(super) roots: Vec<Root>,
    /// Sorted by number.
    pub(super) folders: Vec<FolderRow>,
    pub(super) files: Table,
    pub(super) present: NumberSet,
}

/// The user's tags. They are read on first use, and stay as they were then.
struct UserTags {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    tags: OnceLock<Option<Tags>>,
}

impl UserTags {
    fn new(environment: &Environment) -> UserTags {
        let directory = environment.user_directory();
        UserTags { disk: Arc::clone(&environment.disk), directory, tags: OnceLock::new() }
    }

    fn tags(&self) -> Result<Option<&Tags>> {
        let read = || user::snapshot(&self.disk, &self.directory)?.map(|user| Tags::new(&user)).transpose();
        Ok(once(&self.tags, read)?.as_ref())
    }
}

impl Mailbox {
    /// Opens the newest commit.
    ///
    /// # Errors
    /// [`Error::NoIndex`] if there is none; damage; a newer version.
    pub fn open(environment: &Environment) -> Result<Mailbox> {
        Ok(Mailbox {
            commit: Arc::new(Commit::open(environment)?),
            past: None,
            archived: None,
            live: Arc::default(),
            personal: Arc::default(),
            meaning: Meaning::default(),
            user: Arc::new(UserTags::new(environment)),
            cancel: Cancel::new(),
        })
    }

    /// Returns the newest commit of the index and of the user's tags, or `None` if this mailbox shows both.
    /// What this mailbox has derived from all rows (threads, copies, present messages) is carried forward, so
    /// that the cost depends on what changed. The new mailbox has the same addresses, the default scope, and
    /// no request.
    ///
    /// # Errors
    /// As [`Mailbox::open`].
    pub fn newer(&self, environment: &Environment) -> Result<Option<Mailbox>> {
        let commit = self.commit.newer(environment)?;
        let user = self.newer_tags()?;
        if commit.is_none() && user.is_none() {
            return Ok(None);
        }
        let personal = match &commit {
            Some(Newer::Continued(commit)) => Arc::new(self.personal.newer(&self.commit, commit)?),
            Some(Newer::Opened(_)) => Arc::new(Personal::new(self.personal.addresses().clone())),
            None => Arc::clone(&self.personal),
        };
        let newer = Mailbox {
            past: None,
            archived: None,
            live: Arc::default(),
            personal,
            meaning: self.meaning.clone(),
            commit: match commit {
                Some(Newer::Continued(commit) | Newer::Opened(commit)) => Arc::new(commit),
                None => Arc::clone(&self.commit),
            },
            user: user.map_or_else(|| Arc::clone(&self.user), Arc::new),
            cancel: Cancel::new(),
        };
        Ok(Some(newer))
    }

    fn newer_tags(&self) -> Result<Option<UserTags>> {
        let UserTags { disk, directory, .. } = &*self.user;
        let newest = user::snapshot(disk, directory)?;
        let is_known = match (self.user.tags()?, &newest) {
            (None, None) => true,
            (Some(tags), Some(newest)) => tags.are_of(newest),
            _ => false,
        };
        if is_known {
            return Ok(None);
        }
        let tags = newest.map(|user| Tags::new(&user)).transpose()?;
        let (disk, directory) = (Arc::clone(disk), directory.clone());
        Ok(Some(UserTags { disk, directory, tags: OnceLock::from(tags) }))
    }

    /// Reads now what is otherwise read on first use, and opens every file that a query may need. From then
    /// on the mailbox shows one state of index and tags, whatever is written or removed. For programs that
    /// keep a mailbox for a long time.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; damage.
    pub fn pin(&self) -> Result<()> {
        self.check_cancelled()?;
        self.user.tags()?;
        self.present()?;
        self.check_cancelled()?;
        self.forest()?;
        self.check_cancelled()?;
        self.copies()?;
        self.text().open_all()
    }

    /// Returns the roots of the last pass.
    pub fn roots(&self) -> &[Root] {
        self.past.as_ref().map_or(&self.state().roots, |past| &past.roots)
    }

    /// Returns the same commit for a user with these addresses.
    #[must_use]
    pub fn with_own_addresses(self, own: OwnAddresses) -> Mailbox {
        Mailbox { personal: Arc::new(Personal::new(own)), ..self }
    }

    /// Returns the same commit with another meaning of queries.
    #[must_use]
    pub fn with_meaning(self, meaning: Meaning) -> Mailbox {
        Mailbox { meaning, ..self }
    }

    /// Returns what queries mean.
    pub(super) fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// Returns the same commit for a request that can be cancelled. Its queries then end with
    /// [`Error::Interrupted`].
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Mailbox {
        Mailbox { cancel, ..self }
    }

    /// Returns whether the request was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Fails if the request was cancelled.
    pub(super) fn check_cancelled(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    pub(super) fn with_archived(self, archived: Option<NumberSet>) -> Mailbox {
        Mailbox { archived: archived.map(Arc::new), live: Arc::default(), ..self }
    }

    pub(super) fn with_past(self, past: Past) -> Mailbox {
        Mailbox { past: Some(Arc::new(past)), archived: None, live: Arc::default(), ..self }
    }

    /// Returns the commit of the store.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.commit.snapshot
    }

    pub(super) fn state(&self) -> &State {
        &self.commit.state
    }

    /// Returns the folders, in ascending order of their numbers.
    pub(crate) fn folders(&self) -> &[FolderRow] {
        self.past.as_ref().map_or(&self.commit.folders, |past| &past.folders)
    }

    /// Returns the table of messages.
    pub(crate) fn message_table(&self) -> &Table {
        &self.commit.messages
    }

    /// Returns the table of files.
    pub(crate) fn file_table(&self) -> &Table {
        self.past.as_ref().map_or(&self.commit.files, |past| &past.files)
    }

    /// Adds the messages that have a file of this kind.
    pub(super) fn add_flagged(&self, flag: FileFlag, found: &mut NumberSet) -> Result<()> {
        match &self.past {
            Some(past) => flag.scan(&past.files, found),
            None => {
                found.or(self.commit.flagged(flag)?);
                Ok(())
            }
        }
    }

    pub(super) fn text(&self) -> &TextReader {
        &self.commit.text
    }

    /// Returns the names of those header fields whose values the index does not have for every message,
    /// because it was made without them.
    pub fn missing_headers<'a>(&self, names: &'a [String]) -> Vec<&'a str> {
        names.iter().map(String::as_str).filter(|name| !self.is_header_indexed(name)).collect()
    }

    /// Returns whether the index has the values of a header field that the configuration names. An empty
    /// index has all of them.
    pub(super) fn is_header_indexed(&self, name: &str) -> bool {
        self.message_table().row_count() == 0
            || self.state().headers.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns the directory of the index, for errors.
    pub(super) fn directory(&self) -> &Path {
        &self.commit.directory
    }

    /// Returns the message number of every document of the text index.
    pub(crate) fn text_numbers(&self) -> Result<Vec<u32>> {
        self.text().numbers()
    }

    /// Returns the messages that have a row and at least one file.
    pub(super) fn present(&self) -> Result<&NumberSet> {
        self.past.as_ref().map_or_else(|| self.commit.present(), |past| Ok(&past.present))
    }

    /// Returns the messages that a search can find.
    pub(super) fn live(&self) -> Result<&NumberSet> {
        let Some(archived) = &self.archived else { return self.present() };
        once(&self.live, || {
            let mut live = self.present()?.clone();
            live.or(archived);
            Ok(live)
        })
    }

    /// Returns the user's tags, or `None` if no tag was ever set.
    pub(super) fn user_tags(&self) -> Result<Option<&Tags>> {
        self.user.tags()
    }

    /// Returns the commit of the user's tags, or `None` if no tag was ever set.
    pub(crate) fn user_snapshot(&self) -> Result<Option<&Snapshot>> {
        Ok(self.user.tags()?.map(Tags::snapshot))
    }

    /// Returns the roots of all conversations.
    pub(super) fn forest(&self) -> Result<&Forest> {
        self.commit.forest(Grouping::Conversations)
    }

    /// Returns the roots of all conversations, or the heads of all threads.
    pub(super) fn forest_of(&self, grouping: Grouping) -> Result<&Forest> {
        self.commit.forest(grouping)
    }

    pub(super) fn copies(&self) -> Result<&CopyGroups> {
        self.commit.copies()
    }

    /// Returns the user's addresses.
    pub(super) fn own_addresses(&self) -> &OwnAddresses {
        self.personal.addresses()
    }

    /// Returns the messages addressed to the user in person; none if no address is known.
    pub(super) fn personal(&self) -> Result<&NumberSet> {
        self.personal.received(&self.commit)
    }

    /// Returns the messages from the user; none if no address is known.
    pub(super) fn sent(&self) -> Result<NumberSet> {
        self.personal.sent(&self.commit)
    }

    /// Returns a number above every message number.
    pub(super) fn bound(&self) -> u32 {
        self.commit.bound()
    }

    pub(super) fn empty(&self) -> NumberSet {
        NumberSet::new(self.bound())
    }
}
