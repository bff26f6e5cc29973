//! Finds the mail in a directory of another program: mbox files in the tree of a Thunderbird profile or of
//! mutt, MH folders, directories of `.eml` files, Maildirs.
//!
//! Input: a directory, untrusted. Output: the files with mail, each with the name of its folder, and for MH
//! and Maildirs with its flags. Follows no links. Does not read messages.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::import::mh::{SEQUENCES_BYTES_MAX, SEQUENCES_FILE, Sequences};
use crate::import::open::{ContentKind, open_file};
use crate::maildir::file_name::parse_name;
use crate::maildir::flags::Flags;
use crate::maildir::folder_name::readable_folder;
use crate::maildir::message_file::read_message;
use std::ffi::{OsStr, OsString};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How deep directories are searched.
pub const DEPTH_MAX: usize = 32;
/// How many files a directory may hold in all.
pub const FILE_COUNT_MAX: usize = 10_000_000;

/// A file with mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailSource {
    /// The file.
    pub path: PathBuf,
    /// The folder that it belongs to, below that of the import: its parts.
    pub folder: Vec<String>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The flags that its folder notes of it.
    pub flags: Option<Flags>,
    /// Whether it is a file of a Maildir: a message, whatever its first line is, whose name and place say its
    /// state.
    pub is_of_maildir: bool,
    /// Whether it is a message only if it has a header: its name says little.
    pub needs_header: bool,
}

/// What is in a directory.
#[derive(Debug, Default)]
pub struct MailTree {
    /// The files with mail, by folder.
    pub sources: Vec<MailSource>,
    /// What could not be read or searched.
    pub problems: Vec<Error>,
    /// Files that hold no mail.
    pub other_count: u64,
}

/// Endings of files that hold no mail. Thunderbird writes `.msf` beside each mbox.
const NO_MAIL: [&str; 7] = ["msf", "dat", "html", "json", "sqlite", "sbd", "lock"];
/// Endings that are not part of a folder's name.
const ENDINGS: [&str; 8] = ["mbox", "mbx", "mboxrd", "gz", "zst", "xz", "bz2", "lz"];
/// The ending of the directory in which Thunderbird keeps what is below a folder.
const BELOW: &str = ".sbd";

/// Finds the mail in a directory.
///
/// # Errors
/// It cannot be read. What cannot be read below it is a problem.
pub fn find_mail_files(directory: &Path) -> Result<MailTree> {
    let mut tree = MailTree::default();
    search(directory, &mut Vec::new(), &mut tree)?;
    Ok(tree)
}

fn search(directory: &Path, folder: &mut Vec<String>, tree: &mut MailTree) -> Result<()> {
    let mut entries = entries_of(directory, tree)?;
    // MH counts messages: 9 comes before 10.
    entries.sort_by_cached_key(|entry| (number(&entry.file_name()), entry.file_name()));
    let sequences = read_message(&directory.join(SEQUENCES_FILE), SEQUENCES_BYTES_MAX).ok();
    let sequences = sequences.map(|content| Sequences::parse(&content.bytes));
    let is_maildir = ["cur", "new"]
        .iter()
        .all(|name| entries.iter().any(|entry| entry.file_name() == **name && is_directory(entry)));
    for entry in &entries {
        let is_directory = is_directory(entry);
        let subdirectory = Subdirectory::of(entry).filter(|_| is_maildir && is_directory);
        if let Some(subdirectory) = subdirectory {
            if let Err(error) = messages(&entry.path(), subdirectory, folder, tree) {
                tree.problems.push(error);
            }
            continue;
        }
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file {
            file(entry, folder, sequences.as_ref(), tree);
        } else if is_directory {
            let name = entry.file_name();
            if folder.len() >= DEPTH_MAX {
                let deep = std::io::Error::other("it is too deep");
                tree.problems.push(Error::io("search", &entry.path(), deep));
                continue;
            }
            let length = folder.len();
            match is_maildir {
                true => folder.extend(parts_below(&name)),
                false => folder.push(part(without(&name, &[BELOW.trim_start_matches('.')]))),
            }
            if let Err(error) = search(&entry.path(), folder, tree) {
                tree.problems.push(error);
            }
            folder.truncate(length);
        } else {
            // Links are not followed.
            tree.other_count = tree.other_count.saturating_add(1);
        }
    }
    Ok(())
}

/// The directories of a Maildir.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subdirectory {
    /// Messages that a mail program has seen: their names hold flags.
    Cur,
    /// New messages.
    New,
    /// Messages that are not complete.
    Tmp,
}

