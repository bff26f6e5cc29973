//! Statistics/get: how many emails there are, by time, mailbox and sender.
//!
//! Input: a filter. Output: numbers. Only columns are read, and no message. Does not know how they are added
//! up.

use crate::account::Account;
use crate::email::read_filter;
use crate::error::failed;
use jmap::{Arguments, Context, Id, MethodError};
use pneu::{Figures, Group, Replies};
use printable::sanitise::one_line;
use serde_json::{Map, Value, json};

/// The largest offset of a clock, in minutes.
const OFFSET_MAX: i64 = 24 * 60 - 1;
/// How many senders are listed if the call does not say, and at most.
const SENDERS_DEFAULT: u64 = 50;
const SENDERS_MAX: u64 = 1_000;
/// The days of the week, by their names in the library.
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Account<'_> {
    pub(super) fn statistics_get(
        &self,
        mut arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let account_id = arguments.id("accountId")?;
        let filter = arguments.optional_object("filter")?;
        let offset = arguments.integer("utcOffset", 0)?;
        let senders_max = arguments.optional_unsigned("maxSenders")?.unwrap_or(SENDERS_DEFAULT);
        let Some(offset) =
            i32::try_from(offset).ok().filter(|_| (-OFFSET_MAX..=OFFSET_MAX).contains(&offset))
        else {
            return Err(arguments.fault("utcOffset", "is more than a day"));
        };
        arguments.finish()?;
        self.check(&account_id)?;
        let headers = &self.view.settings().configuration.headers;
        let filter = filter.map(|filter| read_filter(filter, headers, context)).transpose()?;
        let found = self.found(filter.as_ref())?;
        let stats = self.view.content_stats(&found, offset).map_err(failed)?;
        let mailboxes = self.mailbox_ids();
        let by_mailbox = stats.folders.iter().filter_map(|(number, of)| {
            Some(with(*of, [("mailboxId", mailboxes.get(number).map(Id::as_str)?.into())]))
        });
        let senders_max = usize::try_from(senders_max.min(SENDERS_MAX)).unwrap_or(usize::MAX);
        let mut by_sender = Vec::new();
        for group in stats.senders.iter().take(senders_max) {
            let Some(address) = &group.key else { continue };
            let name = self.view.display_name(address).map_err(failed)?.unwrap_or_default();
            let who = [("address", one_line(address).into()), ("name", one_line(&name).into())];
            by_sender.push(with(group.figures, who));
        }
        let object = json!({
            "accountId": account_id.as_str(),
            "state": self.state()?,
            "total": total(&stats.total),
            "byMonth": groups(&stats.months, "month", |key| Some(key.into())),
            "byWeekday": groups(&stats.weekdays, "weekday", |key| {
                Some((WEEKDAYS.iter().position(|day| *day == key)? + 1).into())
            }),
            "byHour": groups(&stats.hours, "hour", |key| key.parse::<u8>().ok().map(Value::from)),
            "byMailbox": by_mailbox.collect::<Value>(),
            "senderCount": stats.senders.len(),
            "bySender": by_sender,
        });
        context.count(&object)?;
        let Value::Object(object) = object else { unreachable!("an object is written above") };
        Ok(object)
    }
}

/// Returns groups of time. Emails without a date are in the last one, whose key is null.
fn groups(groups: &[Group], name: &str, value: impl Fn(&str) -> Option<Value>) -> Value {
    let value = |group: &Group| group.key.as_deref().and_then(&value).unwrap_or(Value::Null);
    groups.iter().map(|group| with(group.figures, [(name, value(group))])).collect()
}

/// Returns figures, with members before them.
fn with<const COUNT: usize>(figures: Figures, members: [(&str, Value); COUNT]) -> Value {
    let figures = [
        ("emails", figures.message_count.into()),
        ("bytes", figures.size_bytes.into()),
        ("threads", figures.thread_count.into()),
    ];
    let all = members.into_iter().chain(figures);
    Value::Object(all.map(|(name, value)| (name.to_owned(), value)).collect())
}

fn total(figures: &Figures) -> Value {
    let replies =
        |replies: Replies| json!({ "count": replies.count, "medianSeconds": replies.median_seconds });
    let replies =
        [("ownReplies", replies(figures.own_replies)), ("otherReplies", replies(figures.other_replies))];
    with(*figures, replies)
}
