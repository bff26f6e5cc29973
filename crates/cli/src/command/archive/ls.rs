//! `pneu archive ls`: lists what is in a snapshot.

use super::shown::{kind_letter, local_time};
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::exit::{NotFound, Outcome};
use crate::output::{self, Output};
use crate::progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use restic::{Next, Node, Snapshot};
use terminal::command_line::Run;

/// List the files in a snapshot
///
/// Lists everything, or everything below a path. SNAPSHOT is a prefix of an ID, or "latest". SNAPSHOT:PATH
/// names a directory in it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive ls latest
  pneu archive ls --long 1a2b3c4d:/home/ana/Maildir/cur")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    lock: LockOptions,
    /// The snapshot, and optionally a directory in it
    #[arg(value_name = "SNAPSHOT[:PATH]", default_value = "latest")]
    snapshot: String,
    /// Also print type, size and time
    #[arg(long, short)]
    long: bool,
    /// End each path with a NUL byte instead of a newline
    #[arg(long, short = '0')]
    print0: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such snapshot or path; the repository cannot be opened or reached.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let place = ConfiguredRepository::new(&self.repository, session)?;
        let repository = place.open()?;
        let lock = place.lock_to_read(&repository, self.lock)?;
        let (_, snapshot, path) = super::select::one(&repository, &self.snapshot)?;
        let Some((tree, above)) = top(&repository, &snapshot, &path)? else {
            return Err(NotFound(format!(
                "the snapshot has no directory {}",
                String::from_utf8_lossy(&path)
            ))
            .into());
        };
        let mut output = session.output();
        let mut failure = None;
        let problems = restic::list(&repository, &tree, &mut |path, node| {
            let path = [&above, path].concat();
            let go_on = progress::check().map_err(anyhow::Error::from);
            match go_on.and_then(|()| print(self, &mut output, &path, node)) {
                Ok(()) => Ok(Next::Enter),
                Err(error) => {
                    failure = Some(error);
                    Ok(Next::End)
                }
            }
        })?;
        lock.release()?;
        if let Some(error) = failure {
            return Err(error);
        }
        output.finish()?;
        for problem in &problems {
            let path = restic::shown_path(&problem.path);
            output::complain_of(path, &problem.error.to_string());
        }
        Ok(if problems.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}

/// Returns the tree at a path, and the path as the prefix of everything below it.
fn top(
    repository: &restic::Repository,
    snapshot: &Snapshot,
    path: &[u8],
) -> Result<Option<(restic::Id, Vec<u8>)>> {
    if path.iter().all(|&byte| byte == b'/') {
        return Ok(Some((snapshot.tree, Vec::new())));
    }
    let node = restic::node_at(repository, &snapshot.tree, path)?;
    let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
    let above = names.flat_map(|name| [b"/", name].concat()).collect();
    Ok(node.and_then(|node| node.subtree).map(|tree| (tree, above)))
}

fn print(arguments: &Arguments, output: &mut Output, path: &[u8], node: &Node<'_>) -> Result<()> {
    let mut line = Vec::new();
    if arguments.long {
        let kind = kind_letter(node.kind);
        line = format!("{kind} {:>12} {} ", node.size, local_time(&node.modified)).into_bytes();
    }
    if arguments.print0 {
        line.extend_from_slice(path);
        line.push(0);
        output.bytes(&line)
    } else {
        line.extend_from_slice(path);
        output.line(&one_line(&String::from_utf8_lossy(&line)))
    }
}
