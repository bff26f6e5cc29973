//! A file of text that gets its name when it is complete.

use crate::session::Session;
use anyhow::{Result, bail};
use disk::File;
use std::path::{Path, PathBuf};

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 256 << 10;

/// The file.
pub(super) struct TextFile<'a> {
    session: &'a Session,
    file: Box<dyn File>,
    path: PathBuf,
    begun: PathBuf,
    /// What is to be written.
    pub(super) buffer: Vec<u8>,
}

/// Returns the name of a file that is being written.
///
/// # Errors
/// The file exists.
pub(super) fn begun(session: &Session, path: &Path) -> Result<PathBuf> {
    if is_taken(path) {
        bail!("{} exists already: name another place", path.display());
    }
    let begun = begun_name(path);
    // What an earlier export left.
    session.disk.remove(&begun)?;
    Ok(begun)
}

fn begun_name(path: &Path) -> PathBuf {
    let mut begun = path.as_os_str().to_owned();
    begun.push(".inprogress");
    PathBuf::from(begun)
}

/// Returns whether a name is taken: by a file, or by anything else, even a link that leads nowhere.
pub(super) fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes what was begun and not completed.
pub(super) fn give_up(session: &Session, path: &Path) {
    // The next export to this name removes it, too.
    let _ = session.disk.remove(&begun_name(path));
}

/// Gives a complete and durable file its name.
///
/// # Errors
/// The disk.
pub(super) fn publish(session: &Session, begun: &Path, path: &Path) -> Result<()> {
    session.disk.rename(begun, path)?;
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    session.disk.sync_directory(directory.unwrap_or(Path::new(".")))?;
    Ok(())
}

impl<'a> TextFile<'a> {
    /// Begins a file that does not exist.
    ///
    /// # Errors
    /// It exists; the disk.
    pub(super) fn create(session: &'a Session, path: &Path) -> Result<TextFile<'a>> {
        let begun = begun(session, path)?;
        let file = session.disk.create(&begun)?;
        Ok(TextFile { session, file, path: path.to_owned(), begun, buffer: Vec::new() })
    }

    /// Returns the name that the file gets.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what was gathered, if it is much.
    ///
    /// # Errors
    /// The disk.
    pub(super) fn end_row(&mut self) -> disk::Result<()> {
        if self.buffer.len() >= BUFFER_BYTES {
            self.file.write(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Ends the file, durably.
    ///
    /// # Errors
    /// The disk.
    pub(super) fn finish(mut self) -> Result<()> {
        self.file.write(&self.buffer)?;
        self.file.sync()?;
        drop(self.file);
        publish(self.session, &self.begun, &self.path)
    }
}
