//! A program's command line, made of one list of its commands.
//!
//! A program lists its commands once, as [`Command`]s; each is read and run through its own type, so nothing
//! else names it. Options of all commands are accepted before and after a command. Help of a command names
//! them, and only the program's own help explains them.

use crate::exit::Outcome;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args};
use std::ffi::OsString;

/// The options and arguments of a command, which run it.
pub trait Run<Session> {
    /// Runs the command.
    ///
    /// # Errors
    /// Why it failed.
    fn run(&self, session: &Session) -> anyhow::Result<Outcome>;
}

/// The options that all commands of a program take.
pub trait CommonOptions: Args {
    /// Joins the options before the command with those after it. If both set a value, the latter counts.
    #[must_use]
    fn then(self, later: Self) -> Self;
}

/// A command of a program that works with a `Session`.
pub struct Command<Session: 'static> {
    name: &'static str,
    /// Adds its help and its own options to a definition.
    define: fn(clap::Command) -> clap::Command,
    /// Changes its whole definition, with the options of all commands.
    adjust: fn(clap::Command) -> clap::Command,
    content: Content<Session>,
}

/// Reads the options of a command.
type Read<Session> = fn(&ArgMatches) -> Result<Box<dyn Run<Session>>, clap::Error>;

/// What a command consists of.
enum Content<Session: 'static> {
    /// Its own options.
    Options(Read<Session>),
    /// Commands below it.
    Commands(&'static [Command<Session>]),
}

impl<Session> Command<Session> {
    /// Returns a command with the help and the options of `A`.
    pub const fn new<A: Args + Run<Session> + 'static>(name: &'static str) -> Command<Session> {
        let content = Content::Options(|matches| Ok(Box::new(A::from_arg_matches(matches)?)));
        Command { name, define: A::augment_args, adjust: |definition| definition, content }
    }

    /// Returns a command with the help of `A` and further commands below it.
    pub const fn group<A: Args>(
        name: &'static str,
        commands: &'static [Command<Session>],
    ) -> Command<Session> {
        let content = Content::Commands(commands);
        Command { name, define: A::augment_args, adjust: |definition| definition, content }
    }

    /// Changes the definition of this command after the options of all commands were added to it.
    #[must_use]
    pub const fn adjusted(mut self, adjust: fn(clap::Command) -> clap::Command) -> Command<Session> {
        self.adjust = adjust;
        self
    }
}

/// What the user asked for.
pub struct Request<Common, Session> {
    /// The options of all commands.
    pub common: Common,
    /// The command.
    pub command: Box<dyn Run<Session>>,
}

/// Reads a command line, the program's name first. `program` returns the definition of the program without
/// its commands.
///
/// # Errors
/// What is wrong with the arguments, or that help or the version was asked for: it is printed instead.
pub fn parse<Common: CommonOptions, Session>(
    program: fn() -> clap::Command,
    commands: &[Command<Session>],
    arguments: &[OsString],
) -> Result<Request<Common, Session>, clap::Error> {
    // Help and errors may name any command. Everything else needs only the named command, and describing all
    // commands takes longer than many queries.
    let partial = partial_definition::<Common, Session>(program(), commands, arguments);
    match read(partial, commands, arguments) {
        Err(error) if error.kind() != ErrorKind::DisplayVersion => {}
        settled => return settled,
    }
    read(definition::<Common, Session>(program(), commands), commands, arguments)
}

fn read<Common: CommonOptions, Session>(
    definition: clap::Command,
    commands: &[Command<Session>],
    arguments: &[OsString],
) -> Result<Request<Common, Session>, clap::Error> {
    let matches = definition.try_get_matches_from(arguments)?;
    let common = Common::from_arg_matches(&matches)?;
    read_command(common, commands, &matches)
}

fn read_command<Common: CommonOptions, Session>(
    common: Common,
    commands: &[Command<Session>],
    matches: &ArgMatches,
) -> Result<Request<Common, Session>, clap::Error> {
    let (name, matches) = matches.subcommand().expect("a command is required");
    let command = commands.iter().find(|command| command.name == name).expect("only these are defined");
    let common = common.then(Common::from_arg_matches(matches)?);
    match &command.content {
        Content::Options(read) => Ok(Request { common, command: read(matches)? }),
        Content::Commands(below) => read_command(common, below, matches),
    }
}

/// Returns a definition with only those commands whose names are among the arguments: the named one, and more
/// if a value equals the name of a command. The whole definition accepts everything that it accepts, with the
/// same result. It has a command only by its first name.
fn partial_definition<Common: CommonOptions, Session>(
    program: clap::Command,
    commands: &[Command<Session>],
    arguments: &[OsString],
) -> clap::Command {
    let is_named = |name: &str| arguments.iter().skip(1).any(|argument| argument == name);
    with_commands::<Common, Session>(Common::augment_args(program), commands, &is_named)
}

/// Returns the definition of a command line as its help shows it: options of all commands are hidden in each
/// command.
pub fn definition<Common: CommonOptions, Session>(
    program: clap::Command,
    commands: &[Command<Session>],
) -> clap::Command {
    let common = Common::augment_args(clap::Command::new("common"));
    let ids: Vec<clap::Id> = common.get_arguments().map(|argument| argument.get_id().clone()).collect();
    let names: Vec<String> =
        common.get_arguments().filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
    let see_also =
        format!("Options of all commands: {}; see {} --help", names.join(", "), program.get_name());
    full_definition::<Common, Session>(program, commands)
        .mut_subcommands(|command| without_common(command, &ids, &see_also))
}

