//! `pneu-tarantool merge`: merges segments.

use crate::open;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use store::MergeOptions;
use terminal::amount::count;
use terminal::command_line::Run;
use terminal::exit::Outcome;
use terminal::output;
use work::Workers;

/// Merge the segments of a store, until each space has one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool merge shop.store")]
pub(crate) struct Arguments {
    /// A store made by "pneu-tarantool load"
    #[arg(value_name = "STORE")]
    store: PathBuf,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        open::open_store(session, &self.store)?;
        let options =
            MergeOptions { holder: session.holder.clone(), seed: session.seed, ..MergeOptions::default() };
        let mut output = session.output();
        let mut merge_count = 0;
        let threads = Workers::new(session.thread_count);
        while let Some(report) = threads.run(|| store::merge_all(&session.disk, &self.store, &options))? {
            merge_count += 1;
            output.line(&format!(
                "{}: {} segments became one of {}, {}",
                report.table,
                report.segment_count,
                count(report.row_count.into(), "row"),
                count(report.file_bytes, "byte")
            ))?;
        }
        if merge_count == 0 && !session.is_quiet {
            output::complain("nothing to merge");
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}
