//! Opens a browser that is logged in. Input: a login link. Output: a browser, started by the desktop. The
//! link is on no command line: a file that only the user can read leads there.

use crate::environment;
use anyhow::{Context as _, Result};
use server::{Login, write_browser_file};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What opens a file with the user's own program.
const OPENER: &str = "xdg-open";

/// The file that leads to a login link. It goes with this value.
pub(crate) struct BrowserFile(PathBuf);

impl Drop for BrowserFile {
    fn drop(&mut self) {
        // The link that is left in it opens nothing any more.
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a browser with a file in `directory`.
///
/// # Errors
/// The file cannot be written; there is no program that opens files.
pub(crate) fn open(directory: &Path, login: &Login) -> Result<BrowserFile> {
    let file = BrowserFile(write_browser_file(directory, login)?);
    start(&file.0)?;
    Ok(file)
}

/// Does so for a program that ends before the browser has read the file. The next one removes the file, whose
/// link works no longer by then.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_and_leave(directory: &Path, login: &Login) -> Result<()> {
    let path = write_browser_file(directory, login)?;
    start(&path).inspect_err(|_| _ = fs::remove_file(&path))
}

fn start(path: &Path) -> Result<()> {
    let mut command = Command::new(OPENER);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    environment::without_secrets(&mut command)
        .spawn()
        .with_context(|| format!("cannot run {OPENER}, which opens a browser"))?;
    Ok(())
}
