//! `pneu archive`: backups of mail in repositories that restic reads, too. A file for each of its commands.

mod backup;
mod check;
mod find;
mod forget;
mod init;
mod lost;
mod ls;
mod prune;
mod restore;
mod rules;
mod select;
mod shown;
mod snapshots;
mod stats;
mod unlock;
mod view;

use crate::args::{Common, With};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, Subcommand};

/// Back mail up, deduplicated and encrypted, and bring it back
///
/// Repositories are restic's: each program reads, checks, restores and prunes what the other wrote. REPOSITORY is a directory or
/// s3:https://HOST/BUCKET/PREFIX; it and the password are taken from the options, from the variables that restic knows (RESTIC_REPOSITORY,
/// RESTIC_PASSWORD, RESTIC_PASSWORD_FILE, RESTIC_PASSWORD_COMMAND), or from the configuration:
///
///   [archive]
///   repository = "~/backup/mail"
///   password_command = "pass show backup"
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  pneu archive init --repo ~/backup/mail
  pneu archive backup
  pneu archive snapshots
  pneu archive find '1700000000.*'
  pneu archive view latest:/home/ana/Maildir/cur/1700000000.1.host:2,S
  pneu archive restore latest --target /tmp/mail
  pneu archive forget --keep-daily 7 --keep-monthly 12 --prune
  pneu archive check --read-data=10%

Exit codes beside the usual ones: 10 there is no repository, 11 somebody else has it locked, 12 wrong password."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) action: ActionWithCommon,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ActionWithCommon {
    Init(With<init::Arguments>),
    Backup(With<backup::Arguments>),
    Snapshots(With<snapshots::Arguments>),
    Ls(With<ls::Arguments>),
    Find(With<find::Arguments>),
    #[command(visible_alias = "show")]
    View(With<view::Arguments>),
    Restore(With<restore::Arguments>),
    Forget(With<forget::Arguments>),
    Prune(With<prune::Arguments>),
    Check(With<check::Arguments>),
    Stats(With<stats::Arguments>),
    Unlock(With<unlock::Arguments>),
}

/// A command with its own options.
#[derive(Debug)]
pub(crate) enum Action {
    /// Make a repository.
    Init(init::Arguments),
    /// Back mail up.
    Backup(backup::Arguments),
    /// List snapshots.
    Snapshots(snapshots::Arguments),
    /// List what is in a snapshot.
    Ls(ls::Arguments),
    /// Find files by name.
    Find(find::Arguments),
    /// Show a message or another file.
    View(view::Arguments),
    /// Bring files back.
    Restore(restore::Arguments),
    /// Remove snapshots.
    Forget(forget::Arguments),
    /// Remove what nothing uses.
    Prune(prune::Arguments),
    /// Look for damage.
    Check(check::Arguments),
    /// Say how much there is.
    Stats(stats::Arguments),
    /// Take away locks that nobody holds.
    Unlock(unlock::Arguments),
}

impl ActionWithCommon {
    /// Parts a command from the options of all commands that stand behind it.
    pub(crate) fn parted(self) -> (Action, Common) {
        match self {
            ActionWithCommon::Init(with) => (Action::Init(with.arguments), with.common),
            ActionWithCommon::Backup(with) => (Action::Backup(with.arguments), with.common),
            ActionWithCommon::Snapshots(with) => (Action::Snapshots(with.arguments), with.common),
            ActionWithCommon::Ls(with) => (Action::Ls(with.arguments), with.common),
            ActionWithCommon::Find(with) => (Action::Find(with.arguments), with.common),
            ActionWithCommon::View(with) => (Action::View(with.arguments), with.common),
            ActionWithCommon::Restore(with) => (Action::Restore(with.arguments), with.common),
            ActionWithCommon::Forget(with) => (Action::Forget(with.arguments), with.common),
            ActionWithCommon::Prune(with) => (Action::Prune(with.arguments), with.common),
            ActionWithCommon::Check(with) => (Action::Check(with.arguments), with.common),
            ActionWithCommon::Stats(with) => (Action::Stats(with.arguments), with.common),
            ActionWithCommon::Unlock(with) => (Action::Unlock(with.arguments), with.common),
        }
    }
}

/// Runs a command.
///
/// # Errors
/// What it could not do.
pub(crate) fn run(action: &Action, session: &Session) -> Result<Outcome> {
    match action {
        Action::Init(arguments) => init::run(arguments, session),
        Action::Backup(arguments) => backup::run(arguments, session),
        Action::Snapshots(arguments) => snapshots::run(arguments, session),
        Action::Ls(arguments) => ls::run(arguments, session),
        Action::Find(arguments) => find::run(arguments, session),
        Action::View(arguments) => view::run(arguments, session),
        Action::Restore(arguments) => restore::run(arguments, session),
        Action::Forget(arguments) => forget::run(arguments, session),
        Action::Prune(arguments) => prune::run(arguments, session),
        Action::Check(arguments) => check::run(arguments, session),
        Action::Stats(arguments) => stats::run(arguments, session),
        Action::Unlock(arguments) => unlock::run(arguments, session),
    }
}
