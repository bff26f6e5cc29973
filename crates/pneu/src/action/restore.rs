//! Puts messages back that only a repository still has, as an action that can be undone.
//!
//! Input: contents, a repository, a folder if all are to go there. Output: files, an index in step, and an
//! entry of the log: the messages were imported from the repository. Undoing it removes the files, unless
//! they hold something else by then. A crash before the entry is written leaves files that are indexed by the
//! next pass.

use crate::action::act::AFTER;
use crate::action::carry_out::{LeftAlone, conclude};
use crate::action::log::{ImportPart, Kind, Log, Place, Step};
use crate::action::places::folder_of;
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::host::Host;
use backup::{UndeleteReport, Undeleted};
use index::{Hit, Places};
use printable::hex;
use restic::Repository;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use work::Progress;

/// What an undo says where the messages came from.
const SOURCE: &str = "the archive";

/// What was put back.
#[derive(Debug, Default)]
pub struct Restored {
    /// What was put back, and what was not.
    pub report: UndeleteReport,
    /// Files that are back, and could not be indexed or noted for an undo.
    pub left: Vec<LeftAlone>,
}

impl Host {
    /// Puts contents back that have no file: each where its newest snapshot has it, or all into `folder`. The
    /// next view shows them.
    ///
    /// # Errors
    /// As [`Archive::undelete`]; the log of actions cannot be read. Nothing was put back then.
    pub fn restore(
        &self,
        contents: &[[u8; 32]],
        repository: &Repository,
        folder: Option<&Path>,
        progress: &dyn Progress,
    ) -> Result<Restored> {
        let settings = self.settings();
        let log = Log::take(&settings.environment, progress)?;
        let undone = self.recover(&log, progress)?;
        let listed = repository.snapshots()?.complete()?;
        let snapshots: Vec<_> = listed.into_iter().map(|(_, snapshot)| snapshot).collect();
        let view = self.newest_view()?;
        let mut hits: Vec<Hit> = Vec::new();
        for content in contents {
            hits.extend(view.known_content(content)?);
        }
        let archive = Archive::new(settings, repository, progress);
        let report = archive.undelete((&view, &hits), &snapshots, folder, progress)?;
        let mut left: Vec<LeftAlone> = undone.map_or_else(Vec::new, |undone| undone.left);
        let steps: Vec<Step> = report.done.iter().filter_map(step).collect();
        if !steps.is_empty() {
            let into = folder.map_or_else(|| "their folders".into(), |folder| folder.to_string_lossy());
            let part = ImportPart {
                first: 0,
                sources: vec![Place(PathBuf::from(SOURCE))],
                folder: into.into_owned(),
                tags: Vec::new(),
            };
            let noted = log.begin_part(Kind::Import, part, steps).and_then(|mut entry| {
                entry.steps.iter_mut().for_each(|step| step.is_done = true);
                conclude(&log, &mut entry)
            });
            left.extend(noted.err().map(|error| not_noted(&error, &report.done)));
        }
        let mut places = Places::default();
        report.done.iter().for_each(|done| places.add_file(&done.path));
        left.extend(self.bring_places_in_step(&places, AFTER, progress)?);
        Ok(Restored { report, left })
    }
}

fn not_noted(error: &Error, done: &[Undeleted]) -> LeftAlone {
    let path = done.first().map_or_else(PathBuf::new, |done| done.path.clone());
    LeftAlone { path, why: format!("it is back, and that cannot be undone: {error}") }
}

/// Returns the step that brought a file back. None, if another program has taken it away by now.
fn step(done: &Undeleted) -> Option<Step> {
    let stat = mail::stat_entry(&done.path).ok()?;
    let sha256 = Sha256::digest(std::fs::read(&done.path).ok()?);
    let from = folder_of(&done.path)?.join("tmp").join(done.path.file_name()?);
    Some(Step {
        from: Place(from),
        to: Place(done.path.clone()),
        inode: stat.inode,
        new_inode: Some(stat.inode),
        size_bytes: stat.size_bytes,
        mtime_ns: stat.mtime_ns,
        sha256: Some(hex(&sha256)),
        is_done: false,
        left: None,
    })
}
