//! The order of measurements.
//!
//! Input: options. Output: results on disk, written again after each part. Does not know what the parts
//! measure.

use crate::options::{Options, Part};
use crate::{actions, archive, engine, folder, serve, small, text, watch};
use anyhow::{Context, Result};
use measure::{Report, Table, machine, resume, say, starter};
use std::fs;

/// Measures one part and adds its series.
type MeasurePart = fn(&Options, &mut Report) -> Result<()>;

/// Measures the requested parts.
///
/// # Errors
/// If the program fails or gives a wrong answer.
pub fn measure(options: &Options) -> Result<()> {
    starter::start_through_own_program()?;
    fs::create_dir_all(&options.corpora)
        .with_context(|| format!("cannot make {}", options.corpora.display()))?;
    let machine = options.machine.clone().unwrap_or_else(machine::name);
    let name = format!("{}-{machine}-own", machine::today()?);
    let mut facts = machine::facts(&options.corpora)?;
    facts.push(("pneu", machine::output(&options.program.display().to_string(), &["--version"])?));
    let title = "A run of bench/own".to_owned();
    let mut report = Report { title, facts, tables: tables(options), ..Report::default() };
    if options.resume {
        resume::take(&mut report, &options.runs.join(&name))?;
    }
    let parts: [(Part, MeasurePart); 8] = [
        (Part::Text, text::measure),
        (Part::Folder, folder::measure),
        (Part::Small, small::measure),
        (Part::Engine, engine::measure),
        (Part::Archive, archive::measure),
        (Part::Actions, actions::measure),
        (Part::Watch, watch::measure),
        (Part::Serve, serve::measure),
    ];
    for (part, measure_part) in parts {
        if options.only.is_empty() || options.only.contains(&part) {
            say(&format!("== {part:?}"));
            measure_part(options, &mut report)?;
            report.set_fact("load after", machine::load());
            let directory = report.write(&options.runs, &name)?;
            say(&format!("written to {}", directory.display()));
        }
    }
    Ok(())
}

/// Returns the tables of the parts that have goals of their own for each size.
fn tables(options: &Options) -> Vec<Table> {
    let sizes = options.action_sizes();
    vec![actions::table(&sizes).with_floors_of_work(), watch::table(options.watched()), serve::table(&sizes)]
}
