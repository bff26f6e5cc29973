//! The files of the project, as text.
//!
//! Input: a directory. Output: paths and contents. Does not depend on the contents.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The text files that git tracks, or would track after an add.
#[derive(Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the files below `root` that git does not ignore. Leaves out files that are not UTF-8, which have
    /// nothing to check.
    ///
    /// # Errors
    /// If git cannot list them.
    pub fn read(root: &Path) -> Result<Tree> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("cannot start git, which lists the files for tidy")?;
        if !output.status.success() {
            bail!("git cannot list the files: {}", String::from_utf8_lossy(&output.stderr));
        }
        let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        let mut files = BTreeMap::new();
        for name in names.split_terminator('\0') {
            // A file that was removed but not committed yet is still listed.
            if let Ok(Ok(text)) = fs::read(root.join(name)).map(String::from_utf8) {
                files.insert(name.to_owned(), text);
            }
        }
        Ok(Tree { files })
    }

    /// Returns a tree of made-up files.
    pub fn from_files(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect() }
    }

    /// Returns the text of a file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Returns all paths and texts, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns the Rust files.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// Returns the manifests of crates, not that of the workspace.
    pub fn manifests(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| path.ends_with("/Cargo.toml"))
    }
}
