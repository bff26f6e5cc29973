//! Crashes and refused operations at every step of writing the cache, and a second process in between.

use super::*;
use testkit::sim_disk::{
    Acknowledged, crash_at_every_operation, fail_at_every_operation, interrupt_at_every_operation,
};

/// One state after another: files come, more of them, some go.
fn states() -> Vec<Twin> {
    let mut twin = Twin::default();
    let mut states = Vec::new();
    let add = |twin: &mut Twin, number: u64| {
        let pack = (pack_id(number), vec![data(number, 0), data(number + 1, 100), tree(number, 200)]);
        // The pack of the file before is named again, with another blob.
        let again = (pack_id(number.saturating_sub(1)), vec![data(number + 50, 900)]);
        twin.files.insert(file_id(number), vec![pack, again]);
    };
    (0..2).for_each(|number| add(&mut twin, number));
    states.push(twin.clone());
    for number in 2..7 {
        add(&mut twin, number);
        states.push(twin.clone());
    }
    twin.files.remove(&file_id(3));
    states.push(twin.clone());
    add(&mut twin, 7);
    states.push(twin);
    states
}

/// Loads each state in turn.
fn work(disk: &SimDisk, _ledger: &Acknowledged<()>) -> Result<()> {
    for twin in states() {
        load(&twin.files(), Some(&place(disk)))?;
    }
    Ok(())
}

/// Whatever state the cache is left in, each state of the repository is answered for, and cached.
fn check_found(disk: &SimDisk, asked: &[Twin]) {
    for twin in asked {
        let disk = disk.fork();
        let index = load(&twin.files(), Some(&place(&disk))).unwrap();
        check(&index, twin);
        drop(index);
        let files = twin.files();
        check(&load(&files, Some(&place(&disk))).unwrap(), twin);
        assert_eq!(files.take_read(), BTreeSet::new(), "it was not cached");
    }
}

#[test]
fn a_crash_at_any_operation_leaves_a_cache_that_is_sound_or_made_anew() {
    let all = states();
    let asked = [all[3].clone(), all[all.len() - 1].clone()];
    let runs =
        crash_at_every_operation(&SimDisk::new(21), (), work, move |disk, ()| check_found(disk, &asked));
    assert!(runs.operation_count > 100 && runs.checked_count > 300, "{runs:?}");
}

#[test]
fn a_refused_operation_never_stops_anybody() {
    let all = states();
    let asked = [all[all.len() - 1].clone()];
    let checked = work_and_check;
    let runs =
        fail_at_every_operation(&SimDisk::new(22), (), checked, move |disk, ()| check_found(disk, &asked));
    assert!(runs.operation_count > 100, "{runs:?}");
}

/// Loads some states, and looks at what each answers.
fn work_and_check(disk: &SimDisk, _ledger: &Acknowledged<()>) -> Result<()> {
    let all = states();
    for twin in [&all[0], &all[2], &all[6]] {
        check(&load(&twin.files(), Some(&place(disk)))?, twin);
    }
    Ok(())
}

#[test]
fn two_at_once_both_answer() {
    let all = states();
    let start = SimDisk::new(23);
    load(&all[1].files(), Some(&place(&start))).unwrap();
    for (ours, theirs) in [(3, 3), (3, 6), (7, 2)] {
        let (ours, theirs) = (all[ours].clone(), all[theirs].clone());
        let one = move |disk: &SimDisk| check(&load(&ours.files(), Some(&place(disk))).unwrap(), &ours);
        let other = move |disk: &SimDisk| check(&load(&theirs.files(), Some(&place(disk))).unwrap(), &theirs);
        let runs = interrupt_at_every_operation(&start, one, other);
        assert!(runs.operation_count > 10, "{runs:?}");
    }
}
