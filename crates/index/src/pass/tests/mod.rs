//! Tests of the pass that look into rows: a small mailbox, and its rows after passes of any mode.
//!
//! Input: file names and messages. Output: rows as values. `tests/pass.rs` tests what users see.

mod devices;
mod follower;
mod keywords;
mod modes;
mod places;
mod random;

use crate::rows::{self, FileRow, FolderRow};
use crate::tables::{files, folders};
use crate::{Environment, Root, Summary, UpdateOptions, open, update};
use disk::RealDisk;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;
use work::Silent;

/// A mailbox and its index.
struct Ground {
    directory: TempDir,
    environment: Environment,
    roots: Vec<Root>,
}

impl Ground {
    /// Makes an empty root without an index. The clock is in the future, so that no stamp is too recent.
    fn new() -> Ground {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("mail");
        fs::create_dir(&root).unwrap();
        let environment = Environment {
            disk: Arc::new(RealDisk),
            data: directory.path().join("data"),
            context: work::Context::new(|| 1_900_000_000_000_000_000, 2),
            seed: 7,
            holder: "a test".into(),
            changes_kept_seconds: crate::CHANGES_KEPT_SECONDS,
            // Few, so that there is text in files, too.
            text_slots: 2,
            opened: crate::opened::Opened::default(),
        };
        Ground { environment, roots: vec![Root { name: "mail".into(), path: root }], directory }
    }

    /// Makes three folders with two messages each and indexes them; every stamp is trusted.
    fn indexed() -> Ground {
        let ground = Ground::new();
        for folder in ["a", "b", "c"] {
            for number in [1, 2] {
                ground.put(folder, "cur", &format!("{number}.{folder}:2,S"), &format!("{folder}{number}"));
            }
        }
        ground.age();
        ground.update();
        ground
    }

    /// Gives every directory that changed since the last call its own time long ago, so that any later change
    /// shows in its times.
    fn age(&self) {
        age(self.root());
    }

    fn has_folder(&self) -> bool {
        !mail::find_folders(self.root()).unwrap().folders.is_empty()
    }

    /// Changes the stored stamps of a folder's directories.
    fn set_stamp(&self, folder: &str, change: impl Fn(&mut mail::Stamp)) {
        let mut row = self.folder(folder);
        row.directories.iter_mut().for_each(|directory| change(&mut directory.stamp));
        let mut writer = open::writer(&self.environment, &Silent).unwrap();
        let mut rows = rows::empty(&writer.snapshot().unwrap(), folders::TABLE).unwrap();
        rows::push_folder(&mut rows, &row).unwrap();
        let mut transaction = store::Transaction::default();
        transaction.puts.push((folders::TABLE.into(), rows));
        writer.commit(transaction).unwrap();
    }

    /// Returns the version of the newest commit.
    fn version(&self) -> u64 {
        open::snapshot(&self.environment).unwrap().version().sequence
    }

    fn root(&self) -> &Path {
        &self.roots[0].path
    }

    /// Makes a folder, and writes a message with the body `text` into it.
    fn put(&self, folder: &str, place: &str, name: &str, text: &str) -> PathBuf {
        for each in ["cur", "new", "tmp"] {
            fs::create_dir_all(self.root().join(folder).join(each)).unwrap();
        }
        let path = self.root().join(folder).join(place).join(name);
        fs::write(&path, format!("Subject: {text}\n\n{text}\n")).unwrap();
        path
    }

    fn update(&self) -> Summary {
        self.update_with(&UpdateOptions::default())
    }

    fn update_with(&self, options: &UpdateOptions) -> Summary {
        update(&self.environment, &self.roots, options, &Silent).unwrap()
    }

    fn folders(&self) -> Vec<FolderRow> {
        let mut folders = rows::folders(&open::snapshot(&self.environment).unwrap()).unwrap();
        folders.sort_by(|a, b| (&a.root, &a.path).cmp(&(&b.root, &b.path)));
        folders
    }

    fn folder(&self, path: &str) -> FolderRow {
        self.folders().into_iter().find(|row| row.path == path.as_bytes()).unwrap()
    }

    /// Returns all rows of files, with the paths of their folders.
    fn files(&self) -> Vec<(String, FileRow)> {
        let snapshot = open::snapshot(&self.environment).unwrap();
        let folders = self.folders();
        let path = |number: u32| {
            let row = folders.iter().find(|row| row.number == number).unwrap();
            String::from_utf8_lossy(&row.path).into_owned()
        };
        let mut files = Vec::new();
        for part in snapshot.table(files::TABLE).unwrap().parts() {
            for row in part.live_rows() {
                let row = rows::file(part, row).unwrap();
                files.push((path(row.folder), row));
            }
        }
        files.sort_by(|a, b| (&a.0, a.1.subdirectory, &a.1.name).cmp(&(&b.0, b.1.subdirectory, &b.1.name)));
        files
    }

    /// Fails unless a deep check finds nothing.
    fn check(&self) {
        let damage = crate::check(&self.environment, crate::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{damage:#?}");
    }
}

/// A time that no other program sets: the number of calls in this process.
const LONG_AGO_SECONDS: u64 = 1_000_000_000;

fn age(directory: &Path) {
    static AGES: AtomicU64 = AtomicU64::new(0);
    let modified = fs::metadata(directory).unwrap().modified().unwrap();
    if modified > UNIX_EPOCH + Duration::from_secs(LONG_AGO_SECONDS * 3 / 2) {
        let age = AGES.fetch_add(1, Ordering::Relaxed);
        let time = UNIX_EPOCH + Duration::from_secs(LONG_AGO_SECONDS + age);
        fs::File::open(directory).unwrap().set_modified(time).unwrap();
    }
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            age(&entry.path());
        }
    }
}
