//! Two stores compared on all cores, and by a naive twin.
//!
//! Input: random rows, and random changes of them. Output: failures where the lines differ. Uses only the
//! public interface.

use crate::load::{index, space};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use store::{Options, Snapshot};
use tarantool::diff::{DiffForm, DiffOptions, diff};
use tarantool::msgpack::{put_array_len, put_str, put_uint};
use tarantool::space::{SPACE_INDEX, SPACE_SPACE};
use tarantool::{
    Error, FileKind, FormatVersion, Header, Mode, PlanOptions, SnapWriter, VClock, plan, recover,
    stored_spaces,
};
use testkit::{Random, SimDisk};

type Rows = BTreeMap<(u64, u64), u64>;

/// Makes a store of rows: a key of two numbers, and a value. They arrive in the order of `arrival`.
fn store(rows: &Rows, key: &[(u64, &str)], is_reversed: bool) -> Snapshot {
    let disk: Arc<dyn disk::Disk> = Arc::new(SimDisk::new(1));
    let directory = Path::new("/t");
    disk.create_directory(directory).unwrap();
    let header = Header {
        kind: FileKind::Snapshot,
        version: FormatVersion::V013,
        program: "test".to_owned(),
        instance: [7; 16],
        vclock: VClock::default(),
        previous: None,
    };
    let mut writer = SnapWriter::create(&disk, directory, &header, 1e9).unwrap();
    writer.insert(SPACE_SPACE, 0, &space(600)).unwrap();
    writer.insert(SPACE_INDEX, 0, &index(600, 0, "tree", key)).unwrap();
    let mut tuples: Vec<Vec<u8>> = rows.iter().map(|(key, value)| tuple(*key, *value)).collect();
    if is_reversed {
        tuples.reverse();
    }
    tuples.iter().for_each(|tuple| writer.insert(600, 0, tuple).unwrap());
    writer.finish().unwrap();
    let plan = plan(&*disk, directory, &PlanOptions::default()).unwrap();
    let recovered = recover(&plan, Mode::Strict, 2, &work::Silent).unwrap();
    recovered.seal(&disk, Path::new("/s"), Options::default(), Vec::new()).unwrap();
    Snapshot::open(&disk, Path::new("/s")).unwrap()
}

fn tuple((one, two): (u64, u64), value: u64) -> Vec<u8> {
    let mut tuple = Vec::new();
    put_array_len(&mut tuple, 3);
    put_uint(&mut tuple, one);
    put_str(&mut tuple, format!("{two:03}").as_bytes());
    // Of different lengths, so that what follows lies elsewhere.
    put_str(&mut tuple, "x".repeat(usize::try_from(value).unwrap()).as_bytes());
    tuple
}

fn lines(old: &Snapshot, new: &Snapshot, form: DiffForm) -> (bool, Vec<String>) {
    let (old_spaces, new_spaces) = (stored_spaces(old).unwrap(), stored_spaces(new).unwrap());
    let options = DiffOptions { form, spaces: Vec::new(), shows_system: false, thread_count: 3 };
    let mut text = Vec::new();
    let totals = diff::<Error>((old, &old_spaces), (new, &new_spaces), &options, &mut |bytes| {
        text.extend_from_slice(bytes);
        Ok(())
    });
    let totals = totals.unwrap();
    (totals.is_different, String::from_utf8(text).unwrap().lines().map(str::to_owned).collect())
}

