//! `pneu index`: updates the index to match the disk.
//!
//! Takes roots from the command line, the configuration, or the index itself. Prints a summary on standard
//! output, and on standard error a line for each file or directory that could not be read.

use crate::amount::count;
use crate::archive::import::{self, ArchiveImport};
use crate::archive::repository::NO_REPOSITORY;
use crate::confirm::confirm_unless_no;
use crate::exit::Outcome;
use crate::follow::{attachments_line, follow};
use crate::hook;
use crate::output;
use crate::priority;
use crate::progress::Progress;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use crate::setup::restored::{self, Occasion};
use crate::words::quoted_path;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use pneu::archive::Imported;
use pneu::setup::discover;
use pneu::setup::find_mail;
use pneu::{
    Cleanup, Error, HeaderCodec, IndexState, Look, Loss, Mode, ProblemCounts, Root, Summary, UpdateOptions,
};
use std::time::Duration;
use terminal::command_line::Run;

/// Update the index to match the mail on disk
///
/// Lists every folder and compares it with the index. New messages are read and added. Moved messages and
/// changed flags are detected without reading the messages. Messages whose files are gone are no longer
/// found. Run it as often as you like: when nothing changed, it takes seconds for millions of messages.
/// Searches work while it runs. Ctrl-C stops it and keeps what was done so far.
///
/// The first index needs no --maildir: it looks for mail in $MAILDIR, ~/Maildir, ~/Mail, ~/mail, ~/.mail,
/// ~/.local/share/mail and the directories that mbsync, notmuch, mu, mutt, neomutt and Dovecot use. It prints
/// what it finds. If it finds several directories and runs on a terminal, it asks before it indexes them.
///
/// If a directory cannot be read, or lost most of its messages (is it mounted?), the index keeps what it has
/// of that directory, and the exit code is 3.
#[derive(Debug, Args)]
#[command(
    alias = "new",
    after_help = "\
Examples:
  pneu index                                         find the mail and index it; later, update
  pneu index --maildir ~/Maildir                     first index of mail in this directory
  pneu index --maildir work=/srv/mail --maildir home=$HOME/Maildir
  pneu index --lazy                                  every minute, from cron
  pneu index --watch                                 in the background, to follow all changes at once
  pneu index --thorough                              after a restore from a backup
  pneu index --attachments                           after a program of [attachments.filters] was missing

