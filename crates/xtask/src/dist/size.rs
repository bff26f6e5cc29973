//! The size of the programs, which has a limit.
//!
//! Input: an installed program. Output: its size, or an error. Does not know what takes the space.

use super::programs::NAMES;
use crate::run::{cargo, run, say, target_directory};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// The most bytes of a program, as `cargo install` leaves it and as packages carry it. It was 20 MB until the
/// program had a server with a page, and 22 MB until tables had columns whose rows may have no value.
const PROGRAM_BYTES_MAX: u64 = 22_100_000;

/// Builds the programs as `cargo install` does, and checks their sizes.
///
/// # Errors
/// If they cannot be built, or one is too large.
pub fn size() -> Result<()> {
    run(&mut cargo(&["build", "--release", "--locked", "--package", "pneu-cli"]))?;
    run(&mut cargo(&["build", "--release", "--locked", "--package", "pneu-tarantool"]))?;
    NAMES.iter().try_for_each(|name| check(&target_directory().join("release").join(name)))
}

/// Checks the size of `program`, and prints it.
///
/// # Errors
/// If it is too large.
pub fn check(program: &Path) -> Result<()> {
    let found = fs::metadata(program).with_context(|| format!("cannot stat {}", program.display()))?;
    let (bytes, limit) = (found.len(), PROGRAM_BYTES_MAX);
    if bytes > limit {
        bail!(
            "{} has {bytes} bytes, {limit} are allowed: look for a new dependency or feature (cargo tree), \
             and do not build for speed (Cargo.toml, opt-level 3) what does little work",
            program.display()
        );
    }
    say(&format!("{}: {:.1} MB of {:.1}", program.display(), bytes as f64 / 1e6, limit as f64 / 1e6));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_too_large_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("pneu");
        let file = fs::File::create(&program).unwrap();
        file.set_len(PROGRAM_BYTES_MAX).unwrap();
        check(&program).unwrap();
        file.set_len(PROGRAM_BYTES_MAX + 1).unwrap();
        let error = check(&program).unwrap_err().to_string();
        assert!(error.contains("has 22100001 bytes, 22100000 are allowed"), "{error}");
    }
}
