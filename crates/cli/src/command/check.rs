//! `pneu check`: looks for damage in the index.

use crate::exit::Outcome;
use crate::output;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use index::{Damage, Depth, Remedy, Repair};
use pneu::Root;
use terminal::command_line::Run;

/// Check the index for damage
///
/// Checks that everything opens and that all tables agree with each other. With --deep, also checks every
/// checksum, key and record. Prints a line for each damaged file. Changes nothing unless --repair is given.
///
/// The index can always be rebuilt from your mail. --repair rebuilds it if any part is damaged, or if
/// config.toml lists a header that the index lacks, or if the index has the text of encrypted messages and
/// config.toml does not say "decrypt = true". The new index replaces the old one once it is complete.
/// Tags and saved queries are stored separately, in two copies, and survive: --repair restores a damaged copy
/// from the other. If both copies are damaged, only a backup has them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu check
  pneu check --deep
  pneu check --repair")]
pub(crate) struct Arguments {
    /// Read every byte
    #[arg(long)]
    deep: bool,
    /// Read every byte, and rebuild the index if it is damaged or not as configured
    #[arg(long)]
    repair: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index, or it cannot even be opened.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if self.repair {
            return repair(session);
        }
        let depth = if self.deep { Depth::Deep } else { Depth::Quick };
        let damages = session.with_any_host(|host| host.check(depth))?;
        if damages.is_empty() {
            // Reports roots that are not indexed.
            session.view()?;
        }
        tell(&damages, if self.deep { SOUND } else { SOUND_SO_FAR }, session)?;
        if damages.iter().any(is_older) {
            let directory = session.environment.index_directory();
            output::complain(format!(
                "the index in {} is not damaged, but of an older version: \"pneu index\" makes it anew",
                directory.display()
            ));
        }
        for (remedy, directory) in [
            (Repair::Rebuild, session.environment.index_directory()),
            (Repair::Copy, session.environment.user_directory()),
        ] {
            if damages.iter().any(|damage| damage.repair == remedy && !is_older(damage)) {
                output::complain(format!("{} is damaged: run \"pneu check --repair\"", directory.display()));
            }
        }
        complain_of_user(&damages, session);
        complain_of_backups(&damages);
        if self.deep {
            tell_strangers(session)?;
        }
        Ok(if damages.is_empty() { Outcome::Done } else { Outcome::Damaged })
    }
}

/// The message after every byte was read.
const SOUND: &str = "no damage found";
/// The message after a check that does not read every byte.
const SOUND_SO_FAR: &str = "no damage found; --deep reads every byte";

/// Prints what is damaged, or this message if nothing is.
fn tell(damages: &[Damage], sound: &str, session: &Session) -> Result<()> {
    let mut output = session.output();
    for damage in damages.iter().filter(|damage| damage.repair != Repair::AsSaid) {
        let file = damage.file.display().to_string();
        // Most sentences begin with the file.
        let what = remedy::sentence(&damage.what, damage.remedy);
        let line = if what.starts_with(&file) { what } else { format!("{file}: {what}") };
        output.line(&one_line(&line))?;
    }
    if damages.is_empty() && !session.is_quiet {
        output.line(sound)?;
    }
    output.finish()
}

/// Reports which files of the data directory do not belong to pneu.
fn tell_strangers(session: &Session) -> Result<()> {
    for path in index::strangers(&session.environment)? {
        output::complain(one_line(&format!("{} is not a file of pneu; it was left alone", path.display())));
    }
    Ok(())
}

/// Reports what the next backup rebuilds.
fn complain_of_backups(damages: &[Damage]) {
    if wants(damages, Repair::NextBackup) {
        output::complain(
            "the cache of earlier backups is damaged; the next \"pneu archive backup\" rebuilds it",
        );
    }
}

/// Reports damage that neither a new index nor a second copy can repair.
fn complain_of_user(damages: &[Damage], session: &Session) {
    for damage in damages.iter().filter(|damage| damage.repair == Repair::AsSaid) {
        output::complain(remedy::sentence(&damage.what, damage.remedy));
    }
    if wants(damages, Repair::Backup) {
        let directory = session.environment.user_directory();
        output::complain(format!(
            "both copies of the tags and saved queries in {} are damaged: restore them from a backup",
            directory.display()
        ));
    }
}

/// Returns whether it is no damage, but an index of an older version.
fn is_older(damage: &Damage) -> bool {
    damage.remedy == Some(Remedy::UpgradeIndex)
}

fn wants(damages: &[Damage], repair: Repair) -> bool {
    damages.iter().any(|damage| damage.repair == repair)
}

/// Checks, repairs the user's data from its second copy, and rebuilds the index if it is damaged, lacks a
/// header of the configuration or has decrypted text without it.
fn repair(session: &Session) -> Result<Outcome> {
    let mut damages = session.with_any_host(|host| host.check(Depth::Deep))?;
    tell(&damages, SOUND, session)?;
    if let Some(after) = session.with_any_host(|host| host.repair_user(&damages))? {
        if after.is_user_sound && !session.is_quiet {
            let directory = session.environment.user_directory();
            output::complain(format!("{} was repaired from its second copy", directory.display()));
        }
        damages = after.damages;
    }
    let outcome = if wants(&damages, Repair::Rebuild) {
        let remembered = index::remembered_roots(&session.environment).unwrap_or_default();
        super::index::rebuild(session, &roots_of(session, &remembered)?)?
    } else {
        as_configured(session)?
    };
    complain_of_user(&damages, session);
    complain_of_backups(&damages);
    Ok(if damages.iter().all(|damage| damage.repair == Repair::Rebuild) || outcome == Outcome::Interrupted {
        outcome
    } else {
        Outcome::Damaged
    })
}

/// Rebuilds an intact index if it lacks a header of the configuration, or has decrypted text without it.
fn as_configured(session: &Session) -> Result<Outcome> {
    let view = session.host()?.open_view()?;
    let missing = view.mailbox().missing_headers(&session.configured()?.headers);
    let has_unwanted = session.host()?.has_unwanted_text()?;
    if missing.is_empty() && !has_unwanted {
        return Ok(Outcome::Done);
    }
    if !session.is_quiet {
        if has_unwanted {
            output::complain("reading all mail again to leave out the text of encrypted messages");
        }
        if !missing.is_empty() {
            output::complain(format!("reading all mail again to index the headers {}", missing.join(", ")));
        }
    }
    super::index::rebuild(session, &roots_of(session, view.roots())?)
}

/// Returns the roots to index: those that the index remembers; if that cannot be read, those of the
/// configuration and the command line.
fn roots_of(session: &Session, remembered: &[Root]) -> Result<Vec<Root>> {
    let roots = session.host()?.roots_to_rebuild(remembered, &session.given_roots)?;
    if roots.is_empty() {
        bail!(
            "the index is too damaged to tell where your mail is; name the directory: pneu check --repair \
             --maildir DIR"
        );
    }
    Ok(roots)
}
