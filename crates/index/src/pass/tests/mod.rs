//! Tests of the pass that look into rows: a small mailbox, and its rows after passes of any mode.
//!
//! In: file names and messages. Out: rows as values. What people see is tested in `tests/pass.rs`.

mod keywords;

use crate::rows::{self, FolderRow};
use crate::{Environment, NoObserver, Root, Summary, UpdateOptions, open, update};
use disk::RealDisk;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A mailbox and its index.
struct Ground {
    _directory: TempDir,
    environment: Environment,
    roots: Vec<Root>,
}

impl Ground {
    /// Begins with an empty root and no index. The clock stands in the future, so that no stamp is too young.
    fn new() -> Ground {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("mail");
        fs::create_dir(&root).unwrap();
        let environment = Environment {
            disk: Arc::new(RealDisk),
            data: directory.path().join("data"),
            clock_ns: || 1_900_000_000_000_000_000,
            seed: 7,
            holder: "a test".into(),
            thread_count: 2,
        };
        Ground { environment, roots: vec![Root { name: "mail".into(), path: root }], _directory: directory }
    }

    fn root(&self) -> &Path {
        &self.roots[0].path
    }

    /// Makes a folder and writes a message into it whose content says `text`.
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
        update(&self.environment, &self.roots, options, &NoObserver).unwrap()
    }

    fn folders(&self) -> Vec<FolderRow> {
        let mut folders = rows::folders(&open::snapshot(&self.environment).unwrap()).unwrap();
        folders.sort_by(|a, b| (&a.root, &a.path).cmp(&(&b.root, &b.path)));
        folders
    }

    fn folder(&self, path: &str) -> FolderRow {
        self.folders().into_iter().find(|row| row.path == path.as_bytes()).unwrap()
    }

    /// Fails unless a deep check finds nothing.
    fn check(&self) {
        let damage = crate::check(&self.environment, crate::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{damage:#?}");
    }
}
