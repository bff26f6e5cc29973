//! What tells the files of a source from what they were at another time.
//!
//! For each snapshot, log, and file of vinyl: name, device, inode, length, the times of its last change of
//! content and of anything, and the instance and VClock in its header. The system sets the last of these
//! times itself, so bytes cannot change unnoticed, except within one tick of the system's clock after a load
//! began, with the same length; Tarantool only adds to a log, and renames a snapshot when it is complete.

use anyhow::{Context, Result};
use std::fmt::Write;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tarantool::key::COLLATION_DATA;
use tarantool::{HEADER_BYTES_MAX, Header, uuid_text};

/// The form of the text below. Another version of the program, or one that makes other keys, loads again.
const FORM: &str = concat!("2 ", env!("CARGO_PKG_VERSION"));

/// What a source is, and what it holds now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Where the files are, and how they are read.
    pub source: String,
    /// What the files are.
    pub files: String,
}

impl Identity {
    /// Returns the name of the source and of what it holds now: two hashes.
    pub(crate) fn name(&self) -> String {
        let files = store::hash(self.files.as_bytes());
        format!("{}{files:016x}", self.source_name())
    }

    /// Returns with what the names of all entries of this source begin.
    pub(crate) fn source_name(&self) -> String {
        format!("{:016x}-", store::hash(self.source.as_bytes()))
    }

    /// Returns all of it as text.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.source, self.files)
    }
}

/// Returns the identity of what is read of a path: a file, or the snapshots, the logs and the files of vinyl
/// in directories. `how` tells apart different ways of reading it.
///
/// # Errors
/// What the disk says.
pub(crate) fn identity(
    path: &Path,
    logs: Option<&Path>,
    vinyl: Option<&Path>,
    how: &str,
) -> Result<Identity> {
    let whole = |path: &Path| path.canonicalize().with_context(|| format!("cannot find {}", path.display()));
    let main = whole(path)?;
    let logs = logs.map(whole).transpose()?;
    let vinyl = vinyl.map(whole).transpose()?;
    let source = format!("{FORM} {COLLATION_DATA} {how} {main:?} {logs:?} {vinyl:?}\n");
    let mut files = String::new();
    if main.is_file() {
        put_file(&main, &mut files)?;
    } else {
        for directory in [Some(&main), logs.as_ref()].into_iter().flatten() {
            for file in files_of(directory, &["snap", "xlog"])? {
                put_file(&file, &mut files)?;
            }
        }
        for file in files_of_vinyl(vinyl.as_ref().unwrap_or(&main))? {
            put_file(&file, &mut files)?;
        }
    }
    Ok(Identity { source, files })
}

/// Returns the files of vinyl: its logs, and the runs of primary indexes, each in the directory of its space
/// and index.
fn files_of_vinyl(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files_of(directory, &["vylog"])?;
    if files.is_empty() {
        return Ok(files);
    }
    let mut spaces = Vec::new();
    for entry in
        std::fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?
    {
        let path = entry?.path();
        let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let is_space = path.file_name().and_then(|name| name.to_str()).is_some_and(is_number);
        spaces.extend(Some(path.join("0")).filter(|index| is_space && index.is_dir()));
    }
    spaces.sort();
    for space in spaces {
        files.extend(files_of(&space, &["run", "index"])?);
    }
    Ok(files)
}

/// Returns the files in a directory with these endings, by name.
fn files_of(directory: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot list {}", directory.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.extension().is_some_and(|end| endings.iter().any(|own| end == *own)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn put_file(path: &Path, out: &mut String) -> Result<()> {
    let cannot = || format!("cannot read {}", path.display());
    let mut head = Vec::new();
    // Anything but a regular file is refused, and a pipe is not waited for.
    let file = disk::open_file(path).with_context(cannot)?;
    let metadata = file.metadata().with_context(cannot)?;
    file.take(HEADER_BYTES_MAX as u64).read_to_end(&mut head).with_context(cannot)?;
    let header = match Header::parse(&head) {
        Ok((header, _)) => format!("{} {{{}}}", uuid_text(&header.instance), header.vclock),
        Err(damage) => damage.what.to_owned(),
    };
    writeln!(
        out,
        "{path:?} {} {} {} {}.{:09} {}.{:09} {header}",
        metadata.dev(),
        metadata.ino(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::time::SystemTime;

    #[test]
    fn every_change_of_a_file_changes_the_identity() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("1.snap"), "SNAP\n0.13\n\n").unwrap();
        fs::write(path("1.xlog"), "XLOG\n").unwrap();
        fs::write(path("2.xlog.inprogress"), "").unwrap();
        let now = || identity(directory.path(), None, None, "strict").unwrap();
        let mut before = now();
        assert_eq!(before, now());
        assert_eq!(before.files.lines().count(), 2);
        assert_ne!(before.name(), identity(directory.path(), None, None, "salvage").unwrap().name());
        let mut differs = |what: &str| {
            let after = now();
            assert_eq!(before.source_name(), after.source_name());
            assert_ne!(before.name(), after.name(), "{what}");
            before = after;
        };
        fs::write(path("1.xlog"), "XLOG\n0.13\n").unwrap();
        differs("it grew");
        // The same length and the same time, in another file.
        let old = fs::metadata(path("1.xlog")).unwrap().modified().unwrap();
        fs::write(path("new"), "XLOG\n0.12\n").unwrap();
        File::options().write(true).open(path("new")).unwrap().set_modified(old).unwrap();
        fs::rename(path("new"), path("1.xlog")).unwrap();
        differs("it was replaced");
        File::options()
            .write(true)
            .open(path("1.xlog"))
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        differs("its time was set");
        fs::remove_file(path("1.xlog")).unwrap();
        differs("it is gone");
    }

    #[test]
    fn a_file_that_moved_is_another() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("512/0")).unwrap();
        let (mut before, mut after) = (String::new(), String::new());
        fs::write(directory.path().join("512/0/1.run"), "").unwrap();
        put_file(&directory.path().join("512/0/1.run"), &mut before).unwrap();
        fs::rename(directory.path().join("512"), directory.path().join("612")).unwrap();
        put_file(&directory.path().join("612/0/1.run"), &mut after).unwrap();
        assert_ne!(before, after);
    }
}
