//! Folder names: names that a server encoded, and hints for a folder in a query that has no messages. Input:
//! folders with one message each. Output: what is found and shown, and the hints.

use crate::support::{Fixture, message, query};
use index::{Hint, Order};

/// Indexes one message in each folder. Its subject is the folder's number.
fn mailbox(folders: &[&str]) -> Fixture {
    let fixture = Fixture::new();
    for (number, folder) in folders.iter().enumerate() {
        let content = message(&format!("m{number}"), &number.to_string(), "x");
        fixture.put(folder, "cur", &format!("{number}.x:2,S"), &content);
    }
    fixture.update();
    fixture
}

fn shown(fixture: &Fixture, question: &str) -> Vec<String> {
    let mailbox = fixture.mailbox();
    let hits = mailbox.find(&query(question), &Order::default()).unwrap();
    hits.list.iter().flat_map(|hit| mailbox.files(hit).unwrap()).map(|file| file.maildir).collect()
}

#[test]
fn encoded_names_are_found_and_shown_decoded() {
    let fixture =
        mailbox(&["Entw&APw-rfe", "Entwürfe", "a/&ZeVnLIqe-/b", "R&D", "&AC8-x", ".Gel&APY-scht", "plain"]);
    let find = |question: &str| {
        let mut found = fixture.find(question);
        found.sort_unstable();
        found
    };
    // Two folders whose decoded names are equal are both found, and each also by its name on the disk.
    assert_eq!(find("maildir:/Entwürfe"), ["0", "1"]);
    assert_eq!(find("maildir:/entwurfe"), ["0", "1"]);
    assert_eq!(find("maildir:\"/Entw&APw-rfe\""), ["0"]);
    assert_eq!(find("maildir:/entw*"), ["0", "1"]);
    assert_eq!(find("maildir:*würf*"), ["0", "1"]);
    assert_eq!(find("maildir:/^.Entwür/"), ["0", "1"]);
    assert_eq!(find("maildir:/Entwürfe/"), ["0", "1"]);
    assert_eq!(find("maildir:/a/日本語/**"), ["2"]);
    assert_eq!(find("maildir:/a/日本語/b"), ["2"]);
    assert_eq!(find("maildir:\"/a/&ZeVnLIqe-/b\""), ["2"]);
    assert_eq!(find("maildir:\"/R&D\""), ["3"]);
    assert_eq!(find("maildir:/.Gelöscht"), ["5"]);
    // Paths stay as they are on the disk.
    assert_eq!(find("path:\"Entw&APw-rfe\""), ["0"]);
    assert_eq!(find("path:Entwürfe"), ["1"]);
    assert_eq!(shown(&fixture, "maildir:/entw*"), ["/Entwürfe", "/Entwürfe"]);
    assert_eq!(shown(&fixture, "maildir:/a/**"), ["/a/日本語/b"]);
    // A name that decodes to a slash does not become a subfolder.
    assert_eq!(shown(&fixture, "maildir:*x"), ["/&AC8-x"]);
}

#[test]
fn a_folder_without_messages_gives_a_hint() {
    let fixture =
        mailbox(&["lists/rust", "lists/go lang", "work", "Sent&APw-", "old/empty/full", "odd \"q\"/x"]);
    // A folder that exists but has no mail.
    fixture.put("old/empty", "cur", "gone:2,S", "Subject: gone\n\nx\n");
    fixture.update();
    std::fs::remove_file(fixture.root().join("old/empty/cur/gone:2,S")).unwrap();
    std::fs::create_dir_all(fixture.root().join("void/cur")).unwrap();
    fixture.update();
    let hints = |question: &str| fixture.mailbox().hints(&query(question)).unwrap();
    let below = |folder: &str, term: &str| Hint::FolderBelow { folder: folder.into(), term: term.into() };
    let unknown = |folder: &str, term: Option<&str>| Hint::UnknownFolder {
        folder: folder.into(),
        term: term.map(str::to_owned),
    };
    for (question, expected) in [
        ("maildir:/lists", vec![below("/lists", "maildir:/lists/**")]),
        ("from:ana folder:LISTS/", vec![below("/LISTS", "maildir:/LISTS/**")]),
        ("maildir:/", vec![below("/", "maildir:/**")]),
        ("maildir:/old/empty", vec![below("/old/empty", "maildir:/old/empty/**")]),
        ("maildir:\"/odd \"\"q\"\"\"", vec![below("/odd \"q\"", "maildir:\"/odd \\\"q\\\"\"/**")]),
        ("maildir:/wrok", vec![unknown("/wrok", Some("maildir:/work"))]),
        ("maildir:/rust", vec![unknown("/rust", Some("maildir:/lists/rust"))]),
        ("maildir:/sentx", vec![unknown("/sentx", Some("maildir:/Sentü"))]),
        ("maildir:/nowhere-near", vec![unknown("/nowhere-near", None)]),
        // These queries give no hint.
        ("maildir:/work subject:none", vec![]),
        ("maildir:/void", vec![]),
        ("maildir:/lists/**", vec![]),
        ("maildir:/lists*", vec![]),
        ("path:lists", vec![]),
        ("nobody not maildir:/nowhere-near", vec![]),
        ("nobody -(maildir:/nowhere-near or tag:spam or mime:pdf)", vec![]),
        ("lists", vec![]),
    ] {
        assert_eq!(hints(question), expected, "{question}");
    }
    let many: Vec<String> = (0..9).map(|number| format!("maildir:/none{number}")).collect();
    assert_eq!(hints(&many.join(" or ")).len(), 3);
}
