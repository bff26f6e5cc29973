//! Parts of a segment that are being written: in memory, or in a file when they grow large.
//!
//! Input: bytes from tantivy. Output: the same bytes, until the segment is sealed. A file is never synced,
//! and its bytes are compared with a checksum when they are read for the sealed file. Must not know what the
//! parts are.

use disk::{Disk, File};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tantivy::directory::{AntiCallToken, OwnedBytes, TerminatingWrite};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// A part with more bytes goes to a file.
pub(super) const MEMORY_BYTES_MAX: usize = 1 << 20;

/// Parts that are written and not sealed yet, by name.
#[derive(Clone)]
pub(super) struct Spools {
    written: Arc<Mutex<HashMap<PathBuf, Spooled>>>,
    /// A part with more bytes goes to a file.
    memory_bytes_max: usize,
}

/// A part that is written.
struct Spooled {
    bytes: OwnedBytes,
    /// Its file, if it has one, and the checksum of what was written to it (XXH3-64).
    file: Option<(Removed, u64)>,
}

/// A file that is removed when its part is forgotten. Maps of it stay.
struct Removed {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl Drop for Removed {
    fn drop(&mut self) {
        // If it stays, it is removed with what no commit names: no commit names a part.
        let _ = self.disk.remove(&self.path);
    }
}

impl Spools {
    /// Returns no parts.
    pub(super) fn new(memory_bytes_max: usize) -> Spools {
        Spools { written: Arc::default(), memory_bytes_max }
    }

    /// Returns no parts, with the same limit.
    pub(super) fn with_none_written(&self) -> Spools {
        Spools::new(self.memory_bytes_max)
    }

    /// Begins a part. If it grows large, it goes to the file `name` in `directory`.
    pub(super) fn begin(
        &self,
        disk: &Arc<dyn Disk>,
        directory: &Path,
        name: &Path,
    ) -> impl TerminatingWrite + use<> {
        Spool {
            spools: self.clone(),
            name: name.to_owned(),
            disk: Arc::clone(disk),
            path: directory.join(name),
            memory: Vec::new(),
            file: Mutex::new(None),
        }
    }

    /// Returns a part that is written.
    pub(super) fn get(&self, name: &Path) -> Option<OwnedBytes> {
        self.written().get(name).map(|spooled| spooled.bytes.clone())
    }

    /// Returns a part that is written, after its bytes were compared with what was written.
    ///
    /// # Errors
    /// The disk lost some of it.
    pub(super) fn get_whole(&self, name: &Path) -> io::Result<Option<OwnedBytes>> {
        let (bytes, checksum) = match self.written().get(name) {
            Some(spooled) => (spooled.bytes.clone(), spooled.file.as_ref().map(|(_, checksum)| *checksum)),
            None => return Ok(None),
        };
        if checksum.is_some_and(|checksum| checksum != xxh3_64(&bytes)) {
            let what = format!("the disk holds other bytes of {} than were written", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(Some(bytes))
    }

    /// Forgets a part.
    pub(super) fn forget(&self, name: &Path) {
        self.written().remove(name);
    }

    fn written(&self) -> MutexGuard<'_, HashMap<PathBuf, Spooled>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part that is being written.
struct Spool {
    spools: Spools,
    name: PathBuf,
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// What is not in the file.
    memory: Vec<u8>,
    /// tantivy requires a writer that threads may share, but never shares it.
    file: Mutex<Option<Spilled>>,
}

/// The file of a part that is being written.
struct Spilled {
    file: Box<dyn File>,
    removed: Removed,
    hash: Xxh3,
}

impl Spool {
    /// Moves what is in memory to the file.
    fn spill(&mut self) -> disk::Result<()> {
        let open = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let spilled = match open {
            Some(open) => open,
            None => {
                let file = self.disk.create(&self.path)?;
                let removed = Removed { disk: Arc::clone(&self.disk), path: self.path.clone() };
                open.insert(Spilled { file, removed, hash: Xxh3::new() })
            }
        };
        spilled.hash.update(&self.memory);
        spilled.file.write(&self.memory)?;
        self.memory.clear();
        Ok(())
    }
}

impl io::Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.memory.is_empty() && self.memory.len() + bytes.len() > self.spools.memory_bytes_max {
            self.spill().map_err(io::Error::other)?;
        }
        self.memory.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Spool {
    fn terminate_ref(&mut self, _token: AntiCallToken) -> io::Result<()> {
        let is_in_file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_in_file {
            self.spill().map_err(io::Error::other)?;
        }
        let spooled = match self.file.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Spilled { removed, hash, .. }) => {
                let bytes = OwnedBytes::new(self.disk.map(&self.path).map_err(io::Error::other)?);
                Spooled { bytes, file: Some((removed, hash.digest())) }
            }
            None => Spooled { bytes: OwnedBytes::new(std::mem::take(&mut self.memory)), file: None },
        };
        self.spools.written().insert(self.name.clone(), spooled);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written(place: &Path, memory_bytes_max: usize) -> Spools {
        let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
        let spools = Spools::new(memory_bytes_max);
        let mut spool = spools.begin(&disk, place, Path::new("a.idx"));
        (0..9).for_each(|_| spool.write_all(b"abcd").unwrap());
        assert_eq!(spools.get(Path::new("a.idx")), None);
        spool.terminate().unwrap();
        spools
    }

    #[test]
    fn a_large_part_is_in_a_file_until_it_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        for memory_bytes_max in [0, 7, 1000] {
            let (spools, name) = (written(place.path(), memory_bytes_max), Path::new("a.idx"));
            let is_in_file = || place.path().join(name).exists();
            assert_eq!(is_in_file(), memory_bytes_max < 36);
            let bytes = spools.get_whole(name).unwrap().unwrap();
            assert_eq!(&bytes[..], b"abcd".repeat(9));
            spools.forget(name);
            assert!(!is_in_file() && spools.get(name).is_none());
            assert_eq!(&bytes[..], b"abcd".repeat(9), "maps of it stay");
        }
    }

    #[test]
    fn a_part_that_changed_on_the_disk_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (spools, name) = (written(place.path(), 7), Path::new("a.idx"));
        std::fs::write(
            place.path().join(name),
            b"abcd".repeat(8).into_iter().chain(*b"abce").collect::<Vec<_>>(),
        )
        .unwrap();
        let error = spools.get_whole(name).unwrap_err();
        assert!(error.to_string().contains("a.idx"), "{error}");
    }

    #[test]
    fn a_part_that_is_given_up_leaves_no_file() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
        let mut spool = Spools::new(4).begin(&disk, place.path(), Path::new("a.idx"));
        (0..3).for_each(|_| spool.write_all(b"abcd").unwrap());
        assert!(place.path().join("a.idx").exists());
        drop(spool);
        assert!(!place.path().join("a.idx").exists());
    }
}
