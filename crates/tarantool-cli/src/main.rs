//! The program `pneu-tarantool`: prints Tarantool's snapshots and logs, reads them into a store, answers from
//! it, and writes snapshots that Tarantool loads.
//!
//! Takes arguments and the environment. Prints results on standard output and all else on standard error, and
//! returns an exit code. `command_line` reads the arguments, and one file in `command` carries each command
//! out.

mod cache;
mod command;
mod command_line;
mod environment;
mod file_summary;
mod follow;
mod incoming;
mod open;
mod options;
mod position;
mod query_options;
mod recovery;
mod remedy;
mod rows_output;
mod session;
mod source;
mod tables;

use session::Session;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use terminal::completion::{Line, Offered};
use terminal::exit::{self, Meaning};
use terminal::{complaint, signals};

fn main() -> ExitCode {
    complaint::name_program(command_line::NAME);
    // Without it an I/O error under a map ends the program with "Bus error" and no name. It can do without.
    let _ = disk::fault::install();
    let arguments: Vec<OsString> = terminal::environment::arguments().collect();
    if let Some(line) = Line::asked(&arguments) {
        return complete(&line);
    }
    let request = match command_line::parse(arguments) {
        Ok(request) => request,
        Err(error) => return exit::usage(&error),
    };
    let session =
        Session::new(&request.common, &terminal::environment::surroundings(), command_line::definition);
    let result = request.command.run(&session);
    if let Err(error) = &result
        && !exit::is_closed_pipe(error)
    {
        remedy::complain_why(error);
    }
    exit::end(&result, signals::code(), |_| Meaning::Failure)
}

/// Answers a shell. Values are directories, or what only the files of Tarantool tell.
fn complete(line: &Line) -> ExitCode {
    let answer = line.answer(&command_line::full_definition(), |wanted| match wanted.value_name {
        "DIR" | "STORE" | "DIR|STORE" => Offered::Directories,
        "FILE" | "FILE|DIR" | "FILE|DIR|STORE" | "DIR|FILE" | "A" | "B" => Offered::Files,
        _ => Offered::nothing(),
    });
    // A shell that has gone asks for nothing.
    let _ = std::io::stdout().lock().write_all(&answer);
    ExitCode::SUCCESS
}
