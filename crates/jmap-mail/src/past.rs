//! Mail that is not there now: messages whose files are gone, and the mail of a moment.
//!
//! Input: calls that ask for it by `archived` or `moment`. Output: the answers of the same methods by another
//! view. The archive is opened when it is first needed, without asking anybody. What it had at the last
//! moment that was asked for is kept until there is a new commit. Knows no properties.

use crate::account::Account;
use crate::capabilities::{ARCHIVE, MOMENT};
use crate::error::failed;
use crate::last_moment::Shown;
use crate::mailbox::Folders;
use crate::messages::Reading;
use jmap::{Arguments, Context, Date, MethodError, MethodErrorKind};
use pneu::archive::{SharedArchive, SnapshotsAt, Unopened};
use pneu::{Error, Hit, Message, View};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::mem;
use std::sync::Arc;

/// The methods that may be asked for a moment.
const OF_MOMENTS: [&str; 3] = ["Email/get", "Email/query", "Mailbox/get"];

/// Which messages a query finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Archived {
    Without,
    With,
    Only,
}

/// What became of reading a message whose files may be gone.
pub(crate) enum Read {
    /// It was read.
    Here(Arc<Reading>),
    /// No file of it can be read, and nothing more is known.
    Nowhere,
    /// It has no file, and the archive does not give it: why.
    NotInArchive(MethodError),
}

/// What a client is told of a moment besides the answer: the times of the snapshots that show it.
type AsOf = Vec<Value>;

