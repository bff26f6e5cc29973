//! `pneu init`: writes a configuration that says where the mail is, or adopts one that came with mail.

use crate::addresses;
use crate::adopt;
use crate::configuration_file;
use crate::discover;
use crate::exit::Outcome;
use crate::finding::{self, has_mail};
use crate::sanitise::one_line;
use crate::session::Session;
use crate::template;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use index::Root;
use std::path::PathBuf;

/// Write a configuration that says where the mail is
///
/// Names the directories of --maildir, or all that hold Maildirs of $MAILDIR, ~/Maildir, ~/Mail, ~/mail,
/// ~/.mail, ~/.local/share/mail and what the configuration of mbsync, notmuch, mu, mutt, neomutt and Dovecot
/// names. Names your own addresses, too, as far as folders of sent mail and the configuration of notmuch,
/// mutt, neomutt, msmtp, mbsync and git tell them. Every key is explained in the file. One that is there
/// already is never changed. You can do without: "pneu index" finds and remembers the same directories.
///
/// --adopt takes a configuration that a backup has, as in .pneu/config.toml of a restored snapshot. It may
/// name commands, repositories and directories, and mail from somebody else may bring one along: so it is
/// shown, and taken when you say yes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu init
  pneu init --maildir work=/srv/mail --maildir home=$HOME/Maildir
  pneu init --adopt ~/restored/.pneu/config.toml")]
pub(crate) struct Arguments {
    /// Show this configuration, ask, and make it yours
    #[arg(long, value_name = "FILE")]
    adopt: Option<PathBuf>,
    /// Ask nothing: it was read before
    #[arg(long, requires = "adopt")]
    yes: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no mail, another configuration, or no place for one; as [`adopt::adopt`].
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    if let Some(path) = &arguments.adopt {
        return adopt::adopt(path, arguments.yes, session);
    }
    let path = session.configuration.as_deref();
    let path =
        path.ok_or_else(|| anyhow!("HOME is not set, so that there is no place for a configuration"))?;
    let roots = roots(session)?;
    // The file lies in a directory of its own below that of all configurations.
    let addresses = addresses::found(session.home.as_deref(), path.ancestors().nth(2), &roots);
    let text = template::configuration(&roots, &addresses, session.home.as_deref());
    let text = text.map_err(|what| anyhow!(what))?;
    let is_new = configuration_file::write(path, &text)?;
    let mut output = session.output();
    if !session.is_quiet {
        let done = if is_new { "written" } else { "there already" };
        output.line(&one_line(&format!("configuration {} is {done}; it names", path.display())))?;
        for root in &roots {
            output.line(&one_line(&format!("  {} {}", root.name, root.path.display())))?;
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

/// Returns the roots of the command line, or else all places that hold mail.
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
    let found = finding::find(&session.whereabouts);
    if found.mail.is_empty() {
        bail!("there is no Maildir in {}; say where it is: pneu init --maildir DIR", found.looked());
    }
    Ok(discover::roots(&found.mail))
}
