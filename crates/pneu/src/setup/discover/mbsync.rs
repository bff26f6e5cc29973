//! mbsync's configuration: the stores that are Maildirs, and which folders of a server are in which of them.
//!
//! Input: the text. Output: directories (`Path`, `Inbox`), pairs of folders (`Far`, `Near`). Stores of
//! servers, and commands for passwords, are ignored.

use super::path::{At, words};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where mbsync keeps the inbox of a store that names none.
const INBOX_DEFAULT: &str = "~/Maildir";

/// Returns the directories of all stores.
pub(super) fn directories(text: &str, at: &At<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut store: Option<Vec<PathBuf>> = None;
    // An empty line ends a section.
    for line in text.lines().chain([""]) {
        let words = words(line, '#');
        let value = words.get(1).map(String::as_str);
        match words.first().map(|word| word.to_ascii_lowercase()).as_deref() {
            None if line.trim().is_empty() => {
                if let Some(of) = store.take() {
                    found.extend(or_default(of, at));
                }
            }
            Some("maildirstore") => store = Some(Vec::new()),
            Some("path" | "inbox") => {
                if let Some(store) = &mut store {
                    store.extend(value.and_then(|value| at.path(value)));
                }
            }
            _ => {}
        }
    }
    found
}

fn or_default(store: Vec<PathBuf>, at: &At<'_>) -> Vec<PathBuf> {
    if store.is_empty() { at.path(INBOX_DEFAULT).into_iter().collect() } else { store }
}

/// A folder of a server, and where it may be here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::setup) struct FarFolder {
    /// Its name on the server.
    pub(in crate::setup) far: String,
    /// Its path here, as directories in each other, and as Maildir++ has it.
    pub(in crate::setup) near: [PathBuf; 2],
}

/// Returns the folders that channels name one by one.
pub(super) fn far_folders(text: &str, at: &At<'_>) -> Vec<FarFolder> {
    let mut stores: BTreeMap<String, PathBuf> = BTreeMap::new();
    let (mut store, mut far, mut near) = (None, None, None);
    let mut found = Vec::new();
    for line in text.lines().chain([""]) {
        let words = words(line, '#');
        let value = words.get(1).cloned();
        match words.first().map(|word| word.to_ascii_lowercase()).as_deref() {
            None if line.trim().is_empty() => {
                store = None;
                found.extend(far.take().zip(near.take()));
            }
            Some("maildirstore") => store = value,
            Some("path") => {
                if let (Some(store), Some(path)) = (&store, value.and_then(|value| at.path(&value))) {
                    stores.insert(store.clone(), path);
                }
            }
            Some("far" | "master") => far = value.as_deref().and_then(place),
            Some("near" | "slave") => near = value.as_deref().and_then(place),
            _ => {}
        }
    }
    let folder = |((_, far), (store, name)): ((String, String), (String, String))| {
        let path = stores.get(&store)?;
        let near = [path.join(&name), path.join(format!(".{}", name.replace('/', ".")))];
        Some(FarFolder { far, near })
    };
    found.into_iter().filter_map(folder).collect()
}

/// Returns the store and the folder of `:store:folder`.
fn place(value: &str) -> Option<(String, String)> {
    let (store, folder) = value.strip_prefix(':')?.split_once(':')?;
    let is_below =
        !folder.is_empty() && !folder.starts_with('/') && !folder.split('/').any(|part| part == "..");
    is_below.then(|| (store.to_owned(), folder.to_owned()))
}
