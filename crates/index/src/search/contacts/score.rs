//! How much a person counts: how often they wrote or received mail, how long ago, and whether the user wrote
//! to them.
//!
//! Each message counts 1 on its day, and half of that for each [`HALF_LIFE_DAYS`] since. A message from the
//! user to the person counts [`WRITTEN_FACTOR`] times. A newsletter that comes every day reaches 260 in a few
//! years. A friend to whom the user writes twelve times a year reaches 430. Must not know rows.

/// After so many days a message counts half.
const HALF_LIFE_DAYS: f64 = 180.0;
/// A message from the user counts as many as so many others.
const WRITTEN_FACTOR: f64 = 50.0;
/// Minutes of a day.
const DAY_MINUTES: f64 = 1440.0;

/// Messages whose dates lie between two dates. Only their number and these dates are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    /// How many there are.
    pub count: u64,
    /// The first and the last date, in seconds since 1970; `None` if no message has one.
    pub dates: Option<(i64, i64)>,
}

/// Returns what a message of this date counts now. A date in the future counts as now: senders choose dates.
pub(super) fn of_message(date: i64, now: i64) -> f64 {
    (-half_lives(date, now)).exp2()
}

/// Returns what messages count now, as if they were spread evenly between their first and last date.
pub(super) fn of_spread(messages: Spread, now: i64) -> f64 {
    let Some((first, last)) = messages.dates else { return 0.0 };
    let (oldest, newest) = (half_lives(first, now), half_lives(last, now));
    let span = oldest - newest;
    // The mean of 2^-x from `newest` to `oldest`.
    let mean = if span < 1e-6 {
        (-newest).exp2()
    } else {
        ((-newest).exp2() - (-oldest).exp2()) / (span * std::f64::consts::LN_2)
    };
    f64::from(u32::try_from(messages.count).unwrap_or(u32::MAX)) * mean
}

/// Returns a person's score. `of_written` is the sum of [`of_message`] over messages from the user.
pub(super) fn of_person(of_all: f64, of_written: f64) -> f64 {
    of_all + WRITTEN_FACTOR * of_written
}

fn half_lives(date: i64, now: i64) -> f64 {
    let age_minutes = now.saturating_sub(date).max(0) / 60;
    f64::from(u32::try_from(age_minutes).unwrap_or(u32::MAX)) / DAY_MINUTES / HALF_LIFE_DAYS
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    const NOW: i64 = 20_000 * DAY;

    fn spread(count: u64, first_days_ago: i64, last_days_ago: i64) -> f64 {
        let dates = Some((NOW - first_days_ago * DAY, NOW - last_days_ago * DAY));
        of_spread(Spread { count, dates }, NOW)
    }

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 0.001 * other.abs().max(0.001)
    }

    #[test]
    fn a_message_counts_half_after_each_half_life() {
        for (days_ago, expected) in [(0, 1.0), (180, 0.5), (360, 0.25), (-1000, 1.0)] {
            assert!(is_near(of_message(NOW - days_ago * DAY, NOW), expected), "{days_ago}");
        }
        assert!(of_message(i64::MIN, NOW) < 1e-9 && is_near(of_message(i64::MAX, NOW), 1.0));
    }

    #[test]
    fn a_spread_counts_as_its_messages_do_one_by_one() {
        for (first, last) in [(0, 0), (500, 500), (180, 0), (3600, 0), (3600, 720), (10, -10)] {
            let slow: f64 = (0..=1000)
                .map(|step| first - (first - last) * step / 1000)
                .map(|days_ago| of_message(NOW - days_ago * DAY, NOW))
                .sum();
            let fast = spread(1001, first, last);
            assert!((fast - slow).abs() < 0.02 * slow, "{first} to {last}: {fast}, one by one {slow}");
        }
        assert!(is_near(of_spread(Spread { count: 9, dates: None }, NOW), 0.0));
        let whole = Spread { count: u64::MAX, dates: Some((i64::MIN, i64::MAX)) };
        assert!(of_spread(whole, NOW).is_finite());
    }

    #[test]
    fn a_friend_counts_more_than_a_newsletter() {
        let newsletter = of_person(spread(3650, 3650, 0), 0.0);
        let written: f64 = (0..60).map(|month| of_message(NOW - month * 30 * DAY, NOW)).sum();
        let friend = of_person(spread(120, 1800, 0), written);
        assert!(newsletter > 200.0 && friend > newsletter, "{newsletter}, {friend}");
        // Who was written to once, ten years ago, counts less than a colleague of today.
        let once = of_person(spread(2, 3650, 3650), of_message(NOW - 3650 * DAY, NOW));
        assert!(once < of_person(spread(3, 30, 1), 0.0));
    }
}
