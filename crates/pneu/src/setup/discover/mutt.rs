//! The configuration of mutt and neomutt: folders of mail.
//!
//! Input: the text. Output: the directories that `folder`, `spoolfile` and `mailboxes` name. Nothing in
//! backticks is run: such a value is ignored. Files that it includes are not read.

use super::path::{At, words};
use std::path::PathBuf;

/// The meaning of `=` and `+` if `folder` is not set.
const FOLDER_DEFAULT: &str = "~/Mail";

/// Returns the directories.
pub(super) fn directories(text: &str, at: &At<'_>) -> Vec<PathBuf> {
    let mut folder: Option<String> = None;
    let mut others = Vec::new();
    // After a backslash at its end, a line continues in the next.
    let text = text.replace("\\\n", "");
    for line in text.lines() {
        let words = words(&spaced(line), '#');
        let Some((command, values)) = words.split_first() else { continue };
        match command.as_str() {
            "set" => {
                for (name, value) in settings(values) {
                    match name {
                        "folder" => folder = Some(value.to_owned()),
                        "spoolfile" | "spool_file" => others.push(value.to_owned()),
                        _ => {}
                    }
                }
            }
            "mailboxes" => {
                others.extend(values.iter().filter(|value| !value.starts_with('-')).cloned());
            }
            _ => {}
        }
    }
    let base = folder.clone().unwrap_or_else(|| FOLDER_DEFAULT.to_owned());
    let below = |value: &String| match value.strip_prefix(['=', '+']) {
        Some(rest) => at.path(&format!("{}/{rest}", base.trim_end_matches('/'))),
        None => at.path(value),
    };
    folder.iter().chain(&others).filter_map(below).collect()
}

/// Removes white space around the first `=`: `set folder = x` means the same as `set folder=x`.
fn spaced(line: &str) -> String {
    match line.split_once('=') {
        Some((before, value)) if before.trim_start().starts_with("set") => {
            format!("{}={}", before.trim_end(), value.trim_start())
        }
        _ => line.to_owned(),
    }
}

/// Returns the names and values of `set`.
fn settings(words: &[String]) -> impl Iterator<Item = (&str, &str)> {
    words.iter().filter_map(|word| word.split_once('='))
}
