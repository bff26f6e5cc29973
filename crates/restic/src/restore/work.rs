//! Carries out a plan: creates files in a [`Target`] and reports what was done.
//!
//! Does not depend on trees.

use super::decide::{Decision, decide};
use super::metadata;
use super::options::Overwrite;
use super::plan::{Entry, Piece, Plan};
use super::report::{RestoreProblem, RestoreReport};
use super::target::{self, Made, Target};
use super::unfinished::Unfinished;
use crate::error::Result;
use crate::format::tree::NodeKind;
use crate::repository::Repository;
use crate::repository::read::{Reading, Wanted};
use crate::threads::on_all_threads;
use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use work::Progress;

/// A restore in progress.
pub(super) struct Work<'a> {
    pub(super) repository: &'a Repository,
    pub(super) plan: &'a Plan,
    pub(super) target: &'a Target,
    pub(super) progress: &'a dyn Progress,
    /// Which directories exist now; nothing is done in the others.
    made: Vec<Option<Made>>,
    /// What to do with each entry.
    decisions: Vec<Decision>,
    /// Files of several pieces that are not complete yet.
    parts: HashMap<usize, Mutex<Part>>,
    /// The prefix of temporary names.
    unfinished: Unfinished,
    report: Mutex<RestoreReport>,
}

/// A file of several pieces.
#[derive(Debug)]
struct Part {
    left_count: usize,
    state: PartState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartState {
    Absent,
    Created,
    Failed,
}

impl<'a> Work<'a> {
    /// Creates the directories, and decides what to do with each file.
    pub(super) fn begin(
        repository: &'a Repository,
        (plan, target): (&'a Plan, &'a Target),
        overwrite: Overwrite,
        progress: &'a dyn Progress,
    ) -> Work<'a> {
        let unfinished = Unfinished::new(repository.surroundings());
        let (made, decisions, parts, report) = (Vec::new(), Vec::new(), HashMap::new(), Mutex::default());
        let mut work =
            Work { repository, plan, target, progress, made, decisions, parts, unfinished, report };
        work.made = work.make_directories();
        work.remove_left();
        work.decisions = work.decide_all(overwrite);
        for (place, entry) in plan.entries.iter().enumerate() {
            if entry.piece_count > 1 && work.decisions[place].has_content() {
                let part = Part { left_count: entry.piece_count, state: PartState::Absent };
                work.parts.insert(place, Mutex::new(part));
            }
        }
        let bytes = |piece: &Piece| piece.wanted.location.plain_length();
        let wanted = plan.pieces.iter().filter(|piece| work.decisions[piece.entry].has_content());
        progress.expect(plan.entries.len() as u64, wanted.map(bytes).sum());
        work
    }

    /// Restores everything that was decided. If it is interrupted, no incomplete file stays.
    pub(super) fn run(&self) -> Result<()> {
        self.restore_all().inspect_err(|_| self.remove_unfinished())
    }

    fn restore_all(&self) -> Result<()> {
        let wanted: Vec<Piece> = self
            .plan
            .pieces
            .iter()
            .filter(|piece| self.decisions[piece.entry].has_content())
            .copied()
            .collect();
        let packs: Vec<&[Piece]> =
            wanted.chunk_by(|left, right| left.wanted.location.pack == right.wanted.location.pack).collect();
        on_all_threads(
            self.repository.surroundings().context.threads.count(),
            &packs,
            |reading: &mut Reading, pieces| {
                self.progress.check()?;
                self.restore_from_pack(reading, pieces)
            },
        )?;
        for (place, entry) in self.plan.entries.iter().enumerate() {
            self.progress.check()?;
            self.restore_without_content(place, entry);
        }
        self.finish_directories();
        Ok(())
    }

