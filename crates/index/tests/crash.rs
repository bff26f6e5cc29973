//! A pass on a disk that fails. If the pass is killed or refused at any operation and runs again, the result
//! is the same as after one undisturbed pass.

use crate::support::{Dump, Fixture, dump, environment, message};
use index::{Mailbox, UpdateOptions};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use testkit::SimDisk;
use testkit::sim_disk::Refusal;
use work::Silent;

/// A pass over some mail, some changes to the mail, and a second pass, all on `disk`. Stops at the first
/// failure.
struct Workload {
    fixture: Fixture,
}

impl Workload {
    fn new() -> Workload {
        let fixture = Fixture::new();
        for number in 0..12 {
            let content = message(&format!("m{number}"), &format!("subject {number}"), "some words");
            fixture.put(&format!("f{}", number % 3), "cur", &format!("{number}.x:2,S"), &content);
        }
        Workload { fixture }
    }

    fn options() -> UpdateOptions {
        UpdateOptions { batch_message_count: 5, ..UpdateOptions::default() }
    }

    fn pass(&self, disk: &SimDisk) -> index::Result<index::Summary> {
        let environment = environment(Arc::new(disk.clone()), Path::new("/data"));
        index::update(&environment, &self.fixture.roots, &Workload::options(), &Silent)
    }

    fn change_mail(&self) {
        let root = self.fixture.root();
        fs::rename(root.join("f0/cur/0.x:2,S"), root.join("f1/cur/0.x:2,FS")).unwrap();
        fs::remove_file(root.join("f2/cur/2.x:2,S")).unwrap();
        self.fixture.put("f2", "new", "99.y", &message("m99", "late", "some words"));
    }

    fn undo_change(&self) {
        let root = self.fixture.root();
        fs::rename(root.join("f1/cur/0.x:2,FS"), root.join("f0/cur/0.x:2,S")).unwrap();
        self.fixture.put("f2", "cur", "2.x:2,S", &message("m2", "subject 2", "some words"));
        fs::remove_file(root.join("f2/new/99.y")).unwrap();
    }

    fn dump(&self, disk: &SimDisk) -> (Dump, u64) {
        let environment = environment(Arc::new(disk.clone()), Path::new("/data"));
        let damage = index::check(&environment, index::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{damage:#?}");
        let mailbox = Mailbox::open(&environment).unwrap();
        let words = mailbox.count(&crate::support::query("body:words")).unwrap();
        (dump(&mailbox, self.fixture.root()), words)
    }
}

#[test]
fn a_pass_killed_at_any_operation_and_repeated_equals_one_pass() {
    let workload = Workload::new();
    let whole = SimDisk::new(1);
    workload.pass(&whole).unwrap();
    let expected = workload.dump(&whole);
    let operations = whole.operation_count();
    for number in 0..operations {
        let disk = SimDisk::new(1);
        disk.crash_at(number);
        assert!(workload.pass(&disk).is_err() || !disk.has_crashed(), "a crash is an error");
        for image in disk.images() {
            workload
                .pass(&image.disk)
                .unwrap_or_else(|error| panic!("crash at {number}, {}: {error}", image.description));
            assert_eq!(workload.dump(&image.disk), expected, "crash at {number}, {}", image.description);
        }
    }
}

#[test]
fn a_second_pass_killed_at_any_operation_loses_nothing_of_the_first() {
    let workload = Workload::new();
    let first = SimDisk::new(2);
    workload.pass(&first).unwrap();
    let before = workload.dump(&first);
    workload.change_mail();
    let whole = first.fork();
    let start = whole.operation_count();
    workload.pass(&whole).unwrap();
    let after = workload.dump(&whole);
    for number in start..whole.operation_count() {
        let disk = first.fork();
        disk.crash_at(number);
        let _ = workload.pass(&disk);
        for image in disk.images() {
            let (seen, _) = workload.dump(&image.disk);
            let is_whole_commit = seen.len() >= before.0.len() - 1;
            assert!(is_whole_commit, "crash at {number}, {}: {seen:#?}", image.description);
            workload.pass(&image.disk).unwrap();
            assert_eq!(workload.dump(&image.disk), after, "crash at {number}, {}", image.description);
        }
    }
    workload.undo_change();
}

#[test]
fn after_a_full_disk_at_any_operation_the_next_pass_succeeds() {
    let workload = Workload::new();
    let whole = SimDisk::new(3);
    workload.pass(&whole).unwrap();
    let expected = workload.dump(&whole);
    for number in 0..whole.operation_count() {
        let disk = SimDisk::new(3);
        disk.refuse_at(number, Refusal::Full);
        let _ = workload.pass(&disk);
        disk.allow_all();
        workload.pass(&disk).unwrap_or_else(|error| panic!("refused at {number}: {error}"));
        assert_eq!(workload.dump(&disk), expected, "refused at {number}");
    }
}

#[test]
fn a_first_index_that_fills_the_disk_frees_its_space() {
    let workload = Workload::new();
    let pass = |disk: &SimDisk| {
        let environment = environment(Arc::new(disk.clone()), Path::new("/data"));
        let result = index::update(&environment, &workload.fixture.roots, &UpdateOptions::default(), &Silent);
        (result, Mailbox::open(&environment).ok())
    };
    let whole = SimDisk::new(4);
    pass(&whole).0.unwrap();
    let mut seen_count = 0;
    for number in 0..whole.operation_count() {
        let disk = SimDisk::new(4);
        disk.refuse_from(number, Refusal::Full);
        let (result, mailbox) = pass(&disk);
        let is_empty = mailbox.is_none_or(|mailbox| dump(&mailbox, workload.fixture.root()).is_empty());
        if result.is_ok() || !is_empty {
            continue;
        }
        seen_count += 1;
        let text: Vec<_> = disk
            .files()
            .into_iter()
            .filter(|path| path.starts_with("/data/index/text") && !path.ends_with("merge.lock"))
            .collect();
        assert!(text.is_empty(), "full from {number}: {text:?}");
    }
    assert!(seen_count > 10, "{seen_count}");
}
