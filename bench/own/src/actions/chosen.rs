//! Messages to act on: the oldest of a Maildir or of one folder, as a query with a known answer.
//!
//! Input: the files of generated mail, whose names begin with their dates. Output: a query and how many
//! messages it finds. Does not know what is done with them.

use anyhow::{Context, Result, ensure};
use measure::corpora;
use std::path::{Path, PathBuf};

/// Messages to act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// A query that finds them.
    pub query: String,
    /// How many there are. None of them has copies.
    pub count: usize,
    /// The date of the last one.
    pub last_seconds: u64,
}

impl Chosen {
    /// Chooses the oldest messages of all folders: this many, or half of all if there are fewer, and those
    /// of the same second as the last one.
    ///
    /// # Errors
    /// If the mail cannot be read, or a file's name does not begin with its date.
    pub fn of_all(maildir: &Path, count: usize) -> Result<Chosen> {
        Chosen::oldest(&corpora::messages(maildir)?, count, "")
    }

    /// Chooses the oldest messages of the root's folder.
    ///
    /// # Errors
    /// Same as [`Chosen::of_all`].
    pub fn of_inbox(maildir: &Path, count: usize) -> Result<Chosen> {
        let folder = [maildir.join("cur"), maildir.join("new")];
        let mut files = corpora::messages(maildir)?;
        files.retain(|file| folder.iter().any(|own| file.parent() == Some(own)));
        Chosen::oldest(&files, count, "maildir:/ ")
    }

    fn oldest(files: &[PathBuf], count: usize, scope: &str) -> Result<Chosen> {
        ensure!(files.len() >= 2, "there are too few messages to act on");
        let mut seconds = files.iter().map(|file| seconds(file)).collect::<Result<Vec<_>>>()?;
        seconds.sort_unstable();
        let last = seconds[count.min(seconds.len() / 2).max(1) - 1];
        Ok(Chosen {
            query: format!("{scope}date:@0..@{last}"),
            count: seconds.partition_point(|&seconds| seconds <= last),
            last_seconds: last,
        })
    }
}

/// Returns the date at the beginning of a file's name.
///
/// # Errors
/// If there is none.
pub fn seconds(file: &Path) -> Result<u64> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let date = name.split('.').next().unwrap_or_default();
    date.parse().with_context(|| format!("{} does not begin with a date", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oldest(names: &[&str], count: usize) -> Result<Chosen> {
        let files: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        Chosen::oldest(&files, count, "maildir:/ ")
    }

    #[test]
    fn the_oldest_are_chosen_with_all_of_the_last_second() {
        let names = ["a/30.x:2,", "a/10.x", "a/20.y", "a/20.x:2,S", "a/40.x", "a/50.x"];
        let chosen = |count| oldest(&names, count).unwrap();
        let expected =
            |query: &str, count, last_seconds| Chosen { query: query.to_owned(), count, last_seconds };
        assert_eq!(chosen(1), expected("maildir:/ date:@0..@10", 1, 10));
        assert_eq!(chosen(2), expected("maildir:/ date:@0..@20", 3, 20), "two of one second");
        assert_eq!(chosen(1000), expected("maildir:/ date:@0..@20", 3, 20), "half of six");
        assert!(oldest(&["a/10.x"], 1).is_err());
        assert!(oldest(&["a/10.x", "a/touched"], 1).is_err());
    }

    #[test]
    fn the_inbox_is_the_roots_folder() {
        let place = tempfile::tempdir().unwrap();
        for file in ["cur/10.a", "new/20.a", "new/25.a", "cur/60.a", ".b.c/cur/1.a", "b/new/15.a"] {
            let path = place.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let inbox = Chosen::of_inbox(place.path(), 2).unwrap();
        assert_eq!(inbox, Chosen { query: "maildir:/ date:@0..@20".to_owned(), count: 2, last_seconds: 20 });
        let all = Chosen::of_all(place.path(), 3).unwrap();
        assert_eq!(all, Chosen { query: "date:@0..@15".to_owned(), count: 3, last_seconds: 15 });
    }
}
