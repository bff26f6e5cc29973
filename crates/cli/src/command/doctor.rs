//! `pneu doctor`: looks at what may go wrong unnoticed, and says what to do.

use crate::amount::{count, people};
use crate::archive::repository::{RepositoryOptions, local_snapshots};
use crate::exit::Outcome;
use crate::sanitise::one_line;
use crate::search::question::sentences;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use pneu::setup::roles::Role;
use pneu::{Finding, RuleFault};
use render::json_line_of;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use terminal::command_line::Run;
use terminal::complaint::said_of;

/// Look for what needs attention
///
/// Checks that the configuration is valid, that its rules can match and no folder has two roles, that the
/// index opens and is not far behind the mail, that all roots are there with the folders that the
/// configuration names, that disks have space, that mail can be read, that no folder has duplicate files,
/// that the system lets pneu watch all folders, that no systemd timer of pneu failed, and that the last
/// backup is recent. Prints a line for each, with what to do. Changes nothing.
///
/// The age of backups is known for a repository in a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu doctor
  pneu doctor --quiet || notify-send 'pneu doctor found something to do'
  pneu doctor --format json

Exit code: 0 if all is well, 1 if there is something to do. --quiet prints only what there is to do.")]
pub(crate) struct Arguments {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for each check
    Plain,
    /// One JSON object per line
    Json,
}

/// A finding in words.
struct Worded {
    /// What it is about.
    subject: &'static str,
    what: String,
    /// What to do, if it is not well.
    advice: String,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The index cannot be read.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let snapshots = local_snapshots(&RepositoryOptions::default(), session);
        let newest =
            snapshots.iter().filter_map(|(_, path)| seconds(path.metadata().ok()?.modified().ok()?)).max();
        // Snapshots are in a directory of the repository.
        let archive = snapshots.first().and_then(|(_, path)| Some(path.parent()?.parent()?.to_owned()));
        let backup = archive.is_some().then_some(newest);
        let wrong = session.host().err();
        let findings = session.with_any_host(|host| host.examine(backup, archive.as_deref()))?;
        let mut output = session.output();
        let mut is_well = true;
        // What it says of roots, roles and rules is not known then; all else is looked at.
        let configuration = wrong.map(|error| {
            let (what, advice) = (format!("{error:#}"), "correct it; the rest is looked at without it");
            (false, Worded { subject: "configuration", what, advice: advice.to_owned() })
        });
        let worded = findings.iter().map(|finding| (finding.is_well(), worded(finding)));
        for (is_ok, Worded { subject, what, advice }) in configuration.into_iter().chain(worded) {
            is_well &= is_ok;
            if is_ok && session.is_quiet {
                continue;
            }
            match self.format {
                Format::Plain if is_ok => output.line(&one_line(&format!("ok    {subject}: {what}")))?,
                Format::Plain => output.line(&one_line(&format!("todo  {subject}: {what}; {advice}")))?,
                Format::Json => {
                    let advice = (!is_ok).then_some(advice);
                    let line = json!({
                        "version": 1, "type": "finding", "subject": subject, "ok": is_ok, "text": what,
                        "advice": advice,
                    });
                    let mut bytes = Vec::new();
                    json_line_of(&line, &mut bytes);
                    output.bytes(&bytes)?;
                }
            }
        }
        output.finish()?;
        Ok(if is_well { Outcome::Done } else { Outcome::Nothing })
    }
}

fn seconds(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs()).ok()
}

