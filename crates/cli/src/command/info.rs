//! `pneu info`: shows where the index and the mail are, and how much there is.

use crate::amount::people;
use crate::exit::Outcome;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::{Error, Query, Root, View};
use std::path::Path;
use terminal::command_line::Run;

/// Show where the index and the mail are, and how much there is
///
/// "messages" counts every message that has at least one file. "without copies" is the number that "pneu
/// count" prints and "pneu find" lists: messages that differ only in transport headers count once. Absent
/// messages have no file any more, and neither number includes them.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The index is damaged or newer; the configuration cannot be read.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let mut lines = vec![
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("index format", index::format::STATE_VERSION.to_string()),
            ("data", session.environment.data.display().to_string()),
        ];
        if let Some(path) = &session.configuration {
            let note = if path.exists() { "" } else { " (does not exist)" };
            lines.push(("configuration", format!("{}{note}", path.display())));
        }
        lines.extend(session.configured()?.roots.iter().map(|root| ("configured root", shown(root))));
        match session.view() {
            Ok(view) => lines.extend(contents(&view, session)?),
            Err(error)
                if matches!(error.downcast_ref(), Some(Error::Index(index::Error::NoIndex { .. }))) =>
            {
                lines.push(("index", "none yet; run \"pneu index\"".to_owned()));
            }
            Err(error) => return Err(error),
        }
        let columns = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut output = session.output();
        for (name, value) in &lines {
            output.line(&format!("{name:columns$}  {}", one_line(value)))?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}

fn contents(view: &View, session: &Session) -> Result<Vec<(&'static str, String)>> {
    let counts = view.counts()?;
    let mut lines: Vec<_> = view.roots().iter().map(|root| ("root", shown(root))).collect();
    lines.extend([
        ("messages", counts.messages.to_string()),
        ("without copies", view.count(&Query::All)?.to_string()),
        ("absent messages", counts.absent.to_string()),
        ("files", counts.files.to_string()),
        ("folders", counts.folders.to_string()),
        ("segments", counts.store_segments.to_string()),
        ("text segments", counts.text_segments.to_string()),
        ("journal rows", counts.journal_rows.to_string()),
        ("index size", people(size(session, &session.environment.index_directory()))),
        ("text size", people(size(session, &session.environment.text_directory()))),
    ]);
    Ok(lines)
}

fn shown(root: &Root) -> String {
    format!("{} {}", root.name, root.path.display())
}

/// Returns the bytes of the files in a directory, without subdirectories. A file that is removed meanwhile
/// counts as 0.
pub(crate) fn size(session: &Session, directory: &Path) -> u64 {
    let names = session.environment.disk.list(directory).unwrap_or_default();
    let metadata = names.iter().filter_map(|name| std::fs::metadata(directory.join(name)).ok());
    metadata.filter(std::fs::Metadata::is_file).map(|metadata| metadata.len()).sum()
}
