//! Decides which snapshots a policy keeps, exactly as restic does.
//!
//! Input: what is known of the snapshots, a policy, and the current time. Output: groups, with the snapshots
//! to keep, why, and the snapshots to remove. Does not read or remove snapshots.
//!
//! Each group is processed from the newest snapshot to the oldest. A rule with a count keeps the newest
//! snapshot of each period until the count is used up. The oldest snapshot is kept as well while a count is
//! left, so that the history is as long as possible. Times are compared by the clock that each snapshot was
//! made with.

mod calendar;
mod policy;

pub use crate::error::KeepsNone;
pub use policy::{Count, GroupBy, NotAPolicy, Policy, Span};

use crate::encoding::time::Time;
use crate::snapshots::select::{Candidate, instant};
use calendar::Period;
use jiff::tz::TimeZone;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The current time and zone, which rules that count back from the newest snapshot need.
#[derive(Clone, Debug)]
pub struct Present {
    /// Now. A snapshot in the future does not count as the newest.
    pub now: Time,
    /// The zone of this machine.
    pub zone: TimeZone,
}

/// Snapshots that are grouped together, and what to do with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// The snapshots to keep, the newest first.
    pub keep: Vec<KeptSnapshot>,
    /// The positions of the snapshots to remove, the newest first.
    pub remove: Vec<usize>,
}

/// What the snapshots of a group have in common; empty where they are not grouped by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    /// The host.
    pub hostname: String,
    /// What was backed up, sorted.
    pub paths: Vec<String>,
    /// The tags, sorted.
    pub tags: Vec<String>,
}

/// A snapshot to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSnapshot {
    /// Its position among the candidates.
    pub place: usize,
    /// Why, as restic says it: "daily snapshot", "oldest weekly snapshot", "within 1m", "has tags [a, b]".
    /// Empty if there is no policy.
    pub reasons: Vec<String>,
}

/// Decides which candidates to keep. Groups come in the order of their keys.
///
/// # Errors
/// If there is a policy and it keeps no snapshot of some group.
pub fn plan(
    candidates: &[Candidate<'_>],
    group_by: GroupBy,
    policy: &Policy,
    present: &Present,
) -> Result<Vec<Group>, KeepsNone> {
    let mut groups: BTreeMap<GroupKey, Vec<usize>> = BTreeMap::new();
    for (place, candidate) in candidates.iter().enumerate() {
        groups.entry(key(candidate, group_by)).or_default().push(place);
    }
    let mut planned = Vec::new();
    for (key, mut places) in groups {
        places.sort_by_key(|&place| Reverse(instant(&candidates[place].time)));
        let group = plan_group(key, &places, candidates, Rules::of(policy, &places, candidates, present));
        if group.keep.is_empty() {
            return Err(KeepsNone { group: group.key.sentence() });
        }
        planned.push(group);
    }
    Ok(planned)
}

fn key(candidate: &Candidate<'_>, group_by: GroupBy) -> GroupKey {
    let sorted = |words: &[String], is_asked: bool| {
        let mut words = if is_asked { words.to_vec() } else { Vec::new() };
        words.sort();
        words
    };
    GroupKey {
        hostname: if group_by.host { candidate.hostname.to_owned() } else { String::new() },
        paths: sorted(candidate.paths, group_by.paths),
        tags: sorted(candidate.tags, group_by.tags),
    }
}

impl GroupKey {
    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if !self.hostname.is_empty() {
            parts.push(format!(" of host {}", self.hostname));
        }
        if !self.paths.is_empty() {
            parts.push(format!(" of path {}", self.paths.join(" and ")));
        }
        if !self.tags.is_empty() {
            parts.push(format!(" with tags {}", self.tags.join(",")));
        }
        parts.concat()
    }
}

/// A policy for one group.
struct Rules<'a> {
    policy: &'a Policy,
    /// Since when all are kept, if that is asked.
    since: Option<Since>,
    counted: [Counted; 6],
    recent: [Recent; 5],
}

/// A point in time with nanoseconds; later snapshots are kept. `None` keeps all.
#[derive(Clone, Copy)]
struct Since(Option<(i64, u32)>);

/// A rule that counts.
struct Counted {
    period: Period,
    left: Count,
    last: Option<i64>,
    reason: &'static str,
}

/// A rule that looks back.
struct Recent {
    period: Period,
    span: Span,
    since: Option<Since>,
    last: Option<i64>,
    reason: &'static str,
}

