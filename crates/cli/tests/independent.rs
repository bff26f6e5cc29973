//! Compares how the program and Python's email package read mail: field by field, and with queries for words.
//!
//! Input: generated mail, the project's unusual messages, and real mail where there is some. Output: whether
//! both agree, except for differences that are listed here with their reasons. Does not depend on how mail is
//! read.

use crate::support::{Home, run_with_input};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use testkit::Random;
use testkit::corpus::{CorpusOptions, generate};
use testkit::real_mail;

/// How many paths are shown by one command.
const PATHS_AT_ONCE: usize = 200;
/// How many words are looked for.
const WORD_COUNT: usize = 60;

/// Differences that are right: lines of the beginning of a file's name, the field, and why, with tabs
/// between.
const DIFFERENCES: &str = include_str!("independent/differences.tsv");

/// What one of both makes of each message, by path.
type Read = BTreeMap<String, Value>;

/// Returns what Python makes of messages, if there is a Python.
fn read_by_python(paths: &[u8]) -> Option<Read> {
    let there = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !testkit::may_ask("python3", "apt-get install python3", there, testkit::is_ci()) {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/reader.py");
    let run = run_with_input(Command::new("python3").arg(script).env("PYTHONUTF8", "1"), paths);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let records = run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    Some(records.map(|record| (record["path"].as_str().unwrap().to_owned(), record)).collect())
}

/// Returns what the program makes of messages.
fn read_by_pneu(home: &Home, paths: &[u8]) -> Read {
    let paths: Vec<&OsStr> =
        paths.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(OsStr::from_bytes).collect();
    let mut all = Read::new();
    for some in paths.chunks(PATHS_AT_ONCE) {
        let options = ["view", "--format", "json"].map(OsStr::new);
        let shown = home.command(&[&options[..], some].concat()).output().unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert_eq!(shown.lines().count(), some.len());
        for (path, line) in some.iter().zip(shown.lines()) {
            all.insert(path.to_str().unwrap().to_owned(), fields(&serde_json::from_str(line).unwrap()));
        }
    }
    all
}

/// Returns a message's fields in the form that the reader in Python gives them.
fn fields(record: &Value) -> Value {
    let people = |name: &str| -> Vec<String> {
        let list = record[name].as_array().unwrap().iter();
        list.map(|one| one["address"].as_str().unwrap().to_lowercase())
            .filter(|one| !one.is_empty())
            .collect()
    };
    let one_line = |text: &Value| text.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let attachments = record["attachments"].as_array().unwrap().iter().map(|one| one_line(&one["name"]));
    let mut attachments: Vec<String> = attachments.filter(|name| !name.is_empty()).collect();
    attachments.sort();
    serde_json::json!({
        "from": people("from"), "to": people("to"), "cc": people("cc"),
        "subject": one_line(&record["subject"]),
        "message_id": record["message_id"], "date": record["date_unix"], "attachments": attachments,
        "words": words(record["text"].as_str().unwrap()),
    })
}

fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let all = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    all.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Compares both readers on all mail of a home, and returns what Python made of it.
fn compare(home: &Home) -> Option<Read> {
    let paths = home.pneu(&["find", "--format", "paths", "--files", "--print0"]).bytes;
    let theirs = read_by_python(&paths)?;
    let ours = read_by_pneu(home, &paths);
    let mut differences = Vec::new();
    for (path, their) in &theirs {
        let our = &ours[path];
        for (field, value) in their.as_object().unwrap() {
            let agree = match field.as_str() {
                "path" | "all_plain" => true,
                "words" => value
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|word| our["words"].as_array().unwrap().contains(word)),
                _ => *value == our[field],
            };
            let name = Path::new(path).file_name().unwrap().to_str().unwrap();
            if !agree && !is_known(name, field) {
                differences.push(format!("{name}: {field}: {}", apart(value, &our[field])));
            }
        }
    }
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
    Some(theirs)
}

/// Says whether a difference is listed.
fn is_known(name: &str, field: &str) -> bool {
    let mut known = DIFFERENCES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect::<Vec<_>>());
    known.any(|known| matches!(known[..], [begin, its, _] if name.starts_with(begin) && its == field))
}

/// Returns what is in one value and not in the other.
fn apart(their: &Value, our: &Value) -> String {
    let (Some(theirs), Some(ours)) = (their.as_array(), our.as_array()) else {
        return format!("{their} and not {our}");
    };
    let only = |these: &[Value], those: &[Value]| -> Vec<String> {
        these.iter().filter(|one| !those.contains(one)).take(5).map(Value::to_string).collect()
    };
    format!("only theirs {}, only ours {}", only(theirs, ours).join(" "), only(ours, theirs).join(" "))
}

/// Looks for words that Python read, and fails unless just the messages are found that hold them.
fn compare_queries(home: &Home, theirs: &Read) {
    let has = |record: &Value, word: &str| {
        record["words"].as_array().is_some_and(|words| words.iter().any(|one| one == word))
    };
    let all: BTreeSet<&str> = theirs
        .values()
        .filter_map(|record| record["words"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let all: Vec<&str> = all.into_iter().collect();
    let mut random = Random::new(1);
    for _ in 0..WORD_COUNT {
        let word = *random.pick(&all);
        let query = format!("body:\"{word}\"");
        let found = home.pneu(&["find", "--format", "paths", "--files", &query]).out;
        let found: BTreeSet<&str> = found.lines().collect();
        for (path, record) in theirs {
            let (is_found, has) = (found.contains(path.as_str()), has(record, word));
            assert!(is_found || !has, "{path} holds {word} and is not found");
            assert!(
                has || !is_found || record["all_plain"] != true,
                "{path} is found and does not hold {word}"
            );
        }
    }
}

#[test]
fn generated_mail_is_read_as_by_another_reader() {
    let home = Home::new();
    generate(&home.mail().join("more"), &CorpusOptions { folders: 4, ..CorpusOptions::varied(400, 11) })
        .unwrap();
    home.first_index();
    if let Some(theirs) = compare(&home) {
        compare_queries(&home, &theirs);
    }
}

#[test]
fn odd_mail_is_read_as_by_another_reader_but_for_what_is_listed() {
    let home = Home::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/mail");
    let mut paths: Vec<_> = fs::read_dir(own).unwrap().map(|entry| entry.unwrap().path()).collect();
    let edge = real_mail();
    paths.extend(edge.iter().flat_map(|mail| mail.edge().to_vec()));
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "eml")) {
        home.deliver(
            "",
            &format!("{}:2,S", path.file_name().unwrap().to_str().unwrap()),
            &fs::read(path).unwrap(),
        );
    }
    home.pneu(&["index", "--maildir", "Mail"]);
    compare(&home);
}

#[test]
fn real_mail_is_read_as_by_another_reader() {
    let Some(mail) = real_mail() else { return };
    let home = Home::new();
    home.good(&["index", "--maildir", mail.maildir().to_str().unwrap()]);
    if let Some(theirs) = compare(&home) {
        compare_queries(&home, &theirs);
    }
}
