//! Suggests why a query that names a folder found nothing.
//!
//! Input: a query without results. Output: for each folder in it that holds no message, what the user
//! probably meant. Must not know how the hint is worded.

use crate::error::Result;
use crate::rows::FolderRow;
use crate::search::answer::files::folder_files;
use crate::search::mailbox::{Mailbox, folder_name, folder_names};
use query::fold::fold;
use query::{Field, FieldSet, Leaf, Matcher, Pattern, Query, Target, nearest};

/// Most hints for one query. A query with more folders was probably written by a program.
const HINT_COUNT_MAX: usize = 3;

/// A folder in a query that holds no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderHint {
    /// Folders below it hold messages.
    Below {
        /// Its name.
        folder: String,
        /// The term that also finds those.
        term: String,
    },
    /// There is no such folder.
    Unknown {
        /// Its name.
        folder: String,
        /// A term for a folder with a similar name, if there is one.
        term: Option<String>,
    },
}

impl Mailbox {
    /// Returns hints for the folders in a query that hold no message.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn folder_hints(&self, query: &Query) -> Result<Vec<FolderHint>> {
        let mut named: Vec<&str> = Vec::new();
        query.visit_leaves(&mut |leaf| named.extend(folder_of(leaf)));
        named.sort_unstable();
        named.dedup();
        let mut hints = Vec::new();
        for folder in named {
            hints.extend(self.folder_hint(folder)?);
            if hints.len() == HINT_COUNT_MAX {
                break;
            }
        }
        Ok(hints)
    }

    fn folder_hint(&self, folder: &str) -> Result<Option<FolderHint>> {
        let wanted = fold(folder);
        let begin = format!("{}/", wanted.trim_end_matches('/'));
        let (mut is_known, mut has_below) = (false, false);
        for row in self.folders() {
            self.check_cancelled()?;
            let names = folder_names(row).map(|name| fold(&name).into_owned());
            if names.iter().any(|name| *name == wanted) {
                is_known = true;
                if self.has_messages(row)? {
                    return Ok(None);
                }
            } else if !has_below && names.iter().any(|name| name.starts_with(&begin)) {
                has_below = self.has_messages(row)?;
            }
        }
        let folder = folder.to_owned();
        Ok(if has_below {
            let term = term(Pattern::Below(folder.clone()));
            Some(FolderHint::Below { folder, term })
        } else if is_known {
            None
        } else {
            let term = self.near_folder(&wanted).map(|near| term(Pattern::Whole(near)));
            Some(FolderHint::Unknown { folder, term })
        })
    }

    fn has_messages(&self, folder: &FolderRow) -> Result<bool> {
        let mut found = self.empty();
        folder_files(self, folder, None, &mut found)?;
        Ok(!found.is_empty())
    }

    /// Returns the folder with the most similar name, or else one whose path ends with the name.
    fn near_folder(&self, wanted: &str) -> Option<String> {
        let names: Vec<String> = self.folders().iter().map(folder_name).collect();
        let near = nearest(wanted, names.iter().map(String::as_str));
        let below = || names.iter().map(String::as_str).find(|name| fold(name).ends_with(wanted));
        near.or_else(below).map(str::to_owned)
    }
}

/// Returns the folder that a term names completely.
fn folder_of(leaf: &Leaf) -> Option<&str> {
    match (&leaf.target, &leaf.matcher) {
        (Target::Fields(fields), Matcher::Value(Pattern::Whole(folder)))
            if fields.contains(Field::Maildir) =>
        {
            Some(folder)
        }
        _ => None,
    }
}

fn term(pattern: Pattern) -> String {
    let target = Target::Fields(FieldSet::of(Field::Maildir));
    Leaf { target, matcher: Matcher::Value(pattern), span: 0..0 }.to_string()
}
