//! Builds one commit: rows to add and remove, and the fingerprints that follow from them.
//!
//! Input: the commit on which it is based, and changes, each with the row that it expects. Output: one
//! transaction. A change whose row is not as expected is skipped, because another writer was faster.
//! Fingerprints always equal the sum over the rows after the commit.

use crate::changes::{Fates, Log, Notes, folder_group};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::pass::commit::dates::{NamedDates, redate};
use crate::pass::commit::findings::Claim;
use crate::pass::commit::parse::Parsed;
use crate::pass::commit::planned::Planned;
use crate::pass::plan::PlannedFolder;
use crate::pass::scan::FileRows;
use crate::pass::scan::Found;
use crate::rows::{self, FileRow, FolderRow, Subdirectory, file_key};
use crate::state::{State, TextSegment};
use crate::tables::{NO_DATE, absent, files, folders, messages};
use crate::text;
use mail::{FileStat, Stamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use store::{OwnedValue, PRIMARY, Rows, Snapshot, Table, Transaction, Value, Version};

/// The rows of new messages, and what comes with them.
pub(in crate::pass) struct Made {
    /// Rows of new messages, threads, copies and people, by table.
    pub rows: Vec<(&'static str, Rows)>,
    /// New segments of the text index.
    pub text: Vec<TextSegment>,
    /// The next node number.
    pub next_node: u32,
    /// Whether known threads are others from now on.
    pub has_joined: bool,
    /// Whether only an archive has the new messages.
    pub are_archived: bool,
}

/// A commit being built.
pub(in crate::pass) struct Batch<'a> {
    environment: &'a Environment,
    snapshot: Snapshot,
    planned: &'a [PlannedFolder],
    state: State,
    roots_changed: bool,
    numbers_changed: bool,
    /// The numbers of new messages, in order.
    new: Vec<u32>,
    /// Folders by number, as they will be after the commit.
    folders: BTreeMap<u32, FolderRow>,
    by_name: HashMap<(String, Vec<u8>), u32>,
    changed_folders: BTreeSet<u32>,
    removed_folders: BTreeSet<u32>,
    files: Rows,
    file_keys: HashSet<(u32, Subdirectory, Vec<u8>)>,
    deleted: Vec<(u32, Subdirectory, Vec<u8>)>,
    /// Messages that lost a file, and messages that got one.
    lost: BTreeSet<u32>,
    gained: BTreeSet<u32>,
    /// What happens to files, for the change log.
    notes: Notes,
    /// Dates in the names of added files.
    named: NamedDates,
    /// Whether no other process has written since the plan was made.
    is_trusted: bool,
}

impl<'a> Batch<'a> {
    /// Begins a batch on top of a commit. A plan that was made on `trusted`, or on an older commit from which
    /// only our own ones lead there, describes that one exactly.
    pub(in crate::pass) fn begin(
        snapshot: &Snapshot,
        environment: &'a Environment,
        plan: Planned<'a>,
        trusted: Version,
    ) -> Result<Batch<'a>> {
        let mut state = open::state(snapshot, &environment.index_directory())?;
        let new_roots = plan.roots.apply(&state.roots);
        let roots_changed = state.roots != new_roots;
        state.roots = new_roots;
        let folders: BTreeMap<u32, FolderRow> =
            rows::folders(snapshot)?.into_iter().map(|row| (row.number, row)).collect();
        let by_name =
            folders.values().map(|row| ((row.root.clone(), row.path.clone()), row.number)).collect();
        Ok(Batch {
            environment,
            files: rows::empty(snapshot, files::TABLE)?,
            is_trusted: snapshot.version() == trusted,
            snapshot: snapshot.clone(),
            planned: plan.folders,
            state,
            roots_changed,
            numbers_changed: false,
            new: Vec::new(),
            folders,
            by_name,
            changed_folders: BTreeSet::new(),
            removed_folders: BTreeSet::new(),
            file_keys: HashSet::new(),
            deleted: Vec::new(),
            lost: BTreeSet::new(),
            gained: BTreeSet::new(),
            notes: Notes::default(),
            named: NamedDates::default(),
        })
    }

    /// Returns whether no other process has written since the plan was made.
    pub(in crate::pass) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Notes a message that was read but whose file was not added. It may have no other file.
    pub(in crate::pass) fn left_over(&mut self, message: u32) {
        self.lost.insert(message);
    }

    /// Notes that the batch's new messages are read with these header fields.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::pass) fn read_with_headers(&mut self, names: &[String]) -> Result<()> {
        let has_older = self.snapshot.table(messages::TABLE)?.row_count() > 0;
        self.state.read_with_headers(names, has_older);
        Ok(())
    }

    /// Returns the dates in the names of added files.
    pub(in crate::pass) fn named_dates(&self) -> &NamedDates {
        &self.named
    }

    /// Returns the number that the next node of a thread gets.
    pub(in crate::pass) fn next_node(&self) -> u32 {
        self.state.next_node
    }

    /// Takes the numbers of new messages, in order: those of `all` that are parsed, of which `new` get a row.
    /// Numbers of all of them may be in the text index, so none is given again. Returns whether they are
    /// ours.
    pub(in crate::pass) fn claim(&mut self, all: &[Parsed], new: &[&Parsed], claim: Claim) -> bool {
        let Some(end) = all.last().map(|last| last.number.saturating_add(1)) else { return true };
        self.new = new.iter().map(|message| message.number).collect();
        match claim {
            Claim::Granted => end <= self.state.next_message,
            Claim::From(first) if first == self.state.next_message => {
                self.state.next_message = end;
                self.numbers_changed = true;
                true
            }
            Claim::From(_) => false,
        }
    }

    /// Sets numbers aside for messages that later commits add.
    ///
    /// # Errors
    /// There are not as many numbers.
    pub(in crate::pass) fn set_aside(&mut self, count: usize) -> Result<Range<u32>> {
        let first = self.state.next_message;
        let end = u32::try_from(count).ok().and_then(|count| first.checked_add(count));
        let end = end.ok_or(Error::Limit { what: "the number of messages", limit: u64::from(u32::MAX) })?;
        self.numbers_changed |= count > 0;
        self.state.next_message = end;
        Ok(first..end)
    }

    /// Returns whether a message is new, or has a row.
    pub(in crate::pass) fn has_message(&self, number: u32) -> Result<bool> {
        if self.is_trusted || self.is_new(number) {
            return Ok(true);
        }
        let table = self.snapshot.table(messages::TABLE)?;
        Ok(table.get(PRIMARY, &[Value::U32(number)])?.is_some())
    }

    fn is_new(&self, number: u32) -> bool {
        self.new.binary_search(&number).is_ok()
    }

    /// Gives a row a new place, name, inode or time; its message stays. Returns whether this was done.
    pub(in crate::pass) fn change(
        &mut self,
        old: &FileRow,
        found: &Found,
        stat: Option<&FileStat>,
    ) -> Result<bool> {
        let mut row = self.row_of(found, old.message, old.inode)?;
        row.inode = found.inode;
        match stat {
            Some(stat) => set_stat(&mut row, stat),
            None => {
                row.size_bytes = old.size_bytes;
                row.mtime_ns = old.mtime_ns;
                row.ctime_ns = old.ctime_ns;
            }
        }
        self.exchange(old, row)
    }

    /// Replaces a row after the content of its file changed. Returns whether this was done.
    pub(in crate::pass) fn replace(
        &mut self,
        old: &FileRow,
        found: &Found,
        (message, stat): (u32, &FileStat),
    ) -> Result<bool> {
        let mut row = self.row_of(found, message, found.inode)?;
        set_stat(&mut row, stat);
        self.exchange(old, row)
    }

    /// Adds a row. Returns whether this was done.
    pub(in crate::pass) fn add(&mut self, found: &Found, (message, stat): (u32, &FileStat)) -> Result<bool> {
        let mut row = self.row_of(found, message, found.inode)?;
        set_stat(&mut row, stat);
        if !self.is_as_expected(row.folder, row.subdirectory, &row.name, None)? {
            return Ok(false);
        }
        self.put(row)?;
        Ok(true)
    }

    /// Removes a row. Returns whether this was done.
    pub(in crate::pass) fn remove(&mut self, row: &FileRow) -> Result<bool> {
        if !self.is_as_expected(row.folder, row.subdirectory, &row.name, Some(row))? {
            return Ok(false);
        }
        self.forget(row)?;
        self.deleted.push((row.folder, row.subdirectory, row.name.clone()));
        Ok(true)
    }

    /// Stores the stamps of a folder, or removes its row if the folder is gone and has no files left.
    pub(in crate::pass) fn finish_folder(
        &mut self,
        index: usize,
        stamps: [Option<Stamp>; 2],
        is_gone: bool,
    ) -> Result<()> {
        let number = self.folder_number(index)?;
        let planned = self.planned.get(index).map(|folder| &folder.row);
        let (Some(row), Some(planned)) = (self.folders.get_mut(&number), planned) else { return Ok(()) };
        let before = row.clone();
        row.no_update = planned.no_update;
        row.keyword_names.clone_from(&planned.keyword_names);
        for (directory, stamp) in row.directories.iter_mut().zip(stamps) {
            directory.stamp = stamp.unwrap_or(directory.stamp);
        }
        let is_changed = before != *row;
        // An empty fingerprint means that there are no rows.
        if is_gone
            && row.directories.iter().all(|directory| directory.fingerprint == mail::Fingerprint::default())
        {
            self.removed_folders.insert(number);
            self.changed_folders.remove(&number);
        } else if is_changed {
            self.changed_folders.insert(number);
        }
        Ok(())
    }

    /// Returns the transaction, empty if there is nothing to write; `None` if others have taken the slots
    /// that were free for its text.
    pub(in crate::pass) fn finish(mut self, mut made: Made) -> Result<Option<Transaction>> {
        let mut transaction = Transaction::default();
        let absences = self.absences(&mut transaction)?;
        self.redate(&mut made)?;
        let mut folder_rows = rows::empty(&self.snapshot, folders::TABLE)?;
        for number in &self.changed_folders {
            if let Some(row) = self.folders.get(number) {
                rows::push_folder(&mut folder_rows, row)?;
            }
        }
        for (folder, subdirectory, name) in &self.deleted {
            if !self.file_keys.contains(&(*folder, *subdirectory, name.clone())) {
                let key = file_key(*folder, *subdirectory, name)
                    .iter()
                    .map(|value| Value::to_owned(*value))
                    .collect();
                transaction.deletes.push((files::TABLE.into(), key));
            }
        }
        for number in &self.removed_folders {
            transaction.deletes.push((folders::TABLE.into(), vec![OwnedValue::U32(*number)]));
        }
        transaction.puts.extend(made.rows.into_iter().map(|(table, rows)| (table.to_owned(), rows)));
        for (table, rows) in [(files::TABLE, self.files), (folders::TABLE, folder_rows)] {
            if !rows.is_empty() {
                transaction.puts.push((table.into(), rows));
            }
        }
        if transaction.puts.is_empty()
            && transaction.deletes.is_empty()
            && !self.roots_changed
            && !self.numbers_changed
        {
            return Ok(Some(Transaction::default()));
        }
        self.state.next_node = made.next_node;
        if made.has_joined {
            self.state.joined_in = self.snapshot.version().sequence.saturating_add(1);
        }
        self.state.text.extend(made.text);
        if !text::attach(&self.snapshot, &mut self.state, &mut transaction) {
            return Ok(None);
        }
        let Absences { gone, back } = &absences;
        let fates = Fates { new: &self.new, are_archived: made.are_archived, gone, back };
        let mut groups = std::mem::take(&mut self.notes).groups(fates);
        let removed = self.removed_folders.iter().filter_map(|number| self.folders.get(number));
        groups.extend(removed.map(folder_group));
        Log::append(self.environment, &self.snapshot, &groups, &mut transaction)?;
        Ok(Some(transaction))
    }

    /// Replaces one row by another, with the same or another name.
    fn exchange(&mut self, old: &FileRow, row: FileRow) -> Result<bool> {
        let same_key = (old.folder, old.subdirectory, &old.name) == (row.folder, row.subdirectory, &row.name);
        let expected = self.is_as_expected(old.folder, old.subdirectory, &old.name, Some(old))?
            && (same_key || self.is_as_expected(row.folder, row.subdirectory, &row.name, None)?);
        if !expected {
            return Ok(false);
        }
        self.forget(old)?;
        if !same_key {
            self.deleted.push((old.folder, old.subdirectory, old.name.clone()));
        }
        self.put(row)?;
        Ok(true)
    }

    fn put(&mut self, row: FileRow) -> Result<()> {
        rows::push_file(&mut self.files, &row)?;
        self.directory(&row)?.fingerprint.add(row.entry_hash());
        self.gained.insert(row.message);
        if !self.is_new(row.message) {
            self.notes.gained(&row);
        }
        self.named.note(row.message, &row.name);
        self.file_keys.insert((row.folder, row.subdirectory, row.name));
        Ok(())
    }

    fn forget(&mut self, row: &FileRow) -> Result<()> {
        self.directory(row)?.fingerprint.remove(row.entry_hash());
        self.lost.insert(row.message);
        self.notes.lost(row);
        Ok(())
    }

    fn directory(&mut self, row: &FileRow) -> Result<&mut rows::DirectoryState> {
        self.changed_folders.insert(row.folder);
        let folder = self.folders.get_mut(&row.folder);
        folder
            .map(|folder| &mut folder.directories[row.subdirectory.index()])
            .ok_or(Error::Inconsistent { what: "a file's folder has no row" })
    }

    /// Checks that a row is the same in the newest commit, unless no other process has written since the plan
    /// was made.
    fn is_as_expected(
        &self,
        folder: u32,
        subdirectory: Subdirectory,
        name: &[u8],
        expected: Option<&FileRow>,
    ) -> Result<bool> {
        if self.is_trusted {
            return Ok(true);
        }
        let row = FileRows::new(&self.snapshot)?.file(&file_key(folder, subdirectory, name))?;
        Ok(row.as_ref() == expected)
    }

    fn row_of(&mut self, found: &Found, message: u32, inode: u64) -> Result<FileRow> {
        let folder = self.folder_number(found.folder)?;
        let name = mail::parse_name(&found.name);
        Ok(FileRow {
            folder,
            subdirectory: found.subdirectory,
            inode,
            size_bytes: 0,
            mtime_ns: 0,
            ctime_ns: 0,
            flags: found.subdirectory.flags(name.flags),
            keywords: name.keywords,
            message,
            name: found.name.clone(),
        })
    }

    /// Returns the number of a folder of the plan. A new folder is assigned a number here.
    fn folder_number(&mut self, index: usize) -> Result<u32> {
        let planned = self
            .planned
            .get(index)
            .ok_or(Error::Inconsistent { what: "a plan names a folder that it does not have" })?;
        let key = (planned.row.root.clone(), planned.row.path.clone());
        if let Some(number) = self.by_name.get(&key) {
            return Ok(*number);
        }
        let number = self.state.next_folder;
        self.state.next_folder = number
            .checked_add(1)
            .ok_or(Error::Limit { what: "the number of folders", limit: u64::from(u32::MAX) })?;
        let row = FolderRow { number, directories: Default::default(), ..planned.row.clone() };
        self.folders.insert(number, row);
        self.by_name.insert(key, number);
        self.changed_folders.insert(number);
        Ok(number)
    }

    /// Returns the rows of a message's existing files that stay.
    fn files_left(
        &self,
        table: &Table,
        message: u32,
        deleted: &HashSet<&(u32, Subdirectory, Vec<u8>)>,
    ) -> Result<Vec<FileRow>> {
        let mut left = rows::files_of(table, message)?;
        left.retain(|row| {
            let key = (row.folder, row.subdirectory, row.name.clone());
            !deleted.contains(&key) && !self.file_keys.contains(&key)
        });
        Ok(left)
    }

    /// Sets the date of messages that have none of their own, from the current names of their files.
    fn redate(&self, made: &mut Made) -> Result<()> {
        let deleted = self.deleted.iter().collect();
        let file_table = self.snapshot.table(files::TABLE)?;
        let mut changed = rows::empty(&self.snapshot, messages::TABLE)?;
        let date = |message: u32| -> Result<Option<i64>> {
            let left = self.files_left(&file_table, message, &deleted)?;
            if left.is_empty() && !self.gained.contains(&message) {
                return Ok(None);
            }
            let mut named = NamedDates::default();
            left.iter().for_each(|row| named.note(message, &row.name));
            named.note_seconds(message, Some(self.named.date(message)).filter(|date| *date != NO_DATE));
            Ok(Some(named.date(message)))
        };
        let known = self.lost.union(&self.gained).copied().filter(|message| !self.is_new(*message));
        redate(&self.snapshot, known, date, &mut changed)?;
        if !changed.is_empty() {
            made.rows.push((messages::TABLE, changed));
        }
        Ok(())
    }

    /// Marks messages that lost their last file as absent, and absent messages that got a file as present.
    fn absences(&mut self, transaction: &mut Transaction) -> Result<Absences> {
        let mut absences = Absences::default();
        let absent_table = self.snapshot.table(absent::TABLE)?;
        let mut gone = rows::empty(&self.snapshot, absent::TABLE)?;
        let deleted = self.deleted.iter().collect();
        let file_table = self.snapshot.table(files::TABLE)?;
        for message in self.lost.difference(&self.gained) {
            let is_known = || absent_table.get(PRIMARY, &[Value::U32(*message)]).map(|row| row.is_some());
            if self.files_left(&file_table, *message, &deleted)?.is_empty() && !is_known()? {
                rows::push_absent(&mut gone, *message, self.environment.now_seconds())?;
                absences.gone.insert(*message);
            }
        }
        for message in &self.gained {
            if absent_table.row_count() > 0 && absent_table.get(PRIMARY, &[Value::U32(*message)])?.is_some() {
                transaction.deletes.push((absent::TABLE.into(), vec![OwnedValue::U32(*message)]));
                absences.back.insert(*message);
            }
        }
        if !gone.is_empty() {
            transaction.puts.push((absent::TABLE.into(), gone));
        }
        Ok(absences)
    }
}

/// Messages that have no file any more, and those that have one again.
#[derive(Default)]
struct Absences {
    gone: BTreeSet<u32>,
    back: BTreeSet<u32>,
}

fn set_stat(row: &mut FileRow, stat: &FileStat) {
    row.size_bytes = stat.size_bytes;
    row.mtime_ns = stat.mtime_ns;
    row.ctime_ns = stat.ctime_ns;
}
