//! `pneu archive ls`: lists what is in a snapshot.

use super::shown::{kind_letter, local_time};
use crate::exit::{NotFound, Outcome};
use crate::output::{self, Output};
use crate::progress;
use crate::repository::{LockOptions, Place, RepositoryOptions};
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use archive::{Next, Node, Snapshot};
use clap::Args;

/// List what is in a snapshot
///
/// All of it, or what is below a path. SNAPSHOT is the beginning of an id, or latest; SNAPSHOT:PATH names a directory in it.
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
    /// The snapshot, and what of it
    #[arg(value_name = "SNAPSHOT[:PATH]", default_value = "latest")]
    snapshot: String,
    /// With kind, size and time
    #[arg(long, short)]
    long: bool,
    /// End each path with a zero byte, which no path holds
    #[arg(long, short = '0')]
    print0: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no such snapshot or path; the repository cannot be opened or reached.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let place = Place::new(&arguments.repository, session)?;
    let repository = place.open()?;
    let lock = place.lock_to_read(&repository, arguments.lock)?;
    let (_, snapshot, path) = super::select::one(&repository, &arguments.snapshot)?;
    let Some((tree, above)) = top(&repository, &snapshot, &path)? else {
        return Err(
            NotFound(format!("the snapshot has no directory {}", String::from_utf8_lossy(&path))).into()
        );
    };
    let mut output = session.output();
    let mut failure = None;
    let problems = archive::list(&repository, &tree, &mut |path, node| {
        let path = [&above, path].concat();
        let go_on = progress::check().map_err(anyhow::Error::from);
        match go_on.and_then(|()| print(arguments, &mut output, &path, node)) {
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
        let path = archive::shown_path(&problem.path);
        output::complain_of(path, &problem.error.to_string());
    }
    Ok(if problems.is_empty() { Outcome::Done } else { Outcome::Partly })
}

/// Returns the tree at a path, and the path as what is below it begins with it.
fn top(
    repository: &archive::Repository,
    snapshot: &Snapshot,
    path: &[u8],
) -> Result<Option<(archive::Id, Vec<u8>)>> {
    if path.iter().all(|&byte| byte == b'/') {
        return Ok(Some((snapshot.tree, Vec::new())));
    }
    let node = archive::node_at(repository, &snapshot.tree, path)?;
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
