//! What is installed beside the programs: manual pages, completions, licences.
//!
//! Input: the programs, which write these files. Output: files in the layout of `/usr/share`, in the
//! directory of the programs, where cargo-deb looks for them. Does not depend on packages.

use super::licences;
use super::programs::{NAMES, Programs};
use crate::directory::renew;
use crate::run::{output, run, workspace_root};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// For each shell, the directory from which it reads completions, and what comes before and after the
/// program's name in the file name.
const COMPLETIONS: [(&str, &str, &str, &str); 3] = [
    ("bash", "bash-completion/completions", "", ""),
    ("zsh", "zsh/site-functions", "_", ""),
    ("fish", "fish/vendor_completions.d", "", ".fish"),
];

/// Documents that every package contains.
const DOCUMENTS: [&str; 4] = ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md", "README.md"];

/// Returns the directory of these programs' files.
pub(super) fn directory(programs: &Programs) -> PathBuf {
    programs.directory().join("share")
}

/// Writes all of them.
///
/// # Errors
/// If a program cannot be run, or a file cannot be written.
pub(super) fn write(programs: &Programs) -> Result<()> {
    let share = directory(programs);
    renew(&share)?;
    for name in NAMES {
        run(programs.command(name).arg("man").arg(share.join("man/man1"))).with_context(|| {
            format!("{name} writes no manual pages; qemu-user runs programs of another machine")
        })?;
    }
    for (shell, place, before, after) in COMPLETIONS {
        fs::create_dir_all(share.join(place))?;
        for name in NAMES {
            let script = output(programs.command(name).args(["completions", shell]))?;
            fs::write(share.join(place).join(format!("{before}{name}{after}")), script)?;
        }
    }
    let documents = share.join("doc/pneu");
    fs::create_dir_all(&documents)?;
    for name in DOCUMENTS {
        fs::copy(workspace_root().join(name), documents.join(name))?;
    }
    fs::write(documents.join(licences::NAME), licences::of_libraries(programs.target())?)?;
    Ok(())
}
