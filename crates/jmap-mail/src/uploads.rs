//! Uploads: bytes that a client sends, for a message that it will make or wants to be read (RFC 8620, section
//! 6.1).
//!
//! Input: bytes, and a directory. Output: what the client is told, and the bytes by their id. The same bytes
//! are one file, which is named by their SHA-256: an id is never a path. A file is removed when it is a day
//! old, or when room is needed and it is an hour old. Knows no account and no HTTP.

use crate::blob_id::{BlobId, BlobSource};
use crate::ids::account_id;
use jmap::Limits;
use pneu::{Existing, NewFile, NewFileError};
use printable::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How long an upload is kept: a client should use it at once.
const KEPT: Duration = Duration::from_hours(24);
/// How long it is kept even if others need the room.
const KEPT_AT_LEAST: Duration = Duration::from_hours(1);

/// Bytes of all uploads together, unless the caller says otherwise.
pub const UPLOADS_BYTES_MAX: u64 = 1 << 30;

/// Why an upload is refused.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// It has more bytes than `maxSizeUpload`.
    #[error("the upload is larger than {0} bytes")]
    TooLarge(u64),
    /// There is no room beside uploads of the last hour.
    #[error("there is no room for more uploads now; try again in an hour")]
    NoRoom,
    /// The directory cannot be used.
    #[error("the upload could not be stored")]
    Io(#[from] io::Error),
    /// The file cannot be written.
    #[error("the upload could not be stored")]
    File(#[from] NewFileError),
}

impl UploadError {
    /// Returns the HTTP status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            UploadError::TooLarge(_) => 413,
            UploadError::NoRoom => 507,
            UploadError::Io(_) | UploadError::File(_) => 500,
        }
    }

    /// Returns the body of the answer: problem details (RFC 7807), without paths of the machine.
    pub fn problem(&self) -> Value {
        let mut problem = json!({"status": self.status(), "detail": self.to_string()});
        if let UploadError::TooLarge(_) = self {
            problem["type"] = "urn:ietf:params:jmap:error:limit".into();
            problem["limit"] = "maxSizeUpload".into();
        }
        problem
    }
}

/// The uploads of a user. They live as long as their files.
#[derive(Debug)]
pub struct Uploads {
    directory: PathBuf,
    /// Bytes of one.
    upload_bytes_max: u64,
    /// Bytes of all.
    bytes_max: u64,
    /// Held while room is made and filled.
    writing: Mutex<()>,
}

/// A file in the directory.
struct Stored {
    path: PathBuf,
    size_bytes: u64,
    age: Duration,
}

impl Uploads {
    /// Returns the uploads in a directory, which is made for its owner alone when it is needed. All together
    /// have at most `bytes_max` bytes.
    pub fn new(directory: impl Into<PathBuf>, limits: &Limits, bytes_max: u64) -> Uploads {
        let upload_bytes_max = limits.max_size_upload;
        Uploads { directory: directory.into(), upload_bytes_max, bytes_max, writing: Mutex::new(()) }
    }

    /// Stores bytes, which the client says are of the media type `media`. Returns what the client is told.
    /// `now` is the present.
    ///
    /// # Errors
    /// There are too many of them; the directory cannot be written.
    pub fn put(&self, bytes: &[u8], media: &str, now: SystemTime) -> Result<Value, UploadError> {
        let size_bytes = bytes.len() as u64;
        if size_bytes > self.upload_bytes_max {
            return Err(UploadError::TooLarge(self.upload_bytes_max));
        }
        let sha256: [u8; 32] = Sha256::digest(bytes).into();
        let path = self.path(&sha256);
        // Nothing but the directory is guarded: a panic of another holder leaves whole files.
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let is_there = path.metadata().is_ok_and(|found| found.len() == size_bytes);
        self.make_room(if is_there { 0 } else { size_bytes }, (&path, now))?;
        if is_there {
            File::options().write(true).open(&path)?.set_modified(now)?;
        } else {
            let new = NewFile::begin(&path, Existing::Replaced)?;
            new.file().write_all(bytes).map_err(|error| new.failed(error))?;
            new.file().set_modified(now).map_err(|error| new.failed(error))?;
            new.finish()?;
        }
        drop(writing);
        let id = BlobId::whole(BlobSource::Upload(sha256)).id().map_or(Value::Null, Value::from);
        Ok(json!({"accountId": account_id().as_str(), "blobId": id, "type": media, "size": size_bytes}))
    }

