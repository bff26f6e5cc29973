//! Follows the mail: says what is watched, and prints a line for each change, as `pneu index --watch` does.
//!
//! Takes what the library tells. Does not know how changes are found.

use crate::amount::count;
use crate::hook;
use crate::output::{complain, complain_of};
use crate::progress::Progress;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use crate::words::quoted_path;
use anyhow::{Context as _, Result, bail};
use pneu::setup::configuration::Configuration;
use pneu::{
    AttachmentsRead, Error, FollowNote, FollowObserver, Host, Loss, Mode, Problem, Root, Summary,
    UpdateOptions,
};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;
use terminal::allocator::give_back_memory;

/// Follows the mail until a signal comes. A configuration that changes is read at once.
///
/// # Errors
/// The index is damaged or cannot be written.
pub(crate) fn follow(session: &Session, roots: &[Root]) -> Result<()> {
    let progress = Progress::start(false, true).context("cannot handle Ctrl-C")?;
    let follower = Follower {
        session,
        progress: &progress,
        waits: &|| progress.waits(),
        goes_on_with: &|_| (),
        says: if session.is_quiet { Says::Troubles } else { Says::Everything },
        on_failure: OnFailure::End,
    };
    follower.follow(session.host()?, roots)
}

/// Who follows the mail.
pub(crate) struct Follower<'a> {
    /// Where the configuration is read.
    pub session: &'a Session,
    /// Says when to end.
    pub progress: &'a dyn work::Progress,
    /// Hears when it waits, and nothing is half done.
    pub waits: &'a dyn Fn(),
    /// Hears of a host with a new configuration, which goes on.
    pub goes_on_with: &'a dyn Fn(&Arc<Host>),
    /// What the user is told.
    pub says: Says,
    /// What happens if the first pass fails.
    pub on_failure: OnFailure,
}

/// What the user is told of what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// What is watched, what changes, and what goes wrong.
    Everything,
    /// What goes wrong.
    Troubles,
}

/// What happens if the first pass fails. Later ones are tried again in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// It is an error.
    End,
    /// It is tried again.
    TryAgain,
}

impl Follower<'_> {
    /// Follows the mail until it is to end. A configuration that changes is read at once.
    ///
    /// # Errors
    /// The index is damaged or cannot be written.
    pub(crate) fn follow(&self, first: &Host, roots: &[Root]) -> Result<()> {
        let options = UpdateOptions { mode: Mode::Lazy, loss: Loss::Refuse, ..UpdateOptions::default() };
        let problems = RefCell::default();
        let mut next: Option<(Arc<Host>, Vec<Root>)> = None;
        loop {
            let (host, roots) = match &next {
                Some((host, roots)) => (&**host, roots.as_slice()),
                None => (first, roots),
            };
            let reader = Reader {
                session: self.session,
                configuration: &host.settings().configuration,
                told: RefCell::default(),
                next: RefCell::default(),
            };
            let goes_on = next.is_some() || self.on_failure == OnFailure::TryAgain;
            let has_worked = Cell::new(true);
            let observer = Teller { follower: self, problems: &problems, reader, goes_on, has_worked };
            match host.follow_mail(roots, &options, self.progress, &observer) {
                Err(Error::Cancelled) => return Ok(()),
                other => other?,
            }
            next = observer.reader.next.take();
            if let Some((host, _)) = &next {
                (self.goes_on_with)(host);
            }
            if self.says == Says::Everything {
                complain("the configuration was read again");
            }
        }
    }
}

/// Reads the configuration again.
struct Reader<'a> {
    session: &'a Session,
    /// The one that is followed.
    configuration: &'a Configuration,
    /// What was told to be wrong with the file as it is.
    told: RefCell<Option<String>>,
    /// What comes next: its host and roots.
    next: RefCell<Option<(Arc<Host>, Vec<Root>)>>,
}

impl Reader<'_> {
    /// Returns whether there is a new configuration. One that is not valid is told once.
    fn is_new(&self) -> bool {
        match self.read() {
            Ok(next) => {
                self.told.take();
                self.next.replace(next);
            }
            Err(error) => {
                let what = format!("{error:#}; the configuration that was read before stays");
                let what = one_line(&what).into_owned();
                if self.told.replace(Some(what.clone())).as_ref() != Some(&what) {
                    complain(what);
                }
            }
        }
        self.next.borrow().is_some()
    }

    fn read(&self) -> Result<Option<(Arc<Host>, Vec<Root>)>> {
        let now = match self.session.configuration_there()? {
            Some(now) => now,
            // Programs that write a file may remove the old one first.
            None if *self.configuration != Configuration::default() => bail!("the configuration is gone"),
            None => return Ok(None),
        };
        if now == *self.configuration {
            return Ok(None);
        }
        let host = Arc::new(Host::new(self.session.settings(now)));
        let roots = host.roots_to_index(&host.index_state()?, &self.session.given_roots)?;
        Ok(Some((host, roots)))
    }
}

