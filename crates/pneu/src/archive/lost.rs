//! Messages that would be in no Maildir and in no snapshot if snapshots were removed.
//!
//! Input: the snapshots that go and those that stay; a view, if there is an index. Output: the messages, and
//! what they are about. Removes nothing.

use super::Archive;
use crate::error::Result;
use crate::view::View;
use backup::{LostMessage, LostReport, Unreferenced};
use mail::FileContent;
use restic::Snapshot;
use work::Progress;

/// What a message is about, for a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its date in seconds since 1970; if it states none, when its file was delivered.
    pub date_seconds: Option<i64>,
    /// The first sender: the name, or else the address.
    pub from: String,
    /// The subject.
    pub subject: String,
}

impl Archive<'_> {
    /// Returns the messages that nothing would have any more if the snapshots `going` were removed and only
    /// `staying` stayed. Without a view, messages in Maildirs are not known. Walks all trees.
    ///
    /// # Errors
    /// The repository cannot be reached; damage in the index; [`Error::Cancelled`](crate::Error::Cancelled).
    /// Trees that cannot be read are problems in the report.
    pub fn lost_messages(
        &self,
        view: Option<&View>,
        snapshots: (&[Snapshot], &[Snapshot]),
        forgotten: Unreferenced,
        progress: &dyn Progress,
    ) -> Result<LostReport> {
        Ok(self.archive.lost_messages(view.map(View::mailbox), snapshots, forgotten, progress)?)
    }

    /// Returns what a message is about: from the index if it knows it, else from the message itself. `None`
    /// if neither can be read.
    pub fn about(&self, view: Option<&View>, lost: &LostMessage) -> Option<About> {
        let sha256 = lost.sha256?;
        if let Some(view) = view
            && let Some(hit) = view.by_sha256(&sha256).ok()?
        {
            let line = view.lines(&[hit]).ok()?.pop()?;
            return Some(About { date_seconds: line.date, from: line.from, subject: line.subject });
        }
        let mut content = FileContent::default();
        content.bytes = self.message(&sha256).ok()??;
        let now_seconds = self.archive.environment.context.now_ns().div_euclid(1_000_000_000);
        let message = mail::parse(&content.bytes, &mail::Context::new(index::present_for_dates(now_seconds)));
        let named = || lost.path.rsplit(|byte| *byte == b'/').next().and_then(mail::name_seconds);
        let from = message.from.first();
        let from = from.map(|from| if from.name.is_empty() { &from.address } else { &from.name });
        Some(About {
            date_seconds: message.date_seconds().or_else(named),
            from: from.cloned().unwrap_or_default().to_string(),
            subject: message.subject.to_string(),
        })
    }
}