Optional configuration: $XDG_CONFIG_HOME/pneu/config.toml, usually ~/.config/pneu/config.toml
  headers = [\"X-Spam-Score\"]       more headers to search, as X-Spam-Score:word
  [index]
  before = \"mbsync -a\"             a command to run first
  [attachments.filters]
  \"application/pdf\" = \"pdftotext - -\"   commands that read the text of attachments
  [user]
  addresses = [\"ana@example.org\"]  your own, for flag:personal and \"pneu contacts\"
  [search]
  stem = [\"english\", \"german\"]   languages for which ~word finds other forms
  [[root]]
  name = \"work\"
  path = \"/srv/mail\"
  [[root]]
  name = \"home\"
  path = \"~/Maildir\""
)]
pub(crate) struct Arguments {
    /// Also compare size and times of every file, and read those that have another inode: finds files that
    /// were changed in place, or replaced by others of the same size and time
    #[arg(long)]
    thorough: bool,
    /// Skip directories whose modification time has not changed. For Maildirs on a local disk
    #[arg(long, conflicts_with = "thorough")]
    lazy: bool,
    /// Keep messages in the index after their files are gone, until the next run without this option
    #[arg(long)]
    no_cleanup: bool,
    /// Check the file of every message separately: slow, for comparison
    #[arg(long, hide = true, conflicts_with = "no_cleanup")]
    legacy_cleanup: bool,
    /// Codec for the header records of a new index, for comparison. An existing index keeps its codec until
    /// it is rebuilt
    #[cfg(feature = "codecs")]
    #[arg(long, hide = true, value_enum, default_value_t, value_name = "CODEC")]
    header_codec: Codec,
    /// After that, keep the index in step: watch all folders, and update the index as soon as something
    /// changes. Prints a line for each update, until Ctrl-C. Reads the configuration again when it changes;
    /// one that is not valid is reported, and the old one stays. Other commands work as always meanwhile.
    /// Messages that it sees being removed are removed from the index, however many they are. So are those of
    /// a folder that is removed, unless it may only be unmounted: then they stay, and a message names it
    #[arg(long, conflicts_with_all = ["no_cleanup", "accept_loss"])]
    watch: bool,
    /// Remove messages from the index even if a root lost most of them, or is not in the configuration any
    /// more. Folders that were removed as a whole, while others of the root are there, need no consent
    #[arg(long)]
    accept_loss: bool,
    /// Try again to read attachments that the commands of [attachments.filters] could not read: the program
    /// was missing, or the message had no file. With "decrypt = true" in the configuration, also encrypted
    /// messages that could not be decrypted. Attachments that were never tried are always read, last
    #[arg(long)]
    attachments: bool,
    /// Also index messages that only the archive has, so that "pneu find --archived" finds them. Use it after
    /// the first index on a new machine, or if the archive could not be read while the index was rebuilt
    #[arg(long)]
    archived: bool,
}

/// The codecs of header records, by their names on the command line.
#[cfg(feature = "codecs")]
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Codec {
    None,
    Lz4,
    Zstd,
    ZstdDictionary,
    #[default]
    ZstdDictionaryBlocks,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// No root is known; the index is damaged or cannot be written; Ctrl-C.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let hooks = &session.configured()?.hooks;
        if self.attachments && !session.configured()?.reads_attachments() {
            bail!(
                "--attachments: the configuration has no [attachments.filters], nor decrypt in [index]; \
                 \"pneu init\" shows them"
            );
        }
        let before = hook::run("index.before", hooks.before.as_ref());
        let mut outcome = self.update(session)?;
        if matches!(outcome, Outcome::Nothing | Outcome::Interrupted) {
            return Ok(outcome);
        }
        let after = hook::run("index.after", hooks.after.as_ref());
        // New mail waits for no attachment, nor do those who follow it. A watch reads them by itself.
        if self.attachments || !self.watch {
            let look = if self.attachments { Look::All } else { Look::New };
            match attachments(session, look)? {
                Outcome::Done => {}
                Outcome::Interrupted => return Ok(Outcome::Interrupted),
                other => outcome = other,
            }
        }
        if self.watch {
            follow(session, &known_roots(session)?)?;
            return Ok(Outcome::Interrupted);
        }
        Ok(if [before, after].contains(&Outcome::Partly) { Outcome::Partly } else { outcome })
    }
}

impl Arguments {
    /// Runs one pass.
    fn update(&self, session: &Session) -> Result<Outcome> {
        let state = session.host()?.index_state()?;
        let Some(roots) = roots_or_found(session, &state)? else {
            return session
                .nothing("nothing was indexed; name the directory of your mail: pneu index --maildir DIR");
        };
        let is_first = state == IndexState::Missing;
        if is_first {
            restored::configuration(session, &roots);
        }
        let options = UpdateOptions {
            mode: mode(self),
            loss: if self.accept_loss { Loss::Accept } else { Loss::Refuse },
            cleanup: cleanup(self, session),
            codec: codec(self),
            ..UpdateOptions::default()
        };
        let is_rebuilt = matches!(state, IndexState::Outdated(_));
        if is_rebuilt && !session.is_quiet {
            output::complain("the index has an older version and is rebuilt");
        }
        let reads_all = is_first || is_rebuilt || session.host()?.is_first_index_incomplete()?;
        if reads_all && !self.watch {
            priority::let_others_go_first();
        }
        let (import, interrupted) = match is_rebuilt {
            true => (ArchiveImport::if_named(session, &roots), BEGUN_IN_VAIN),
            false => (import_of(self, &state, &roots, session)?, KEPT),
        };
        let host = session.host()?;
        let outcome = work(session, interrupted, &import, |progress| {
            host.bring_in_step((&state, &roots), import.source(), &options, progress)
        })?;
        if !is_rebuilt {
            let occasion = if is_first { Occasion::First } else { Occasion::Later };
            restored::queries_and_tags(session, &roots, occasion);
        }
        Ok(outcome)
    }
}

