//! What is at the cursor: a command, an option, or the value of an argument.
//!
//! Input: a definition and the words before the cursor. Output: what may be there. Follows the words as clap
//! would, but ignores mistakes in them, which the user may still correct.

use crate::completion::candidate::{Candidate, Offered, Wanted};
use clap::{Arg, ArgAction, Command};
use std::ffi::{OsStr, OsString};

/// Where in a command line the cursor is.
pub(super) struct CursorPosition<'a> {
    /// The command that the words name.
    command: &'a Command,
    /// The option whose value the word is.
    option: Option<&'a Arg>,
    /// Whether `help` comes before: commands follow, and nothing else.
    is_help: bool,
    /// How many positional arguments of the command come before.
    positional_count: usize,
    /// Whether it comes after `--`, or after an argument that no options may follow.
    has_no_options: bool,
    /// Options with values, by their long names.
    given: Vec<(String, OsString)>,
    word: &'a str,
}

impl<'a> CursorPosition<'a> {
    /// Follows the words, the program's name first, up to `word`.
    pub(super) fn find(definition: &'a Command, words: &[OsString], word: &'a str) -> CursorPosition<'a> {
        let mut place = CursorPosition {
            command: definition,
            option: None,
            is_help: false,
            positional_count: 0,
            has_no_options: false,
            given: Vec::new(),
            word,
        };
        words.iter().skip(1).for_each(|word| place.pass(word));
        place
    }

    fn pass(&mut self, word: &OsStr) {
        if let Some(option) = self.option.take() {
            self.give(option, word);
            return;
        }
        let text = word.to_string_lossy();
        match text.strip_prefix('-').filter(|rest| !rest.is_empty() && !self.has_no_options) {
            Some("-") => self.has_no_options = true,
            Some(rest) => match rest.strip_prefix('-') {
                Some(long) => self.pass_long(long),
                None => self.pass_short(rest),
            },
            None => match self.command_called(&text) {
                Some(command) => self.command = command,
                None if text == "help" && self.may_be_command() => self.is_help = true,
                None => self.pass_positional(),
            },
        }
    }

    fn pass_long(&mut self, long: &str) {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        match (long_option(self.command, name), value) {
            (Some(option), Some(value)) => self.give(option, OsStr::new(value)),
            (Some(option), None) => self.option = takes_next_word(option).then_some(option),
            (None, _) => {}
        }
    }

    /// Passes letters of options, such as `-qn 5` and `-n5`.
    fn pass_short(&mut self, letters: &str) {
        for (at, letter) in letters.char_indices() {
            let has_letter = |option: &&Arg| option.get_short() == Some(letter);
            match self.command.get_arguments().find(has_letter) {
                Some(option) if option.get_action().takes_values() => {
                    let value = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                    match value {
                        "" => self.option = takes_next_word(option).then_some(option),
                        value => self.give(option, OsStr::new(value)),
                    }
                    return;
                }
                Some(_) => {}
                // A value that begins with a dash.
                None => return self.pass_positional(),
            }
        }
    }

    fn pass_positional(&mut self) {
        self.has_no_options |= self.positional().is_some_and(Arg::is_trailing_var_arg_set);
        self.positional_count += 1;
    }

    fn give(&mut self, option: &Arg, value: &OsStr) {
        self.given.extend(option.get_long().map(|long| (long.to_owned(), value.to_owned())));
    }

    fn command_called(&self, name: &str) -> Option<&'a Command> {
        if !self.may_be_command() {
            return None;
        }
        let is_called = |command: &&Command| {
            command.get_name() == name || command.get_all_aliases().any(|alias| alias == name)
        };
        self.command.get_subcommands().find(is_called)
    }

    fn may_be_command(&self) -> bool {
        self.positional_count == 0 && !self.has_no_options && self.command.has_subcommands()
    }

    /// Returns the positional argument at this place.
    fn positional(&self) -> Option<&'a Arg> {
        let is_many = |argument: &&Arg| matches!(argument.get_action(), ArgAction::Append);
        let all = || self.command.get_positionals();
        all().nth(self.positional_count).or_else(|| all().last().filter(is_many))
    }

    /// Returns what may be here; `offered` has the values that the definition does not list.
    pub(super) fn offered(&self, offered: impl Fn(&Wanted) -> Offered) -> Offered {
        if self.is_help {
            let commands = if self.may_be_command() { self.commands() } else { Vec::new() };
            return Offered::Values(commands.into_iter().filter(|found| found.text != "help").collect());
        }
        if let Some(option) = self.option {
            return self.values(option, ("", self.word), &offered);
        }
        let has_value =
            self.word.split_once('=').filter(|_| self.word.starts_with("--") && !self.has_no_options);
        if let Some((name, value)) = has_value {
            let Some(option) = long_option(self.command, &name[2..]) else { return Offered::nothing() };
            return self.values(option, (&self.word[..=name.len()], value), &offered);
        }
        let mut candidates = Vec::new();
        if self.word.starts_with('-') && !self.has_no_options {
            candidates.extend(options(self.command));
        } else if self.positional_count == 0 && !self.has_no_options {
            candidates.extend(self.commands());
        }
        let Some(argument) = self.positional() else { return Offered::Values(candidates) };
        if !candidates.is_empty() && self.word.starts_with('-') && !argument.is_allow_hyphen_values_set() {
            return Offered::Values(candidates);
        }
        match self.values(argument, ("", self.word), &offered) {
            Offered::Values(values) => Offered::Values(candidates.into_iter().chain(values).collect()),
            _ if self.word.starts_with('-') => Offered::Values(candidates),
            of_shell => of_shell,
        }
    }

    /// Returns the subcommands, each once: by another of its names only if the word is the beginning of that.
    fn commands(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        for command in self.command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let names = std::iter::once(command.get_name()).chain(command.get_visible_aliases());
            let name = names.into_iter().find(|name| name.starts_with(self.word));
            found.extend(name.map(|name| Candidate::word(name, first_line(command.get_about()))));
        }
        if !found.is_empty() || "help".starts_with(self.word) && self.command.has_subcommands() {
            found.push(Candidate::word("help", "Print help"));
        }
        found
    }

    /// Returns what may be a value; `before` is the text before it in the same word.
    fn values(
        &self,
        argument: &Arg,
        (before, value): (&str, &str),
        offered: &impl Fn(&Wanted) -> Offered,
    ) -> Offered {
        let listed: Vec<Candidate> = argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| Candidate::word(value.get_name(), first_line(value.get_help())))
            .collect();
        let found = if listed.is_empty() {
            let value_name =
                argument.get_value_names().and_then(<[_]>::first).map_or("", clap::builder::Str::as_str);
            offered(&Wanted { value_name, value, given: &self.given })
        } else {
            Offered::Values(listed)
        };
        match found {
            Offered::Values(values) => Offered::Values(
                values
                    .into_iter()
                    .map(|value| Candidate { text: format!("{before}{}", value.text), ..value })
                    .collect(),
            ),
            of_shell => of_shell,
        }
    }
}

