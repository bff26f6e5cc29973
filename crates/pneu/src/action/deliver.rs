//! Delivers a new message: stores it in a folder, durably, and indexes it.
//!
//! Input: a stream, a folder, flags and tags. Output: where the message is. Once it is stored, nothing that
//! goes wrong is an error: whoever delivers would try again, and the message would be there twice.

use crate::action::folder::Chosen;
use crate::action::role::Known;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::{FolderPlace, Hit, Places, Problem, Root, TagChange, TagEdit, UpdateOptions};
use mail::Flags;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use work::Progress;

/// How to deliver a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliverOptions {
    /// The flags of the message. With `None` it is new: no mail program has shown it yet.
    pub flags: Option<Flags>,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// Whether to create a folder that does not exist.
    pub creates_folder: bool,
    /// When it was received, in seconds since 1970: the time in its file's name. With `None`, now.
    pub received_seconds: Option<i64>,
}

/// A message that was delivered.
#[derive(Debug)]
pub struct Delivered {
    /// Its file.
    pub path: PathBuf,
    /// Why it is not indexed, if so. The next pass indexes it; its tags are not set then.
    pub not_indexed: Option<Error>,
    /// Why it is indexed and its tags are not set, if so.
    pub not_tagged: Option<Error>,
    /// Rules of the configuration that are wrong, and were left out. The others were followed.
    pub wrong_rules: Vec<Problem>,
}

impl Host {
    /// Stores a message in a folder, and indexes it. When this returns, the message is durable, and found by
    /// the next view. The folder is named as it is shown, as it is on disk, or by its path.
    ///
    /// # Errors
    /// There is no such folder, or several; a text that cannot be a tag; the message is empty or cannot be
    /// read; the folder cannot be written. The message is not delivered then.
    pub fn deliver(
        &self,
        folder: &str,
        message: &mut dyn Read,
        options: &DeliverOptions,
        progress: &dyn Progress,
    ) -> Result<Delivered> {
        check_tags(&options.tags)?;
        let Chosen { path: folder, is_new } = self.choose_folder(folder, options.creates_folder)?;
        if is_new {
            create(&folder)?;
        }
        self.deliver_into(&folder, message, options, progress)
    }

    /// Stores a message in the folder at a path, and indexes it: see [`Host::deliver`].
    ///
    /// # Errors
    /// As [`Host::deliver`]. The message is not delivered then.
    pub fn deliver_into(
        &self,
        folder: &Path,
        message: &mut dyn Read,
        options: &DeliverOptions,
        progress: &dyn Progress,
    ) -> Result<Delivered> {
        check_tags(&options.tags)?;
        let name = self.unique_name_at(options.received_seconds);
        let path = mail::deliver(folder, &name, options.flags, message).map_err(Error::Delivery)?;
        let mut delivered = Delivered { path, not_indexed: None, not_tagged: None, wrong_rules: Vec::new() };
        let (view, hits, problems) = match self.index_delivered(&delivered.path, progress) {
            Ok(found) => found,
            Err(error) => return Ok(Delivered { not_indexed: Some(error), ..delivered }),
        };
        let change = TagChange { add: options.tags.clone(), ..TagChange::default() };
        let tagged = match options.tags.is_empty() {
            true => Ok(()),
            false => self.edit_tags_for(&view, &[(hits, TagEdit::Change(change))], progress).map(|_| ()),
        };
        let (wrong_rules, others): (Vec<Problem>, Vec<Problem>) =
            problems.into_iter().partition(|problem| self.is_about_rule(problem));
        delivered.wrong_rules = wrong_rules;
        delivered.not_tagged = tagged.err().or(others.into_iter().next().map(Error::Problem));
        Ok(delivered)
    }

    /// Creates a folder and indexes it. Its name is that of [`Host::deliver`]. One that is there and not
    /// indexed is only indexed.
    ///
    /// # Errors
    /// There is such a folder in the index, or a text that cannot be its name; the disk cannot be written; as
    /// [`Host::update`]: the folder is there then.
    pub fn create_folder(&self, name: &str, progress: &dyn Progress) -> Result<PathBuf> {
        let Chosen { path, is_new } = self.choose_folder(name, true)?;
        if is_new {
            create(&path)?;
        } else if self.newest_view()?.mailbox().folder_places().iter().any(|known| known.path == path) {
            return Err(Error::FolderExists { path });
        }
        let places = [path.as_path()].into_iter().collect();
        self.update_places(&places, &UpdateOptions::default(), progress)?;
        Ok(path)
    }

    /// Returns the folder of a name or of a role. One that is there needs no index.
    pub(crate) fn choose_folder(&self, name: &str, creates: bool) -> Result<Chosen> {
        let accounts = &self.settings().configuration.accounts;
        let failure = match self.newest_view() {
            Ok(view) => {
                let folders = view.mailbox().folder_places();
                let known = Known { folders: &folders, roots: view.roots(), accounts };
                return known.named(name, creates);
            }
            Err(error) => error,
        };
        // Mail comes while the index is old, damaged or missing, too.
        let roots = &self.settings().configuration.roots;
        let folders: Vec<FolderPlace> = roots.iter().flat_map(folders_on_disk).collect();
        let known = Known { folders: &folders, roots, accounts };
        let anywhere = Known { folders: &[], roots: &[], accounts };
        known.named(name, false).or_else(|_| anywhere.named(name, false)).map_err(|_| failure)
    }

    /// Indexes the file. Returns its message in the newest view, and what is wrong with tags of new messages.
    fn index_delivered(
        &self,
        path: &Path,
        progress: &dyn Progress,
    ) -> Result<(View, Vec<Hit>, Vec<Problem>)> {
        let mut places = Places::default();
        places.add_file(path);
        let summary = self.update_places(&places, &UpdateOptions::default(), progress)?;
        let view = self.newest_view()?;
        let hits = view.mailbox().by_path(path)?;
        let mut problems = summary.problems.into_iter();
        if !hits.is_empty() {
            return Ok((view, hits, problems.filter(|problem| self.is_about_arrivals(problem)).collect()));
        }
        // Problems with other files are for the next pass to report.
        match problems.find(|problem| path.starts_with(&problem.path)) {
            Some(problem) => Err(Error::Problem(problem)),
            None => Err(Error::NotIndexed { path: path.to_owned() }),
        }
    }
}

/// Checks that texts can be tags.
fn check_tags(tags: &BTreeSet<String>) -> Result<()> {
    let wrong = |tag: &String| Some((tag.clone(), index::check_tag(tag).err()?));
    match tags.iter().find_map(wrong) {
        Some((tag, what)) => Err(Error::Index(index::Error::Tag { tag, what })),
        None => Ok(()),
    }
}

/// Returns the folders of a root that are there.
fn folders_on_disk(root: &Root) -> Vec<FolderPlace> {
    let found = mail::find_folders(&root.path).unwrap_or_default();
    found.folders.iter().map(|folder| FolderPlace::below(&root.path, &folder.path)).collect()
}

/// Creates a folder, and the directories on the way to it, all durable.
pub(crate) fn create(folder: &Path) -> Result<()> {
    let missing: Vec<&Path> = folder.ancestors().skip(1).take_while(|part| !part.exists()).collect();
    for part in missing.into_iter().rev() {
        mail::create_directory(part).map_err(Error::Delivery)?;
        part.parent().map_or(Ok(()), mail::sync_directory).map_err(Error::Delivery)?;
    }
    mail::create_folder(folder).map_err(Error::Delivery)
}
