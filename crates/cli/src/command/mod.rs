//! The commands, one a file. Each reads its arguments, calls the library and prints.
//!
//! A new command is a file here and a line in [`COMMANDS`].

mod act;
mod archive;
mod change_words;
mod changes;
mod check;
mod completions;
mod contacts;
mod count;
mod dedupe;
mod delete;
pub(crate) mod deliver;
mod doctor;
mod export;
mod extract;
mod find;
mod flag;
mod import;
pub(crate) mod index;
mod info;
mod init;
mod man;
mod mkdir;
mod mute;
mod query;
mod relocate;
mod rename_folder;
mod retag;
mod serve;
mod stats;
mod sweep;
pub(crate) mod tag;
mod undelete;
mod undo;
mod view;
mod wait;

use crate::session::Session;
use terminal::command_line::Command;

/// All commands, in the order of the help.
pub(crate) const COMMANDS: &[Command<Session>] = &[
    Command::new::<init::Arguments>("init"),
    Command::new::<index::Arguments>("index"),
    Command::new::<find::Arguments>("find"),
    Command::new::<count::Arguments>("count"),
    Command::new::<view::Arguments>("view"),
    Command::new::<extract::Arguments>("extract"),
    Command::new::<export::Arguments>("export"),
    Command::new::<wait::Arguments>("wait"),
    Command::new::<changes::Arguments>("changes"),
    Command::new::<serve::Arguments>("serve"),
    Command::new::<tag::Arguments>("tag").adjusted(tag::without_letters),
    Command::new::<mute::Mute>("mute"),
    Command::new::<mute::Unmute>("unmute"),
    Command::new::<flag::Arguments>("flag").adjusted(tag::without_letters),
    Command::new::<relocate::Move>("move"),
    Command::new::<relocate::Copy>("copy"),
    Command::new::<delete::Arguments>("delete"),
    Command::new::<dedupe::Arguments>("dedupe"),
    Command::new::<undo::Arguments>("undo"),
    Command::new::<deliver::Arguments>("deliver"),
    Command::new::<import::Arguments>("import"),
    Command::new::<mkdir::Arguments>("mkdir"),
    Command::new::<rename_folder::Arguments>("rename-folder"),
    Command::new::<query::Arguments>("query"),
    Command::new::<contacts::Arguments>("contacts"),
    Command::new::<stats::Arguments>("stats"),
    Command::new::<info::Arguments>("info"),
    Command::new::<check::Arguments>("check"),
    Command::new::<doctor::Arguments>("doctor"),
    Command::new::<sweep::Arguments>("sweep"),
    Command::group::<archive::Arguments>("archive", archive::COMMANDS),
    Command::new::<undelete::Arguments>("undelete"),
    Command::new::<completions::Arguments>("completions"),
    Command::new::<man::Arguments>("man"),
];
