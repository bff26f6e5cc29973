//! Imports tags, saved queries and what is kept of folders, which a restore put beside the mail. Also shows
//! the restored configuration.
//!
//! Input: roots. Output: the contents of the nearest directory `.pneu` at or above one of them, if the user
//! has no tags or queries yet. The author of the Maildir may also have written `.pneu`, so only what
//! docs/SECURITY.md lists is imported: nothing that names a command, a repository, an address or a path. Must
//! not know repositories.

use crate::error::{Error, Result};
use crate::names::{CONFIGURATION, FOLDERS, QUERIES, TAGS};
use crate::roots::resolved_roots;
use index::{Environment, Mailbox, Root, TagImport};
use rustix::fs::{CWD, Mode, OFlags};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directory below the one that a snapshot was restored into.
const DIRECTORY: &str = ".pneu";
/// Most bytes of a file of tags. Tags of a million messages take 150 MB.
const TAGS_BYTES_MAX: usize = 256 << 20;
/// Most bytes of a file of saved queries.
const QUERIES_BYTES_MAX: usize = 1 << 20;
/// Most bytes of a file of what is kept of folders.
const FOLDERS_BYTES_MAX: usize = 1 << 20;
/// Most bytes of a configuration.
pub const CONFIGURATION_BYTES_MAX: usize = 64 << 10;
/// Permission bits that let others write a file, and thereby decide its content.
const OTHERS_WRITE: u32 = 0o022;
/// The file that is read must be the one that was checked: symbolic links are not followed, and a pipe does
/// not block.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Imports the tags that a restore left beside the mail, unless there are tags already. Takes only tags of
/// messages in the roots beside which the file was found. Returns each file and what was imported from it.
///
/// # Errors
/// A file is damaged or cannot be read; disk errors. Tags of other files may have been imported.
pub fn import_restored_tags(environment: &Environment, roots: &[Root]) -> Result<Vec<(PathBuf, TagImport)>> {
    if !index::has_no_tags(environment)? {
        return Ok(Vec::new());
    }
    let mut taken = Vec::new();
    for (file, roots) in restored(roots, TAGS) {
        let text = text_of(&file, TAGS_BYTES_MAX)?;
        let mailbox = Mailbox::open(environment)?;
        taken.push((file, index::import_tags_of(environment, &mailbox, &roots, &text)?));
    }
    Ok(taken)
}

/// Imports the saved queries that a restore left beside the mail, byte for byte, unless there ever were any.
/// Returns the file and the number of queries.
///
/// # Errors
/// The file is damaged, cannot be read, or contains control characters; disk errors: nothing was changed.
pub fn import_restored_queries(
    environment: &Environment,
    roots: &[Root],
) -> Result<Option<(PathBuf, usize)>> {
    let Some((path, _)) = restored(roots, QUERIES).pop_first() else { return Ok(None) };
    // Damaged ones are there as well.
    if !matches!(index::export_queries(environment), Ok(None)) {
        return Ok(None);
    }
    let text = text_of(&path, QUERIES_BYTES_MAX)?;
    if text.contains(|character: char| character.is_control() && !matches!(character, '\t' | '\n' | '\r')) {
        return Err(Error::RestoredFile { path, what: "it holds control characters" });
    }
    Ok(index::import_queries(environment, text.as_bytes())?.map(|count| (path, count)))
}

/// Imports what a restore left beside the mail of the ids, order and subscription of folders, unless any is
/// kept already. Takes only that of folders in the roots beside which the file was found. Returns each file,
/// and of how many folders something was imported.
///
/// # Errors
/// A file is damaged or cannot be read; disk errors. That of other files may have been imported.
pub fn import_restored_folders(environment: &Environment, roots: &[Root]) -> Result<Vec<(PathBuf, u64)>> {
    if index::export_folders(environment)?.is_some() {
        return Ok(Vec::new());
    }
    let mut taken = Vec::new();
    for (file, roots) in restored(roots, FOLDERS) {
        let text = text_of(&file, FOLDERS_BYTES_MAX)?;
        let count = index::import_folders(environment, &roots, (&file, &text))?;
        taken.push((file, count));
    }
    Ok(taken)
}

