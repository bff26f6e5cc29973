//! Answers questions from one commit: which messages, in which order, and what they say.
//!
//! In: queries, orders, handles. Out: hits, and messages as values. Takes no lock, writes nothing, is never blocked by a writer.

mod analysis;
mod contacts;
mod copies;
mod eval;
mod files;
mod flags;
mod handle;
mod hints;
mod inventory;
mod message;
mod moment;
mod order;
mod pattern;
mod personal;
mod plan;
mod prepare;
mod scope;
mod sort_key;
mod tags;
mod threads;
mod values;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::rows::{self, FolderRow};
use crate::set::NumberSet;
use crate::state::{Root, State};
use crate::tables::{HeaderCodec, absent, files as file_table, messages};
use crate::text::{TextFiles, TextReader};
use crate::user::{self, Tags};
use copies::Copies;
use disk::Disk;
use query::Query;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use store::{Snapshot, Table};

pub use analysis::{Analysis, AnalysisStep};
pub use contacts::{Circle, Person};
pub use copies::Duplicates;
pub use flags::shown_flags;
pub use hints::FolderHint;
pub use inventory::{Inventory, Listed, StoredFile, StoredFolder};
pub use message::{Message, MessageFile, Summary as Line};
pub use moment::{Moment, MomentFile, MomentFolder, Unknown};
pub use order::{Direction, Hit, Hits, Order};
pub use personal::OwnAddresses;
pub use scope::Scope;
pub use sort_key::SortKey;
pub(crate) use tags::TaggedMessage;
pub(crate) use threads::Forest;
pub use threads::{Origin, Thread, ThreadEntry, ThreadOrder, Threads};
pub(crate) use values::message_id_hash;

/// How often an opening is tried again when a writer replaced files meanwhile.
const OPEN_TRY_COUNT: usize = 20;

/// One commit, open for reading for as long as it is kept.
pub struct Mailbox {
    snapshot: Snapshot,
    state: State,
    /// By number.
    folders: Vec<FolderRow>,
    files: Table,
    text: TextReader,
    directory: PathBuf,
    /// What takes a look at every message to know: made when it is first asked for.
    forest: OnceLock<Forest>,
    copies: OnceLock<Copies>,
    present: OnceLock<NumberSet>,
    live: OnceLock<NumberSet>,
    /// Absent messages that a search may find.
    kept: Option<NumberSet>,
    /// The user's own addresses.
    own: OwnAddresses,
    personal: OnceLock<NumberSet>,
    user: OnceLock<Option<Tags>>,
    disk: Arc<dyn Disk>,
    user_directory: PathBuf,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages with at least one file.
    pub messages: u64,
    /// Messages whose last file is gone.
    pub absent: u64,
    /// Files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Segments of the store, all tables together.
    pub store_segments: u64,
    /// Segments of the text index.
    pub text_segments: u64,
    /// Documents of the text index: one for each message with a row, and those of swept messages until they are merged away.
    pub text_documents: u64,
    /// Rows in the journal that are not sealed yet.
    pub journal_rows: u64,
}

impl Mailbox {
    /// Opens the newest commit.
    ///
    /// # Errors
    /// [`Error::NoIndex`] if there is none; damage; a newer version.
    pub fn open(environment: &Environment) -> Result<Mailbox> {
        let directory = environment.index_directory();
        let files = TextFiles::new(&environment.disk, &environment.text_directory());
        let mut tries = 0;
        loop {
            let snapshot = open::snapshot(environment)?;
            let state = open::state(&snapshot, &directory)?;
            match TextReader::open(&files, &state.text) {
                Ok(text) => {
                    let mut folders = rows::folders(&snapshot)?;
                    folders.sort_unstable_by_key(|folder| folder.number);
                    return Ok(Mailbox {
                        files: snapshot.table(file_table::TABLE)?,
                        snapshot,
                        state,
                        folders,
                        text,
                        directory,
                        forest: OnceLock::new(),
                        copies: OnceLock::new(),
                        present: OnceLock::new(),
                        live: OnceLock::new(),
                        kept: None,
                        own: OwnAddresses::default(),
                        personal: OnceLock::new(),
                        user: OnceLock::new(),
                        disk: environment.disk.clone(),
                        user_directory: user::directory(&environment.data),
                    });
                }
                Err(source) => {
                    // A file that is gone belongs to an older commit than the newest: look again, unless nothing is newer.
                    tries += 1;
                    let newest = open::snapshot(environment)?.version();
                    if newest == snapshot.version() || tries == OPEN_TRY_COUNT {
                        return Err(Error::Text { path: environment.text_directory(), source });
                    }
                }
            }
        }
    }

