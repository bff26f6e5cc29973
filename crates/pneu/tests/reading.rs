//! Messages are read from where their files are now, and what is read is what was asked for.

use crate::support::{Fixture, query};
use pneu::{Error, FileError, Message, Order, Remedy, View};
use std::fs;

fn first(view: &View) -> Message {
    let hits = view.find(&query(view, "*"), &Order::default()).unwrap();
    view.message(&hits.list[0]).unwrap()
}

#[test]
fn a_file_whose_flags_changed_is_found() {
    let fixture = Fixture::new();
    let view = fixture.view();
    let message = first(&view);
    let path = &message.files[0].path;
    let seen = path.with_file_name("1.x:2,S");
    fs::rename(path, &seen).unwrap();
    let read = view.read(&message).unwrap();
    assert_eq!(read.path.as_ref(), Some(&seen));
    assert_eq!(read.parsed(Default::default()).text, "some words");
    assert_eq!(pneu::current_path(path), Some(seen));
}

#[test]
fn a_file_that_is_gone_or_holds_something_else_is_an_error_with_a_remedy() {
    let fixture = Fixture::new();
    let view = fixture.view();
    let message = first(&view);
    let path = &message.files[0].path;
    fs::write(path, "Subject: another\n\ntext\n").unwrap();
    let error = view.read(&message).unwrap_err();
    assert!(matches!(&error, Error::File(FileError::Replaced { path: named }) if named == path));
    assert_eq!(error.remedy(), Some(Remedy::UpdateThoroughly));
    fs::remove_file(path).unwrap();
    let error = view.read(&message).unwrap_err();
    assert!(matches!(&error, Error::File(FileError::Gone { path: named }) if named == path));
    assert_eq!(error.remedy(), Some(Remedy::UpdateAgain));
    assert_eq!(pneu::current_path(path), None);
}
