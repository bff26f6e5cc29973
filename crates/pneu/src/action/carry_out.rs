//! Carries out the steps of one entry of the log, undoes them, and resolves what a crash left.
//!
//! Input: an entry of the log. Output: files at other places, and the entry with what was done. What is in
//! the way, or changed since, is left alone and reported. No message is ever without a file: one that goes to
//! another file system has two for a moment.

use crate::action::directories;
use crate::action::hands::{Hands, Obstacle};
use crate::action::log::{self, Kind, Log, State, Step};
use crate::action::places::{IsTaken, folder_of, is_unchanged, name_of, name_with};
use crate::action::unfiled;
use crate::error::Result;
use mail::{Flags, UniqueParts};
use printable::hex;
use sha2::{Digest, Sha256};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Why a file is left alone that is not where it was brought.
const GONE: &str = "it was moved, changed or removed since";

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
pub(super) fn carry_out(log: &Log<'_>, hands: &dyn Hands, entry: &mut log::Entry) -> Result<Vec<LeftAlone>> {
    let mut left = Vec::new();
    let mut directories = BTreeSet::new();
    if entry.kind == Kind::Rename {
        if let Err((path, why)) = directories::rename(hands, &mut entry.steps) {
            left.push(LeftAlone { path, why });
        }
        sync_all(hands, &directories::parents(&entry.steps), &mut left);
        conclude(log, entry)?;
        return Ok(left);
    }
    for step in &mut entry.steps {
        let (from, to) = (step.from.0.as_path(), step.to.0.as_path());
        if entry.kind == Kind::Remove && !is_unchanged(from, step.inode, step) {
            left.push(LeftAlone { path: from.to_owned(), why: "it changed just now; try again".to_owned() });
            continue;
        }
        let done = match entry.kind {
            Kind::Copy => hands.copy_file(from, to),
            Kind::Remove => hands.remove(from),
            Kind::Unfile => match unfiled::may_go(step) {
                Ok(()) => hands.remove(from),
                Err(why) => {
                    left.push(LeftAlone { path: from.to_owned(), why });
                    continue;
                }
            },
            Kind::Flag | Kind::Move | Kind::Delete | Kind::Rename | Kind::Import => hands.move_file(from, to),
        };
        match done {
            Ok(()) => {
                // Another program may have renamed it by now. A rename keeps the inode.
                let inode = mail::stat_entry(to).map_or(step.inode, |stat| stat.inode);
                (step.is_done, step.new_inode) = (true, Some(inode));
                directories
                    .extend([from, to].into_iter().filter_map(|path| path.parent()).map(Path::to_owned));
            }
            Err(error) => left.push(LeftAlone { path: from.to_owned(), why: error.reason() }),
        }
    }
    sync_all(hands, &directories, &mut left);
    conclude(log, entry)?;
    Ok(left)
}

/// Notes that it is known which steps are done. An action without any is forgotten.
pub(super) fn conclude(log: &Log<'_>, entry: &mut log::Entry) -> Result<()> {
    entry.state = State::Done;
    if entry.steps.iter().any(|step| step.is_done) { log.write(entry) } else { log.forget(entry) }
}

/// Finds out which steps of the action were done that a crash ended, and finishes those that are half done: a
/// file that was copied to another file system and not removed is removed, and a renaming of several
/// directories is finished. With [`IdleHands`](crate::action::hands::IdleHands) it changes nothing, and finds
/// what the next action would find and finish.
pub(super) fn resolve_all(hands: &dyn Hands, entry: &mut log::Entry) {
    let mut finder = Finder::default();
    match entry.kind {
        Kind::Rename => directories::finish(hands, &mut entry.steps),
        kind => entry.steps.iter_mut().for_each(|step| resolve((hands, &mut finder), kind, step)),
    }
}

