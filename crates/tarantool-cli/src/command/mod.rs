//! The commands, one a file. Each reads its arguments, calls the library and prints.
//!
//! A new command is a file here and a line in [`COMMANDS`].

mod cat;
mod completions;
mod count;
mod diff;
mod export;
mod get;
mod import;
mod info;
mod load;
mod man;
mod merge;
mod repair;
mod scan;
mod verify;

use crate::session::Session;
use terminal::command_line::Command;

/// All commands, in the order of the help.
pub(crate) const COMMANDS: &[Command<Session>] = &[
    Command::new::<cat::Arguments>("cat"),
    Command::new::<load::Arguments>("load"),
    Command::new::<export::Arguments>("export"),
    Command::new::<import::Arguments>("import"),
    Command::new::<info::Arguments>("info"),
    Command::new::<get::Arguments>("get"),
    Command::new::<scan::Arguments>("scan"),
    Command::new::<count::Arguments>("count"),
    Command::new::<diff::Arguments>("diff"),
    Command::new::<verify::Arguments>("verify"),
    Command::new::<repair::Arguments>("repair"),
    Command::new::<merge::Arguments>("merge"),
    Command::new::<completions::Arguments>("completions"),
    Command::new::<man::Arguments>("man"),
];
