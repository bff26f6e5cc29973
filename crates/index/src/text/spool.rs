//! Parts of a segment that are being written: in memory, or in a file when they grow large.
//!
//! Input: bytes from tantivy. Output: the same bytes, until the segment is sealed. A file is never synced,
//! and is removed when nobody reads it any more. Must not know what the parts are.

use disk::{Disk, File};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::directory::{AntiCallToken, OwnedBytes, TerminatingWrite};

/// A part with more bytes goes to a file.
const MEMORY_BYTES_MAX: usize = 8 << 20;

/// Parts that are written and not sealed yet, by name.
#[derive(Clone, Default)]
pub(super) struct Spools(Arc<Mutex<HashMap<PathBuf, Spooled>>>);

/// A part that is written.
struct Spooled {
    bytes: OwnedBytes,
    /// Removed when the part is forgotten. Maps of it stay.
    _file: Option<Removed>,
}

/// A file that is removed in the end.
struct Removed {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl Drop for Removed {
    fn drop(&mut self) {
        // If it stays, it is removed later, like everything that no commit names.
        let _ = self.disk.remove(&self.path);
    }
}

impl Spools {
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
            memory_bytes_max: MEMORY_BYTES_MAX,
            file: Mutex::new(None),
        }
    }

    /// Returns a part that is written.
    pub(super) fn get(&self, name: &Path) -> Option<OwnedBytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).map(|spooled| spooled.bytes.clone())
    }

    /// Forgets a part.
    pub(super) fn forget(&self, name: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
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
    memory_bytes_max: usize,
    /// tantivy requires a writer that threads may share, but never shares it.
    file: Mutex<Option<(Box<dyn File>, Removed)>>,
}

impl Spool {
    /// Moves what is in memory to the file.
    fn spill(&mut self) -> disk::Result<()> {
        let open = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (file, _) = match open {
            Some(open) => open,
            None => {
                let file = self.disk.create(&self.path)?;
                let removed = Removed { disk: Arc::clone(&self.disk), path: self.path.clone() };
                open.insert((file, removed))
            }
        };
        file.write(&self.memory)?;
        self.memory.clear();
        Ok(())
    }
}

impl io::Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > self.memory_bytes_max {
            self.spill().map_err(io::Error::other)?;
        }
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
            Some((_, removed)) => {
                let bytes = OwnedBytes::new(self.disk.map(&self.path).map_err(io::Error::other)?);
                Spooled { bytes, _file: Some(removed) }
            }
            None => Spooled { bytes: OwnedBytes::new(std::mem::take(&mut self.memory)), _file: None },
        };
        let mut all = self.spools.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(self.name.clone(), spooled);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_large_part_is_in_a_file_until_it_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
        for memory_bytes_max in [0, 7, 1000] {
            let (spools, name) = (Spools::default(), Path::new("a.idx"));
            let mut spool = Spool {
                spools: spools.clone(),
                name: name.to_owned(),
                disk: Arc::clone(&disk),
                path: place.path().join(name),
                memory: Vec::new(),
                memory_bytes_max,
                file: Mutex::new(None),
            };
            (0..9).for_each(|_| spool.write_all(b"abcd").unwrap());
            assert_eq!(spools.get(name), None);
            spool.terminate().unwrap();
            let is_in_file = || place.path().join(name).exists();
            assert_eq!(is_in_file(), memory_bytes_max < 36);
            let bytes = spools.get(name).unwrap();
            assert_eq!(&bytes[..], b"abcd".repeat(9));
            spools.forget(name);
            assert!(!is_in_file());
            assert_eq!(&bytes[..], b"abcd".repeat(9), "whoever reads it goes on");
        }
    }

    #[test]
    fn a_part_that_is_given_up_leaves_no_file() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
        let mut spool = Spools::default().begin(&disk, place.path(), Path::new("a.idx"));
        spool.write_all(&vec![7; MEMORY_BYTES_MAX + 1]).unwrap();
        assert!(place.path().join("a.idx").exists());
        drop(spool);
        assert!(!place.path().join("a.idx").exists());
    }
}
