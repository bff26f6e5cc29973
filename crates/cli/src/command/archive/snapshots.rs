//! `pneu archive snapshots`: lists snapshots.

use super::shown::snapshot_line;
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::exit::Outcome;
use crate::output;
use crate::progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use render::json_line_of;
use serde_json::json;
use terminal::command_line::Run;

/// List snapshots, oldest first
///
/// Prints a line for each snapshot: the short ID, time, host, tags and paths.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive snapshots
  pneu archive snapshots --tag pneu-deleted
  pneu archive snapshots --format json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    lock: LockOptions,
    /// Only snapshots of this host
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Only snapshots with this tag. If repeated, all tags must match
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line per snapshot
    Plain,
    /// One JSON object per line
    Json,
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
        let listed = repository.snapshots()?;
        progress::check()?;
        lock.release()?;
        for (_, error) in &listed.unread {
            output::complain(one_line(&error.to_string()));
        }
        let mut output = session.output();
        let mut is_any = false;
        for (id, snapshot) in &listed.snapshots {
            let is_of_host = self.host.as_ref().is_none_or(|host| *host == snapshot.hostname);
            if !is_of_host || !self.tag.iter().all(|tag| snapshot.tags.contains(tag)) {
                continue;
            }
            is_any = true;
            match self.format {
                Format::Plain => output.line(&snapshot_line(id, snapshot, output.terminal.columns))?,
                Format::Json => output.bytes(&json_line(id, snapshot))?,
            }
        }
        output.finish()?;
        Ok(match (listed.unread.is_empty(), is_any) {
            (false, _) => Outcome::Partly,
            (true, true) => Outcome::Done,
            (true, false) => Outcome::Nothing,
        })
    }
}

fn json_line(id: &restic::Id, snapshot: &restic::Snapshot) -> Vec<u8> {
    let mut line = json!({
        "version": 1,
        "type": "snapshot",
        "id": id.to_string(),
        "time_unix": snapshot.time.seconds(),
        "tree": snapshot.tree.to_string(),
        "paths": snapshot.paths,
        "hostname": snapshot.hostname,
        "username": snapshot.username,
        "tags": snapshot.tags,
    });
    if let Some(summary) = &snapshot.summary {
        line["files"] = summary.total_files_processed.into();
        line["bytes"] = summary.total_bytes_processed.into();
    }
    let mut out = Vec::new();
    json_line_of(&line, &mut out);
    out
}
