//! Documents made from the definition of a command line: manual pages.
//!
//! Input: a definition as help shows it. Does not know any command.

use std::io;
use std::path::Path;

/// Writes the manual pages of the program and all its commands into a directory, which is created if it does
/// not exist.
///
/// # Errors
/// The directory or a page cannot be written.
pub fn write_manual_pages(definition: clap::Command, directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let version = definition.get_version().unwrap_or_default().to_owned();
    let program = paged(definition, &version).disable_version_flag(false);
    clap_mangen::generate_to(program, directory)
}

/// Returns a command for pages, with all its subcommands except `help`.
fn paged(command: clap::Command, version: &str) -> clap::Command {
    let command = command.disable_help_subcommand(true).mut_subcommands(|below| paged(below, version));
    command.version(version.to_owned()).disable_version_flag(true)
}