    /// Returns the roots that were indexed last.
    pub fn roots(&self) -> &[Root] {
        &self.state.roots
    }

    /// Returns how much there is.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn counts(&self) -> Result<Counts> {
        let absent = self.snapshot.table(absent::TABLE)?.row_count();
        let messages = self.snapshot.table(messages::TABLE)?.row_count();
        let mut counts = Counts {
            messages: messages.saturating_sub(absent),
            absent,
            files: self.files.row_count(),
            folders: self.folders.len() as u64,
            text_segments: self.state.text.len() as u64,
            text_documents: crate::text::document_count(&self.state.text),
            ..Counts::default()
        };
        for schema in crate::tables::schemas(HeaderCodec::default()) {
            let table = self.snapshot.table(&schema.name)?;
            counts.store_segments += table.parts().len().saturating_sub(1) as u64;
            counts.journal_rows += table.parts().last().map_or(0, |part| u64::from(part.row_count()));
        }
        Ok(counts)
    }

    /// Returns the messages that a query matches, of copies one, in the order asked for.
    ///
    /// # Errors
    /// [`Error::Query`] where the query asks for what cannot be answered; damage in the store.
    pub fn find(&self, query: &Query, order: &Order) -> Result<Hits> {
        self.sorted(&self.distinct(&self.evaluate(query)?, Duplicates::Copies, None)?, order)
    }

    /// Returns how many messages a query matches, copies counted once.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn count(&self, query: &Query) -> Result<u64> {
        Ok(self.distinct(&self.evaluate(query)?, Duplicates::Copies, None)?.count())
    }

    /// Returns the messages of a set in the order asked for.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn sorted(&self, found: &NumberSet, order: &Order) -> Result<Hits> {
        order::sort(self, found, order)
    }

    /// Returns the set of messages that a query matches, all copies among them that a search may find.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn evaluate(&self, query: &Query) -> Result<NumberSet> {
        eval::evaluate(self, query)
    }

    /// Returns those of some names of header fields of which the index has not the values of every message: it was made without them.
    pub fn missing_headers<'a>(&self, names: &'a [String]) -> Vec<&'a str> {
        names.iter().map(String::as_str).filter(|name| !self.is_header_indexed(name)).collect()
    }

    /// Says whether the index has the values of a header field that the configuration names. An empty one has all.
    fn is_header_indexed(&self, name: &str) -> bool {
        self.state.next_message == 0
            || self.state.headers.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns the commit.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the message number of every document of the text index.
    pub(crate) fn text_numbers(&self) -> Result<Vec<u32>> {
        self.text.numbers().map_err(|error| self.text_error(error))
    }

    /// Returns the messages that have a row and at least one file.
    fn present(&self) -> Result<&NumberSet> {
        once(&self.present, || eval::present(self))
    }

    /// Returns the messages that a search may find.
    fn live(&self) -> Result<&NumberSet> {
        let Some(kept) = &self.kept else { return self.present() };
        once(&self.live, || {
            let mut live = self.present()?.clone();
            live.or(kept);
            Ok(live)
        })
    }

    /// Returns what the user said, as it was when it was first asked for; none if nothing ever was.
    fn user_tags(&self) -> Result<Option<&Tags>> {
        let load =
            || user::snapshot(&self.disk, &self.user_directory)?.map(|user| Tags::new(&user)).transpose();
        Ok(once(&self.user, load)?.as_ref())
    }

    fn forest(&self) -> Result<&Forest> {
        once(&self.forest, || Forest::load(&self.snapshot, self.state.next_node))
    }

    fn copies(&self) -> Result<&Copies> {
        once(&self.copies, || Copies::load(self))
    }

    /// One more than the largest message number.
    fn bound(&self) -> u32 {
        self.state.next_message
    }

    fn empty(&self) -> NumberSet {
        NumberSet::new(self.bound())
    }

    fn text_error(&self, source: tantivy::TantivyError) -> Error {
        Error::Text { path: crate::environment::text_directory(&self.directory), source }
    }
}

fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}
