//! `pneu archive`: backups of mail in repositories that restic also reads. One file for each command.
//!
//! A new command is a file here and a line in [`COMMANDS`].

mod backup;
mod check;
mod erase;
mod find;
mod forget;
mod init;
mod lost;
mod ls;
mod prune;
mod removal;
mod restore;
mod rules;
mod select;
mod shown;
mod snapshots;
mod stats;
mod unlock;
mod view;

use crate::session::Session;
use clap::Args;
use terminal::command_line::Command;

/// All commands on repositories, in the order of the help.
pub(super) const COMMANDS: &[Command<Session>] = &[
    Command::new::<init::Arguments>("init"),
    Command::new::<backup::Arguments>("backup"),
    Command::new::<snapshots::Arguments>("snapshots"),
    Command::new::<ls::Arguments>("ls"),
    Command::new::<find::Arguments>("find"),
    Command::new::<view::Arguments>("view"),
    Command::new::<restore::Arguments>("restore"),
    Command::new::<forget::Arguments>("forget"),
    Command::new::<prune::Arguments>("prune"),
    Command::new::<erase::Arguments>("erase"),
    Command::new::<check::Arguments>("check"),
    Command::new::<stats::Arguments>("stats"),
    Command::new::<unlock::Arguments>("unlock"),
];

/// Back up mail, deduplicated and encrypted, and restore it
///
/// Repositories are in restic's format: pneu and restic read, check, restore and prune each other's
/// repositories. REPOSITORY is a directory or s3:https://HOST/BUCKET/PREFIX. The repository and its
/// password come from the options, from restic's environment variables (RESTIC_REPOSITORY,
/// RESTIC_PASSWORD, RESTIC_PASSWORD_FILE, RESTIC_PASSWORD_COMMAND), or from the configuration:
///
///     [archive]
///     repository = "~/backup/mail"
///     password_command = "pass show backup"
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

Further exit codes: 10 there is no repository, 11 the repository is locked, 12 the password is wrong."
)]
pub(crate) struct Arguments {}