    /// Returns the bytes with this SHA-256; `None` if they are not there, or no more.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub(crate) fn get(&self, sha256: &[u8; 32]) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path(sha256)) {
            Ok(bytes) if Sha256::digest(&bytes)[..] == sha256[..] => Ok(Some(bytes)),
            Ok(_) => Err(io::ErrorKind::InvalidData.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn path(&self, sha256: &[u8; 32]) -> PathBuf {
        self.directory.join(hex(sha256))
    }

    /// Removes what is old, and then the oldest until there is room for `size_bytes` more. Keeps the file at
    /// a path.
    fn make_room(&self, size_bytes: u64, (kept, now): (&PathBuf, SystemTime)) -> Result<(), UploadError> {
        let mut files = self.stored(now)?;
        files.sort_by_key(|file| std::cmp::Reverse(file.age));
        let mut sum: u64 = files.iter().map(|file| file.size_bytes).sum();
        for file in files.iter().filter(|file| file.path != *kept) {
            let is_in_the_way = sum.saturating_add(size_bytes) > self.bytes_max && file.age >= KEPT_AT_LEAST;
            if file.age >= KEPT || is_in_the_way {
                remove(&file.path)?;
                sum = sum.saturating_sub(file.size_bytes);
            }
        }
        if size_bytes > 0 && sum.saturating_add(size_bytes) > self.bytes_max {
            return Err(UploadError::NoRoom);
        }
        Ok(())
    }

    /// Lists the files, those of uploads that were interrupted among them.
    fn stored(&self, now: SystemTime) -> io::Result<Vec<Stored>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            // It may have been removed just now.
            if let Some(found) = entry.metadata().ok().filter(Metadata::is_file) {
                // A clock that was wrong makes a file neither young nor old for ever.
                let age = now.duration_since(found.modified()?).unwrap_or_else(|error| error.duration());
                files.push(Stored { path: entry.path(), size_bytes: found.len(), age });
            }
        }
        Ok(files)
    }
}

/// Removes a file, which another process may have done.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    const HOUR: Duration = Duration::from_hours(1);

    fn uploads(bytes_max: u64) -> (TempDir, Uploads, SystemTime) {
        let directory = tempfile::tempdir().unwrap();
        let limits = Limits { max_size_upload: 8, ..Limits::default() };
        let uploads = Uploads::new(directory.path().join("a/uploads"), &limits, bytes_max);
        (directory, uploads, SystemTime::UNIX_EPOCH + 1_000 * HOUR)
    }

    fn get(uploads: &Uploads, bytes: &[u8]) -> Option<Vec<u8>> {
        uploads.get(&Sha256::digest(bytes).into()).unwrap()
    }

    fn count(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn the_same_bytes_are_one_private_file() {
        let (_directory, uploads, now) = uploads(100);
        assert_eq!(get(&uploads, b"one"), None);
        let told = uploads.put(b"one", "text/plain", now).unwrap();
        let id = format!("U{}", hex(&Sha256::digest(b"one")));
        assert_eq!(told, json!({"accountId": "mail", "blobId": id, "type": "text/plain", "size": 3}));
        assert_eq!(uploads.put(b"one", "a/b", now).unwrap()["type"], "a/b");
        assert_eq!(get(&uploads, b"one").unwrap(), b"one");
        uploads.put(b"", "a/b", now).unwrap();
        assert_eq!(get(&uploads, b"").unwrap(), b"");
        assert_eq!(count(&uploads.directory), 2);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&uploads.directory), 0o700);
        assert_eq!(mode(&uploads.path(&Sha256::digest(b"one").into())), 0o600);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let (_directory, uploads, now) = uploads(100);
        let error = uploads.put(b"123456789", "a/b", now).unwrap_err();
        assert_eq!((error.status(), &error.problem()["limit"]), (413, &json!("maxSizeUpload")));
        assert!(uploads.put(b"12345678", "a/b", now).is_ok());
    }

    #[test]
    fn old_uploads_make_room_and_young_ones_do_not() {
        let (_directory, uploads, now) = uploads(10);
        uploads.put(b"first", "a/b", now).unwrap();
        uploads.put(b"other", "a/b", now + HOUR / 2).unwrap();
        let refused = uploads.put(b"third", "a/b", now + HOUR - Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused.status(), 507);
        assert!(get(&uploads, b"first").is_some());
        uploads.put(b"third", "a/b", now + HOUR).unwrap();
        assert_eq!((get(&uploads, b"first"), get(&uploads, b"other").is_some()), (None, true));
        // What is sent again is young again.
        uploads.put(b"other", "a/b", now + 2 * HOUR).unwrap();
        assert!(get(&uploads, b"third").is_some());
        uploads.put(b"4th", "a/b", now + 3 * HOUR).unwrap();
        assert_eq!((get(&uploads, b"third"), get(&uploads, b"other").is_some()), (None, true));
    }

    #[test]
    fn uploads_are_removed_after_a_day_and_so_is_what_was_interrupted() {
        let (_directory, uploads, now) = uploads(100);
        uploads.put(b"first", "a/b", now).unwrap();
        let left = uploads.directory.join(".pneu-left");
        File::create(&left).unwrap().set_modified(now).unwrap();
        uploads.put(b"other", "a/b", now + 24 * HOUR - Duration::from_secs(1)).unwrap();
        assert!(get(&uploads, b"first").is_some() && left.exists());
        uploads.put(b"third", "a/b", now + 24 * HOUR).unwrap();
        assert!(get(&uploads, b"first").is_none() && !left.exists());
        uploads.put(b"other", "a/b", now + 48 * HOUR).unwrap();
        assert!(get(&uploads, b"other").is_some());
        uploads.put(b"third", "a/b", now + 48 * HOUR).unwrap();
        // The clock was two days ahead.
        uploads.put(b"4th", "a/b", now).unwrap();
        assert_eq!((get(&uploads, b"third"), get(&uploads, b"4th").is_some()), (None, true));
    }

    #[test]
    fn damage_is_no_upload() {
        let (_directory, uploads, now) = uploads(100);
        uploads.put(b"first", "a/b", now).unwrap();
        let sha256 = Sha256::digest(b"first").into();
        fs::write(uploads.path(&sha256), "worse").unwrap();
        assert_eq!(uploads.get(&sha256).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
