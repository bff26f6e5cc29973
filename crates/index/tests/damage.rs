//! A cut or a flipped byte in every kind of file: a sentence that names the file, or the same answers; never a panic, never a wrong
//! answer, and deleting the index directory is always the way out.

use crate::support::Fixture;
use crate::support::{Dump, dump, environment, message, query};
use index::{Environment, Mailbox, NoObserver};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::SimDisk;

fn indexed() -> (Fixture, SimDisk) {
    let fixture = Fixture::new();
    let disk = SimDisk::new(5);
    for number in 0..30 {
        let content =
            message(&format!("m{number}"), &format!("subject {number}"), &format!("words number{number}"));
        fixture.put(&format!("f{}", number % 3), "cur", &format!("{number}.x:2,S"), &content);
    }
    // So many words that they have a list of their own.
    let many = (0..17_000).map(|number| format!("many{number}")).collect::<Vec<_>>().join(" ");
    fixture.put("f0", "cur", "many.x:2,S", &message("many", "subject of many", &many));
    index::update(&environment_of(&disk), &fixture.roots, &index::UpdateOptions::default(), &NoObserver)
        .unwrap();
    (fixture, disk)
}

fn environment_of(disk: &SimDisk) -> Environment {
    environment(Arc::new(disk.clone()), Path::new("/data"))
}

/// Everything a user can ask, or the first error.
fn ask(disk: &SimDisk, root: &Path) -> Result<(Dump, Vec<u64>), index::Error> {
    let mailbox = Mailbox::open(&environment_of(disk))?;
    let questions = [
        "words",
        "\"words number7\"",
        "num*",
        "*any16999*",
        "subject:subject",
        "date:2025",
        "size:1..",
        "flag:seen",
        "maildir:/f1",
    ];
    let counts = questions.iter().map(|text| mailbox.count(&query(text))).collect::<Result<Vec<_>, _>>()?;
    let hits = mailbox.find(&query::Query::All, &index::Order::default())?;
    let mut reader = index::PayloadReader::new();
    for hit in &hits.list {
        mailbox.message(hit, &mut reader)?;
    }
    Ok((dump(&mailbox, root), counts))
}

#[test]
fn damage_is_an_error_that_names_the_file_or_changes_nothing() {
    let (fixture, disk) = indexed();
    let right = ask(&disk, fixture.root()).unwrap();
    let mut kinds: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in disk.files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let kind = path.extension().map_or(name.trim_end_matches(char::is_numeric).to_owned(), |end| {
            end.to_string_lossy().into_owned()
        });
        kinds.entry(kind).or_insert(path);
    }
    assert!(
        kinds.len() >= 9 && kinds.contains_key("words"),
        "journal, manifest, segments and the text index's files: {kinds:?}"
    );
    for (kind, path) in kinds {
        let length = disk::Disk::read(&disk, &path).unwrap().len();
        for offset in (0..length).step_by((length / 60).max(1)) {
            let flipped = disk.fork();
            flipped.flip(&path, offset);
            expect((&kind, &path, "flipped", offset), ask(&flipped, fixture.root()), &right);
            let cut = disk.fork();
            cut.cut(&path, offset);
            expect((&kind, &path, "cut", offset), ask(&cut, fixture.root()), &right);
        }
    }
}

/// A file's kind, its path, and what was done to it where.
type Harm<'a> = (&'a str, &'a Path, &'a str, usize);

fn expect(
    (kind, path, how, offset): Harm<'_>,
    answer: Result<(Dump, Vec<u64>), index::Error>,
    right: &(Dump, Vec<u64>),
) {
    match answer {
        Ok(answer) => {
            // A cut or flipped last record of the journal is a commit that never was: the answers are those of before it.
            let is_older = kind.starts_with("journal") && answer.0.is_empty();
            assert!(is_older || answer == *right, "{kind} {how} at {offset}: another answer");
        }
        Err(error) => {
            let text = error.to_string();
            let name = path.file_name().unwrap().to_string_lossy();
            let names_it = text.contains(name.as_ref()) || text.contains("/data/index");
            assert!(names_it, "{kind} {how} at {offset}: {text}");
        }
    }
}

#[test]
fn damage_under_many_rows_is_told_once() {
    let fixture = Fixture::new();
    for number in 0..300 {
        let subject = format!("{number} {}", "pneumatic ".repeat(500));
        fixture.put("", "cur", &format!("{number}.x:2,S"), &message(&format!("m{number}"), &subject, "text"));
    }
    // Rows that are not compressed fill most of the segment.
    let codec = index::HeaderCodec::None;
    fixture.update_with(&index::UpdateOptions { codec, ..index::UpdateOptions::default() });
    let files = std::fs::read_dir(fixture.environment.index_directory()).unwrap();
    let segments = files.map(|entry| entry.unwrap().path());
    let segments = segments.filter(|path| path.extension().is_some_and(|end| end == "seg"));
    let largest = segments.max_by_key(|path| path.metadata().unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&largest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&largest, bytes).unwrap();
    let damage = index::check(&fixture.environment, index::Depth::Deep).unwrap();
    let files: Vec<&Path> = damage.iter().map(|damage| &*damage.file).collect();
    assert_eq!(files, [largest.as_path()], "{damage:#?}");
}
