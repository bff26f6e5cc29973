//! What Tab offers for values of options and arguments, as far as the definition of the command line does not
//! list them.
//!
//! Input: a line that a shell sent, the definition of the command line. Output: the answer on standard
//! output. Errors are ignored, and nothing is offered: a message would disturb the line that the user types.
//! Does not know any shell.

mod names;

use crate::environment::Surroundings;
use crate::format::fields::FIELDS;
use crate::options::Common;
use crate::session::Session;
use names::Names;
use query::complete::{Completion, Values};
use render::table::Column;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use terminal::completion::{Candidate, Line, Offered, Wanted};

/// Answers a shell. `definition` has the options of all commands in every command.
pub(crate) fn answer(
    line: &Line,
    definition: fn() -> clap::Command,
    surroundings: &Surroundings,
) -> ExitCode {
    let answer = line.answer(&definition(), |wanted| {
        let data = wanted.given("data").map(|data| without_tilde(data, surroundings.home.as_deref()));
        let common = Common { data, ..Common::default() };
        match Session::new(&common, surroundings.clone(), definition) {
            Ok(session) => offered(wanted, &session),
            Err(_) => Offered::nothing(),
        }
    });
    // The shell may have closed the pipe.
    let _ = std::io::stdout().lock().write_all(&answer);
    ExitCode::SUCCESS
}

/// Returns what is offered for a value, by its name in the help.
fn offered(wanted: &Wanted, session: &Session) -> Offered {
    let names = Names(session);
    match wanted.value_name {
        "QUERY" => Offered::Values(query_words(wanted.value, &names)),
        "MESSAGE" if wanted.value.starts_with(['/', '.', '~']) => Offered::Files,
        "MESSAGE" => Offered::Values(query_words(wanted.value, &names)),
        "+TAG|-TAG... -- QUERY" => tags_or_query(wanted.value, &names),
        "NAME" => Offered::Values(words(names.saved_queries())),
        "FIELDS" => Offered::Values(fields(wanted.value)),
        "COLUMNS" => Offered::Values(columns(wanted.value)),
        "SNAPSHOT" => Offered::Values(snapshots(wanted, session)),
        // The shell adds no space, so that a path may follow.
        "SNAPSHOT[:PATH]" => {
            let beginning = |snapshot: Candidate| Candidate { is_open: true, ..snapshot };
            Offered::Values(snapshots(wanted, session).into_iter().map(beginning).collect())
        }
        "[NAME=]DIR" => match roots(wanted.value, &names) {
            roots if roots.is_empty() => Offered::Directories,
            roots => Offered::Values(roots),
        },
        "QUERY... FOLDER" => {
            let words = folders(wanted.value, &names).into_iter().chain(query_words(wanted.value, &names));
            Offered::Values(words.collect())
        }
        "+FLAG|-FLAG... -- QUERY" => flags_or_query(wanted.value, &names),
        "FOLDER" | "NEW-NAME" => Offered::Values(folders(wanted.value, &names)),
        "DIR" => Offered::Directories,
        "FILE" | "PATH" | "REPOSITORY" => Offered::Files,
        _ => Offered::nothing(),
    }
}