/// Finds out whether a step was done.
fn resolve((hands, finder): (&dyn Hands, &mut Finder), kind: Kind, step: &mut Step) {
    let (from, to) = (&step.from.0, &step.to.0);
    if matches!(kind, Kind::Remove | Kind::Unfile) {
        step.new_inode = mail::stat_entry(to).ok().filter(|_| kind == Kind::Unfile).map(|stat| stat.inode);
        step.is_done = mail::stat_entry(from).is_err_and(|error| error.is_not_found());
        return;
    }
    let old = mail::stat_entry(from).ok().filter(|old| old.inode == step.inode);
    if kind != Kind::Copy {
        let folder = folder_of(to).unwrap_or(to);
        if let Ok(Some(there)) = finder.find(to, folder, step.inode, step) {
            // Where a rename is a second name and the removal of the first, the first may still be there.
            step.is_done = old.is_none() || from == to || (there == *to && hands.remove(from).is_ok());
            step.new_inode = Some(step.inode);
            return;
        }
    }
    // An import renames within a folder.
    let Ok(there) = mail::stat_entry(to) else { return };
    if kind == Kind::Import
        || there.inode == step.inode
        || (there.size_bytes, there.mtime_ns) != (step.size_bytes, step.mtime_ns)
    {
        return;
    }
    // A file gets its name at the new place only when all of it is durable.
    let is_moved = match (kind, old) {
        (Kind::Copy, _) | (_, None) => true,
        _ => {
            is_copy(from, to)
                && to.parent().is_none_or(|directory| hands.sync(directory).is_ok())
                && hands.remove(from).is_ok()
        }
    };
    (step.is_done, step.new_inode) = (is_moved, Some(there.inode));
}

/// What an undo did.
#[derive(Debug, Default)]
pub(super) struct Undoing {
    /// What was left alone.
    pub left: Vec<LeftAlone>,
    /// The places that changed.
    pub changed: Vec<PathBuf>,
}

/// Notes that an entry is being undone, and which of its files are not there now: only those that are there
/// can this undo have removed if it is ended by a crash.
///
/// # Errors
/// The log cannot be written.
pub(super) fn begin_undo(log: &Log<'_>, entry: &mut log::Entry) -> Result<()> {
    if entry.state == State::Undoing {
        return Ok(());
    }
    let mut finder = Finder::default();
    let kind = entry.kind;
    for step in &mut entry.steps {
        let is_gone = step.is_done && !is_there(&mut finder, kind, step);
        step.left = is_gone.then(|| GONE.to_owned());
    }
    entry.state = State::Undoing;
    log.write(entry)
}

/// Returns whether the file of a step is where the step brought it. What has no file elsewhere is.
fn is_there(finder: &mut Finder, kind: Kind, step: &Step) -> bool {
    match kind {
        Kind::Rename | Kind::Remove | Kind::Unfile => true,
        Kind::Flag | Kind::Move | Kind::Copy | Kind::Delete | Kind::Import => {
            let folder = folder_of(&step.to.0).unwrap_or(&step.to.0);
            let inode = step.new_inode.unwrap_or(step.inode);
            matches!(finder.find(&step.to.0, folder, inode, step), Ok(Some(_)))
        }
    }
}

/// Leaves only those steps of an entry done that are to be undone still, if a crash ended its undo.
pub(super) fn retain_there(entry: &mut log::Entry) {
    let mut finder = Finder::default();
    let kind = entry.kind;
    entry.steps.iter_mut().for_each(|step| step.is_done &= is_there(&mut finder, kind, step));
}

/// Notes which steps of an entry are undone, and that more is to do before all of it is. An undo that goes on
/// after a crash does not touch these steps again: the user may have changed the files meanwhile.
///
/// # Errors
/// The log cannot be written.
pub(super) fn note_undone(log: &Log<'_>, entry: &mut log::Entry) -> Result<()> {
    if let Some(part) = &mut entry.import {
        part.tags.clear();
    }
    log.write(entry)
}

/// Notes that an entry was undone, as far as that is possible now.
///
/// # Errors
/// The log cannot be written.
pub(super) fn conclude_undo(log: &Log<'_>, entry: &mut log::Entry) -> Result<()> {
    entry.state = if entry.steps.iter().any(|step| step.is_done) { State::Done } else { State::Undone };
    log.write(entry)
}

/// Returns what the last undo of an entry left alone, the last step first.
pub(super) fn left_of(entry: &log::Entry) -> Vec<LeftAlone> {
    let left = |step: &Step| Some(LeftAlone { path: step.to.0.clone(), why: step.left.clone()? });
    entry.steps.iter().rev().filter_map(left).collect()
}

