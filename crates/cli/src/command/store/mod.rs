//! `pneu store`: works with Tarantool's snapshots and logs, and with stores made of them. A file for each of its commands.

mod export;
mod get;
mod info;
mod load;
mod merge;
mod open;
mod scan;
mod verify;

use crate::args::{Common, With};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, Subcommand};

/// Load Tarantool's snapshots and logs into a store, and look into both
///
/// A tool for developers: none of it touches mail. DIR is a directory with Tarantool's files (.snap and .xlog), STORE one that "pneu store
/// load" made. docs/store.md tells more.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu store info /var/lib/tarantool/shop
  pneu store load /var/lib/tarantool/shop --into shop.store
  pneu store get shop.store orders 17
  pneu store scan shop.store orders --index by_day --from 2024-03-01 --limit 10
  pneu store export shop.store --to new/")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) action: ActionWithCommon,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ActionWithCommon {
    Load(With<load::Arguments>),
    Export(With<export::Arguments>),
    Info(With<info::Arguments>),
    Get(With<get::Arguments>),
    Scan(With<scan::Arguments>),
    Verify(With<verify::Arguments>),
    Merge(With<merge::Arguments>),
}

/// A command with its own options.
#[derive(Debug)]
pub(crate) enum Action {
    /// Fill a store.
    Load(load::Arguments),
    /// Write a snapshot.
    Export(export::Arguments),
    /// Say what there is.
    Info(info::Arguments),
    /// Look tuples up.
    Get(get::Arguments),
    /// Print tuples in order.
    Scan(scan::Arguments),
    /// Look for damage.
    Verify(verify::Arguments),
    /// Make few segments of many.
    Merge(merge::Arguments),
}

impl ActionWithCommon {
    /// Parts a command from the options of all commands that stand behind it.
    pub(crate) fn parted(self) -> (Action, Common) {
        match self {
            ActionWithCommon::Load(with) => (Action::Load(with.arguments), with.common),
            ActionWithCommon::Export(with) => (Action::Export(with.arguments), with.common),
            ActionWithCommon::Info(with) => (Action::Info(with.arguments), with.common),
            ActionWithCommon::Get(with) => (Action::Get(with.arguments), with.common),
            ActionWithCommon::Scan(with) => (Action::Scan(with.arguments), with.common),
            ActionWithCommon::Verify(with) => (Action::Verify(with.arguments), with.common),
            ActionWithCommon::Merge(with) => (Action::Merge(with.arguments), with.common),
        }
    }
}

/// Runs a command.
///
/// # Errors
/// What it could not do.
pub(crate) fn run(action: &Action, session: &Session) -> Result<Outcome> {
    match action {
        Action::Load(arguments) => load::run(arguments, session),
        Action::Export(arguments) => export::run(arguments, session),
        Action::Info(arguments) => info::run(arguments, session),
        Action::Get(arguments) => get::run(arguments, session),
        Action::Scan(arguments) => scan::run(arguments, session),
        Action::Verify(arguments) => verify::run(arguments, session),
        Action::Merge(arguments) => merge::run(arguments, session),
    }
}
