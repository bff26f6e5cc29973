//! One run: finds the programs, measures the tables, writes the results.
//!
//! Input: options. Output: results on disk, written again after each piece. Does not know what tables
//! measure.

use crate::bench::Bench;
use crate::options::Options;
use crate::peer::Installed;
use crate::tables::index::real::RealMail;
use crate::{peers, tables};
use anyhow::{Context, Result, anyhow, bail};
use measure::{Report, machine, resume, say, starter};
use std::fs;
use std::time::Instant;

/// Measures the requested tables. A table that fails does not prevent the others.
///
/// # Errors
/// If a table failed.
pub(crate) fn measure(options: &Options) -> Result<()> {
    starter::start_through_own_program()?;
    let mail = options.measured_mail().map(RealMail::look).transpose()?;
    if let Some(mail) = &mail {
        mail.excludes(&options.corpora)?;
        mail.excludes(&options.runs)?;
    }
    fs::create_dir_all(&options.corpora)
        .with_context(|| format!("cannot make {}", options.corpora.display()))?;
    let machine = options.machine.clone().unwrap_or_else(machine::name);
    let real = mail.as_ref().map(RealMail::run_suffix).unwrap_or_default();
    let quick = if options.quick { "-quick" } else { "" };
    let name = format!("{}-{machine}{real}{quick}", machine::today()?);
    let mut report = Report {
        title: "pneu beside others".to_owned(),
        facts: machine::facts(&options.corpora)?,
        tables: tables::all(options),
        ..Report::default()
    };
    if options.quick {
        report.set_fact("sizes", "--quick: small, and few rounds".to_owned());
    }
    let found = look_for_all(options, &mut report)?;
    if options.resume {
        resume::take(&mut report, &options.runs.join(&name))?;
    }
    let mut bench = Bench { options, report, found, mail, name };
    let mut failed = Vec::new();
    for part in tables::parts(options) {
        say(&format!("== {part:?}"));
        let begin = Instant::now();
        if let Err(error) = tables::measure(part, &mut bench) {
            say(&format!("{part:?} failed: {error:#}"));
            failed.push(format!("{part:?}: {error:#}"));
            bench.report.set_fact("failed", failed.join("; "));
        }
        say(&format!("{part:?} took {:.0} s", begin.elapsed().as_secs_f64()));
        bench.save()?;
        say(&format!("written to {}", options.runs.join(&bench.name).display()));
    }
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("; ")) }
}

/// Looks for all programs, and records in the report what was found.
fn look_for_all(options: &Options, report: &mut Report) -> Result<Vec<(&'static str, Installed)>> {
    report.set_fact("pneu", machine::output(&options.program.display().to_string(), &["--version"])?);
    let is_known = |name: &&String| peers::ALL.iter().any(|peer| peer.name.eq_ignore_ascii_case(name));
    if let Some(unknown) = options.without.iter().find(|name| !is_known(name)) {
        let all = peers::ALL.map(|peer| peer.name).join(", ");
        bail!("--without {unknown}: there is no such program; there are {all}");
    }
    let mut found = Vec::new();
    for peer in peers::ALL {
        let is_left_out = options.without.iter().any(|name| peer.name.eq_ignore_ascii_case(name));
        match if is_left_out { Err(anyhow!("left out by --without")) } else { peer.find() } {
            Ok(installed) => {
                report.set_fact(peer.name, installed.version.clone());
                found.push((peer.name, installed));
            }
            Err(error) => {
                say(&format!("{}: {error:#}", peer.name));
                report.set_fact(peer.name, format!("a dash in every row: {error:#}"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn programs_are_left_out_by_name() {
        let look = |without: &str| {
            let arguments = ["bench-peers", "--program=true", &format!("--without={without}")];
            let options = Arguments::parse_from(arguments).options;
            let mut report = Report::default();
            look_for_all(&options, &mut report).map(|found| (found, report))
        };
        let all = "mu,notmuch,mairix,neomutt,mutt,Dovecot,restic,Tarantool";
        let (found, report) = look(all).unwrap();
        assert!(found.is_empty(), "{found:?}");
        let fact = report.facts.iter().find(|(name, _)| *name == "mu").unwrap();
        assert_eq!(fact.1, "a dash in every row: left out by --without");
        let (found, report) = look("MU,dovecot").unwrap();
        assert!(!found.iter().any(|(name, _)| *name == "mu"));
        assert_eq!(report.facts.iter().filter(|(_, value)| value.ends_with("by --without")).count(), 2);
        let error = look("mu,nomutt").unwrap_err();
        assert!(error.to_string().starts_with("--without nomutt: there is no such program; there are mu,"));
    }
}
