//! The modes of a pass: lazy, thorough, without cleanup, with the slow cleanup.
//!
//! Input: options, an index in step with its mail. Output: series. Does not know how pneu does it.

use crate::{Options, Pneu};
use anyhow::Result;
use measure::changes::Flagged;
use measure::walk::Look;
use measure::{Series, Trial, take_turns};

/// Measures passes that find nothing to do, and passes after one file of the largest folder was touched.
pub(crate) fn measure(options: &Options, pneu: &Pneu, name: &str) -> Result<Vec<Series>> {
    let mut series = nothing_changed(options, pneu, name)?;
    series.extend(one_touched(options, pneu, name)?);
    Ok(series)
}

fn nothing_changed(options: &Options, pneu: &Pneu, name: &str) -> Result<Vec<Series>> {
    let walk = format!("bare walk, {name}, getdents64 and statx, threads: 2, beside the modes");
    let pass = |mode: &str, goal| Series::new(&format!("index {mode}, nothing changed, {name}"), goal);
    let index = |mode: &'static str| move || Ok(pneu.index_with(&[mode]));
    let trials = vec![
        Trial::new(Series::new(&walk, ""), || pneu.walk(2, Look::Stats)),
        Trial::new(pass("--lazy", "<= 20 ms"), index("--lazy")),
        Trial::new(pass("--thorough", "<= 1.2 x of the walk with statx").against(&walk), index("--thorough")),
        Trial::new(pass("--legacy-cleanup", "").against(&walk), index("--legacy-cleanup")),
    ];
    take_turns(options.rounds, trials)
}

/// A file of the root's folder, which is the largest, changes its flags before each pass. With and without
/// cleanup take turns: what cleanup costs is the difference of their CPU times.
fn one_touched(options: &Options, pneu: &Pneu, name: &str) -> Result<Vec<Series>> {
    let flagged = std::cell::RefCell::new(Flagged::choose(&pneu.maildir().join("cur"), 1)?);
    let trial = |modes: &'static [&'static str], goal, against: Option<&str>| {
        let series = Series::new(&touched(modes, name), goal);
        let series = if let Some(other) = against { series.against(other) } else { series };
        let flagged = &flagged;
        Trial::new(series, move || {
            flagged.borrow_mut().toggle()?;
            Ok(pneu.index_with(modes))
        })
    };
    let trials = vec![
        trial(
            &["--lazy"],
            "<= 0.35 s; cleanup <= 2 % of CPU",
            Some(&touched(&["--lazy", "--no-cleanup"], name)),
        ),
        trial(&["--lazy", "--no-cleanup"], "", None),
        trial(&[], "cleanup <= 2 % of CPU", Some(&touched(&["--no-cleanup"], name))),
        trial(&["--no-cleanup"], "", None),
    ];
    // Each round makes four changes that cancel each other.
    take_turns(options.rounds, trials)
}

fn touched(modes: &[&str], name: &str) -> String {
    format!("index {}, one file of the largest folder touched, {name}", modes.join(" "))
        .replace("index ,", "index,")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_named_by_its_modes() {
        assert_eq!(touched(&["--lazy"], "x"), "index --lazy, one file of the largest folder touched, x");
        assert_eq!(touched(&[], "x"), "index, one file of the largest folder touched, x");
    }
}