/// Updates the index like `pneu index` without options, for another command, and reports its problems.
///
/// # Errors
/// As [`Arguments::run`]; [`Error::Cancelled`].
pub(crate) fn in_step(session: &Session, progress: &Progress) -> Result<Summary> {
    let roots = known_roots(session)?;
    let summary = session.host()?.update(&roots, &UpdateOptions::default(), progress)?;
    complain(&summary);
    Ok(summary)
}

/// Reads the attachments of messages that are indexed already.
fn attachments(session: &Session, look: Look) -> Result<Outcome> {
    if !session.configured()?.reads_attachments() {
        return Ok(Outcome::Done);
    }
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
    let read = session.host()?.read_attachments(look, &progress);
    progress.finish();
    let read = match read {
        Err(Error::Cancelled) => {
            output::complain(match look {
                Look::New => KEPT.to_owned(),
                Look::All => KEPT.replace("pneu index", "pneu index --attachments"),
            });
            return Ok(Outcome::Interrupted);
        }
        other => other?,
    };
    if let Some(holder) = &read.is_read_by
        && !session.is_quiet
    {
        output::complain(one_line(&format!("another process reads attachments: {holder}")));
    }
    read.problems.iter().for_each(|problem| output::complain(one_line(problem)));
    if !session.is_quiet && (look == Look::All || read.messages > 0) {
        let mut output = session.output();
        output.line(&attachments_line(&read))?;
        output.finish()?;
    }
    Ok(if read.problems.is_empty() { Outcome::Done } else { Outcome::Partly })
}

/// Returns the roots that `pneu index` without options would index.
///
/// # Errors
/// None is known; the index is damaged.
pub(crate) fn known_roots(session: &Session) -> Result<Vec<Root>> {
    roots(session, &session.host()?.index_state()?)
}

/// Reports which files or directories could not be read.
pub(crate) fn complain(summary: &Summary) {
    for problem in &summary.attachment_problems {
        output::complain(one_line(problem));
    }
    for problem in &summary.problems {
        output::complain_of(problem.path.display(), &remedy::sentence(&problem.what, problem.remedy));
    }
}

/// Decides whether messages that only the archive has are imported: if the user says so, and for a first
/// index if the configuration names an archive. A repository that the environment names may have other
/// content.
fn import_of(
    arguments: &Arguments,
    state: &IndexState,
    roots: &[Root],
    session: &Session,
) -> Result<ArchiveImport> {
    if arguments.archived {
        return match import::open(session, roots)? {
            Some(source) => Ok(ArchiveImport::From(Box::new(source))),
            None => bail!("--archived: {NO_REPOSITORY}"),
        };
    }
    let is_due = session.host()?.imports_at_first(state);
    Ok(if is_due { ArchiveImport::if_made(session, roots) } else { ArchiveImport::None })
}

/// The message after an interrupted pass.
const KEPT: &str = "interrupted; what was done so far is kept; run \"pneu index\" again for the rest";
/// The message after an interrupted rebuild.
const BEGUN_IN_VAIN: &str = "interrupted; the index is unchanged; run the same command again to start over";

/// Rebuilds the index from the mail, and from messages that only the archive has, if one is named.
///
/// # Errors
/// A root holds no mail; the index cannot be written.
pub(crate) fn rebuild(session: &Session, roots: &[Root]) -> Result<Outcome> {
    let host = session.host()?;
    let import = ArchiveImport::if_named(session, roots);
    let rebuilt = work(session, BEGUN_IN_VAIN, &import, |progress| {
        host.rebuild(roots, import.source(), &UpdateOptions::default(), progress)
    })?;
    Ok(match rebuilt {
        Outcome::Done => attachments(session, Look::New)?,
        Outcome::Partly if attachments(session, Look::New)? == Outcome::Interrupted => Outcome::Interrupted,
        other => other,
    })
}

