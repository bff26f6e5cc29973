//! Carries out the steps of an action, undoes them, and resolves what a crash left.
//!
//! Input: an entry of the log. Output: files at other places, and the entry with what was done. What is in
//! the way, or changed since, is left alone and reported. No message is ever without a file: one that goes to
//! another file system has two for a moment.

use crate::action::log::{Entry, Kind, Log, State, Step};
use crate::error::Result;
use mail::Flags;
use std::collections::{BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What is done to files of mail. Tests crash at each of these.
pub(super) trait Hands {
    /// Moves a file to a place where none is.
    fn move_file(&self, from: &Path, to: &Path) -> mail::Result<()>;
    /// Copies a file to a place where none is.
    fn copy_file(&self, from: &Path, to: &Path) -> mail::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> mail::Result<()>;
    /// Makes the names in a directory durable.
    fn sync(&self, directory: &Path) -> mail::Result<()>;
}

/// The real ones.
pub(super) struct RealHands;

impl Hands for RealHands {
    fn move_file(&self, from: &Path, to: &Path) -> mail::Result<()> {
        mail::move_file(from, to)
    }

    fn copy_file(&self, from: &Path, to: &Path) -> mail::Result<()> {
        mail::copy_file(from, to)
    }

    fn remove(&self, path: &Path) -> mail::Result<()> {
        std::fs::remove_file(path).map_err(|source| mail::Error::io("remove", path, source))
    }

    fn sync(&self, directory: &Path) -> mail::Result<()> {
        mail::sync_directory(directory)
    }
}

/// A file that was left alone, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAlone {
    /// The file.
    pub path: PathBuf,
    /// Why, as a sentence that goes on after the path.
    pub why: String,
}

/// Does all steps of an entry that was begun, and notes in the log what was done.
///
/// # Errors
/// The log cannot be written. What was done stays; the next action notes it.
pub(super) fn carry_out(log: &Log<'_>, hands: &dyn Hands, entry: &mut Entry) -> Result<Vec<LeftAlone>> {
    let mut left = Vec::new();
    let mut directories = BTreeSet::new();
    for step in &mut entry.steps {
        let (from, to) = (&step.from.0, &step.to.0);
        let done = match entry.kind {
            Kind::Copy => hands.copy_file(from, to),
            Kind::Flag | Kind::Move | Kind::Delete => hands.move_file(from, to),
        };
        match done.and_then(|()| mail::stat_entry(to)) {
            Ok(stat) => {
                (step.is_done, step.new_inode) = (true, Some(stat.inode));
                directories
                    .extend([from, to].into_iter().filter_map(|path| path.parent()).map(Path::to_owned));
            }
            Err(error) => left.push(LeftAlone { path: from.clone(), why: error.reason() }),
        }
    }
    sync_all(hands, &directories, &mut left);
    entry.state = State::Done;
    log.write(entry)?;
    Ok(left)
}

/// Finds out which steps of the last action were done, if a crash ended it, and notes it. A file that was
/// copied to another file system and not removed is removed. An undo that a crash ended is done again.
///
/// # Errors
/// The log is damaged or cannot be written.
pub(super) fn recover(log: &Log<'_>, hands: &dyn Hands, unique: &dyn Fn() -> Vec<u8>) -> Result<()> {
    for number in log.numbers()? {
        let mut entry = log.read(number)?;
        match entry.state {
            State::Begun => {
                entry.steps.iter_mut().for_each(|step| resolve(hands, entry.kind, step));
                entry.state = State::Done;
                return log.write(&entry);
            }
            State::Undoing => return undo(log, hands, &mut entry, unique).map(|_| ()),
            State::Undone => {}
            State::Done => return Ok(()),
        }
    }
    Ok(())
}

