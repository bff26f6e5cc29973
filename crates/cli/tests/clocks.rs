//! Tests implausible clocks: before 1970, at 1970, after the years that are counted in nanoseconds, after the
//! year 9999.
//!
//! Input: the program with another clock, by a library that is loaded before the system's. Output: whether it
//! reports that, never panics, and forgets nothing. Does not depend on which functions ask for the time.

use crate::archive::{Archived, archived};
use crate::support::{Home, Run, letter, run};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Replaces the function that tells the time of day.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *);
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec = atoll(getenv("TEST_CLOCK_SECONDS"));
    return code;
}
"#;
const YEAR: i64 = 31_556_952;
const RIGHT: i64 = 1_800_000_000;
/// Moments, and how they are shown.
const WRONG: [(i64, &str); 7] = [
    (0, "1970-01-01 00:00 UTC"),
    (-14_182_940, "1969-07-20 20:17 UTC"),
    (-400 * YEAR, "1677-09-21 00:12 UTC or before"),
    (-20_000 * YEAR, "1677-09-21 00:12 UTC or before"),
    (300 * YEAR, "2262-04-11 23:47 UTC or later"),
    (253_402_300_800, "2262-04-11 23:47 UTC or later"),
    (i64::MAX / 2, "2262-04-11 23:47 UTC or later"),
];

/// Returns the library, built once by the compiler that Rust links with.
fn library() -> &'static PathBuf {
    static BUILT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let (source, library) = (directory.path().join("clock.c"), directory.path().join("clock.so"));
        fs::write(&source, SOURCE).unwrap();
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source)
            .arg("-ldl")
            .status();
        assert!(built.unwrap().success());
        (directory, library)
    });
    path
}

fn at(seconds: i64, command: &mut Command) -> Run {
    run(command.env("LD_PRELOAD", library()).env("TEST_CLOCK_SECONDS", seconds.to_string()))
}

fn home_at(seconds: i64, home: &Home, arguments: &[&str]) -> Run {
    at(seconds, &mut home.command(arguments))
}

fn archived_at(seconds: i64, home: &Archived, arguments: &[&str]) -> Run {
    at(seconds, &mut home.command(arguments))
}

fn complaint(shown: &str) -> String {
    format!(
        "pneu: the clock says {shown}, which cannot be right: dates may be wrong, and nothing is \
         removed by age; set the clock\n"
    )
}

#[test]
fn every_command_goes_on_and_says_what_is_wrong() {
    for (seconds, shown) in WRONG {
        let home = Home::new();
        home.deliver("", "1:2,S", &letter("1", "First steps", "hello"));
        let said = complaint(shown);
        for (arguments, code, out) in [
            (&["index", "--maildir", "Mail"][..], 0, "1 added"),
            (&["index"], 0, ""),
            (&["index", "--lazy"], 0, ""),
            (&["find", "hello"], 0, "2024-03-02 12:00"),
            (&["find", "date:2024..2025"], 0, "First"),
            (&["view", "hello"], 0, "2024"),
            (&["tag", "+a", "--", "hello"], 0, ""),
            (&["check"], 0, "no damage"),
            (&["count", "--analyze", "hello"], 0, ""),
            (&["info"], 0, ""),
        ] {
            let run = home_at(seconds, &home, arguments);
            assert_eq!(
                (run.code, run.err.as_str()),
                (Some(code), said.as_str()),
                "{seconds} {arguments:?}: {run:?}"
            );
            assert!(run.out.contains(out), "{arguments:?}: {run:?}");
        }
        for words in
            ["today", "1d", "..now", "3y..", "yesterday..tomorrow", "monday", "5-march", "noon", "2w.."]
        {
            let run = home_at(seconds, &home, &["find", &format!("date:{words}")]);
            assert!(
                matches!(run.code, Some(0..=2)) && !run.err.contains("panic"),
                "{seconds} {words}: {run:?}"
            );
        }
    }
    let home = Home::indexed();
    assert_eq!(home_at(RIGHT, &home, &["find", "hello"]), home.pneu(&["find", "hello"]));
}

