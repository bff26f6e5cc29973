//! `pneu index`: brings the index in step with the disk.
//!
//! In: roots from the command line, the configuration, or the index itself. Out: a summary on standard output, and a line on
//! standard error for each file or directory that could not be read.

use crate::amount::count;
use crate::brought::{self, Occasion};
use crate::confirm::confirm_unless_no;
use crate::discover;
use crate::exit::Outcome;
use crate::finding;
use crate::output;
use crate::problems;
use crate::progress::Progress;
use crate::repository::NO_REPOSITORY;
use crate::roots;
use crate::sanitise::one_line;
use crate::session::Session;
use crate::shelf::{Asked, Shelf, Taken};
use crate::words::quoted_path;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use index::{Cleanup, Error, HeaderCodec, Loss, Mode, Observer, Root, Summary, UpdateOptions};
use std::time::Duration;

/// Bring the index in step with the disk
///
/// Lists every folder and compares it with the index: new messages are read and added, moved and reflagged ones are noticed
/// without being read, and those that are gone no longer found. Run it as often as you like: where nothing changed, it takes
/// seconds for millions of messages. Finding works meanwhile, and Ctrl-C keeps what is done so far.
///
/// The first index needs no --maildir: mail is found in $MAILDIR, ~/Maildir, ~/Mail and where the
/// configuration of mbsync, notmuch, mu, mutt, neomutt and Dovecot says that it is. What is found is said,
/// and on a terminal you are asked if it is several directories.
///
/// A directory that cannot be read keeps what is indexed of it, and so does one that lost most of its messages (is it mounted?);
/// the exit code is then 3.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu index                                         finds the mail the first time, and keeps in step
  pneu index --maildir ~/Maildir                     the first time, if it is elsewhere
  pneu index --maildir work=/srv/mail --maildir home=$HOME/Maildir
  pneu index --lazy                                  every minute, from cron
  pneu index --thorough                              after a restore from a backup

Configuration, if you want one: $XDG_CONFIG_HOME/pneu/config.toml, usually ~/.config/pneu/config.toml
  headers = [\"X-Spam-Score\"]       more headers to search in, as X-Spam-Score:word
  [user]
  addresses = [\"ana@example.org\"]  your own, for flag:personal and \"pneu contacts\"
  [search]
  stem = [\"english\", \"german\"]   languages whose stems ~word finds in queries
  [[root]]
  name = \"work\"
  path = \"/srv/mail\"
  [[root]]
  name = \"home\"
  path = \"~/Maildir\"")]
pub(crate) struct Arguments {
    /// Look at size and times of every file, not only at names: for files that were changed in place
    #[arg(long)]
    thorough: bool,
    /// Believe the times of directories: one that has not changed is not read. For a Maildir on a local disk
    #[arg(long, conflicts_with = "thorough")]
    lazy: bool,
    /// Keep messages whose file is gone, until an index without this option
    #[arg(long)]
    no_cleanup: bool,
    /// Look up the file of every message on its own: the slow way, to compare with
    #[arg(long, hide = true, conflicts_with = "no_cleanup")]
    legacy_cleanup: bool,
    /// Compress the header records of a new index so; one that is there keeps its own until it is made anew. To compare with
    #[arg(long, hide = true, value_enum, default_value_t, value_name = "CODEC")]
    header_codec: Codec,
    /// Believe that messages are gone even if most of a Maildir's are
    #[arg(long)]
    accept_loss: bool,
    /// Also take in the messages that only the archive has, so that "pneu find --archived" finds them: after a first index on a new
    /// machine, or when an index was made anew while the archive could not be read
    #[arg(long)]
    archived: bool,
}

/// The codecs of header records, by their names on the command line.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Codec {
    None,
    Lz4,
    Zstd,
    #[default]
    ZstdDictionary,
}

/// Runs the command.
///
/// # Errors
/// No root is known; the index is damaged or cannot be written; Ctrl-C.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let remembered = remembered(session)?;
    let Some(roots) = roots_or_found(session, &remembered)? else {
        return session.nothing("nothing is indexed; say where your mail is: pneu index --maildir DIR");
    };
    let is_first = matches!(remembered, Remembered::Nothing);
    if is_first {
        brought::configuration(session, &roots);
    }
    let options = UpdateOptions {
        mode: mode(arguments),
        loss: if arguments.accept_loss { Loss::Accept } else { Loss::Refuse },
        cleanup: cleanup(arguments, session),
        headers: session.configured()?.headers,
        codec: codec(arguments.header_codec),
        ..UpdateOptions::default()
    };
    if matches!(remembered, Remembered::Older(_)) {
        if !session.is_quiet {
            output::complain("the index is of an older version: it is made anew");
        }
        return rebuild(session, &roots);
    }
    let asked = ask(arguments, &remembered, &roots, session)?;
    let outcome = work(session, KEPT, &asked, |progress| {
        let summary = index::update(&session.index, &roots, &options, progress)?;
        let Asked::Shelf(shelf) = &asked else { return Ok((summary, Taken::default())) };
        let held = shelf.held(session, progress);
        let adopted = index::adopt(&session.index, &held, &options, progress)?;
        Ok((summary, Taken::new(adopted, &held)))
    })?;
    let occasion = if is_first { Occasion::First } else { Occasion::Later };
    brought::queries_and_tags(session, &roots, occasion);
    Ok(outcome)
}

