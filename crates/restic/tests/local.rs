//! A repository's files in a directory. Written files can be read, files with other names are ignored, and no
//! crash loses acknowledged files.

use disk::RealDisk;
use restic::{Error, FileKind, FileName, Id, LocalStorage, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, Refusal, crash_at_every_operation, fail_at_every_operation};

const ROOT: &str = "/backup/repo";

/// Returns a file name that begins with `byte`.
fn name(kind: FileKind, byte: u8) -> FileName {
    let mut id = Id([7; Id::BYTES]);
    id.0[0] = byte;
    FileName { kind, id }
}

fn on(disk: &SimDisk) -> LocalStorage {
    LocalStorage::new(Arc::new(disk.clone()), PathBuf::from(ROOT))
}

/// Returns a directory that contains an empty repository.
fn real() -> (tempfile::TempDir, LocalStorage) {
    let directory = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(Arc::new(RealDisk), directory.path().join("repo"));
    storage.create().unwrap();
    (directory, storage)
}

#[test]
fn written_files_are_found() {
    let (directory, storage) = real();
    let mut expected = BTreeSet::new();
    for kind in FileKind::MANY {
        for byte in [0, 0xab, 0xff] {
            let bytes = vec![byte; usize::from(byte) + 3];
            storage.write(name(kind, byte), &bytes).unwrap();
            assert_eq!(storage.read(name(kind, byte)).unwrap(), bytes);
            assert_eq!(storage.read_range(name(kind, byte), 1, 2).unwrap(), [byte; 2]);
            assert_eq!(storage.size(name(kind, byte)).unwrap(), Some(bytes.len() as u64));
            expected.insert((kind, name(kind, byte).id, bytes.len() as u64));
        }
    }
    let list = |kind| storage.list(kind).unwrap().into_iter().map(move |(id, size)| (kind, id, size));
    assert_eq!(FileKind::MANY.into_iter().flat_map(list).collect::<BTreeSet<_>>(), expected);
    storage.create().unwrap();
    storage.write(FileName::CONFIG, b"config").unwrap();
    assert_eq!(storage.list(FileKind::Config).unwrap(), [(FileName::CONFIG.id, 6)]);
    let pack = directory.path().join("repo").join(name(FileKind::Pack, 0xab).path());
    assert!(pack.ends_with(format!("data/ab/ab{}", "07".repeat(31))), "{}", pack.display());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&pack), mode(pack.parent().unwrap())), (0o600, 0o700));
    storage.remove(name(FileKind::Pack, 0xab)).unwrap();
    storage.remove(name(FileKind::Pack, 0xab)).unwrap();
    assert_eq!(storage.size(name(FileKind::Pack, 0xab)).unwrap(), None);
    assert_eq!(storage.list(FileKind::Pack).unwrap().len(), 2);
}

#[test]
fn new_files_are_readable_by_the_group_that_may_read_the_config() {
    for (config, file, parent) in [(0o600, 0o600, 0o700), (0o440, 0o640, 0o2770)] {
        let (directory, storage) = real();
        storage.write(FileName::CONFIG, b"config").unwrap();
        let root = directory.path().join("repo");
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&root.join("config"), config);
        set(&root.join("data"), 0o2770);
        let storage = LocalStorage::new(Arc::new(RealDisk), root.clone());
        storage.write(name(FileKind::Pack, 0xab), b"pack").unwrap();
        let pack = root.join(name(FileKind::Pack, 0xab).path());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&pack), mode(pack.parent().unwrap())), (file, parent));
    }
}

#[test]
fn missing_files_are_reported() {
    let (directory, storage) = real();
    let pack = name(FileKind::Pack, 1);
    let address = directory.path().join("repo").display().to_string();
    let said = |result: restic::Result<Vec<u8>>| result.unwrap_err().to_string();
    assert_eq!(said(storage.read(pack)), format!("{pack} is missing from {address}"));
    assert_eq!(said(storage.read_range(pack, 0, 1)), format!("{pack} is missing from {address}"));
    let no_config = storage.read(FileName::CONFIG).unwrap_err();
    assert!(matches!(&no_config, Error::NoRepository { address: found } if *found == address), "{no_config}");
    assert_eq!((storage.size(pack).unwrap(), storage.list(FileKind::Config).unwrap()), (None, Vec::new()));
    storage.write(pack, b"0123456789").unwrap();
    let damaged = said(storage.read_range(pack, 8, 3));
    assert_eq!(damaged, format!("{address}/{pack} is damaged: it has 10 bytes, 11 expected"));
}

#[test]
fn files_with_other_names_are_ignored() {
    let (directory, storage) = real();
    storage.write(name(FileKind::Pack, 0xab), b"pack").unwrap();
    storage.write(name(FileKind::Key, 1), b"key").unwrap();
    let digits = name(FileKind::Pack, 0xab).id.to_string();
    let root = directory.path().join("repo");
    for odd in ["data/ab/README", "data/x", "keys/0-tmp-123", "keys/kept.new"] {
        std::fs::write(root.join(odd), b"odd").unwrap();
    }
    std::fs::write(root.join("data/ab").join(format!("{digits}-tmp-42")), b"odd").unwrap();
    std::fs::write(root.join("data").join(&digits), b"odd").unwrap();
    // No reader would look for it there.
    std::fs::create_dir(root.join("data/cd")).unwrap();
    std::fs::write(root.join("data/cd").join(&digits), b"odd").unwrap();
    std::fs::create_dir(root.join("keys").join(&digits)).unwrap();
    assert_eq!(storage.list(FileKind::Pack).unwrap(), [(name(FileKind::Pack, 0xab).id, 4)]);
    assert_eq!(storage.list(FileKind::Key).unwrap(), [(name(FileKind::Key, 1).id, 3)]);
}

