//! The options that all commands take, before or after the command.

use clap::Args;
use terminal::command_line::CommonOptions;

// Without a doc comment, which would become the help of every command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Options of all commands")]
pub(crate) struct Common {
    /// Print results and errors only: no progress, no summary
    #[arg(long, short)]
    pub quiet: bool,
}

impl CommonOptions for Common {
    fn then(self, later: Common) -> Common {
        Common { quiet: self.quiet || later.quiet }
    }
}
