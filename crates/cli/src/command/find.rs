//! `pneu find`: lists the messages that a query matches.

use crate::archive::messages::{self, LazyArchive, SearchedView};
use crate::archive::point_in_time::{self, PointInTime};
use crate::archive::repository::LockOptions;
use crate::deliver::links::{Earlier, Links};
use crate::deliver::{self, exec, mbox};
use crate::environment;
use crate::exit::{NotFound, Outcome};
use crate::format::FileChoice;
use crate::format::fields::{self, FIELDS_DEFAULT, Piece};
use crate::format::paths::{End, Paths};
use crate::format::plain::Plain;
use crate::format::threads;
use crate::options::{Paging, limit};
use crate::remedy;
use crate::sanitise::one_line;
use crate::search::question::{Found, ListOptions, ThreadForm, TypedQuery};
use crate::search::sort::Sort;
use crate::session::Session;
use crate::words;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use pneu::{Hits, Order, View};
use render::{Json, Printer, Sexp, ShowThread};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use terminal::command_line::Run;

/// Search for messages
///
/// Lists the matching messages, newest first, one per line. Words are searched in subject, text and
/// addresses, ignoring case and accents. Without a query, every message matches. On a terminal, output goes
/// through a pager: $PNEU_PAGER, the configuration's, $PAGER, or less.
#[derive(Debug, Args)]
#[command(
    visible_alias = "search",
    after_help = "\
Queries:
  ana invoice                     both words, anywhere
  '\"second reminder\"'             a phrase: words next to each other
  invoi*                          words with this prefix
  ~invoice                        other forms of a word: invoices, invoiced
  c++ .net                        words with punctuation
  from:ana to:bo subject:invoice  words in a field
  date:2024-03..2024-05 date:2w.. size:1M.. flag:unread file:report.pdf
  maildir:/lists/rust list:rust.example.org mime:image/* msgid:1234@example.org
  'ana and (invoice or bill) and not flag:seen'

Examples:
  pneu find from:ana date:1m..
  pneu find --sort size --max 10
  pneu find --fields 'd g f s' flag:flagged
  pneu find --threads=summary flag:unread
  pneu find --format paths --print0 list:announce | xargs -0 grep -l urgent
  pneu find --format json subject:invoice | jq -r .message_id
  pneu find --format mbox date:2023 > 2023.mbox
  pneu find --format links --links-dir ~/Found --clear-links flag:unread
  pneu find --exec 'cp {} /tmp/invoices' subject:invoice 'file:*.pdf'"
)]
pub(crate) struct Arguments {
    /// The query. Several arguments are joined with spaces; quote with ' ' what the shell would expand
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Sort by this key, a name or its letter. Dates and sizes come largest first, relevance to the words of
    /// the query highest first, everything else from A to Z
    #[arg(long, short, alias = "sortfield", value_name = "KEY", value_enum, default_value_t = Sort::Date)]
    sort: Sort,
    /// Reverse the order
    #[arg(long, short = 'z')]
    reverse: bool,
    /// List at most COUNT messages
    #[arg(long, short = 'n', aliases = ["maxnum", "limit"], value_name = "COUNT", value_parser = limit)]
    max: Option<NonZeroUsize>,
    /// Skip the first COUNT messages
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    offset: usize,
    #[command(flatten)]
    listing: ListOptions,
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
    /// Columns of the plain format, by letters (d f s) or names (date,from,subject): d date, f from, t to, c
    /// cc, h bcc, s subject, i message-id, m maildir, l path, g flags, z size, v list, j attachment, r
    /// references, p priority, a language, k changed, x tag [default: d f s]
    #[arg(long, short, value_name = "FIELDS")]
    fields: Option<String>,
    /// Also find messages whose files are gone and that only the archive still has. "pneu undelete" puts them
    /// back. --format mbox writes them too. Formats that print paths name them on standard error, and the
    /// exit code is 3
    #[arg(long)]
    archived: bool,
    /// Search the mail as of DATE, using each root's latest snapshot up to then. DATE is a day, such as
    /// 2025-06-01, which includes the whole day, or a local time, such as 2025-06-01T14:00
    #[arg(long, value_name = "DATE", conflicts_with = "archived", value_parser = point_in_time::parse)]
    at: Option<PointInTime>,
    #[command(flatten)]
    lock: LockOptions,
    #[command(flatten)]
    paging: Paging,
    /// Print every file of a message that has copies in several folders, not only the first
    #[arg(long)]
    files: bool,
    /// End each line or path with a NUL byte instead of a newline
    #[arg(long)]
    print0: bool,
    /// Create the links of --format links in this directory. It becomes a Maildir, and is created if it does
    /// not exist
    #[arg(long, alias = "linksdir", value_name = "DIR")]
    links_dir: Option<PathBuf>,
    /// First remove the links that earlier searches created there, and nothing else
    #[arg(long, short = 'c', alias = "clearlinks", requires = "links_dir")]
    clear_links: bool,
    /// Run a command for each message, without a shell. The path of its file replaces {}, or is the last
    /// argument. Variables that hold passwords and keys of repositories are not passed on
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["format", "fields", "print0"])]
    exec: Option<String>,
    /// Print how the query is answered and how long each part took, instead of messages
    #[arg(long, conflicts_with_all = ["format", "exec", "links_dir"])]
    analyze: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns, one message per line
    Plain,
    /// JSON Lines
    Json,
    /// S-expressions for Emacs, as mu prints them
    Sexp,
    /// One path per line
    Paths,
    /// The messages themselves, as one mbox file
    Mbox,
    /// Symbolic links in --links-dir
    Links,
    /// The number of messages
    Count,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood or answered; there is no index, or a damaged one.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let fields = self.fields.as_deref().unwrap_or(FIELDS_DEFAULT);
        let pieces = fields::parse(fields).map_err(|what| anyhow!("--fields: {what}"))?;
        self.check()?;
        let command = self.exec.as_deref().map(words::split).transpose();
        let command = command.map_err(|what| anyhow!("--exec: {what}"))?;
        let view = session.view()?;
        let question = TypedQuery::new(&self.query, &view)?;
        let SearchedView { view, outcome } = self.searched(view, session)?;
        // The process ends after this, which unmaps everything at once. That takes less time than unmapping
        // one map after the other.
        let view = std::mem::ManuallyDrop::new(view);
        let answer = self.answer((&view, &question), (pieces, command), session);
        match (answer, outcome) {
            (Ok(Outcome::Done | Outcome::Nothing), Outcome::Partly) => Ok(Outcome::Partly),
            // Messages that were not found may be in the part that could not be read.
            (Err(error), Outcome::Partly) if error.is::<NotFound>() => {
                remedy::complain_why(&error);
                Ok(Outcome::Partly)
            }
            (answer, _) => answer,
        }
    }
}

impl Arguments {
    /// Finds messages and prints, links or writes them.
    fn answer(
        &self,
        (view, question): (&View, &TypedQuery),
        (pieces, command): (Vec<Piece>, Option<Vec<String>>),
        session: &Session,
    ) -> Result<Outcome> {
        if self.analyze {
            return super::count::analyze(view, question, session);
        }
        if self.format == Format::Count {
            let count = self.listing.count(view, question)?;
            return super::count::print(count, (view, question), session);
        }
        if self.listing.threads == Some(ThreadForm::Summary) {
            return self.summaries((view, question), session);
        }
        let found = self.listing.find(view, question, &self.order())?;
        let hits = &found.hits;
        if let Some(directory) = &self.links_dir {
            return self.links(directory, (view, question, &found), session);
        }
        if hits.list.is_empty() {
            return nothing((view, question, &found), self, session);
        }
        if let Some(command) = command {
            return exec::run(view, &hits.list, self.places(), &command);
        }
        let Some(printer) = self.printer(pieces, session) else {
            let archive = LazyArchive::new(self.lock, session)?;
            archive.open_before_pager((view, &hits.list), self.paging)?;
            return mbox::write((view, &hits.list), archive, session.paged_output(self.paging));
        };
        let mut output = session.paged_output(self.paging);
        let list = (found.hits.list.as_slice(), found.positions.as_slice());
        render::print_messages(view.mailbox(), list, &*printer, &mut output.first_at_once())?;
        output.finish()?;
        if self.archived && self.format == Format::Paths {
            return deliver::tell_without_files(view, &hits.list);
        }
        Ok(Outcome::Done)
    }

    /// Prints a line for each conversation.
    fn summaries(&self, (view, question): (&View, &TypedQuery), session: &Session) -> Result<Outcome> {
        let threads = self.listing.find_threads(view, question, &self.order())?;
        if threads.list.is_empty() {
            let hits = Hits { total: threads.total, list: Vec::new() };
            let found = Found { hits, unit: "threads", ..Found::default() };
            return nothing((view, question, &found), self, session);
        }
        let (end, terminal) = (self.end(), session.terminal);
        let zone = environment::now().time_zone().clone();
        let show: &ShowThread<'_> = match self.format {
            Format::Json => &|thread, out| render::json_line_of(thread, out),
            Format::Sexp => &|thread, out| render::sexp_thread_line(thread, out),
            _ => &|thread, out| threads::plain(thread, (&zone, end, terminal), out),
        };
        let mut output = session.paged_output(self.paging);
        render::print_threads(view.mailbox(), &threads.list, show, &mut output.first_at_once())?;
        output.finish()?;
        Ok(Outcome::Done)
    }

    /// Returns the view to search: as of `--at`, and with the messages of the archive for `--archived`.
    fn searched(&self, view: View, session: &Session) -> Result<SearchedView> {
        let whole = |view| SearchedView { view, outcome: Outcome::Done };
        match (self.at, self.archived) {
            (Some(at), _) => point_in_time::view(view, at, self.lock, session).map(whole),
            (None, true) => messages::with_absent(view, session),
            (None, false) => Ok(whole(view)),
        }
    }

    /// Refuses options that cannot be combined.
    fn check(&self) -> Result<()> {
        if self.print0 && !matches!(self.format, Format::Plain | Format::Paths) {
            bail!("--print0 works only with --format plain or paths");
        }
        if (self.format == Format::Links) != self.links_dir.is_some() {
            bail!("--format links and --links-dir DIR work only together");
        }
        if self.listing.threads == Some(ThreadForm::Summary) {
            let has_lines =
                matches!(self.format, Format::Plain | Format::Json | Format::Sexp | Format::Count);
            if !has_lines || self.exec.is_some() {
                bail!("--threads=summary works only with --format plain, json, sexp or count");
            }
            if self.fields.is_some() || self.files {
                bail!("--threads=summary has columns of its own, without --fields and --files");
            }
        }
        Ok(())
    }

    fn places(&self) -> FileChoice {
        if self.files { FileChoice::All } else { FileChoice::First }
    }

    fn end(&self) -> End {
        if self.print0 { End::Zero } else { End::Line }
    }

    /// Returns the printer for the format, if the format needs only the index.
    fn printer(&self, pieces: Vec<Piece>, session: &Session) -> Option<Box<dyn Printer>> {
        let end = self.end();
        let places = self.places();
        let terminal = session.terminal;
        match self.format {
            Format::Json => Some(Box::new(Json)),
            Format::Sexp => Some(Box::new(Sexp)),
            Format::Paths => Some(Box::new(Paths { end, places, is_terminal: terminal.is_terminal() })),
            Format::Plain => {
                let zone = environment::now().time_zone().clone();
                Some(Box::new(Plain::new(&pieces, (end, places), zone, terminal)))
            }
            Format::Mbox | Format::Links | Format::Count => None,
        }
    }

    /// Makes links. Clears old links even if nothing is found, because they do not match this query.
    fn links(
        &self,
        directory: &Path,
        (view, question, found): (&View, &TypedQuery, &Found),
        session: &Session,
    ) -> Result<Outcome> {
        let directory =
            environment::current_directory().context("the current directory is gone")?.join(directory);
        let mut links =
            Links::open(&directory, if self.clear_links { Earlier::Clear } else { Earlier::Keep })?;
        if found.hits.list.is_empty() {
            return nothing((view, question, found), self, session);
        }
        let (count, outcome) = links.add(view, &found.hits.list, self.places())?;
        if !session.is_quiet {
            let mut output = session.output();
            let links = if count == 1 { "link" } else { "links" };
            output.line(&one_line(&format!("{count} {links} in {}", directory.display())))?;
            output.finish()?;
        }
        Ok(outcome)
    }

    fn order(&self) -> Order {
        let key = self.sort.key();
        let natural = key.natural();
        Order {
            key,
            direction: if self.reverse { natural.turned() } else { natural },
            offset: self.offset,
            limit: self.max.map(NonZeroUsize::get),
        }
    }
}

fn nothing(
    (view, question, found): (&View, &TypedQuery, &Found),
    arguments: &Arguments,
    session: &Session,
) -> Result<Outcome> {
    session.nothing(match found.hits.total {
        0 => match question.why_nothing(view)? {
            Some(why) => format!("no message matches: {why}"),
            None => "no message matches".to_owned(),
        },
        total => format!("{total} {} match, none after the first {}", found.unit, arguments.offset),
    })
}
