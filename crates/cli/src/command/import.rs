//! `pneu import`: brings in mail that other programs keep in files of their own.

use crate::amount::count;
use crate::command::deliver::flags;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use pneu::{Flags, ImportCounts, MailImportOptions, MailImported, MailInput};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::io::Read;
use std::path::{Path, PathBuf};
use terminal::command_line::Run;
use terminal::signals;

/// Import mbox files, MH folders and message files
///
/// Stores the messages of other programs in a folder, and indexes them. A FILE is an mbox of any program,
/// such as that of Google Takeout, or a single message, compressed or not; "-" is standard input. A
/// directory is searched for mail: mbox files with the folders of a Thunderbird profile, MH folders,
/// Maildirs, files that end in ".eml". What is in its directories goes into folders below FOLDER. Links are
/// not followed.
///
/// Each message is stored byte for byte, without the quotes of an mbox. Flags are kept: those of Thunderbird,
/// "Status", MH sequences and Gmail. Labels of Gmail and Thunderbird become tags. Messages that Thunderbird
/// has deleted are left out. The flags of a file in a Maildir or an MH folder are those of its name or its
/// folder; what is written in it does not count. The file of a message has the time when it came. Folders
/// that the index has are left out.
///
/// A message that the folder has already, with the same bytes, is not stored again. Neither is one that
/// differs only in what mail programs note about it: "Status", the fields of Thunderbird, Gmail's labels. Its
/// tags are added to the message that is there, whose flags stay. So an import that was stopped or killed can
/// be repeated: it adds what is missing. Ctrl-C keeps what was done so far. "pneu undo" takes the
/// messages of an import away again, and its tags.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu import --create gmail 'Takeout/Mail/All mail Including Spam and Trash.mbox'
  pneu import --create thunderbird ~/.thunderbird/x1y2z3.default/Mail
  pneu import --dry-run archive old.mbox.gz
  pneu import --create --flat archive ~/mh ~/exported-eml
  zcat list.mbox.gz | pneu import --create lists/old -

Exit code 3: done, but some input could not be read. Each is reported.")]
pub(crate) struct Arguments {
    /// Create the folder if it does not exist. Folders below it are always created
    #[arg(long)]
    create: bool,
    /// Put all messages into the folder itself, and none below it
    #[arg(long)]
    flat: bool,
    /// Flags that all messages get, such as S (seen), besides those that are noted
    #[arg(long, value_name = "LETTERS", value_parser = flags)]
    flags: Option<Flags>,
    /// Tag all messages; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// How the mbox files keep lines that begin with "From " apart. "auto" believes a Content-Length that is
    /// right, and else reads mboxrd
    #[arg(long, value_enum, default_value_t, value_name = "DIALECT")]
    dialect: Dialect,
    /// Leave out messages that any folder of the index has, not only FOLDER
    #[arg(long)]
    skip_known: bool,
    /// Read everything and say what would be imported, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// The folder: its name, such as archive/2019, or its path
    #[arg(value_name = "FOLDER")]
    folder: String,
    /// Files or directories to import; "-" for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// The dialects of mbox files, by their names on the command line.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Dialect {
    #[default]
    Auto,
    Mboxo,
    Mboxrd,
    Mboxcl,
    Mboxcl2,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such folder; a file is not there; the disk cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let options = MailImportOptions {
            creates_folder: self.create,
            is_flat: self.flat,
            flags: self.flags.unwrap_or_default(),
            tags: self.tag.iter().cloned().collect(),
            dialect: self.dialect.into(),
            skips_known: self.skip_known,
            is_dry: self.dry_run,
        };
        signals::survive_file_size_limit()?;
        let inputs = self.files.iter().map(|file| input(file)).collect();
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        let result = session.host()?.import_mail(inputs, &self.folder, &options, &progress);
        progress.finish();
        let imported = match result {
            Err(pneu::Error::Cancelled) => MailImported { is_interrupted: true, ..MailImported::default() },
            other => other?,
        };
        self.tell(&imported, session)
    }
}