/// Returns the path that a word will mean when the line is run: only then the shell replaces a leading "~/".
fn without_tilde(word: &OsStr, home: Option<&Path>) -> PathBuf {
    let path = Path::new(word);
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns the snapshots of the repository that the line names, or else of the usual one.
fn snapshots(wanted: &Wanted, session: &Session) -> Vec<Candidate> {
    let named = wanted.given("repo").map(|repo| without_tilde(repo, session.home.as_deref()));
    Names(session).snapshots(named.as_deref().and_then(Path::to_str), wanted.value)
}

fn words(names: Vec<String>) -> Vec<Candidate> {
    names.into_iter().map(|name| Candidate::word(name, "")).collect()
}

/// Returns the ways to go on with a query.
fn query_words(word: &str, names: &Names) -> Vec<Candidate> {
    let completions = query::complete::complete(word, names).into_iter();
    completions
        .map(
            |Completion { text, is_whole, about }| {
                if is_whole { Candidate::word(text, about) } else { Candidate::beginning(text, about) }
            },
        )
        .collect()
}

/// Returns tags to add or to remove, or words of a query.
fn tags_or_query(word: &str, names: &Names) -> Offered {
    match word.chars().next() {
        Some(sign @ ('+' | '-')) => {
            let tags = names.tags().into_iter();
            Offered::Values(tags.map(|tag| Candidate::word(format!("{sign}{tag}"), "")).collect())
        }
        _ => Offered::Values(query_words(word, names)),
    }
}

/// Returns flags to add or to remove, or words of a query.
fn flags_or_query(word: &str, names: &Names) -> Offered {
    const FLAGS: [&str; 6] = ["draft", "flagged", "passed", "replied", "seen", "trashed"];
    match word.chars().next() {
        Some(sign @ ('+' | '-')) => {
            Offered::Values(FLAGS.iter().map(|flag| Candidate::word(format!("{sign}{flag}"), "")).collect())
        }
        _ => Offered::Values(query_words(word, names)),
    }
}

/// Returns what comes before the last name of a list.
fn before_last(list: &str) -> &str {
    list.rfind([',', ' ']).map_or("", |last| list.get(..=last).unwrap_or_default())
}

/// Returns lists of columns with one more name than was typed.
fn columns(list: &str) -> Vec<Candidate> {
    let before = before_last(list);
    let names = Column::ALL.iter().map(|column| column.field().name);
    let rest = names.filter(|name| !before.split(',').any(|typed| typed == *name));
    rest.map(|name| Candidate::beginning(format!("{before}{name}"), "")).collect()
}

/// Returns lists of fields with one more name than was typed.
fn fields(list: &str) -> Vec<Candidate> {
    let before = before_last(list);
    let typed: Vec<&str> = before.split([',', ' ']).collect();
    let rest = FIELDS.iter().filter(|field| !typed.contains(&field.name));
    let about = |name| query::fields::find(name).map_or("", |info| info.description);
    rest.map(|field| Candidate::beginning(format!("{before}{}", field.name), about(field.name))).collect()
}

/// Returns the folders, with the first slash if the word has it; by their roles if a colon begins the word.
fn folders(word: &str, names: &Names) -> Vec<Candidate> {
    if word.starts_with(':') {
        return words(names.roles());
    }
    let mut folders = names.folders();
    if !word.starts_with('/') {
        folders = folders.iter().map(|name| name.trim_start_matches('/').to_owned()).collect();
    }
    folders.retain(|name| !name.is_empty());
    words(folders)
}

/// Returns the indexed directories that begin with the word.
fn roots(word: &str, names: &Names) -> Vec<Candidate> {
    let mut roots = names.roots();
    roots.retain(|root| root.starts_with(word));
    words(roots)
}

#[cfg(test)]
mod tests {
    use crate::command_line;
    use std::collections::BTreeSet;

    /// Values for which nothing can be offered: numbers, times, text, and what only an open repository knows.
    const OPEN: [&str; 20] = [
        "ADDRESS",
        "AGE",
        "AMOUNT",
        "COMMAND",
        "COUNT",
        "DATE",
        "HOST",
        "LETTERS",
        "LIST",
        "N",
        "NUMBERS",
        "PATTERN",
        "PERCENT",
        "PORT",
        "SECONDS",
        "TAG",
        "TAG[,TAG]",
        "TIME",
        "TOKEN",
        "WORD",
    ];
    const OFFERED: [&str; 17] = [
        "+FLAG|-FLAG... -- QUERY",
        "+TAG|-TAG... -- QUERY",
        "COLUMNS",
        "DIR",
        "FIELDS",
        "FILE",
        "FOLDER",
        "MESSAGE",
        "NAME",
        "NEW-NAME",
        "PATH",
        "QUERY",
        "QUERY... FOLDER",
        "REPOSITORY",
        "SNAPSHOT",
        "SNAPSHOT[:PATH]",
        "[NAME=]DIR",
    ];

    fn value_names(command: &clap::Command, found: &mut BTreeSet<String>) {
        for argument in command.get_arguments().filter(|argument| {
            argument.get_action().takes_values() && argument.get_possible_values().is_empty()
        }) {
            found.extend(argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string));
        }
        command.get_subcommands().for_each(|below| value_names(below, found));
    }

    #[test]
    fn every_kind_of_value_is_offered_or_known_to_be_open() {
        let mut found = BTreeSet::new();
        value_names(&command_line::full_definition(), &mut found);
        let known: BTreeSet<String> = OPEN.iter().chain(&OFFERED).map(ToString::to_string).collect();
        let unknown: Vec<&String> = found.difference(&known).collect();
        assert!(unknown.is_empty(), "what does Tab offer for {unknown:?}?");
        let unused: Vec<&&str> = OFFERED.iter().filter(|name| !found.contains(**name)).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }
}
