//! Turns what happened in watched directories into work for a pass.
//!
//! Input: reports of the kernel. Output: the files and folders to look at, or everything. Asks the disk only
//! whether a name is a symbolic link.

use index::Places;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use watch::{Interest, Report};

/// What is watched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Watched {
    /// The names that lead to the roots, by symbolic links too.
    pub ways: BTreeSet<PathBuf>,
    /// Directories in the roots.
    pub directories: HashSet<PathBuf>,
    /// The directory of the index.
    pub index: PathBuf,
    /// The names that lead to the configuration, by symbolic links too.
    pub configuration: BTreeSet<PathBuf>,
}

/// What a pass has to look at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Todo {
    /// Files and folders.
    pub places: Places,
    /// Whether everything may have changed: folders came or went, or events were lost.
    pub is_everything: bool,
    /// Whether the index has a commit, which may add a root.
    pub has_commit: bool,
    /// Whether the configuration may have changed.
    pub is_reconfigured: bool,
}

impl Todo {
    /// Returns whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_everything && !self.has_commit && !self.is_reconfigured && self.places.is_empty()
    }

    /// Adds what happened.
    pub(super) fn add(&mut self, report: &Report, watched: &Watched) {
        self.is_everything |= report.is_uncertain || !report.gone.is_empty();
        for entry in &report.entries {
            let path = mail::join(&entry.directory, &entry.name);
            self.is_reconfigured |= watched.configuration.contains(&path);
            match entry.interest {
                _ if entry.directory == watched.index => self.has_commit = true,
                // Other files beside the configuration are not mail.
                Interest::NamesAndContents
                    if watched.configuration.iter().any(|file| file.parent() == Some(&entry.directory)) => {}
                // Above the roots, only what leads to them matters.
                Interest::Names if !watched.directories.contains(&entry.directory) => {
                    self.is_everything |= watched.ways.contains(&path);
                }
                // In `cur` and `new`, names that begin with a dot are no messages.
                Interest::NamesAndContents if entry.is_directory || entry.name.starts_with(b".") => {}
                Interest::NamesAndContents => self.places.add_file(&path),
                Interest::Names if entry.name == mail::KEYWORDS_FILE => {
                    self.places.add_folder(&entry.directory);
                }
                Interest::Names => {
                    let is_link = || mail::stat_entry(&path).is_ok_and(|stat| stat.is_link());
                    self.is_everything |= entry.is_directory
                        || mail::is_folder_setting(&entry.name)
                        // Other files come and go all the time, such as Dovecot's locks.
                        || watched.directories.contains(&path)
                        || is_link();
                }
            }
        }
    }
}
