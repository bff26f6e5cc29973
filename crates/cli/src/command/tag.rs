//! `pneu tag`: adds tags to matching messages, removes them, or lists all tags.
//!
//! Takes changes (`+a -b`) and a query, or a file of tags. Prints a summary, or tags with their counts.
//! Splits the words into changes and query; the library decides what a tag can be.

use crate::amount::count;
use crate::command::act;
use crate::command::change_words::{self, Changes};
use crate::command::retag::{RetagOptions, print_lines, retag};
use crate::exit::Outcome;
use crate::output;
use crate::remedy;
use crate::sanitise::one_line;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::{Arg, ArgAction, ArgMatches, Args};
use disk::Source;
use pneu::{Hit, Host, TagChange, TagsRead};
use std::path::{Path, PathBuf};
use terminal::command_line::Run;

/// Most bytes of a text of tags that are read.
const IMPORT_BYTES_MAX: usize = 1 << 30;

/// Add tags to messages, or remove them
///
/// Adds and removes tags of all matching messages, including copies in other folders. "tag:NAME" finds tagged
/// messages. Tags are stored apart from the mail and from the index, and no message is changed: tags survive
/// when messages are moved, renamed or get other flags, and when the index is rebuilt. "tag:NAME" also finds
/// the labels in a message's own headers (X-Keywords, X-Label, Keywords). These belong to the message and
/// cannot be removed.
///
/// With "tags.sync_flags = true" in the configuration, the tags unread, flagged, replied,
/// passed and draft are the flags of the files: "tag:unread" finds what is not seen, and "pneu tag -unread"
/// marks the files as seen. "pneu undo" undoes what was done to files.
///
/// Without arguments, lists all tags with their number of messages. --import adds the tags of a text file,
/// such as .pneu/tags of a restored snapshot. Existing tags stay.
///
/// --dump, --restore and --batch use notmuch's format: a line "+TAG -TAG -- QUERY" for each message or query,
/// with % and two digits for other characters in tags. --restore also reads what "notmuch dump" prints, but
/// not the tags that notmuch sets by itself, such as unread, attachment and flagged; and what "mu labels
/// export" writes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu tag +work -- from:ana list:rust
  pneu tag +todo -later -- msgid:1234@example.org
  pneu tag -todo -- tag:todo date:..1y
  pneu tag --dry-run +work -- from:ana
  pneu find tag:work and not tag:todo
  pneu tag --import ~/restored/.pneu/tags
  notmuch dump | pneu tag --restore -                tags of notmuch, by Message-ID
  mu labels export labels && pneu tag --restore labels
  pneu tag --dump > tags
  pneu tag")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: RetagOptions,
    /// Add the tags listed in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["words", "dry_run"])]
    import: Option<PathBuf>,
    /// Print a line with the tags of each tagged message, for --restore and for "notmuch restore"
    #[arg(long, conflicts_with_all = ["words", "import", "dry_run"])]
    dump: bool,
    /// Give each message in this file exactly the tags of its line; "-" is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["words", "import", "dump", "dry_run"])]
    restore: Option<PathBuf>,
    /// Do what each line of this file says, all at once; "-" is standard input. --dry-run also prints what
    /// would be added and removed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["words", "import", "dump", "restore"])]
    batch: Option<PathBuf>,
    /// +TAG to add, -TAG to remove, then -- and the query. Options come first
    #[arg(value_name = "+TAG|-TAG... -- QUERY", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Removes the short options, because here -q and -h are tags to remove.
pub(crate) fn without_letters(command: clap::Command) -> clap::Command {
    let help = Arg::new("help").long("help").action(ArgAction::Help).help("Print help");
    command.mut_arg("quiet", |argument| argument.short(None)).disable_help_flag(true).arg(help)
}

