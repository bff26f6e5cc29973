//! Saved queries: a view has those of its time, and none is saved or removed that would break another.

use crate::support::{Fixture, subjects};
use pneu::{Error, Host, QueryRemoval, Remedy};
use std::fs;

#[test]
fn a_view_has_the_saved_queries_of_its_time() {
    let fixture = Fixture::new();
    fixture.put("2", "second", "more words");
    fixture.update();
    fixture.host.save_query("mine", "subject:first").unwrap();
    let before = fixture.view();
    fixture.host.save_query("mine", "subject:second").unwrap();
    assert_eq!(subjects(&before, "query:mine"), ["first"]);
    assert_eq!(subjects(&fixture.view(), "query:mine"), ["second"]);
    // Another process saves one.
    let other = Host::new(fixture.host.settings().clone());
    other.save_query("mine", "*").unwrap();
    assert_eq!(subjects(&fixture.view(), "query:mine"), ["second"], "nobody asked yet");
    assert!(fixture.host.refresh().unwrap());
    assert_eq!(subjects(&fixture.view(), "query:mine"), ["first", "second"]);
    assert!(!fixture.host.refresh().unwrap(), "nothing is newer");
}

#[test]
fn a_view_keeps_the_reason_why_saved_queries_cannot_be_read() {
    let fixture = Fixture::new();
    fixture.host.save_query("mine", "subject:first").unwrap();
    let user = fixture.host.settings().environment.user_directory();
    let files = fs::read_dir(&user).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.ends_with("queries")).unwrap();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, "no saved queries at all").unwrap();
    assert!(fixture.host.refresh().unwrap());
    let view = fixture.view();
    fs::write(&file, whole).unwrap();
    assert!(matches!(view.query("query:mine"), Err(Error::SavedQueries(_))));
    assert_eq!(subjects(&view, "words"), ["first"]);
    assert!(fixture.host.refresh().unwrap());
    assert_eq!(subjects(&fixture.view(), "query:mine"), ["first"]);
}

#[test]
fn a_view_for_one_request_reads_once_and_stays_so() {
    let fixture = Fixture::new();
    fixture.host.save_query("mine", "subject:first").unwrap();
    let (late, pinned) = (fixture.host.open_view().unwrap(), fixture.host.open_view().unwrap());
    pinned.pin().unwrap();
    fixture.host.save_query("mine", "not *").unwrap();
    assert_eq!(subjects(&pinned, "query:mine"), ["first"]);
    assert!(subjects(&late, "query:mine").is_empty());
    fixture.host.save_query("mine", "*").unwrap();
    assert!(subjects(&late, "query:mine").is_empty());
}

#[test]
fn a_query_that_would_break_another_is_neither_saved_nor_removed() {
    let fixture = Fixture::new();
    let host = &fixture.host;
    host.save_query("a", "words").unwrap();
    host.save_query("b", "query:a").unwrap();
    assert!(matches!(host.save_query("a", "query:b").unwrap_err(), Error::Parse(_)), "a circle");
    assert!(matches!(host.save_query("c", "(").unwrap_err(), Error::Parse(_)));
    assert!(matches!(
        host.save_query("not a name", "*").unwrap_err(),
        Error::Index(index::Error::QueryName { .. })
    ));
    assert_eq!(host.remove_query("a").unwrap(), QueryRemoval::NeededBy(vec!["b".to_owned()]));
    assert_eq!(host.saved_queries().unwrap().into_keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(host.remove_query("b").unwrap(), QueryRemoval::Removed);
    assert_eq!(host.remove_query("a").unwrap(), QueryRemoval::Removed);
    assert_eq!(host.remove_query("a").unwrap(), QueryRemoval::Unknown);
    let error = fixture.view().query("query:a").unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::SaveQuery));
}