/// Finds out whether a step was done.
fn resolve(hands: &dyn Hands, kind: Kind, step: &mut Step) {
    let Ok(there) = mail::stat_entry(&step.to.0) else { return };
    let is_it = (there.size_bytes, there.mtime_ns) == (step.size_bytes, step.mtime_ns);
    let old = mail::stat_entry(&step.from.0).ok().filter(|old| old.inode == step.inode);
    if there.inode == step.inode && kind != Kind::Copy {
        (step.is_done, step.new_inode) = (true, Some(there.inode));
    } else if is_it && there.inode != step.inode {
        // A file gets its name at the new place only when all of it is durable.
        let is_gone = match (kind, old) {
            (Kind::Copy, _) | (_, None) => true,
            _ => {
                let synced = step.to.0.parent().is_none_or(|directory| hands.sync(directory).is_ok());
                synced && hands.remove(&step.from.0).is_ok()
            }
        };
        (step.is_done, step.new_inode) = (is_gone, Some(there.inode));
    }
}

/// Undoes all steps of an entry that were done, the last one first, and notes it.
///
/// # Errors
/// The log cannot be written.
pub(super) fn undo(
    log: &Log<'_>,
    hands: &dyn Hands,
    entry: &mut Entry,
    unique: &dyn Fn() -> Vec<u8>,
) -> Result<Vec<LeftAlone>> {
    if entry.state != State::Undoing {
        entry.state = State::Undoing;
        log.write(entry)?;
    }
    let mut left = Vec::new();
    let mut directories = BTreeSet::new();
    let mut finder = Finder::default();
    for step in entry.steps.iter().rev().filter(|step| step.is_done) {
        match undo_step((hands, &mut finder), entry.kind, step, unique) {
            Ok(changed) => {
                directories.extend(changed.iter().filter_map(|path| path.parent()).map(Path::to_owned));
            }
            Err(why) => left.push(LeftAlone { path: step.to.0.clone(), why }),
        }
    }
    sync_all(hands, &directories, &mut left);
    entry.state = State::Undone;
    log.write(entry)?;
    Ok(left)
}

/// Undoes one step. Returns the places that changed.
fn undo_step(
    (hands, finder): (&dyn Hands, &mut Finder),
    kind: Kind,
    step: &Step,
    unique: &dyn Fn() -> Vec<u8>,
) -> std::result::Result<Vec<PathBuf>, String> {
    let (Some(folder), Some(old_folder)) = (folder_of(&step.to.0), folder_of(&step.from.0)) else {
        return Err("it is in no folder".to_owned());
    };
    let inode = step.new_inode.unwrap_or(step.inode);
    let Some(now) = finder.find(&step.to.0, folder, inode, step).map_err(|error| error.reason())? else {
        // A crash may have ended the undo after this step.
        let is_back = kind != Kind::Copy
            && finder.find(&step.from.0, old_folder, inode, step).is_ok_and(|found| found.is_some());
        return if is_back {
            Ok(Vec::new())
        } else {
            Err("it was moved, changed or removed since".to_owned())
        };
    };
    let to = match kind {
        Kind::Copy => {
            let original =
                finder.find(&step.from.0, old_folder, step.inode, step).map_err(|error| error.reason())?;
            if original.is_none() {
                return Err("the file that it was copied from is gone, so it stays".to_owned());
            }
            hands.remove(&now).map_err(|error| error.reason())?;
            return Ok(vec![now]);
        }
        Kind::Flag => with_old_flags(&now, folder, step),
        Kind::Move | Kind::Delete => {
            if !old_folder.join("cur").is_dir() {
                return Err(format!("its folder {} is gone", old_folder.display()));
            }
            let to = mail::join(&directory_in(&now, old_folder), &mail::name_elsewhere(name_of(&now)));
            if is_copy(&now, &to) {
                // A crash ended the move back to another file system before the file here was removed.
                let synced = to.parent().map_or(Ok(()), |directory| hands.sync(directory));
                synced.and_then(|()| hands.remove(&now)).map_err(|error| error.reason())?;
                return Ok(vec![now]);
            }
            if mail::stat_entry(&to).is_ok() { another_name(&to, unique) } else { to }
        }
    };
    if to == now {
        return Ok(Vec::new());
    }
    hands.move_file(&now, &to).map_err(|error| error.reason())?;
    Ok(vec![now, to])
}

