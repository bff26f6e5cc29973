//! `pneu archive stats`: shows how much data a repository holds.

use crate::amount::{count, people};
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::Args;
use terminal::command_line::Run;

/// Show how much data a repository holds
///
/// Prints how many files the snapshots hold and their restored size, the size of everything in the
/// repository, and how much of it no snapshot uses.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive stats")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    lock: LockOptions,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The repository cannot be opened or reached.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let place = ConfiguredRepository::new(&self.repository, session)?;
        let repository = place.open()?;
        let lock = place.lock_to_read(&repository, self.lock)?;
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        progress.name("reading trees");
        let result = restic::statistics(&repository, &progress);
        progress.finish();
        lock.release()?;
        let statistics = match result {
            Err(restic::Error::Interrupted) => return Ok(Outcome::Interrupted),
            other => other?,
        };
        for error in &statistics.problems {
            output::complain(one_line(&error.to_string()));
        }
        let mut output = session.output();
        let files = |number, bytes| format!("{}, {}", count(number, "file"), people(bytes));
        let blobs = |number, bytes| format!("{}, {}", count(number, "blob"), people(bytes));
        let lines = [
            ("snapshots", statistics.snapshot_count.to_string()),
            ("restored", files(statistics.file_count, statistics.file_bytes)),
            ("used", blobs(statistics.used_blob_count, statistics.used_plain_bytes)),
            ("packed", people(statistics.used_packed_bytes)),
            ("unused", blobs(statistics.unused_blob_count, statistics.unused_packed_bytes)),
            ("packs", format!("{}, {}", statistics.pack_count, people(statistics.pack_bytes))),
            ("index files", statistics.index_count.to_string()),
        ];
        for (name, value) in lines {
            output.line(&format!("{name:<12}{value}"))?;
        }
        output.finish()?;
        Ok(if statistics.problems.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}
