//! What is kept of folders as text: the attachment `folders` of `user/`, which backups store as it is.
//!
//! Input: entries, or text. Output: text, or entries. docs/FORMAT.md describes the format: one line per
//! folder. Must not know which folders there are.

use super::kept::{Entry, FOLDER_ID_BYTES, FolderId, FolderKey, KeptFolders};
use crate::error::{Error, Result};
use crate::user::text::{digit, escape, unescape_bytes};
use std::collections::HashSet;
use store::Snapshot;

/// The attachment's name.
pub(super) const ATTACHMENT: &str = "folders";
/// Most bytes of the attachment, which each change writes anew. Beyond it, folders that the index does not
/// have are forgotten.
pub(super) const BYTES_MAX: usize = 1 << 20;
/// The first line: the kind of the text. Another format would have another version of the tables beside it.
const HEADER: &str = "pneu-folders 1";
/// Stands for what a folder does not have.
const NONE: &str = "-";

/// Reads what a commit of `user/` keeps of folders.
///
/// # Errors
/// [`Error::KeptText`].
pub(crate) fn read(user: Option<&Snapshot>) -> Result<KeptFolders> {
    let Some(user) = user else { return Ok(KeptFolders::default()) };
    let Some(bytes) = user.attachment(ATTACHMENT) else { return Ok(KeptFolders::default()) };
    let path = || user.directory().to_owned();
    parse(bytes).map_err(|(line, what)| Error::KeptText { of: ATTACHMENT, path: path(), line, what })
}

/// Returns the text of all entries.
pub(super) fn encode(KeptFolders(entries): &KeptFolders) -> String {
    let mut text = format!("{HEADER}\n");
    for (place, entry) in entries {
        put_place(place, &mut text);
        text.push('\t');
        match entry.id {
            Some(id) => id.iter().for_each(|byte| text.push_str(&format!("{byte:02x}"))),
            None => text.push_str(NONE),
        }
        text.push('\t');
        text.push_str(&entry.sort_order.map_or_else(|| NONE.to_owned(), |order| order.to_string()));
        text.push_str(if entry.is_unsubscribed { "\tno" } else { "\tyes" });
        if let Some(before) = &entry.before {
            text.push('\t');
            put_place(before, &mut text);
        }
        text.push('\n');
    }
    text
}

fn put_place(FolderKey { root, path }: &FolderKey, text: &mut String) {
    escape(root, text);
    text.push('\t');
    for chunk in path.utf8_chunks() {
        escape(chunk.valid(), text);
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("%{byte:02x}")));
    }
}

/// Reads a text. Otherwise returns the number of the line that is wrong, and why.
pub(super) fn parse(bytes: &[u8]) -> std::result::Result<KeptFolders, (usize, &'static str)> {
    let text = std::str::from_utf8(bytes).map_err(|_| (1, "it is not UTF-8 text"))?;
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, line)| line != HEADER) {
        return Err((1, "it does not begin with \"pneu-folders 1\""));
    }
    let (mut kept, mut ids) = (KeptFolders::default(), HashSet::new());
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let (place, entry) = parse_line(line).ok_or((number, "it is no line of a folder"))?;
        if entry.id.is_some_and(|id| !ids.insert(id)) {
            return Err((number, "another folder has its id"));
        }
        if kept.0.insert(place, entry).is_some() {
            return Err((number, "its folder is listed twice"));
        }
    }
    Ok(kept)
}

fn parse_line(line: &str) -> Option<(FolderKey, Entry)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let (root, path, id, order, subscription, before) = match fields.as_slice() {
        [root, path, id, order, subscription] => (root, path, id, order, subscription, None),
        [root, path, id, order, subscription, old_root, old_path] => {
            (root, path, id, order, subscription, Some(place(old_root, old_path)?))
        }
        _ => return None,
    };
    let entry = Entry {
        id: if *id == NONE { None } else { Some(parse_id(id)?) },
        sort_order: if *order == NONE { None } else { Some(order.parse().ok()?) },
        is_unsubscribed: match *subscription {
            "yes" => false,
            "no" => true,
            _ => return None,
        },
        before,
    };
    // Without its id, it would be another one at each of the two places.
    let is_whole = entry.before.is_none() || entry.id.is_some();
    is_whole.then_some((place(root, path)?, entry))
}

fn place(root: &str, path: &str) -> Option<FolderKey> {
    Some(FolderKey { root: String::from_utf8(unescape_bytes(root)?).ok()?, path: unescape_bytes(path)? })
}

fn parse_id(text: &str) -> Option<FolderId> {
    let digits: &[u8; 2 * FOLDER_ID_BYTES] = text.as_bytes().try_into().ok()?;
    let mut id = FolderId::default();
    for (byte, pair) in id.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(id)
}
