//! Continues a run: reads the results of earlier pieces, so that samples add up.
//!
//! Input: the directory of a run. Output: its series. Does not know what was measured.
//!
//! Pieces may be of different commits. Measurements with another commit, or with another version of a
//! program, replace earlier ones. Uncommitted changes never count as the same commit.

use crate::child::Sample;
use crate::report::Report;
use crate::series::Series;
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The fact with the measured commit.
const COMMIT: &str = "commit";

/// The suffix of a commit with uncommitted changes.
const DIRTY: &str = "-dirty";

/// Returns what is recorded for each series besides its samples.
pub fn series(report: &Report) -> String {
    let mut text = String::from("what\tgoal\tagainst\tnote\tcommit\tversion\n");
    let own = commit(report);
    for series in &report.series {
        let against = series.against.as_deref().unwrap_or_default();
        let commit = if series.commit.is_empty() { own } else { &series.commit };
        let note = series.note.replace(['\t', '\n'], " ");
        let version = version(report, &series.name);
        writeln!(text, "{}\t{}\t{against}\t{note}\t{commit}\t{version}", series.name, series.goal)
            .expect("writing to a string");
    }
    text
}

fn commit(report: &Report) -> &str {
    fact(report, COMMIT)
}

/// Returns the version of the program of a series, if it is recorded.
fn version<'a>(report: &'a Report, series: &str) -> &'a str {
    series.split_once(": ").map_or("", |(who, _)| fact(report, who))
}

fn fact<'a>(report: &'a Report, wanted: &str) -> &'a str {
    report.facts.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value)
}

