//! mutt: a mail reader with a cache of headers.
//!
//! Input: directories. Output: commands. Does not know what is measured.

use super::neomutt::open_and_leave;
use crate::peer::{Installed, Peer};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "mutt",
    variable: "PEER_MUTT",
    program: "mutt",
    version: &["-v"],
    packages: &["mutt"],
    module: None,
};

/// Returns the command that opens a folder and quits. `place` gets the settings and the cache.
///
/// # Errors
/// If the settings cannot be written.
pub(crate) fn open(installed: &Installed, folder: &Path, place: &Path) -> Result<Command> {
    open_and_leave(&installed.program, folder, place, "")
}