impl Since {
    fn holds(self, time: &Time) -> bool {
        self.0.is_none_or(|begin| instant(time) > begin)
    }
}

impl<'a> Rules<'a> {
    fn of(
        policy: &'a Policy,
        places: &[usize],
        candidates: &[Candidate<'_>],
        present: &Present,
    ) -> Rules<'a> {
        let times = places.iter().map(|&place| candidates[place].time);
        let newest = times.filter(|time| instant(time) < instant(&present.now)).max_by_key(instant);
        let since = |span: &Span| {
            let begin =
                |newest: Time| Some((calendar::before(&newest, span, &present.zone)?, newest.nanoseconds()));
            (!span.is_empty()).then(|| Since(newest.and_then(begin)))
        };
        let counted = |period, left, reason| Counted { period, left, last: None, reason };
        let recent = |period, span, reason| Recent { period, span, since: since(&span), last: None, reason };
        Rules {
            policy,
            since: since(&policy.within),
            counted: [
                counted(Period::Each, policy.last, "last snapshot"),
                counted(Period::Hour, policy.hourly, "hourly snapshot"),
                counted(Period::Day, policy.daily, "daily snapshot"),
                counted(Period::Week, policy.weekly, "weekly snapshot"),
                counted(Period::Month, policy.monthly, "monthly snapshot"),
                counted(Period::Year, policy.yearly, "yearly snapshot"),
            ],
            recent: [
                recent(Period::Hour, policy.within_hourly, "hourly within"),
                recent(Period::Day, policy.within_daily, "daily within"),
                recent(Period::Week, policy.within_weekly, "weekly within"),
                recent(Period::Month, policy.within_monthly, "monthly within"),
                recent(Period::Year, policy.within_yearly, "yearly within"),
            ],
        }
    }
}

/// Goes through a group, whose places are in order of time, the newest first.
fn plan_group(key: GroupKey, places: &[usize], candidates: &[Candidate<'_>], mut rules: Rules<'_>) -> Group {
    let mut group = Group { key, keep: Vec::new(), remove: Vec::new() };
    for (rank, &place) in places.iter().enumerate() {
        let age = Age { rank, is_oldest: rank + 1 == places.len() };
        let reasons = rules.reasons(&candidates[place], age);
        if reasons.is_empty() && !rules.policy.is_empty() {
            group.remove.push(place);
        } else {
            group.keep.push(KeptSnapshot { place, reasons });
        }
    }
    group
}

/// The position of a snapshot in its group.
#[derive(Clone, Copy)]
struct Age {
    /// How many are newer.
    rank: usize,
    is_oldest: bool,
}

impl Rules<'_> {
    /// Returns why a snapshot is kept, and counts it. Snapshots have to come from the newest on.
    fn reasons(&mut self, candidate: &Candidate<'_>, age: Age) -> Vec<String> {
        let mut reasons = Vec::new();
        for tags in self.policy.tags.iter().filter(|tags| candidate.has_tags(tags)) {
            reasons.push(format!("has tags [{}]", tags.join(", ")));
        }
        if self.since.is_some_and(|since| since.holds(&candidate.time)) {
            reasons.push(format!("within {}", self.policy.within));
        }
        for rule in self.counted.iter_mut().filter(|rule| rule.left != Count::Some(0)) {
            let number = rule.period.number(&candidate.time, age.rank);
            if let Some(oldest) = first_of(number, &mut rule.last, age) {
                reasons.push(format!("{oldest}{}", rule.reason));
                if let Count::Some(left) = &mut rule.left {
                    *left -= 1;
                }
            }
        }
        for rule in &mut self.recent {
            if rule.since.is_some_and(|since| since.holds(&candidate.time)) {
                let number = rule.period.number(&candidate.time, age.rank);
                if let Some(oldest) = first_of(number, &mut rule.last, age) {
                    reasons.push(format!("{oldest}{} {}", rule.reason, rule.span));
                }
            }
        }
        reasons
    }
}

/// Returns whether a snapshot is the first of its period, or the oldest of all; then in front of the reason
/// stands what is returned.
fn first_of(number: i64, last: &mut Option<i64>, age: Age) -> Option<&'static str> {
    let is_first = *last != Some(number);
    *last = Some(number);
    match (is_first, age.is_oldest) {
        (true, _) => Some(""),
        (false, true) => Some("oldest "),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests;
