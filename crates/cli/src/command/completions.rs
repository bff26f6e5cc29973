//! `pneu completions`: prints what makes a shell complete commands and options.

use crate::args;
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// Print what makes a shell complete commands and options
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu completions bash > ~/.local/share/bash-completion/completions/pneu
  pneu completions zsh > ~/.zfunc/_pneu              with fpath+=~/.zfunc before compinit
  pneu completions fish > ~/.config/fish/completions/pneu.fish")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Wanted {
    Bash,
    Zsh,
    Fish,
}

/// Runs the command.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let shell = match arguments.shell {
        Wanted::Bash => Shell::Bash,
        Wanted::Zsh => Shell::Zsh,
        Wanted::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::for_completion(), "pneu", &mut script);
    let mut output = session.output();
    output.bytes(&script)?;
    output.finish()?;
    Ok(Outcome::Done)
}
