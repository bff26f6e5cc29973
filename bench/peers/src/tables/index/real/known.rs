//! Whether a program knows the files on the disk, one by one.
//!
//! Input: a command that prints paths, a Maildir. Output: how many differ. Does not know which program it is.
//!
//! Real mail has files that some programs refuse: not mail, or too large. Few such files make no program
//! faster, so that its figures stay and the difference is said.

use anyhow::{Context, Result, ensure};
use measure::corpora;
use measure::plot::thousands;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// At most one file in this many may differ.
const FILES_EACH_DIFFERENCE: usize = 1000;

/// How the files that a program knows differ from those on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    /// Files on the disk.
    there: usize,
    /// Files on the disk that the program does not know.
    missing: usize,
    /// Paths that the program knows, and that are no message of the mail.
    more: usize,
}

/// Compares the paths that a command prints, one on each line, with the files of a Maildir.
///
/// # Errors
/// If the command fails. Exit code 1 is accepted: nothing was found.
pub(super) fn difference(mut paths: Command, maildir: &Path) -> Result<Difference> {
    let output = paths.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {paths:?}"))?;
    ensure!(matches!(output.status.code(), Some(0 | 1)), "{paths:?} failed: {}", output.status);
    let files = corpora::messages(maildir)?;
    let there: HashSet<&[u8]> = files.iter().map(|file| file.as_os_str().as_bytes()).collect();
    let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let known: HashSet<&[u8]> = lines.collect();
    Ok(Difference {
        there: there.len(),
        missing: there.difference(&known).count(),
        more: known.difference(&there).count(),
    })
}

impl Difference {
    /// Returns whether so few files differ that the program did the same work.
    pub(super) fn is_small(self) -> bool {
        (self.missing + self.more) * FILES_EACH_DIFFERENCE <= self.there
    }

    /// Returns the counts as text.
    pub(super) fn said(self) -> String {
        match (self.missing, self.more) {
            (0, 0) => "all".to_owned(),
            (missing, more) => format!(
                "all but {} of {}, and {} others",
                thousands(missing as f64),
                thousands(self.there as f64),
                thousands(more as f64)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn printing(lines: &[&Path], code: u8) -> Command {
        let mut command = Command::new("sh");
        let lines: Vec<String> = lines.iter().map(|line| line.display().to_string()).collect();
        command.args(["-c", &format!("printf '{}\\n'; exit {code}", lines.join("\\n"))]);
        command
    }

    #[test]
    fn files_are_compared_one_by_one() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str| place.path().join("cur").join(name);
        fs::create_dir(place.path().join("cur")).unwrap();
        let (one, two, other) = (file("1"), file("2"), file("3"));
        for file in [&one, &two] {
            fs::write(file, "").unwrap();
        }
        let known = |lines: &[&Path], code| difference(printing(lines, code), place.path());
        let all = known(&[&two, &one, &one], 0).unwrap();
        assert_eq!((all.said().as_str(), all.is_small()), ("all", true));
        let other = known(&[&two, &other], 0).unwrap();
        assert_eq!(other, Difference { there: 2, missing: 1, more: 1 });
        assert_eq!((other.said().as_str(), other.is_small()), ("all but 1 of 2, and 1 others", false));
        assert_eq!(known(&[], 1).unwrap(), Difference { there: 2, missing: 2, more: 0 });
        assert!(known(&[], 2).is_err());
    }

    #[test]
    fn one_file_in_a_thousand_may_differ() {
        let differs = |there, missing, more| Difference { there, missing, more }.is_small();
        assert!(differs(1000, 1, 0) && differs(1000, 0, 1) && differs(89_297, 80, 9) && differs(10, 0, 0));
        assert!(!differs(1000, 1, 1) && !differs(999, 1, 0) && !differs(89_297, 80, 10));
    }
}
