//! `pneu extract`: lists the parts of a message, and saves them.

use crate::archive::repository::LockOptions;
use crate::command::view;
use crate::exit::Outcome;
use crate::output;
use crate::sanitise::one_line;
use crate::search::locate;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use mail::{MessageParts, PartRole};
use pneu::{Besides, Choice, NumberList, PartError, PartInfo, Saved, file_names, save_part};
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use terminal::command_line::Run;
use terminal::signals;
use work::Cancel;

/// List or save the parts of a message
///
/// Without an option that chooses parts, lists all parts: number, size of the decoded content in bytes, MIME
/// type, and name. Parts of attached messages and of signed parts (S/MIME) have numbers, too. Otherwise saves
/// the chosen parts, and prints the path of each.
///
/// A file gets the name that the message gives to the part, without directories and without characters that
/// are harmful in names. The second of two equal names gets a number. No existing file is replaced.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu extract id:1234@example.org
  pneu extract --attachments --to ~/Downloads id:1234@example.org
  pneu extract --part 2,4-6 from:ana subject:photos
  pneu extract --name '*.pdf' id:1234@example.org
  pneu extract --type 'image/*' --to pictures id:1234@example.org
  pneu extract --part 2 --to - id:1234@example.org | pdftotext - -

Exit code 3: done, but a part was not saved, or its encoding is damaged. Each such part is reported.")]
pub(crate) struct Arguments {
    /// The message: a path, id: and a Message-ID, a prefix of a SHA-256, a query that matches exactly one
    /// message, or - for standard input
    #[arg(value_name = "MESSAGE", required = true)]
    message: Vec<OsString>,
    /// Save the parts with these numbers, such as 2 or 2,4-6
    #[arg(long, short = 'p', alias = "parts", value_name = "NUMBERS")]
    part: Vec<NumberList>,
    /// Save the parts whose names match PATTERN: * stands for any characters, ? for one; case is ignored
    #[arg(long, value_name = "PATTERN")]
    name: Vec<String>,
    /// Save the parts whose MIME types match PATTERN
    #[arg(long = "type", value_name = "PATTERN")]
    kind: Vec<String>,
    /// Save all attachments, including pictures in HTML
    #[arg(long, short = 'a', alias = "save-attachments")]
    attachments: bool,
    /// Save all parts, including text and attached messages
    #[arg(long, alias = "save-all", conflicts_with = "attachments")]
    all: bool,
    /// Save into DIR, which must exist [default: the current directory]. With -, print the only chosen part
    #[arg(long, alias = "target-dir", value_name = "DIR")]
    to: Option<PathBuf>,
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
    #[command(flatten)]
    lock: LockOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One part per line, or the path of one saved file
    Plain,
    /// JSON Lines
    Json,
}

/// A line of JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    number: usize,
    depth: usize,
    mime: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    subject: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    role: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    damaged: bool,
    file_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

/// Problems of a message that say that a part may not be what was sent, besides those of what was cut.
const PROBLEMS_OF_PARTS: [&str; 4] =
    ["multipart-unclosed", "transfer-unknown", "transfer-damaged", "smime-damaged"];

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such message, or it cannot be read; no part matches; nothing could be saved.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if self.choice().is_empty() && self.to.is_some() {
            bail!("say which parts: add --attachments, --all, --part, --name or --type");
        }
        let names = locate::joined(&self.message, session);
        let [name] = names.as_slice() else { bail!("give one message; these are {}", names.len()) };
        let located = view::one(name, self.lock, session)?;
        if let Some(note) = located.note.as_ref().filter(|_| !session.is_quiet) {
            output::complain(note);
        }
        if located.content.truncated {
            bail!("the message is too large to be read whole; its parts cannot be saved");
        }
        located.with_parts(|parts| self.take(parts, session))?
    }
}

impl Arguments {
    fn choice(&self) -> Choice {
        let besides = match (self.all, self.attachments) {
            (true, _) => Besides::All,
            (_, true) => Besides::Attachments,
            _ => Besides::Nothing,
        };
        Choice { numbers: self.part.clone(), names: self.name.clone(), types: self.kind.clone(), besides }
    }