/// The end of a sentence that says how to have more programs that watch.
const RAISE_INSTANCES: &str = ". To raise the limit: sudo sysctl fs.inotify.max_user_instances=1024";

/// After a pass over so many messages, freed memory is given back to the system.
const MUCH: u64 = 1024;

/// Tells the user what happens.
struct Teller<'a> {
    follower: &'a Follower<'a>,
    /// The problems of the last pass, so that each is told once.
    problems: &'a RefCell<Vec<Problem>>,
    reader: Reader<'a>,
    /// Whether the mail was followed before, by another configuration.
    goes_on: bool,
    /// Whether a pass took memory that is not needed while it waits.
    has_worked: Cell<bool>,
}

impl FollowObserver for Teller<'_> {
    fn configuration(&self) -> Option<&Path> {
        self.follower.session.configuration.as_deref()
    }

    fn is_reconfigured(&self) -> bool {
        self.reader.is_new()
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }

    fn waits(&self) {
        (self.follower.waits)();
        if self.has_worked.take() {
            give_back_memory();
            // The allocator of static programs has memory of its own for each thread.
            if cfg!(target_env = "musl") {
                rayon::broadcast(|_| give_back_memory());
            }
        }
    }

    fn updated(&self, summary: &Summary) {
        let before = self.problems.replace(summary.problems.clone());
        for problem in summary.problems.iter().filter(|problem| !before.contains(problem)) {
            complain_of(problem.path.display(), &remedy::sentence(&problem.what, problem.remedy));
        }
        summary.attachment_problems.iter().for_each(|problem| complain(one_line(problem)));
        let Summary { added, moved, changed, gone, .. } = summary;
        if added + moved + changed + gone >= MUCH {
            self.has_worked.set(true);
        }
        if self.says_everything() && added + moved + changed + gone > 0 {
            // Nobody may read what is printed. The index is what counts.
            let mut output = self.follower.session.output();
            let line = format!("{added} added, {moved} moved, {changed} changed, {gone} gone");
            let _ = output.line(&line).and_then(|()| output.finish());
        }
        if added + moved + changed + gone > 0 {
            hook::run("index.after", self.reader.configuration.hooks.after.as_ref());
        }
    }

    fn notes(&self, note: FollowNote) {
        match note {
            FollowNote::Watching { folder_count, directory_count } if self.says_everything() => {
                let folders = count(folder_count as u64, "folder");
                complain(format!("watching {folders} ({})", count(directory_count as u64, "directory")));
            }
            FollowNote::Watching { .. } => {}
            FollowNote::WatchLimit { left_out_count, limit, wanted } => {
                let limit = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
                complain(format!(
                    "{} cannot be watched, because the limit{limit} is reached; they are looked at every \
                     30 seconds. To raise the limit: sudo sysctl fs.inotify.max_user_watches={wanted}",
                    count(left_out_count as u64, "directory")
                ));
            }
            FollowNote::NoWatches(error) => {
                let (why, remedy) = match error {
                    Some(error) => (format!("the system refuses ({error})"), ""),
                    None => ("too many programs of yours watch directories".to_owned(), RAISE_INSTANCES),
                };
                complain(format!(
                    "nothing can be watched, because {why}; all folders are looked at every 30 \
                     seconds{remedy}"
                ));
            }
            FollowNote::Remote { path, file_system } => complain(one_line(&format!(
                "{} is on {file_system}, which does not tell of all changes; it is looked at every 30 \
                 seconds",
                quoted_path(&path)
            ))),
            FollowNote::Failed(error) => {
                complain(format!("{}; trying again in 30 seconds", remedy::explained(&error.into())));
            }
            FollowNote::MergeFailed(error) => {
                let error = remedy::explained(&error.into());
                complain(format!("the index is up to date, and its files are not merged: {error}"));
            }
            FollowNote::MergedByPasses(why) => {
                let why = match why {
                    Some(error) => format!("the system refuses another thread ({error})"),
                    None => "there was a fault in pneu".to_owned(),
                };
                complain(format!(
                    "{why}; mail is followed, and updates take longer, as they merge the files of the index \
                     themselves"
                ));
            }
            FollowNote::Attachments(read) => {
                read.problems.iter().for_each(|problem| complain(one_line(problem)));
                if self.says_everything() && read.messages > 0 {
                    let mut output = self.follower.session.output();
                    let _ = output.line(&attachments_line(&read)).and_then(|()| output.finish());
                }
            }
            FollowNote::AttachmentsFailed(error) => {
                complain(format!("attachments are not read: {}", remedy::explained(&error.into())));
            }
        }
    }
}

impl Teller<'_> {
    fn says_everything(&self) -> bool {
        self.follower.says == Says::Everything
    }
}

/// Returns a line about attachments that were read.
pub(crate) fn attachments_line(read: &AttachmentsRead) -> String {
    let without = match read.without_file {
        0 => String::new(),
        without => format!("; {without} left out, for which there is no file"),
    };
    format!("attachments of {} read{without}", count(read.messages, "message"))
}
