//! Keys, configs, snapshots and locks compared with restic's: with files that restic wrote, and with restic
//! itself where it is installed.

use disk::RealDisk;
use restic::config;
use restic::lock::{self, WhichLocks, acquire};
use restic::snapshot::{self, Summary};
use restic::testing::{MemoryStorage, surroundings};
use restic::unpacked;
use restic::{
    Config, Cost, Error, FileKind, FileName, Id, Key, KeyFile, LocalStorage, LockKind, Parts, Password,
    Snapshot,
};
use restic::{Storage, Time, Version, key_file};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The cheapest key.
const CHEAP: Cost = Cost { n: 2, r: 1, p: 1 };

fn password() -> Password {
    Password::new(b"pneumatic".to_vec())
}

/// The repositories that restic 0.19.1 wrote, each with a lock that restic held for a moment.
fn written_by_restic() -> [(Version, Arc<MemoryStorage>); 2] {
    [(Version::One, "restic-0.19.1-v1"), (Version::Two, "restic-0.19.1-v2")].map(|(version, name)| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/repositories").join(name);
        let local = LocalStorage::new(Arc::new(RealDisk), root);
        let storage = MemoryStorage::new();
        storage.put(FileName::CONFIG, local.read(FileName::CONFIG).unwrap());
        for kind in FileKind::MANY {
            for (id, _) in local.list(kind).unwrap() {
                let name = FileName { kind, id };
                storage.put(name, local.read(name).unwrap());
            }
        }
        (version, storage)
    })
}

fn parts(storage: Arc<dyn Storage>, key: Key, version: Version) -> Parts {
    Parts { storage, key: Arc::new(key), surroundings: surroundings(), version }
}

