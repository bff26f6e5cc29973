//! Documents made from the definition of a command line: completions for shells, and manual pages.
//!
//! Input: a definition as help shows it. Does not know any command.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use clap_complete::Shell;
use std::io;
use std::path::Path;

/// A shell that completes commands and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletedShell {
    /// GNU bash.
    Bash,
    /// The Z shell.
    Zsh,
    /// The friendly interactive shell.
    Fish,
}

// Not derived, which would make a list in the help of what the names say already.
impl ValueEnum for CompletedShell {
    fn value_variants<'a>() -> &'a [CompletedShell] {
        &[CompletedShell::Bash, CompletedShell::Zsh, CompletedShell::Fish]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            CompletedShell::Bash => "bash",
            CompletedShell::Zsh => "zsh",
            CompletedShell::Fish => "fish",
        }))
    }
}

/// Returns the script that makes a shell complete the program's commands and options. What the definition
/// hides is not completed.
pub fn completions(shell: CompletedShell, definition: &clap::Command) -> Vec<u8> {
    let shell = match shell {
        CompletedShell::Bash => Shell::Bash,
        CompletedShell::Zsh => Shell::Zsh,
        CompletedShell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(definition), definition.get_name(), &mut script);
    script
}

/// Copies a definition without what is hidden, which the generator of completions would offer.
fn visible(command: &clap::Command) -> clap::Command {
    let mut copy = clap::Command::new(command.get_name().to_owned())
        .args(command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().map(visible))
        .visible_aliases(command.get_visible_aliases().map(str::to_owned).collect::<Vec<_>>())
        .disable_help_flag(command.is_disable_help_flag_set());
    if let Some(about) = command.get_about() {
        copy = copy.about(about.clone());
    }
    copy
}

/// Writes the manual pages of the program and all its commands into a directory, which is made if it is not
/// there.
///
/// # Errors
/// The directory or a page cannot be written.
pub fn write_manual_pages(definition: clap::Command, directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let version = definition.get_version().unwrap_or_default().to_owned();
    let program = paged(definition, &version).disable_version_flag(false);
    clap_mangen::generate_to(program, directory)
}

/// Returns a command for pages, with all commands below it but the one that shows help.
fn paged(command: clap::Command, version: &str) -> clap::Command {
    let command = command.disable_help_subcommand(true).mut_subcommands(|below| paged(below, version));
    command.version(version.to_owned()).disable_version_flag(true)
}
