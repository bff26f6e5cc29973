//! Real mail for tests, which is not part of the project.
//!
//! Input: the environment variable PNEU_REAL_MAIL, a directory with `real-2986.tar.zst` (a packed tree of
//! Maildirs) and `edge/` (unusual messages, one in each file). Output: the directories of the unpacked files.
//! Does not depend on the content of the messages.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tempfile::TempDir;

/// The variable that names the directory.
const VARIABLE: &str = "PNEU_REAL_MAIL";
/// The packed tree of Maildirs in it.
const PACKED: &str = "real-2986.tar.zst";
/// The directory of odd messages in it.
const EDGE: &str = "edge";

/// Real mail, unpacked. The directory is removed when the last holder drops it.
#[derive(Debug)]
pub struct RealMail {
    unpacked: TempDir,
    edge: Vec<PathBuf>,
}

impl RealMail {
    /// Returns the root of the Maildirs, with the files' own times. All tests of a process share it: copy it
    /// before changing it.
    pub fn maildir(&self) -> &Path {
        self.unpacked.path()
    }

    /// Returns the odd messages, sorted.
    pub fn edge(&self) -> &[PathBuf] {
        &self.edge
    }
}

/// Returns the real mail. It is unpacked once for all holders at the same time.
///
/// If PNEU_REAL_MAIL is not set, prints a line and returns `None`; the test is then skipped.
///
/// # Panics
/// If PNEU_REAL_MAIL is not set though CI is `true`, or names a directory without the mail.
pub fn real_mail() -> Option<Arc<RealMail>> {
    static SHARED: Mutex<Weak<RealMail>> = Mutex::new(Weak::new());
    let directory =
        named_directory(env::var_os(VARIABLE).map(PathBuf::from), env::var("CI").as_deref() == Ok("true"))?;
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let mail = shared.upgrade().unwrap_or_else(|| Arc::new(unpack(&directory)));
    *shared = Arc::downgrade(&mail);
    Some(mail)
}

#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
fn named_directory(named: Option<PathBuf>, must_be_there: bool) -> Option<PathBuf> {
    assert!(named.is_some() || !must_be_there, "{VARIABLE} is not set: it names the directory with {PACKED}");
    if named.is_none() {
        eprintln!("real mail is left out: {VARIABLE} is not set");
    }
    named
}

fn unpack(directory: &Path) -> RealMail {
    let packed = directory.join(PACKED);
    let file =
        File::open(&packed).unwrap_or_else(|error| panic!("cannot open {}: {error}", packed.display()));
    let unpacked = tempfile::tempdir().expect("a temporary directory can be made");
    zstd::Decoder::new(file)
        .and_then(|decoder| tar::Archive::new(decoder).unpack(unpacked.path()))
        .unwrap_or_else(|error| panic!("cannot unpack {}: {error}", packed.display()));
    let edge = directory.join(EDGE);
    let mut edge: Vec<PathBuf> = fs::read_dir(&edge)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", edge.display()))
        .map(|entry| entry.expect("a listed directory stays readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
        .collect();
    edge.sort();
    RealMail { unpacked, edge }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn without_the_variable_there_is_none() {
        assert_eq!(named_directory(None, false), None);
        assert_eq!(named_directory(Some("mail".into()), true), Some("mail".into()));
    }

    #[test]
    #[should_panic(expected = "PNEU_REAL_MAIL is not set")]
    fn without_the_variable_ci_fails() {
        named_directory(None, true);
    }

    #[test]
    fn packed_mail_is_unpacked_with_its_times() {
        let directory = tempfile::tempdir().unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_size(2);
        header.set_mode(0o644);
        header.set_mtime(955_632_300);
        let mut packed = tar::Builder::new(Vec::new());
        packed.append_data(&mut header, "list/cur/1.a.b:2,S", &b"a\n"[..]).unwrap();
        let packed = zstd::encode_all(packed.into_inner().unwrap().as_slice(), 1).unwrap();
        fs::write(directory.path().join(PACKED), packed).unwrap();
        fs::create_dir(directory.path().join(EDGE)).unwrap();
        for name in ["b.eml", "a.eml", "SOURCES.tsv"] {
            fs::write(directory.path().join(EDGE).join(name), "").unwrap();
        }
        let mail = unpack(directory.path());
        let file = mail.maildir().join("list/cur/1.a.b:2,S");
        let modified = fs::metadata(file).unwrap().modified().unwrap();
        assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(955_632_300));
        let names: Vec<_> = mail.edge().iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["a.eml", "b.eml"]);
    }

    #[test]
    fn real_mail_is_complete_where_it_is_named() {
        let Some(mail) = real_mail() else { return };
        assert_eq!(mail.edge().len(), 400);
        assert!(mail.maildir().join("lists/linux-man/cur").is_dir());
        let again = real_mail().unwrap();
        assert_eq!(mail.maildir(), again.maildir());
    }
}
