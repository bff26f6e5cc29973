//! notmuch's configuration: where its mail is.
//!
//! Input: the text. Output: the directory (`mail_root`, or else `path`) of the section `[database]`.

use super::path::At;
use std::path::PathBuf;

/// Returns the directory; `None` if the file does not name one.
pub(super) fn directories(text: &str, at: &At<'_>) -> Vec<PathBuf> {
    let (mut is_database, mut mail_root, mut path) = (false, None, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_database = section.trim_end_matches(']').trim() == "database";
        }
        let Some((key, value)) = line.split_once('=').filter(|_| is_database) else { continue };
        match key.trim() {
            "mail_root" => mail_root = directory(value.trim(), at),
            "path" => path = directory(value.trim(), at),
            _ => {}
        }
    }
    mail_root.or(path).into_iter().collect()
}

/// A relative path is below the home directory.
fn directory(value: &str, at: &At<'_>) -> Option<PathBuf> {
    let is_relative = !value.is_empty() && !value.starts_with(['/', '~', '$']);
    if is_relative { at.path(&format!("~/{value}")) } else { at.path(value) }
}
