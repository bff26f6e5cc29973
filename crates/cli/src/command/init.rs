//! `pneu init`: writes a configuration that says where the mail is, or adopts one that came with mail.

use crate::environment;
use crate::exit::Outcome;
use crate::sanitise::one_line;
use crate::session::Session;
use crate::setup::adopt;
use crate::setup::configuration_file;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use pneu::Root;
use pneu::setup::account::Account;
use pneu::setup::accounts;
use pneu::setup::addresses;
use pneu::setup::discover;
use pneu::setup::find_mail::{self, has_mail};
use pneu::setup::roots::check_on_disk;
use pneu::setup::template;
use pneu::setup::units;
use std::path::{Path, PathBuf};
use terminal::command_line::Run;

/// Write a configuration that says where the mail is
///
/// Lists the directories given with --maildir. Without --maildir, lists each directory with Maildirs among
/// $MAILDIR, ~/Maildir, ~/Mail, ~/mail, ~/.mail, ~/.local/share/mail and those that the configuration of
/// mbsync, notmuch, mu, mutt, neomutt and Dovecot names. Also lists your own addresses, taken from folders of
/// sent mail and from the configuration of notmuch, mutt, neomutt, msmtp, mbsync and git; and for each
/// directory its folders for trash, sent mail, drafts, archive and spam, who its mail is from, and the
/// account of msmtp that sends it. Folders are known by the channels of mbsync and by their usual names, also
/// in German, French, Spanish, Italian, Portuguese and Dutch. Comments in the file explain every key. An
/// existing configuration is never changed. A configuration is optional: "pneu index" finds and remembers the
/// same directories without one.
///
/// --systemd writes units for the systemd of the user: a service that follows the mail, and, if the
/// configuration names an archive, a service and a timer for a daily backup. It starts nothing, and says how
/// to start them.
///
/// --adopt installs a configuration from a backup, such as .pneu/config.toml of a restored snapshot. A
/// configuration may name commands, repositories and directories, and one that came with mail may have been
/// written by somebody else. So it is shown first, and installed only after you confirm.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu init
  pneu init --maildir work=/srv/mail --maildir home=$HOME/Maildir
  pneu init --systemd && systemctl --user enable --now pneu-index.service
  pneu init --adopt ~/restored/.pneu/config.toml")]
pub(crate) struct Arguments {
    /// Show this configuration and install it after confirmation
    #[arg(long, value_name = "FILE")]
    adopt: Option<PathBuf>,
    /// Write units that follow the mail and back it up every day
    #[arg(long, conflicts_with = "adopt")]
    systemd: bool,
    /// Install it without confirmation, for a configuration that you have already read
    #[arg(long, requires = "adopt")]
    yes: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no mail, another configuration, or no place for one; as [`adopt::adopt`].
    fn run(&self, session: &Session) -> Result<Outcome> {
        if let Some(path) = &self.adopt {
            return adopt::adopt(path, self.yes, session);
        }
        let path = session.configuration.as_deref();
        let path =
            path.ok_or_else(|| anyhow!("HOME is not set, so there is no place for a configuration"))?;
        if self.systemd {
            return units(path, session);
        }
        let roots = roots(session)?;
        // The file lies in a directory of its own below that of all configurations.
        let addresses = addresses::found(session.home.as_deref(), path.ancestors().nth(2), &roots);
        let accounts = accounts::found(session.home.as_deref(), path.ancestors().nth(2), &roots);
        let text = template::configuration((&roots, &accounts), &addresses, session.home.as_deref())?;
        let is_new = configuration_file::write(path, &text)?;
        let mut output = session.output();
        if !session.is_quiet {
            let done = if is_new { "was written" } else { "already exists" };
            output.line(&one_line(&format!("configuration {} {done}; it contains", path.display())))?;
            for root in &roots {
                output.line(&one_line(&format!("  {} {}", root.name, root.path.display())))?;
                for line in accounts.get(&root.name).into_iter().flat_map(said) {
                    output.line(&one_line(&format!("    {line}")))?;
                }
            }
            if !addresses.is_empty() {
                output.line("and as your addresses, from sent mail and other programs' configuration,")?;
            }
            for address in &addresses {
                output.line(&one_line(&format!("  {address}")))?;
            }
            output.line("next: pneu index")?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}

/// Returns what was found of an account, a line each.
fn said(Account { folders, from, sendmail }: &Account) -> Vec<String> {
    let folders = folders.iter().map(|(role, folder)| format!("{role}: {folder}"));
    let from = from.iter().map(|identity| format!("from: {identity}"));
    let sendmail = sendmail.iter().map(|command| format!("sendmail: {command}"));
    folders.chain(from).chain(sendmail).collect()
}

/// Writes the units of systemd, and says how to start them.
///
/// # Errors
/// There are other units of these names; a path cannot stand in a unit.
fn units(configuration: &Path, session: &Session) -> Result<Outcome> {
    let program = environment::program().context("cannot find out where this program is")?;
    let configurations = configuration.ancestors().nth(2).unwrap_or(configuration);
    let places = units::Places { program: &program, data: &session.environment.data, configurations };
    let mut wanted = units::index(places)?.to_vec();
    let mut started = vec!["pneu-index.service"];
    if session.configured()?.archive.is_some() {
        wanted.extend(units::backup(places)?);
        started.push("pneu-backup.timer");
    }
    let directory = configurations.join("systemd/user");
    let mut output = session.output();
    for unit in &wanted {
        let path = directory.join(unit.name);
        let is_new = configuration_file::write_as("unit", &path, &unit.text)?;
        if !session.is_quiet {
            let done = if is_new { "was written" } else { "already exists" };
            output.line(&one_line(&format!("unit {} {done}", path.display())))?;
        }
    }
    if !session.is_quiet {
        output.line(&format!("next: systemctl --user enable --now {}", started.join(" ")))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// Returns the roots of the command line, or else all places that hold mail.
fn roots(session: &Session) -> Result<Vec<Root>> {
    if !session.given_roots.is_empty() {
        let roots: Vec<Root> = session.given_roots.iter().map(|given| given.root.clone()).collect();
        for root in &roots {
            if !has_mail(&root.path) {
                bail!(
                    "{} holds no Maildir (a directory with \"cur\" and \"new\"), at any depth; \
                     name another directory with --maildir",
                    root.path.display()
                );
            }
        }
        check_on_disk(&roots)?;
        return Ok(roots);
    }
    let found = find_mail::find(&session.whereabouts);
    if found.mail.is_empty() {
        bail!("there is no Maildir in {}; say where it is: pneu init --maildir DIR", found.looked());
    }
    Ok(discover::roots(&found.mail))
}
