//! The mail that the user names: where it is, how many messages it has and how large they are.
//!
//! Input: a directory. Output: counts. Does not know what is measured.

use anyhow::{Context, Result, ensure};
use measure::plot::thousands;
use measure::{corpora, machine};
use std::fs;
use std::path::{self, Path, PathBuf};

/// The mail of a user.
pub(crate) struct RealMail {
    root: PathBuf,
    messages: usize,
    bytes: u64,
}

impl RealMail {
    /// Looks at the mail in a directory.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub(crate) fn look(directory: &Path) -> Result<RealMail> {
        // Programs print paths without symbolic links.
        let root =
            directory.canonicalize().with_context(|| format!("cannot read {}", directory.display()))?;
        let files = corpora::messages(&root)?;
        ensure!(!files.is_empty(), "{} has no messages in directories cur or new", directory.display());
        let mut bytes = 0;
        for file in &files {
            let metadata = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
            bytes += metadata.len();
        }
        Ok(RealMail { root, messages: files.len(), bytes })
    }

    /// Makes sure that a directory, which may not exist yet, is not in the mail: the mail is only read.
    ///
    /// # Errors
    /// If it is.
    pub(crate) fn excludes(&self, directory: &Path) -> Result<()> {
        let directory = path::absolute(directory)?;
        let there = directory.ancestors().find_map(|above| above.canonicalize().ok());
        let is_inside = there.is_some_and(|there| there.starts_with(&self.root));
        ensure!(!is_inside, "{} is in the mail, which is only read: name another", directory.display());
        Ok(())
    }

    /// Makes sure that the mail is not in a directory that is cleared.
    ///
    /// # Errors
    /// If it is.
    pub(super) fn is_outside(&self, cleared: &Path) -> Result<()> {
        let there = cleared.canonicalize();
        let is_inside = there.is_ok_and(|there| self.root.starts_with(there));
        ensure!(!is_inside, "the mail is in {}, which is cleared: move it", cleared.display());
        Ok(())
    }

    /// Returns the directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the end of a run's name. Runs with another number of messages are not continued.
    pub(crate) fn run_suffix(&self) -> String {
        format!("-real-mail-{}", self.messages)
    }

    /// Returns everything that results say about the mail.
    pub(super) fn said(&self) -> String {
        let (messages, megabytes) = (thousands(self.messages as f64), thousands(self.bytes as f64 / 1e6));
        format!("{messages} messages, {megabytes} MB, on {}", machine::file_system(&self.root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn mail_is_counted_wherever_it_is_and_nothing_else_is_said() {
        let place = tempfile::tempdir().unwrap();
        let mail = place.path().join("Secret");
        for folder in ["cur", "new", "Folder/cur", "Folder/tmp"] {
            fs::create_dir_all(mail.join(folder)).unwrap();
            fs::write(mail.join(folder).join("1.a:2,S"), vec![b'x'; 1_500_000]).unwrap();
        }
        fs::write(mail.join("state"), "no message").unwrap();
        symlink(&mail, place.path().join("link")).unwrap();
        let real = RealMail::look(&place.path().join("link")).unwrap();
        assert_eq!(real.root(), mail.canonicalize().unwrap());
        let said = format!("3 messages, 4 MB, on {}", machine::file_system(&mail));
        assert_eq!((real.said(), real.run_suffix()), (said, "-real-mail-3".to_owned()));
        assert!(!real.said().contains("Secret"), "{}", real.said());
        let error = RealMail::look(&mail.join("Folder/tmp")).err().unwrap();
        assert!(error.to_string().ends_with("has no messages in directories cur or new"), "{error}");
        assert!(RealMail::look(&mail.join("none")).is_err());
        for inside in ["Secret", "Secret/not/yet", "link/not"] {
            assert!(real.excludes(&place.path().join(inside)).is_err(), "{inside}");
        }
        real.excludes(&place.path().join("beside/not/yet")).unwrap();
        assert!(real.is_outside(place.path()).is_err() && real.is_outside(&mail).is_err());
        real.is_outside(&mail.join("Folder")).unwrap();
        real.is_outside(&place.path().join("not yet")).unwrap();
    }
}
