//! `pneu archive backup`: saves all mail that the index knows, in one snapshot.

use crate::amount::{count, people};
use crate::archive::repository::{ConfiguredRepository, RepositoryOptions};
use crate::command::index;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use backup::{BackupOptions, BackupReport};
use clap::{Args, ValueEnum};
use pneu::archive::BackedUp;
use pneu::setup::configuration as config;
use pneu::{Error, Summary};
use restic::{Compression, LockKind, Repository, SaveOptions};
use std::path::PathBuf;
use terminal::command_line::Run;

/// Most left-out folders that are named.
const NAMED_COUNT: usize = 3;

/// Back up all mail in one snapshot
///
/// First updates the index, like "pneu index". Then reads only messages that the repository does not have
/// yet. A message that got other flags or moved to another folder is not read again. The snapshot holds the
/// Maildirs as they are, with the state files of Dovecot and mbsync, and a directory .pneu/ with tags, saved
/// queries and configuration. Restored with restic, it is a working Maildir.
///
/// Files that are not mail are left out: files in tmp/, files in cur/ and new/ whose names begin with a dot,
/// and locks and indexes of other programs.
///
/// A folder that contains a file .noindex is left out, with all folders below it. One line on standard error
/// names these folders. A folder that contains a file .noupdate is backed up with all messages that it now
/// holds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive backup
  pneu archive backup --tag weekly

Exit code 3: done, but something could not be read. Each such file is reported.
Folders left out because of .noindex do not change the exit code.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    /// Add this tag to the snapshot. Can be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Back up what the index has, without updating it first
    #[arg(long)]
    no_index: bool,
    /// Compression of new content
    #[arg(long, value_enum, default_value_t = Level::Auto)]
    compression: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Good and fast
    Auto,
    /// None
    Off,
    /// Best
    Max,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index; the repository cannot be opened, reached or locked; nothing of it was written then
    /// that a snapshot names.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let place = ConfiguredRepository::new(&self.repository, session)?;
        let password = place.asked()?;
        let roots = if self.no_index { None } else { Some(index::known_roots(session)?) };
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        let compression = match self.compression {
            Level::Auto => Compression::Auto,
            Level::Off => Compression::Off,
            Level::Max => Compression::Max,
        };
        let options = BackupOptions {
            tags: self.tag.clone(),
            configuration: session
                .configuration
                .as_ref()
                .and_then(|path| config::read(path).ok())
                .map(String::into_bytes),
            save: SaveOptions { compression, ..SaveOptions::default() },
            program_version: concat!("pneu ", env!("CARGO_PKG_VERSION")).to_owned(),
        };
        let lock = |repository: &Repository, updated: Option<&Summary>| {
            updated.into_iter().for_each(index::complain);
            // A root of the command line must be indexed.
            session.roots()?;
            let lock = place.lock(repository, LockKind::Shared)?;
            progress.name_files("backing up");
            Ok(lock)
        };
        let open = || place.unlock(&password);
        let host = session.host()?;
        let result = host.back_up::<anyhow::Error>(roots.as_deref(), (open, lock), &options, &progress);
        progress.finish();
        let backed_up = match result {
            Err(error) if matches!(error.downcast_ref(), Some(Error::Cancelled)) => {
                output::complain(
                    "interrupted; there is no new snapshot; the next backup reuses what was saved so far",
                );
                return Ok(Outcome::Interrupted);
            }
            other => other?,
        };
        let BackedUp { updated, report } = &backed_up;
        for problem in &report.problems {
            output::complain_of(problem.path.display(), &remedy::backup_problem(problem));
        }
        if !session.is_quiet {
            let excluded = host.excluded_folders(updated.as_ref())?;
            left_out(&excluded).into_iter().for_each(output::complain);
        }
        let outcome = if backed_up.is_whole() { Outcome::Done } else { Outcome::Partly };
        Ok(session.conclude(&line(report), outcome))
    }
}

/// Returns the message about folders that the user excluded from backups; `None` if there are none.
fn left_out(folders: &[PathBuf]) -> Option<String> {
    let named: Vec<String> =
        folders.iter().take(NAMED_COUNT).map(|path| path.display().to_string()).collect();
    let what = match folders.len() {
        0 => return None,
        1 => "1 folder with mail is",
        more => &format!("{more} folders with mail are"),
    };
    let rest = folders.len() - named.len();
    let rest = if rest == 0 { String::new() } else { format!(", and {rest} more") };
    Some(
        one_line(&format!("{what} not in the backup, because of .noindex: {}{rest}", named.join(", ")))
            .into_owned(),
    )
}

fn line(report: &BackupReport) -> String {
    let counts = &report.counts;
    let files = counts.files_new + counts.files_changed + counts.files_unchanged;
    format!(
        "snapshot {}: {}, {}; {} new, {} changed; {} added",
        report.snapshot.short(),
        count(files, "file"),
        people(counts.bytes),
        counts.files_new,
        counts.files_changed,
        people(report.saved.packed_bytes),
    )
}