/// Brings the index in step as a command without options does, for another command. Says which files or directories could not be read.
///
/// # Errors
/// As [`run`]; [`Error::Interrupted`].
pub(crate) fn in_step(session: &Session, progress: &Progress) -> Result<Summary> {
    let roots = roots(session, &remembered(session)?)?;
    let options = UpdateOptions { headers: session.configured()?.headers, ..UpdateOptions::default() };
    let summary = index::update(&session.index, &roots, &options, progress)?;
    complain(&summary);
    Ok(summary)
}

fn complain(summary: &Summary) {
    for problem in &summary.problems {
        output::complain_of(problem.path.display(), &problem.what);
    }
}

/// Decides whether the archive is asked for messages that no disk has: if the user says so, and for the first index where the
/// configuration names an archive. What the environment names may be any repository.
fn ask(arguments: &Arguments, remembered: &Remembered, roots: &[Root], session: &Session) -> Result<Asked> {
    if arguments.archived {
        return match Shelf::open(session, roots)? {
            Some(shelf) => Ok(Asked::Shelf(Box::new(shelf))),
            None => bail!("--archived: {NO_REPOSITORY}"),
        };
    }
    let is_first = matches!(remembered, Remembered::Nothing);
    if is_first && session.configured()?.archive.is_some() {
        return Ok(Asked::whoever_is_there(session, roots));
    }
    Ok(Asked::Nobody)
}

/// Said when a pass was interrupted.
const KEPT: &str = "interrupted; what was done so far is kept, run \"pneu index\" again for the rest";
/// Said when making the index anew was.
const BEGUN_IN_VAIN: &str =
    "interrupted; the index is as it was, run the same command again: it will begin from the start";

/// Makes the index anew, from the mail and from what the archive has besides, if one is named.
///
/// # Errors
/// A root holds no mail; the index cannot be written.
pub(crate) fn rebuild(session: &Session, roots: &[Root]) -> Result<Outcome> {
    let options = UpdateOptions { headers: session.configured()?.headers, ..UpdateOptions::default() };
    let asked = Asked::whoever_is_named(session, roots);
    work(session, BEGUN_IN_VAIN, &asked, |progress| {
        let Asked::Shelf(shelf) = &asked else {
            return Ok((index::rebuild(&session.index, roots, &options, progress)?, Taken::default()));
        };
        let held = shelf.held(session, progress);
        let (summary, adopted) = index::rebuild_with(&session.index, roots, &held, &options, progress)?;
        Ok((summary, Taken::new(adopted, &held)))
    })
}

/// Runs a pass while its progress is shown, and prints what it did, or `interrupted` if it was.
fn work(
    session: &Session,
    interrupted: &str,
    asked: &Asked,
    pass: impl FnOnce(&Progress) -> index::Result<(Summary, Taken)>,
) -> Result<Outcome> {
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot listen to Ctrl-C: {error}"))?;
    let result = pass(&progress);
    progress.finish();
    let (summary, taken) = match result {
        Err(Error::Interrupted | Error::Elsewhere(_)) if Observer::is_interrupted(&progress) => {
            output::complain(interrupted);
            return Ok(Outcome::Interrupted);
        }
        other => other?,
    };
    complain(&summary);
    if !session.is_quiet {
        let mut output = session.output();
        output.line(&line(&summary, progress.elapsed()))?;
        if let Some(line) = taken.line() {
            output.line(&line)?;
        }
        if summary.added > 0 {
            problems::line(session)?.iter().try_for_each(|line| output.line(line))?;
        }
        output.finish()?;
    }
    let is_partly = taken.complain() || matches!(asked, Asked::Failed) || !summary.problems.is_empty();
    Ok(if is_partly { Outcome::Partly } else { Outcome::Done })
}

fn mode(arguments: &Arguments) -> Mode {
    match (arguments.lazy, arguments.thorough) {
        (true, _) => Mode::Lazy,
        (_, true) => Mode::Thorough,
        _ => Mode::Default,
    }
}