/// Runs a pass while its progress is shown, and prints what it did, or `interrupted` if it was.
fn work(
    session: &Session,
    interrupted: &str,
    import: &ArchiveImport,
    pass: impl FnOnce(&Progress) -> pneu::Result<(Summary, Imported)>,
) -> Result<Outcome> {
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
    let result = pass(&progress);
    progress.finish();
    let (summary, imported) = match result {
        Err(Error::Cancelled | Error::Backup(_) | Error::Index(index::Error::Archive(_)))
            if work::Progress::is_cancelled(&progress) =>
        {
            output::complain(interrupted);
            return Ok(Outcome::Interrupted);
        }
        other => other?,
    };
    complain(&summary);
    if !session.is_quiet {
        let mut output = session.output();
        output.line(&line(&summary, progress.elapsed()))?;
        if let Some(line) = import::line(&imported) {
            output.line(&line)?;
        }
        if summary.added > 0 {
            let problems = session.host()?.open_view()?.problem_counts()?;
            problem_line(&problems).iter().try_for_each(|line| output.line(line))?;
        }
        output.finish()?;
    }
    let is_partly = import::complain(&imported)
        || matches!(import, ArchiveImport::Failed)
        || !summary.problems.is_empty()
        || !summary.attachment_problems.is_empty();
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

#[cfg(not(feature = "codecs"))]
fn codec(_: &Arguments) -> HeaderCodec {
    HeaderCodec::default()
}

#[cfg(feature = "codecs")]
fn codec(arguments: &Arguments) -> HeaderCodec {
    match arguments.header_codec {
        Codec::None => HeaderCodec::None,
        Codec::Lz4 => HeaderCodec::Lz4,
        Codec::Zstd => HeaderCodec::Zstd,
        Codec::ZstdDictionary => HeaderCodec::ZstdDictionary,
        Codec::ZstdDictionaryBlocks => HeaderCodec::ZstdDictionaryBlocks,
    }
}

/// Returns the roots to index, as [`roots()`] does, or for a first index all directories with mail that can
/// be found; none if the user does not want these.
fn roots_or_found(session: &Session, state: &IndexState) -> Result<Option<Vec<Root>>> {
    let is_said = !session.given_roots.is_empty() || !session.configured()?.roots.is_empty();
    if is_said || *state != IndexState::Missing {
        return roots(session, state).map(Some);
    }
    let found = find_mail::find(&session.whereabouts);
    if found.mail.is_empty() {
        bail!(
            "where is your mail? There is no Maildir in {}. Name its directory once: \
             pneu index --maildir DIR; or write a configuration: pneu init --maildir DIR",
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
        "this mail is indexed and remembered; \"pneu init\" writes a configuration file to edit",
    );
    Ok(Some(roots))
}

/// Returns the roots to index: those of the configuration if it names any, else those that the index
/// remembers; and with either, those of the command line.
fn roots(session: &Session, state: &IndexState) -> Result<Vec<Root>> {
    let roots = session.host()?.roots_to_index(state, &session.given_roots)?;
    if roots.is_empty() {
        bail!(
            "where is your mail? Name its directory once: pneu index --maildir DIR; or write a \
             configuration: pneu init"
        );
    }
    if *state == IndexState::Missing {
        roots.iter().try_for_each(has_maildir)?;
    }
    Ok(roots)
}

/// Refuses a directory without mail before an index is created: a mistyped name should leave no files.
fn has_maildir(root: &Root) -> Result<()> {
    let path = root.path.display();
    let found = mail::find_folders(&root.path)?;
    if found.folders.is_empty() && found.problems.is_empty() {
        bail!(
            "{path} holds no Maildir (a directory with \"cur\" and \"new\"), at any depth; \
             name another directory with --maildir"
        );
    }
    Ok(())
}

/// Returns a line about messages with problems; `None` if there are none.
fn problem_line(ProblemCounts { messages, groups }: &ProblemCounts) -> Option<String> {
    let has = match messages {
        0 => return None,
        1 => "has",
        _ => "have",
    };
    let groups: Vec<String> = groups.iter().map(|(group, count)| format!("{group} {count}")).collect();
    Some(format!(
        "{} {has} problems: {}; list them with: pneu find 'problem:*'",
        count(*messages, "message"),
        groups.join(", ")
    ))
}

/// Returns the summary of a pass.
fn line(summary: &Summary, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    // What is wrong with a rule is no place on the disk.
    let unreadable = summary.problems.iter().filter(|problem| problem.path.is_absolute());
    format!(
        "{}: {} added, {} moved, {} changed, {} gone, {} unreadable; {seconds:.2} s",
        count(summary.file_count, "file"),
        summary.added,
        summary.moved,
        summary.changed,
        summary.gone,
        unreadable.count(),
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