/// Returns whether the arguments are "tag -h" or "flag -h". With a query, -h removes a tag of that name.
pub(crate) fn asks_for_help(program: &ArgMatches) -> bool {
    let words = |tag: &ArgMatches| tag.get_many::<String>("words").is_some_and(|words| words.eq(["-h"]));
    ["tag", "flag"].into_iter().any(|name| program.subcommand_matches(name).is_some_and(words))
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// No change, no query, or a query that cannot be understood; damage; a data directory that cannot be
    /// written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if let Some(path) = &self.import {
            return import(path, session);
        }
        if self.dump {
            return dump(session);
        }
        if let Some(path) = &self.restore {
            return read(path, session, Host::restore_tags);
        }
        if let Some(path) = &self.batch {
            return match self.options.dry_run {
                true => plan(path, session),
                false => read(path, session, Host::apply_tags),
            };
        }
        if self.words.is_empty() {
            return list(session);
        }
        let (Changes { add, remove }, query) = change_words::split(&self.words, &NOUNS)?;
        let change = TagChange { add, remove };
        let view = session.view()?;
        let question = TypedQuery::new(query, &view)?;
        let found = view.matching(&question.query).map_err(|error| question.explain(error))?;
        retag(&question, (&view, &found), &change, self.options, session)
    }
}

fn dump(session: &Session) -> Result<Outcome> {
    let (lines, left_out) = session.with_any_host(Host::dump_tags)?;
    let mut output = session.output();
    for line in lines {
        output.line(&one_line(&line))?;
    }
    output.finish()?;
    if left_out == 0 {
        return Ok(Outcome::Done);
    }
    let messages = count(left_out, "message");
    output::complain(format!(
        "{messages} with tags left out: no Message-ID, or one with control characters, which no line can hold"
    ));
    Ok(Outcome::Partly)
}

fn read(
    path: &Path,
    session: &Session,
    work: impl FnOnce(&Host, &str) -> pneu::Result<TagsRead>,
) -> Result<Outcome> {
    let text = text_of(path)?;
    let done = work(session.host()?, &text).map_err(|error| in_file(path, error))?;
    let (lines, messages) = (count(done.line_count, "line"), count(done.summary.messages, "message"));
    let line = format!("{lines}, {messages}: {} changed", done.summary.changed);
    let outcome = session.conclude(&line, act::outcome(&done.summary.left));
    if done.unknown_count > 0 && !session.is_quiet {
        output::complain(format!("{} named no message", count(done.unknown_count, "line")));
    }
    Ok(outcome)
}

/// Prints which messages the lines of a file would change, and how.
fn plan(path: &Path, session: &Session) -> Result<Outcome> {
    let text = text_of(path)?;
    let (view, planned) = session.host()?.plan_tags(&text).map_err(|error| in_file(path, error))?;
    if planned.is_empty() {
        return session.nothing("the tags of no message would change");
    }
    let (hits, changes): (Vec<Hit>, Vec<TagChange>) = planned.into_iter().unzip();
    print_lines(&view, &hits, Some(&changes), session)?;
    Ok(Outcome::Done)
}

fn in_file(path: &Path, error: pneu::Error) -> anyhow::Error {
    anyhow!("{}: {}", path.display(), remedy::explained(&error.into()))
}

/// Reads a file, or standard input.
fn text_of(path: &Path) -> Result<String> {
    let unread = |error: &dyn std::fmt::Display| anyhow!("cannot read {}: {error}", path.display());
    let place = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    let bytes =
        disk::read_small(place, IMPORT_BYTES_MAX, Source::Anything).map_err(|error| unread(&error))?;
    String::from_utf8(bytes).map_err(|error| unread(&error))
}

fn import(path: &Path, session: &Session) -> Result<Outcome> {
    let text = text_of(path)?;
    let import =
        session.with_any_host(|host| host.import_tags(&text)).map_err(|error| in_file(path, error))?;
    let done = format!("{}: {} changed", count(import.contents, "message"), import.changed);
    Ok(session.conclude(&done, Outcome::Done))
}

fn list(session: &Session) -> Result<Outcome> {
    let tags = session.view()?.tags()?;
    if tags.is_empty() {
        return session.nothing("there are no tags; pneu tag +NAME -- QUERY makes one");
    }
    let mut output = session.output();
    for (tag, count) in tags {
        output.listed(&format!("{count:>8} {}", one_line(&tag)))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

const NOUNS: change_words::Nouns =
    change_words::Nouns { one: "tag", many: "tags", example: "+TAG", command: "pneu tag +work -- from:ana" };