    /// Returns what was done.
    pub(super) fn finish(self) -> RestoreReport {
        self.report.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the needed directories. The content of one that cannot be created is skipped.
    fn make_directories(&self) -> Vec<Option<Made>> {
        let mut made: Vec<Option<Made>> = vec![Some(Made::Before)];
        for directory in self.plan.directories.iter().skip(1) {
            let above = &self.plan.directories[directory.parent];
            let name = directory.path.get(above.path.len() + 1..).unwrap_or_default();
            let is_possible = directory.is_needed && made[directory.parent].is_some();
            let result = is_possible.then(|| self.target.make_directory(&above.path, name));
            made.push(match result {
                None => None,
                Some(Ok(now)) => {
                    self.report().directory_count += 1;
                    Some(now)
                }
                Some(Err(error)) => {
                    let what = format!("cannot be created, so its content was not restored: {error}");
                    self.tell(&directory.path, what);
                    None
                }
            });
        }
        made
    }

    /// Removes the remains of a killed restore. If that fails, the restore fails too.
    fn remove_left(&self) {
        let is_left = |name: &[u8]| self.unfinished.is_left(name);
        for (directory, made) in self.plan.directories.iter().zip(&self.made) {
            if *made == Some(Made::Before) {
                drop(
                    self.target
                        .directory(&directory.path)
                        .and_then(|found| target::remove_left(&found, &is_left)),
                );
            }
        }
    }

    fn decide_all(&self, overwrite: Overwrite) -> Vec<Decision> {
        let mut firsts = HashMap::new();
        let decisions = self.plan.entries.iter().enumerate().map(|(place, entry)| {
            let Some(Some(made)) = self.made.get(entry.directory) else { return Decision::Leave };
            let found = match made {
                Made::Now => Ok(None),
                Made::Before => self
                    .target
                    .directory(self.path_above(entry))
                    .and_then(|directory| target::status(&directory, &entry.node.name)),
            };
            let decision = match found.map_err(|error| error.to_string()) {
                Ok(found) => decide(&entry.node, found.as_ref(), overwrite),
                Err(what) => Decision::Refuse(what),
            };
            match decision {
                Decision::Create | Decision::Replace => {}
                Decision::Keep => self.report().kept_count += 1,
                Decision::Refuse(ref what) => self.tell_of(entry, what.clone()),
                Decision::Leave | Decision::Link(_) => {}
            }
            let node = &entry.node;
            if !decision.has_content() || node.kind != NodeKind::File || node.links < 2 {
                return decision;
            }
            match firsts.entry((node.inode, node.device_id, &node.content)) {
                std::collections::hash_map::Entry::Occupied(first) => Decision::Link(*first.get()),
                std::collections::hash_map::Entry::Vacant(none) => {
                    none.insert(place);
                    decision
                }
            }
        });
        decisions.collect()
    }

    /// Reads the blobs of one pack, and writes each to all files that contain it.
    fn restore_from_pack(&self, reading: &mut Reading, pieces: &[Piece]) -> Result<()> {
        let groups: Vec<&[Piece]> =
            pieces.chunk_by(|left, right| left.wanted.location == right.wanted.location).collect();
        let wanted: Vec<Wanted> = groups.iter().filter_map(|group| Some(group.first()?.wanted)).collect();
        self.repository.load_from_pack(reading, &wanted, &mut |place, content| {
            self.progress.check()?;
            for piece in groups.get(place).copied().unwrap_or_default() {
                let entry = &self.plan.entries[piece.entry];
                match &content {
                    Ok(bytes) if entry.piece_count == 1 => self.restore_whole(piece.entry, bytes),
                    Ok(bytes) => self.restore_part(piece, Ok(bytes)),
                    Err(error) if entry.piece_count == 1 => {
                        self.tell_of(entry, format!("was not restored: {error}"));
                    }
                    Err(error) => self.restore_part(piece, Err(io::Error::other(error.to_string()))),
                }
            }
            Ok(())
        })
    }

    /// Restores a file whose whole content was read.
    fn restore_whole(&self, place: usize, bytes: &[u8]) {
        let entry = &self.plan.entries[place];
        // If its name is free, the file gets its name at once, and its mode when it is complete.
        let is_new = self.decisions[place] == Decision::Create;
        let write = || {
            let directory = self.target.directory(self.path_above(entry))?;
            let name = if is_new { entry.node.name.to_vec() } else { self.unfinished.name(place) };
            let mut file = target::create_file(&directory, &name)?;
            file.write_all(bytes)
                .map(|()| metadata::apply(&file, &entry.node))
                .and_then(|unset| {
                    let named = if is_new { Ok(()) } else { self.give_name(&directory, place) };
                    named.map(|()| unset)
                })
                .inspect_err(|_| drop(target::remove(&directory, &name)))
        };
        self.report_written(entry, bytes.len(), write());
    }

    /// Gives a complete entry its name.
    fn give_name(&self, directory: &OwnedFd, place: usize) -> io::Result<()> {
        let (from, to) = (self.unfinished.name(place), &self.plan.entries[place].node.name);
        match self.decisions[place] {
            Decision::Create => target::rename_new(directory, &from, to),
            _ => target::rename(directory, &from, to),
        }
    }

    /// Writes a piece of a file; the last one finishes it.
    fn restore_part(&self, piece: &Piece, content: io::Result<&[u8]>) {
        let Some(part) = self.parts.get(&piece.entry) else { return };
        let entry = &self.plan.entries[piece.entry];
        let length = content.as_ref().map_or(0, |bytes| bytes.len());
        let written = content.and_then(|bytes| self.write_part(part, piece, bytes));
        let mut part = locked(part);
        part.left_count -= 1;
        if let Err(error) = written {
            if part.state != PartState::Failed {
                self.tell_of(entry, format!("was not restored: {error}"));
            }
            part.state = PartState::Failed;
        }
        let is_last = part.left_count == 0;
        let state = part.state;
        drop(part);
        self.progress.add(0, length as u64);
        self.report().bytes += length as u64;
        if is_last {
            self.finish_parts(piece.entry, state);
        }
    }

    fn write_part(&self, part: &Mutex<Part>, piece: &Piece, bytes: &[u8]) -> io::Result<()> {
        let entry = &self.plan.entries[piece.entry];
        let directory = self.target.directory(self.path_above(entry))?;
        let name = self.unfinished.name(piece.entry);
        let file = {
            let mut part = locked(part);
            match part.state {
                PartState::Failed => return Ok(()),
                PartState::Created => target::open_file(&directory, &name)?,
                PartState::Absent => {
                    let file = target::create_file(&directory, &name)?;
                    part.state = PartState::Created;
                    file
                }
            }
        };
        file.write_all_at(bytes, piece.offset)
    }

    /// Gives a file its name after all pieces were written, or removes it if one failed.
    fn finish_parts(&self, place: usize, state: PartState) {
        let entry = &self.plan.entries[place];
        let name = self.unfinished.name(place);
        let finish = || {
            let directory = self.target.directory(self.path_above(entry))?;
            let finished = match state {
                PartState::Created => target::open_file(&directory, &name)
                    .map(|file| metadata::apply(&file, &entry.node))
                    .and_then(|unset| self.give_name(&directory, place).map(|()| unset)),
                PartState::Absent | PartState::Failed => {
                    return target::remove(&directory, &name).map(|()| None);
                }
            };
            finished.inspect_err(|_| drop(target::remove(&directory, &name))).map(Some)
        };
        match finish() {
            Ok(Some(unset)) => self.report_written(entry, 0, Ok(unset)),
            Ok(None) => {}
            Err(error) => self.report_written(entry, 0, Err(error)),
        }
    }

    /// Removes incomplete files as far as possible. A worse error is being reported already.
    fn remove_unfinished(&self) {
        for (&place, part) in &self.parts {
            if locked(part).left_count == 0 {
                continue;
            }
            if let Ok(directory) = self.target.directory(self.path_above(&self.plan.entries[place])) {
                drop(target::remove(&directory, &self.unfinished.name(place)));
            }
        }
    }

    /// Restores entries without content: empty files, hard links, symbolic links and pipes.
    fn restore_without_content(&self, place: usize, entry: &Entry) {
        match (&self.decisions[place], entry.node.kind) {
            (Decision::Link(first), _) => {
                self.report_written(entry, 0, self.link(place, *first).map(|()| None));
            }
            (Decision::Create | Decision::Replace, NodeKind::File) if entry.piece_count == 0 => {
                self.restore_whole(place, b"");
            }
            (Decision::Create | Decision::Replace, NodeKind::File) => {}
            (Decision::Create | Decision::Replace, _) => {
                self.report_written(entry, 0, self.make_special(place));
            }
            _ => {}
        }
    }

    fn link(&self, place: usize, first: usize) -> io::Result<()> {
        let (entry, first) = (&self.plan.entries[place], &self.plan.entries[first]);
        let directory = self.target.directory(self.path_above(entry))?;
        let from = self.target.directory(self.path_above(first))?;
        let name = self.unfinished.name(place);
        target::link((&from, &first.node.name), (&directory, &name))?;
        target::rename(&directory, &name, &entry.node.name)
            .inspect_err(|_| drop(target::remove(&directory, &name)))
    }

    fn make_special(&self, place: usize) -> io::Result<Option<io::Error>> {
        let node = &self.plan.entries[place].node;
        let directory = self.target.directory(self.path_above(&self.plan.entries[place]))?;
        let name = self.unfinished.name(place);
        let kind = match node.kind {
            NodeKind::BlockDevice => FileType::BlockDevice,
            NodeKind::CharacterDevice => FileType::CharacterDevice,
            _ => FileType::Fifo,
        };
        let made = match node.kind {
            NodeKind::Symlink => target::link_to(&directory, &name, &node.link_target)
                .map(|()| metadata::apply_to_link(&directory, &name, node)),
            _ => target::make_special(&directory, &name, kind, node.device)
                .map(|()| metadata::apply_to_special(&directory, &name, node)),
        };
        made.and_then(|unset| self.give_name(&directory, place).map(|()| unset))
            .inspect_err(|_| drop(target::remove(&directory, &name)))
    }

    /// Sets modes and times of directories, the deepest first, because creating an entry changes the time of
    /// its directory.
    fn finish_directories(&self) {
        for (directory, made) in self.plan.directories.iter().zip(&self.made).rev() {
            let Some(node) = directory.node.as_ref().filter(|_| made.is_some()) else { continue };
            let opened = self.target.directory(&directory.path);
            let unset = opened.map_or_else(Some, |opened| metadata::apply(&*opened, node));
            if let Some(error) = unset {
                self.tell(&directory.path, format!("its mode and times could not be restored: {error}"));
            }
        }
    }

    fn path_above(&self, entry: &Entry) -> &[u8] {
        &self.plan.directories[entry.directory].path
    }

    /// Counts a restored entry and reports which metadata could not be set, or reports why it was not
    /// restored.
    fn report_written(&self, entry: &Entry, bytes: usize, result: io::Result<Option<io::Error>>) {
        let unset = match result {
            Ok(unset) => unset,
            Err(error) => return self.tell_of(entry, format!("was not restored: {error}")),
        };
        self.progress.add(1, bytes as u64);
        let mut report = self.report();
        report.file_count += 1;
        report.bytes += bytes as u64;
        drop(report);
        if let Some(error) = unset {
            self.tell_of(
                entry,
                format!("is there, but not all of its owner, mode and times could be set: {error}"),
            );
        }
    }

    fn tell_of(&self, entry: &Entry, what: String) {
        let path = [self.path_above(entry), b"/", &entry.node.name].concat();
        self.tell(&path, what);
    }

    fn tell(&self, path: &[u8], what: String) {
        self.report().problems.push(RestoreProblem { path: path.to_owned(), what });
    }

    fn report(&self) -> MutexGuard<'_, RestoreReport> {
        locked(&self.report)
    }
}

/// A panic is reported when the thread is joined.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
