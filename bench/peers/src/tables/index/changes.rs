//! Changes that other programs make to a Maildir: a folder is touched, files are moved.
//!
//! Input: a Maildir. Output: changed directories. Does not know which programs notice them.

use anyhow::{Context, Result};
use measure::changes::Flagged;
use measure::corpora;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Changes only the times of the largest folder's directory.
pub(super) fn touch(maildir: &Path) -> Result<()> {
    let path = maildir.join("cur/touched");
    File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
}

/// Files that are moved from the largest folder to another and back.
pub(super) struct Moved {
    files: Vec<(PathBuf, PathBuf)>,
    there: bool,
}

impl Moved {
    /// Chooses `count` unmarked files of the root's folder, spread over it, and another folder.
    pub(super) fn choose(maildir: &Path, count: usize, marked: &Flagged) -> Result<Moved> {
        let root = maildir.join("cur");
        let all = corpora::message_files(maildir)?;
        let other = all.iter().filter_map(|file| file.parent()).find(|parent| *parent != root);
        let other = other.context("a Maildir has a second folder")?;
        let own: Vec<&PathBuf> = all.iter().filter(|file| file.parent() == Some(&root)).collect();
        let step = (own.len() / count.max(1)).max(1);
        let chosen = own.chunks(step).filter_map(|piece| piece.iter().find(|file| !marked.has(file)));
        let files = chosen
            .take(count)
            .map(|file| ((**file).clone(), other.join(file.file_name().unwrap_or_default())));
        Ok(Moved { files: files.collect(), there: false })
    }

    /// Moves all of them.
    pub(super) fn toggle(&mut self) -> Result<()> {
        for (here, there) in &self.files {
            let (from, to) = if self.there { (there, here) } else { (here, there) };
            fs::rename(from, to).with_context(|| format!("cannot move {}", from.display()))?;
        }
        self.there = !self.there;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corpus::{CorpusOptions, generate};

    #[test]
    fn moved_files_come_back_and_the_original_never_changes() {
        let place = tempfile::tempdir().unwrap();
        let (mail, copy) = (place.path().join("mail"), place.path().join("below/copy"));
        generate(&mail, &CorpusOptions::small(600, 1)).unwrap();
        let names = |root: &Path| -> Vec<PathBuf> {
            let files = corpora::message_files(root).unwrap();
            files.iter().map(|file| file.strip_prefix(root).unwrap().to_owned()).collect()
        };
        corpora::link_all(&mail, &copy).unwrap();
        let before = names(&copy);
        assert_eq!(before, names(&mail));
        let mut marked = Flagged::choose(&copy, 300).unwrap();
        let mut moved = Moved::choose(&copy, 20, &marked).unwrap();
        moved.toggle().unwrap();
        marked.toggle().unwrap();
        marked.toggle().unwrap();
        let during = names(&copy);
        assert_eq!(before.iter().filter(|file| !during.contains(file)).count(), 20);
        assert_eq!(during.len(), before.len());
        touch(&copy).unwrap();
        moved.toggle().unwrap();
        assert_eq!((names(&copy), names(&mail)), (before.clone(), before));
    }
}
