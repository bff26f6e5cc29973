//! The test of each installed package.
//!
//! Input: a place with installed programs. Output: the first failure. Does not know which package it is.

use super::installation::Installation;
use crate::directory::{contents, copy_tree};
use crate::run::{output, run, workspace_root};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The mail that is indexed.
const MAIL: &str = "testdata/sample-mail";
/// A query, and the two messages of that mail that it finds.
const QUERY: &str = "subject:lease";
const ANSWERS: [&str; 2] = ["Archive/cur/1683018840.M1P7.desk:2,S", "Sent/cur/1683139200.M2P7.desk:2,S"];

/// Manual pages that must exist.
const PAGES: [&str; 4] = ["pneu", "pneu-find", "pneu-archive-backup", "pneu-tarantool"];

/// Files that must exist below `share`, besides manual pages.
const FILES: [&str; 8] = [
    "bash-completion/completions/pneu",
    "bash-completion/completions/pneu-tarantool",
    "zsh/PLACE/_pneu",
    "zsh/PLACE/_pneu-tarantool",
    "fish/vendor_completions.d/pneu.fish",
    "fish/vendor_completions.d/pneu-tarantool.fish",
    "doc/pneu/LICENSE-MIT",
    "doc/pneu/LICENSES-LIBRARIES",
];

/// Directories of zsh functions: that of most systems, and that of Debian's packages.
const ZSH: [&str; 2] = ["site-functions", "vendor-completions"];

/// Shells, each with the option that reads a script without running it.
const SHELLS: [(&str, &str, &str); 3] =
    [("bash", "bash-completion", "-n"), ("zsh", "zsh", "-n"), ("fish", "fish", "--no-execute")];

/// Indexes, finds, backs up and restores with the installed programs.
pub(super) fn programs(place: &Installation) -> Result<()> {
    place.renew()?;
    for name in ["pneu", "pneu-tarantool"] {
        let told = output(place.command(name).arg("--version"))?;
        let (told, wanted) = (String::from_utf8_lossy(&told), env!("CARGO_PKG_VERSION"));
        ensure!(told.trim_end() == format!("{name} {wanted}"), "{name} says that it is \"{told}\"");
    }
    let home = place.home_outside();
    let (mail, inside) = (home.join("Mail"), place.home().join("Mail"));
    copy_tree(&workspace_root().join(MAIL), &mail)?;
    run(place.command("pneu").args(["--quiet", "index"]))?;
    let found = output(place.command("pneu").args(["find", QUERY, "--format", "paths"]))?;
    let mut found: Vec<String> = String::from_utf8_lossy(&found).lines().map(str::to_owned).collect();
    found.sort();
    let wanted = ANSWERS.map(|name| inside.join(name).to_string_lossy().into_owned());
    ensure!(found == wanted, "pneu find {QUERY} prints {found:?}, not {wanted:?}");
    fs::write(home.join("password"), "a long password\n")?;
    let archive = |arguments: &[&str]| {
        let mut command = place.command("pneu");
        command.args(["--quiet", "archive"]).args(arguments);
        command.env("RESTIC_REPOSITORY", place.home().join("repository"));
        output(command.env("RESTIC_PASSWORD_FILE", place.home().join("password")))
    };
    archive(&["init"])?;
    archive(&["backup"])?;
    let restored = place.home().join("restored");
    let snapshot = format!("latest:{}", inside.display());
    archive(&["restore", &snapshot, "--target", &restored.to_string_lossy()])?;
    let (before, after) = (contents(&mail)?, contents(&home.join("restored"))?);
    let missing = before.iter().find(|&(name, bytes)| after.get(name) != Some(bytes));
    if let Some((name, _)) = missing {
        bail!("{name} is not restored as it was");
    }
    Ok(())
}

/// Checks completions and licences below `share`, and lets each installed shell read its completions.
pub(super) fn files(share: &Path) -> Result<()> {
    for name in FILES {
        let mut found = ZSH.iter().map(|place| share.join(name.replace("PLACE", place)));
        let found = found.find(|path| fs::metadata(path).is_ok_and(|found| found.len() > 0));
        let path = found.with_context(|| format!("{name} is missing or empty"))?;
        let shell = SHELLS.iter().find(|(_, begin, _)| name.starts_with(&format!("{begin}/")));
        if let Some((shell, _, only_read)) = shell
            && Command::new(shell).arg("--version").stdout(Stdio::null()).status().is_ok()
        {
            run(Command::new(shell).arg(only_read).arg(&path))?;
        }
    }
    Ok(())
}

/// Asks `man`, with its search path set, for the place of pages.
pub(super) fn manual(man: &mut Command) -> Result<()> {
    let found = output(man.arg("--where").args(PAGES).env_remove("MANPATH"))?;
    let found = String::from_utf8_lossy(&found);
    for page in PAGES {
        ensure!(found.lines().any(|line| line.contains(&format!("/{page}.1"))), "man finds no page {page}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_are_the_messages_that_the_query_means() {
        let mail = contents(&workspace_root().join(MAIL)).unwrap();
        let is_meant = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).to_lowercase();
            text.lines().any(|line| line.starts_with("subject:") && line.contains("lease"))
        };
        let meant: Vec<&str> =
            mail.iter().filter(|(_, bytes)| is_meant(bytes)).map(|(name, _)| &**name).collect();
        assert_eq!(meant, ANSWERS);
    }

    #[test]
    fn an_empty_completion_is_missing() {
        let share = tempfile::tempdir().unwrap();
        for name in FILES {
            let path = share.path().join(name.replace("PLACE", ZSH[1]));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "# nothing\n").unwrap();
        }
        files(share.path()).unwrap();
        fs::write(share.path().join(FILES[5]), "").unwrap();
        let error = files(share.path()).unwrap_err().to_string();
        assert_eq!(error, format!("{} is missing or empty", FILES[5]));
    }
}
