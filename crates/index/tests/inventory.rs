//! The list of all files that a backup reads, compared with a naive walk of the disk.

use crate::support::{Fixture, message};
use index::{Inventory, Root, Subdirectory};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What both walks report about one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct File {
    root: String,
    folder: Vec<u8>,
    subdirectory: Subdirectory,
    name: Vec<u8>,
    stat: (u64, u64, i64, i64),
    message: ([u8; 32], u64),
    flags: String,
}

fn listed(fixture: &Fixture) -> Vec<File> {
    let inventory = Inventory::open(&fixture.environment).unwrap();
    let mut list = Vec::new();
    for folder in inventory.folders() {
        for subdirectory in Subdirectory::ALL {
            for file in inventory.files(folder, subdirectory).unwrap() {
                assert!(folder.directory.join(subdirectory.name()).is_dir());
                list.push(File {
                    root: folder.root.clone(),
                    folder: folder.path.clone(),
                    subdirectory,
                    name: file.name.to_vec(),
                    stat: (file.inode, file.size_bytes, file.mtime_ns, file.ctime_ns),
                    message: (file.sha256, file.message_bytes),
                    flags: file.flags.words().collect::<Vec<_>>().join(","),
                });
            }
        }
    }
    list
}

fn on_disk(root: &Root, folders: &[&str]) -> Vec<File> {
    let mut list = Vec::new();
    for folder in folders {
        for subdirectory in Subdirectory::ALL {
            for entry in
                fs::read_dir(mail::join(&root.path, folder.as_bytes()).join(subdirectory.name())).unwrap()
            {
                list.push(file_on_disk(root, folder, subdirectory, &entry.unwrap().path()));
            }
        }
    }
    list
}

fn file_on_disk(root: &Root, folder: &str, subdirectory: Subdirectory, path: &Path) -> File {
    let stat = fs::metadata(path).unwrap();
    let content = fs::read(path).unwrap();
    let name = path.file_name().unwrap().as_bytes().to_vec();
    let new = if subdirectory == Subdirectory::New { mail::Flags::NEW } else { mail::Flags::NONE };
    File {
        root: root.name.clone(),
        folder: folder.as_bytes().to_vec(),
        subdirectory,
        stat: (
            stat.ino(),
            stat.len(),
            stat.mtime() * 1_000_000_000 + stat.mtime_nsec(),
            stat.ctime() * 1_000_000_000 + stat.ctime_nsec(),
        ),
        message: (Sha256::digest(&content).into(), content.len() as u64),
        flags: (mail::parse_name(&name).flags | new).words().collect::<Vec<_>>().join(","),
        name,
    }
}

#[test]
fn all_files_are_listed_in_the_order_of_folders_and_names() {
    let mut fixture = Fixture::new();
    let other = fixture.directory.path().join("another");
    fs::create_dir(&other).unwrap();
    fixture.roots.push(Root { name: "another".into(), path: other });
    let folders = ["", "lists/rust", "lists", ".Sub", "lists-x"];
    // Several passes, so that a folder's rows lie in several segments, and some of them are dead.
    for pass in 0..3 {
        for root in 0..2 {
            fixture.roots.rotate_left(root);
            for (number, folder) in folders.iter().enumerate() {
                for subdirectory in Subdirectory::ALL {
                    let id = format!("{pass}.{number}.{root}");
                    let name =
                        format!("{}{number}.{pass}.x{}", 9 - pass, if pass == 1 { ":2,FS" } else { "" });
                    fixture.put(folder, subdirectory.name(), &name, &message(&id, &id, "words"));
                }
            }
            fixture.roots.rotate_right(root);
        }
        if pass == 2 {
            fs::remove_file(fixture.root().join("lists/cur/92.0.x")).unwrap();
        }
        fixture.update();
        // Seal after each pass, so that each has its own segment.
        let (disk, directory) = (&fixture.environment.disk, fixture.environment.index_directory());
        store::Writer::open(disk, &directory, store::Options::default()).unwrap().flush().unwrap();
    }
    let mut expected: Vec<File> = fixture.roots.iter().flat_map(|root| on_disk(root, &folders)).collect();
    expected.sort();
    assert_eq!(expected.len(), 2 * 3 * 5 * 2 - 1);
    assert_eq!(listed(&fixture), expected);
}
