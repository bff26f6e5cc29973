//! Vector clocks: the number of rows of each replica.
//!
//! Parses, prints and compares them, and returns the sum that is used in file names. Does not know files.

use std::collections::BTreeMap;
use std::fmt;

/// The greatest replica number.
pub const REPLICA_MAX: u32 = 31;

/// The number of the last row of each replica. Replicas without rows are missing. Replica 0 stands for rows
/// that are not replicated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VClock(BTreeMap<u32, i64>);

impl VClock {
    /// Returns the number of the last row of `replica`; 0 if there is none.
    pub fn get(&self, replica: u32) -> i64 {
        self.0.get(&replica).copied().unwrap_or(0)
    }

    /// Sets the number of the last row of `replica`.
    pub fn set(&mut self, replica: u32, lsn: i64) {
        if lsn == 0 {
            self.0.remove(&replica);
        } else {
            self.0.insert(replica, lsn);
        }
    }

    /// Adds a row. Returns whether it is in order: its number is greater than that of the last one.
    pub fn follow(&mut self, replica: u32, lsn: i64) -> bool {
        let follows = lsn > self.get(replica);
        if follows {
            self.set(replica, lsn);
        }
        follows
    }

    /// Returns the sum of all numbers, which is used in file names.
    pub fn signature(&self) -> i64 {
        self.0.values().fold(0, |sum: i64, &lsn| sum.saturating_add(lsn))
    }

    /// Returns the replicas with the numbers of their last rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, i64)> {
        self.0.iter().map(|(&replica, &lsn)| (replica, lsn))
    }

    /// Returns whether `self` includes every row that `other` has.
    pub fn covers(&self, other: &VClock) -> bool {
        other.iter().all(|(replica, lsn)| self.get(replica) >= lsn)
    }

    /// Returns the greater number of each replica.
    pub fn union(&self, other: &VClock) -> VClock {
        let mut union = self.clone();
        for (replica, lsn) in other.iter() {
            union.follow(replica, lsn);
        }
        union
    }

    /// Parses `{1: 7, 2: 9}` and nothing else: no repeated number, no replica over [`REPLICA_MAX`], no sign.
    pub fn parse(text: &str) -> Option<VClock> {
        let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let mut clock = BTreeMap::new();
        for pair in inner.split(',').filter(|_| !inner.is_empty()) {
            let (replica, lsn) = pair.split_once(':')?;
            let replica = digits(replica)?.parse().ok().filter(|&replica| replica <= REPLICA_MAX)?;
            let lsn = digits(lsn)?.parse().ok()?;
            if clock.insert(replica, lsn).is_some() {
                return None;
            }
        }
        clock.retain(|_, lsn| *lsn != 0);
        Some(VClock(clock))
    }
}

/// Returns the digits between blanks, or `None` if there is anything else.
fn digits(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

impl fmt::Display for VClock {
    /// Writes the clock without braces.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (replica, lsn)) in self.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(formatter, "{comma}{replica}: {lsn}")?;
        }
        Ok(())
    }
}
