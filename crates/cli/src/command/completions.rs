//! `pneu completions`: prints completions for a shell.

use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use terminal::command_line::Run;
use terminal::completion::{CompletedShell, script};

/// Print completions for a shell
///
/// Prints a script for bash, zsh or fish. Tab then completes commands, also after "help", options, lists of
/// fields, and snapshots of repositories in directories, and in queries the names of fields, flags, folders,
/// tags and saved queries. The script asks pneu for them each time, so it stays right when tags or folders
/// change.
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
        output.bytes(script(self.shell, (session.definition)().get_name()).as_bytes())?;
        output.finish()?;
        Ok(Outcome::Done)
    }
}
