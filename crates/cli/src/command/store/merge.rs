//! `pneu store merge`: makes one segment of many.

use super::open;
use crate::amount::count;
use crate::exit::Outcome;
use crate::output;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use store::MergeOptions;

/// Merge the segments of a store, until each space has one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu store merge shop.store")]
pub(crate) struct Arguments {
    /// A store that "pneu store load" made
    #[arg(value_name = "STORE")]
    store: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// There is no store, somebody else merges it, it is damaged or cannot be written.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    open::store(session, &arguments.store)?;
    let options = MergeOptions {
        holder: session.index.holder.clone(),
        seed: session.index.seed,
        ..MergeOptions::default()
    };
    let mut output = session.output();
    let mut merge_count = 0;
    while let Some(report) = store::merge_all(&session.index.disk, &arguments.store, &options)? {
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
