//! mbsync's configuration: the stores that are Maildirs.
//!
//! Input: the text. Output: their directories (`Path`, `Inbox`). Stores of servers, and commands for
//! passwords, are ignored.

use super::path::{At, words};
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
