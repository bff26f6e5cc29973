//! A minimal Debian in a directory, where a .deb can be installed.
//!
//! Input: a directory. Output: an installed package, or none. Does not know what the package contains.

use super::installation::change_root;
use crate::run::{output, run, say};
use anyhow::{Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Written when the directory is complete.
const COMPLETE: &str = "etc/complete";

/// Creates the Debian unless it exists, and returns whether it does. man-db shows manual pages.
///
/// # Errors
/// If it cannot be made.
pub(super) fn prepare(root: &Path) -> Result<bool> {
    if root.join(COMPLETE).is_file() {
        return Ok(true);
    }
    let asked =
        Command::new("debootstrap").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !asked.is_ok_and(|status| status.success()) {
        return Ok(false);
    }
    say("Making a minimal Debian ...");
    crate::directory::renew(root)?;
    let mut make = Command::new("debootstrap");
    make.args(["--variant=minbase", "--include=man-db", "stable"]).arg(root);
    output(&mut make)?;
    fs::write(root.join(COMPLETE), "")?;
    Ok(true)
}

/// Installs a package file.
///
/// # Errors
/// If dpkg refuses it, for instance because it needs another package.
pub(super) fn install(root: &Path, file: &Path) -> Result<()> {
    let _ = remove(root, "pneu");
    fs::copy(file, root.join("tmp/package.deb"))?;
    run(change_root(root).args(["dpkg", "--install", "/tmp/package.deb"]).env("LC_ALL", "C.UTF-8"))
}

/// Removes a package, and checks that its files are gone.
///
/// # Errors
/// If dpkg refuses, or a file is left.
pub(super) fn remove(root: &Path, name: &str) -> Result<()> {
    let listed = output(change_root(root).args(["dpkg", "--listfiles", name]))?;
    output(change_root(root).args(["dpkg", "--purge", name]).env("LC_ALL", "C.UTF-8"))?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let inside = |file: &str| root.join(file.trim_start_matches('/'));
    match listed.lines().find(|file| inside(file).is_file()) {
        Some(left) => bail!("{left} is left after the package was removed"),
        None => Ok(()),
    }
}