fn long_option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let is_called = |option: &&Arg| {
        option.get_long() == Some(name)
            || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    };
    command.get_arguments().find(is_called)
}

fn takes_next_word(option: &Arg) -> bool {
    option.get_action().takes_values() && !option.is_require_equals_set()
}

/// Returns the options of a command by their long names.
fn options(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|option| !option.is_hide_set());
    let mut found: Vec<Candidate> = shown
        .filter_map(|option| {
            Some(Candidate::word(format!("--{}", option.get_long()?), first_line(option.get_help())))
        })
        .collect();
    if !command.is_disable_help_flag_set() {
        found.push(Candidate::word("--help", "Print help"));
    }
    if command.get_version().is_some() {
        found.push(Candidate::word("--version", "Print version"));
    }
    found
}

fn first_line(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|help| help.to_string().lines().next().unwrap_or_default().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> Command {
        let data = || Arg::new("data").long("data").short('d').value_name("DIR").help("Directory");
        let quiet = Arg::new("quiet").long("quiet").short('q').action(ArgAction::SetTrue);
        let sort = Arg::new("sort").long("sort").short('s').alias("order").value_parser(["date", "size"]);
        let at_most =
            Arg::new("percent").long("percent").num_args(0..=1).require_equals(true).value_name("N");
        let hidden = Arg::new("secret").long("secret").hide(true).value_name("X");
        let query = Arg::new("query").value_name("QUERY").action(ArgAction::Append).num_args(1..);
        let find = Command::new("find").about("Find\nmore").visible_alias("search").alias("f");
        let tag = Arg::new("words").value_name("TAGS").action(ArgAction::Append).num_args(1..);
        let tag = tag.trailing_var_arg(true).allow_hyphen_values(true);
        let save = [
            Arg::new("name").value_name("NAME"),
            Arg::new("text").value_name("QUERY").action(ArgAction::Append),
        ];
        let list = Command::new("list").about("List").arg(Arg::new("file").value_name("FILE"));
        Command::new("pneu")
            .version("1")
            .arg(data())
            .subcommand(find.args([data(), quiet, sort, at_most, hidden, query]))
            .subcommand(Command::new("tag").disable_help_flag(true).args([data(), tag]))
            .subcommand(Command::new("save").args(save))
            .subcommand(Command::new("archive").subcommand(list))
            .subcommand(Command::new("hidden").hide(true))
    }

    fn offered(wanted: &Wanted) -> Offered {
        match wanted.value_name {
            "DIR" => Offered::Directories,
            "FILE" => Offered::Files,
            name => {
                let data = wanted.given("data").map(|data| data.to_string_lossy().into_owned());
                Offered::Values(vec![Candidate::word(format!("{name} {}", data.unwrap_or_default()), "")])
            }
        }
    }

    /// Returns what is offered for the last word of a line that begins with it.
    fn shown(line: &str) -> String {
        let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let word = words.pop().unwrap().into_string().unwrap();
        match CursorPosition::find(&definition(), &words, &word).offered(offered) {
            Offered::Files => "files".to_owned(),
            Offered::Directories => "directories".to_owned(),
            Offered::Values(values) => {
                values.into_iter().map(|value| value.text).collect::<Vec<_>>().join(",")
            }
        }
    }

    #[test]
    fn what_may_stand_at_the_cursor_is_offered() {
        for (line, expected) in [
            ("pneu ", "find,tag,save,archive,help"),
            ("pneu se", "search,help"),
            ("pneu --data ", "directories"),
            ("pneu --data=", "directories"),
            ("pneu -", "--data,--help,--version"),
            ("pneu --data d archive ", "list,help"),
            ("pneu archive list ", "files"),
            ("pneu find -", "--data,--quiet,--sort,--percent,--help"),
            ("pneu find ", "QUERY "),
            ("pneu find a b c", "QUERY "),
            ("pneu f -q -s ", "date,size"),
            ("pneu search -qs ", "date,size"),
            ("pneu find -ssize ", "QUERY "),
            ("pneu find --order ", "date,size"),
            ("pneu find --sort=", "--sort=date,--sort=size"),
            ("pneu find --nonsense=", ""),
            ("pneu find --percent ", "QUERY "),
            ("pneu find --secret ", "X "),
            ("pneu --data x find --data y ", "QUERY y"),
            ("pneu --data x find ", "QUERY x"),
            ("pneu find -dx ", "QUERY x"),
            ("pneu find -- -", "QUERY "),
            ("pneu find tag ", "QUERY "),
            ("pneu save ", "NAME "),
            ("pneu save x ", "QUERY "),
            ("pneu save x y z", "QUERY "),
            ("pneu tag -", "--data,TAGS "),
            ("pneu tag +x -", "TAGS "),
            ("pneu tag -x --", "TAGS "),
            ("pneu archive list x y", ""),
            ("pneu nonsense find ", ""),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn help_is_cut_to_its_first_line() {
        let definition = definition();
        let Offered::Values(values) =
            CursorPosition::find(&definition, &["pneu".into()], "fi").offered(offered)
        else {
            panic!("commands are values")
        };
        assert_eq!(values[0], Candidate::word("find", "Find"));
    }
}
