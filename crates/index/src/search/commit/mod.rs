//! One commit of the index, with what is derived from all of its rows.
//!
//! Input: a data directory, or an older commit. Output: tables, the text index, and sets that are computed on
//! first use. Mailboxes share a commit. A newer commit is derived from an older one and their difference, so
//! that its cost depends on what changed. Must not know queries.

mod copy_groups;
mod flag_sets;
mod forest;
mod once;

use crate::edges::Grouping;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::rows::{self, FolderRow};
use crate::set::NumberSet;
use crate::state::State;
use crate::tables::{absent, copies, files, folders, messages, threads};
use crate::text::{TextFiles, TextReader};
pub(crate) use copy_groups::CopyGroups;
pub(in crate::search) use flag_sets::FileFlag;
use flag_sets::{FileChanges, FlagSets};
pub(crate) use forest::Forest;
pub(crate) use once::once;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use store::{Difference, PRIMARY, RowId, Snapshot, Table, TableDifference, Value};

/// How often opening is retried if a writer replaced files in the meantime.
const OPEN_TRY_COUNT: usize = 20;

/// A commit that is newer than another one.
pub(crate) enum Newer {
    /// It is a later one of the same index: what the other one derived was carried forward.
    Continued(Commit),
    /// It was opened anew: the index was deleted and made again, or the other one is damaged.
    Opened(Commit),
}

/// One commit.
pub(crate) struct Commit {
    pub(crate) snapshot: Snapshot,
    pub(crate) state: State,
    /// In ascending order of their numbers.
    pub(crate) folders: Arc<Vec<FolderRow>>,
    pub(crate) files: Table,
    pub(crate) messages: Table,
    pub(crate) text: TextReader,
    /// The directory of the store.
    pub(crate) directory: PathBuf,
    conversations: OnceLock<Forest>,
    threads: OnceLock<Forest>,
    copies: OnceLock<CopyGroups>,
    present: OnceLock<NumberSet>,
    flags: FlagSets,
    /// How many rows of messages were added since the first commit from which this one was carried forward.
    added_count: u64,
}

impl Commit {
    /// Opens the newest commit.
    ///
    /// # Errors
    /// [`Error::NoIndex`] if there is none; damage; a newer version.
    pub(crate) fn open(environment: &Environment) -> Result<Commit> {
        Commit::open_like(
            environment,
            || open::snapshot(environment),
            |files, state| TextReader::open(files, &state.text),
        )
    }

    /// Opens the newest commit if it differs from this one, and carries forward what this one derived.
    ///
    /// # Errors
    /// As [`Commit::open`].
    pub(crate) fn newer(&self, environment: &Environment) -> Result<Option<Newer>> {
        let newest = self.newest()?;
        if newest.continues(&self.snapshot) {
            if newest.version() == self.snapshot.version() {
                return Ok(None);
            }
            // An error may come from a damaged file of this commit that the newest one does not have. If it
            // has that file, opening it anew or using it says so.
            if let Ok(Some(newer)) = self.continued(environment, newest) {
                return Ok(Some(Newer::Continued(newer)));
            }
        }
        // The index was deleted and rebuilt, or all of its segments were replaced.
        Ok(Some(Newer::Opened(Commit::open(environment)?)))
    }

    /// Opens the newest commit with the files that this one has open, and carries forward what this one
    /// derived. Returns `None` if the index was replaced meanwhile.
    fn continued(&self, environment: &Environment, newest: Snapshot) -> Result<Option<Commit>> {
        let first = RefCell::new(Some(newest));
        let snapshot = || first.take().map_or_else(|| self.newest(), Ok);
        let mut newer =
            Commit::open_like(environment, snapshot, |files, state| self.text.newer(files, &state.text))?;
        // Numbers never fall, unless a disk lost a commit that we saw.
        let has_fallen = newer.bound() < self.bound() || newer.state.next_node < self.state.next_node;
        if has_fallen || !newer.snapshot.continues(&self.snapshot) {
            return Ok(None);
        }
        newer.carry_forward(self)?;
        Ok(Some(newer))
    }

