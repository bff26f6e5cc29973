//! Figures of contents, each for itself, by everything that a page shows at once.
//!
//! Input: a set of contents. Output: figures by month, weekday and hour, by folder and by sender. What all of
//! them need is read once. Must not know copies.

use crate::error::Result;
use crate::search::mailbox::Mailbox;
use crate::search::stats::columns::Columns;
use crate::search::stats::dimension::Dimension;
use crate::search::stats::grouping::{Shown, by_folder, group};
use crate::search::stats::replies::ReplyTimes;
use crate::search::stats::{Figures, Group, Tally};
use crate::set::NumberSet;
use jiff::tz::TimeZone;

/// Figures of contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentStats {
    /// Of all.
    pub total: Figures,
    /// By the month of the date: "2026-11". Without a date last.
    pub months: Vec<Group>,
    /// By the day of the week: "Monday".
    pub weekdays: Vec<Group>,
    /// By the hour of the day: "07".
    pub hours: Vec<Group>,
    /// By the number of the folder. A content counts in each of its folders.
    pub folders: Vec<(u32, Figures)>,
    /// By the sender's address, the most frequent first.
    pub senders: Vec<Group>,
}

impl Mailbox {
    /// Returns figures of a set of contents, each of which counts for itself. Times are those of `zone`.
    ///
    /// # Errors
    /// As [`Mailbox::stats`].
    pub fn content_stats(&self, found: &NumberSet, zone: &TimeZone) -> Result<ContentStats> {
        let columns = Columns::read(self)?;
        let replies = ReplyTimes::read(self, &columns)?;
        let shown = Shown::alone(found);
        let mut tally = Tally::new(&columns, &replies, self.bound());
        let total = tally.figures(found.iter());
        let mut of = |by| {
            self.check_cancelled()?;
            self.groups(group(self, &shown, &columns, (by, zone))?, by, &mut tally)
        };
        let [months, weekdays] = [of(Dimension::Month)?, of(Dimension::Weekday)?];
        let [hours, senders] = [of(Dimension::Hour)?, of(Dimension::Sender)?];
        let folders = by_folder(self, &shown, |folder| folder.number.to_string())?;
        let folders = self.groups(folders, Dimension::Folder, &mut tally)?.into_iter();
        let folders = folders.filter_map(|group| Some((group.key?.parse().ok()?, group.figures))).collect();
        Ok(ContentStats { total, months, weekdays, hours, folders, senders })
    }
}
