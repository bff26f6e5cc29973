//! Finds the mail in a directory of another program: mbox files in the tree of a Thunderbird profile or of
//! mutt, MH folders, directories of `.eml` files.
//!
//! Input: a directory, untrusted. Output: the files with mail, each with the name of its folder, and for MH
//! with its flags. Follows no links. Does not read messages.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::import::mh::{SEQUENCES_BYTES_MAX, SEQUENCES_FILE, Sequences};
use crate::import::open::{ContentKind, open_file};
use crate::maildir::flags::Flags;
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
    let failed = |error| Error::io("read the directory", directory, error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        entries.push(entry.map_err(failed)?);
        if entries.len().saturating_add(tree.sources.len()) > FILE_COUNT_MAX {
            return Err(failed(std::io::Error::other("it holds too many files")));
        }
    }
    // MH counts messages: 9 comes before 10.
    entries.sort_by_cached_key(|entry| (number(&entry.file_name()), entry.file_name()));
    let sequences = read_message(&directory.join(SEQUENCES_FILE), SEQUENCES_BYTES_MAX).ok();
    let sequences = sequences.map(|content| Sequences::parse(&content.bytes));
    for entry in &entries {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
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
            folder.push(part(without(&name, &[BELOW.trim_start_matches('.')])));
            if let Err(error) = search(&entry.path(), folder, tree) {
                tree.problems.push(error);
            }
            folder.pop();
        } else {
            // Links are not followed.
            tree.other_count = tree.other_count.saturating_add(1);
        }
    }
    Ok(())
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