impl Account<'_> {
    /// Answers a call of a method that reads, by another view if the call asks for one.
    pub(crate) fn read_now_or_then(
        &mut self,
        name: &str,
        mut arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let of_moment = context.uses(MOMENT) && OF_MOMENTS.contains(&name);
        let moment = if of_moment { arguments.optional_utc_date("moment")? } else { None };
        let archived = match name {
            "Email/query" if context.uses(ARCHIVE) => Archived::read(&mut arguments)?,
            _ => Archived::Without,
        };
        match (moment, archived) {
            (None, Archived::Without) => self.read(name, arguments, context),
            (None, archived) => {
                let present = self.view.contents().map_err(failed)?;
                let view = self.view.clone().with_gone().map_err(failed)?;
                self.left_out = (archived == Archived::Only).then_some(present);
                let answer = self.read_by(view, name, arguments, context);
                self.left_out = None;
                answer
            }
            (Some(moment), Archived::Without) => {
                let (view, as_of) = self.at(moment)?;
                let mut answer = self.read_by(view, name, arguments, context)?;
                answer.insert("asOf".to_owned(), as_of.into());
                Ok(answer)
            }
            (Some(_), _) => Err(arguments.fault("archived", "cannot be given together with moment")),
        }
    }

    /// Answers a call by another view of the same commit.
    fn read_by(
        &mut self,
        view: View,
        name: &str,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        self.state()?;
        let folders = match name {
            // The cache has those of the commit.
            "Mailbox/get" => OnceCell::from(Arc::new(Folders::new(&view).map_err(failed)?)),
            _ => OnceCell::new(),
        };
        let now = (mem::replace(&mut self.view, view), mem::replace(&mut self.folders, folders));
        let mut answer = self.read(name, arguments, context);
        (self.view, self.folders) = now;
        // The change log tells of the mail that is there now.
        if let Some(can) = answer.as_mut().ok().and_then(|answer| answer.get_mut("canCalculateChanges")) {
            *can = Value::Bool(false);
        }
        answer
    }

    /// Returns the view of a moment.
    fn at(&self, moment: Date) -> Result<(View, AsOf), MethodError> {
        let archive = self.archive()?;
        let snapshots =
            archive.choose(&self.view, moment.seconds.saturating_add(1)).map_err(archive_fault)?;
        let chosen = &snapshots.chosen.snapshots;
        if chosen.is_empty() {
            return Err(too_early(&snapshots));
        }
        let all = chosen.iter().filter_map(|one| Some((snapshots.all.get(one.snapshot)?, &one.roots)));
        let (mut ids, mut as_of) = (Vec::new(), Vec::new());
        for ((id, snapshot), roots) in all {
            ids.push((*id, roots.clone()));
            as_of.extend(Date::utc(snapshot.time.seconds()).text().map(Value::from));
        }
        let shown = Shown { state: self.state()?.to_owned(), snapshots: ids };
        let make = || archive.view_at(self.view.clone(), &snapshots, &self.patience());
        let view = self.cache.moment.get(shown, make).map_err(archive_fault)?;
        Ok((view.with_cancel(self.cancel.clone()), as_of))
    }

    /// Returns the archive.
    ///
    /// # Errors
    /// `archiveUnavailable`, if none is named.
    pub(crate) fn archive(&self) -> Result<&SharedArchive, MethodError> {
        self.archive.ok_or_else(|| archive_fault(Unopened::NotNamed.into()))
    }

    /// Returns the hit of a content; also of one that has no file any more, if the request may see these.
    pub(crate) fn hit(&self, sha256: &[u8; 32], context: &Context<'_>) -> Result<Option<Hit>, MethodError> {
        match self.view.content_hit(sha256).map_err(failed)? {
            None if context.uses(ARCHIVE) => self.view.known_content(sha256).map_err(failed),
            hit => Ok(hit),
        }
    }

    /// Reads a message from its files, or else from the archive, if the request may see what is gone.
    ///
    /// # Errors
    /// `requestTooLarge`; the request is cancelled; damage.
    pub(crate) fn read_now_or_archived(
        &self,
        hit: &Hit,
        message: &Message,
        context: &Context<'_>,
    ) -> Result<Read, MethodError> {
        if let Some(reading) = self.read_message(message)? {
            return Ok(Read::Here(reading));
        }
        if !context.uses(ARCHIVE) && !context.uses(MOMENT) {
            return Ok(Read::Nowhere);
        }
        Ok(match self.read_archived(message) {
            Ok(reading) => Read::Here(reading),
            Err(why) if self.view.gone_since(hit).map_err(failed)?.is_some() => Read::NotInArchive(why),
            Err(_) => Read::Nowhere,
        })
    }

    /// Reads a message from the archive, after [`Account::read_message`], which counted its bytes.
    ///
    /// # Errors
    /// `notFound`, if the archive does not have it; `archiveUnavailable`.
    fn read_archived(&self, message: &Message) -> Result<Arc<Reading>, MethodError> {
        let content = self.archive()?.read(&self.view, &message.sha256).map_err(archive_fault)?;
        let reading = content.and_then(|content| Reading::new(content).ok());
        let gone = || MethodError::new(MethodErrorKind::Other("notFound"), "the archive does not have it");
        let reading = Arc::new(reading.ok_or_else(gone)?);
        self.messages.keep(&reading);
        Ok(reading)
    }
}

impl Archived {
    fn read(arguments: &mut Arguments) -> Result<Archived, MethodError> {
        match arguments.optional_string("archived")?.as_deref() {
            None | Some("without") => Ok(Archived::Without),
            Some("with") => Ok(Archived::With),
            Some("only") => Ok(Archived::Only),
            Some(_) => Err(arguments.fault("archived", "is not \"without\", \"with\" or \"only\"")),
        }
    }
}

fn too_early(snapshots: &SnapshotsAt) -> MethodError {
    let mut error = MethodError::invalid_argument("moment", "is before the first backup");
    let first = snapshots.first_seconds().and_then(|seconds| Date::utc(seconds).text());
    error.extra.insert("firstMoment".to_owned(), first.into());
    error
}

/// Returns what a client is told of an archive that cannot be read, without paths of the machine.
pub(crate) fn archive_fault(error: Error) -> MethodError {
    let what = match error {
        Error::Cancelled => return failed(error),
        Error::Unopened(Unopened::Failed(_)) => {
            "the archive cannot be opened; \"pneu archive snapshots\" says why".to_owned()
        }
        Error::Unopened(why) => format!("the archive cannot be read: {why}"),
        _ => "the archive could not be read; \"pneu archive check\" says why".to_owned(),
    };
    MethodError::new(MethodErrorKind::Other("archiveUnavailable"), what)
}
