//! `bench-peers`: compares pneu with other programs, at the same work, on the same files, in one run.
//!
//! Input: the release program, and the other installed programs. Output: tables, plots and all samples. The
//! only package that knows other programs: each has its file in `peers`, each table its file in `tables`.

mod bench;
mod install;
mod options;
mod peer;
mod peers;
mod run;
mod stores;
mod tables;

use anyhow::Result;
use clap::{Parser, Subcommand};
use options::Options;

/// Compares pneu with mu, notmuch, mairix, neomutt, mutt, Dovecot, restic and Tarantool.
///
/// An environment variable can name each program (PEER_MU, PEER_NOTMUCH, PEER_MAIRIX, PEER_NEOMUTT,
/// PEER_MUTT, PEER_DOVECOT, PEER_RESTIC, PEER_TARANTOOL). Otherwise the search path is used. Missing programs
/// have columns of dashes.
#[derive(Parser)]
#[command(name = "bench-peers")]
struct Arguments {
    #[command(subcommand)]
    errand: Option<Errand>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum Errand {
    /// Install the missing programs, as far as apt-get and go can.
    Install(install::InstallArguments),
    /// A job for pneu's side.
    #[command(flatten)]
    Own(bench_own::Errand),
    /// Make tuples for a snapshot or a log of Tarantool.
    #[command(hide = true)]
    MakeTuples(tables::recovery::MakeArguments),
    /// Unpack a snapshot or a log of Tarantool, and keep nothing.
    #[command(hide = true)]
    Unpack(tables::recovery::UnpackArguments),
    /// Keep header records in a store, or read them.
    #[command(hide = true)]
    Stores(stores::StoresArguments),
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match arguments.errand {
        Some(Errand::Install(arguments)) => install::install(&arguments),
        Some(Errand::Own(errand)) => bench_own::run(&errand),
        Some(Errand::MakeTuples(arguments)) => tables::recovery::make(&arguments),
        Some(Errand::Unpack(arguments)) => tables::recovery::unpack(&arguments),
        Some(Errand::Stores(arguments)) => stores::run(&arguments),
        None => run::measure(&arguments.options),
    }
}