/// Undoes all steps of an entry that were done, the last one first. What may be possible later stays to be
/// undone. The log says that the entry is being undone until [`conclude_undo`]: so it is finished after a
/// crash.
///
/// # Errors
/// The log cannot be written.
pub(super) fn undo(
    log: &Log<'_>,
    hands: &dyn Hands,
    entry: &mut log::Entry,
    is_taken: &IsTaken<'_>,
) -> Result<Undoing> {
    let is_resumed = entry.state == State::Undoing;
    begin_undo(log, entry)?;
    let mut undoing = Undoing::default();
    let mut finder = Finder::default();
    let (kind, number, time) = (entry.kind, entry.number, entry.time);
    for (index, step) in entry.steps.iter_mut().enumerate().rev().filter(|(_, step)| step.is_done) {
        let other = || unique_part_after(number, time, index);
        let was_there = is_resumed && step.left.is_none();
        (step.is_done, step.left) =
            match undo_step((hands, &mut finder), (kind, was_there), step, (is_taken, &other)) {
                Ok(changed) => {
                    undoing.changed.extend(changed);
                    (false, None)
                }
                Err(Obstacle::Now(why)) => (true, Some(why)),
                Err(Obstacle::ForEver(why)) => (false, Some(why)),
            };
    }
    undoing.left = left_of(entry);
    let directories = undoing.changed.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
    sync_all(hands, &directories, &mut undoing.left);
    Ok(undoing)
}

/// Returns the unique part of the name of a file that comes back, if another file has taken its own. Whoever
/// finishes an undo after a crash must find the same.
fn unique_part_after(number: u64, time: i64, index: usize) -> Vec<u8> {
    mail::unique_name(&UniqueParts {
        now_ns: time.saturating_mul(1_000_000_000),
        // No process that delivers mail has this number.
        process: 0,
        count: index as u64,
        random: number,
        host: &mail::host_name(),
    })
}

