//! `pneu archive init`: creates a repository.

use crate::archive::repository::{ConfiguredRepository, RepositoryOptions};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use terminal::command_line::Run;

/// Create a repository
///
/// Keep the password in a place apart from the mail: without it, nothing can be restored, and there is no way
/// to recover it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive init --repo /media/disk/mail
  AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... pneu archive init --repo \
  s3:https://s3.example.org/bucket/mail")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is a repository already, or it cannot be made.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let repository = ConfiguredRepository::new(&self.repository, session)?.init()?;
        let mut output = session.output();
        if !session.is_quiet {
            let (id, address) = (repository.id().short(), repository.storage().address());
            output.line(&format!("repository {id} made at {address}"))?;
            output.line("Without the password nobody can read it: keep the password away from the mail.")?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}
