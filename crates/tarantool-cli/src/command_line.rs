//! The command line of the program: its help, and all commands that `command` lists.
//!
//! Turns arguments into a command and its options, and does not know what they do.

use crate::command::COMMANDS;
use crate::options::Common;
use crate::session::Session;
use std::ffi::OsString;
use terminal::command_line::{self, Request};

/// The name of the program.
pub(crate) const NAME: &str = "pneu-tarantool";

const ABOUT: &str = "Print Tarantool's snapshots and logs, load them into a store, query it, write snapshots";

const DETAILS: &str = "\
A tool for developers. DIR is a directory with Tarantool's files (.snap and .xlog). STORE is a directory \
that \"pneu-tarantool load\" made. See docs/tarantool.md for details.";

const EXAMPLES: &str = "\
Examples:
  pneu-tarantool cat /var/lib/tarantool/shop --space orders --follow
  pneu-tarantool info /var/lib/tarantool/shop
  pneu-tarantool load /var/lib/tarantool/shop --into shop.store
  pneu-tarantool get /var/lib/tarantool/shop orders 17
  pneu-tarantool scan shop.store orders --index by_day --ge 2024-03-01 --where 'price > 10'
  pneu-tarantool count shop.store orders --where 'paid and price >= 10.5'
  pneu-tarantool diff monday.store /var/lib/tarantool/shop
  pneu-tarantool export shop.store --to new/
  pneu-tarantool export /var/lib/tarantool/shop --until 2024-03-01T12:00 --to noon/

Exit codes: 0 found or done, 1 nothing found, 2 error, 3 done but something was lost,
130 interrupted, 129 and 143 ended by SIGHUP and SIGTERM.";

/// Reads the arguments, the program's name first.
///
/// # Errors
/// What is wrong with them, or that help or the version was asked for: it is printed instead.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Request<Common, Session>, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    command_line::parse(program, COMMANDS, &arguments)
}

/// Returns the definition of the command line as help shows it.
pub(crate) fn definition() -> clap::Command {
    command_line::definition::<Common, Session>(program(), COMMANDS)
}

/// Returns the definition of the command line in which every command shows the options of all commands.
pub(crate) fn full_definition() -> clap::Command {
    command_line::full_definition::<Common, Session>(program(), COMMANDS)
}

fn program() -> clap::Command {
    clap::Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(format!("{ABOUT}\n\n{DETAILS}"))
        .max_term_width(100)
        .after_help(EXAMPLES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request<Common, Session>, clap::Error> {
        parse(std::iter::once(NAME).chain(line.split_whitespace()).map(OsString::from))
    }

    #[test]
    fn the_definitions_are_consistent() {
        definition().debug_assert();
        full_definition().debug_assert();
    }

    #[test]
    fn commands_are_read_and_have_help() {
        for (line, quiet) in [
            ("load d --into s --salvage -q", true),
            ("--quiet load d --into s", true),
            ("cat a b --space orders --type insert,update --key -5 --format yaml", false),
            ("scan s space --from -5 --to 7 --reverse", false),
            ("scan s space --ge -5 x --lt 7 --where a=1 --fields a,b", false),
            ("count s space --from a --from b -q", true),
        ] {
            assert_eq!(parsed(line).unwrap().common.quiet, quiet, "{line}");
        }
        for command in definition().get_subcommands() {
            let about = command.get_about().map(ToString::to_string);
            assert!(about.is_some_and(|about| !about.is_empty()), "{}", command.get_name());
        }
    }

    #[test]
    fn mistakes_are_refused() {
        for line in [
            "",
            "lod d",
            "load d",
            "get s space",
            "scan s space --limit x",
            "scan s space --eq",
            "scan s space --eq 1 --lt 2",
            "count s space --ge 1 --gt 2",
            "diff a",
            "info d --data x",
            "cat",
            "cat f --format x",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
