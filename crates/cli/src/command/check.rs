//! `pneu check`: looks for damage in the index.

use crate::exit::Outcome;
use crate::output;
use crate::roots;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use index::{Damage, Depth, Mailbox, Remedy, Root};

/// Look for damage in the index
///
/// Checks that everything opens and that all tables agree with each other; with --deep also every checksum, every key and every
/// record. Prints a line for each file that is damaged. Writes nothing, unless --repair is given.
///
/// An index is made from your mail and can be made again: --repair does so if anything of it is damaged, or if config.toml names a
/// header that it was made without, beside the old index, which it replaces when the new one is whole. Tags and saved queries are kept
/// elsewhere, twice, and stay: --repair mends each copy from the other. What is damaged in both, only a backup brings back.
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
    /// Read every byte, and make the index anew if any is damaged or a header is missing
    #[arg(long)]
    repair: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no index, or it cannot even be opened.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    if arguments.repair {
        return repair(session);
    }
    let damages = index::diagnose(&session.index, if arguments.deep { Depth::Deep } else { Depth::Quick })?;
    if damages.is_empty() {
        // For its sentence about roots that are not indexed.
        session.mailbox()?;
    }
    tell(&damages, if arguments.deep { SOUND } else { SOUND_SO_FAR }, session)?;
    for (remedy, directory) in
        [(Remedy::Rebuild, session.index.index_directory()), (Remedy::Copy, session.index.user_directory())]
    {
        if wants(&damages, remedy) {
            output::complain(format!("{} is damaged: run \"pneu check --repair\"", directory.display()));
        }
    }
    complain_of_user(&damages, session);
    complain_of_backups(&damages);
    if arguments.deep {
        tell_strangers(session)?;
    }
    Ok(if damages.is_empty() { Outcome::Done } else { Outcome::Damaged })
}

/// Said when every byte was read.
const SOUND: &str = "no damage found";
/// Said when not every byte was.
const SOUND_SO_FAR: &str = "no damage found; --deep reads every byte";

/// Prints what is damaged, or this sentence if nothing is.
fn tell(damages: &[Damage], sound: &str, session: &Session) -> Result<()> {
    let mut output = session.output();
    for damage in damages.iter().filter(|damage| damage.remedy != Remedy::AsSaid) {
        let file = damage.file.display().to_string();
        // Most sentences begin with the file.
        let line =
            if damage.what.starts_with(&file) { &damage.what } else { &format!("{file}: {}", damage.what) };
        output.line(&one_line(line))?;
    }
    if damages.is_empty() && !session.is_quiet {
        output.line(sound)?;
    }
    output.finish()
}

/// Says which files of the data directory are none of ours.
fn tell_strangers(session: &Session) -> Result<()> {
    for path in index::strangers(&session.index)? {
        output::complain(one_line(&format!("{} is no file of pneu, and left alone", path.display())));
    }
    Ok(())
}

/// Says what the next backup makes again.
fn complain_of_backups(damages: &[Damage]) {
    if wants(damages, Remedy::NextBackup) {
        output::complain(
            "what is known of backups is damaged: the next \"pneu archive backup\" makes it anew",
        );
    }
}

/// Says what no new index and no second copy would mend.
fn complain_of_user(damages: &[Damage], session: &Session) {
    for damage in damages.iter().filter(|damage| damage.remedy == Remedy::AsSaid) {
        output::complain(&damage.what);
    }
    if wants(damages, Remedy::Backup) {
        let directory = session.index.user_directory();
        output::complain(format!(
            "what you said in {} is damaged in both copies and cannot be made again: put it back from a backup",
            directory.display()
        ));
    }
}

fn wants(damages: &[Damage], remedy: Remedy) -> bool {
    damages.iter().any(|damage| damage.remedy == remedy)
}

/// Checks, mends what was said from its second copy, and makes the index anew if it is damaged, or was made without a header of the
/// configuration.
fn repair(session: &Session) -> Result<Outcome> {
    let mut damages = index::diagnose(&session.index, Depth::Deep)?;
    tell(&damages, SOUND, session)?;
    if wants(&damages, Remedy::Copy) || wants(&damages, Remedy::Backup) {
        damages = mend_user(damages, session)?;
    }
    let outcome = if wants(&damages, Remedy::Rebuild) {
        let remembered = index::remembered_roots(&session.index).unwrap_or_default();
        super::index::rebuild(session, &roots_of(session, remembered)?)?
    } else {
        add_headers(session)?
    };
    complain_of_user(&damages, session);
    complain_of_backups(&damages);
    Ok(if damages.iter().all(|damage| damage.remedy == Remedy::Rebuild) || outcome == Outcome::Interrupted {
        outcome
    } else {
        Outcome::Damaged
    })
}

/// Mends what was said from its second copy, and returns what is damaged after that.
fn mend_user(damages: Vec<Damage>, session: &Session) -> Result<Vec<Damage>> {
    let is_of_user = |damage: &Damage| matches!(damage.remedy, Remedy::Copy | Remedy::Backup);
    index::repair_user(&session.index)?;
    let mut after = index::damage_of_user(&session.index);
    if after.is_empty() && !session.is_quiet {
        let directory = session.index.user_directory();
        output::complain(format!("{} is whole again, from its second copy", directory.display()));
    }
    // No second copy mended these.
    after.iter_mut().filter(|damage| damage.remedy == Remedy::Copy).for_each(|damage| {
        damage.remedy = Remedy::Backup;
    });
    after.extend(damages.into_iter().filter(|damage| !is_of_user(damage)));
    Ok(after)
}

/// Makes a sound index anew if it was made without a header of the configuration.
fn add_headers(session: &Session) -> Result<Outcome> {
    let mailbox = Mailbox::open(&session.index)?;
    let configured = session.configured()?.headers;
    let missing = mailbox.missing_headers(&configured);
    if missing.is_empty() {
        return Ok(Outcome::Done);
    }
    if !session.is_quiet {
        output::complain(format!("all mail is read again, for what it says in {}", missing.join(", ")));
    }
    super::index::rebuild(session, &roots_of(session, mailbox.roots().to_vec())?)
}

/// Returns the roots to index: those that the index remembers; if that cannot be read, those of the configuration and the command line.
fn roots_of(session: &Session, remembered: Vec<Root>) -> Result<Vec<Root>> {
    let known = if remembered.is_empty() { session.configured()?.roots } else { remembered };
    let roots = roots::joined(&known, session.given_roots.clone()).map_err(|what| anyhow!(what))?;
    if roots.is_empty() {
        bail!(
            "the index is too damaged to say where your mail is; say it: pneu check --repair --maildir DIR"
        );
    }
    Ok(roots)
}
