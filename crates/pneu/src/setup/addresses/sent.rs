//! Takes the user's addresses out of mail that the user sent, which is in folders with known names.
//!
//! Input: roots. Output: addresses that the newest of that mail is from, the most frequent first. Does not
//! depend on what is configured.

use crate::setup::roles::Role;
use index::Root;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most folders that are read.
const FOLDER_COUNT_MAX: usize = 16;
/// Most messages that are read of each.
const MESSAGE_COUNT_MAX: usize = 64;
/// Most names that are listed of each.
const NAME_COUNT_MAX: usize = 100_000;
/// Most bytes of a message that are read: enough for the header.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// An address must have sent at least one of so many messages, because such folders also hold a few messages
/// from other people.
const SHARE: usize = 10;

/// Returns the addresses that mail in folders of sent mail is from.
pub(in crate::setup) fn addresses(roots: &[Root]) -> Vec<String> {
    let folders = roots.iter().flat_map(|root| sent_folders(&root.path)).take(FOLDER_COUNT_MAX);
    let messages: Vec<PathBuf> = folders.flat_map(|folder| newest(&folder.join("cur"))).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in &messages {
        for address in senders(path) {
            *counts.entry(address).or_default() += 1;
        }
    }
    let mut often: Vec<(usize, String)> = counts
        .into_iter()
        .filter(|(_, count)| count * SHARE >= messages.len())
        .map(|(address, count)| (count, address))
        .collect();
    often.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    often.into_iter().map(|(_, address)| address).collect()
}

fn sent_folders(root: &Path) -> Vec<PathBuf> {
    let Ok(found) = mail::find_folders(root) else { return Vec::new() };
    let is_sent = |path: &[u8]| Role::Sent.has_name(&mail::readable_folder(path));
    let sent = found.folders.iter().filter(|folder| folder.has_cur && is_sent(&folder.path));
    sent.map(|folder| mail::join(root, &folder.path)).collect()
}

/// Returns the files whose names are the last in order: they begin with the time.
fn newest(directory: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let read = mail::read_directory(directory, &mut mail::ScanBuffer::new(), |entry| {
        // A link may lead anywhere. The other messages are enough.
        if entry.kind == mail::EntryKind::File && paths.len() < NAME_COUNT_MAX {
            paths.push(mail::join(directory, entry.name));
        }
    });
    if read.is_err() {
        return Vec::new();
    }
    paths.sort_unstable_by(|left, right| right.cmp(left));
    paths.truncate(MESSAGE_COUNT_MAX);
    paths
}

fn senders(path: &Path) -> Vec<String> {
    let Ok(content) = mail::read_message(path, HEADER_BYTES_MAX) else { return Vec::new() };
    let message = mail::parse(&content.bytes, &mail::Context::new(0));
    let addresses = message.from.into_iter().map(|one| one.address.to_lowercase());
    addresses.filter(|address| crate::setup::configuration::is_address(address)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(root: &Path, folder: &str, count: usize, from: &str) {
        let directory = root.join(folder).join("cur");
        fs::create_dir_all(&directory).unwrap();
        for number in 0..count {
            let text = format!("From: Ana <{from}>\nSubject: s\n\nx\n");
            fs::write(directory.join(format!("17000000{number:02}.{}:2,S", from.len())), text).unwrap();
        }
    }

    #[test]
    fn sent_mail_tells_who_sent_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        put(root, "work/Sent", 12, "ANA@example.org");
        put(root, ".Archive.Sent Items", 3, "ana@home.example");
        put(root, "Sent", 1, "a.guest@example.com");
        put(root, "inbox", 9, "somebody.else@example.com");
        put(root, "Sentinel", 9, "nobody@example.com");
        let roots = [Root { name: "mail".into(), path: root.to_owned() }];
        assert_eq!(addresses(&roots), ["ana@example.org", "ana@home.example"]);
        assert_eq!(addresses(&[]), [""; 0]);
        let none = [Root { name: "x".into(), path: root.join("nowhere") }];
        assert_eq!(addresses(&none), [""; 0]);
    }

    #[test]
    fn only_the_newest_of_many_messages_are_read() {
        let directory = tempfile::tempdir().unwrap();
        put(directory.path(), "Sent", MESSAGE_COUNT_MAX + 9, "ana@example.org");
        let found = newest(&directory.path().join("Sent/cur"));
        assert_eq!(found.len(), MESSAGE_COUNT_MAX);
        let oldest = found.last().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        assert!(oldest.starts_with("1700000009."), "{oldest}");
    }
}