impl Arguments {
    fn tell(&self, imported: &MailImported, session: &Session) -> Result<Outcome> {
        for problem in &imported.problems {
            output::complain_of(problem.path.display(), &problem.why);
        }
        if let Some(error) = &imported.unfinished {
            output::complain(format!("the messages are stored, but not all are indexed and tagged: {error}"));
            output::complain("run the same command again for the rest");
        }
        let total = imported.total();
        if total.all() == 0 && imported.problems.is_empty() && !imported.is_interrupted {
            return session.nothing("there is no mail in it");
        }
        let is_whole = imported.problems.is_empty() && imported.unfinished.is_none();
        let mut outcome = if is_whole { Outcome::Done } else { Outcome::Partly };
        if !session.is_quiet {
            outcome = self.print(imported, session, outcome)?;
        }
        if imported.other_count > 0 {
            let others = count(imported.other_count, "file");
            output::complain(format!(
                "{others} of the directories are no mail that is known, and were left out"
            ));
        }
        if imported.is_interrupted {
            output::complain(INTERRUPTED);
            return Ok(Outcome::Interrupted);
        }
        Ok(outcome)
    }

    /// Prints what was imported into each folder. Returns the outcome.
    fn print(&self, imported: &MailImported, session: &Session, outcome: Outcome) -> Result<Outcome> {
        let lines = imported.folders.iter().map(|folder| {
            let line = format!("{}: {}", folder.path.display(), self.counted(folder.counts));
            one_line(&line).into_owned()
        });
        let total = self.counted(imported.total());
        let sum = (imported.folders.len() > 1).then(|| format!("in all: {total}"));
        let lines: Vec<String> = lines.chain(sum).collect();
        let mut output = session.output();
        if self.dry_run {
            lines.iter().try_for_each(|line| output.line(line))?;
            output.finish()?;
            return Ok(outcome);
        }
        Ok(output.conclude_lines(&lines, Some(&total), outcome))
    }

    fn counted(&self, counts: ImportCounts) -> String {
        let verb = if self.dry_run { "would be imported" } else { "imported" };
        let mut line = format!("{} {verb}", count(counts.imported, "message"));
        if counts.present > 0 {
            line += &format!(", {} there already", counts.present);
        }
        if counts.deleted > 0 {
            line += &format!(", {} deleted left out", counts.deleted);
        }
        line
    }
}

/// The message after an interrupted import.
const INTERRUPTED: &str =
    "interrupted; what was stored so far is kept; run the same command again for the rest";

/// Standard input. A signal ends a read that waits, which the system would go on with.
struct Input;

/// How often a read that waits looks for a signal, which may come just before it waits.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let stdin = std::io::stdin();
        loop {
            let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
            match rustix::event::poll(&mut ready, Some(&LOOK)) {
                Ok(0) | Err(Errno::INTR) if signals::is_interrupted() => {
                    return Err(std::io::Error::other("interrupted"));
                }
                Ok(0) | Err(Errno::INTR) => {}
                // The read says what is wrong.
                Ok(_) | Err(_) => return Ok(rustix::io::read(&stdin, &mut *buffer)?),
            }
        }
    }
}

fn input(file: &Path) -> MailInput {
    match file.to_str() {
        Some("-") => MailInput::Stream(Box::new(Input), PathBuf::from("standard input")),
        _ => MailInput::Path(file.to_owned()),
    }
}

impl From<Dialect> for pneu::Dialect {
    fn from(dialect: Dialect) -> pneu::Dialect {
        match dialect {
            Dialect::Auto => pneu::Dialect::Any,
            Dialect::Mboxo => pneu::Dialect::Mboxo,
            Dialect::Mboxrd => pneu::Dialect::Mboxrd,
            Dialect::Mboxcl => pneu::Dialect::Mboxcl,
            Dialect::Mboxcl2 => pneu::Dialect::Mboxcl2,
        }
    }
}