/// Returns the path and text of the configuration that a restore left beside the mail. It may name programs
/// to run, so it must not be used before the user has read it. A file that others may write is ignored.
///
/// # Errors
/// It cannot be read.
pub fn restored_configuration(roots: &[Root], user: u32) -> Result<Option<(PathBuf, String)>> {
    let found = restored(roots, CONFIGURATION).pop_first();
    let is_own = |path: &PathBuf| {
        std::fs::symlink_metadata(path)
            .is_ok_and(|metadata| metadata.uid() == user && metadata.mode() & OTHERS_WRITE == 0)
    };
    let Some((path, _)) = found.filter(|(path, _)| is_own(path)) else { return Ok(None) };
    let text = text_of(&path, CONFIGURATION_BYTES_MAX)?;
    Ok(Some((path, text)))
}

/// Returns the nearest file of that name at or above each root, with the roots that have it.
fn restored(roots: &[Root], name: &str) -> BTreeMap<PathBuf, Vec<Root>> {
    let mut files: BTreeMap<PathBuf, Vec<Root>> = BTreeMap::new();
    for root in resolved_roots(roots) {
        if let Some(file) = find(&root.path, name) {
            files.entry(file).or_default().push(root);
        }
    }
    files
}

/// Looks at and above a root. Only a file of the root's own owner counts, in a directory of his: above the
/// root others may write.
fn find(root: &Path, name: &str) -> Option<PathBuf> {
    let owner = std::fs::metadata(root).ok()?.uid();
    let is_own = |path: &Path| {
        let is_directory = path.parent().is_some_and(|directory| {
            std::fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir() && found.uid() == owner)
        });
        let is_file = |found: std::fs::Metadata| found.is_file() && found.uid() == owner;
        is_directory && std::fs::symlink_metadata(path).is_ok_and(is_file)
    };
    root.ancestors().map(|directory| directory.join(DIRECTORY).join(name)).find(|path| is_own(path))
}