/// Undoes one step. A file that comes back keeps the unique part of its name, unless it is taken. `was_there`
/// says that the file was at its new place when this undo began, before a crash. Returns the places that
/// changed.
fn undo_step(
    (hands, finder): (&dyn Hands, &mut Finder),
    (kind, was_there): (Kind, bool),
    step: &Step,
    (is_taken, other): (&IsTaken<'_>, &dyn Fn() -> Vec<u8>),
) -> std::result::Result<Vec<PathBuf>, Obstacle> {
    match kind {
        Kind::Rename => return directories::undo(hands, step),
        Kind::Unfile => return unfiled::undo(hands, step, (is_taken, other)),
        Kind::Remove => return Err(Obstacle::ForEver("it was removed for good".to_owned())),
        Kind::Flag | Kind::Move | Kind::Copy | Kind::Delete | Kind::Import => {}
    }
    let (Some(folder), Some(old_folder)) = (folder_of(&step.to.0), folder_of(&step.from.0)) else {
        return Err(Obstacle::ForEver("it is in no folder".to_owned()));
    };
    let inode = step.new_inode.unwrap_or(step.inode);
    let Some(now) = finder.find(&step.to.0, folder, inode, step)? else {
        // A crash may have ended the undo after this step, and the old name may have been taken.
        let comes_back = !matches!(kind, Kind::Copy | Kind::Import);
        if comes_back && finder.has_inode(old_folder, inode)? {
            return Ok(vec![step.to.0.clone(), step.from.0.clone()]);
        }
        if !folder.join("cur").is_dir() {
            return Err(Obstacle::Now(format!("its folder {} is not there", folder.display())));
        }
        // On another file system it has another inode.
        if was_there && (!comes_back || inode != step.inode) {
            return Ok(vec![step.to.0.clone()]);
        }
        return Err(Obstacle::ForEver(GONE.to_owned()));
    };
    let to = match kind {
        Kind::Copy => {
            let original = finder.find(&step.from.0, old_folder, step.inode, step)?;
            return match original {
                // Only what exists twice is removed, whatever has this inode now.
                Some(original) if inode != step.inode && mail::have_same_bytes(&original, &now)? => {
                    hands.remove(&now)?;
                    Ok(vec![now])
                }
                Some(_) => Err(Obstacle::ForEver("it is another message now".to_owned())),
                None if !old_folder.join("cur").is_dir() => {
                    Err(Obstacle::Now(format!("its folder {} is not there", old_folder.display())))
                }
                None => {
                    let why = "the file that it was copied from is gone, so it stays";
                    Err(Obstacle::ForEver(why.to_owned()))
                }
            };
        }
        Kind::Import => {
            let is_it = step.sha256.as_ref().map_or(Ok(false), |sha256| has_content(&now, sha256))?;
            if !is_it {
                return Err(Obstacle::ForEver("it is another message now".to_owned()));
            }
            hands.remove(&now)?;
            return Ok(vec![now]);
        }
        Kind::Flag => with_old_flags(&now, folder, step),
        Kind::Move | Kind::Delete | Kind::Rename | Kind::Remove | Kind::Unfile => {
            if !old_folder.join("cur").is_dir() {
                return Err(Obstacle::Now(format!("its folder {} is not there", old_folder.display())));
            }
            let own = mail::parse_name(name_of(&now)).unique;
            let unique = if is_taken(old_folder, own) { other() } else { own.to_vec() };
            let to = mail::join(&directory_in(&now, old_folder), &name_with(&unique, &now));
            if is_copy(&now, &to) {
                // A crash ended the move back to another file system before the file here was removed.
                to.parent().map_or(Ok(()), |directory| hands.sync(directory))?;
                hands.remove(&now)?;
                return Ok(vec![now]);
            }
            to
        }
    };
    if to == now {
        return Ok(Vec::new());
    }
    hands.move_file(&now, &to)?;
    Ok(vec![now, to])
}

/// Finds files that were renamed. Reads each folder once, when it is first needed.
#[derive(Default)]
struct Finder {
    by_inode: HashMap<PathBuf, HashMap<u64, Vec<PathBuf>>>,
}

impl Finder {
    /// Returns where the file of a step is: at its place, or in that folder under another name. A file with
    /// other content is another one, and so is one with another unique part: the inode may be a hard link's.
    fn find(
        &mut self,
        place: &Path,
        folder: &Path,
        inode: u64,
        step: &Step,
    ) -> mail::Result<Option<PathBuf>> {
        let is_it = |path: &Path| is_unchanged(path, inode, step);
        if is_it(place) {
            return Ok(Some(place.to_owned()));
        }
        let unique = mail::parse_name(name_of(place)).unique;
        let has_unique = |path: &&PathBuf| mail::parse_name(name_of(path)).unique == unique;
        let mut names = self.read(folder)?.get(&inode).into_iter().flatten();
        Ok(names.find(has_unique).filter(|path| is_it(path)).cloned())
    }

    /// Returns whether a folder has a file with an inode.
    fn has_inode(&mut self, folder: &Path, inode: u64) -> mail::Result<bool> {
        Ok(self.read(folder)?.contains_key(&inode))
    }

    fn read(&mut self, folder: &Path) -> mail::Result<&HashMap<u64, Vec<PathBuf>>> {
        match self.by_inode.entry(folder.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(mail::files_by_inode(folder)?)),
        }
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

/// Returns whether a file on another file system is a whole copy of this one.
fn is_copy(file: &Path, other: &Path) -> bool {
    let (Ok(this), Ok(there)) = (mail::stat_entry(file), mail::stat_entry(other)) else { return false };
    this.device != there.device
        && (this.size_bytes, this.mtime_ns) == (there.size_bytes, there.mtime_ns)
        && mail::have_same_bytes(file, other).unwrap_or(false)
}

/// Returns whether a file has the bytes with this SHA-256.
fn has_content(path: &Path, sha256: &str) -> mail::Result<bool> {
    let mut hasher = Sha256::new();
    let failed = |source| mail::Error::io("read", path, source);
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    loop {
        let bytes = reader.fill_buf().map_err(failed)?;
        if bytes.is_empty() {
            break;
        }
        hasher.update(bytes);
        let count = bytes.len();
        reader.consume(count);
    }
    Ok(hex(&hasher.finalize()) == sha256)
}

fn sync_all(hands: &dyn Hands, directories: &BTreeSet<PathBuf>, left: &mut Vec<LeftAlone>) {
    for directory in directories {
        if let Err(error) = hands.sync(directory) {
            left.push(LeftAlone { path: directory.clone(), why: error.reason() });
        }
    }
}
