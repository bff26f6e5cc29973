//! The commands, one a file: each reads its arguments, calls the library, prints.

pub(crate) mod archive;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod contacts;
pub(crate) mod count;
pub(crate) mod find;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod query;
pub(crate) mod store;
pub(crate) mod sweep;
pub(crate) mod tag;
pub(crate) mod undelete;
pub(crate) mod view;

use crate::args::Command;
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;

/// Runs a command.
///
/// # Errors
/// What it could not do.
pub(crate) fn run(command: Command, session: &Session) -> Result<Outcome> {
    match command {
        Command::Init(arguments) => init::run(&arguments, session),
        Command::Index(arguments) => index::run(&arguments, session),
        Command::Find(arguments) => find::run(&arguments, session),
        Command::Count(arguments) => count::run(&arguments, session),
        Command::View(arguments) => view::run(&arguments, session),
        Command::Contacts(arguments) => contacts::run(&arguments, session),
        Command::Tag(arguments) => tag::run(&arguments, session),
        Command::Query(arguments) => query::run(&arguments, session),
        Command::Info(arguments) => info::run(&arguments, session),
        Command::Sweep(arguments) => sweep::run(&arguments, session),
        Command::Undelete(arguments) => undelete::run(&arguments, session),
        Command::Archive(action) => archive::run(&action, session),
        Command::Store(action) => store::run(&action, session),
        Command::Check(arguments) => check::run(&arguments, session),
        Command::Completions(arguments) => completions::run(&arguments, session),
        Command::Man(arguments) => man::run(&arguments, session),
    }
}