/// Reads a file that [`find`] found. Checks it again, as it may have been replaced meanwhile.
fn text_of(path: &Path, bytes_max: usize) -> Result<String> {
    let unread = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let refused = |what| Error::RestoredFile { path: path.to_owned(), what };
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(refused("it has no name"));
    };
    let directory = rustix::fs::openat(CWD, directory, READ.union(OFlags::DIRECTORY), Mode::empty())
        .map_err(|error| unread(error.into()))?;
    let file = rustix::fs::openat(directory.as_fd(), name, READ, Mode::empty())
        .map_err(|error| unread(error.into()))?;
    let file = std::fs::File::from(file);
    if !file.metadata().map_err(unread)?.is_file() {
        return Err(refused("it is not a regular file"));
    }
    let bytes = disk::read_to_limit(file, bytes_max).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => refused("it is too long"),
        _ => unread(error),
    })?;
    String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture::Fixture;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn found(root: &Path, name: &str) -> Vec<PathBuf> {
        let roots = [Root { name: "mail".into(), path: root.to_owned() }];
        restored(&roots, name).into_keys().collect()
    }

    #[test]
    fn only_a_plain_file_in_a_plain_directory_counts_and_the_nearest_first() {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().join("a/b");
        let (near, far) = (root.join(DIRECTORY), top.path().join(DIRECTORY));
        fs::create_dir_all(&root).unwrap();
        assert!(found(&root, TAGS).is_empty());
        fs::create_dir_all(&far).unwrap();
        fs::write(far.join(TAGS), "far").unwrap();
        assert_eq!(found(&root, TAGS), [far.join(TAGS)]);
        fs::create_dir_all(&near).unwrap();
        fs::write(near.join(TAGS), "near").unwrap();
        assert_eq!(found(&root, TAGS), [near.join(TAGS)]);
        assert_eq!(text_of(&near.join(TAGS), 9).unwrap(), "near");
        // Everything else is passed over, and refused if it comes in between.
        fs::remove_file(near.join(TAGS)).unwrap();
        symlink(far.join(TAGS), near.join(TAGS)).unwrap();
        assert_eq!(found(&root, TAGS), [far.join(TAGS)]);
        assert!(text_of(&near.join(TAGS), 9).is_err());
        fs::remove_file(near.join(TAGS)).unwrap();
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(CWD, near.join(TAGS), pipe, Mode::from_raw_mode(0o600), 0).unwrap();
        assert_eq!(found(&root, TAGS), [far.join(TAGS)]);
        assert!(text_of(&near.join(TAGS), 9).unwrap_err().to_string().contains("not a regular file"));
        fs::remove_dir_all(&near).unwrap();
        symlink(&far, &near).unwrap();
        assert_eq!(found(&root, TAGS), [far.join(TAGS)]);
        assert!(text_of(&near.join(TAGS), 9).is_err());
    }

    #[test]
    fn a_file_has_no_more_bytes_than_it_may() {
        let top = tempfile::tempdir().unwrap();
        let directory = top.path().join(DIRECTORY);
        fs::create_dir_all(&directory).unwrap();
        for (name, bytes_max) in [
            (TAGS, TAGS_BYTES_MAX),
            (QUERIES, QUERIES_BYTES_MAX),
            (FOLDERS, FOLDERS_BYTES_MAX),
            (CONFIGURATION, CONFIGURATION_BYTES_MAX),
        ] {
            let file = fs::File::create(directory.join(name)).unwrap();
            file.set_len(bytes_max as u64 + 1).unwrap();
            assert_eq!(found(top.path(), name), [directory.join(name)]);
            let error = text_of(&directory.join(name), bytes_max).unwrap_err();
            assert!(error.to_string().contains("too long"), "{name}: {error}");
        }
        fs::write(directory.join(TAGS), "12345").unwrap();
        assert_eq!(text_of(&directory.join(TAGS), 5).unwrap(), "12345");
        assert!(
            text_of(&directory.join(TAGS), 4).unwrap_err().to_string().contains("too long"),
            "it grew meanwhile"
        );
    }

    #[test]
    fn a_configuration_that_others_may_write_is_none() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join(DIRECTORY).join(CONFIGURATION);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        let roots = [Root { name: "mail".into(), path: top.path().to_owned() }];
        let user = fs::metadata(&path).unwrap().uid();
        for (mode, user, is_read) in
            [(0o600, user, true), (0o620, user, false), (0o602, user, false), (0o600, user + 1, false)]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(restored_configuration(&roots, user).unwrap().is_some(), is_read, "{mode:o}");
        }
    }

    #[test]
    fn what_is_kept_of_folders_comes_back_for_the_roots_beside_it_alone() {
        let fixture = Fixture::new();
        fixture.index();
        let beside = fixture.root().join(".pneu");
        fs::create_dir(&beside).unwrap();
        let put = |text: &str| fs::write(beside.join("folders"), text).unwrap();
        let bring_back = || import_restored_folders(&fixture.environment, &fixture.roots);
        put("pneu-folders 1\nmail\n");
        assert!(bring_back().unwrap_err().to_string().contains("line 2 of what is kept of folders in"));
        assert_eq!(index::export_folders(&fixture.environment).unwrap(), None);
        let root = &fixture.roots[0].name;
        let line = format!("{root}\tlists\t0123456789abcdef0123456789abcdef\t7\tno\n");
        put(&format!("pneu-folders 1\n{line}elsewhere\tlists\t-\t7\tno\n"));
        assert_eq!(bring_back().unwrap(), [(beside.join("folders"), 1)]);
        let kept = Some(format!("pneu-folders 1\n{line}"));
        assert_eq!(index::export_folders(&fixture.environment).unwrap(), kept);
        put(&format!("pneu-folders 1\n{root}\tlists\t-\t8\tno\n"));
        assert_eq!(bring_back().unwrap(), [], "it replaces nothing");
        assert_eq!(index::export_folders(&fixture.environment).unwrap(), kept);
    }

    #[test]
    fn saved_queries_found_beside_mail_are_plain_text_and_never_replace_others() {
        let fixture = Fixture::new();
        fixture.index();
        let beside = fixture.root().join(".pneu");
        fs::create_dir(&beside).unwrap();
        let put = |text: &str| fs::write(beside.join("queries"), text).unwrap();
        let bring_back = || import_restored_queries(&fixture.environment, &fixture.roots);
        put("pneu-queries 1\nunread\tflag:unread \u{1b}]0;x\u{7}\n");
        assert!(bring_back().unwrap_err().to_string().contains("control characters"));
        put("pneu-queries 1\nno name\tx\n");
        assert!(bring_back().is_err());
        assert_eq!(index::export_queries(&fixture.environment).unwrap(), None);
        put("pneu-queries 1\nunread\tflag:unread\n");
        assert_eq!(bring_back().unwrap(), Some((beside.join("queries"), 1)));
        put("pneu-queries 1\nunread\tflag:seen\n");
        assert_eq!(bring_back().unwrap(), None);
        let queries = index::saved_queries(&fixture.environment).unwrap();
        assert_eq!(queries.get("unread").map(String::as_str), Some("flag:unread"));
    }
}