fn worded(finding: &Finding) -> Worded {
    let told = |subject, what: String, advice: &str| Worded { subject, what, advice: advice.to_owned() };
    match finding {
        Finding::NoIndex => told("index", "there is none yet".into(), "run \"pneu index\""),
        Finding::WrongRoots(error) => {
            told("roots", error.to_string(), "correct the [[root]] of the configuration")
        }
        Finding::OutdatedIndex => {
            told("index", "it has an older version".into(), "run \"pneu index\", which rebuilds it")
        }
        Finding::Damage(0) => told("index", "no damage found".into(), ""),
        Finding::Damage(parts) => {
            told("index", format!("{} damaged", count(*parts, "part")), "run \"pneu check\" for details")
        }
        Finding::Behind { folder_count: 0, index_seconds, .. } => {
            told("index", format!("up to date; written {} ago", age(*index_seconds)), "")
        }
        Finding::Behind { folder_count, seconds, .. } => {
            let folders = count(*folder_count, "folder");
            let what = format!("{folders} changed since the last index, the first {} ago", age(*seconds));
            told("index", what, "run \"pneu index\", and let a timer run it")
        }
        Finding::MissingRoots(missing) if missing.is_empty() => {
            told("roots", "all directories of mail are there".into(), "")
        }
        Finding::Roles { root, found, missing, shared } => roles(root, found, missing, shared),
        Finding::Rules { rule_count, wrong } if wrong.is_empty() => {
            told("rules", format!("{} can be followed", count(*rule_count as u64, "rule")), "")
        }
        Finding::Rules { wrong, .. } => {
            let list: Vec<String> = wrong.iter().map(|(number, fault)| rule(*number, fault)).collect();
            told("rules", list.join("; "), "correct the [[rule]] of the configuration")
        }
        Finding::MissingRoots(missing) => told(
            "roots",
            format!("not there: {}", paths(missing)),
            "mount the disk, or correct the configuration",
        ),
        Finding::Space { path, free_bytes, wanted_bytes } => space(path, *free_bytes, *wanted_bytes),
        Finding::Unreadable(files) if files.is_empty() => {
            told("mail", "every file of mail can be read".into(), "")
        }
        Finding::Unreadable(files) => {
            let list: Vec<String> =
                files.iter().map(|(path, why)| said_of(&path.to_string_lossy(), why)).collect();
            told("mail", list.join(", "), "correct the rights of files, or restore them from a backup")
        }
        Finding::Duplicates { file_count: 0, .. } => {
            told("duplicates", "no folder has the same message twice".into(), "")
        }
        Finding::Duplicates { file_count, folders } => {
            let what = format!("{} in excess, in {}", count(*file_count, "file"), paths(folders));
            told("duplicates", what, "look at them: pneu dedupe --dry-run FOLDER")
        }
        Finding::Watches { directory_count, limit } => {
            let what = format!("{directory_count} directories of mail, {limit} may be watched");
            told("watches", what, "raise fs.inotify.max_user_watches with sysctl")
        }
        Finding::Timers(failed) if failed.is_empty() => {
            told("timers", "no unit of pneu failed in systemd".into(), "")
        }
        Finding::Timers(failed) => {
            told("timers", format!("failed: {}", failed.join(", ")), "see why: journalctl --user --unit NAME")
        }
        Finding::Backup(None) => told("backup", "there is none yet".into(), "run \"pneu archive backup\""),
        Finding::Backup(Some(seconds)) => {
            let what = format!("the newest is {} old", age(*seconds));
            told("backup", what, "run \"pneu archive backup\", and let a timer run it")
        }
    }
}

fn space(path: &Path, free_bytes: u64, wanted_bytes: u64) -> Worded {
    let (free, wanted) = (people(free_bytes), people(wanted_bytes));
    Worded {
        subject: "space",
        what: format!("{free} free for {}", path.display()),
        advice: format!("free space: at least {wanted} are needed"),
    }
}

/// Returns what is wrong with a rule.
fn rule(number: usize, fault: &RuleFault) -> String {
    match fault {
        RuleFault::Query(what) => format!("rule {number}: {what}"),
        RuleFault::Unmatched(hints) => format!("rule {number} matches nothing: {}", sentences(hints)),
    }
}

fn roles(root: &str, found: &[(Role, PathBuf)], missing: &[(Role, String)], shared: &[[Role; 2]]) -> Worded {
    let (what, advice) = match (found.is_empty(), missing.is_empty()) {
        (_, false) => {
            let list: Vec<String> =
                missing.iter().map(|(role, name)| format!("{role} = \"{name}\"")).collect();
            let advice = "correct the configuration, or create it with \"pneu mkdir\"";
            (format!("not there: {}", list.join(", ")), advice)
        }
        (_, true) if !shared.is_empty() => {
            let list: Vec<String> = shared.iter().map(|[one, other]| format!("{one} and {other}")).collect();
            let advice = "name another folder for one of them in the configuration";
            (format!("the same folder is {}", list.join(", ")), advice)
        }
        (true, true) => ("none has a role".to_owned(), ""),
        (false, true) => {
            let list: Vec<String> =
                found.iter().map(|(role, path)| format!("{role} is {}", path.display())).collect();
            (list.join(", "), "")
        }
    };
    Worded { subject: "folders", what: format!("{root}: {what}"), advice: advice.to_owned() }
}

/// Returns paths as a list.
fn paths(list: &[PathBuf]) -> String {
    list.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns an age in the largest unit that fits.
fn age(seconds: i64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length).unwrap_or((1, "second"));
    count(u64::try_from(seconds / unit.0).unwrap_or_default(), unit.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        for (seconds, expected) in
            [(0, "0 seconds"), (1, "1 second"), (60, "1 minute"), (7_199, "1 hour"), (200_000, "2 days")]
        {
            assert_eq!(age(seconds), expected);
        }
    }
}
