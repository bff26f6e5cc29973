//! `pneu-tarantool repair`: repairs a directory, so that Tarantool starts from it.

use crate::open::{self, Content};
use crate::recovery::{lost_lines, read_line};
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use printable::sanitise::one_line;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tarantool::PlanOptions;
use tarantool::repair::{Repair, Step, examine};
use terminal::command_line::Run;
use terminal::confirm::confirm;
use terminal::environment;
use terminal::exit::Outcome;
use terminal::output::{self, Output};

/// Repair a directory, so that Tarantool starts from it
///
/// First shows the plan: which files change, at which bytes, what is lost, and what stays. Then asks.
///
/// A torn end of the last log is cut off. If blocks, rows or files are damaged or missing, all sound rows are
/// written as a new snapshot, and the files that Tarantool would read instead get the ending ".damaged"; they
/// are kept. The new snapshot is complete before anything else changes. A crash leaves the old files, or the
/// repaired ones, or a directory that the same command repairs.
///
/// --into leaves DIR alone, and writes a snapshot with all sound rows into another directory. Otherwise the
/// command is refused while Tarantool runs in DIR.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool repair /var/lib/tarantool/shop
  pneu-tarantool repair /var/lib/tarantool/shop --into repaired/
  pneu-tarantool repair /var/lib/tarantool/shop --yes --format json

Exit codes: 0 nothing to repair, or repaired without loss; 2 not repaired; 3 repaired, but something
is lost.")]
pub(crate) struct Arguments {
    /// The directory with the snapshots
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Where the logs are, if not in DIR
    #[arg(long, value_name = "DIR")]
    wal: Option<PathBuf>,
    /// Where the log and the runs of vinyl are, if not in DIR
    #[arg(long, value_name = "DIR")]
    vinyl_dir: Option<PathBuf>,
    /// Leave DIR alone; write a snapshot into this directory, which must not have files of Tarantool
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// text is for people; json is an object on each line
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        if open::content(session, &self.directory)? == Content::Store {
            bail!("{} has no files of Tarantool", self.directory.display());
        }
        let logs = self.wal.as_deref().unwrap_or(&self.directory);
        let _alone = match &self.into {
            Some(into) => {
                self.refuse_used(session, into)?;
                None
            }
            None => Some(open::lock_directory(logs)?),
        };
        let options = PlanOptions {
            log_directory: self.wal.clone(),
            vinyl_directory: self.vinyl_dir.clone(),
            checked: Some(open::read_ahead(session, &self.directory, logs, "looking for damage")?),
            ..PlanOptions::default()
        };
        let progress = session.progress("reading", 0);
        let examined =
            examine(session.disk.as_ref(), &self.directory, &options, session.thread_count, &progress);
        progress.finish();
        let mut repair = examined?;
        if self.into.is_some() {
            repair.check_startable()?;
        }
        let mut lost = lost_lines(&repair.plan, &repair.recovered);
        if self.into.is_none() && !repair.is_rewritten() {
            // What was not read, such as rows of vinyl, stays where it is.
            repair.plan.remarks.append(&mut lost);
        }
        let mut output = session.output();
        let mut report = Report { form: self.format, output: &mut output };
        self.tell_plan(&repair, &lost, &mut report)?;
        if repair.is_sound() && self.into.is_none() {
            report.put("nothing", "to repair", json!({"step": "nothing"}))?;
            output.finish()?;
            return Ok(Outcome::Done);
        }
        output.flush()?;
        self.check_vinyl(&repair)?;
        self.ask(session)?;
        self.carry_out(session, &repair)?;
        let mut report = Report { form: self.format, output: &mut output };
        let target = self.into.as_ref().unwrap_or(&self.directory).display().to_string();
        report.put("repaired", &target, json!({"step": "done", "directory": target}))?;
        output.finish()?;
        Ok(if lost.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}

impl Arguments {
    fn refuse_used(&self, session: &Session, into: &Path) -> Result<()> {
        if into.is_dir() && open::content(session, into)? == Content::Tarantool {
            bail!("{} holds files of Tarantool already: name another directory", into.display());
        }
        Ok(())
    }

