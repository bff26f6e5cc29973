//! `pneu archive restore`: restores the files of a snapshot.

use crate::amount::{count, people};
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::exit::{NotFound, Outcome};
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use restic::{Choice, Overwrite, RestoreOptions};
use std::path::PathBuf;
use terminal::command_line::Run;

/// Restore the files of a snapshot
///
/// Restored from a backup of mail, the result is a working Maildir, with tags and saved queries in a
/// directory .pneu/ next to it. "pneu index" imports these, and says how to adopt the configuration. SNAPSHOT
/// is a prefix of an ID, or "latest". SNAPSHOT:PATH names a directory in it, whose content is restored
/// directly into the target.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive restore latest --target /tmp/restored
  pneu archive restore latest:/home/ana/Maildir --target ~/Maildir --overwrite never

Exit code 3: done, but something could not be restored.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    lock: LockOptions,
    /// The snapshot, and optionally a directory in it
    #[arg(value_name = "SNAPSHOT[:PATH]")]
    snapshot: String,
    /// Directory to restore to. It is created if it does not exist
    #[arg(long, short, value_name = "DIR")]
    target: PathBuf,
    /// Only restore this path of the snapshot and what is below it. Can be repeated
    #[arg(long, value_name = "PATH")]
    include: Vec<String>,
    /// Whether to overwrite existing files
    #[arg(long, value_enum, default_value_t = Existing::Never)]
    overwrite: Existing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Existing {
    /// Keep them
    Never,
    /// Overwrite files older than in the snapshot
    IfNewer,
    /// Overwrite all
    Always,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such snapshot or path; the target cannot be written; the repository cannot be opened or
    /// reached.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let place = ConfiguredRepository::new(&self.repository, session)?;
        let repository = place.open()?;
        let lock = place.lock_to_read(&repository, self.lock)?;
        let (_, snapshot, path) = super::select::one(&repository, &self.snapshot)?;
        let tree = match path.iter().all(|&byte| byte == b'/') {
            true => Some(snapshot.tree),
            false => restic::node_at(&repository, &snapshot.tree, &path)?.and_then(|node| node.subtree),
        };
        let Some(tree) = tree else {
            return Err(NotFound(format!(
                "the snapshot has no directory {}",
                String::from_utf8_lossy(&path)
            ))
            .into());
        };
        let choose = |path: &[u8]| Choice::among(&self.include, path);
        let overwrite = match self.overwrite {
            Existing::Never => Overwrite::Never,
            Existing::IfNewer => Overwrite::IfNewer,
            Existing::Always => Overwrite::Always,
        };
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        progress.name("restoring");
        let options = RestoreOptions { choose: &choose, overwrite };
        let result = restic::restore(&repository, &tree, &self.target, &options, &progress);
        progress.finish();
        lock.release()?;
        let report = match result {
            Err(restic::Error::Interrupted) => {
                output::complain("interrupted; all files restored so far are complete");
                return Ok(Outcome::Interrupted);
            }
            other => other?,
        };
        for problem in &report.problems {
            let path = restic::shown_path(&problem.path);
            output::complain_of(path, &problem.what);
        }
        let kept = match report.kept_count {
            0 => String::new(),
            1 => "; 1 existing file was kept".to_owned(),
            kept => format!("; {kept} existing files were kept"),
        };
        let (files, bytes) = (count(report.file_count, "file"), people(report.bytes));
        let done = format!("{files}, {bytes} restored to {}{kept}", self.target.display());
        let outcome = if report.problems.is_empty() { Outcome::Done } else { Outcome::Partly };
        Ok(session.conclude(&done, outcome))
    }
}
