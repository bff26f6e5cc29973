//! What every command works with: the disk, the terminal, and what the store's writers need.
//!
//! Made of the options of all commands and the surroundings of the process. It does not know any command.

use crate::options::Common;
use anyhow::Result;
use disk::{Disk, RealDisk};
use std::sync::Arc;
use terminal::environment::{self, Surroundings};
use terminal::exit::{NotFound, Outcome};
use terminal::output::Output;
use terminal::progress::AmountProgress;
use terminal::screen::{ColorChoice, Terminal};

/// What a command works with.
pub(crate) struct Session {
    /// Where files are.
    pub disk: Arc<dyn Disk>,
    /// The name under which this process locks stores.
    pub holder: String,
    /// A number that no other process has.
    pub seed: u64,
    /// How many threads may work.
    pub thread_count: usize,
    /// Whether to print results and errors only.
    pub is_quiet: bool,
    /// Returns the definition of the command line as help shows it.
    pub definition: fn() -> clap::Command,
    /// Whether there is a user to ask.
    pub can_ask: bool,
    terminal: Terminal,
    stderr_is_terminal: bool,
}

impl Session {
    /// Makes it of the options, the surroundings and the definition of the command line as help shows it.
    pub(crate) fn new(
        common: &Common,
        surroundings: &Surroundings,
        definition: fn() -> clap::Command,
    ) -> Session {
        Session {
            disk: Arc::new(RealDisk),
            holder: format!("pneu-tarantool, process {}", std::process::id()),
            seed: environment::seed(),
            thread_count: environment::threads().count(),
            is_quiet: common.quiet,
            definition,
            can_ask: surroundings.stdin_is_terminal && surroundings.stderr_is_terminal,
            terminal: Terminal::new(surroundings.columns, surroundings.no_color, ColorChoice::Auto),
            stderr_is_terminal: surroundings.stderr_is_terminal,
        }
    }

    /// Ends a command that found nothing, with a sentence unless only results are wanted.
    ///
    /// # Errors
    /// The sentence.
    pub(crate) fn nothing_found(&self) -> Result<Outcome> {
        if self.is_quiet { Ok(Outcome::Nothing) } else { Err(NotFound("nothing found".to_owned()).into()) }
    }

    /// Takes standard output.
    pub(crate) fn output(&self) -> Output {
        Output::new(self.terminal)
    }

    /// Begins to show progress of work of a known amount, on a terminal and unless only results are wanted.
    pub(crate) fn progress(&self, what: &'static str, amount: u64) -> AmountProgress {
        AmountProgress::start(self.stderr_is_terminal && !self.is_quiet, what, amount)
    }
}
