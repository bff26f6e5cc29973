//! Which snapshots a policy may remove.
//!
//! Input: snapshots, a filter, a policy, the time. Output: their places in the list. Reads and removes
//! nothing.
//!
//! restic's policies decide ([`restic::forget`]), after two rules of this program: a snapshot that keeps
//! deleted messages is removed only if the filter names its tag, and times that must be wrong decide nothing.

use crate::error::{Error, Result};
use crate::names::{DELETED_TAG, keeps_deleted};
use restic::forget::{GroupBy, Policy, Present, plan};
use restic::select::{Candidate, Filter};
use restic::{Id, Snapshot};

/// No snapshot is older than this, in seconds since 1970. Clocks that lost their time start at 1970; this is
/// a year later.
const DATED_SECONDS_MIN: i64 = 365 * 86_400;
/// How far the clocks of hosts that share a repository may differ.
const AHEAD_SECONDS_MAX: i64 = 86_400;

/// What a policy says about snapshots, by their places in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyOutcome {
    /// Those to remove, in order.
    pub remove: Vec<usize>,
    /// Those that stay because their times are from clocks that were wrong. By their age they would be
    /// removed first.
    pub undated: Vec<usize>,
}

/// Decides which of the snapshots that `filter` matches are removed by a policy. `present` is the time of a
/// clock that is plausible.
///
/// # Errors
/// [`Error::FutureSnapshot`]: until its time it would count as the newest one, and each new one would be
/// removed at once. [`restic::Error::KeepsNone`] if the policy keeps no snapshot of a group.
pub fn apply_policy(
    snapshots: &[(Id, Snapshot)],
    filter: &Filter,
    (policy, group_by): (&Policy, GroupBy),
    present: &Present,
) -> Result<PolicyOutcome> {
    let names_deleted = filter.tags.iter().flatten().any(|tag| tag == DELETED_TAG);
    let mut outcome = PolicyOutcome::default();
    let (mut places, mut candidates) = (Vec::new(), Vec::new());
    for (place, (_, snapshot)) in snapshots.iter().enumerate() {
        let candidate = Candidate::from(snapshot);
        if !filter.matches(&candidate) || (keeps_deleted(snapshot) && !names_deleted) {
            continue;
        }
        if candidate.time.seconds() < DATED_SECONDS_MIN {
            outcome.undated.push(place);
        } else {
            places.push(place);
            candidates.push(candidate);
        }
    }
    let now_seconds = present.now.seconds();
    let newest = places.iter().filter_map(|&place| snapshots.get(place)).max_by_key(|(_, made)| made.time);
    if let Some((id, Snapshot { time, .. })) = newest
        && time.seconds() > now_seconds.saturating_add(AHEAD_SECONDS_MAX)
    {
        return Err(Error::FutureSnapshot { id: *id, time: *time, now_seconds });
    }
    let groups = plan(&candidates, group_by, policy, present).map_err(restic::Error::from)?;
    let removed = groups.into_iter().flat_map(|group| group.remove);
    outcome.remove = removed.filter_map(|place| places.get(place).copied()).collect();
    outcome.remove.sort_unstable();
    Ok(outcome)
}

/// Returns the newest of snapshots that are sorted oldest first. One that keeps deleted messages counts only
/// if there is no other.
pub fn latest_snapshot<'a>(
    snapshots: impl DoubleEndedIterator<Item = &'a (Id, Snapshot)> + Clone,
) -> Option<&'a (Id, Snapshot)> {
    snapshots.clone().rfind(|(_, snapshot)| !keeps_deleted(snapshot)).or_else(|| snapshots.last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::snapshots::snapshot;
    use jiff::tz::TimeZone;
    use restic::Time;
    use restic::forget::Count;

    const DAY: i64 = 86_400;
    const NOW: i64 = 20_000 * DAY;

    fn made(day: i64, tags: &[&str]) -> (Id, Snapshot) {
        (Id([u8::try_from(day.rem_euclid(251)).unwrap(); 32]), snapshot("host", day * DAY, &["/mail"], tags))
    }

    fn applied(snapshots: &[(Id, Snapshot)], tags: &[&str]) -> Result<PolicyOutcome> {
        let policy = Policy { last: Count::Some(1), ..Policy::default() };
        let tags = tags.iter().map(|tag| vec![(*tag).to_owned()]).collect();
        let filter = Filter { tags, ..Filter::default() };
        let present = Present { now: Time::new(NOW, 0, 0), zone: TimeZone::UTC };
        apply_policy(snapshots, &filter, (&policy, GroupBy::default()), &present)
    }

    #[test]
    fn what_keeps_deleted_messages_stays_unless_it_is_named() {
        let snapshots = [
            made(19_000, &[DELETED_TAG]),
            made(19_001, &[]),
            made(19_002, &[DELETED_TAG]),
            made(19_003, &[]),
        ];
        assert_eq!(applied(&snapshots, &[]).unwrap().remove, [1]);
        assert_eq!(applied(&snapshots, &[DELETED_TAG]).unwrap().remove, [0]);
        assert_eq!(latest_snapshot(snapshots[..3].iter()).unwrap().0, snapshots[1].0);
        assert_eq!(latest_snapshot(snapshots[..1].iter()).unwrap().0, snapshots[0].0);
        assert!(latest_snapshot(snapshots[..0].iter()).is_none());
    }

    #[test]
    fn times_that_must_be_wrong_decide_nothing() {
        let snapshots = [made(-3, &[]), made(19_001, &[]), made(364, &[]), made(19_003, &[])];
        let expected = PolicyOutcome { remove: vec![1], undated: vec![0, 2] };
        assert_eq!(applied(&snapshots, &[]).unwrap(), expected);
        let tomorrow = [made(19_001, &[]), made(20_001, &[])];
        assert_eq!(applied(&tomorrow, &[]).unwrap().remove, [0], "clocks may differ by a day");
        let later = [made(19_001, &[]), made(20_002, &[])];
        assert!(matches!(applied(&later, &[]), Err(Error::FutureSnapshot { id, .. }) if id == later[1].0));
    }

    #[test]
    fn a_policy_that_keeps_nothing_is_refused() {
        let policy = Policy { tags: vec![vec!["gold".to_owned()]], ..Policy::default() };
        let present = Present { now: Time::new(NOW, 0, 0), zone: TimeZone::UTC };
        let snapshots = [made(19_001, &[])];
        let refused = apply_policy(&snapshots, &Filter::default(), (&policy, GroupBy::default()), &present);
        assert!(matches!(refused, Err(Error::Repository(restic::Error::KeepsNone(_)))));
    }
}
