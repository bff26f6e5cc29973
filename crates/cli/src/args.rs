//! The command line: which commands there are, and the options that all of them take, before or after the command.
//!
//! In: arguments. Out: values. Each command's own options and help stand in its file. Must not know what options do.

use crate::command::{
    archive, check, completions, contacts, count, find, index, info, init, man, query, store, sweep, tag,
    undelete, view,
};
use crate::terminal::ColorChoice;
use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Keeps Maildirs indexed, however large, and finds and shows messages at once.
#[derive(Debug, Parser)]
#[command(name = "pneu", version, max_term_width = 100, after_help = EXAMPLES)]
struct Program {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: CommandWithCommon,
}

const EXAMPLES: &str = "\
Examples:
  pneu index                               finds your mail the first time, and keeps in step with it
  pneu find from:ana subject:invoice       newest first
  pneu find 'date:2w.. and not flag:seen'
  pneu view id:1234@example.org

Exit codes: 0 found or done, 1 nothing found, 2 error, 3 done but some input could not be read,
130 interrupted, 129 and 143 ended by SIGHUP and SIGTERM.";

/// Stands at the end of each command's help.
const SEE_ALSO: &str = "Options of all commands: --data, --maildir, --quiet, --color; see pneu --help";

// Without a doc comment, which would become the help of every command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct Common {
    /// Keep the index in this directory. Default: $XDG_DATA_HOME/pneu, which usually is ~/.local/share/pneu
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The directory that holds the Maildirs. Remembered: needed for the first index only. Several have a
    /// name each and are repeated: --maildir work=DIR --maildir home=DIR. Default: what the configuration
    /// names, or else what is found
    #[arg(long, value_name = "[NAME=]DIR")]
    pub maildir: Vec<OsString>,
    /// Print results and errors only: no progress, no summary
    #[arg(long, short)]
    pub quiet: bool,
    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub color: Option<ColorChoice>,
}

impl Common {
    /// Joins what stood before the command with what stands behind it. The latter is said later, so it counts; Maildirs add up.
    fn then(mut self, later: Common) -> Common {
        self.maildir.extend(later.maildir);
        Common {
            data: later.data.or(self.data),
            maildir: self.maildir,
            quiet: self.quiet || later.quiet,
            color: later.color.or(self.color),
        }
    }
}

// A command with its own options, and those of all commands behind it. Without a doc comment, as above.
#[derive(Debug, Args)]
pub(crate) struct With<A: Args> {
    #[command(flatten)]
    pub(crate) arguments: A,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
enum CommandWithCommon {
    Init(With<init::Arguments>),
    Index(With<index::Arguments>),
    #[command(visible_alias = "search")]
    Find(With<find::Arguments>),
    Count(With<count::Arguments>),
    #[command(visible_alias = "show")]
    View(With<view::Arguments>),
    Tag(With<tag::Arguments>),
    Query(With<query::Arguments>),
    Contacts(With<contacts::Arguments>),
    Info(With<info::Arguments>),
    Check(With<check::Arguments>),
    Sweep(With<sweep::Arguments>),
    Archive(With<archive::Arguments>),
    Undelete(With<undelete::Arguments>),
    Store(With<store::Arguments>),
    Completions(With<completions::Arguments>),
    Man(With<man::Arguments>),
}

/// A command with its own options.
#[derive(Debug)]
pub(crate) enum Command {
    /// Write a configuration.
    Init(init::Arguments),
    /// Bring the index in step with the disk.
    Index(index::Arguments),
    /// Find messages.
    Find(find::Arguments),
    /// Count messages.
    Count(count::Arguments),
    /// Show a message.
    View(view::Arguments),
    /// Change tags.
    Tag(tag::Arguments),
    /// Save queries.
    Query(query::Arguments),
    /// List people.
    Contacts(contacts::Arguments),
    /// Say what is where.
    Info(info::Arguments),
    /// Look for damage.
    Check(check::Arguments),
    /// Forget what is long gone.
    Sweep(sweep::Arguments),
    /// Put deleted messages back.
    Undelete(undelete::Arguments),
    /// Work with backups.
    Archive(archive::Action),
    /// Work with Tarantool's snapshots and logs.
    Store(store::Action),
    /// Print completions.
    Completions(completions::Arguments),
    /// Write manual pages.
    Man(man::Arguments),
}

/// All that the user asked for.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// Options of all commands.
    pub common: Common,
    /// The command.
    pub command: Command,
}

/// Reads the arguments, the program's name first.
///
/// # Errors
/// What is wrong with them; or that help or the version was asked for, which is printed instead.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Arguments, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let read = read(&arguments)?;
    let asks_for_help = match &read.command {
        Command::Tag(tag) => tag.asks_for_help(),
        _ => false,
    };
    if asks_for_help && let Some(letter) = arguments.last_mut() {
        *letter = "--help".into();
        return self::read(&arguments);
    }
    Ok(read)
}

fn read(arguments: &[OsString]) -> Result<Arguments, clap::Error> {
    let matches = definition().try_get_matches_from(arguments)?;
    Program::from_arg_matches(&matches).map(joined)
}

/// Returns the definition of the command line for completion: every command takes the options of all commands, and what help hides is
/// left out.
pub(crate) fn for_completion() -> clap::Command {
    shown(&with_all_options())
}

