//! `cargo xtask test-dist`: builds the packages, installs each in a clean place and tries it there.
//!
//! Input: the workspace. Output: the first package that fails. Does not know how packages are made.

mod debian;
mod installation;
mod trial;

use crate::directory::renew;
use crate::dist::{self, CHECKSUMS, Packages};
use crate::run::{output, run, say, target_directory};
use anyhow::{Context, Result, bail};
use installation::Installation;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Builds all packages and tries them.
///
/// # Errors
/// If a package cannot be built or installed, or fails.
pub fn test_dist() -> Result<()> {
    let packages = dist::build(&dist::static_target())?;
    checksums(&packages)?;
    let tried = target_directory().join("test-dist");
    fs::create_dir_all(&tried)?;
    step("tarball", || tarball(&packages, &tried.join("tarball")))?;
    step("wheel", || wheel(&packages, &tried.join("wheel")))?;
    step(".deb", || deb(&packages, &tried))?;
    say("All packages were installed and tried.");
    Ok(())
}

fn step(name: &str, attempt: impl FnOnce() -> Result<()>) -> Result<()> {
    say(&format!("\n== {name}"));
    let begin = Instant::now();
    attempt().with_context(|| format!("the {name} does not do what it should"))?;
    say(&format!("== {name}: done in {:.1} s", begin.elapsed().as_secs_f64()));
    Ok(())
}

/// Checks that each package has a checksum that agrees.
fn checksums(packages: &Packages) -> Result<()> {
    let sums = fs::read_to_string(packages.place.join(CHECKSUMS))?;
    let summed: Vec<&str> = sums.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
    if summed != packages.names {
        bail!("{CHECKSUMS} names {summed:?}, but the packages are {:?}", packages.names);
    }
    run(Command::new("sha256sum").args(["--check", "--strict", CHECKSUMS]).current_dir(&packages.place))
}

fn package(packages: &Packages, ending: &str) -> Result<PathBuf> {
    let name = packages.names.iter().find(|name| name.ends_with(ending));
    Ok(packages.place.join(name.with_context(|| format!("there is no package {ending}"))?))
}

/// Unpacks the tarball into a root without any other files, so that a missing library or system file shows.
fn tarball(packages: &Packages, root: &Path) -> Result<()> {
    if !may_change_root("the tarball is not tried in an empty root")? {
        return Ok(());
    }
    renew(root)?;
    let usr = root.join("usr");
    fs::create_dir_all(&usr)?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--strip-components=1", "--file"]).arg(package(packages, ".tar.gz")?);
    run(tar.arg("--directory").arg(&usr))?;
    let place = Installation::inside(root, "/usr/bin");
    trial::programs(&place)?;
    trial::files(&usr.join("share"))?;
    trial::manual(Command::new("man").arg("-M").arg(usr.join("share/man")))
}

/// Installs the wheel into a new Python environment, from the file alone.
fn wheel(packages: &Packages, environment: &Path) -> Result<()> {
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment))?;
    let mut install = Command::new(environment.join("bin/pip"));
    install.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    run(install.arg(package(packages, ".whl")?))?;
    let home = environment.join("home");
    trial::programs(&Installation::beside(&home, &environment.join("bin")))?;
    trial::files(&environment.join("share"))?;
    trial::manual(Command::new("man").arg("-M").arg(environment.join("share/man")))?;
    run(Command::new(environment.join("bin/pip")).args(["uninstall", "--quiet", "--yes", "pneu"]))?;
    for left in ["bin/pneu", "bin/pneu-tarantool", "share/man/man1/pneu.1"] {
        if environment.join(left).exists() {
            bail!("{left} is left after the wheel was removed");
        }
    }
    Ok(())
}

/// Installs the .deb into a minimal Debian, and removes it again.
fn deb(packages: &Packages, tried: &Path) -> Result<()> {
    let file = package(packages, ".deb")?;
    let depends = output(Command::new("dpkg-deb").arg("--field").arg(&file).arg("Depends"))?;
    if !depends.trim_ascii().is_empty() {
        let depends = String::from_utf8_lossy(&depends).into_owned();
        bail!("it depends on {}, but static programs need nothing", depends.trim());
    }
    if !may_change_root("the .deb is not installed")? {
        return Ok(());
    }
    let root = tried.join("debian");
    if !debian::prepare(&root)? {
        return left_out("the .deb is not installed: debootstrap is missing");
    }
    debian::install(&root, &file)?;
    trial::programs(&Installation::inside(&root, "/usr/bin"))?;
    trial::files(&root.join("usr/share"))?;
    trial::manual(installation::change_root(&root).arg("man"))?;
    debian::remove(&root, "pneu")
}

/// Returns whether this process may run programs in another root.
fn may_change_root(else_what: &str) -> Result<bool> {
    if output(installation::change_root(Path::new("/")).arg("/bin/true")).is_ok() {
        return Ok(true);
    }
    left_out(&format!("{else_what}: that needs the rights of root (sudo make test-dist)"))?;
    Ok(false)
}

/// Prints what is left out. In CI nothing may be left out.
fn left_out(what: &str) -> Result<()> {
    if env::var_os("CI").is_some_and(|value| value == "true") {
        bail!("{what}, and with CI=true it must be");
    }
    say(what);
    Ok(())
}
