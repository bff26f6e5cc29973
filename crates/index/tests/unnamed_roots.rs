//! Roots that are no longer named: their messages stay until somebody accepts the loss.

use crate::support::{Fixture, message};
use index::{Loss, UpdateOptions};
use std::fs;

fn accept() -> UpdateOptions {
    UpdateOptions { loss: Loss::Accept, ..UpdateOptions::default() }
}

#[test]
fn a_root_that_is_no_longer_named_is_removed_only_on_request() {
    let mut fixture = Fixture::new();
    let second = fixture.directory.path().join("work");
    fs::create_dir_all(second.join("inbox/cur")).unwrap();
    fs::write(second.join("inbox/cur/1.a:2,S"), message("w", "work", "text")).unwrap();
    fs::write(second.join("inbox/cur/2.b:2,S"), message("v", "moves", "text")).unwrap();
    fixture.put("inbox", "cur", "1.a:2,S", &message("h", "home", "text"));
    fixture.roots.push(index::Root { name: "work".into(), path: second.clone() });
    fixture.update();
    fixture.roots.pop();
    let summary = fixture.update();
    assert_eq!((summary.gone, summary.problems.len()), (0, 1));
    let said = |summary: &index::Summary| (summary.problems[0].what.clone(), summary.problems[0].remedy);
    let what = "root \"work\" is not in the configuration; its messages stay in the index";
    assert_eq!(said(&summary), (what.to_owned(), Some(index::Remedy::NameRootOrAcceptLoss)));
    assert_eq!(summary.problems[0].path, second);
    // It writes nothing more.
    let mailbox = fixture.mailbox();
    assert_eq!(said(&fixture.update()).0, what);
    assert!(mailbox.newer(&fixture.environment).unwrap().is_none());
    // A message that moves to another root goes with its file; the others stay.
    fs::rename(second.join("inbox/cur/2.b:2,S"), fixture.root().join("inbox/cur/2.b:2,S")).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.moved, summary.gone, summary.problems.len()), (1, 0, 1), "{:?}", summary.problems);
    let away = second.with_file_name("away");
    fs::rename(&second, &away).unwrap();
    let summary = fixture.update();
    assert_eq!(summary.gone, 0);
    assert_eq!(
        said(&summary),
        (format!("does not exist, and {what}"), Some(index::Remedy::AcceptLossOfFolder))
    );
    fs::rename(&away, &second).unwrap();
    // It is named again, and then not any more.
    fixture.roots.push(index::Root { name: "work".into(), path: second.clone() });
    let summary = fixture.update();
    assert_eq!((summary.added, summary.gone, summary.problems.len()), (0, 0, 0), "{:?}", summary.problems);
    fixture.roots.pop();
    assert_eq!(fixture.update().problems.len(), 1);
    let path = format!("path:{}", second.join("inbox/cur/1.a:2,S").display());
    assert_eq!(fixture.find(&path), ["work"], "where it lies is still known");
    assert_eq!(fixture.update_with(&accept()).gone, 1);
    assert_eq!(fixture.find("text").len(), 2);
    assert!(fixture.update().problems.is_empty());
    assert_eq!(fixture.mailbox().roots(), fixture.roots);
    fixture.check();
}
