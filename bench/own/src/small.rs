//! Very many small files: passes that find nothing to do, queries and listings at this size.
//!
//! Input: options. Output: series. Does not know how pneu does it.

use crate::{Options, Pneu, folder, modes, text};
use anyhow::Result;
use measure::{Report, Series, Trial, bytes_below, child, corpora, take_turns};
use testkit::corpus::CorpusOptions;

/// Measures everything about small files.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let corpus = CorpusOptions::small(options.small_messages, corpora::SEED);
    let maildir = corpora::kept(&options.corpora, "small", &corpus)?;
    let pneu = &Pneu::new(&options.program, &maildir);
    report.series.push(first_index(pneu)?);
    report.series.extend(text::nothing_changed(options.rounds, pneu, "small")?);
    report.series.extend(modes::measure(options, pneu, "small")?);
    report.series.extend(text::queries(options, pneu, &corpus, "small")?);
    let nothing = Series::new("opening, as it is, small", "<= 5 ms");
    let nothing = Trial::new(nothing, || Ok(pneu.command(&["count", "msgid:nothing@nowhere.example"])));
    report.series.extend(take_turns(options.query_rounds, vec![nothing])?);
    let folders =
        [("small, root folder", "maildir:/"), ("small, a fourteenth of it", "maildir:/archive/1/folder-1")];
    report.series.extend(folder::listings(options, pneu, folders)?);
    Ok(())
}

/// One first index, for its memory and its size on disk.
fn first_index(pneu: &Pneu) -> Result<Series> {
    pneu.forget()?;
    let mut series = Series::new("first index, small", "<= 1 GiB");
    series.samples.push(child::measure(&mut pneu.index())?);
    series.note = format!("{:.0} MB of index", bytes_below(pneu.data())? as f64 / 1e6);
    Ok(series)
}
