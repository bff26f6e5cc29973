//! `pneu init`: writes a configuration that says where the mail is.

use crate::config;
use crate::exit::Outcome;
use crate::sanitise::one_line;
use crate::session::Session;
use crate::template;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use index::Root;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where mail mostly is, below the home directory.
const PLACES: [&str; 5] = ["Maildir", "Mail", "mail", ".mail", ".local/share/mail"];

/// Write a configuration that says where the mail is
///
/// Asks nothing. Names the directories of --maildir, or the first of $MAILDIR, ~/Maildir, ~/Mail, ~/mail, ~/.mail and
/// ~/.local/share/mail that holds Maildirs. Every key is explained in the file. One that is there already is never changed. You can
/// do without: "pneu index --maildir DIR" remembers DIR as well.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu init
  pneu init --maildir work=/srv/mail --maildir home=$HOME/Maildir")]
pub(crate) struct Arguments {}

/// Runs the command.
///
/// # Errors
/// There is no mail, another configuration, or no place for one.
pub(crate) fn run(_: &Arguments, session: &Session) -> Result<Outcome> {
    let path = session.configuration.as_deref();
    let path =
        path.ok_or_else(|| anyhow!("HOME is not set, so that there is no place for a configuration"))?;
    let roots = roots(session)?;
    let text = template::configuration(&roots, session.home.as_deref()).map_err(|what| anyhow!(what))?;
    let is_new = write(path, &text)?;
    let mut output = session.output();
    if !session.is_quiet {
        let done = if is_new { "written" } else { "there already" };
        output.line(&one_line(&format!("configuration {} is {done}; it names", path.display())))?;
        for root in &roots {
            output.line(&one_line(&format!("  {} {}", root.name, root.path.display())))?;
        }
        output.line("next: pneu index")?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// Returns the roots of the command line, or else the first place that holds mail.
fn roots(session: &Session) -> Result<Vec<Root>> {
    if !session.given_roots.is_empty() {
        for root in &session.given_roots {
            if !has_mail(&root.path) {
                bail!(
                    "{} holds no Maildir: a directory with \"cur\" and \"new\" in it, at any depth",
                    root.path.display()
                );
            }
        }
        return Ok(session.given_roots.clone());
    }
    let below_home = session.home.iter().flat_map(|home| PLACES.map(|place| home.join(place)));
    let places: Vec<PathBuf> = session.maildir.iter().cloned().chain(below_home).collect();
    match places.iter().find(|place| has_mail(place)) {
        Some(place) => Ok(vec![Root { name: "mail".to_owned(), path: place.clone() }]),
        None => {
            let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
            bail!("there is no Maildir in {}; say where it is: pneu init --maildir DIR", looked.join(", "))
        }
    }
}

fn has_mail(path: &Path) -> bool {
    mail::find_folders(path).is_ok_and(|found| !found.folders.is_empty())
}

/// Writes the file, if there is none. Returns whether it is new.
///
/// # Errors
/// Another one is there; it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<bool> {
    let shown = path.display();
    if let Some(directory) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.with_context(|| format!("cannot make {}", directory.display()))?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            let written = file.write_all(text.as_bytes());
            if written.is_err() {
                // Half of it would be a configuration too, and never be changed.
                let _ = std::fs::remove_file(path);
            }
            written.map(|()| true).map_err(|error| anyhow!("cannot write {shown}: {error}"))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if config::read(path).with_context(|| format!("cannot read {shown}"))? == text {
                return Ok(false);
            }
            bail!("the configuration {shown} is there already and says something else; it was not changed")
        }
        Err(error) => Err(anyhow!("cannot write {shown}: {error}")),
    }
}
