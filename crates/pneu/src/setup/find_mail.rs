//! Looks on the disk for the user's mail, if no directory is named.
//!
//! Input: what the session knows about the user. Output: directories that hold Maildirs. Reads configuration
//! files of other programs, and runs nothing.

use crate::setup::discover::{self, Candidate, FILE_BYTES_MAX, Source, Whereabouts};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The result.
#[derive(Clone, Debug)]
pub struct Found {
    /// Directories with mail; none is inside another.
    pub mail: Vec<Candidate>,
    /// Directories that were checked.
    pub looked: Vec<PathBuf>,
}

impl Found {
    /// Returns the directories that were checked, as a list for people.
    pub fn looked(&self) -> String {
        let paths: Vec<String> = self.looked.iter().map(|path| path.display().to_string()).collect();
        if paths.is_empty() { "any place that is known".to_owned() } else { paths.join(", ") }
    }
}

/// Checks all directories that the environment and other programs name, and the usual places.
pub fn find(whereabouts: &Whereabouts) -> Found {
    let sources = discover::sources(whereabouts).into_iter();
    let texts: Vec<(Source, String)> =
        sources.filter_map(|source| text(&source.path).map(|text| (source, text))).collect();
    let candidates = discover::candidates(whereabouts, &texts);
    let looked = candidates.iter().map(|candidate| candidate.path.clone()).collect();
    let mail: Vec<(PathBuf, Candidate)> = candidates
        .into_iter()
        .filter(|candidate| has_mail(&candidate.path))
        .map(|candidate| {
            (candidate.path.canonicalize().unwrap_or_else(|_| candidate.path.clone()), candidate)
        })
        .collect();
    Found { mail: discover::outermost(&mail), looked }
}

/// Returns whether a directory holds Maildirs.
pub fn has_mail(path: &Path) -> bool {
    mail::find_folders(path).is_ok_and(|found| !found.folders.is_empty())
}

/// Returns the text of a plain file, or its beginning. None if there is no such file.
fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    disk::open_file(path).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
