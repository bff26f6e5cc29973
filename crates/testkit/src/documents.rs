//! Checks documents that a program generates about itself: a page with the help of all commands, and manual
//! pages.
//!
//! Runs the program and compares its output with the files in the repository. With UPDATE=1 it writes the
//! files instead. It does not depend on the content of the help.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Checks a page that has an introduction, the help of a program, and the help of all its commands.
///
/// # Errors
/// A sentence: the page is out of date, or the program prints no help.
pub fn check_help_page(page: &Path, introduction: &str, program: &Path) -> Result<(), String> {
    let new = help_page(introduction, program)?;
    if env::var_os("UPDATE").is_some() {
        fs::write(page, &new).map_err(|error| format!("cannot write {}: {error}", page.display()))?;
    }
    let kept = fs::read_to_string(page).unwrap_or_default();
    if kept == new { Ok(()) } else { Err(format!("{} is out of date: cargo xtask docs", page.display())) }
}

fn help_page(introduction: &str, program: &Path) -> Result<String, String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let main = help(program, &[])?;
    let mut page = format!(
        "{introduction}\n\n<!-- Written by a test: `cargo xtask docs` writes it anew. -->\n\n## \
         {name}\n\n```text\n{main}\n```\n"
    );
    for command in commands(&main) {
        let text = help(program, &[command])?;
        page.push_str(&format!("\n## {name} {command}\n\n```text\n{text}\n```\n"));
        for below in commands(&text) {
            let text = help(program, &[command, below])?;
            page.push_str(&format!("\n### {name} {command} {below}\n\n```text\n{text}\n```\n"));
        }
    }
    Ok(page)
}

fn help(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).arg("--help").env_clear().env("COLUMNS", "100").output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{} {arguments:?} --help failed: {}", program.display(), output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
}

/// Returns the names of all commands, as the help lists them.
fn commands(help: &str) -> Vec<&str> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    list.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// Checks the manual pages of a program, which its command `man` writes. `is_own` returns whether a page with
/// this name belongs to the program.
///
/// # Errors
/// A sentence: pages are out of date, or the program writes none.
pub fn check_manual_pages(
    directory: &Path,
    is_own: impl Fn(&str) -> bool,
    program: &Path,
) -> Result<(), String> {
    let made = tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
    let mut command = Command::new(program);
    let output = command.arg("man").arg(made.path()).env_clear().env("HOME", made.path()).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let new = pages(made.path(), &is_own);
    if !output.status.success() || new.is_empty() {
        return Err(format!("{} wrote no manual pages: {output:?}", program.display()));
    }
    if env::var_os("UPDATE").is_some() {
        let gone = pages(directory, &is_own).into_keys().map(|name| fs::remove_file(directory.join(name)));
        let written = new.iter().map(|(name, text)| fs::write(directory.join(name), text));
        let updated = gone.chain(written).collect::<Result<(), _>>();
        updated.map_err(|error| format!("cannot write pages to {}: {error}", directory.display()))?;
    }
    if pages(directory, &is_own) == new {
        Ok(())
    } else {
        Err(format!("{} is out of date: cargo xtask docs", directory.display()))
    }
}

fn pages(directory: &Path, is_own: &impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    let own = named.filter(|(name, _)| is_own(name));
    own.map(|(name, path)| (name, fs::read_to_string(path).unwrap_or_default())).collect()
}
