//! The user's time zone.
//!
//! Input: the variable `TZ`, or the system's file. Output: a zone, or why there is none. Reads every form
//! that glibc and jiff know (POSIX rules, names, paths, each also after a colon), but never more than a small
//! regular file.

use disk::Source;
use jiff::tz::TimeZone;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};

/// Where the system keeps its zone.
const LOCAL: &str = "/etc/localtime";
/// Where systems keep all zones, by their usual names.
const ZONES: &str = "/usr/share/zoneinfo";
/// The largest file of a zone that is read; those of all zones have at most some 4 KiB.
const ZONE_BYTES_MAX: usize = 1 << 20;
/// Most characters of an unusable value that are shown.
const SHOWN_COUNT_MAX: usize = 80;

/// Returns the zone that `TZ` names, or the system's if it is not set.
///
/// # Errors
/// A sentence. Then there is only UTC.
pub fn of(variable: Option<&OsStr>) -> Result<TimeZone, String> {
    let Some(variable) = variable else { return local() };
    if variable.is_empty() {
        return Ok(TimeZone::UTC);
    }
    let shown: String = variable.to_string_lossy().chars().take(SHOWN_COUNT_MAX).collect();
    let why =
        |what: &dyn std::fmt::Display| format!("TZ={shown} cannot be used: {what}; times are shown in UTC");
    let text = variable.to_str().ok_or_else(|| why(&"it is not UTF-8"))?;
    let name = text.strip_prefix(':').unwrap_or(text);
    if name.len() == text.len()
        && let Ok(zone) = TimeZone::posix(text)
    {
        return Ok(zone);
    }
    named(name).map_or_else(|| file(Path::new(name)).map_err(|error| why(&error)), Ok)
}

/// Returns the zone of the system. jiff would list the directory of all zones to find its name, which takes a
/// millisecond and is not needed here.
fn local() -> Result<TimeZone, String> {
    match file(Path::new(LOCAL)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(TimeZone::UTC),
        other => other.map_err(|error| format!("{LOCAL} cannot be used: {error}; times are shown in UTC")),
    }
}

/// Returns the zone of a name such as Europe/Berlin, or of a path to one of that name.
fn named(name: &str) -> Option<TimeZone> {
    let name = name.rsplit_once("zoneinfo/").map_or(name, |(_, name)| name);
    let is_name =
        !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    // If the system has no such file, jiff also knows other spellings of names, and zones that are stored in
    // another way.
    is_name.then(|| file(&Path::new(ZONES).join(name)).ok().or_else(|| TimeZone::get(name).ok())).flatten()
}

fn file(path: &Path) -> io::Result<TimeZone> {
    let bytes = disk::read_small(path, ZONE_BYTES_MAX, Source::File)?;
    TimeZone::tzif("local", &bytes)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    /// Returns the hours east of UTC in January, and in July.
    fn hours(variable: &str) -> Result<(i32, i32), String> {
        let zone = of(Some(OsStr::new(variable)))?;
        let at = |text: &str| zone.to_offset(text.parse::<Timestamp>().unwrap()).seconds() / 3600;
        Ok((at("2026-01-01T00:00:00Z"), at("2026-07-01T00:00:00Z")))
    }

    #[test]
    fn rules_names_and_paths_name_a_zone() {
        for (variable, expected) in [
            ("", (0, 0)),
            ("UTC", (0, 0)),
            ("utc", (0, 0)),
            ("UTC0", (0, 0)),
            ("EST5", (-5, -5)),
            ("CET-1CEST,M3.5.0,M10.5.0/3", (1, 2)),
        ] {
            assert_eq!(hours(variable), Ok(expected), "{variable}");
        }
        if Path::new(ZONES).join("Europe/Berlin").exists() {
            for name in [
                "Europe/Berlin",
                ":Europe/Berlin",
                "europe/berlin",
                "/usr/share/zoneinfo/Europe/Berlin",
                ":/x/zoneinfo/Europe/Berlin",
            ] {
                assert_eq!(hours(name), Ok((1, 2)), "{name}");
            }
        }
        assert!(of(None).is_ok());
    }

    #[test]
    fn whatever_lies_there_nobody_waits_or_reads_for_ever() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name).display().to_string();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        fs::File::create(path("huge")).unwrap().set_len(100 << 30).unwrap();
        fs::write(path("text"), "no zone").unwrap();
        for (variable, what) in [
            ("/dev/zero", "it is not a regular file"),
            (":/dev/zero", "it is not a regular file"),
            ("../../../../../../../dev/zero", "it is not a regular file"),
            (&path("pipe"), "it is not a regular file"),
            (&format!(":{}", path("huge")), "it has more than 1048576 bytes"),
            (&path("text"), ""),
            ("/", "directory"),
            ("Nowhere/At_All", "No such file"),
        ] {
            let said = hours(variable).unwrap_err();
            assert!(said.starts_with("TZ=") && said.contains(what), "{said}");
            assert!(said.ends_with("; times are shown in UTC"), "{said}");
        }
        let long = "x".repeat(100_000);
        assert!(hours(&long).unwrap_err().len() < 300);
        assert!(of(Some(OsStr::from_bytes(b"\xff"))).is_err());
    }
}
