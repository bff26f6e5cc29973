//! `pneu completions`: prints completions for a shell.

use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use terminal::command_line::Run;
use terminal::documents::{CompletedShell, completions};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu completions bash > ~/.local/share/bash-completion/completions/pneu
  pneu completions zsh > ~/.zfunc/_pneu              with fpath+=~/.zfunc before compinit
  pneu completions fish > ~/.config/fish/completions/pneu.fish")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: CompletedShell,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The output cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let mut output = session.output();
        output.bytes(&completions(self.shell, &(session.full_definition)()))?;
        output.finish()?;
        Ok(Outcome::Done)
    }
}
