//! What happened since a token, message by message.
//!
//! Input: a mailbox, a token. Output: changes with ids, folders and flags as values, and the next token. A
//! message or folder that is gone by now is named from the log. Must not know how changes are printed.

use crate::changes::{Event, FlagsAndKeywords, Forgotten, Group, Log, Logged, Token};
use crate::error::Result;
use crate::rows::{self, FolderRow};
use crate::search::mailbox::{Mailbox, folder_name};
use crate::tables::{files, messages};
use std::collections::HashMap;
use store::{PRIMARY, Table, Value};

/// What happened since a token.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The token of the newest commits. They are durable.
    pub token: String,
    /// Whether known messages came into other threads, so that their ids are others. That happens only before
    /// the first index is complete, or by an older version.
    pub have_threads_changed: bool,
    /// Commits of the index.
    index: Vec<Logged>,
    /// Commits of tags.
    user: Vec<Logged>,
}

/// One thing that happened to one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of the commit: of the index, or of the user's tags if tags changed.
    pub commit: u64,
    /// When it was committed, in seconds since 1970.
    pub time_seconds: i64,
    /// The SHA-256 of the message's content. `None` if that message is gone from the index and from the log.
    pub sha256: Option<[u8; 32]>,
    /// What happened.
    pub what: Happened,
}

/// What happened to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It is new. Holds the folders in which it has files now.
    Added(Vec<ChangedFolder>),
    /// It is new, and only an archive has it.
    Archived,
    /// It had no file, and has one again. Holds the folders in which it has files now.
    Back(Vec<ChangedFolder>),
    /// A file of it went to another folder.
    Moved {
        /// The folder in which it was.
        from: ChangedFolder,
        /// The folder to which it went.
        to: ChangedFolder,
    },
    /// It has a further file, in this folder.
    Copied(ChangedFolder),
    /// It lost one of its files, in this folder, and has others.
    Removed(ChangedFolder),
    /// A file in this folder has another name, with the same flags.
    Renamed(ChangedFolder),
    /// A file has other flags.
    Flags {
        /// Its folder.
        folder: ChangedFolder,
        /// The flags that it has now and had not.
        added: FlagsAndKeywords,
        /// The flags that it had and has no more.
        removed: FlagsAndKeywords,
    },
    /// Its last file is gone.
    Gone,
    /// It has more text: attachments were read.
    Text,
    /// It was forgotten: it had no file, and its row was removed.
    Forgotten {
        /// Its node among threads, if the log has it.
        node: Option<u32>,
    },
    /// It has other tags.
    Tags {
        /// Those that it has now and had not.
        added: Vec<String>,
        /// Those that it had and has no more.
        removed: Vec<String>,
    },
}

/// A folder, by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFolder {
    /// The root's name.
    pub root: String,
    /// The folder, as queries name it.
    pub maildir: String,
}

