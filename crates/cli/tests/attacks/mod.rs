//! Attacks on everything on the disk: files are exchanged, truncated, flipped, rolled back, removed; and the
//! program is killed or refused at any system call. A short run is a test; `cargo xtask damage` is the long
//! one, with more rounds and another seed.
//!
//! Input: PNEU_DAMAGE_ROUNDS and PNEU_DAMAGE_SEED, or their defaults. Output: whether every answer was right
//! or an error, whether the checks found the damage, and whether everything was right again afterwards. Does
//! not depend on formats.

mod act;
mod faults;
mod judge;
mod stage;

use act::{Act, Kind, carry_out, choose};
use judge::{OF_ARCHIVE, OF_MAIL, ask, ending, judge, told};
use stage::{DATA, REPOSITORY, Stage};
use std::path::Path;
use testkit::Random;

/// Rounds of a short run.
const ROUNDS: u64 = 40;

/// Returns a number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Does something a number of times, each with random numbers of its own, and fails at the end with what went
/// wrong and how to see it again.
fn rounds(purpose: u64, one: impl Fn(&mut Random) -> Result<(), String>) {
    let (seed, count) = (setting("PNEU_DAMAGE_SEED", 1), setting("PNEU_DAMAGE_ROUNDS", ROUNDS));
    let first = setting("PNEU_DAMAGE_FIRST", 0);
    let faults: Vec<String> = (first..first + count)
        .filter_map(|round| {
            let fault = one(&mut Random::of(seed, purpose, round)).err()?;
            Some(format!("PNEU_DAMAGE_SEED={seed} PNEU_DAMAGE_FIRST={round} PNEU_DAMAGE_ROUNDS=1: {fault}"))
        })
        .collect();
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n\n"));
}

#[test]
fn damage_in_the_data_directory_is_told_found_and_healed() {
    let stage = Stage::new();
    let right = ask(&stage, &OF_MAIL);
    rounds(1, |random| {
        stage.restore();
        let act = choose(random, &stage, DATA);
        carry_out(&act, &stage);
        data_attacked(&stage, &act, &right).map_err(|fault| format!("{act}: {fault}"))
    });
}

fn data_attacked(stage: &Stage, act: &Act, right: &[crate::support::Run]) -> Result<(), String> {
    let verdict = judge(&OF_MAIL, &ask(stage, &OF_MAIL), right);
    if let Some(fault) = verdict.faults.into_iter().next() {
        return Err(fault);
    }
    let check = stage.run(&["check", "--deep"]);
    if let Some(fault) = ending(&check) {
        return Err(format!("check: {fault}"));
    }
    if check.code == Some(0) && (verdict.right_count < right.len() || !is_harmless(act)) {
        return Err(format!("check --deep finds nothing: {}", told(&check)));
    }
    // Nobody but its owner can say what a directory is for that has the name of a file.
    if act.kind == Kind::Directory { Ok(()) } else { heal(stage, right) }
}

/// Repairs, and fails unless everything is right again or the loss was named.
fn heal(stage: &Stage, right: &[crate::support::Run]) -> Result<(), String> {
    let repair = stage.run(&["check", "--repair", "--maildir", "Mail"]);
    let index = stage.run(&["index"]);
    for run in [&repair, &index] {
        if let Some(fault) = ending(run) {
            return Err(format!("repair: {fault}"));
        }
    }
    let verdict = judge(&OF_MAIL, &ask(stage, &OF_MAIL), right);
    match verdict.right_count == right.len() {
        true => Ok(()),
        false => Err(format!("not healed: {}; {}; {}", told(&repair), told(&index), verdict.faults.concat())),
    }
}

/// Says whether this needs no word as long as all answers are right: the file is empty of meaning, or it is
/// older than the user's other copy, of which the newer one counts.
fn is_harmless(act: &Act) -> bool {
    if matches!(act.kind, Kind::RollBack(_)) && act.path.starts_with(Path::new(DATA).join("user")) {
        return true;
    }
    let of_no_meaning = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with("lock") || name == "CACHEDIR.TAG"
    };
    of_no_meaning(&act.path) && !matches!(&act.kind, Kind::Swap(other) if !of_no_meaning(other))
}

#[test]
fn damage_in_a_repository_is_told_and_found() {
    let stage = Stage::new();
    let right = ask(&stage, &OF_ARCHIVE);
    rounds(2, |random| {
        stage.restore();
        let act = choose(random, &stage, REPOSITORY);
        carry_out(&act, &stage);
        let verdict = judge(&OF_ARCHIVE, &ask(&stage, &OF_ARCHIVE), &right);
        match verdict.faults.first() {
            Some(fault) if !is_allowed(&act) => Err(format!("{act}: {fault}")),
            _ => Ok(()),
        }
    });
}

/// Says whether a repository is another one by this, and none the worse: a snapshot fewer.
fn is_allowed(act: &Act) -> bool {
    matches!(act.kind, Kind::Remove | Kind::Directory) && act.path.starts_with("repository/snapshots")
}

#[test]
fn a_system_that_fails_anywhere_loses_nothing() {
    if !faults::is_possible() {
        return;
    }
    let stage = Stage::new();
    stage.deliver_more();
    for command in [&["index"][..], &["tag", "+marked", "--", "hello"], &["query", "late", "date:2024"]] {
        assert_eq!(stage.run(command).code, Some(0), "{command:?}");
    }
    let right = ask(&stage, &OF_MAIL);
    rounds(3, |random| {
        stage.restore();
        let (strace, command) = faults::choose(random);
        faults::fail(&stage, &strace, command, &right)
            .map_err(|fault| format!("{} {}: {fault}", strace.join(" "), command.join(" ")))
    });
}
