//! Writes a snapshot of messages that no other snapshot would have any more.
//!
//! Input: the messages that [`find`](super::find) found. Output: a snapshot with the tag
//! [`DELETED_TAG`](crate::names::DELETED_TAG) that holds each message in the folder that it had.

use crate::blobs::entry::{Content, Entry, Stat};
use crate::blobs::repository::RepositoryWriter;
use crate::blobs::writer::BlobWriter;
use crate::cache::CachedDirectory;
use crate::error::Result;
use crate::lost::find::LostMessage;
use crate::names::{DELETED_TAG, PIECES, PNEU_DIRECTORY, original};
use crate::paths::{child, split};
use crate::pieces::list::PieceList;
use crate::write::pneu_files::{PneuFiles, store_pneu_files};
use crate::write::snapshot::{BackupOptions, Target, save, snapshot};
use index::Environment;
use restic::{Id, Saver};
use std::collections::BTreeMap;

/// Type and rights of the directories in it.
const DIRECTORY_MODE: u32 = 0o040_700;

/// Writes one snapshot, with the tag [`DELETED_TAG`], that keeps messages which nothing else would have.
///
/// # Errors
/// The repository reports a failure.
pub fn keep_messages(
    environment: &Environment,
    target: &Target<'_>,
    lost: &[LostMessage],
    options: &BackupOptions,
) -> Result<Id> {
    let writing =
        RepositoryWriter::new(target.repository, Saver::new(target.repository, target.lock, options.save)?);
    let surroundings = target.repository.surroundings();
    let tree =
        write_tree(&writing, lost, (surroundings.uid, surroundings.gid, environment.context.now_ns()))?;
    writing.into_saver().finish()?;
    let mut snapshot = snapshot(target, tree, vec![format!("/{DELETED_TAG}")], options);
    snapshot.tags.push(DELETED_TAG.to_owned());
    save(target, &snapshot)
}

/// Saves a tree with messages: below a directory [`DELETED_TAG`] at the top, each in the folder that it had.
///
/// # Errors
/// The repository reports a failure.
pub(crate) fn write_tree(
    writer: &dyn BlobWriter,
    lost: &[LostMessage],
    (uid, gid, now_ns): (u32, u32, i64),
) -> Result<Id> {
    let stat = Stat { mode: DIRECTORY_MODE, uid, gid, mtime_ns: now_ns, ctime_ns: now_ns, ..Stat::default() };
    let mut directories: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Entry>> = BTreeMap::new();
    for LostMessage { path, entry, .. } in lost {
        let Some((directory, _)) = split(path) else { continue };
        let Some((folder, _)) = split(directory) else { continue };
        let folder = [b"/", DELETED_TAG.as_bytes(), original(folder)].concat();
        // A Maildir needs all three.
        for place in ["cur", "new", "tmp"] {
            directories.entry(child(&folder, place.as_bytes())).or_default();
        }
        let kept = [b"/", DELETED_TAG.as_bytes(), original(directory)].concat();
        add(directories.entry(kept).or_default(), entry);
    }
    if let Some(text) = piece_list(lost).text() {
        let files = vec![(PIECES.to_owned(), text.into_bytes())];
        let pneu_files =
            store_pneu_files(writer, &PneuFiles { files, now_ns, uid, gid }, &CachedDirectory::default())?;
        let entries = pneu_files.entries.into_iter().map(|entry| (entry.name.clone(), entry));
        directories.insert(PNEU_DIRECTORY.to_vec(), entries.collect());
    }
    let paths: Vec<Vec<u8>> = directories.keys().cloned().collect();
    for path in &paths {
        let mut path = path.as_slice();
        while let Some((above, _)) = split(path) {
            directories.entry(above.to_vec()).or_default();
            path = above;
        }
    }
    directories.entry(Vec::new()).or_default();
    loop {
        // The path of a child is longer than its parent's and begins with it, so children come first here.
        let (path, entries) = directories.pop_last().expect("the top comes last, and ends it");
        let tree = writer.save_tree(&entries.values().map(Entry::view).collect::<Vec<_>>())?;
        let Some((above, name)) = split(&path) else { return Ok(tree) };
        let entry = Entry { name: name.to_vec(), stat, content: Content::Directory(tree) };
        directories.entry(above.to_vec()).or_default().insert(name.to_vec(), entry);
    }
}

/// Returns the pieces of the messages that are not one blob of their own id.
fn piece_list(lost: &[LostMessage]) -> PieceList {
    let pieces = lost.iter().filter_map(|lost| match (&lost.entry.content, lost.sha256) {
        (Content::File(pieces), Some(message)) if pieces[..] != [Id(message)] => {
            Some((message, pieces.clone()))
        }
        _ => None,
    });
    PieceList(pieces.collect())
}

/// Adds a file to a directory. If the name is taken, the file gets another unique part.
fn add(directory: &mut BTreeMap<Vec<u8>, Entry>, entry: &Entry) {
    let mut name = entry.name.clone();
    for number in 1.. {
        if !directory.contains_key(&name) {
            break;
        }
        let unique = mail::parse_name(&entry.name).unique.len();
        let (unique, rest) = entry.name.split_at_checked(unique).unwrap_or((&entry.name, &[]));
        name = [unique, format!(".{number}").as_bytes(), rest].concat();
    }
    directory.insert(name.clone(), Entry { name, ..entry.clone() });
}
