//! The packages: a tarball, a .deb and a wheel of the same programs and files.
//!
//! Input: programs, and the files beside them. Output: one file each, in a directory. Does not know what is
//! in the files.

use super::programs::{NAMES, PROFILE, Programs};
use super::{share, tools};
use crate::directory::{copy_tree, renew};
use crate::run::{output, run, say, target_directory, workspace_root};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The version of all packages: that of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The oldest systems that the wheel supports. Its programs are static, so every Linux of the last ten years
/// is fine.
const WHEEL_SYSTEMS: [&str; 2] = ["manylinux2014", "musllinux_1_1"];

/// The wheel's description for maturin, beside the files that the wheel contains.
const WHEEL: &str = include_str!("wheel.toml");

/// Packs one directory with `bin` and `share`. The same commit and compiler give the same bytes.
///
/// # Errors
/// If a file cannot be copied or packed.
pub(super) fn tarball(programs: &Programs, place: &Path) -> Result<String> {
    let name = format!("pneu-{VERSION}-{}", programs.target());
    let stage = target_directory().join("dist-tarball");
    renew(&stage)?;
    copy_programs(programs, &NAMES, &stage.join(&name).join("bin"))?;
    copy_tree(&share::directory(programs), &stage.join(&name).join("share"))?;
    let file = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u+rw,go=rX", &format!("--mtime=@{}", commit_seconds())]);
    run(tar.arg("--file").arg(place.join(&file)).arg("--directory").arg(&stage).arg(&name))?;
    Ok(file)
}

/// Makes the .deb. The manifest of `pneu-cli` lists its files.
///
/// # Errors
/// If cargo-deb cannot be installed, or fails.
pub(super) fn deb(programs: &Programs, place: &Path) -> Result<String> {
    let mut deb = Command::new(tools::cargo_deb()?);
    deb.args(["--quiet", "--no-build", "--no-strip", "--locked", "--package", "pneu-cli"]);
    deb.args(["--profile", PROFILE, "--target", programs.target(), "--output"]).arg(place);
    run(deb.env("SOURCE_DATE_EPOCH", commit_seconds()).current_dir(workspace_root()))?;
    only_with_ending(place, ".deb")
}

/// Makes the wheel. maturin takes one program from its crate, and the other program and the files from beside
/// the wheel's description.
///
/// # Errors
/// If maturin cannot be installed, or fails.
pub(super) fn wheel(programs: &Programs, place: &Path) -> Result<String> {
    // It lies in the project, wherever programs are built: only there does cargo, which maturin calls, use
    // the project's settings for static programs. With others it would build the program anew.
    let stage = workspace_root().join("target/dist-wheel");
    renew(&stage)?;
    let manifest = workspace_root().join("crates/cli/Cargo.toml");
    let description = WHEEL.replace("@MANIFEST@", &manifest.to_string_lossy());
    fs::write(stage.join("pyproject.toml"), description)?;
    fs::copy(workspace_root().join("README.md"), stage.join("README.md"))?;
    copy_programs(programs, &NAMES[1..], &stage.join("pneu.data/scripts"))?;
    copy_tree(&share::directory(programs), &stage.join("pneu.data/data/share"))?;
    let mut build = Command::new(tools::maturin()?);
    build.args(["build", "--profile", PROFILE, "--locked", "--quiet", "--target", programs.target()]);
    build.arg("--compatibility").args(WHEEL_SYSTEMS).arg("--out").arg(place);
    build.env("CARGO_TARGET_DIR", target_directory()).env("SOURCE_DATE_EPOCH", commit_seconds());
    run(programs.cross(&mut build).current_dir(&stage))?;
    only_with_ending(place, ".whl")
}

fn copy_programs(programs: &Programs, names: &[&str], to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for name in names {
        let copy = to.join(name);
        fs::copy(programs.directory().join(name), &copy)?;
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Returns the name of the one file in `place` with this ending.
fn only_with_ending(place: &Path, ending: &str) -> Result<String> {
    let names = fs::read_dir(place)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .into_iter()
        .find(|name| name.ends_with(ending))
        .with_context(|| format!("no file {ending} was made"))
}

/// Returns the time of the commit, which all files in packages get. Without git, it is a fixed time.
fn commit_seconds() -> String {
    let mut git = Command::new("git");
    let told = output(git.args(["log", "-1", "--format=%ct"]).current_dir(workspace_root()));
    let Ok(told) = told else {
        say("There is no git, so files in packages are of 1980");
        return "315532800".to_owned();
    };
    String::from_utf8_lossy(&told).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_file_with_an_ending_is_found() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("one.deb"), "").unwrap();
        assert_eq!(only_with_ending(place.path(), ".deb").unwrap(), "one.deb");
        assert!(only_with_ending(place.path(), ".whl").unwrap_err().to_string().contains(".whl"));
    }
}