/// Puts the results in the directory of a run into `report`, before its own. A run that does not exist yet
/// has none.
///
/// # Errors
/// If they cannot be parsed.
pub fn take(report: &mut Report, directory: &Path) -> Result<()> {
    if !directory.join("series.tsv").exists() {
        return Ok(());
    }
    let read = |name: &str| {
        let path = directory.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    for line in read("series.tsv")?.lines().skip(1) {
        let [name, goal, against, note, measured, of] = line.split('\t').collect::<Vec<_>>()[..] else {
            bail!("{} has a line of another kind: {line:?}", directory.join("series.tsv").display());
        };
        let mut series = Series::new(name, goal);
        series.against = (!against.is_empty()).then(|| against.to_owned());
        series.note = note.to_owned();
        let is_same = measured == commit(report) && of == version(report, name);
        if !is_same || measured.ends_with(DIRTY) {
            series.commit = measured.to_owned();
        }
        report.series.push(series);
    }
    for line in read("samples.tsv")?.lines().skip(1) {
        let (name, sample) = sample(line)
            .with_context(|| format!("{} has {line:?}", directory.join("samples.tsv").display()))?;
        let series = report.series.iter_mut().find(|series| series.name == name);
        series.with_context(|| format!("{name:?} is no series of this run"))?.samples.push(sample);
    }
    Ok(())
}

/// Returns all samples, one on each line.
pub fn samples(report: &Report) -> String {
    let mut text = String::from(
        "what\tround\twall_s\tuser_s\tsystem_s\tpeak_bytes\tminor_faults\tmajor_faults\tinputs\toutputs\tsize_bytes\tlines\t\
         output_bytes\tload_before\n",
    );
    for series in &report.series {
        for (round, sample) in series.samples.iter().enumerate() {
            let Sample { wall_seconds, user_seconds, system_seconds, .. } = sample;
            let counts = [
                sample.peak_bytes,
                sample.minor_faults,
                sample.major_faults,
                sample.inputs,
                sample.outputs,
                sample.size_bytes,
                sample.lines,
                sample.output_bytes,
            ];
            let counts = counts.map(|count| count.to_string()).join("\t");
            writeln!(
                text,
                "{}\t{round}\t{wall_seconds:.6}\t{user_seconds:.6}\t{system_seconds:.6}\t{counts}\t{:.2}",
                series.name, sample.load_before
            )
            .expect("writing to a string");
        }
    }
    text
}

fn sample(line: &str) -> Result<(&str, Sample)> {
    let [name, _, wall, user, system, ref counts @ .., load] = line.split('\t').collect::<Vec<_>>()[..]
    else {
        bail!("a line of another kind");
    };
    let [peak, minor, major, inputs, outputs, size, lines, output] = counts[..] else {
        bail!("a line with other fields");
    };
    let sample = Sample {
        wall_seconds: wall.parse()?,
        user_seconds: user.parse()?,
        system_seconds: system.parse()?,
        peak_bytes: peak.parse()?,
        minor_faults: minor.parse()?,
        major_faults: major.parse()?,
        inputs: inputs.parse()?,
        outputs: outputs.parse()?,
        size_bytes: size.parse()?,
        lines: lines.parse()?,
        output_bytes: output.parse()?,
        load_before: load.parse()?,
    };
    Ok((name, sample))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(commit: &str, wall_seconds: f64) -> Report {
        let mut series = Series::new("pass", "<= 1 s").against("walk");
        series.note = "a note".to_owned();
        series.samples = vec![Sample {
            wall_seconds,
            peak_bytes: 1,
            minor_faults: 2,
            major_faults: 3,
            inputs: 4,
            outputs: 5,
            size_bytes: 6,
            lines: 7,
            output_bytes: 8,
            load_before: 0.5,
            ..Sample::default()
        }];
        Report { facts: vec![(COMMIT, commit.to_owned())], series: vec![series], ..Report::default() }
    }

    #[test]
    fn samples_of_pieces_add_up() {
        let runs = tempfile::tempdir().unwrap();
        let directory = report("abc", 1.5).write(runs.path(), "run").unwrap();
        let mut second = Report { facts: vec![(COMMIT, "abc".to_owned())], ..Report::default() };
        take(&mut second, &directory).unwrap();
        assert_eq!(second.series[0].samples, report("abc", 1.5).series[0].samples);
        assert_eq!(second.series[0].note, "a note");
        second.add(report("abc", 2.5).series.remove(0));
        assert_eq!(second.series.len(), 1);
        let walls: Vec<f64> = second.series[0].samples.iter().map(|sample| sample.wall_seconds).collect();
        assert_eq!((walls, second.series[0].against.as_deref()), (vec![1.5, 2.5], Some("walk")));
        assert_eq!(second.series[0].goal, "<= 1 s");
    }

    #[test]
    fn another_version_and_what_is_not_committed_are_never_the_same() {
        let runs = tempfile::tempdir().unwrap();
        let with = |commit: &str, version: &str| {
            let mut report = report(commit, 1.5);
            report.series[0].name = "mu: pass".to_owned();
            report.facts.push(("mu", version.to_owned()));
            report
        };
        let count = |first: Report, mut second: Report| {
            let directory = first.write(runs.path(), "run").unwrap();
            let series = std::mem::take(&mut second.series);
            take(&mut second, &directory).unwrap();
            second.add_all(series);
            second.series[0].samples.len()
        };
        assert_eq!(count(with("abc", "1.8"), with("abc", "1.8")), 2);
        assert_eq!(count(with("abc", "1.8"), with("abc", "1.14")), 1);
        assert_eq!(count(with("abc-dirty", "1.8"), with("abc-dirty", "1.8")), 1);
    }

    #[test]
    fn what_is_measured_anew_with_another_commit_takes_the_place_of_the_old() {
        let runs = tempfile::tempdir().unwrap();
        let directory = report("abc", 1.5).write(runs.path(), "run").unwrap();
        let mut other = Report { facts: vec![(COMMIT, "def".to_owned())], ..Report::default() };
        take(&mut other, &directory).unwrap();
        assert!(other.markdown().contains("| a note; commit abc"), "{}", other.markdown());
        let directory = other.write(runs.path(), "run").unwrap();
        let mut again = Report { facts: vec![(COMMIT, "def".to_owned())], ..Report::default() };
        take(&mut again, &directory).unwrap();
        assert_eq!(again.series[0].commit, "abc");
        again.add(report("def", 2.5).series.remove(0));
        assert_eq!((again.series[0].samples.len(), again.series[0].commit.as_str()), (1, ""));
        take(&mut again, &runs.path().join("none")).unwrap();
    }
}
