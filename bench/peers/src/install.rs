//! Installs the programs to compare with, as far as possible.
//!
//! Input: the tables. Output: what was installed, and what could not be. Never fails: a missing program is a
//! column of dashes.

use crate::options::Part;
use crate::peer::{Peer, said};
use crate::{peers, tables};
use anyhow::{Context, Result};
use clap::Args;
use measure::say;
use std::path::Path;
use std::process::{Command, Stdio};

/// The packages for building this program with RocksDB: its library, and a parser for its header.
const ROCKSDB_PACKAGES: [&str; 2] = ["librocksdb-dev", "libclang-dev"];
const ROCKSDB_HEADER: &str = "/usr/include/rocksdb/c.h";

/// What to install.
#[derive(Args)]
pub(crate) struct InstallArguments {
    /// Only what these tables need.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
}

/// Installs the missing programs.
pub(crate) fn install(arguments: &InstallArguments) -> Result<()> {
    let needed = || peers::ALL.iter().filter(|peer| tables::need(&arguments.only, peer));
    for peer in needed() {
        // Debian's version may be installed, but outdated.
        if let Some((module, version)) = peer.module.filter(|_| !peer.is_named()) {
            tried(peer.name, "go", by_go(module, (!peer.is_by_go()).then_some(version)));
        }
    }
    let missing: Vec<&Peer> = needed().filter(|peer| peer.find().is_err()).collect();
    let headers = arguments.only.is_empty() || arguments.only.contains(&Part::Headers);
    let needs_rocksdb = headers && !Path::new(ROCKSDB_HEADER).is_file();
    if !missing.is_empty() || needs_rocksdb {
        tried("the list of packages", "apt-get", apt(&["update"]));
    }
    // Installs each on its own, so that one failure does not affect the others.
    for peer in missing {
        tried(peer.name, "apt-get", by_apt(peer.packages));
    }
    if needs_rocksdb {
        tried("RocksDB's library", "apt-get", by_apt(&ROCKSDB_PACKAGES));
    }
    for peer in needed() {
        match peer.find() {
            Ok(installed) => say(&format!("{}: {}", peer.name, installed.version)),
            Err(error) => say(&format!("{}: {error:#}", peer.name)),
        }
    }
    Ok(())
}

fn tried(name: &str, how: &str, done: Result<()>) {
    match done {
        Ok(()) => say(&format!("{name}: {how} brought it")),
        Err(error) => say(&format!("{name}: {how} could not bring it: {error:#}")),
    }
}

/// Installs the newest version of a Go program. If go cannot tell the newest version, installs `version`.
/// Without `version` that is an error, and the installed program stays.
fn by_go(program: &str, version: Option<&str>) -> Result<()> {
    let newest = said(Command::new("go").args(["install", &format!("{program}@latest")]));
    let (Err(error), Some(version)) = (newest.as_ref(), version) else { return newest.map(drop) };
    say(&format!("go does not say which version is the newest: {error:#}"));
    let module = program.split("/cmd/").next().unwrap_or(program);
    let mut download = Command::new("go");
    download.args(["mod", "download", "-json", &format!("{module}@{version}")]).env("GOFLAGS", "-mod=mod");
    let json = said(&mut download)?;
    let line = json.lines().find_map(|line| line.trim().strip_prefix("\"Dir\": \"")?.strip_suffix("\","));
    let directory = Path::new(line.context("go does not say where it put the module")?);
    let below = program.strip_prefix(module).unwrap_or_default();
    said(Command::new("go").args(["install", &format!(".{below}")]).current_dir(directory)).map(drop)
}

fn by_apt(packages: &[&str]) -> Result<()> {
    apt(&[&["install", "--no-install-recommends"], packages].concat())
}

/// Runs apt-get. Without root it uses sudo, if sudo needs no password.
fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = if is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
        sudo
    };
    command.args(arguments).args(["-qq", "-y"]).env("DEBIAN_FRONTEND", "noninteractive");
    said(command.stdin(Stdio::null())).map(drop)
}

fn is_root() -> bool {
    said(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
