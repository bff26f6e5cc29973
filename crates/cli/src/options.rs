//! The options that all commands take, before or after the command, and one for commands with long output.

use clap::Args;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use terminal::command_line::CommonOptions;
use terminal::screen::ColorChoice;

// Without a doc comment, which would become the help of every command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct Common {
    /// Directory of the index [default: $XDG_DATA_HOME/pneu, usually ~/.local/share/pneu]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// A directory that holds Maildirs. The index remembers it, so only the first index needs it. To index
    /// several directories, name each and repeat the option: --maildir work=DIR --maildir home=DIR. Default:
    /// the roots of the configuration, or else the Maildirs that are found
    #[arg(long, value_name = "[NAME=]DIR")]
    pub maildir: Vec<OsString>,
    /// Print only results and errors, without progress and summaries
    #[arg(long, short)]
    pub quiet: bool,
    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub color: Option<ColorChoice>,
}

/// Reads the number of an option that limits how much is listed.
///
/// # Errors
/// A sentence that says what can be written.
pub(crate) fn limit(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "write a number: 1 or more".to_owned())
}

/// Whether long output goes through a pager on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Paging {
    /// Do not use a pager
    #[arg(long)]
    pub no_pager: bool,
}

impl CommonOptions for Common {
    /// If both set a value, the later one counts. Maildirs of both are used.
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