/// Returns the definition of a command line in which every command shows the options of all commands too.
pub fn full_definition<Common: CommonOptions, Session>(
    program: clap::Command,
    commands: &[Command<Session>],
) -> clap::Command {
    with_commands::<Common, Session>(Common::augment_args(program), commands, &|_| true)
}

fn with_commands<Common: CommonOptions, Session>(
    definition: clap::Command,
    commands: &[Command<Session>],
    is_wanted: &dyn Fn(&str) -> bool,
) -> clap::Command {
    let defined = commands.iter().filter(|command| is_wanted(command.name)).map(|command| {
        let definition = (command.define)(clap::Command::new(command.name));
        let definition = (command.adjust)(Common::augment_args(definition));
        match &command.content {
            Content::Options(_) => definition,
            Content::Commands(below) => with_commands::<Common, Session>(definition, below, is_wanted),
        }
    });
    definition.subcommand_required(true).arg_required_else_help(true).subcommands(defined)
}

/// Hides the options of all commands in a command and all below it, and names them in its help.
fn without_common(command: clap::Command, ids: &[clap::Id], see_also: &str) -> clap::Command {
    let help = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
    let command = command.after_help(format!("{help}{see_also}"));
    let command = ids.iter().fold(command, |command, id| command.mut_arg(id, |argument| argument.hide(true)));
    command.mut_subcommands(|command| without_common(command, ids, see_also))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    type Session = RefCell<Vec<String>>;

    #[derive(Args)]
    struct Options {
        /// Say little
        #[arg(long, short)]
        quiet: bool,
        /// The colour
        #[arg(long)]
        color: Option<String>,
    }

    impl CommonOptions for Options {
        fn then(self, later: Options) -> Options {
            Options { quiet: self.quiet || later.quiet, color: later.color.or(self.color) }
        }
    }

    /// Show a name
    #[derive(Args)]
    #[command(after_help = "Examples: none")]
    struct Show {
        name: String,
    }

    impl Run<Session> for Show {
        fn run(&self, session: &Session) -> anyhow::Result<Outcome> {
            session.borrow_mut().push(self.name.clone());
            Ok(Outcome::Done)
        }
    }

    /// Work with names
    #[derive(Args)]
    struct Names {}

    const COMMANDS: &[Command<Session>] =
        &[Command::new::<Show>("show"), Command::group::<Names>("names", &[Command::new::<Show>("print")])];

    fn program() -> clap::Command {
        clap::Command::new("program").version("1.0").about("A program")
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn parsed(line: &str) -> Result<Request<Options, Session>, clap::Error> {
        parse(program, COMMANDS, &words(line))
    }

    #[test]
    fn a_command_is_read_and_run() {
        let session = Session::default();
        for line in ["program show ana", "program names print bo"] {
            parsed(line).unwrap().command.run(&session).unwrap();
        }
        assert_eq!(session.into_inner(), ["ana", "bo"]);
    }

    #[test]
    fn common_options_stand_before_or_after_the_command() {
        for line in [
            "program -q --color red show ana",
            "program show -q ana --color red",
            "program --color blue names --color red print ana -q",
        ] {
            let common = parsed(line).unwrap().common;
            assert_eq!((common.quiet, common.color.as_deref()), (true, Some("red")), "{line}");
        }
    }

    #[test]
    fn only_commands_that_are_named_are_described() {
        let described = |line: &str| {
            let definition = partial_definition::<Options, Session>(program(), COMMANDS, &words(line));
            let mut names = Vec::new();
            for command in definition.get_subcommands() {
                names.push(command.get_name().to_owned());
                names.extend(command.get_subcommands().map(|below| below.get_name().to_owned()));
            }
            names.join(" ")
        };
        for (line, expected) in [
            ("show", ""),
            ("program", ""),
            ("program --version", ""),
            ("program shw", ""),
            ("program show ana", "show"),
            ("program --color names show ana", "show names"),
            ("program names print ana", "names print"),
            ("program names", "names"),
        ] {
            assert_eq!(described(line), expected, "{line}");
        }
    }

    #[test]
    fn all_commands_are_described_where_help_or_an_error_may_name_them() {
        let whole = || definition::<Options, Session>(program(), COMMANDS);
        for line in [
            "program",
            "program shw show",
            "program names",
            "program names prnt",
            "program -x show",
            "program show --hlp",
            "program --help",
            "program help",
            "program help show",
            "program show --help",
            "program names --help",
            "program names help print",
            "program -V",
            "program --color show",
            "program show",
            "program --color show names",
        ] {
            let said = parsed(line).err().unwrap();
            let expected = whole().try_get_matches_from(words(line)).unwrap_err();
            assert_eq!(said.kind(), expected.kind(), "{line}");
            assert_eq!(said.render().ansi().to_string(), expected.render().ansi().to_string(), "{line}");
        }
        let common = parsed("program --color names show ana").unwrap().common;
        assert_eq!(common.color.as_deref(), Some("names"));
    }

    #[test]
    fn help_of_commands_names_the_common_options() {
        definition::<Options, Session>(program(), COMMANDS).debug_assert();
        for line in ["program show --help", "program names print --help"] {
            let help = parsed(line).err().unwrap().to_string();
            assert!(help.starts_with("Show a name\n") && help.contains("Examples: none\n\n"), "{help}");
            assert!(
                help.ends_with("Options of all commands: --quiet, --color; see program --help\n"),
                "{help}"
            );
            assert!(!help.contains("The colour"), "{help}");
        }
        assert!(parsed("program --help").err().unwrap().to_string().contains("The colour"));
    }

    #[test]
    fn mistakes_are_refused() {
        for line in ["program", "program shw ana", "program names", "program show", "program show a b"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
