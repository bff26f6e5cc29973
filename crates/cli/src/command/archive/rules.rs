//! The --keep options of `pneu archive forget`.
//!
//! Turns options into a policy. Does not know snapshots.

use clap::Args;
use restic::forget::{Count, Policy, Span};

/// A policy: a snapshot stays if any option keeps it.
#[derive(Debug, Args)]
pub(super) struct Rules {
    /// Keep the last N snapshots. Here and below, N can be "unlimited"
    #[arg(long, value_name = "N", group = "rules")]
    keep_last: Option<Count>,
    /// Keep the last snapshot of each of the last N hours that have one
    #[arg(long, value_name = "N", group = "rules")]
    keep_hourly: Option<Count>,
    /// Keep the last snapshot of each of the last N days that have one
    #[arg(long, value_name = "N", group = "rules")]
    keep_daily: Option<Count>,
    /// Keep the last snapshot of each of the last N weeks that have one
    #[arg(long, value_name = "N", group = "rules")]
    keep_weekly: Option<Count>,
    /// Keep the last snapshot of each of the last N months that have one
    #[arg(long, value_name = "N", group = "rules")]
    keep_monthly: Option<Count>,
    /// Keep the last snapshot of each of the last N years that have one
    #[arg(long, value_name = "N", group = "rules")]
    keep_yearly: Option<Count>,
    /// Keep all snapshots made within TIME before the newest: 1y5m7d2h
    #[arg(long, value_name = "TIME", group = "rules")]
    keep_within: Option<Span>,
    /// Keep the last snapshot of each hour within TIME before the newest snapshot
    #[arg(long, value_name = "TIME", group = "rules")]
    keep_within_hourly: Option<Span>,
    /// Keep the last snapshot of each day within TIME before the newest snapshot
    #[arg(long, value_name = "TIME", group = "rules")]
    keep_within_daily: Option<Span>,
    /// Keep the last snapshot of each week within TIME before the newest snapshot
    #[arg(long, value_name = "TIME", group = "rules")]
    keep_within_weekly: Option<Span>,
    /// Keep the last snapshot of each month within TIME before the newest snapshot
    #[arg(long, value_name = "TIME", group = "rules")]
    keep_within_monthly: Option<Span>,
    /// Keep the last snapshot of each year within TIME before the newest snapshot
    #[arg(long, value_name = "TIME", group = "rules")]
    keep_within_yearly: Option<Span>,
    /// Keep all snapshots with this tag, or with all tags of a comma-separated list
    #[arg(long, value_name = "TAG[,TAG]", group = "rules")]
    keep_tag: Vec<String>,
}

impl Rules {
    /// Returns them as a policy.
    pub(super) fn policy(&self) -> Policy {
        Policy {
            last: self.keep_last.unwrap_or_default(),
            hourly: self.keep_hourly.unwrap_or_default(),
            daily: self.keep_daily.unwrap_or_default(),
            weekly: self.keep_weekly.unwrap_or_default(),
            monthly: self.keep_monthly.unwrap_or_default(),
            yearly: self.keep_yearly.unwrap_or_default(),
            within: self.keep_within.unwrap_or_default(),
            within_hourly: self.keep_within_hourly.unwrap_or_default(),
            within_daily: self.keep_within_daily.unwrap_or_default(),
            within_weekly: self.keep_within_weekly.unwrap_or_default(),
            within_monthly: self.keep_within_monthly.unwrap_or_default(),
            within_yearly: self.keep_within_yearly.unwrap_or_default(),
            tags: lists(&self.keep_tag),
        }
    }
}

/// Splits lists at commas.
pub(super) fn lists(words: &[String]) -> Vec<Vec<String>> {
    words.iter().map(|list| list.split(',').map(str::to_owned).collect()).collect()
}
