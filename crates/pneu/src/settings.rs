//! The settings of a host. Input: a data directory and the configuration. Output: what the index needs.

use crate::action::role::Known;
use crate::setup::configuration::Configuration;
use disk::RealDisk;
use index::{Environment, FolderPlace, Meaning, OwnAddresses, Root};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use work::Context;

/// Variables of the environment that hold secrets. No program that this one runs gets them. Those that read
/// attachments get even less.
pub const SECRET_VARIABLES: [&str; 3] = ["RESTIC_PASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// The settings of a [`Host`](crate::Host).
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the index lives and what it may use: disk, clock, threads.
    pub environment: Environment,
    /// The configuration. The default has no header fields of its own, no addresses and English stems.
    pub configuration: Configuration,
    /// The time zone of dates in queries.
    pub zone: TimeZone,
    /// The environment of commands that read attachments: those variables of the program for which
    /// [`is_for_filters`](crate::is_for_filters) says so.
    pub filter_variables: Vec<(OsString, OsString)>,
}

impl Settings {
    /// Returns settings for an index in `data`, with the system's clock, as many threads as there are cores,
    /// an empty configuration, and dates in UTC.
    pub fn new(data: impl Into<PathBuf>) -> Settings {
        Settings {
            environment: Environment {
                disk: Arc::new(RealDisk),
                data: data.into(),
                // The hash of nothing with random keys is a random number.
                seed: RandomState::new().hash_one(0u8),
                holder: format!("process {}", std::process::id()),
                changes_kept_seconds: index::CHANGES_KEPT_SECONDS,
                text_slots: index::TEXT_SLOTS,
                opened: index::Opened::default(),
                context: Context::new(system_clock_ns, work::Threads::All),
            },
            configuration: Configuration::default(),
            zone: TimeZone::UTC,
            filter_variables: Vec::new(),
        }
    }

    /// Returns the user's addresses, as the configuration has them: those of accounts, too.
    pub(crate) fn own_addresses(&self) -> OwnAddresses {
        OwnAddresses::new(&self.configuration.own_addresses())
    }

    /// Returns what queries mean by the configuration.
    pub(crate) fn meaning(&self) -> Meaning {
        let accounts = self.configuration.accounts.clone();
        let roles = move |folders: &[FolderPlace], roots: &[Root], name: &str| {
            let known = Known { folders, roots, accounts: &accounts };
            known.all_named(name).map(Option::unwrap_or_default).map_err(|error| error.to_string())
        };
        Meaning { roles: Some(Arc::new(roles)), flag_tags: self.configuration.flag_tags }
    }

    /// Returns what the meaning of a query depends on, with these saved queries. Relative dates count from
    /// now.
    pub fn query_context(&self, queries: BTreeMap<String, String>) -> query::Context {
        let time = Timestamp::from_nanosecond(i128::from(self.environment.context.now_ns()));
        query::Context {
            now: time.unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(self.zone.clone()),
            headers: self.configuration.headers.clone(),
            queries,
            stemming: self.configuration.stemming,
        }
    }
}

/// Returns the time in nanoseconds since 1970.
fn system_clock_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;

    #[test]
    fn changes_are_kept_as_long_as_the_configuration_says() {
        let kept = |changes_days| {
            let configuration = Configuration { changes_days, ..Configuration::default() };
            let host = Host::new(Settings { configuration, ..Settings::new("/data") });
            host.settings().environment.changes_kept_seconds
        };
        assert_eq!(kept(None), index::CHANGES_KEPT_SECONDS);
        assert_eq!(kept(Some(7)), 7 * 86_400);
    }
}
