//! A large folder and one a tenth of it: all headers by date, and the newest 50.
//!
//! Input: options. Output: series. Does not know how pneu does it.

use crate::{Options, Pneu};
use anyhow::Result;
use measure::{Report, Series, Trial, child, corpora, take_turns};

/// Measures both folders.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let maildir = corpora::kept_folders(&options.corpora, &options.text()?)?;
    let pneu = &Pneu::new(&options.program, &maildir);
    child::measure(&mut pneu.index())?;
    let folders = [("the whole folder", "maildir:/Large"), ("a tenth of it", "maildir:/Middle")];
    report.series.extend(listings(options, pneu, folders)?);
    Ok(())
}

/// Lists two folders whole, and the newest 50 of each.
pub(crate) fn listings(
    options: &Options,
    pneu: &Pneu,
    folders: [(&str, &'static str); 2],
) -> Result<Vec<Series>> {
    let mut trials = Vec::new();
    for (size, query) in folders {
        let all = Series::new(&format!("all headers by date, {size}"), "<= 0.25 s for 200,000");
        trials.push(Trial::new(all, move || Ok(pneu.command(&["find", query, "--sort", "date"]))));
        let newest = Series::new(&format!("newest 50, {size}"), "<= 10 ms, memory as with any size");
        let newest =
            Trial::new(newest, move || Ok(pneu.command(&["find", query, "--sort", "date", "--max", "50"])));
        trials.push(newest.printing(50));
    }
    let mut series = take_turns(options.query_rounds, trials)?;
    for series in series.iter_mut().filter(|series| series.name.starts_with("all")) {
        if let Some(sample) = series.samples.last() {
            series.note = format!("{} lines", sample.lines);
        }
    }
    Ok(series)
}
