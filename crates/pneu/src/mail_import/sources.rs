//! What is to be imported: the files and streams of each folder.
//!
//! Input: what the user named. Output: sources by folder, and what could not be read. Reads no messages.

use crate::error::{Error, Result};
use crate::mail_import::model::MailInput;
use mail::{ContentKind, Flags, Opened};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A file or stream with messages.
pub(super) struct Source {
    /// What it is called in errors.
    pub path: PathBuf,
    /// Flags that its folder notes of its message.
    pub flags: Option<Flags>,
    /// Whether it is a file of a Maildir: one message, whatever its first line is.
    pub is_of_maildir: bool,
    /// Whether it is nothing without a header.
    needs_header: bool,
    from: From,
}

/// How a source is reached.
enum From {
    /// It is in a directory: no link is followed.
    Directory,
    /// The user named it.
    User,
    Stream(Box<dyn Read>),
}

/// All sources.
#[derive(Default)]
pub(super) struct Sources {
    /// By the folder below that of the import: its parts.
    pub by_folder: BTreeMap<Vec<String>, Vec<Source>>,
    /// What could not be read.
    pub problems: Vec<mail::Error>,
    /// Files in directories that hold no mail.
    pub other_count: u64,
    /// The size of all files.
    pub size_bytes: u64,
}

impl Sources {
    /// Returns the folders in order.
    pub(super) fn folders(&self) -> impl Iterator<Item = &[String]> {
        self.by_folder.keys().map(Vec::as_slice)
    }
}

impl Source {
    /// Returns one that the user named.
    fn named(path: PathBuf, from: From) -> Source {
        Source { path, flags: None, is_of_maildir: false, needs_header: true, from }
    }

    /// Returns whether its folder says its state: then what is written in the message does not count.
    pub(super) fn has_state(&self) -> bool {
        self.is_of_maildir || self.flags.is_some()
    }

    /// Returns when its file was last written, in seconds since 1970; `None` if it is no file.
    pub(super) fn written_seconds(&self) -> Option<i64> {
        let metadata = match self.from {
            From::Directory => self.path.symlink_metadata(),
            From::User => self.path.metadata(),
            From::Stream(_) => return None,
        };
        metadata.ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.mtime())
    }

    /// Opens it. Counts in `read` how many bytes of it are read.
    ///
    /// # Errors
    /// It cannot be opened; it is neither an mbox nor a message.
    pub(super) fn open(self, read: &Arc<AtomicU64>) -> std::result::Result<Opened, mail::Error> {
        let failed = |source| mail::Error::io("open", &self.path, source);
        let opened = match self.from {
            From::Directory => mail::open_file(&self.path, read)?,
            From::User => {
                let file = File::open(&self.path).map_err(failed)?;
                mail::open_stream(Box::new(file), &self.path, read)?
            }
            From::Stream(stream) => mail::open_stream(stream, &self.path, read)?,
        };
        if self.needs_header && opened.kind == ContentKind::Unknown {
            let what = "it is neither an mbox nor a message";
            let unknown = std::io::Error::new(std::io::ErrorKind::InvalidData, what);
            return Err(mail::Error::io("import", &self.path, unknown));
        }
        Ok(if self.is_of_maildir { Opened { kind: ContentKind::Message, ..opened } } else { opened })
    }
}

/// Finds the sources of all inputs.
///
/// # Errors
/// An input is not there, or is a Maildir.
pub(super) fn find(inputs: Vec<MailInput>, is_flat: bool) -> Result<Sources> {
    let mut sources = Sources::default();
    for input in inputs {
        match input {
            MailInput::Stream(stream, path) => {
                let source = Source::named(path, From::Stream(stream));
                sources.by_folder.entry(Vec::new()).or_default().push(source);
            }
            MailInput::Path(path) => {
                let metadata = path.metadata().map_err(|error| delivery("open", &path, error))?;
                if metadata.is_dir() {
                    search(&path, is_flat, &mut sources)?;
                } else {
                    sources.size_bytes += metadata.len();
                    let source = Source::named(path, From::User);
                    sources.by_folder.entry(Vec::new()).or_default().push(source);
                }
            }
        }
    }
    Ok(sources)
}

fn search(directory: &Path, is_flat: bool, sources: &mut Sources) -> Result<()> {
    if ["cur", "new"].iter().all(|name| directory.join(name).is_dir()) {
        let what = "it is a Maildir, which is indexed where it is";
        return Err(delivery("import", directory, std::io::Error::other(what)));
    }
    let tree = mail::find_mail_files(directory).map_err(Error::Delivery)?;
    sources.problems.extend(tree.problems);
    sources.other_count += tree.other_count;
    for found in tree.sources {
        sources.size_bytes += found.size_bytes;
        let folder = if is_flat { Vec::new() } else { found.folder };
        let source = Source {
            path: found.path,
            flags: found.flags,
            is_of_maildir: found.is_of_maildir,
            needs_header: found.needs_header,
            from: From::Directory,
        };
        sources.by_folder.entry(folder).or_default().push(source);
    }
    Ok(())
}

fn delivery(action: &'static str, path: &Path, error: std::io::Error) -> Error {
    Error::Delivery(mail::Error::io(action, path, error))
}
