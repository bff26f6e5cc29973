//! Publish: the old file or the new one, never a mixture, and in which order the disk is asked.

use disk::{Disk, Error, File, Lock, Map, RealDisk, Result, Wait};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Passes everything on, keeps a list of it, and refuses the operation named.
#[derive(Debug)]
struct Wrapper {
    refuses: &'static str,
    calls: Arc<Mutex<Vec<&'static str>>>,
}

struct WrapperFile(Box<dyn File>, Wrapper);

impl Wrapper {
    fn refusing(refuses: &'static str) -> Wrapper {
        Wrapper { refuses, calls: Arc::default() }
    }

    fn called(&self, call: &'static str, path: &Path) -> Result<()> {
        self.calls.lock().unwrap().push(call);
        if call == self.refuses {
            return Err(Error::io(call, path, io::Error::from(io::ErrorKind::StorageFull)));
        }
        Ok(())
    }
}

impl Disk for Wrapper {
    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        RealDisk.list(directory)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        RealDisk.read(path)
    }

    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> Result<Vec<u8>> {
        RealDisk.read_range(path, offset, length_bytes)
    }

    fn size(&self, path: &Path) -> Result<u64> {
        RealDisk.size(path)
    }

    fn map(&self, path: &Path) -> Result<Map> {
        RealDisk.map(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn File>> {
        self.called("create", path)?;
        let wrapper = Wrapper { refuses: self.refuses, calls: Arc::clone(&self.calls) };
        Ok(Box::new(WrapperFile(RealDisk.create(path)?, wrapper)))
    }

    fn append(&self, path: &Path, length_bytes: u64) -> Result<Box<dyn File>> {
        RealDisk.append(path, length_bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.called("rename", from)?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.called("remove", path)?;
        RealDisk.remove(path)
    }

    fn create_directory(&self, directory: &Path) -> Result<()> {
        RealDisk.create_directory(directory)
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        self.called("sync", path)?;
        RealDisk.sync_file(path)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        self.called("sync directory", directory)?;
        RealDisk.sync_directory(directory)
    }

    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> Result<Lock> {
        RealDisk.lock(path, holder, wait)
    }

    fn share_lock(&self, path: &Path, wait: Wait) -> Result<Lock> {
        RealDisk.share_lock(path, wait)
    }
}

impl File for WrapperFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.1.called("write", &PathBuf::from("file"))?;
        self.0.write(bytes)
    }

    fn sync(&mut self) -> Result<()> {
        self.1.called("sync", &PathBuf::from("file"))?;
        self.0.sync()
    }
}

const STEPS: [&str; 6] = ["remove", "create", "write", "sync", "rename", "sync directory"];

#[test]
fn the_bytes_are_synced_before_the_rename_and_the_name_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let wrapper = Wrapper::refusing("nothing");
    disk::publish(&wrapper, directory.path(), "manifest", b"new").unwrap();
    assert_eq!(*wrapper.calls.lock().unwrap(), STEPS);
}

#[test]
fn whatever_is_refused_the_file_is_old_or_new_and_the_next_publish_works() {
    for step in STEPS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("manifest");
        disk::publish(&RealDisk, directory.path(), "manifest", b"old").unwrap();
        disk::publish(&Wrapper::refusing(step), directory.path(), "manifest", b"new").unwrap_err();
        let expected: &[u8] = if step == "sync directory" { b"new" } else { b"old" };
        assert_eq!(RealDisk.read(&path).unwrap(), expected, "{step} refused");
        disk::publish(&RealDisk, directory.path(), "manifest", b"newest").unwrap();
        assert_eq!(RealDisk.read(&path).unwrap(), b"newest", "after {step} refused");
        assert_eq!(RealDisk.list(directory.path()).unwrap(), ["manifest"], "after {step} refused");
    }
}

#[test]
fn write_new_replaces_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("segment");
    disk::write_new(&RealDisk, &path, b"first").unwrap();
    disk::write_new(&RealDisk, &path, b"second").unwrap_err();
    assert_eq!(RealDisk.read(&path).unwrap(), b"first");
}
