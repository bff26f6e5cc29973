//! The program `pneu-tarantool`: reads Tarantool's snapshots and logs into a store, answers from it, and
//! writes snapshots that Tarantool loads.
//!
//! Takes arguments and the environment. Prints results on standard output and all else on standard error, and
//! returns an exit code. `command_line` reads the arguments, and one file in `command` carries each command
//! out.

mod command;
mod command_line;
mod open;
mod options;
mod remedy;
mod session;
mod tuple;

use session::Session;
use std::process::ExitCode;
use terminal::exit::{self, Meaning};
use terminal::{complaint, environment, signals};

fn main() -> ExitCode {
    complaint::name_program(command_line::NAME);
    // Without it an I/O error under a map ends the program with "Bus error" and no name. It can do without.
    let _ = disk::fault::install();
    let request = match command_line::parse(environment::arguments()) {
        Ok(request) => request,
        Err(error) => return exit::usage(&error),
    };
    let definitions = [command_line::definition, command_line::full_definition];
    let session = Session::new(&request.common, &environment::surroundings(), definitions);
    let result = request.command.run(&session);
    if let Err(error) = &result
        && !exit::is_closed_pipe(error)
    {
        remedy::complain_why(error);
    }
    exit::code(&result, signals::code(), |_| Meaning::Failure)
}