impl Changes {
    /// Calls `each` with every change, in the order of commits: those of the index, then those of tags.
    /// Within a commit, a message is added before anything else is told of it.
    ///
    /// # Errors
    /// Damage; the error of `each`.
    pub fn each<E: From<crate::Error>>(
        &self,
        mailbox: &Mailbox,
        mut each: impl FnMut(Change) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let names = Names::new(mailbox, &self.index)?;
        for Logged { commit, time_seconds, groups } in self.index.iter().chain(&self.user) {
            let mut tell = |sha256: Option<[u8; 32]>, what: Happened| {
                each(Change { commit: *commit, time_seconds: *time_seconds, sha256, what })
            };
            for group in groups {
                match group {
                    Group::Messages(event, numbers) => {
                        for number in numbers {
                            tell(names.sha256(*number)?, names.happened(*event, *number)?)?;
                        }
                    }
                    Group::Forgotten(forgotten) => {
                        for Forgotten { sha256, node, .. } in forgotten {
                            tell(Some(*sha256), Happened::Forgotten { node: *node })?;
                        }
                    }
                    Group::Folder { .. } => {}
                    Group::Tags { added, removed, contents } => {
                        for sha256 in contents {
                            let what = Happened::Tags { added: added.clone(), removed: removed.clone() };
                            tell(Some(*sha256), what)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Mailbox {
    /// Returns what happened since a token, up to the commits of index and tags that this mailbox shows;
    /// without a token, only the next token. Those commits are durable when this returns.
    ///
    /// # Errors
    /// [`crate::Error::Token`] if the token is none of this index, or too old; a disk that refuses to sync;
    /// damage.
    pub fn changes(&self, since: Option<&str>) -> Result<Changes> {
        let (index, user) = (self.snapshot(), self.user_snapshot()?);
        index.make_durable()?;
        user.map_or(Ok(()), store::Snapshot::make_durable)?;
        let token = Token::newest(index, user)?.to_text();
        let nothing = Changes { token, have_threads_changed: false, index: Vec::new(), user: Vec::new() };
        let Some(since) = since else { return Ok(nothing) };
        let since = Token::read(since, index, user)?;
        let have_threads_changed = since.index < self.state().joined_in;
        let user = user.map_or_else(|| Ok(Vec::new()), |user| Log::since(user, since.user))?;
        Ok(Changes { have_threads_changed, index: Log::since(index, since.index)?, user, ..nothing })
    }
}

/// The names of messages and folders.
struct Names<'a> {
    mailbox: &'a Mailbox,
    messages: &'a Table,
    folders: HashMap<u32, ChangedFolder>,
    /// Messages that have no row any more.
    forgotten: HashMap<u32, [u8; 32]>,
}

impl<'a> Names<'a> {
    fn new(mailbox: &'a Mailbox, logged: &[Logged]) -> Result<Names<'a>> {
        let (mut folders, mut forgotten) = (HashMap::new(), HashMap::new());
        for group in logged.iter().flat_map(|commit| &commit.groups) {
            match group {
                Group::Forgotten(messages) => {
                    forgotten.extend(messages.iter().map(|message| (message.number, message.sha256)));
                }
                Group::Folder { number, root, path } => {
                    let row = FolderRow {
                        number: *number,
                        root: root.clone(),
                        path: path.clone(),
                        ..FolderRow::default()
                    };
                    folders.insert(*number, named(&row));
                }
                Group::Messages(..) | Group::Tags { .. } => {}
            }
        }
        folders.extend(mailbox.folders().iter().map(|row| (row.number, named(row))));
        let messages = mailbox.message_table();
        Ok(Names { mailbox, messages, folders, forgotten })
    }

    fn sha256(&self, number: u32) -> Result<Option<[u8; 32]>> {
        match self.messages.get(PRIMARY, &[Value::U32(number)])? {
            Some(row) => Ok(Some(self.messages.part(row).id_at(messages::SHA256, row.row)?)),
            None => Ok(self.forgotten.get(&number).copied()),
        }
    }

    /// Returns a folder. One that neither the index nor the log knows has no name.
    fn folder(&self, number: u32) -> ChangedFolder {
        let unknown = || ChangedFolder { root: String::new(), maildir: String::new() };
        self.folders.get(&number).cloned().unwrap_or_else(unknown)
    }

    /// Returns the folders that a message is in now, each once.
    fn folders_of(&self, message: u32) -> Result<Vec<ChangedFolder>> {
        let table = self.mailbox.file_table();
        let mut numbers = Vec::new();
        for id in table.find(files::BY_MESSAGE, &[Value::U32(message)])? {
            numbers.push(rows::part_of(table, id).u32_at(files::FOLDER, id.row)?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers.into_iter().map(|number| self.folder(number)).collect())
    }

    fn happened(&self, event: Event, message: u32) -> Result<Happened> {
        Ok(match event {
            Event::Added => Happened::Added(self.folders_of(message)?),
            Event::Archived => Happened::Archived,
            Event::Back => Happened::Back(self.folders_of(message)?),
            Event::Moved { from, to } => Happened::Moved { from: self.folder(from), to: self.folder(to) },
            Event::Copied { to } => Happened::Copied(self.folder(to)),
            Event::Removed { from } => Happened::Removed(self.folder(from)),
            Event::Renamed { folder } => Happened::Renamed(self.folder(folder)),
            Event::Flags { folder, before, after } => Happened::Flags {
                folder: self.folder(folder),
                added: after.without(before),
                removed: before.without(after),
            },
            Event::Gone => Happened::Gone,
            Event::Text => Happened::Text,
        })
    }
}

fn named(row: &FolderRow) -> ChangedFolder {
    ChangedFolder { root: row.root.clone(), maildir: folder_name(row) }
}
