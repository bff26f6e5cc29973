//! The program `pneu`: indexes, searches and backs up mail in Maildirs.
//!
//! Takes arguments, environment and standard input. Prints results on standard output and all else on
//! standard error, and returns an exit code. `command_line` reads the arguments, `session` opens what
//! commands work with, and one file in `command` carries each command out: it calls the library and passes
//! the results to `format`.

mod archive;
mod command;
mod command_line;
mod complete;
mod deliver;
mod environment;
mod error_meaning;
mod follow;
mod format;
mod hook;
mod options;
mod priority;
mod progress;
mod remedy;
mod search;
mod serving;
mod session;
mod setup;

use printable::sanitise;
use std::ffi::OsString;
use std::process::ExitCode;
use terminal::completion::Line;
use terminal::{amount, complaint, confirm, exit, output, pager, signals, words};

fn main() -> ExitCode {
    complaint::name_program(command_line::NAME);
    // Without the handler, an I/O error in a mapped file ends the program with "Bus error" and no file name.
    // The program also works without it.
    let _ = disk::fault::install();
    let surroundings = environment::surroundings();
    let arguments: Vec<OsString> = environment::arguments().collect();
    if let Some(line) = Line::asked(&arguments) {
        return complete::answer(&line, command_line::full_definition, &surroundings);
    }
    let delivers = command_line::is_delivery(&arguments);
    let request = match command_line::parse(arguments) {
        Ok(request) => request,
        // Help, too, may come from a folder's name that is an option: no message was stored.
        Err(error) if delivers && command::deliver::is_fed() => {
            exit::usage(&error);
            return exit::code(&Err(error_meaning::NotDelivered.into()), 0, error_meaning::of);
        }
        Err(error) => return exit::usage(&error),
    };
    let session = session::Session::new(&request.common, surroundings, command_line::definition);
    let refused = |error| if delivers { command::deliver::not_delivered(&error) } else { error };
    let session = session.map_err(refused);
    let result = session.and_then(|session| {
        let result = request.command.run(&session);
        complain_of_clock(&result, &session);
        result
    });
    if let Err(error) = &result
        && !exit::is_closed_pipe(error)
    {
        remedy::complain_why(error);
    }
    exit::end(&result, signals::code(), error_meaning::of)
}

/// Reports an implausible clock once, for every command.
fn complain_of_clock(result: &anyhow::Result<exit::Outcome>, session: &session::Session) {
    let is_clock = |error: &anyhow::Error| match error.downcast_ref() {
        Some(pneu::Error::Index(error)) => matches!(error, index::Error::Clock { .. }),
        _ => matches!(error.downcast_ref(), Some(index::Error::Clock { .. })),
    };
    if let Err(error) = session.environment.credible_seconds()
        && !result.as_ref().is_err_and(is_clock)
    {
        output::complain(remedy::sentence(&error, error.remedy()));
    }
}
