//! Changes of messages as JSON Lines.
//!
//! Input: what happened to a message; a token. Output: a line of JSON each. Does not depend on the format of
//! the change log.

use crate::flags::names;
use crate::json::any_line;
use crate::record::VERSION;
use index::{Change, ChangedFolder, FlagsAndKeywords, Happened};
use mail::ContentFlags;
use serde::Serialize;

#[derive(Default, Serialize)]
struct ChangeRecord<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    commit: u64,
    time_unix: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Folder<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Folder<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<Folder<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folders: Option<Vec<Folder<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct Folder<'a> {
    root: &'a str,
    maildir: &'a str,
}

#[derive(Serialize)]
struct TokenRecord<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    token: &'a str,
}

/// Appends a change as a line.
pub fn line(change: &Change, out: &mut Vec<u8>) {
    let mut record = ChangeRecord {
        version: VERSION,
        kind: "change",
        sha256: change.sha256.as_ref().map(|sha256| printable::hex(sha256)),
        commit: change.commit,
        time_unix: change.time_seconds,
        ..ChangeRecord::default()
    };
    record.change = match &change.what {
        Happened::Added(folders) | Happened::Back(folders) => {
            record.folders = Some(folders.iter().map(folder).collect());
            if matches!(change.what, Happened::Added(_)) { "added" } else { "back" }
        }
        Happened::Archived => "archived",
        Happened::Moved { from, to } => {
            (record.from, record.to) = (Some(folder(from)), Some(folder(to)));
            "moved"
        }
        Happened::Copied(to) => {
            record.to = Some(folder(to));
            "copied"
        }
        Happened::Removed(from) => {
            record.from = Some(folder(from));
            "removed"
        }
        Happened::Renamed(place) => {
            record.folder = Some(folder(place));
            "renamed"
        }
        Happened::Flags { folder: place, added, removed } => {
            record.folder = Some(folder(place));
            (record.added, record.removed) = (Some(flags(*added)), Some(flags(*removed)));
            "flags"
        }
        Happened::Gone => "gone",
        Happened::Text => "text",
        Happened::Forgotten { .. } => "forgotten",
        Happened::Tags { added, removed } => {
            (record.added, record.removed) = (Some(texts(added)), Some(texts(removed)));
            "tags"
        }
    };
    any_line(&record, out);
}

/// Appends the next token as a line.
pub fn token_line(token: &str, out: &mut Vec<u8>) {
    any_line(&TokenRecord { version: VERSION, kind: "token", token }, out);
}

fn folder(folder: &ChangedFolder) -> Folder<'_> {
    Folder { root: &folder.root, maildir: &folder.maildir }
}

fn texts(tags: &[String]) -> Vec<&str> {
    tags.iter().map(String::as_str).collect()
}

/// Returns the names of flags, and the letters of keywords.
fn flags(set: FlagsAndKeywords) -> Vec<&'static str> {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    // That a message is not seen is no flag of a file.
    let names = names([set.flags], ContentFlags::NONE).into_iter().filter(|name| *name != "unread");
    let letters = (0..LETTERS.len()).filter(|bit| set.keywords >> bit & 1 == 1);
    names.chain(letters.filter_map(|bit| LETTERS.get(bit..=bit))).collect()
}
