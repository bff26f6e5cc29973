//! Adds a snapshot to a repository from `make`: a mailbox in which each data blob is a message.
//!
//! Input: a repository, and its number of blobs. Output: trees in packs of their own, and a snapshot. Does
//! not know what is measured with it.

use super::blobs::{self, PASSWORD};
use anyhow::{Context, Result};
use restic::testing::surroundings;
use restic::tree::TreeWriter;
use restic::{
    BlobKind, Id, LockKind, Node, NodeKind, Password, Repository, SaveOptions, Saver, Snapshot, Time,
};
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

/// Messages of a folder.
const FOLDER_MESSAGES: usize = 50_000;
/// The time of the first message, in seconds since 1970. Each message is one second later.
const FIRST_SECONDS: u64 = 1_300_000_000;
/// Rights of a file, and of a directory as Go counts them.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 1 << 31 | 0o700;

/// Returns the numbers of the blobs that are messages.
fn messages(blob_count: u64) -> impl Iterator<Item = u64> {
    (0..blob_count).filter(|&number| blobs::blob_kind(number) == BlobKind::Data)
}

/// Returns how many files the snapshot has in a repository with this many blobs.
fn file_count(blob_count: u64) -> u64 {
    messages(blob_count).count() as u64
}

/// Returns how many blobs the snapshot uses: the messages, and two trees per folder, one for all folders and
/// one for their parent.
pub fn used_count(blob_count: u64) -> u64 {
    let files = file_count(blob_count);
    files + 2 * files.div_ceil(FOLDER_MESSAGES as u64) + 2
}

/// Returns the name of the file in the middle of that snapshot.
///
/// # Errors
/// If it has none.
pub fn middle_name(blob_count: u64) -> Result<String> {
    let number = messages(blob_count).find(|&number| number >= blob_count / 2);
    number.map(name).context("there are no messages")
}

fn name(number: u64) -> String {
    format!("{}.M{:06}P7Q{number}.tower:2,S", FIRST_SECONDS + number, number % 1_000_000)
}

/// Saves the snapshot.
pub(super) fn save(directory: &Path, blob_count: u64) -> Result<()> {
    let password = Password::new(PASSWORD.into());
    let repository = Repository::open(blobs::storage(directory), &password, None, surroundings())?;
    let lock = repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(()))?;
    let saver = Saver::new(&repository, &lock, SaveOptions::default())?;
    let numbers: Vec<u64> = messages(blob_count).collect();
    let mut mail = TreeWriter::new();
    for (folder, numbers) in numbers.chunks(FOLDER_MESSAGES).enumerate() {
        let mut current = TreeWriter::new();
        for &number in numbers {
            current.append(&message(number))?;
        }
        let tree = save_tree(&saver, current)?;
        let tree = save_directory(&saver, "cur", tree)?;
        mail.append(&subdirectory(&format!("folder-{folder:04}"), tree))?;
    }
    let mail = save_tree(&saver, mail)?;
    let tree = save_directory(&saver, "mail", mail)?;
    saver.finish()?;
    let snapshot = Snapshot {
        time: time(blob_count),
        tree,
        paths: vec!["/mail".to_owned()],
        hostname: "tower".to_owned(),
        ..Snapshot::default()
    };
    repository.save_snapshot_under(&lock, &snapshot)?;
    Ok(lock.release()?)
}

fn time(number: u64) -> Time {
    Time::new(i64::try_from(FIRST_SECONDS + number).unwrap_or(0), 0, 0)
}

fn message(number: u64) -> Node<'static> {
    Node {
        mode: FILE_MODE,
        size: blobs::plain_length(number).into(),
        inode: number + 1,
        links: 1,
        content: Some(Cow::Owned(vec![blobs::blob_id(number)])),
        ..node(name(number), NodeKind::File, time(number))
    }
}

fn subdirectory(name: &str, tree: Id) -> Node<'static> {
    Node { mode: DIRECTORY_MODE, subtree: Some(tree), ..node(name.to_owned(), NodeKind::Directory, time(0)) }
}

fn node(name: String, kind: NodeKind, time: Time) -> Node<'static> {
    Node {
        modified: time,
        accessed: time,
        changed: time,
        uid: 1000,
        gid: 100,
        device_id: 64,
        ..Node::new(name.into_bytes(), kind)
    }
}

/// Saves a directory that contains one directory.
fn save_directory(saver: &Saver<'_>, name: &str, tree: Id) -> Result<Id> {
    let mut writer = TreeWriter::new();
    writer.append(&subdirectory(name, tree))?;
    save_tree(saver, writer)
}

fn save_tree(saver: &Saver<'_>, tree: TreeWriter) -> Result<Id> {
    Ok(saver.save_blob(BlobKind::Tree, None, &tree.finish())?.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use restic::{ReadData, check, statistics};
    use work::Silent;

    #[test]
    fn the_snapshot_has_every_message() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("made");
        let blob_count = 60_000;
        super::super::make::make(&directory, blob_count).unwrap();
        let open = || {
            let password = Password::new(PASSWORD.into());
            Repository::open(blobs::storage(&directory), &password, None, surroundings()).unwrap()
        };
        let counted = statistics(&open(), &Silent).unwrap();
        assert!(counted.problems.is_empty(), "{:?}", counted.problems);
        assert_eq!((counted.snapshot_count, counted.file_count), (1, file_count(blob_count)));
        assert_eq!(counted.used_blob_count, used_count(blob_count));
        let report = check(&open(), ReadData::Nothing, &Silent).unwrap();
        assert!(report.faults.is_empty() && report.hints.is_empty(), "{report:?}");
        assert_eq!(report.unused_blob_count, blob_count - file_count(blob_count));
        assert!(middle_name(blob_count).unwrap().starts_with("1300030000.M"));
    }
}
