//! `pneu archive snapshots`: lists snapshots.

use super::shown::snapshot_line;
use crate::exit::Outcome;
use crate::format::json::any_line;
use crate::output;
use crate::progress;
use crate::repository::{LockOptions, Place, RepositoryOptions};
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use archive::snapshot;
use clap::{Args, ValueEnum};
use serde_json::json;

/// List snapshots, the oldest first
///
/// Each with the beginning of its id, when it was made, on which machine, its tags, and what it holds.
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
    /// Only those of this machine
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Only those with this tag; several must all be there
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each
    Plain,
    /// A JSON object on each line
    Json,
}

/// Runs the command.
///
/// # Errors
/// The repository cannot be opened or reached.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let place = Place::new(&arguments.repository, session)?;
    let repository = place.open()?;
    let lock = place.lock_to_read(&repository, arguments.lock)?;
    let threads = repository.surroundings().thread_count;
    let listed = snapshot::list(repository.storage(), repository.key(), threads)?;
    progress::check()?;
    lock.release()?;
    for (_, error) in &listed.unread {
        output::complain(one_line(&error.to_string()));
    }
    let mut output = session.output();
    let mut is_any = false;
    for (id, snapshot) in &listed.snapshots {
        let is_of_host = arguments.host.as_ref().is_none_or(|host| *host == snapshot.hostname);
        if !is_of_host || !arguments.tag.iter().all(|tag| snapshot.tags.contains(tag)) {
            continue;
        }
        is_any = true;
        match arguments.format {
            Format::Plain => output.line(&one_line(&snapshot_line(id, snapshot)))?,
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

fn json_line(id: &archive::Id, snapshot: &archive::Snapshot) -> Vec<u8> {
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
    any_line(&line, &mut out);
    out
}
