//! Queries as of a date: given the files of that time, the mailbox must answer as it did then.

use crate::support::{Fixture, message, query};
use index::{
    Inventory, Mailbox, Moment, MomentFile, MomentFolder, Order, RecordReader, Subdirectory, ThreadOrder,
    Unknown,
};
use std::fs;

/// Returns what a backup would have recorded.
fn moment(fixture: &Fixture) -> Moment {
    let inventory = Inventory::open(&fixture.environment).unwrap();
    let mut moment = Moment { roots: fixture.roots.clone(), ..Moment::default() };
    for (number, folder) in (0u32..).zip(inventory.folders()) {
        moment.folders.push(MomentFolder {
            root: folder.root.clone(),
            path: folder.path.clone(),
            keywords: fs::read(folder.directory.join("dovecot-keywords")).unwrap_or_default(),
        });
        for subdirectory in Subdirectory::ALL {
            // In no order, because a moment need not be sorted.
            moment.files.extend(inventory.files(folder, subdirectory).unwrap().into_iter().rev().map(
                |file| MomentFile {
                    folder: number,
                    subdirectory,
                    name: file.name.to_vec(),
                    sha256: file.sha256,
                    size_bytes: file.size_bytes,
                    mtime_ns: file.mtime_ns,
                    ctime_ns: file.ctime_ns,
                },
            ));
        }
    }
    moment
}

const QUERIES: [&str; 17] = [
    "",
    "subject:m1",
    "words and not subject:m2",
    "flag:seen",
    "flag:unread",
    "flag:new",
    "flag:flagged or flag:replied",
    "maildir:/inbox",
    "not maildir:/inbox",
    "path:done/**",
    "path:inbox/cur/*",
    "changed:2000..",
    "keyword:work",
    "keyword:other",
    "thread:m1@example.org",
    "size:1..",
    "date:2025-03-04",
];

/// The answers of a mailbox to all queries.
fn answers(mailbox: &Mailbox) -> Vec<String> {
    let mut reader = RecordReader::new();
    let mut list = Vec::new();
    for text in QUERIES {
        for hit in mailbox.find(&query(text), &Order::default()).unwrap().list {
            let message = mailbox.message(&hit, &mut reader).unwrap();
            let files: Vec<String> = message
                .files
                .iter()
                .map(|file| {
                    format!(
                        "{} {} {:?} {}",
                        file.maildir,
                        file.path.display(),
                        file.flags,
                        file.changed_seconds
                    )
                })
                .collect();
            list.push(format!(
                "{text}: {} {files:?} {}",
                message.line.subject,
                mailbox.is_absent(&hit).unwrap()
            ));
        }
        let found = mailbox.evaluate(&query(text)).unwrap();
        for thread in mailbox.threads(&found, &ThreadOrder::default()).unwrap().list {
            list.push(format!("{text}: thread of {}", thread.entries.len()));
        }
    }
    list.push(format!("{} files", mailbox.counts().unwrap().files));
    list
}

fn filled() -> Fixture {
    let fixture = Fixture::new();
    for number in 0..6 {
        let folder = if number % 2 == 0 { "inbox" } else { "lists/rust" };
        let (place, flags) = if number == 3 {
            ("new", "")
        } else {
            ("cur", [":2,S", ":2,FS", ":2,a", "", ":2,RS", ":2,"][number])
        };
        let references = if number == 2 { "References: <m1@example.org>\n" } else { "" };
        let content =
            format!("{references}{}", message(&format!("m{number}"), &format!("m{number}"), "some words"));
        fixture.put(folder, place, &format!("{number}.x{flags}"), &content);
    }
    fs::write(fixture.root().join("inbox/dovecot-keywords"), "0 work\n").unwrap();
    fixture.update();
    fixture
}

#[test]
fn a_mailbox_as_of_a_date_answers_as_it_did_then() {
    let fixture = filled();
    let (then, before) = (moment(&fixture), answers(&fixture.mailbox()));
    assert!(before.iter().any(|line| line.starts_with("keyword:work: m2")), "{before:#?}");
    // Flags change, one file moves, two are removed, the folder's keywords get other names, one file is
    // added.
    let root = fixture.root().to_owned();
    fs::create_dir_all(root.join("done/cur")).unwrap();
    fs::rename(root.join("inbox/cur/0.x:2,S"), root.join("inbox/cur/0.x:2,RST")).unwrap();
    fs::rename(root.join("lists/rust/cur/1.x:2,FS"), root.join("done/cur/1.x:2,")).unwrap();
    fs::remove_file(root.join("inbox/cur/2.x:2,a")).unwrap();
    fs::remove_file(root.join("lists/rust/new/3.x")).unwrap();
    fs::write(root.join("inbox/dovecot-keywords"), "0 other\n").unwrap();
    fixture.put("later", "cur", "9.x:2,S", &message("m9", "m9", "some words"));
    fixture.update();
    assert_ne!(answers(&fixture.mailbox()), before);
    let (mailbox, unknown) = fixture.mailbox().at(&then).unwrap();
    assert_eq!(unknown, Unknown::default());
    assert_eq!(answers(&mailbox), before);
    let (mailbox, _) = mailbox.at(&moment(&fixture)).unwrap();
    assert_eq!(answers(&mailbox), answers(&fixture.mailbox()));
    // Handles: a path names the file that was there at that time.
    let (mailbox, _) = fixture.mailbox().at(&then).unwrap();
    let gone = mailbox.resolve(root.join("inbox/cur/2.x:2,a").to_str().unwrap()).unwrap();
    assert_eq!(mailbox.line(&gone[0], &mut RecordReader::new()).unwrap().subject, "m2");
    assert!(mailbox.resolve(root.join("later/cur/9.x:2,S").to_str().unwrap()).is_err());
}

#[test]
fn messages_unknown_to_the_index_are_counted() {
    let fixture = filled();
    let mut then = moment(&fixture);
    let mut unknown = then.files[0].clone();
    unknown.sha256 = [7; 32];
    then.files.push(MomentFile { name: b"a".to_vec(), ..unknown.clone() });
    then.files.push(MomentFile { name: b"b".to_vec(), ..unknown });
    let (mailbox, unknown) = fixture.mailbox().at(&then).unwrap();
    assert_eq!(unknown, Unknown { messages: 1, files: 2 });
    assert_eq!(mailbox.counts().unwrap().files, 6);
    then.files[0].folder = 99;
    assert!(fixture.mailbox().at(&then).is_err());
}
