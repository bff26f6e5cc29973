//! How long messages take from their rename into `new` until they are in the index.
//!
//! Input: when each message arrived, and the lines in which a watch says how many it added. Output: seconds.
//! Does not know how messages arrive, or what the watch does.
//!
//! A watch adds messages in the order in which they arrived, several at once. The first line after which at
//! least N were added says that the Nth message can be found. It is printed after the commit, so no time is
//! too short. Nothing else looks at the index for this: that would slow down the watch.

use std::time::Instant;

/// Messages that arrived, and those that a watch added.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    /// When the watch said so, and how many it had added by then, in order of time.
    told: Vec<(Instant, usize)>,
}

impl Latencies {
    /// Takes a line of the watch. Returns how many messages it has added by then.
    pub(super) fn take(&mut self, line: &str, when: Instant) -> usize {
        let before = self.added();
        let added = line.split_once(" added").and_then(|(count, _)| count.replace(',', "").parse().ok());
        match added {
            Some(0) | None => before,
            Some(added) => {
                let added: usize = added;
                self.told.push((when, before + added));
                before + added
            }
        }
    }

    /// Returns how many messages the watch has added.
    pub(super) fn added(&self) -> usize {
        self.told.last().map_or(0, |&(_, added)| added)
    }

    /// Returns the seconds of each message, from the shortest to the longest, and how many messages were
    /// never added. `arrived` has their arrivals in order.
    pub(super) fn seconds(&self, arrived: &[Instant]) -> (Vec<f64>, usize) {
        let seconds_of = |(place, &arrived): (usize, &Instant)| {
            let line = self.told.partition_point(|&(_, added)| added <= place);
            let (told, _) = self.told.get(line)?;
            Some(told.saturating_duration_since(arrived).as_secs_f64())
        };
        let mut seconds: Vec<f64> = arrived.iter().enumerate().filter_map(seconds_of).collect();
        seconds.sort_by(f64::total_cmp);
        let missing = arrived.len() - seconds.len();
        (seconds, missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_message_is_found_by_the_first_line_that_has_it() {
        let begin = Instant::now();
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        let mut latencies = Latencies::default();
        assert_eq!(latencies.take("1 added, 0 moved, 0 changed, 0 gone", at(20)), 1);
        assert_eq!(latencies.take("0 added, 0 moved, 7 changed, 0 gone", at(25)), 1);
        assert_eq!(latencies.take("watching 3 folders", at(26)), 1);
        assert_eq!(latencies.take("3 added, 0 moved, 0 changed, 0 gone", at(90)), 4);
        let arrived = [10, 20, 30, 80].map(at);
        assert_eq!(latencies.seconds(&arrived), (vec![0.01, 0.01, 0.06, 0.07], 0));
        let more = [10, 20, 30, 80, 85].map(at);
        assert_eq!(latencies.seconds(&more).1, 1, "the fifth was never added");
        assert_eq!(latencies.take("1,000 added, 0 moved", at(99)), 1004);
        assert_eq!(latencies.added(), 1004);
    }
}
