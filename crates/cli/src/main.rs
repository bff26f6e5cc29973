//! The program `pneu`: one tool for the mail that people keep on their own disk.
//!
//! In: arguments, environment, standard input. Out: results on standard output, all else on standard error, an exit code. Data
//! flows from `args` through a `session` to one file in `command`, which calls the library and hands what it returns to `format`.

mod addresses;
mod adopt;
mod amount;
mod archived;
mod args;
mod at;
mod brought;
mod command;
mod config;
mod configuration_file;
mod confirm;
mod deliver;
mod discover;
mod ending;
mod environment;
mod exit;
mod finding;
mod format;
mod locate;
mod output;
mod pager;
mod problems;
mod progress;
mod question;
mod repository;
mod roots;
mod sanitise;
mod scope;
mod session;
mod shelf;
mod sort;
mod template;
mod terminal;
mod words;
mod zone;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Without it an I/O error under a map ends the program with "Bus error" and no name. It can do without.
    let _ = disk::fault::install();
    let surroundings = environment::surroundings();
    let result = match args::parse(environment::arguments()) {
        Ok(arguments) => session::Session::new(&arguments.common, surroundings).and_then(|session| {
            let result = command::run(arguments.command, &session);
            complain_of_clock(&result, &session);
            result
        }),
        Err(error) => return exit::usage(&error),
    };
    if let Err(error) = &result
        && !exit::is_closed_pipe(error)
    {
        output::complain_why(error);
    }
    exit::code(&result, ending::code())
}

/// Says once that the clock makes no sense, whatever the command was about.
fn complain_of_clock(result: &anyhow::Result<exit::Outcome>, session: &session::Session) {
    let is_clock = |error: &anyhow::Error| matches!(error.downcast_ref(), Some(index::Error::Clock { .. }));
    if let Err(error) = session.index.credible_seconds()
        && !result.as_ref().is_err_and(is_clock)
    {
        output::complain(error);
    }
}