impl Subdirectory {
    fn of(entry: &DirEntry) -> Option<Subdirectory> {
        match entry.file_name().as_encoded_bytes() {
            b"cur" => Some(Subdirectory::Cur),
            b"new" => Some(Subdirectory::New),
            b"tmp" => Some(Subdirectory::Tmp),
            _ => None,
        }
    }
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

fn entries_of(directory: &Path, tree: &MailTree) -> Result<Vec<DirEntry>> {
    let failed = |error| Error::io("read the directory", directory, error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        entries.push(entry.map_err(failed)?);
        if entries.len().saturating_add(tree.sources.len()) > FILE_COUNT_MAX {
            return Err(failed(std::io::Error::other("it holds too many files")));
        }
    }
    Ok(entries)
}

/// Adds the messages in a directory of a Maildir.
fn messages(
    directory: &Path,
    subdirectory: Subdirectory,
    folder: &[String],
    tree: &mut MailTree,
) -> Result<()> {
    if subdirectory == Subdirectory::Tmp {
        return Ok(());
    }
    let mut entries = entries_of(directory, tree)?;
    entries.sort_by_cached_key(DirEntry::file_name);
    for entry in &entries {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) || name.starts_with(b".") {
            tree.other_count = tree.other_count.saturating_add(1);
            continue;
        }
        tree.sources.push(MailSource {
            path: entry.path(),
            folder: folder.to_vec(),
            size_bytes: entry.metadata().map_or(0, |metadata| metadata.len()),
            flags: (subdirectory == Subdirectory::Cur).then(|| parse_name(name).flags),
            is_of_maildir: true,
            needs_header: false,
        });
    }
    Ok(())
}

/// Returns the parts of a folder below a Maildir: `.a.b` is the folder `b` below `a`.
fn parts_below(name: &OsStr) -> Vec<String> {
    match name.as_encoded_bytes().strip_prefix(b".").filter(|rest| !rest.is_empty()) {
        Some(rest) => rest
            .splitn(DEPTH_MAX, |byte| *byte == b'.')
            .map(|name| part(readable_folder(name).into_owned().into()))
            .collect(),
        None => vec![part(name.to_owned())],
    }
}

fn file(entry: &DirEntry, folder: &[String], sequences: Option<&Sequences>, tree: &mut MailTree) {
    let (path, name) = (entry.path(), entry.file_name());
    let mut folder = folder.to_vec();
    let number = number(&name);
    let is_hidden = name.as_encoded_bytes().starts_with(b".");
    // Thunderbird's folder of a year is an mbox whose name is a number. In an MH folder, that is a message.
    let is_year = || {
        sequences.is_none()
            && open_file(&path, &Arc::default()).is_ok_and(|opened| opened.kind == ContentKind::Mbox)
    };
    let number = number.filter(|_| !is_year());
    let is_message = number.is_some() || has_ending(&name, "eml");
    if !is_message {
        let kind = match is_hidden || NO_MAIL.iter().any(|ending| has_ending(&name, ending)) {
            true => Ok(ContentKind::Unknown),
            false => open_file(&path, &Arc::default()).map(|opened| opened.kind),
        };
        match kind {
            Ok(ContentKind::Mbox) => folder.push(part(without(&name, &ENDINGS))),
            Ok(ContentKind::Empty) => return,
            Ok(_) => {
                tree.other_count = tree.other_count.saturating_add(1);
                return;
            }
            Err(error) => {
                tree.problems.push(error);
                return;
            }
        }
    }
    tree.sources.push(MailSource {
        path,
        folder,
        size_bytes: entry.metadata().map_or(0, |metadata| metadata.len()),
        flags: number.and_then(|number| Some(sequences?.flags(number))),
        is_of_maildir: false,
        needs_header: number.is_none(),
    });
}

/// Returns the number of a message in an MH folder.
fn number(name: &OsStr) -> Option<u64> {
    let name = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?;
    name.parse().ok()
}