fn cleanup(arguments: &Arguments, session: &Session) -> Cleanup {
    if arguments.no_cleanup {
        Cleanup::Keep
    } else if arguments.legacy_cleanup || session.wants_legacy_cleanup {
        Cleanup::Legacy
    } else {
        Cleanup::Pass
    }
}

fn codec(codec: Codec) -> HeaderCodec {
    match codec {
        Codec::None => HeaderCodec::None,
        Codec::Lz4 => HeaderCodec::Lz4,
        Codec::Zstd => HeaderCodec::Zstd,
        Codec::ZstdDictionary => HeaderCodec::ZstdDictionary,
    }
}

/// The roots that an index remembers.
enum Remembered {
    /// There is no index.
    Nothing,
    /// It is of an older version.
    Older(Vec<Root>),
    /// It can be used.
    Index(Vec<Root>),
}

fn remembered(session: &Session) -> Result<Remembered> {
    match index::roots(&session.index) {
        Ok(roots) => Ok(Remembered::Index(roots)),
        Err(Error::NoIndex { .. }) => Ok(Remembered::Nothing),
        Err(error) if index::is_older(&error) => {
            Ok(Remembered::Older(index::remembered_roots(&session.index).unwrap_or_default()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the roots to index, as [`roots()`] does, or for a first index all directories with mail that can be
/// found; none if the user does not want these.
fn roots_or_found(session: &Session, remembered: &Remembered) -> Result<Option<Vec<Root>>> {
    let is_said = !session.given_roots.is_empty() || !session.configured()?.roots.is_empty();
    if is_said || !matches!(remembered, Remembered::Nothing) {
        return roots(session, remembered).map(Some);
    }
    let found = finding::find(&session.whereabouts);
    if found.mail.is_empty() {
        bail!(
            "where is your mail? There is no Maildir in {}. Say it once: pneu index --maildir DIR; or in a \
             configuration: pneu init --maildir DIR",
            found.looked()
        );
    }
    let roots = discover::roots(&found.mail);
    if session.is_quiet {
        return Ok(Some(roots));
    }
    output::complain(one_line(&format!("found mail in {}:", count(roots.len() as u64, "directory"))));
    for (root, candidate) in roots.iter().zip(&found.mail) {
        let told_by = candidate.told_by.as_ref().map(|who| format!(", named by {who}")).unwrap_or_default();
        output::complain(one_line(&format!("  {} {}{told_by}", root.name, quoted_path(&root.path))));
    }
    if session.can_ask && roots.len() > 1 {
        return Ok(confirm_unless_no("Index all of them?")?.then_some(roots));
    }
    output::complain(
        "this is indexed and remembered; \"pneu init\" writes them into a configuration to edit",
    );
    Ok(Some(roots))
}

/// Returns the roots to index: those of the configuration if it names any, else those that the index remembers; and with either,
/// those of the command line.
fn roots(session: &Session, remembered: &Remembered) -> Result<Vec<Root>> {
    let configured = session.configured()?.roots;
    let known = match remembered {
        Remembered::Index(roots) | Remembered::Older(roots) if configured.is_empty() => roots,
        _ => &configured,
    };
    let roots = roots::joined(known, session.given_roots.clone()).map_err(|what| anyhow!(what))?;
    if roots.is_empty() {
        bail!("where is your mail? Say it once: pneu index --maildir DIR; or in a configuration: pneu init");
    }
    if matches!(remembered, Remembered::Nothing) {
        roots.iter().try_for_each(has_maildir)?;
    }
    Ok(roots)
}

/// Refuses a directory without mail before an index is made for it: a mistyped name should leave nothing behind.
fn has_maildir(root: &Root) -> Result<()> {
    let path = root.path.display();
    let found = mail::find_folders(&root.path)?;
    if found.folders.is_empty() && found.problems.is_empty() {
        bail!("{path} holds no Maildir: a directory with \"cur\" and \"new\" in it, at any depth");
    }
    Ok(())
}

/// Returns the summary of a pass.
fn line(summary: &Summary, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    format!(
        "{}: {} added, {} moved, {} changed, {} gone, {} unreadable; {seconds:.2} s",
        count(summary.file_count, "file"),
        summary.added,
        summary.moved,
        summary.changed,
        summary.gone,
        summary.problems.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_all_counts() {
        let summary =
            Summary { file_count: 9, added: 1, moved: 2, changed: 3, gone: 4, ..Summary::default() };
        let of = |file_count| line(&Summary { file_count, ..summary.clone() }, Duration::from_millis(1234));
        assert_eq!(of(9), "9 files: 1 added, 2 moved, 3 changed, 4 gone, 0 unreadable; 1.23 s");
        assert!(of(1).starts_with("1 file: 1 added"));
    }
}
