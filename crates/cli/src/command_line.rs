//! The command line of the program: its help, and all commands that `command` lists.
//!
//! Turns arguments into a command and its options, and does not know what they do.

use crate::command::{COMMANDS, tag};
use crate::options::Common;
use crate::session::Session;
use std::ffi::OsString;
use terminal::command_line::{self, Request};

/// The name of the program.
pub(crate) const NAME: &str = "pneu";

const ABOUT: &str = "Index, search and back up mail in Maildirs";

const EXAMPLES: &str = "\
Examples:
  pneu index                               find your mail and index it; later, update the index
  pneu find from:ana subject:invoice       search, newest message first
  pneu find 'date:2w.. and not flag:seen'
  pneu view id:1234@example.org

Exit codes: 0 found or done, 1 nothing found, 2 error, 3 done but some input could not be read,
130 interrupted, 129 and 143 ended by SIGHUP and SIGTERM.";

/// Reads the arguments, the program's name first.
///
/// # Errors
/// What is wrong with the arguments, or that help or the version was asked for: it is printed instead.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Request<Common, Session>, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(last) = arguments.last()
        && last == "-h"
        && definition().try_get_matches_from(&arguments).is_ok_and(|matches| tag::asks_for_help(&matches))
    {
        arguments.pop();
        arguments.push("--help".into());
    }
    command_line::parse(program, COMMANDS, &arguments)
}

/// Returns whether the command is `deliver`, even if the arguments are wrong.
pub(crate) fn is_delivery(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        match word.as_ref() {
            // Options of all commands that have a value.
            "--data" | "--maildir" | "--color" => _ = words.next(),
            option if option.starts_with('-') => {}
            command => return command == "deliver",
        }
    }
    false
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
        .max_term_width(100)
        .after_help(EXAMPLES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use terminal::screen::ColorChoice;

    fn parsed(line: &str) -> Result<Request<Common, Session>, clap::Error> {
        parse(std::iter::once(NAME).chain(line.split_whitespace()).map(OsString::from))
    }

    fn common(line: &str) -> Common {
        parsed(line).unwrap().common
    }

    #[test]
    fn the_definitions_are_consistent() {
        definition().debug_assert();
        full_definition().debug_assert();
    }

    #[test]
    fn options_stand_before_or_after_the_command() {
        let expected = Common {
            data: Some("d".into()),
            maildir: vec!["a=x".into(), "b=y".into()],
            quiet: true,
            color: Some(ColorChoice::Never),
        };
        for line in [
            "--data d --maildir a=x --maildir b=y --quiet --color never index",
            "index --data d --maildir a=x --maildir b=y -q --color never",
            "--maildir a=x --color always --data e index --data d --maildir b=y --quiet --color never",
        ] {
            assert_eq!(common(line), expected, "{line}");
        }
        assert_eq!(common("find ana --data d bo").data, Some("d".into()));
    }

    #[test]
    fn commands_have_their_other_names_and_a_help() {
        for line in [
            "search ana",
            "find",
            "show id:x",
            "view -",
            "count",
            "info",
            "check --deep",
            "tag +a -b -- x",
            "contacts ana",
            "sweep --older-than 2w",
        ] {
            common(line);
        }
        let all = definition();
        let below = all.get_subcommands().flat_map(clap::Command::get_subcommands);
        for command in all.get_subcommands().chain(below) {
            assert!(
                command.get_about().is_some_and(|about| !about.to_string().is_empty()),
                "{}",
                command.get_name()
            );
            let help = command.get_after_help().unwrap().to_string();
            assert!(help.ends_with("--data, --maildir, --quiet, --color; see pneu --help"), "{help}");
        }
    }

    #[test]
    fn a_lone_letter_asks_for_the_help_of_tags() {
        for line in ["tag -h", "tag --quiet -h", "tag --help"] {
            let shown = parsed(line).err().unwrap();
            assert_eq!(shown.kind(), clap::error::ErrorKind::DisplayHelp, "{line}");
            assert!(shown.to_string().contains("pneu tag +work"), "{line}");
        }
    }

    #[test]
    fn tags_are_taken_as_they_stand() {
        for line in ["tag -q -h -V -- x", "tag --quiet -todo +a x", "tag +a -q -- -b"] {
            assert_eq!(common(line).quiet, line.contains("--quiet"), "{line}");
            let matches = definition().get_matches_from(std::iter::once(NAME).chain(line.split(' ')));
            let (_, tag) = matches.subcommand().unwrap();
            let words: Vec<&str> =
                line.split(' ').filter(|word| !["tag", "--quiet"].contains(word)).collect();
            assert_eq!(tag.get_many::<String>("words").unwrap().collect::<Vec<_>>(), words, "{line}");
        }
    }

    #[test]
    fn mistakes_are_refused() {
        for line in
            ["", "fnd x", "view", "index surplus", "find --max x", "find --max 0", "find --sort colour"]
        {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