/// Copies a definition without what is hidden, which completion would offer.
fn shown(command: &clap::Command) -> clap::Command {
    let mut copy = clap::Command::new(command.get_name().to_owned())
        .args(command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().map(shown))
        .visible_aliases(command.get_visible_aliases().map(str::to_owned).collect::<Vec<_>>())
        .disable_help_flag(command.is_disable_help_flag_set());
    if let Some(about) = command.get_about() {
        copy = copy.about(about.clone());
    }
    copy
}

/// Returns the definition of the command line, where every command shows the options of all commands too.
fn with_all_options() -> clap::Command {
    Program::command().mut_subcommand("tag", without_letters)
}

/// Returns the definition of the command line for pages: as help shows it, but for the command that shows help.
pub(crate) fn for_pages() -> clap::Command {
    paged(definition()).version(env!("CARGO_PKG_VERSION")).disable_version_flag(false)
}

/// Returns a command for pages, with all commands below it.
fn paged(command: clap::Command) -> clap::Command {
    let command = command.disable_help_subcommand(true).mut_subcommands(paged);
    command.version(env!("CARGO_PKG_VERSION")).disable_version_flag(true)
}

/// Returns the definition of the command line. Help of a command names the options of all commands, and only the program's own
/// help explains them.
fn definition() -> clap::Command {
    let common = Common::augment_args(clap::Command::new("common"));
    let ids: Vec<clap::Id> = common.get_arguments().map(|argument| argument.get_id().clone()).collect();
    with_all_options().mut_subcommands(|command| without_common(command, &ids))
}

/// Hides the options of all commands in a command and all below it, and names them in its help.
fn without_common(command: clap::Command, ids: &[clap::Id]) -> clap::Command {
    let help = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
    let command = command.after_help(format!("{help}{SEE_ALSO}"));
    let command = ids.iter().fold(command, |command, id| command.mut_arg(id, |argument| argument.hide(true)));
    command.mut_subcommands(|command| without_common(command, ids))
}

/// Takes the letters of options away, where -q and -h are tags to remove.
fn without_letters(command: clap::Command) -> clap::Command {
    let help = Arg::new("help").long("help").action(ArgAction::Help).help("Print help");
    command.mut_arg("quiet", |argument| argument.short(None)).disable_help_flag(true).arg(help)
}

fn joined(program: Program) -> Arguments {
    let (command, common) = match program.command {
        CommandWithCommon::Init(with) => (Command::Init(with.arguments), with.common),
        CommandWithCommon::Index(with) => (Command::Index(with.arguments), with.common),
        CommandWithCommon::Find(with) => (Command::Find(with.arguments), with.common),
        CommandWithCommon::Count(with) => (Command::Count(with.arguments), with.common),
        CommandWithCommon::View(with) => (Command::View(with.arguments), with.common),
        CommandWithCommon::Tag(with) => (Command::Tag(with.arguments), with.common),
        CommandWithCommon::Query(with) => (Command::Query(with.arguments), with.common),
        CommandWithCommon::Contacts(with) => (Command::Contacts(with.arguments), with.common),
        CommandWithCommon::Info(with) => (Command::Info(with.arguments), with.common),
        CommandWithCommon::Sweep(with) => (Command::Sweep(with.arguments), with.common),
        CommandWithCommon::Undelete(with) => (Command::Undelete(with.arguments), with.common),
        CommandWithCommon::Archive(with) => {
            let (action, common) = with.arguments.action.parted();
            (Command::Archive(action), with.common.then(common))
        }
        CommandWithCommon::Store(with) => {
            let (action, common) = with.arguments.action.parted();
            (Command::Store(action), with.common.then(common))
        }
        CommandWithCommon::Check(with) => (Command::Check(with.arguments), with.common),
        CommandWithCommon::Completions(with) => (Command::Completions(with.arguments), with.common),
        CommandWithCommon::Man(with) => (Command::Man(with.arguments), with.common),
    };
    Arguments { common: program.common.then(common), command }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Arguments, clap::Error> {
        parse(std::iter::once("pneu").chain(line.split_whitespace()))
    }

    fn common(line: &str) -> Common {
        parsed(line).unwrap().common
    }

    #[test]
    fn the_definitions_are_consistent() {
        definition().debug_assert();
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
            "store load d --into s --salvage -q",
            "store scan s space --from -5 --to 7 --reverse",
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
            assert!(command.get_after_help().unwrap().to_string().ends_with(SEE_ALSO));
        }
    }

    #[test]
    fn a_lone_letter_asks_for_the_help_of_tags() {
        for line in ["tag -h", "tag --quiet -h", "tag --help"] {
            let shown = parsed(line).unwrap_err();
            assert_eq!(shown.kind(), clap::error::ErrorKind::DisplayHelp, "{line}");
            assert!(shown.to_string().contains("pneu tag +work"), "{line}");
        }
    }

    #[test]
    fn tags_are_taken_as_they_stand() {
        for line in ["tag -q -h -V -- x", "tag --quiet -todo +a x", "tag +a -q -- -b"] {
            let arguments = parsed(line).unwrap();
            assert_eq!(arguments.common.quiet, line.contains("--quiet"), "{line}");
            let Command::Tag(tag) = arguments.command else { panic!("{line}") };
            let words: Vec<&str> =
                line.split(' ').filter(|word| !["tag", "--quiet"].contains(word)).collect();
            assert_eq!(tag.words(), words, "{line}");
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