/// What the lines should be: without the beginning that all have in common.
fn naive(old: &Rows, new: &Rows) -> Vec<String> {
    let mut keys: Vec<(u64, u64)> = old.keys().chain(new.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    let x = |value: &u64| "x".repeat(usize::try_from(*value).unwrap());
    let line = |(one, two): (u64, u64)| {
        let key = format!("[{one},\"{two:03}\"]");
        let whole = |value: &u64| format!("\"tuple\":[{one},\"{two:03}\",\"{}\"]}}", x(value));
        match (old.get(&(one, two)), new.get(&(one, two))) {
            (Some(value), None) => Some(format!("\"removed\",\"key\":{key},{}", whole(value))),
            (None, Some(value)) => Some(format!("\"added\",\"key\":{key},{}", whole(value))),
            (Some(old), Some(new)) if old != new => Some(format!(
                "\"changed\",\"key\":{key},\"fields\":{{\"3\":{{\"old\":\"{}\",\"new\":\"{}\"}}}}}}",
                x(old),
                x(new)
            )),
            _ => None,
        }
    };
    keys.into_iter().filter_map(line).collect()
}

/// Changes some rows at random.
fn changed(rows: &Rows, random: &mut Random, per_mille: u64) -> Rows {
    let mut new = rows.clone();
    for key in rows.keys() {
        if random.per_mille(per_mille) {
            match random.below(3) {
                0 => drop(new.remove(key)),
                1 => drop(new.insert(*key, random.below(5))),
                _ => drop(new.insert((key.0, key.1 + 1), random.below(5))),
            }
        }
    }
    new
}

fn rows(random: &mut Random, count: u64, spread: u64) -> Rows {
    (0..count).map(|_| ((random.below(spread), random.below(4)), random.below(5))).collect()
}

const KEY: &[(u64, &str)] = &[(0, "unsigned"), (1, "string")];

#[test]
fn lines_are_those_of_a_naive_comparison() {
    let mut random = Random::of(31, 1, 0);
    for round in 0..60 {
        let count = [0, 1, 20, 300][round % 4];
        let old = rows(&mut random, count, 100);
        let per_mille = [0, 5, 200, 1000][round / 4 % 4];
        let new =
            if round % 7 == 6 { rows(&mut random, 50, 100) } else { changed(&old, &mut random, per_mille) };
        let (one, two) = (store(&old, KEY, round % 3 == 0), store(&new, KEY, round % 5 == 0));
        let (is_different, found) = lines(&one, &two, DiffForm::Lines);
        let begin = "{\"space\":\"space 600\",\"space_id\":600,\"change\":";
        let found: Vec<&str> = found.iter().map(|line| line.strip_prefix(begin).expect(begin)).collect();
        let wanted = naive(&old, &new);
        assert_eq!(found, wanted, "round {round}");
        assert_eq!(is_different, !wanted.is_empty());
    }
}

/// More rows than one range has, so that threads share the work and their lines are put in order.
#[test]
fn many_rows_are_compared_by_several_threads() {
    let mut random = Random::of(31, 2, 0);
    let old: Rows = (0..200_000).map(|number| ((number * 3, 0), random.below(5))).collect();
    let mut new = changed(&old, &mut random, 2);
    // A stretch that only one side has.
    new.extend((0..100_000).map(|number| ((700_000 + number, 1), 1)));
    let (one, two) = (store(&old, KEY, false), store(&new, KEY, false));
    let (_, found) = lines(&one, &two, DiffForm::Lines);
    let wanted = naive(&old, &new);
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!(found.ends_with(wanted), "{found} {wanted}");
    }
    let (_, summary) = lines(&one, &two, DiffForm::Summary);
    let count = |change: &str| wanted.iter().filter(|line| line.starts_with(change)).count();
    let same = old.iter().filter(|(key, value)| new.get(key) == Some(value)).count();
    assert_eq!(
        summary,
        [format!(
            "{{\"space\":\"space 600\",\"space_id\":600,\"added\":{},\"removed\":{},\"changed\":{},\
             \"same\":{same}}}",
            count("\"added"),
            count("\"removed"),
            count("\"changed")
        )]
    );
}

/// Keys that differ between the sides: tuples are compared as wholes, also those that occur often.
#[test]
fn wholes_are_compared_as_sorted_lists() {
    let mut random = Random::of(31, 3, 0);
    for _ in 0..10 {
        let old = rows(&mut random, 200, 50);
        let new = changed(&old, &mut random, 100);
        let (one, two) = (store(&old, KEY, true), store(&new, &[(1, "string"), (0, "unsigned")], false));
        let (_, found) = lines(&one, &two, DiffForm::Summary);
        let whole = |rows: &Rows| rows.iter().map(|(key, value)| tuple(*key, *value)).collect::<Vec<_>>();
        let (old, new) = (whole(&old), whole(&new));
        let same = old.iter().filter(|tuple| new.contains(tuple)).count();
        let counts = format!(
            "\"added\":{},\"removed\":{},\"changed\":0,\"same\":{same}",
            new.len() - same,
            old.len() - same
        );
        assert!(found[0].contains(&counts), "{found:?} {counts}");
    }
}

/// Whoever wants no more lines ends the work of all threads.
#[test]
fn an_output_that_fails_ends_the_comparison() {
    let old: Rows = (0..150_000).map(|number| ((number, 0), 1)).collect();
    let (one, two) = (store(&old, KEY, false), store(&Rows::new(), KEY, false));
    let spaces = (stored_spaces(&one).unwrap(), stored_spaces(&two).unwrap());
    let options =
        DiffOptions { form: DiffForm::Lines, spaces: Vec::new(), shows_system: false, thread_count: 2 };
    let mut calls = 0;
    let failed = diff::<Error>((&one, &spaces.0), (&two, &spaces.1), &options, &mut |bytes| {
        calls += usize::from(!bytes.is_empty());
        if bytes.is_empty() { Ok(()) } else { Err(Error::Cancelled) }
    });
    assert!(matches!(failed, Err(Error::Cancelled)) && calls == 1);
}