#[test]
fn files_of_restic_are_read_and_rewritten_byte_for_byte() {
    for (version, storage) in written_by_restic() {
        let (id, key) = key_file::unlock(&*storage, &password()).unwrap();
        let json = storage.read(FileName { kind: FileKind::Key, id }).unwrap();
        let file = KeyFile::from_json(&json).unwrap();
        assert_eq!((file.to_json(), file.hostname.as_str(), file.cost.n), (json, "vm", 32_768));

        let config = config::load(&*storage, &key).unwrap();
        assert_eq!(config.version, version);
        let json = unpacked::load(&*storage, &key, FileKind::Config, Id::default()).unwrap();
        assert_eq!(config.to_json(), json);

        for id in storage.ids(FileKind::Snapshot) {
            let json = unpacked::load(&*storage, &key, FileKind::Snapshot, id).unwrap();
            let again = Snapshot::from_json(&json).unwrap().to_json();
            assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(json).unwrap());
        }
        for id in storage.ids(FileKind::Index) {
            let json = unpacked::load(&*storage, &key, FileKind::Index, id).unwrap();
            assert!(json.starts_with(br#"{"packs":[{"id":""#), "{}", String::from_utf8_lossy(&json));
        }
    }
}

#[test]
fn snapshots_of_restic_have_its_options() {
    for (_, storage) in written_by_restic() {
        let (_, key) = key_file::unlock(&*storage, &password()).unwrap();
        let listed = snapshot::list(&*storage, &key, 2).unwrap();
        assert!(listed.unread.is_empty());
        let snapshots: Vec<&Snapshot> = listed.snapshots.iter().map(|(_, snapshot)| snapshot).collect();
        let [first, second, third] = snapshots[..] else { panic!("{} snapshots", snapshots.len()) };
        assert_eq!(first.time, Time::new(1_748_764_923, 0, 7200));
        assert_eq!(first.time.to_string(), "2025-06-01 10:02 +02:00");
        assert_eq!(first.paths, ["/letters/one <1> & \"two\".eml"]);
        assert_eq!(
            (&*first.hostname, &*first.username, &*first.program_version),
            ("tower", "root", "restic 0.19.1")
        );
        assert_eq!(
            (first.excludes.as_slice(), first.tags.as_slice()),
            (&["*.tmp".to_owned()][..], &["inbox".to_owned(), "a<b".to_owned()][..])
        );
        assert_eq!((first.uid, first.gid, first.original), (0, 0, None));
        let summary = first.summary.unwrap();
        assert_eq!((summary.files_new, summary.data_blobs, summary.total_bytes_processed), (1, 1, 56));
        assert!(second.original.is_some() && second.tags == ["kept"]);
        assert_eq!(third.paths, ["/x"]);
    }
}

#[test]
fn a_wrong_password_opens_no_repository_of_restic() {
    let [(_, storage), _] = written_by_restic();
    let refused = key_file::unlock(&*storage, &Password::new(b"Pneumatic".to_vec()));
    assert!(matches!(refused, Err(Error::WrongPassword { .. })));
}

#[test]
fn a_lock_of_restic_is_respected_until_it_is_removed() {
    for (version, storage) in written_by_restic() {
        let (_, key) = key_file::unlock(&*storage, &password()).unwrap();
        let parts = parts(storage.clone(), key, version);
        let now = |kind| acquire(&parts, kind, Duration::ZERO, &|_, _| Ok(()));
        now(LockKind::Shared).unwrap().release().unwrap();
        let said = now(LockKind::Exclusive).unwrap_err().to_string();
        assert!(said.starts_with("memory is locked by root on vm, process "), "{said}");
        assert!(said.contains(", since 2026-11-22 00:08 +01:00"), "{said}");
        assert_eq!(
            lock::unlock(&parts, WhichLocks::Stale).unwrap(),
            0,
            "it is of another machine, and young"
        );
        assert_eq!(lock::unlock(&parts, WhichLocks::All).unwrap(), 1);
        now(LockKind::Exclusive).unwrap();
    }
}

/// Creates a repository with this crate in `root`.
fn made(root: PathBuf, version: Version) -> (Parts, Config) {
    let storage = Arc::new(LocalStorage::new(Arc::new(RealDisk), root));
    config::refuse_existing(&*storage).unwrap();
    storage.create().unwrap();
    let (_, key) = key_file::create(&*storage, &surroundings(), &password(), CHEAP).unwrap();
    let parts = parts(storage, key, version);
    let config = config::create(&parts).unwrap();
    (parts, config)
}

#[test]
fn restic_reads_our_keys_configs_and_snapshots() {
    for version in [Version::One, Version::Two] {
        let directory = tempfile::tempdir().unwrap();
        let Some(restic) = testkit::restic(directory.path(), "repository", "pneumatic") else { return };
        let (parts, config) = made(directory.path().join("repository"), version);
        let found = restic.succeed(&["cat", "config"]);
        assert_eq!(Config::from_json(&found).unwrap(), config);
        let keys = String::from_utf8(restic.succeed(&["key", "list", "--json"])).unwrap();
        assert!(keys.contains(r#""userName":"ana""#) && keys.contains(r#""hostName":"tower""#), "{keys}");
        let ours = Snapshot {
            time: Time::new(1_795_255_320, 5, 3600),
            tree: Id([2; Id::BYTES]),
            paths: vec!["/home/ana/<Mail> \u{2028}".to_owned()],
            tags: vec!["x".to_owned()],
            uid: 5,
            summary: Some(Summary { files_new: 7, ..Summary::default() }),
            ..Snapshot::default()
        };
        let id = snapshot::save(&parts, &ours).unwrap();
        let theirs = restic.succeed(&["cat", "snapshot", &id.to_string()]);
        assert_eq!(Snapshot::from_json(&theirs).unwrap(), ours);
    }
}

#[test]
fn restic_respects_our_locks() {
    let directory = tempfile::tempdir().unwrap();
    let Some(restic) = testkit::restic(directory.path(), "repository", "pneumatic") else { return };
    let (parts, _) = made(directory.path().join("repository"), Version::Two);
    let now = |kind| acquire(&parts, kind, Duration::ZERO, &|_, _| Ok(())).unwrap();
    let shared = now(LockKind::Shared);
    restic.succeed(&["snapshots"]);
    let refused = restic.run(&["prune"]);
    // 11 means that the repository is locked. Older versions returned 1.
    assert!(matches!(refused.code, Some(11 | 1)), "{refused:?}");
    assert!(refused.stderr.contains("locked by PID 12 on tower by ana (UID 1000, GID 100)"), "{refused:?}");
    drop(shared);
    let exclusive = now(LockKind::Exclusive);
    let refused = restic.run(&["snapshots"]);
    assert!(
        refused.code != Some(0) && refused.stderr.contains("locked exclusively by PID 12"),
        "{refused:?}"
    );
    drop(exclusive);
    restic.succeed(&["prune"]);
    let left = now(LockKind::Shared);
    restic.succeed(&["unlock", "--remove-all"]);
    assert!(parts.storage.list(FileKind::Lock).unwrap().is_empty());
    left.release().unwrap();
}

#[test]
fn repositories_of_the_installed_restic_can_be_opened() {
    let directory = tempfile::tempdir().unwrap();
    let Some(restic) = testkit::restic(directory.path(), "repository", "pneumatic") else { return };
    restic.succeed(&["init"]);
    let storage = LocalStorage::new(Arc::new(RealDisk), directory.path().join("repository"));
    assert!(matches!(config::refuse_existing(&storage), Err(Error::Exists { .. })));
    let (_, key) = key_file::unlock(&storage, &password()).unwrap();
    assert_eq!(config::load(&storage, &key).unwrap().version, Version::Two);
    assert!(snapshot::list(&storage, &key, 2).unwrap().snapshots.is_empty());
}
