//! `pneu archive init`: makes a repository.

use crate::exit::Outcome;
use crate::repository::{Place, RepositoryOptions};
use crate::session::Session;
use anyhow::Result;
use clap::Args;

/// Make a repository
///
/// Its password cannot be changed by anybody who does not know it, and cannot be found again when it is lost: keep it where the mail is not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive init --repo /media/disk/mail
  AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... pneu archive init --repo s3:https://s3.example.org/bucket/mail")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
}

/// Runs the command.
///
/// # Errors
/// There is a repository already, or it cannot be made.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let repository = Place::new(&arguments.repository, session)?.init()?;
    let mut output = session.output();
    if !session.is_quiet {
        let (id, address) = (repository.id().short(), repository.storage().address());
        output.line(&format!("repository {id} made at {address}"))?;
        output
            .line("Without its password nothing in it can ever be read: keep that where the mail is not.")?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}
