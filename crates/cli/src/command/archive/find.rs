//! `pneu archive find`: finds files by name in all snapshots at once.

use super::select::Selection;
use super::shown::{kind_letter, local_day, local_time};
use crate::amount::count;
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::environment;
use crate::exit::Outcome;
use crate::format::paths::End;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::sanitise::one_line_of_bytes;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use jiff::civil::DateTime;
use restic::pattern::{Case, Pattern, Patterns};
use restic::{FindFilter, Found, Id, Node, Snapshot, Time};
use serde_json::json;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use terminal::command_line::Run;

/// Find files by name in all snapshots
///
/// Each line stands for one version of a file: the dates of the first and the last snapshot that contain it,
/// the number of these snapshots, and SNAPSHOT:PATH with the newest of them. "pneu archive view", "ls" and
/// "restore" accept SNAPSHOT:PATH as it is. A file with other content or another time has a line of its own.
/// A message whose flags changed has another name. To search messages by content, use "pneu find --archived".
///
/// A PATTERN without slashes is matched against file names. A PATTERN with slashes is matched against as many
/// components of a path, from the top if it begins with a slash; "**" stands for any number of components. If
/// a directory matches, everything in it matches.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive find '1700000000.1.host*'
  pneu archive find --snapshot latest --long 'Maildir/.Drafts'
  pneu archive find --ignore-case --oldest 2026-01-01 '/home/*/Maildir/**/*.PDF'
  pneu archive find --format paths 'dovecot-keywords' | head -n 1 | xargs pneu archive view

Exit codes: 0 found, 1 nothing found, 3 found, but some of the archive could not be read.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    lock: LockOptions,
    /// Names or paths with the wildcards *, ?, [a-z] and **, quoted with ' '. A file must match any one of
    /// them
    #[arg(value_name = "PATTERN", required = true)]
    patterns: Vec<OsString>,
    #[command(flatten)]
    selection: Selection,
    /// Ignore case
    #[arg(long, short)]
    ignore_case: bool,
    /// Only files modified at or after this time: 2026-01-31, or "2026-01-31 12:00"
    #[arg(long, short = 'O', value_name = "TIME")]
    oldest: Option<DateTime>,
    /// Only files modified at or before this time
    #[arg(long, short = 'N', value_name = "TIME")]
    newest: Option<DateTime>,
    /// Also print type, size and modification time
    #[arg(long, short)]
    long: bool,
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
    /// End each line with a NUL byte instead of a newline
    #[arg(long, short = '0')]
    print0: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line per version of a file
    Plain,
    /// Only SNAPSHOT:PATH, with the exact bytes of the path
    Paths,
    /// One JSON object per line, with all snapshots
    Json,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// A pattern cannot be understood; no such snapshot; the repository cannot be opened or reached.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let case = if self.ignore_case { Case::Ignored } else { Case::Matters };
        let parse =
            |pattern: &OsString| Pattern::parse(pattern.as_bytes(), case).map_err(|what| anyhow!(what));
        let patterns = Patterns::new(self.patterns.iter().map(parse).collect::<Result<Vec<Pattern>>>()?);
        let (oldest, newest) = (instant(self.oldest)?, instant(self.newest)?);
        if self.print0 && self.format == Format::Json {
            bail!("--print0 works only with --format plain or paths");
        }
        let place = ConfiguredRepository::new(&self.repository, session)?;
        let repository = place.open()?;
        let lock = place.lock_to_read(&repository, self.lock)?;
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        progress.name("looking through trees");
        let selected = self.selection.of(&repository)?;
        let roots: Vec<Id> = selected.snapshots.iter().map(|(_, snapshot)| snapshot.tree).collect();
        let is_in_time = |node: &Node<'_>| {
            let time = (node.modified.seconds(), node.modified.nanoseconds());
            oldest.is_none_or(|oldest| time >= oldest) && newest.is_none_or(|newest| time <= newest)
        };
        let wish = FindFilter {
            matches: &|directory, node| patterns.matches(directory, &node.name) && is_in_time(node),
            may_hold: &|path| patterns.may_hold(path),
        };
        let result = restic::find(&repository, &roots, &wish, &progress);
        progress.finish();
        lock.release()?;
        let (found, problems) = result?;
        for problem in &problems {
            let path = one_line_of_bytes(&problem.path);
            output::complain_of(path, &problem.error.to_string());
        }
        let is_whole = problems.is_empty() && selected.unread_count == 0;
        if found.is_empty() && is_whole {
            let snapshots = count(roots.len() as u64, "snapshot");
            return session.nothing(format!("no file in {snapshots} matches"));
        }
        let mut output = session.output();
        for found in &found {
            print(self, &mut output, found, &selected.snapshots)?;
        }
        output.finish()?;
        Ok(if is_whole { Outcome::Done } else { Outcome::Partly })
    }
}

