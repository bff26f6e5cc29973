//! Documents that the program itself writes: docs/cli.md and docs/man from its help, the tour in README.md from its output.
//!
//! Comes in: the built program. Goes out: whether the documents are still what it would write; with UPDATE=1 they are written anew. Must
//! not know what help says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn help(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pneu"));
    let output = command.args(arguments).arg("--help").env_clear().env("COLUMNS", "100").output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Returns the names of all commands, as the help lists them.
fn commands(help: &str) -> Vec<&str> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    list.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

fn page() -> String {
    let main = help(&[]);
    let mut page = format!(
        "# The command line\n\nWhat `pneu --help` and `pneu COMMAND --help` print. Queries are explained in [query.md](query.md), output and \
         exit codes in [OUTPUT.md](OUTPUT.md).\n\n<!-- Written by a test: `cargo xtask docs` writes it anew. -->\n\n## pneu\n\n```text\n{main}\n```\n"
    );
    for command in commands(&main) {
        let text = help(&[command]);
        page.push_str(&format!("\n## pneu {command}\n\n```text\n{text}\n```\n"));
        for below in commands(&text) {
            page.push_str(&format!(
                "\n### pneu {command} {below}\n\n```text\n{}\n```\n",
                help(&[command, below])
            ));
        }
    }
    page
}

#[test]
fn the_command_line_is_documented() {
    let path = project("docs/cli.md");
    let page = page();
    assert!(page.matches("\n## pneu").count() >= 7, "{page}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "{} is out of date: cargo xtask docs", path.display());
}

#[test]
fn the_manual_pages_are_those_of_the_program() {
    let made = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pneu"));
    let output = command.arg("man").arg(made.path()).env_clear().env("HOME", made.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let pages = |directory: &Path| -> BTreeMap<String, String> {
        let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap());
        let name = |entry: &fs::DirEntry| entry.file_name().to_str().unwrap().to_owned();
        entries.map(|entry| (name(&entry), fs::read_to_string(entry.path()).unwrap())).collect()
    };
    let (new, kept) = (pages(made.path()), project("docs/man"));
    assert!(new.contains_key("pneu.1") && new.contains_key("pneu-find.1"), "{:?}", new.keys());
    if std::env::var_os("UPDATE").is_some() {
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir(&kept).unwrap();
        new.iter().for_each(|(name, text)| fs::write(kept.join(name), text).unwrap());
    }
    assert!(pages(&kept) == new, "{} is out of date: cargo xtask docs", kept.display());
}

#[test]
fn the_tour_prints_what_the_readme_shows() {
    let checked = testkit::check_tour(&project("README.md"), Path::new(env!("CARGO_BIN_EXE_pneu")));
    checked.unwrap_or_else(|what| panic!("{what}"));
}