    /// Lists or saves parts.
    fn take(&self, parts: &mut MessageParts<'_>, session: &Session) -> Result<Outcome> {
        let list = parts.list()?;
        let names = file_names(&list);
        let mut read = Outcome::Done;
        let concerns_parts = |kind: &str| kind.starts_with("cut") || PROBLEMS_OF_PARTS.contains(&kind);
        for problem in parts.problems().iter().filter(|problem| concerns_parts(problem.kind())) {
            output::complain(problem);
            read = Outcome::Partly;
        }
        let choice = self.choice();
        if choice.is_empty() {
            let mut output = session.output();
            for (part, name) in list.iter().zip(&names) {
                output.bytes(&self.line(part, name, None))?;
            }
            output.finish()?;
            return Ok(read);
        }
        if let Some(number) = choice.missing(&list) {
            return Err(view::no_part(number, list.len()));
        }
        let chosen = choice.of(&list);
        let saved = match (chosen.as_slice(), self.to.as_deref()) {
            ([], _) => return session.nothing("no part matches"),
            ([part], Some(to)) if to == Path::new("-") => {
                let mut output = session.output();
                let written = view::write_content(parts, part.number, &mut output)?;
                output.finish()?;
                view::ending(written, part.number)?
            }
            (several, Some(to)) if to == Path::new("-") => {
                bail!("--to - prints one part; {} match", several.len())
            }
            (_, to) => self.save(parts, (&chosen, &names), to.unwrap_or(Path::new(".")), session)?,
        };
        Ok(if saved == Outcome::Done { read } else { saved })
    }

    /// Saves parts into a directory. Reports those that are not saved, and fails if none is.
    fn save(
        &self,
        parts: &mut MessageParts<'_>,
        (chosen, names): (&[&PartInfo], &[String]),
        directory: &Path,
        session: &Session,
    ) -> Result<Outcome> {
        // Until here a signal ends the process at once; from here on it must not leave half a file.
        signals::listen()?;
        let cancel = Cancel::when(signals::is_interrupted);
        let mut output = session.output();
        let (mut outcome, mut failures) = (Outcome::Done, Vec::new());
        for part in chosen {
            let name = names.get(part.number - 1).map_or("", String::as_str);
            match save_part(parts, part.number, (directory, name), &cancel) {
                Ok(Saved { path, is_damaged }) => {
                    output.bytes(&self.line(part, name, Some(&path)))?;
                    if is_damaged {
                        let what = "its encoding is damaged; this is what could be decoded";
                        output::complain_of(path.display(), what);
                        outcome = Outcome::Partly;
                    }
                }
                Err(PartError::Cancelled) => {
                    output.finish()?;
                    return Ok(Outcome::Interrupted);
                }
                Err(error) => failures.push(error),
            }
        }
        output.finish()?;
        if failures.len() == chosen.len()
            && let Some(last) = failures.pop()
        {
            failures.iter().for_each(|error| output::complain(one_line(&error.to_string())));
            return Err(last.into());
        }
        failures.iter().for_each(|error| output::complain(one_line(&error.to_string())));
        Ok(if failures.is_empty() { outcome } else { Outcome::Partly })
    }

    fn line(&self, part: &PartInfo, file_name: &str, path: Option<&Path>) -> Vec<u8> {
        match (self.format, path) {
            (Format::Json, _) => json(part, file_name, path),
            (Format::Plain, Some(path)) => {
                format!("{}\n", one_line(&path.display().to_string())).into_bytes()
            }
            (Format::Plain, None) => plain(part).into_bytes(),
        }
    }
}

/// Returns a part as a line: number, size, type, name. A part inside another one is indented.
fn plain(part: &PartInfo) -> String {
    let size = part.size_bytes.map_or("?".to_owned(), |size| size.to_string());
    let mime = format!("{}{}", "  ".repeat(part.depth), one_line(&part.mime));
    let name = if part.name.is_empty() { &part.subject } else { &part.name };
    let line = format!("{:>3} {size:>10} {mime:<32} {}", part.number, one_line(name));
    format!("{}\n", line.trim_end())
}

fn json(part: &PartInfo, file_name: &str, path: Option<&Path>) -> Vec<u8> {
    let line = Line {
        version: render::VERSION,
        kind: "part",
        number: part.number,
        depth: part.depth,
        mime: &part.mime,
        name: &part.name,
        subject: &part.subject,
        size: part.size_bytes,
        role: match part.role {
            PartRole::Content => "content",
            PartRole::Embedded => "embedded",
            PartRole::Attached => "attachment",
        },
        damaged: part.is_damaged,
        file_name,
        path: path.map(|path| path.to_string_lossy().into_owned()),
    };
    let mut out = Vec::new();
    render::json_line_of(&line, &mut out);
    out
}
