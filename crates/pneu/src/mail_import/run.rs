//! The steps of an import: find the files, choose the folders, store the messages, index and tag them.
//!
//! Input: what the user named. Output: what was done. Each step is in a file of its own.

use crate::action::{ImportNotes, LeftAlone, lock_imports};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::mail_import::known::Known;
use crate::mail_import::model::{ImportedFolder, MailImportOptions, MailImported, MailInput};
use crate::mail_import::own::leave_out_own;
use crate::mail_import::sources::{self, Sources};
use crate::mail_import::tags::Labelled;
use crate::mail_import::take::Taking;
use crate::mail_import::targets::Target;
use index::{Loss, Mode, UpdateOptions};
use std::path::PathBuf;
use work::{Progress, Stage};

impl Host {
    /// Imports mail into a folder, which is named as in [`Host::deliver`], and indexes it. Messages of a
    /// directory go into folders below it, as the directory has them. When this returns, all messages are
    /// durable. Content decides what is there already: the exact bytes of a message.
    ///
    /// What is stored, and the tags that are set, can be undone: see [`Host::undo`].
    ///
    /// If `progress` asks to stop, what was read by then is stored, and the rest is left for the next import.
    ///
    /// # Errors
    /// There is no index, or no such folder; an input is not there, or is a Maildir; a text that cannot be a
    /// tag; a folder, or the log of actions, cannot be written: what was stored by then stays.
    pub fn import_mail(
        &self,
        inputs: Vec<MailInput>,
        folder: &str,
        options: &MailImportOptions,
        progress: &dyn Progress,
    ) -> Result<MailImported> {
        for tag in &options.tags {
            index::check_tag(tag)
                .map_err(|what| Error::Index(index::Error::Tag { tag: tag.clone(), what }))?;
        }
        let _lock = match options.is_dry {
            true => None,
            false => Some(lock_imports(&self.settings().environment)?),
        };
        // Messages that an undo is about to remove are not there.
        let undone = if options.is_dry { Vec::new() } else { self.finish_interrupted(progress)? };
        progress.stage(Stage::Import);
        let notes = ImportNotes::new(inputs.iter().map(MailInput::name).collect(), folder);
        let mut sources = sources::find(inputs, options.is_flat)?;
        let own = leave_out_own(&mut sources, &self.newest_view()?.mailbox().folder_places());
        let targets = self.targets(folder, sources.folders(), options)?;
        let mut imported = MailImported {
            problems: sources.problems.iter().map(left_alone).chain(own).chain(undone).collect(),
            other_count: sources.other_count,
            ..MailImported::default()
        };
        let targets = reachable(targets, &mut sources, &mut imported.problems);
        let paths: Vec<PathBuf> =
            targets.iter().filter(|target| target.exists).map(|target| target.path.clone()).collect();
        // What an interrupted import left there is not indexed yet.
        self.index_imported(&paths, progress)?;
        let mailbox = self.newest_view()?.mailbox().clone();
        let mut known = Known::read(&self.settings().environment, mailbox, &paths, options)?;
        let mut labelled = Labelled::default();
        let store = Storing { notes: &notes, options, progress };
        self.take_all((sources, &targets), (&mut known, &mut labelled), &store, &mut imported)?;
        if imported.is_interrupted || options.is_dry {
            return Ok(imported);
        }
        let finished = self.index_imported(&paths, progress).and_then(|problems| {
            imported.problems.extend(problems);
            self.tag_imported(&paths, &labelled, (&notes, progress))
        });
        imported.unfinished = finished.err();
        Ok(imported)
    }

    fn take_all(
        &self,
        (sources, targets): (Sources, &[Target]),
        (known, labelled): (&mut Known, &mut Labelled),
        &Storing { notes, options, progress }: &Storing<'_>,
        imported: &mut MailImported,
    ) -> Result<()> {
        progress.stage(Stage::Import);
        progress.expect(0, sources.size_bytes.max(1));
        for (target, sources) in targets.iter().zip(sources.by_folder.into_values()) {
            let known = known.of(&target.path);
            let mut taking = Taking::begin((self, notes), target, options, (known, labelled), progress)?;
            for source in sources {
                let problem = taking.source(source)?;
                if progress.is_cancelled() {
                    // A stream that waited for more ends with an error then.
                    imported.is_interrupted = true;
                    break;
                }
                imported.problems.extend(problem.iter().map(left_alone));
            }
            let counts = taking.finish()?;
            imported.folders.push(ImportedFolder { path: target.path.clone(), counts });
            if imported.is_interrupted {
                break;
            }
        }
        imported.folders.retain(|folder| folder.counts.all() > 0);
        Ok(())
    }

    /// Brings the folders of an import in step. Returns what could not be read.
    fn index_imported(&self, folders: &[PathBuf], progress: &dyn Progress) -> Result<Vec<LeftAlone>> {
        if folders.is_empty() {
            return Ok(Vec::new());
        }
        let options = UpdateOptions { mode: Mode::Default, loss: Loss::Refuse, ..UpdateOptions::default() };
        let places = folders.iter().map(PathBuf::as_path).collect();
        let problems = self.update_places(&places, &options, progress)?.problems;
        Ok(problems.into_iter().map(|problem| LeftAlone { path: problem.path, why: problem.what }).collect())
    }
}

/// How messages are stored.
struct Storing<'a> {
    notes: &'a ImportNotes,
    options: &'a MailImportOptions,
    progress: &'a dyn Progress,
}

/// Returns the folders that can be written. The sources of others are left out, and reported.
fn reachable(
    targets: Vec<Result<Target>>,
    sources: &mut Sources,
    problems: &mut Vec<LeftAlone>,
) -> Vec<Target> {
    let by_folder = std::mem::take(&mut sources.by_folder);
    let mut found = Vec::new();
    for (target, (folder, list)) in targets.into_iter().zip(by_folder) {
        match target {
            Ok(target) => {
                found.push(target);
                sources.by_folder.insert(folder, list);
            }
            Err(error) => {
                let why = format!("it has no folder: {error}");
                let told =
                    list.iter().map(|source| LeftAlone { path: source.path.clone(), why: why.clone() });
                problems.extend(told);
            }
        }
    }
    found
}

fn left_alone(error: &mail::Error) -> LeftAlone {
    LeftAlone { path: error.path().to_owned(), why: error.reason() }
}
