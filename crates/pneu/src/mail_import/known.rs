//! Which messages are there already: the SHA-256 of each, by folder. A message in another state than the one
//! that is there, such as read, is the same one.
//!
//! Input: the index, brought in step. Output: sets, which the import adds to. Takes 32 bytes for a
//! message, and 64 more for each of the import.

use crate::error::{Error, Result};
use crate::mail_import::model::MailImportOptions;
use index::{Environment, Inventory, Mailbox, NumberSet, StoredFolder, Subdirectory};
use mail::Draft;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Messages with one Message-ID that may be there in another state. Of more, only the exact bytes count.
const SAME_ID_COUNT_MAX: usize = 100;

/// Contents of messages.
pub(super) type Contents = HashSet<[u8; 32]>;

/// What a folder has.
#[derive(Default)]
struct InFolder {
    contents: Contents,
    /// Of the messages of this import: the SHA-256 without the state, and the content that is there.
    imported: HashMap<[u8; 32], [u8; 32]>,
}

/// The contents that are there already.
pub(super) struct Known {
    by_folder: HashMap<PathBuf, InFolder>,
    /// Of all folders, if that counts.
    anywhere: Contents,
    states: States,
}

/// The contents that are not wanted in a folder.
pub(super) struct KnownOf<'k> {
    path: PathBuf,
    folder: &'k mut InFolder,
    anywhere: &'k Contents,
    states: &'k mut States,
    /// Whether a message may be there in another state.
    has_messages: bool,
}

/// What messages are without their state.
struct States {
    mailbox: Mailbox,
    /// SHA-256 without the state, by SHA-256, of messages that were asked for.
    read: HashMap<[u8; 32], Option<[u8; 32]>>,
    /// Files of a Message-ID: the folder, and the content.
    by_id: HashMap<String, Vec<(PathBuf, [u8; 32])>>,
}

impl Known {
    /// Reads what folders have.
    ///
    /// # Errors
    /// A folder is not indexed, or not kept in step: nobody knows what it has. Damage.
    pub(super) fn read(
        environment: &Environment,
        mailbox: Mailbox,
        folders: &[PathBuf],
        options: &MailImportOptions,
    ) -> Result<Known> {
        let inventory = Inventory::open(environment)?;
        let states = States { mailbox, read: HashMap::new(), by_id: HashMap::new() };
        let mut known = Known { by_folder: HashMap::new(), anywhere: Contents::new(), states };
        for path in folders {
            let folder = inventory.folders().iter().find(|folder| folder.directory == *path);
            let Some(folder) = folder.filter(|folder| !folder.no_update) else {
                return Err(Error::NotIndexed { path: path.clone() });
            };
            let contents = contents(&inventory, folder)?;
            known.by_folder.insert(path.clone(), InFolder { contents, ..InFolder::default() });
        }
        if options.skips_known {
            for folder in inventory.folders() {
                known.anywhere.extend(contents(&inventory, folder)?);
            }
        }
        Ok(known)
    }

    /// Returns what is there of a folder.
    pub(super) fn of(&mut self, path: &Path) -> KnownOf<'_> {
        let folder = self.by_folder.entry(path.to_owned()).or_default();
        let has_messages = !folder.contents.is_empty() || !self.anywhere.is_empty();
        let (anywhere, states) = (&self.anywhere, &mut self.states);
        KnownOf { path: path.to_owned(), folder, anywhere, states, has_messages }
    }
}

impl KnownOf<'_> {
    /// Adds a message. Returns the content that is there in its place, if there is one.
    ///
    /// # Errors
    /// Damage in the index.
    pub(super) fn add(&mut self, draft: &Draft) -> Result<Option<[u8; 32]>> {
        let sha256 = draft.sha256();
        if self.holds(&sha256) {
            return Ok(Some(sha256));
        }
        let stateless = draft.stateless_sha256();
        if let Some(there) = self.folder.imported.get(&stateless) {
            return Ok(Some(*there));
        }
        let same = if self.has_messages { self.in_another_state(draft, stateless)? } else { None };
        self.folder.imported.insert(stateless, same.unwrap_or(sha256));
        if same.is_none() {
            self.folder.contents.insert(sha256);
        }
        Ok(same)
    }

    fn holds(&self, sha256: &[u8; 32]) -> bool {
        self.anywhere.contains(sha256) || self.folder.contents.contains(sha256)
    }

    fn in_another_state(&mut self, draft: &Draft, stateless: [u8; 32]) -> Result<Option<[u8; 32]>> {
        let Some(id) = message_id(draft) else { return Ok(None) };
        let files = self.states.files(&id)?;
        let is_wanted =
            |(folder, sha256): &&(PathBuf, [u8; 32])| *folder == self.path || self.anywhere.contains(sha256);
        let wanted: Vec<[u8; 32]> = files.iter().filter(is_wanted).map(|(_, sha256)| *sha256).collect();
        Ok(wanted.into_iter().find(|sha256| self.states.read.get(sha256) == Some(&Some(stateless))))
    }
}

impl States {
    /// Returns the files with a Message-ID. What each is without its state is in `read` then.
    fn files(&mut self, id: &str) -> Result<Vec<(PathBuf, [u8; 32])>> {
        if let Some(files) = self.by_id.get(id) {
            return Ok(files.clone());
        }
        let hits = self.mailbox.by_message_id(id)?;
        if hits.is_empty() {
            return Ok(Vec::new());
        }
        let bound = hits.iter().map(|hit| hit.number.saturating_add(1)).max().unwrap_or_default();
        let mut numbers = NumberSet::new(bound);
        hits.iter().take(SAME_ID_COUNT_MAX).for_each(|hit| numbers.insert(hit.number));
        let mut files = Vec::new();
        for file in self.mailbox.found_files(&numbers)?.into_iter().take(SAME_ID_COUNT_MAX) {
            self.read.entry(file.sha256).or_insert_with(|| stateless(&file.path()));
            files.push((file.folder, file.sha256));
        }
        self.by_id.insert(id.to_owned(), files.clone());
        Ok(files)
    }
}

/// Returns the Message-ID as the index has it: one that is derived from the content, if it has none.
fn message_id(draft: &Draft) -> Option<String> {
    mail::own_message_id(draft.begin())
        .or_else(|| draft.whole().map(|bytes| mail::parse(bytes, &mail::Context::new(0)).message_id))
}

/// Returns the SHA-256 of a message in a file, without its state. A file that cannot be read, or has moved,
/// is no message that is there.
fn stateless(path: &Path) -> Option<[u8; 32]> {
    let mut reader = mail::open_file(path, &Arc::default()).ok()?.reader;
    let mut draft = Draft::default();
    loop {
        let bytes = reader.fill_buf().ok()?;
        if bytes.is_empty() {
            return Some(draft.stateless_sha256());
        }
        draft.push(bytes, None).ok()?;
        let count = bytes.len();
        reader.consume(count);
    }
}

fn contents(inventory: &Inventory, folder: &StoredFolder) -> Result<Contents> {
    let mut contents = Contents::new();
    for subdirectory in [Subdirectory::Cur, Subdirectory::New] {
        contents.extend(inventory.files(folder, subdirectory)?.iter().map(|file| file.sha256));
    }
    Ok(contents)
}