fn has_ending(name: &OsStr, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Returns a name without all endings of a list.
fn without(name: &OsStr, endings: &[&str]) -> OsString {
    let mut name = name.to_owned();
    while let Some(stem) = Path::new(&name).file_stem() {
        if !endings.iter().any(|ending| has_ending(&name, ending)) {
            break;
        }
        name = stem.to_owned();
    }
    name
}

/// Returns a part of a folder's name that any Maildir can have.
fn part(name: OsString) -> String {
    let name = name.to_string_lossy();
    let mut part: String =
        name.chars().map(|letter| if letter.is_control() || letter == '/' { '_' } else { letter }).collect();
    if part.starts_with(['.', '~']) {
        part.replace_range(..1, "_");
    }
    if part.ends_with('.') {
        part.pop();
        part.push('_');
    }
    if part.is_empty() || ["cur", "new", "tmp"].contains(&part.as_str()) {
        part.push('_');
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, MailTree) {
        let place = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let tree = find_mail_files(place.path()).unwrap();
        (place, tree)
    }

    fn shown((place, tree): &(tempfile::TempDir, MailTree)) -> Vec<String> {
        let show = |source: &MailSource| {
            let path = source.path.strip_prefix(place.path()).unwrap().display();
            let flags = source.flags.map_or(String::new(), |flags| {
                format!(" {}", flags.letters().map(char::from).collect::<String>())
            });
            format!("{path} > {}{flags}", source.folder.join("/"))
        };
        tree.sources.iter().map(show).collect()
    }

    #[test]
    fn a_profile_of_thunderbird_is_a_tree_of_folders() {
        let found = tree(&[
            ("Mail/Local Folders/Inbox", "From x\n"),
            ("Mail/Local Folders/Inbox.msf", "From x\n"),
            ("Mail/Local Folders/Archives.msf", ""),
            ("Mail/Local Folders/Archives.sbd/2023", "From x\n"),
            ("Mail/Local Folders/Archives.sbd/2023.msf", ""),
            ("Mail/Local Folders/Archives.sbd/2024.sbd/deep", "From x\n"),
            ("Mail/Local Folders/Drafts", ""),
            ("Mail/Local Folders/popstate.dat", "From x\n"),
            ("prefs.js", "user_pref(1);\n"),
        ]);
        assert_eq!(
            shown(&found),
            [
                "Mail/Local Folders/Archives.sbd/2024.sbd/deep > Mail/Local Folders/Archives/2024/deep",
                "Mail/Local Folders/Archives.sbd/2023 > Mail/Local Folders/Archives/2023",
                "Mail/Local Folders/Inbox > Mail/Local Folders/Inbox",
            ]
        );
    }

    #[test]
    fn messages_of_mh_have_flags_and_an_order() {
        let found = tree(&[
            ("10", "Subject: x\n"),
            ("9", "Subject: x\n"),
            (",8", "Subject: x\n"),
            (".mh_sequences", "unseen: 10\nreplied: 9\n"),
            ("sub/1", "Subject: x\n"),
            ("sub/a b.EML", "Subject: x\n"),
            ("old.mbox.gz", "From x\n"),
        ]);
        assert_eq!(
            shown(&found),
            ["old.mbox.gz > old", "sub/a b.EML > sub", "sub/1 > sub", "9 >  RS", "10 >  "]
        );
        assert_eq!((found.1.other_count, found.1.problems.len()), (2, 0));
    }

    #[test]
    fn maildirs_are_folders_whose_files_name_their_flags() {
        let found = tree(&[
            ("old/cur/2.b:2,FS", "From x\nSubject: x\n"),
            ("old/cur/1", "Subject: x\n"),
            ("old/cur/.hidden", "Subject: x\n"),
            ("old/new/3.c", "no header\n"),
            ("old/tmp/4.d", "Subject: x\n"),
            ("old/dovecot-uidlist", "3 V1\n"),
            ("old/.Sent.Entw&APw-rfe/cur/5.e:2,", "Subject: x\n"),
            ("old/.Sent.Entw&APw-rfe/new/.keep", ""),
            ("old/sub/cur/6.f:2,S", "Subject: x\n"),
            ("old/sub/new/7.g", "Subject: x\n"),
            ("half/cur/8", "Subject: x\n"),
        ]);
        assert_eq!(
            shown(&found),
            [
                "half/cur/8 > half/cur_",
                "old/.Sent.Entw&APw-rfe/cur/5.e:2, > old/Sent/Entwürfe ",
                "old/cur/1 > old ",
                "old/cur/2.b:2,FS > old FS",
                "old/new/3.c > old",
                "old/sub/cur/6.f:2,S > old/sub S",
                "old/sub/new/7.g > old/sub",
            ]
        );
        assert_eq!((found.1.other_count, found.1.problems.len()), (3, 0));
        assert!(found.1.sources.iter().all(|source| source.is_of_maildir != source.path.ends_with("8")));
        // A link is not followed, and makes no Maildir.
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("new")).unwrap();
        std::os::unix::fs::symlink(found.0.path().join("old/cur"), place.path().join("cur")).unwrap();
        assert!(find_mail_files(place.path()).unwrap().sources.is_empty());
    }

    #[test]
    fn names_and_links_lead_nowhere_else() {
        for (name, expected) in [
            ("cur", "cur_"),
            (".hidden", "_hidden"),
            ("..", "__"),
            ("~", "_"),
            ("a\nb.", "a_b_"),
            ("a.b", "a.b"),
        ] {
            assert_eq!(part(OsString::from(name)), expected);
        }
        let place = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("1"), "Subject: x\n").unwrap();
        std::os::unix::fs::symlink(outside.path(), place.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("1"), place.path().join("1")).unwrap();
        assert!(find_mail_files(place.path()).unwrap().sources.is_empty());
        let deep = "d/".repeat(DEPTH_MAX + 2);
        std::fs::create_dir_all(place.path().join(&deep)).unwrap();
        std::fs::write(place.path().join(deep).join("1.eml"), "Subject: x\n").unwrap();
        let found = find_mail_files(place.path()).unwrap();
        assert_eq!((found.sources.len(), found.problems.len()), (0, 1));
    }
}
