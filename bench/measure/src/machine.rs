//! Facts about the machine, and its load.
//!
//! Input: /proc. Output: text for the results. Does not know what is measured.

use crate::corpora::SEED;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

/// The workspace that this was built from: its commit is the measured one.
const SOURCE: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the facts about the machine, one on each line. `files` is the directory of the measured files.
///
/// # Errors
/// If there is no `date`.
pub fn facts(files: &Path) -> Result<Vec<(&'static str, String)>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Ok(vec![
        ("date", output("date", &["-u", "+%Y-%m-%d %H:%M UTC"])?),
        ("processor", format!("{}, {cores} cores", processor())),
        ("memory", memory()),
        ("kernel", read("/proc/sys/kernel/osrelease")),
        ("file system", file_system(files)),
        ("seed of generated mail", SEED.to_string()),
        ("load before", load()),
        ("commit", output("git", &["-C", SOURCE, "describe", "--always", "--dirty"]).unwrap_or_default()),
    ])
}

/// Returns today, as a part of a file name.
///
/// # Errors
/// If there is no `date`.
pub fn today() -> Result<String> {
    output("date", &["-u", "+%Y-%m-%d"])
}

/// Returns the load averages.
pub fn load() -> String {
    read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Returns the load average of the last minute.
pub fn load_of_a_minute() -> f64 {
    load().split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}

/// Returns a short name for the machine: its processor and how many cores.
pub fn name() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!("{}-{cores}cores", slug(&processor()))
}

fn slug(text: &str) -> String {
    let plain = text.to_lowercase().replace("(r)", "").replace("(tm)", "").replace(" cpu", "");
    let words = plain.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn processor() -> String {
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| "unknown".to_owned(), |(_, model)| model.trim().to_owned())
}

fn memory() -> String {
    let info = read("/proc/meminfo");
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let kilobytes: f64 = total.and_then(|total| total.parse().ok()).unwrap_or(0.0);
    format!("{:.1} GiB", kilobytes / 1024.0 / 1024.0)
}

/// Returns the type of the file system of `path`: that of the longest mount point above it.
pub fn file_system(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mounts = read("/proc/mounts");
    let above = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        path.starts_with(point).then_some((point.len(), kind))
    });
    above.max().map_or_else(String::new, |(_, kind)| kind.to_owned())
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// Returns the output of a command, trimmed.
///
/// # Errors
/// If it cannot be started.
pub fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output =
        Command::new(program).args(arguments).output().with_context(|| format!("cannot start {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_can_stand_in_a_path() {
        assert_eq!(slug("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"), "intel-xeon-e5-2680-v3-2.50ghz");
    }
}
