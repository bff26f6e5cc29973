//! A cut or a flipped byte in every kind of file. The index either reports an error that names the file, or
//! gives the same answers. It never panics and never gives a wrong answer, and deleting the index directory
//! always helps.

use crate::support::Fixture;
use crate::support::{Dump, dump, environment, message, query};
use index::{Environment, Mailbox};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::SimDisk;
use work::Silent;

fn indexed() -> (Fixture, SimDisk) {
    let fixture = Fixture::new();
    let disk = SimDisk::new(5);
    for number in 0..30 {
        let content =
            message(&format!("m{number}"), &format!("subject {number}"), &format!("words number{number}"));
        fixture.put(&format!("f{}", number % 3), "cur", &format!("{number}.x:2,S"), &content);
    }
    // Enough words to need a list of words.
    let many = (0..17_000).map(|number| format!("many{number}")).collect::<Vec<_>>().join(" ");
    fixture.put("f0", "cur", "many.x:2,S", &message("many", "subject of many", &many));
    index::update(&environment_of(&disk), &fixture.roots, &index::UpdateOptions::default(), &Silent).unwrap();
    (fixture, disk)
}

fn environment_of(disk: &SimDisk) -> Environment {
    environment(Arc::new(disk.clone()), Path::new("/data"))
}

/// Everything that a user can query, or the first error.
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
    let mut reader = index::RecordReader::new();
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
    assert!(kinds.len() >= 3 && kinds.contains_key("text"), "journal, manifest and text: {kinds:?}");
    for (kind, path) in kinds {
        let length = disk::Disk::read(&disk, &path).unwrap().len();
        // A segment of text has seven parts.
        let count = if kind == "text" { 400 } else { 60 };
        // Its small parts are at the end.
        let last = (length.saturating_sub(2_000)..length).step_by(32);
        for offset in (0..length).step_by((length / count).max(1)).chain(last) {
            let flipped = disk.fork();
            flipped.flip(&path, offset);
            expect((&kind, &path, "flipped", offset), ask(&flipped, fixture.root()), &right);
            let cut = disk.fork();
            cut.cut(&path, offset);
            expect((&kind, &path, "cut", offset), ask(&cut, fixture.root()), &right);
        }
    }
}

/// The file's kind and path, what was done to it, and at which offset.
type Harm<'a> = (&'a str, &'a Path, &'a str, usize);

fn expect(
    (kind, path, how, offset): Harm<'_>,
    answer: Result<(Dump, Vec<u64>), index::Error>,
    right: &(Dump, Vec<u64>),
) {
    match answer {
        Ok(answer) => {
            // A journal that is cut within its last record looks torn: the answers are those before that
            // record.
            let is_older = kind.starts_with("journal") && how == "cut" && answer.0.is_empty();
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
fn damage_under_many_rows_is_reported_once() {
    let fixture = Fixture::new();
    for number in 0..300 {
        let subject = format!("{number} {}", "pneumatic ".repeat(500));
        fixture.put("", "cur", &format!("{number}.x:2,S"), &message(&format!("m{number}"), &subject, "text"));
    }
    // Uncompressed rows fill most of the segment.
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

/// An index with two text segments and most tables in segments.
fn indexed_twice() -> (Fixture, SimDisk) {
    let (fixture, disk) = indexed();
    let shared: Arc<dyn disk::Disk> = Arc::new(disk.clone());
    let directory = environment_of(&disk).index_directory();
    store::Writer::open(&shared, &directory, store::Options::default()).unwrap().flush().unwrap();
    let content = message("late", "subject of late", "other words linux");
    fixture.put("f1", "cur", "late.x:2,S", &content);
    index::update(&environment_of(&disk), &fixture.roots, &index::UpdateOptions::default(), &Silent).unwrap();
    (fixture, disk)
}

fn sealed_files(disk: &SimDisk) -> Vec<PathBuf> {
    let is_sealed = |path: &PathBuf| {
        path.extension().is_some_and(|end| end != "lock" && end != "TAG") && path.starts_with("/data/index")
    };
    disk.files().into_iter().filter(is_sealed).collect()
}

fn names(file: &Path, damage: &[index::Damage]) -> bool {
    damage.iter().any(|damage| damage.file == file || damage.what.contains(&*file.to_string_lossy()))
}

#[test]
fn swapped_sealed_files_are_named_and_never_give_wrong_answers() {
    let (fixture, disk) = indexed_twice();
    let right = ask(&disk, fixture.root()).unwrap();
    let files = sealed_files(&disk);
    assert!(files.len() >= 7, "two segments of text, and rows: {files:?}");
    let mut refused_count = 0;
    for (index, one) in files.iter().enumerate() {
        for other in &files[index + 1..] {
            let swapped = disk.fork();
            let bytes = [one, other].map(|path| disk::Disk::read(&disk, path).unwrap());
            swapped.put(one, &bytes[1]);
            swapped.put(other, &bytes[0]);
            let context = format!("{} and {}", one.display(), other.display());
            match ask(&swapped, fixture.root()) {
                Ok(answer) => assert!(answer == right, "{context}: another answer"),
                Err(error) => {
                    refused_count += 1;
                    let text = error.to_string();
                    let is_named = [one, other].iter().any(|path| text.contains(&*path.to_string_lossy()));
                    assert!(is_named, "{context}: {text}");
                }
            }
            let damage = index::diagnose(&environment_of(&swapped), index::Depth::Deep).unwrap();
            assert!(names(one, &damage) || names(other, &damage), "{context}: {damage:?}");
            assert!(damage.iter().all(|damage| damage.repair == index::Repair::Rebuild), "{context}");
        }
    }
    assert!(refused_count > 0);
}

#[test]
fn a_missing_or_replaced_text_file_is_named() {
    let (fixture, disk) = indexed_twice();
    let right = ask(&disk, fixture.root()).unwrap();
    for file in sealed_files(&disk) {
        let missing = disk.fork();
        disk::Disk::remove(&missing, &file).unwrap();
        if let Ok(answer) = ask(&missing, fixture.root()) {
            assert!(answer == right, "{}: another answer", file.display());
        }
        let damage = index::diagnose(&environment_of(&missing), index::Depth::Deep).unwrap();
        assert!(names(&file, &damage), "{}: {damage:?}", file.display());
    }
    // A sound file with the right name and kind but other content, such as an older version of it.
    let kind = index::format::TEXT_SEALED_KIND;
    let texts = sealed_files(&disk).into_iter().filter(|file| file.starts_with("/data/index/text"));
    for file in texts {
        let other = disk.fork();
        disk::Disk::remove(&other, &file).unwrap();
        let mut writer = store::SealedWriter::create(&other, &file, kind).unwrap();
        let bytes = disk::Disk::read(&disk, &file).unwrap();
        writer.write(&bytes[..bytes.len() / 2]).unwrap();
        writer.finish().unwrap();
        let error = ask(&other, fixture.root()).unwrap_err().to_string();
        assert!(error.contains(&*file.to_string_lossy()) && error.contains("not the file"), "{error}");
        for depth in [index::Depth::Quick, index::Depth::Deep] {
            let damage = index::diagnose(&environment_of(&other), depth).unwrap();
            assert!(names(&file, &damage), "{depth:?}: {damage:?}");
        }
        other.put(&file, &bytes[..bytes.len() / 2]);
        let damage = index::diagnose(&environment_of(&other), index::Depth::Quick).unwrap();
        assert!(names(&file, &damage), "{damage:?}");
    }
}
