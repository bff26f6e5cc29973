//! Dovecot's configuration: where it keeps the user's mail.
//!
//! Input: the text. Output: the directory, if it is a Maildir with a known path: `mail_location =
//! maildir:..`, or since 2.4 `mail_path` and `mail_inbox_path` beside `mail_driver = maildir`.

use super::path::{At, plain};
use std::path::PathBuf;

/// The text before the path in `mail_location`.
const MAILDIR: &str = "maildir:";

/// Returns the directories.
pub(super) fn directories(text: &str, at: &At<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let (mut driver, mut paths) = (None, Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        match key.trim() {
            "mail_location" => {
                // Options follow the path: maildir:~/Maildir:LAYOUT=fs
                let path = value.strip_prefix(MAILDIR).and_then(|rest| rest.split(':').next());
                found.extend(path.and_then(|path| expanded(path, at)));
            }
            "mail_driver" => driver = Some(value.to_owned()),
            "mail_path" | "mail_inbox_path" => paths.push(value),
            _ => {}
        }
    }
    if driver.as_deref() == Some("maildir") {
        found.extend(paths.into_iter().filter_map(|path| expanded(path, at)));
    }
    found
}

/// Replaces the variables for the home directory and the user's name. Paths with other variables are not
/// known.
fn expanded(path: &str, at: &At<'_>) -> Option<PathBuf> {
    let home = at.home?.to_str()?;
    let mut text = path.replace("%{home}", home).replace("%h", home);
    if let Some(user) = at.user.filter(|user| !user.contains('/')) {
        for variable in ["%{user | username}", "%{user|username}", "%{user}", "%{username}", "%u", "%n"] {
            text = text.replace(variable, user);
        }
    }
    if text.contains('%') {
        return None;
    }
    let path = at.path(&text)?;
    (plain(&path) == path).then_some(path)
}
