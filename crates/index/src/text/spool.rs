//! Parts of a segment that are being written: in memory, or in a file when they grow large.
//!
//! Input: bytes from tantivy. Output: the same bytes, until the segment is sealed. A file is never synced,
//! and its bytes are compared with a checksum when they are read for the sealed file. Must not know what the
//! parts are.

use disk::{Disk, File, Map};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tantivy::directory::{AntiCallToken, OwnedBytes, TerminatingWrite};
use work::{Cancel, Progress};
use xxhash_rust::xxh3::Xxh3;

/// A part with more bytes goes to a file.
pub(super) const MEMORY_BYTES_MAX: usize = 1 << 20;
/// A part in a file is copied in pieces of this size.
const PIECE_BYTES: usize = 4 << 20;
/// After so many bytes of a part it is said that much was written.
const MUCH_BYTES: usize = 16 << 20;

/// Parts that are written and not sealed yet, by name.
#[derive(Clone)]
pub(super) struct Spools {
    written: Arc<Mutex<HashMap<PathBuf, Spooled>>>,
    /// A part with more bytes goes to a file.
    memory_bytes_max: usize,
    /// What is done after much was written.
    after_much: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Makes writing and copying fail.
    cancel: Option<Cancel>,
}

/// A part that is written.
#[derive(Clone)]
enum Spooled {
    InMemory(OwnedBytes),
    InFile {
        _removed: Arc<Removed>,
        map: Map,
        /// Of what was written (XXH3-64).
        checksum: u64,
    },
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
        Spools { written: Arc::default(), memory_bytes_max, after_much: None, cancel: None }
    }

    /// Returns no parts, with the same limit, stopped together with these.
    pub(super) fn with_none_written(&self) -> Spools {
        Spools { cancel: self.cancel.clone(), ..Spools::new(self.memory_bytes_max) }
    }

    /// Makes writing and copying fail once `cancel` says so.
    pub(super) fn stopped_by(self, cancel: &Cancel) -> Spools {
        Spools { cancel: Some(cancel.clone()), ..self }
    }

    fn check(&self) -> io::Result<()> {
        self.cancel.as_ref().map_or(Ok(()), Progress::check).map_err(io::Error::other)
    }

    /// Calls `after_much` whenever much of a part was written.
    pub(super) fn calling(self, after_much: impl Fn() + Send + Sync + 'static) -> Spools {
        Spools { after_much: Some(Arc::new(after_much)), ..self }
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
            new_bytes: 0,
            file: Mutex::new(None),
        }
    }

    /// Returns a part that is written.
    pub(super) fn get(&self, name: &Path) -> Option<OwnedBytes> {
        self.written().get(name).map(|spooled| match spooled {
            Spooled::InMemory(bytes) => bytes.clone(),
            Spooled::InFile { map, .. } => OwnedBytes::new(map.clone()),
        })
    }

    /// Copies a part that is written, piece by piece. Returns whether there is one.
    ///
    /// # Errors
    /// It was stopped. Those of `copy`. Only after the last piece: the disk holds other bytes than were
    /// written.
    pub(super) fn copy(
        &self,
        name: &Path,
        mut copy: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        let spooled = self.written().get(name).cloned();
        self.check()?;
        match spooled {
            None => return Ok(false),
            Some(Spooled::InMemory(bytes)) => copy(&bytes)?,
            Some(Spooled::InFile { map, checksum, .. }) => {
                let mut hash = Xxh3::new();
                for (start, piece) in (0..).step_by(PIECE_BYTES).zip(map.chunks(PIECE_BYTES)) {
                    self.check()?;
                    hash.update(piece);
                    copy(piece)?;
                    map.let_go(start..start + piece.len());
                }
                if hash.digest() != checksum {
                    let what = format!("the disk holds other bytes of {} than were written", name.display());
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
            }
        }
        Ok(true)
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
    /// Bytes that went to the file since it was said that much was written.
    new_bytes: usize,
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
        self.new_bytes += self.memory.len();
        self.memory.clear();
        if let (MUCH_BYTES.., Some(after_much)) = (self.new_bytes, &self.spools.after_much) {
            self.new_bytes = 0;
            after_much();
        }
        Ok(())
    }
}

impl io::Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.spools.check()?;
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
                let map = self.disk.map(&self.path).map_err(io::Error::other)?;
                Spooled::InFile { _removed: Arc::new(removed), map, checksum: hash.digest() }
            }
            None => Spooled::InMemory(OwnedBytes::new(std::mem::take(&mut self.memory))),
        };
        self.spools.written().insert(self.name.clone(), spooled);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn written(place: &Path, memory_bytes_max: usize) -> Spools {
        let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
        let spools = Spools::new(memory_bytes_max);
        let mut spool = spools.begin(&disk, place, Path::new("a.idx"));
        (0..9).for_each(|_| spool.write_all(b"abcd").unwrap());
        assert_eq!(spools.get(Path::new("a.idx")), None);
        spool.terminate().unwrap();
        spools
    }

    fn copied(spools: &Spools, name: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let has_it = spools.copy(name, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        assert!(has_it);
        Ok(bytes)
    }

    #[test]
    fn large_parts_are_copied_in_pieces_and_it_is_said_when_much_was_written() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let spools = Spools::new(1 << 20).calling(move || _ = counted.fetch_add(1, Ordering::Relaxed));
        let mut spool = spools.begin(&disk, place.path(), Path::new("a.pos"));
        let bytes: Vec<u8> = (0..251).cycle().take(2 * MUCH_BYTES + (4 << 20)).collect();
        bytes.chunks(9999).for_each(|piece| spool.write_all(piece).unwrap());
        spool.terminate().unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        assert!(copied(&spools, Path::new("a.pos")).unwrap() == bytes);
        assert!(!spools.copy(Path::new("a.idx"), |_| Ok(())).unwrap());
    }

    #[test]
    fn a_large_part_is_in_a_file_until_it_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        for memory_bytes_max in [0, 7, 1000] {
            let (spools, name) = (written(place.path(), memory_bytes_max), Path::new("a.idx"));
            let is_in_file = || place.path().join(name).exists();
            assert_eq!(is_in_file(), memory_bytes_max < 36);
            let bytes = spools.get(name).unwrap();
            assert_eq!(copied(&spools, name).unwrap(), b"abcd".repeat(9));
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
        let error = copied(&spools, name).unwrap_err();
        assert!(error.to_string().contains("a.idx"), "{error}");
    }

    #[test]
    fn nothing_is_written_or_copied_after_a_stop() {
        let place = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(disk::RealDisk);
        for memory_bytes_max in [7, 1000] {
            let cancel = Cancel::new();
            let spools = Spools::new(memory_bytes_max).stopped_by(&cancel).with_none_written();
            let (name, other) = (Path::new("a.idx"), Path::new("b.idx"));
            let [mut whole, mut half] = [name, other].map(|name| spools.begin(&disk, place.path(), name));
            (0..9).for_each(|_| whole.write_all(b"abcd").unwrap());
            whole.terminate().unwrap();
            half.write_all(b"abcd").unwrap();
            assert_eq!(copied(&spools, name).unwrap().len(), 36);
            cancel.cancel();
            assert!(half.write_all(b"abcd").is_err() && copied(&spools, name).is_err());
        }
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
