//! `pneu-tarantool completions`: prints what makes a shell complete commands and options.

use crate::session::Session;
use anyhow::Result;
use clap::Args;
use terminal::command_line::Run;
use terminal::completion::{CompletedShell, script};
use terminal::exit::Outcome;

/// Print what makes a shell complete commands and options
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool completions bash > ~/.local/share/bash-completion/completions/pneu-tarantool
  pneu-tarantool completions zsh > ~/.zfunc/_pneu-tarantool   with fpath+=~/.zfunc before compinit
  pneu-tarantool completions fish > ~/.config/fish/completions/pneu-tarantool.fish")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: CompletedShell,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let mut output = session.output();
        output.bytes(script(self.shell, (session.definition)().get_name()).as_bytes())?;
        output.finish()?;
        Ok(Outcome::Done)
    }
}