/// Returns the seconds and nanoseconds of a local time.
fn instant(time: Option<DateTime>) -> Result<Option<(i64, u32)>> {
    let Some(time) = time else { return Ok(None) };
    let zone = environment::now().time_zone().clone();
    let at = time.to_zoned(zone).map_err(|error| anyhow!("{time} is not a valid time: {error}"))?;
    let time = Time::from_ns(i64::try_from(at.timestamp().as_nanosecond()).unwrap_or(i64::MAX), 0);
    Ok(Some((time.seconds(), time.nanoseconds())))
}

fn print(
    arguments: &Arguments,
    output: &mut Output,
    found: &Found,
    snapshots: &[(Id, Snapshot)],
) -> Result<()> {
    let having: Vec<&(Id, Snapshot)> =
        found.roots.iter().filter_map(|number| snapshots.get(number)).collect();
    let (Some((_, first)), Some((newest, last))) = (having.first(), having.last()) else { return Ok(()) };
    let end = if arguments.print0 { End::Zero } else { End::Line };
    let place = [newest.short().as_bytes(), b":", &found.path].concat();
    let mut line = Vec::new();
    match arguments.format {
        Format::Json => {
            render::json_line_of(&value(found, &having), &mut line);
            return output.bytes(&line);
        }
        Format::Paths if !output.terminal.is_terminal() => line.extend_from_slice(&place),
        Format::Paths => line.extend_from_slice(one_line_of_bytes(&place).as_bytes()),
        Format::Plain => {
            let days = (local_day(&first.time), local_day(&last.time));
            line.extend_from_slice(format!("{}..{}  {:>4}  ", days.0, days.1, having.len()).as_bytes());
            if arguments.long {
                let Node { kind, size, modified, .. } = &found.node;
                let long = format!("{} {size:>12} {}  ", kind_letter(*kind), local_time(modified));
                line.extend_from_slice(long.as_bytes());
            }
            match end {
                End::Zero => line.extend_from_slice(&place),
                End::Line => line.extend_from_slice(one_line_of_bytes(&place).as_bytes()),
            }
        }
    }
    line.extend_from_slice(end.bytes());
    output.bytes(&line)
}

/// Returns the JSON object of a file.
fn value(found: &Found, having: &[&(Id, Snapshot)]) -> serde_json::Value {
    let node = &found.node;
    let ids: Vec<String> = having.iter().map(|(id, _)| id.to_string()).collect();
    let mut value = json!({
        "version": 1,
        "type": "file",
        "kind": node.kind.name(),
        "size": node.size,
        "modified_unix": node.modified.seconds(),
        "snapshots": ids,
    });
    match std::str::from_utf8(&found.path) {
        Ok(path) => value["path"] = path.into(),
        Err(_) => value["path_base64"] = printable::json::base64(&found.path).into(),
    }
    if let Some([only]) = node.content.as_deref() {
        value["sha256"] = only.to_string().into();
    }
    value
}
