//! The programs, built for one target.
//!
//! Input: a target. Output: where the programs are, and a way to run them here. Does not know what is packed.

use crate::run::{cargo, output, run, target_directory};
use anyhow::{Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The names of all programs.
pub(super) const NAMES: [&str; 2] = ["pneu", "pneu-tarantool"];
/// The crates of the programs.
const CRATES: [&str; 2] = ["pneu-cli", "pneu-tarantool"];

/// The profile of packages.
pub(super) const PROFILE: &str = "release";

/// The programs of one target, as packages carry them.
pub(super) struct Programs {
    target: String,
}

impl Programs {
    /// Builds them.
    ///
    /// # Errors
    /// If Rust's standard library or a C compiler for the target is missing, or the build fails.
    pub(super) fn build(target: &str) -> Result<Programs> {
        let programs = Programs { target: target.to_owned() };
        programs.need_standard_library()?;
        if let Some(compiler) = programs.compiler()
            && Command::new(compiler).arg("--version").stdout(Stdio::null()).status().is_err()
        {
            bail!("{compiler} is not installed; Debian has it in {}", package_of(compiler));
        }
        // A single invocation would give each of them the features that any of them needs.
        for name in CRATES {
            let mut build = cargo(&["build", "--profile", PROFILE, "--locked", "--target", target]);
            run(programs.cross(build.args(["--package", name])))?;
        }
        Ok(programs)
    }

    /// Adds the standard library of the target where rustup manages them.
    fn need_standard_library(&self) -> Result<()> {
        let place =
            output(Command::new("rustc").args(["--print", "target-libdir", "--target", &self.target]))?;
        if Path::new(String::from_utf8_lossy(&place).trim()).is_dir() {
            return Ok(());
        }
        let added = run(Command::new("rustup").args(["target", "add", &self.target]));
        added.map_err(|error| {
            error.context(format!("Rust's standard library for {} is not installed", self.target))
        })
    }

    /// Returns the C compiler that this target needs besides `cc`.
    fn compiler(&self) -> Option<&'static str> {
        let architecture = self.architecture();
        match (architecture == env::consts::ARCH, architecture, self.are_static()) {
            (true, _, true) => Some("musl-gcc"),
            (true, _, false) => None,
            (false, "aarch64", _) => Some("aarch64-linux-gnu-gcc"),
            (false, "x86_64", _) => Some("x86_64-linux-gnu-gcc"),
            (false, ..) => None,
        }
    }

    /// Tells cargo and the builds of C code the compiler for another architecture.
    pub(super) fn cross<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        if self.architecture() != env::consts::ARCH
            && let Some(compiler) = self.compiler()
        {
            let name = self.target.replace('-', "_");
            command.env(format!("CARGO_TARGET_{}_LINKER", name.to_uppercase()), compiler);
            command.env(format!("CC_{name}"), compiler);
        }
        command
    }

    fn architecture(&self) -> &str {
        self.target.split('-').next().unwrap_or_default()
    }

    /// Returns whether the programs need no library of the system.
    pub(super) fn are_static(&self) -> bool {
        self.target.ends_with("-musl")
    }

    /// Returns the target.
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// Returns the directory with the programs.
    pub(super) fn directory(&self) -> PathBuf {
        target_directory().join(&self.target).join(PROFILE)
    }

    /// Returns the files, in the order of [`NAMES`].
    pub(super) fn paths(&self) -> [PathBuf; NAMES.len()] {
        NAMES.map(|name| self.directory().join(name))
    }

    /// Returns a command that runs the program `name` here, through qemu if it is of another architecture.
    pub(super) fn command(&self, name: &str) -> Command {
        let program = self.directory().join(name);
        let architecture = self.architecture();
        if architecture == env::consts::ARCH {
            return Command::new(program);
        }
        let mut command = Command::new(format!("qemu-{architecture}"));
        command.args(["-L", &format!("/usr/{architecture}-linux-gnu")]).arg(program);
        command
    }
}

fn package_of(compiler: &str) -> &'static str {
    match compiler {
        "musl-gcc" => "musl-tools",
        "aarch64-linux-gnu-gcc" => "gcc-aarch64-linux-gnu",
        _ => "gcc-x86-64-linux-gnu",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_targets_and_compilers_follow_from_the_name() {
        let here = |rest: &str| Programs { target: format!("{}-unknown-linux-{rest}", env::consts::ARCH) };
        assert!(here("musl").are_static() && !here("gnu").are_static());
        assert_eq!((here("musl").compiler(), here("gnu").compiler()), (Some("musl-gcc"), None));
        let other = if env::consts::ARCH == "aarch64" { "x86_64" } else { "aarch64" };
        let cross = Programs { target: format!("{other}-unknown-linux-gnu") };
        assert_eq!(cross.compiler(), Some(&*format!("{other}-linux-gnu-gcc")));
        assert_eq!(cross.command("pneu").get_program(), &*format!("qemu-{other}"));
        let mut command = Command::new("cargo");
        let set: Vec<String> = cross
            .cross(&mut command)
            .get_envs()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        let linker = format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_LINKER", other.to_uppercase());
        assert_eq!(set, [linker, format!("CC_{other}_unknown_linux_gnu")]);
    }
}