    /// Opens the newest state of the store. Files that this commit has open are not opened again.
    fn newest(&self) -> Result<Snapshot> {
        match self.snapshot.newest() {
            Err(error) if error.is_not_found() => Err(Error::NoIndex { path: self.directory.clone() }),
            other => Ok(other?),
        }
    }

    /// Opens a commit. Retries if a writer changed the text index between opening the store and opening the
    /// text.
    fn open_like(
        environment: &Environment,
        open_snapshot: impl Fn() -> Result<Snapshot>,
        open_text: impl Fn(&TextFiles, &State) -> Result<TextReader>,
    ) -> Result<Commit> {
        let directory = environment.index_directory();
        let text_files = TextFiles::new(&environment.disk, &environment.text_directory());
        let mut tries = 0;
        loop {
            let snapshot = open_snapshot()?;
            let state = open::state(&snapshot, &directory)?;
            match open_text(&text_files, &state) {
                Ok(text) => {
                    let mut folders = rows::folders(&snapshot)?;
                    folders.sort_unstable_by_key(|folder| folder.number);
                    return Ok(Commit {
                        files: snapshot.table(files::TABLE)?,
                        messages: snapshot.table(messages::TABLE)?,
                        snapshot,
                        state,
                        folders: Arc::new(folders),
                        text,
                        directory,
                        conversations: OnceLock::new(),
                        threads: OnceLock::new(),
                        copies: OnceLock::new(),
                        present: OnceLock::new(),
                        flags: FlagSets::default(),
                        added_count: 0,
                    });
                }
                Err(error) => {
                    // A missing file means that the commit is no longer the newest: try again, unless there
                    // is no newer one.
                    tries += 1;
                    let newest = open_snapshot()?.version();
                    if newest == snapshot.version() || tries == OPEN_TRY_COUNT {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Derives the values of this commit from those of an older one.
    fn carry_forward(&mut self, older: &Commit) -> Result<()> {
        let difference = self.snapshot.difference(&older.snapshot)?;
        let of_table = |name| of_table(&difference, &self.snapshot, name);
        if of_table(folders::TABLE)?.is_empty() {
            self.folders = Arc::clone(&older.folders);
        }
        self.added_count = older.added_count + of_table(messages::TABLE)?.added.len() as u64;
        if let Some(present) = older.present.get() {
            self.present = OnceLock::from(self.present_since(older, present.clone(), &difference)?);
        }
        let TableDifference { added, removed } = of_table(files::TABLE)?;
        let added_row = |id: &RowId| {
            let part = self.files.part(*id);
            Ok((part.u32_at(files::MESSAGE, id.row)?, part.u16_at(files::FLAGS, id.row)?))
        };
        let changes = FileChanges {
            removed: numbers(&older.snapshot, files::TABLE, files::MESSAGE, removed)?,
            added: added.iter().map(added_row).collect::<Result<_>>()?,
        };
        let older_files = (&older.files, older.bound());
        self.flags = older.flags.with_changes(older_files, changes, (&self.files, self.bound()))?;
        let both = [(&mut self.conversations, &older.conversations), (&mut self.threads, &older.threads)];
        for (forest, older) in both {
            if let Some(older) = older.get() {
                let carried = older.with_rows(&self.snapshot, &of_table(threads::TABLE)?.added);
                // A forest that does not continue the older one is read on first use.
                *forest = carried.map_or_else(|_| OnceLock::new(), OnceLock::from);
            }
        }
        if let Some(groups) = older.copies.get() {
            let TableDifference { added, removed } = of_table(copies::TABLE)?;
            let (removed, added) = ((&older.snapshot, &removed[..]), (&self.snapshot, &added[..]));
            self.copies = OnceLock::from(groups.with_rows(removed, added, self.bound())?);
        }
        Ok(())
    }

    /// Returns the messages with a file, given those of an older commit.
    fn present_since(
        &self,
        older: &Commit,
        mut present: NumberSet,
        difference: &Difference,
    ) -> Result<NumberSet> {
        let messages = of_table(difference, &self.snapshot, messages::TABLE)?;
        let absent = of_table(difference, &self.snapshot, absent::TABLE)?;
        // Only these messages can have changed. Their current state is looked up.
        let mut touched = numbers(&older.snapshot, messages::TABLE, messages::NUMBER, &messages.removed)?;
        touched.extend(numbers(&self.snapshot, messages::TABLE, messages::NUMBER, &messages.added)?);
        touched.extend(numbers(&older.snapshot, absent::TABLE, absent::MESSAGE, &absent.removed)?);
        touched.extend(numbers(&self.snapshot, absent::TABLE, absent::MESSAGE, &absent.added)?);
        let (messages, absent) = (&self.messages, self.snapshot.table(absent::TABLE)?);
        present.grow(self.bound());
        for number in touched {
            let key = [Value::U32(number)];
            if messages.get(PRIMARY, &key)?.is_some() && absent.get(PRIMARY, &key)?.is_none() {
                present.insert(number);
            } else {
                present.remove(number);
            }
        }
        Ok(present)
    }

    /// Returns whether this commit, carried forward from `older`, may have messages that `older` does not
    /// have.
    pub(crate) fn may_have_more_messages(&self, older: &Commit) -> bool {
        self.added_count > older.added_count
    }

    /// Returns a number above every message number. It never falls. Numbers below it need not have a message,
    /// and may get one later.
    pub(crate) fn bound(&self) -> u32 {
        self.state.next_message
    }

    /// Returns the messages that have a row and at least one file.
    pub(crate) fn present(&self) -> Result<&NumberSet> {
        once(&self.present, || present(&self.snapshot, self.bound()))
    }

    /// Returns the messages that have a file of this kind.
    pub(in crate::search) fn flagged(&self, flag: FileFlag) -> Result<&NumberSet> {
        self.flags.get(flag, &self.files, self.bound())
    }

    /// Returns the roots of all conversations, or the heads of all threads.
    pub(crate) fn forest(&self, grouping: Grouping) -> Result<&Forest> {
        let forest = match grouping {
            Grouping::Conversations => &self.conversations,
            Grouping::Threads => &self.threads,
        };
        once(forest, || Forest::load(&self.snapshot, self.state.next_node, grouping))
    }

    /// Returns which messages are copies of each other.
    pub(crate) fn copies(&self) -> Result<&CopyGroups> {
        once(&self.copies, || CopyGroups::load(&self.snapshot, self.bound()))
    }
}

/// Returns what changed in a table.
fn of_table<'a>(difference: &'a Difference, snapshot: &Snapshot, name: &str) -> Result<&'a TableDifference> {
    let at = snapshot.tables().iter().position(|table| table.schema().name == name);
    at.and_then(|at| difference.tables.get(at)).ok_or(Error::Inconsistent { what: "a table is missing" })
}

/// Returns the message numbers in a column of some rows.
fn numbers(snapshot: &Snapshot, table: &str, column: usize, rows: &[RowId]) -> Result<Vec<u32>> {
    let table = snapshot.table(table)?;
    rows.iter().map(|id| Ok(table.part(*id).u32_at(column, id.row)?)).collect()
}

/// Reads which messages have a row and at least one file.
fn present(snapshot: &Snapshot, bound: u32) -> Result<NumberSet> {
    let table = snapshot.table(messages::TABLE)?;
    let mut present = if table.row_count() == u64::from(bound) {
        NumberSet::full(bound)
    } else {
        let mut present = NumberSet::new(bound);
        for part in table.parts() {
            part.live_numbers(|numbers| present.insert_all(numbers))?;
        }
        present
    };
    for part in snapshot.table(absent::TABLE)?.parts() {
        part.live_numbers(|numbers| numbers.for_each(|number| present.remove(number)))?;
    }
    Ok(present)
}
