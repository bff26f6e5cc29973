//! Makes a Maildir of symbolic links to the found files, so that any mail program can show them.
//!
//! Takes a directory and hits. Makes links in its `cur` and `new`. Only links made here are ever removed:
//! before the flags, their names end in a mark with a hash of the link's target. So a link itself tells who
//! made it, even after a mail program changed its flags. A directory that holds other things is refused, and
//! `.noindex` keeps the links from being indexed.

use super::{Troubles, each_file};
use crate::exit::Outcome;
use crate::format::FileChoice;
use anyhow::{Context, Result, bail};
use pneu::{Hit, View};
use printable::hex;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

/// Stands in the name of each link, before the hash.
const MARK: &str = ".pneu-";
/// Bytes of the hash.
const HASH_BYTES: usize = 8;
/// Longest name of a file.
const NAME_BYTES_MAX: usize = 255;
/// Keeps a directory from being indexed.
const NO_INDEX: &str = ".noindex";

/// Whether links of earlier searches stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// They stay.
    Keep,
    /// They are removed.
    Clear,
}

/// A Maildir of links.
#[derive(Debug)]
pub(crate) struct Links {
    directory: PathBuf,
    /// Names of links that are there, without their flags.
    known: HashSet<Vec<u8>>,
}

impl Links {
    /// Makes the directory, or takes one that was made so.
    ///
    /// # Errors
    /// It holds other things, or cannot be made or read.
    pub(crate) fn open(directory: &Path, earlier: Earlier) -> Result<Links> {
        make(directory)?;
        let mut known = HashSet::new();
        for place in ["cur", "new"] {
            let place = directory.join(place);
            let entries = fs::read_dir(&place).with_context(|| format!("cannot read {}", place.display()))?;
            for entry in entries {
                let path = entry.with_context(|| format!("cannot read {}", place.display()))?.path();
                let Some(unique) = made_here(&path) else { continue };
                if earlier == Earlier::Keep {
                    known.insert(unique);
                } else {
                    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
                }
            }
        }
        Ok(Links { directory: directory.to_owned(), known })
    }

    /// Makes a link for each file, and returns how many there are now for these hits.
    ///
    /// # Errors
    /// Damage in the store; a link cannot be made.
    pub(crate) fn add(&mut self, view: &View, hits: &[Hit], places: FileChoice) -> Result<(usize, Outcome)> {
        let mut troubles = Troubles::default();
        let mut count = 0;
        each_file((view, hits), places, &mut troubles, |_, path, _| {
            count += 1;
            self.link(&path)
        })?;
        Ok((count, troubles.outcome()))
    }

    fn link(&mut self, target: &Path) -> Result<()> {
        let is_new = target.parent().is_some_and(|parent| parent.ends_with("new"));
        let (unique, name) = names(target);
        if !self.known.insert(unique) {
            return Ok(());
        }
        let link = self.directory.join(if is_new { "new" } else { "cur" }).join(name);
        symlink(target, &link).with_context(|| format!("cannot make the link {}", link.display()))
    }
}

/// Makes a Maildir that is not indexed. `.noindex` comes first: no pass sees the others without it.
fn make(directory: &Path) -> Result<()> {
    let shown = directory.display();
    let failed = || format!("cannot make {shown}");
    let mark = directory.join(NO_INDEX);
    if fs::symlink_metadata(&mark).is_err() {
        if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
            bail!(
                "{shown} holds other things; name a new directory for links, or make {NO_INDEX} in it if \
                 they may be mixed"
            );
        }
        builder().create(directory).with_context(failed)?;
        fs::write(&mark, "").with_context(|| format!("cannot write {}", mark.display()))?;
    }
    for place in ["cur", "new", "tmp"] {
        builder().create(directory.join(place)).with_context(failed)?;
    }
    Ok(())
}

fn builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
}

/// Returns the name of the link to a file: without the flags, and as a whole.
fn names(target: &Path) -> (Vec<u8>, OsString) {
    let name = target.file_name().unwrap_or_default().as_bytes();
    let unique = mail::parse_name(name).unique;
    let flags = name.get(unique.len()..).unwrap_or_default();
    let mark = [MARK.as_bytes(), hash(target).as_bytes()].concat();
    let is_short = name.len() + mark.len() <= NAME_BYTES_MAX;
    let (unique, flags) = if is_short { (unique, flags) } else { (&b"link"[..], &b":2,"[..]) };
    let unique = [unique, &mark].concat();
    let whole = OsString::from_vec([&unique, flags].concat());
    (unique, whole)
}

/// Returns the name without flags of a link that was made here; none of anything else.
fn made_here(path: &Path) -> Option<Vec<u8>> {
    let target = fs::read_link(path).ok()?;
    let unique = mail::parse_name(path.file_name()?.as_bytes()).unique;
    let mark = [MARK.as_bytes(), hash(&target).as_bytes()].concat();
    unique.ends_with(&mark).then(|| unique.to_vec())
}

fn hash(target: &Path) -> String {
    let digest = Sha256::digest(OsStr::as_bytes(target.as_os_str()));
    hex(digest.get(..HASH_BYTES).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_flags_and_tell_of_their_target() {
        let (unique, whole) = names(Path::new("/m/cur/1.host:2,FS"));
        assert_eq!(whole.as_bytes(), [&unique, &b":2,FS"[..]].concat());
        let mark = format!("1.host.pneu-{}", hash(Path::new("/m/cur/1.host:2,FS")));
        assert_eq!(unique, mark.as_bytes());
        assert_ne!(names(Path::new("/m/a/cur/1:2,S")), names(Path::new("/m/b/cur/1:2,S")));
        let long = format!("/m/cur/{}:2,S", "n".repeat(250));
        let (_, whole) = names(Path::new(&long));
        assert!(whole.len() < 60 && whole.as_bytes().starts_with(b"link.pneu-"), "{whole:?}");
    }
}
