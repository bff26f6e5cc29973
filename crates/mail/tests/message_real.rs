//! Parses all real mail in PNEU_REAL_MAIL, once.
//!
//! Input: 2,986 messages as people sent them, and 400 odd ones. Checks what must hold of each. Contains none
//! of the mail, only file names.

use crate::message::CONTEXT;
use mail::{Message, parse};
use std::path::{Path, PathBuf};

/// Messages whose subject was damaged before it was sent: it ends within a character, or contains U+FFFD.
const DAMAGED_SUBJECTS: [&str; 2] = ["1760730555.a54f7d9e2baea04a8e4d", "must_supply_encoding"];

fn read(paths: &[PathBuf]) -> Vec<(String, Message)> {
    let read = |path: &PathBuf| (path.display().to_string(), parse(&std::fs::read(path).unwrap(), &CONTEXT));
    paths.iter().map(read).collect()
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn real_messages_are_understood() {
    let Some(mail) = testkit::real_mail() else { return };
    let mut paths = Vec::new();
    files(mail.maildir(), &mut paths);
    assert_eq!(paths.len(), 2_986);
    let messages = read(&paths);
    let count =
        |holds: &dyn Fn(&Message) -> bool| messages.iter().filter(|(_, message)| holds(message)).count();
    for (path, message) in &messages {
        let is_damaged = DAMAGED_SUBJECTS.iter().any(|name| path.contains(name));
        assert_eq!(message.subject.contains('\u{fffd}'), is_damaged, "{path}: {}", message.subject);
        assert!(
            !message.subject.contains("=?") || message.subject.contains("?=?"),
            "{path}: {}",
            message.subject
        );
        assert!(message.from.iter().any(|from| !from.address.is_empty()), "{path}");
    }
    assert_eq!(count(&|message| message.message_id_derived), 0);
    assert_eq!(count(&|message| !matches!(message.date, Some((_, mail::DateSource::Date)))), 12);
    // Five messages are nothing but pictures.
    assert_eq!(count(&|message| message.text.is_empty()), 5);
    assert_eq!(count(&|message| message.text.contains('\u{fffd}')), 0);
    assert_eq!(count(&|message| message.snippet.is_empty()), 5);
    assert!(count(&|message| !message.problems.is_empty()) < 60);
}

#[test]
fn odd_messages_are_messages() {
    let Some(mail) = testkit::real_mail() else { return };
    for (path, message) in read(mail.edge()) {
        let is_damaged = DAMAGED_SUBJECTS.iter().any(|name| path.contains(name));
        assert_eq!(message.subject.contains('\u{fffd}'), is_damaged, "{path}: {}", message.subject);
        let has_content = !message.text.is_empty() || !message.attachments.is_empty();
        let is_sealed = message
            .mime_types
            .iter()
            .any(|mime| mime == "multipart/encrypted" || mime.ends_with("pkcs7-mime"));
        let is_bare = message.problems.iter().any(|problem| problem.to_string().contains("header"))
            || message.snippet.is_empty();
        assert!(has_content || is_sealed || is_bare, "{path}");
    }
}