#[test]
fn a_sweep_under_such_a_clock_forgets_nothing_neither_then_nor_later() {
    for (seconds, shown) in WRONG {
        let home = Home::indexed();
        fs::remove_file(home.mail().join("cur/1:2,S")).unwrap();
        assert_eq!(home_at(seconds, &home, &["index"]).code, Some(0));
        for arguments in [&["sweep", "--older-than", "0d"][..], &["sweep", "--dry-run"]] {
            let swept = home_at(seconds, &home, arguments);
            assert_eq!(
                (swept.code, swept.out.as_str(), swept.err),
                (Some(2), "", complaint(shown)),
                "{arguments:?}"
            );
        }
        let later =
            "0 messages forgotten; 1 count as gone since now, because the clock was wrong when they went\n";
        assert_eq!(home_at(RIGHT, &home, &["sweep"]).out, later, "{seconds}");
        assert_eq!(home_at(RIGHT + 29 * 86_400, &home, &["sweep"]).out, "0 messages forgotten\n");
        assert_eq!(home_at(RIGHT + 31 * 86_400, &home, &["sweep"]).out, "1 message forgotten\n");
    }
}

#[test]
fn no_snapshot_is_removed_because_of_a_clock() {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    let back_up = |seconds| assert_eq!(archived_at(seconds, &home, &["archive", "backup"]).code, Some(0));
    let ids = || {
        let listed = archived_at(RIGHT, &home, &["archive", "snapshots"]).out;
        let pair = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            (words.next().unwrap(), words.next().unwrap())
        };
        listed.lines().map(pair).collect::<Vec<_>>()
    };
    for seconds in [-14_182_940, RIGHT - 86_400, RIGHT] {
        back_up(seconds);
    }
    let dates = |ids: Vec<(String, String)>| ids.into_iter().map(|(_, day)| day).collect::<Vec<_>>();
    assert_eq!(dates(ids()), ["1969-07-20", "2027-01-14", "2027-01-15"]);
    for arguments in [
        &["archive", "forget", "--keep-last", "1"][..],
        &["archive", "prune"],
        &["archive", "erase", "--yes", "*"],
        &["archive", "unlock"],
    ] {
        for (seconds, shown) in [WRONG[1], WRONG[5]] {
            let run = archived_at(seconds, &home, arguments);
            assert_eq!(
                (run.code, run.out.as_str(), run.err),
                (Some(2), "", complaint(shown)),
                "{arguments:?}"
            );
        }
    }
    let forgot = archived_at(RIGHT, &home, &["archive", "forget", "--keep-last", "1"]);
    let old = ids()[0].0.clone();
    let kept = format!(
        "pneu: snapshot {old} stays: its time 1969-07-20 20:17 UTC is from a clock that was wrong; \
         remove it by its ID\n"
    );
    assert!(forgot.code == Some(0) && forgot.err.contains(&kept), "{forgot:?}");
    assert_eq!(dates(ids()), ["1969-07-20", "2027-01-15"]);
    assert_eq!(archived_at(RIGHT, &home, &["archive", "forget", &old]).code, Some(0));
    // One of a time to come would count as the last for centuries.
    back_up(300 * YEAR);
    let future = ids()[1].0.clone();
    back_up(RIGHT);
    let refused = archived_at(RIGHT, &home, &["archive", "forget", "--keep-last", "1"]);
    let said = format!(
        "pneu: snapshot {future} has the time 2262-04-11 23:47 UTC, but the clock says 2027-01-15 08:00 UTC: \
         one of them is wrong, so no policy removes anything; set the clock, or remove that snapshot by its \
         ID\n"
    );
    assert_eq!((refused.code, refused.err), (Some(2), said));
    assert_eq!(archived_at(RIGHT, &home, &["archive", "forget", &future]).code, Some(0));
    assert_eq!(archived_at(RIGHT, &home, &["archive", "forget", "--keep-last", "1"]).code, Some(0));
    assert_eq!(ids().len(), 1);
}