    fn tell_plan(&self, repair: &Repair, lost: &[String], report: &mut Report) -> Result<()> {
        if let Some(refused) = &repair.refused {
            let what = refused.to_string();
            report.put("refused", &what, json!({"step": "refused", "what": what}))?;
        }
        for remark in repair.plan.remarks.iter().chain(&repair.recovered.remarks) {
            report.put("remark", remark, json!({"step": "remark", "what": remark}))?;
        }
        match &self.into {
            Some(into) => {
                let path = into.display().to_string();
                report.put(
                    "write",
                    &format!("a snapshot into {path}"),
                    json!({"step": "write", "file": path}),
                )?;
            }
            None => {
                for step in &repair.steps {
                    let (word, text, object) = told(step);
                    report.put(word, &text, object)?;
                }
            }
        }
        for line in lost {
            report.put("lost", line, json!({"step": "lost", "what": line}))?;
        }
        let stays = read_line(&repair.plan, &repair.recovered);
        let rows = repair.recovered.row_count();
        report.put("stays", &stays, json!({"step": "stays", "rows": rows, "what": stays}))
    }

    /// Refuses to set files aside that belong to rows of vinyl, which stay where they are.
    fn check_vinyl(&self, repair: &Repair) -> Result<()> {
        if repair.has_vinyl && repair.is_rewritten() && self.into.is_none() {
            bail!(
                "{} has spaces of vinyl, whose rows are in files of their own, and a new snapshot would not \
                 match them; use --into to write all rows into another directory, as rows of memtx",
                self.directory.display()
            );
        }
        Ok(())
    }

    /// Asks the user.
    fn ask(&self, session: &Session) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        if !session.can_ask {
            bail!("nothing was changed: there is no terminal to ask at; use --yes to repair");
        }
        let question = match &self.into {
            Some(into) => format!("Write a snapshot into {}?", into.display()),
            None => format!("Repair {}?", self.directory.display()),
        };
        if !confirm(&question)? {
            bail!("nothing was changed");
        }
        Ok(())
    }

    fn carry_out(&self, session: &Session, repair: &Repair) -> Result<()> {
        let seconds = environment::clock_ns() as f64 / 1e9;
        let progress = session.progress("writing rows", repair.recovered.row_count());
        let done = match &self.into {
            None => repair.carry_out(&session.disk, seconds, &progress),
            Some(into) => {
                session.disk.create_directory(into)?;
                let exported = repair.write_into(&session.disk, into, seconds, &progress);
                exported.map(|exported| exported.remarks)
            }
        };
        progress.finish();
        done?.iter().for_each(output::complain);
        Ok(())
    }
}

/// Where the report goes.
struct Report<'a> {
    form: Form,
    output: &'a mut Output,
}

impl Report<'_> {
    fn put(&mut self, word: &str, text: &str, object: Value) -> Result<()> {
        match self.form {
            Form::Text => self.output.line(&one_line(&format!("{word:<8} {text}"))),
            Form::Json => {
                let mut bytes = Vec::new();
                printable::json::put(&object, &mut bytes);
                bytes.push(b'\n');
                self.output.bytes(&bytes)
            }
        }
    }
}

/// Returns what is said of a step: a word, text, and an object.
fn told(step: &Step) -> (&'static str, String, Value) {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    match step {
        Step::Cut(torn) => (
            "cut",
            open::torn_line(torn),
            json!({"step": "cut", "file": text(&torn.path), "first_byte": torn.keep_bytes,
                "last_byte": torn.length_bytes.saturating_sub(1), "what": torn.what}),
        ),
        Step::Remove(torn) => (
            "remove",
            format!("{}, which has no rows: {}", torn.path.display(), torn.what),
            json!({"step": "remove", "file": text(&torn.path), "what": torn.what}),
        ),
        Step::Keep { path, copy } => (
            "keep",
            format!("{} as {}", path.display(), copy.display()),
            json!({"step": "keep", "file": text(path), "copy": text(copy)}),
        ),
        Step::Write { path } => {
            ("write", path.display().to_string(), json!({"step": "write", "file": text(path)}))
        }
        Step::SetAside { path, aside } => (
            "aside",
            format!("{} becomes {}", path.display(), aside.display()),
            json!({"step": "set_aside", "file": text(path), "as": text(aside)}),
        ),
    }
}