/// Finds files that were renamed. Reads each folder once, when the first file is not at its place.
#[derive(Default)]
struct Finder {
    folders: HashMap<PathBuf, HashMap<u64, PathBuf>>,
}

impl Finder {
    /// Returns where the file of a step is: at its place, or in that folder under another name. A file with
    /// other content is another one.
    fn find(
        &mut self,
        place: &Path,
        folder: &Path,
        inode: u64,
        step: &Step,
    ) -> mail::Result<Option<PathBuf>> {
        let is_it = |path: &Path| {
            mail::stat_entry(path).is_ok_and(|stat| {
                (stat.inode, stat.size_bytes, stat.mtime_ns) == (inode, step.size_bytes, step.mtime_ns)
            })
        };
        if is_it(place) {
            return Ok(Some(place.to_owned()));
        }
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), mail::files_by_inode(folder)?);
        }
        let found = self.folders.get(folder).and_then(|files| files.get(&inode));
        Ok(found.filter(|path| is_it(path)).cloned())
    }
}

/// Returns where a file goes if the flags that the step changed change back. Others stay as they are now.
fn with_old_flags(now: &Path, folder: &Path, step: &Step) -> PathBuf {
    let flags = |path: &Path| mail::parse_name(name_of(path)).flags;
    let (before, after) = (flags(&step.from.0), flags(&step.to.0));
    let flags = (flags(now) - (after - before)) | (before - after);
    let name = mail::with_flags(name_of(now), flags);
    let was_new = step.from.0.parent().is_some_and(|directory| directory.ends_with("new"));
    if was_new && flags == Flags::NONE {
        let bare = name.strip_suffix(b":2,").unwrap_or(&name);
        return mail::join(&folder.join("new"), bare);
    }
    mail::join(&folder.join("cur"), &name)
}

/// Returns the directory of another folder that a file goes into: `new` if it is in `new` now.
fn directory_in(now: &Path, folder: &Path) -> PathBuf {
    let is_new = now.parent().is_some_and(|directory| directory.ends_with("new"));
    folder.join(if is_new { "new" } else { "cur" })
}

/// Returns the same place with a name that no other file has.
fn another_name(place: &Path, unique: &dyn Fn() -> Vec<u8>) -> PathBuf {
    let name = name_of(place);
    let rest = name.get(mail::parse_name(name).unique.len()..).unwrap_or_default();
    mail::join(place.parent().unwrap_or(place), &[unique().as_slice(), rest].concat())
}

/// Returns whether a file on another file system is a whole copy of this one.
fn is_copy(file: &Path, other: &Path) -> bool {
    let (Ok(this), Ok(there)) = (mail::stat_entry(file), mail::stat_entry(other)) else { return false };
    this.device != there.device
        && (this.size_bytes, this.mtime_ns) == (there.size_bytes, there.mtime_ns)
        && std::fs::read(file).is_ok_and(|bytes| std::fs::read(other).is_ok_and(|others| bytes == others))
}

fn sync_all(hands: &dyn Hands, directories: &BTreeSet<PathBuf>, left: &mut Vec<LeftAlone>) {
    for directory in directories {
        if let Err(error) = hands.sync(directory) {
            left.push(LeftAlone { path: directory.clone(), why: error.reason() });
        }
    }
}

/// Returns the folder of a file in its `cur` or `new`.
pub(super) fn folder_of(path: &Path) -> Option<&Path> {
    path.parent()?.parent()
}

fn name_of(path: &Path) -> &[u8] {
    path.file_name().map_or(&[], |name| name.as_bytes())
}
