//! `pneu find`: lists the messages that a query matches.

use crate::archived::{self, Keeper, Searched};
use crate::at::{self, At};
use crate::deliver::links::{Earlier, Links};
use crate::deliver::{self, exec, mbox};
use crate::environment;
use crate::exit::{NotFound, Outcome};
use crate::format::fields::{self, FIELDS_DEFAULT, Piece};
use crate::format::json::Json;
use crate::format::paths::{End, Paths};
use crate::format::plain::Plain;
use crate::format::sexp::Sexp;
use crate::format::{self, Places, Printer};
use crate::output;
use crate::question::Question;
use crate::repository::LockOptions;
use crate::sanitise::one_line;
use crate::scope::{Found, Scope};
use crate::session::Session;
use crate::sort::{self, Sort};
use crate::words;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use index::{Mailbox, Order};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Find messages
///
/// Lists the messages that match, newest first, one a line. Words are looked for in subject, text and addresses; case and accents
/// do not matter. No query at all matches every message.
#[derive(Debug, Args)]
#[command(after_help = "\
Queries:
  ana invoice                     both words, anywhere
  '\"second reminder\"'             words next to each other
  invoi*                          words that begin so
  ~invoice                        words of the same stem: invoices, invoiced
  c++ .net                        words with their signs
  from:ana to:bo subject:invoice  words in a field
  date:2024-03..2024-05 date:2w.. size:1M.. flag:unread file:report.pdf
  maildir:/lists/rust list:rust.example.org mime:image/* msgid:1234@example.org
  'ana and (invoice or bill) and not flag:seen'

Examples:
  pneu find from:ana date:1m..
  pneu find --sort size --max 10
  pneu find --fields 'd g f s' flag:flagged
  pneu find --format paths --print0 list:announce | xargs -0 grep -l urgent
  pneu find --format json subject:invoice | jq -r .message_id
  pneu find --format mbox date:2023 > 2023.mbox
  pneu find --format links --links-dir ~/Found --clear-links flag:unread
  pneu find --exec 'cp {} /tmp/invoices' subject:invoice 'file:*.pdf'")]
pub(crate) struct Arguments {
    /// What to find. Several words are joined with spaces; put ' ' around what the shell would change
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// What to sort by, a name or its letter: dates and sizes from the largest, all else from A
    #[arg(long, short, alias = "sortfield", value_name = "KEY", value_enum, default_value_t = Sort::Date)]
    sort: Sort,
    /// Turn the order around
    #[arg(long, short = 'z')]
    reverse: bool,
    /// List so many messages at most
    #[arg(long, short = 'n', alias = "maxnum", value_name = "COUNT")]
    max: Option<NonZeroUsize>,
    /// Leave out so many at the beginning
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    offset: usize,
    #[command(flatten)]
    scope: Scope,
    /// What to print
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
    /// The columns of plain lines, by their letters (d f s) or names (date,from,subject): d date, f from, t to, c cc, h bcc,
    /// s subject, i message-id, m maildir, l path, g flags, z size, v list, j attachment, r references, p priority, a language, k changed,
    /// x tag
    #[arg(long, short, value_name = "FIELDS", default_value = FIELDS_DEFAULT)]
    fields: String,
    /// Find messages, too, whose files are gone and that only the archive has; "pneu undelete" puts them back. --format mbox writes them,
    /// too; where paths are wanted they are told of, and the exit code is 3
    #[arg(long)]
    archived: bool,
    /// Search the mail as it stood then, of each root as the newest snapshot in the archive has it that is not later: a day, 2025-06-01,
    /// which counts to its end, or a time of your time zone, 2025-06-01T14:00
    #[arg(long, value_name = "DATE", conflicts_with = "archived", value_parser = at::parse)]
    at: Option<At>,
    #[command(flatten)]
    lock: LockOptions,
    /// Every file of a message, where it has copies in several folders, and not only the first
    #[arg(long)]
    files: bool,
    /// End each line or path with a zero byte instead of a line feed
    #[arg(long)]
    print0: bool,
    /// Make the links of --format links in this directory, a Maildir that is made if it is not there
    #[arg(long, alias = "linksdir", value_name = "DIR")]
    links_dir: Option<PathBuf>,
    /// Before, remove the links that earlier searches made there, and nothing else
    #[arg(long, short = 'c', alias = "clearlinks", requires = "links_dir")]
    clear_links: bool,
    /// Run a command for each message, without a shell, with the path of its file as last argument or in place of {}. It does not get
    /// the variables that hold passwords and keys of repositories
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["format", "fields", "print0"])]
    exec: Option<String>,
    /// Print how the query is answered, and what each part of it took, instead of messages
    #[arg(long, conflicts_with_all = ["format", "exec", "links_dir"])]
    analyze: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns, a message on each line
    Plain,
    /// JSON Lines
    Json,
    /// S-expressions for Emacs, as mu prints them
    Sexp,
    /// A path on each line
    Paths,
    /// The messages themselves, as one mbox
    Mbox,
    /// Symbolic links in --links-dir
    Links,
    /// The number of messages
    Count,
}

/// Runs the command.
///
/// # Errors
/// The query cannot be understood or answered; there is no index, or a damaged one.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let pieces = fields::parse(&arguments.fields).map_err(|what| anyhow!("--fields: {what}"))?;
    arguments.check()?;
    let command = arguments.exec.as_deref().map(words::split).transpose();
    let command = command.map_err(|what| anyhow!("--exec: {what}"))?;
    let question = Question::new(&arguments.query, session)?;
    let Searched { mailbox, outcome } = arguments.mailbox(session)?;
    // The process ends behind this: all that is mapped goes with it at once, which takes less than one map after the other.
    let mailbox = std::mem::ManuallyDrop::new(mailbox);
    let answer = arguments.answer((&mailbox, &question), (pieces, command), session);
    match (answer, outcome) {
        (Ok(Outcome::Done | Outcome::Nothing), Outcome::Partly) => Ok(Outcome::Partly),
        // What was not found may be in what could not be read.
        (Err(error), Outcome::Partly) if error.is::<NotFound>() => {
            output::complain_why(&error);
            Ok(Outcome::Partly)
        }
        (answer, _) => answer,
    }
}

impl Arguments {
    /// Finds messages and does with them what is wanted.
    fn answer(
        &self,
        (mailbox, question): (&Mailbox, &Question),
        (pieces, command): (Vec<Piece>, Option<Vec<String>>),
        session: &Session,
    ) -> Result<Outcome> {
        if self.analyze {
            return super::count::analyze(mailbox, question, session);
        }
        if self.format == Format::Count {
            let count = self.scope.count(mailbox, question)?;
            return super::count::print(count, (mailbox, question), session);
        }
        let found = self.scope.find(mailbox, question, &self.order())?;
        let hits = &found.hits;
        if let Some(directory) = &self.links_dir {
            return self.links(directory, (mailbox, question, &found), session);
        }
        if hits.list.is_empty() {
            return nothing((mailbox, question, &found), self, session);
        }
        if let Some(command) = command {
            return exec::run(mailbox, &hits.list, self.places(), &command);
        }
        let mut output = session.output();
        let Some(printer) = self.printer(pieces, session) else {
            return mbox::write((mailbox, &hits.list), &Keeper::new(self.lock, session), output);
        };
        format::print(mailbox, &found, &*printer, &mut output)?;
        output.finish()?;
        if self.archived && self.format == Format::Paths {
            return deliver::tell_without_files(mailbox, &hits.list);
        }
        Ok(Outcome::Done)
    }

    /// Opens the index, as it is to be searched.
    fn mailbox(&self, session: &Session) -> Result<Searched> {
        let mailbox = session.mailbox()?;
        let whole = |mailbox| Searched { mailbox, outcome: Outcome::Done };
        match (self.at, self.archived) {
            (Some(at), _) => at::mailbox(mailbox, at, self.lock, session).map(whole),
            (None, true) => archived::with_absent(mailbox, session),
            (None, false) => Ok(whole(mailbox)),
        }
    }

    /// Refuses options that do not go together.
    fn check(&self) -> Result<()> {
        if self.print0 && !matches!(self.format, Format::Plain | Format::Paths) {
            bail!("--print0 goes with --format plain and --format paths");
        }
        if (self.format == Format::Links) != self.links_dir.is_some() {
            bail!("--format links and --links-dir DIR go together");
        }
        Ok(())
    }

    fn places(&self) -> Places {
        if self.files { Places::All } else { Places::First }
    }

    /// Returns what prints messages in the format that was asked for, if the index alone can.
    fn printer(&self, pieces: Vec<Piece>, session: &Session) -> Option<Box<dyn Printer>> {
        let end = if self.print0 { End::Zero } else { End::Line };
        let places = self.places();
        let terminal = session.terminal;
        match self.format {
            Format::Json => Some(Box::new(Json)),
            Format::Sexp => Some(Box::new(Sexp)),
            Format::Paths => Some(Box::new(Paths { end, places, is_terminal: terminal.is_terminal() })),
            Format::Plain => {
                let zone = environment::now().time_zone().clone();
                Some(Box::new(Plain { pieces, end, places, zone, terminal }))
            }
            Format::Mbox | Format::Links | Format::Count => None,
        }
    }

    /// Makes links, and clears them even if nothing is found: what was found before is no answer now.
    fn links(
        &self,
        directory: &Path,
        (mailbox, question, found): (&Mailbox, &Question, &Found),
        session: &Session,
    ) -> Result<Outcome> {
        let directory =
            environment::current_directory().context("the current directory is gone")?.join(directory);
        let mut links =
            Links::open(&directory, if self.clear_links { Earlier::Clear } else { Earlier::Keep })?;
        if found.hits.list.is_empty() {
            return nothing((mailbox, question, found), self, session);
        }
        let (count, outcome) = links.add(mailbox, &found.hits.list, self.places())?;
        if !session.is_quiet {
            let mut output = session.output();
            let links = if count == 1 { "link" } else { "links" };
            output.line(&one_line(&format!("{count} {links} in {}", directory.display())))?;
            output.finish()?;
        }
        Ok(outcome)
    }

    fn order(&self) -> Order {
        let natural = self.sort.natural();
        Order {
            key: self.sort.key(),
            direction: if self.reverse { sort::turned(natural) } else { natural },
            offset: self.offset,
            limit: self.max.map(NonZeroUsize::get),
        }
    }
}

fn nothing(
    (mailbox, question, found): (&Mailbox, &Question, &Found),
    arguments: &Arguments,
    session: &Session,
) -> Result<Outcome> {
    session.nothing(match found.hits.total {
        0 => match question.why_nothing(mailbox)? {
            Some(why) => format!("no message matches: {why}"),
            None => "no message matches".to_owned(),
        },
        total => format!("{total} {} match, none behind the first {}", found.unit, arguments.offset),
    })
}