#[test]
fn missing_directories_are_created_but_no_repository() {
    let (directory, storage) = real();
    let root = directory.path().join("repo");
    std::fs::remove_dir(root.join("locks")).unwrap();
    assert_eq!(storage.list(FileKind::Lock).unwrap(), []);
    storage.write(name(FileKind::Lock, 1), b"lock").unwrap();
    assert_eq!(storage.list(FileKind::Lock).unwrap().len(), 1);
    // An unmounted disk looks like one of these two.
    for place in [root.join("absent"), tempfile::tempdir_in(directory.path()).unwrap().keep()] {
        let storage = LocalStorage::new(Arc::new(RealDisk), place.clone());
        let error = storage.write(name(FileKind::Pack, 1), b"pack").unwrap_err();
        assert!(matches!(error, Error::NoRepository { .. }), "{error}");
        assert_eq!(std::fs::read_dir(&place).map_or(0, Iterator::count), 0);
    }
}

/// For each file that was to be written, whether the storage acknowledged it.
type Written = BTreeMap<FileName, bool>;

fn content(name: FileName) -> Vec<u8> {
    name.id.0.repeat(60)
}

fn write_all(disk: &SimDisk, written: &Acknowledged<Written>) -> restic::Result<()> {
    let storage = on(disk);
    storage.create()?;
    for (kind, byte) in [(FileKind::Key, 1), (FileKind::Pack, 2), (FileKind::Pack, 3)] {
        write(&storage, written, name(kind, byte))?;
    }
    write(&storage, written, FileName::CONFIG)?;
    // As another process would.
    write(&on(disk), written, FileName { kind: FileKind::Pack, id: Id([2; Id::BYTES]) })?;
    write(&on(disk), written, name(FileKind::Index, 4))
}

fn write(storage: &LocalStorage, written: &Acknowledged<Written>, name: FileName) -> restic::Result<()> {
    written.record(|written| written.insert(name, false));
    storage.write(name, &content(name))?;
    written.record(|written| written.insert(name, true));
    Ok(())
}

fn check_written(disk: &SimDisk, written: &Written) {
    let storage = on(disk);
    for (name, is_acknowledged) in written {
        match storage.read(*name) {
            Ok(bytes) => assert_eq!(bytes, content(*name), "{name}"),
            Err(Error::Missing { .. } | Error::NoRepository { .. }) => assert!(!is_acknowledged, "{name}"),
            Err(error) => panic!("{error}"),
        }
    }
    for kind in FileKind::MANY {
        for (id, size) in storage.list(kind).unwrap() {
            assert!(written.contains_key(&FileName { kind, id }) && size == 60 * 32, "{kind:?} {id} {size}");
        }
    }
}

#[test]
fn a_written_file_is_whole_and_durable_or_missing() {
    let disk = SimDisk::new(1);
    let runs = crash_at_every_operation(&disk, Written::new(), write_all, check_written);
    assert!(runs.operation_count > 40 && runs.checked_count > 100, "{runs:?}");
    let runs = fail_at_every_operation(&disk, Written::new(), write_all, check_written);
    assert!(runs.checked_count > 100, "{runs:?}");
}

#[test]
fn a_write_to_a_full_disk_leaves_no_file() {
    let disk = SimDisk::new(1);
    let storage = on(&disk);
    storage.create().unwrap();
    storage.write(name(FileKind::Pack, 1), b"pack").unwrap();
    // Fails after the leftover file was removed and the new one was created.
    disk.refuse_at(disk.operation_count() + 2, Refusal::Full);
    let pack = FileName { kind: FileKind::Pack, id: Id([1; Id::BYTES]) };
    let error = storage.write(pack, b"pack").unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot write {ROOT}/{pack}.new: ")), "{error}");
    assert_eq!(disk.files(), [Path::new(ROOT).join(name(FileKind::Pack, 1).path())]);
    storage.write(pack, b"pack").unwrap();
}

#[test]
fn no_crash_brings_back_files_that_name_removed_ones() {
    let disk = SimDisk::new(1);
    let storage = on(&disk);
    storage.create().unwrap();
    let chain = [FileKind::Snapshot, FileKind::Index, FileKind::Pack];
    for kind in chain {
        for byte in 1..=2 {
            storage.write(name(kind, byte), b"bytes").unwrap();
        }
    }
    let remove_all = move |disk: &SimDisk, _: &Acknowledged<()>| {
        let storage = on(disk);
        let mut all = chain.into_iter().flat_map(|kind| [name(kind, 1), name(kind, 2)]);
        all.try_for_each(|name| storage.remove(name))
    };
    let check = move |disk: &SimDisk, (): &()| {
        let counts = chain.map(|kind| on(disk).list(kind).unwrap().len());
        assert!(counts[0] == 0 || counts[1] == 2, "{counts:?}");
        assert!(counts[1] == 0 || counts[2] == 2, "{counts:?}");
    };
    let runs = crash_at_every_operation(&disk, (), remove_all, check);
    // Six removals, two syncs between kinds of files, and one sync for removals by other processes.
    assert_eq!(runs.operation_count, 9);
    fail_at_every_operation(&disk, (), remove_all, check);
}

#[test]
fn removing_locks_needs_no_sync() {
    let disk = SimDisk::new(1);
    let storage = on(&disk);
    storage.create().unwrap();
    let before = disk.operation_count();
    for kind in [FileKind::Snapshot, FileKind::Lock, FileKind::Snapshot, FileKind::Lock] {
        storage.remove(name(kind, 1)).unwrap();
    }
    // One sync of the index files, because other processes may have removed some.
    assert_eq!(disk.operation_count() - before, 5, "{:?}", disk.trace().split_off(before));
}
