//! Tests of files that are removed for good: what is left on disk and in the index, after a crash too.

use crate::action::carry_out::carry_out;
use crate::action::crashing::{Crashing, ends};
use crate::action::log::{Kind, Log, Step};
use crate::action::plan::Action;
use crate::action::removal::step;
use crate::action::tests::Fixture;
use std::cell::Cell;
use work::Silent;

#[test]
fn what_is_removed_for_good_is_gone_from_disk_and_index_and_undo_says_so() {
    let fixture = Fixture::new();
    let query = |text: &str| fixture.host.view().unwrap().query(text).unwrap();
    assert_eq!(fixture.act("subject:two", &Action::Delete), "1 1");
    // One of two files of a message: it stays in the index.
    let meant = query("maildir:/archive and subject:one");
    let removal = fixture.host.plan_removal(&meant, None, &Silent).unwrap();
    assert_eq!((removal.files.len(), removal.message_count, removal.last_count), (1, 1, 0));
    let removed = fixture.host.remove_for_good(&removal, &Silent).unwrap();
    assert_eq!((removed.message_count, removed.file_count, removed.forgotten_count), (1, 1, 0));
    assert_eq!(fixture.count("subject:one"), 1);
    // The other, one in the trash, and one that a mail program flagged meanwhile.
    let inbox = fixture.mail().join("inbox");
    std::fs::rename(inbox.join("new/3.a"), inbox.join("cur/3.a:2,S")).unwrap();
    let removal = fixture
        .host
        .plan_removal(&query("subject:one or subject:two or subject:three"), None, &Silent)
        .unwrap();
    assert_eq!((removal.files.len(), removal.message_count, removal.last_count), (3, 3, 3));
    let removed = fixture.host.remove_for_good(&removal, &Silent).unwrap();
    assert_eq!((removed.file_count, removed.forgotten_count, removed.left), (3, 3, vec![]));
    assert_eq!((fixture.files("inbox"), fixture.files("Trash")), (vec![], vec![]));
    assert_eq!(fixture.count("*"), 1);
    let environment = &fixture.host.settings().environment;
    assert_eq!(index::sweepable(environment, 0, &index::NoArchive).unwrap(), []);
    assert_eq!(index::check(environment, index::Depth::Deep).unwrap(), []);
    let why = "it was removed for good";
    assert_eq!(fixture.undo(), format!("Remove 3 {why}, {why}, {why}"));
    assert_eq!(fixture.undo(), format!("Remove 1 {why}"));
    assert_eq!(fixture.undo(), "Delete 1 it was moved, changed or removed since");
}

#[test]
fn a_file_that_is_not_there_or_has_two_names_is_no_other_file() {
    let last = |change: &dyn Fn(&Fixture)| {
        let fixture = Fixture::new();
        change(&fixture);
        let query = fixture.host.view().unwrap().query("maildir:/inbox and subject:one").unwrap();
        fixture.host.plan_removal(&query, None, &Silent).unwrap().last_count
    };
    let archived = |fixture: &Fixture| fixture.mail().join("archive/cur/5.a:2,S");
    assert_eq!(last(&|_| {}), 0);
    assert_eq!(last(&|fixture| std::fs::remove_file(archived(fixture)).unwrap()), 1);
    assert_eq!(last(&|fixture| std::fs::write(archived(fixture), "Subject: x\n\nx\n").unwrap()), 1);
    // A directory that leads to the same files.
    let linked = |fixture: &Fixture| {
        std::fs::remove_file(archived(fixture)).unwrap();
        std::fs::create_dir_all(fixture.mail().join("b/tmp")).unwrap();
        for place in ["cur", "new"] {
            let target = fixture.mail().join("inbox").join(place);
            std::os::unix::fs::symlink(target, fixture.mail().join("b").join(place)).unwrap();
        }
        let roots = fixture.host.view().unwrap().roots().to_vec();
        fixture.host.update(&roots, &index::UpdateOptions::default(), &Silent).unwrap();
        assert_eq!(fixture.count("maildir:/b and subject:one"), 1);
    };
    assert_eq!(last(&linked), 1);
}

#[test]
fn only_the_files_that_the_index_knows_are_removed() {
    let fixture = Fixture::new();
    let query = fixture.host.view().unwrap().query("maildir:/inbox").unwrap();
    let removal = fixture.host.plan_removal(&query, None, &Silent).unwrap();
    assert_eq!((removal.files.len(), removal.last_count), (3, 2), "the other is in the archive folder, too");
    let inbox = fixture.mail().join("inbox/cur");
    std::fs::remove_file(inbox.join("1.a,U=1:2,S")).unwrap();
    std::fs::write(inbox.join("1.a,U=1:2,S"), "Subject: another\n\ntext\n").unwrap();
    std::fs::remove_file(inbox.join("2.a,U=2:2,FS")).unwrap();
    let removed = fixture.host.remove_for_good(&removal, &Silent).unwrap();
    let why: Vec<&str> = removed.left.iter().map(|left| left.why.as_str()).collect();
    assert_eq!(why, ["it changed just now; try again", "it is gone"]);
    assert_eq!((removed.file_count, fixture.files("inbox")), (1, vec!["cur/1.a,U=1:2,S".to_owned()]));
}

#[test]
fn after_a_crash_in_a_removal_the_next_action_forgets_what_is_gone_and_removes_nothing() {
    for operation in 0.. {
        let fixture = Fixture::new();
        let query = fixture.host.view().unwrap().query("maildir:/inbox").unwrap();
        let steps: Vec<Step> =
            (fixture.host.plan_removal(&query, None, &Silent).unwrap().files.iter()).map(step).collect();
        let is_through = ends(&|| {
            let log = Log::take(&fixture.host.settings().environment, &Silent).unwrap();
            let mut entry = log.begin(Kind::Remove, steps.clone()).unwrap();
            carry_out(&log, &Crashing { left: Cell::new(operation) }, &mut entry).unwrap();
        });
        let left = fixture.files("inbox");
        assert_eq!(left.len(), 3_usize.saturating_sub(operation), "{operation}");
        if is_through {
            assert_eq!(operation, 5, "three files and two directories");
            return;
        }
        assert_eq!(fixture.act("subject:four", &Action::Delete), "1 1");
        assert_eq!(fixture.files("inbox"), left, "{operation}");
        assert_eq!(fixture.count("maildir:/inbox"), left.len() as u64);
        let environment = &fixture.host.settings().environment;
        assert_eq!(index::sweepable(environment, 0, &index::NoArchive).unwrap(), [], "{operation}");
    }
}
