//! Changes that another program makes in a Maildir: flags, new messages.
//!
//! Input: a Maildir. Output: renamed and new files. Does not know which programs notice them.

use crate::corpora;
use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use testkit::corpus::CorpusOptions;

/// Files whose flags are changed and changed back.
pub struct Flagged {
    files: Vec<PathBuf>,
}

impl Flagged {
    /// Chooses `count` files, spread over all folders except those of drafts, which programs examine more
    /// closely.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn choose(maildir: &Path, count: usize) -> Result<Flagged> {
        let mut files = corpora::message_files(maildir)?;
        files.retain(|file| !file.parent().is_some_and(|parent| parent.ends_with("Drafts/cur")));
        let step = (files.len() / count.max(1)).max(1);
        let files = files.into_iter().skip(step / 2).step_by(step).take(count).collect();
        Ok(Flagged { files })
    }

    /// Sets or removes the flag F of each file.
    ///
    /// # Errors
    /// If a file cannot be renamed.
    pub fn toggle(&mut self) -> Result<()> {
        self.toggle_some(0..self.files.len())
    }

    /// Returns whether a file is among the chosen ones.
    pub fn has(&self, file: &Path) -> bool {
        self.files.iter().any(|own| own == file)
    }

    /// Does the same for `count` of them, or for all if there are fewer.
    ///
    /// # Errors
    /// If a file cannot be renamed.
    pub fn toggle_some(&mut self, places: Range<usize>) -> Result<()> {
        for file in self.files.iter_mut().take(places.end).skip(places.start) {
            let toggled = file.with_file_name(toggled(file.file_name().unwrap_or_default()));
            fs::rename(&*file, &toggled).with_context(|| format!("cannot rename {}", file.display()))?;
            *file = toggled;
        }
        Ok(())
    }
}

/// Returns the name with the flag F, or without it.
fn toggled(name: &OsStr) -> OsString {
    let name = name.as_bytes();
    let Some(at) = name.windows(3).rposition(|window| window == b":2,") else {
        return OsString::from_vec([name, b":2,F"].concat());
    };
    let (unique, flags) = name.split_at(at + 3);
    let mut flags = flags.to_vec();
    match flags.iter().position(|&flag| flag == b'F') {
        Some(place) => {
            flags.remove(place);
        }
        None => {
            flags.push(b'F');
            flags.sort_unstable();
        }
    }
    OsString::from_vec([unique, &flags].concat())
}

/// Messages that arrive.
pub struct Arrivals {
    count: u32,
    seed: u64,
    place: PathBuf,
}

impl Arrivals {
    /// Returns arrivals of `count` messages each, which are generated in `corpora`. `seed` is that of the
    /// first.
    pub fn new(corpora: &Path, count: u32, seed: u64) -> Arrivals {
        Arrivals { count, seed, place: corpora.join("arriving") }
    }

    /// Delivers new messages into `cur` of the Maildir's root.
    ///
    /// # Errors
    /// If they cannot be made or moved.
    pub fn deliver(&mut self, maildir: &Path) -> Result<()> {
        self.seed += 1;
        if self.place.exists() {
            fs::remove_dir_all(&self.place)?;
        }
        corpora::make(
            &self.place,
            &CorpusOptions { folders: 1, ..CorpusOptions::varied(self.count, self.seed) },
        )?;
        for file in corpora::message_files(&self.place)? {
            let name = file.file_name().unwrap_or_default();
            // Another seed's message could have the same name.
            let unique = [b"n", self.seed.to_string().as_bytes(), b".", name.as_bytes()].concat();
            fs::rename(&file, maildir.join("cur").join(OsString::from_vec(unique)))?;
        }
        Ok(())
    }

    /// Removes all arrivals again.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn take_away(maildir: &Path) -> Result<()> {
        for entry in fs::read_dir(maildir.join("cur"))? {
            let entry = entry?;
            if entry.file_name().as_bytes().starts_with(b"n") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toggling_twice_changes_nothing() {
        for (name, other) in
            [("1.a.b:2,S", "1.a.b:2,FS"), ("1.a.b,S=3:2,", "1.a.b,S=3:2,F"), ("1.a:2,DRS", "1.a:2,DFRS")]
        {
            assert_eq!(toggled(OsStr::new(name)), other);
            assert_eq!(toggled(OsStr::new(other)), name);
        }
        assert_eq!(toggled(OsStr::new("1.a.b")), "1.a.b:2,F");
    }

    #[test]
    fn chosen_files_are_renamed_and_back() {
        let place = tempfile::tempdir().unwrap();
        let mail = place.path().join("mail");
        testkit::corpus::generate(&mail, &CorpusOptions::varied(200, 1)).unwrap();
        let before = corpora::message_files(&mail).unwrap();
        let mut flagged = Flagged::choose(&mail, 20).unwrap();
        flagged.toggle().unwrap();
        let during = corpora::message_files(&mail).unwrap();
        assert_eq!(before.iter().filter(|file| !during.contains(file)).count(), 20);
        flagged.toggle().unwrap();
        assert_eq!(corpora::message_files(&mail).unwrap(), before);
        flagged.toggle_some(18..30).unwrap();
        let during = corpora::message_files(&mail).unwrap();
        let changed: Vec<_> = during.iter().filter(|file| !before.contains(file)).collect();
        assert!(changed.len() == 2 && changed.iter().all(|file| flagged.has(file)), "{changed:?}");
        flagged.toggle_some(18..30).unwrap();
        fs::write(mail.join("cur/n7.x:2,"), "").unwrap();
        Arrivals::take_away(&mail).unwrap();
        assert_eq!(corpora::message_files(&mail).unwrap(), before);
    }
}
