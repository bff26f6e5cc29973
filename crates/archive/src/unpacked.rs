//! Files that hold one JSON text: index files, snapshots, locks, and the config.
//!
//! Comes in: JSON, sealed with the repository's key and named by the SHA-256 of what is stored. Goes out: JSON, after both were verified.
//! Must not know what the JSON says.
//!
//! The content is a byte 2 and a zstd frame, or JSON as it is: in version 1, in the config, and wherever else it begins with a brace or
//! bracket (<https://restic.readthedocs.io/en/stable/100_references.html>, "Unpacked Data Format").

use crate::again::verified;
use crate::compress::{Compression, Zstd};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::key::Key;
use crate::lock::HeldLock;
use crate::storage::{FileKind, FileName, Storage};
use crate::surroundings::Surroundings;
use std::sync::Arc;

/// The versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Before restic 0.14: nothing is compressed.
    One,
    /// Everything can be compressed.
    Two,
}

/// What work on an opened repository needs; cheap to clone.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Where the files are.
    pub storage: Arc<dyn Storage>,
    /// What they are sealed with.
    pub key: Arc<Key>,
    /// Clock, random bytes, who is at work.
    pub surroundings: Surroundings,
    /// As the config says.
    pub version: Version,
}

/// What begins a compressed content.
const COMPRESSED: u8 = 2;
/// What an index file may hold, in bytes: restic's largest have 460,000 blobs of 165 bytes each at most.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// What a snapshot may: half a million paths, each with a hundred letters.
const SNAPSHOT_BYTES_MAX: u64 = 64 << 20;
/// What a lock may; they have some 200.
const LOCK_BYTES_MAX: u64 = 1 << 20;

/// Seals and stores JSON, and returns the file's id. What was sealed is opened and compared first.
///
/// # Errors
/// What the storage says; [`Error::Damage`] if this machine made a mistake.
pub fn save(parts: &Parts, kind: FileKind, json: &[u8]) -> Result<Id> {
    let (name, sealed) = seal(parts, kind, json)?;
    parts.storage.write(name, &sealed)?;
    Ok(name.id)
}

/// Saves as [`save`], as long as `lock` is held.
///
/// # Errors
/// As [`save`], or [`Error::LockLost`].
pub(crate) fn save_under(lock: &HeldLock, parts: &Parts, kind: FileKind, json: &[u8]) -> Result<Id> {
    let (name, sealed) = seal(parts, kind, json)?;
    parts.storage.write_while(name, &sealed, &|| lock.check())?;
    Ok(name.id)
}

/// Seals JSON, and returns the file's name and bytes.
///
/// # Errors
/// [`Error::Damage`] if this machine made a mistake.
pub(crate) fn seal(parts: &Parts, kind: FileKind, json: &[u8]) -> Result<(FileName, Vec<u8>)> {
    let mut content = Vec::new();
    if kind == FileKind::Config || parts.version == Version::One {
        content.extend_from_slice(json);
    } else {
        Zstd::new(Compression::Auto).compress(json, &mut content);
        content.insert(0, COMPRESSED);
    }
    let mut sealed = Vec::new();
    parts.key.seal(&parts.surroundings, &content, &mut sealed);
    let name = match kind {
        FileKind::Config => FileName::CONFIG,
        _ => FileName { kind, id: Id::of(&sealed) },
    };
    if decode(&parts.key, name, sealed.clone())? != json {
        return Err(Error::damage(
            name,
            "what was sealed is not what was meant: this machine makes mistakes",
        ));
    }
    Ok((name, sealed))
}

/// Reads a file, verifies it and returns its JSON. One that looks damaged is read again.
///
/// # Errors
/// [`Error::Missing`], [`Error::Damage`], or what the storage says.
pub fn load(storage: &dyn Storage, key: &Key, kind: FileKind, id: Id) -> Result<Vec<u8>> {
    let name = FileName { kind, id };
    verified(|| decode(key, name, storage.read(name)?))
}

/// Verifies a file's bytes and returns its JSON.
///
/// # Errors
/// [`Error::Damage`].
pub fn decode(key: &Key, name: FileName, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    verify_name(name, &bytes)?;
    let content = key.open(&mut bytes).map_err(|damaged| Error::damage(name, damaged.to_string()))?;
    match content {
        [] | [b'{' | b'[', ..] => Ok(content.to_vec()),
        [COMPRESSED, frame @ ..] if name.kind != FileKind::Config => {
            let mut json = Vec::new();
            let done = Zstd::default().decompress(frame, None, content_bytes_max(name.kind), &mut json);
            done.map_err(|what| Error::damage(name, what))?;
            Ok(json)
        }
        _ => Err(Error::damage(name, "its content is neither JSON nor compressed")),
    }
}

/// Returns how many bytes a file of this kind may hold once it is decompressed.
fn content_bytes_max(kind: FileKind) -> u64 {
    match kind {
        FileKind::Index => INDEX_BYTES_MAX,
        FileKind::Snapshot => SNAPSHOT_BYTES_MAX,
        FileKind::Config | FileKind::Key | FileKind::Lock | FileKind::Pack => LOCK_BYTES_MAX,
    }
}

/// Checks that a file is what its name says. The config has no such name.
pub(crate) fn verify_name(name: FileName, bytes: &[u8]) -> Result<()> {
    if name.kind != FileKind::Config && Id::of(bytes) != name.id {
        return Err(Error::damage(name, "its content does not belong to its name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MemoryStorage, surroundings};

    fn parts(version: Version) -> (Arc<MemoryStorage>, Parts) {
        let storage = MemoryStorage::new();
        let surroundings = surroundings();
        let key = Arc::new(Key::random(&surroundings));
        (storage.clone(), Parts { storage, key, surroundings, version })
    }

    /// Stores `content`, sealed, under the name it has then.
    fn put(parts: &Parts, storage: &MemoryStorage, kind: FileKind, content: &[u8]) -> Id {
        let mut sealed = Vec::new();
        parts.key.seal(&parts.surroundings, content, &mut sealed);
        let id = if kind == FileKind::Config { Id::default() } else { Id::of(&sealed) };
        storage.put(FileName { kind, id }, sealed);
        id
    }

    #[test]
    fn all_kinds_there_and_back_compressed_unless_the_version_or_the_kind_forbids() {
        let json = format!("{{\"text\":\"{}\"}}", "a".repeat(1000)).into_bytes();
        for version in [Version::One, Version::Two] {
            let (storage, parts) = parts(version);
            for kind in [FileKind::Config, FileKind::Snapshot, FileKind::Index, FileKind::Lock] {
                let id = save(&parts, kind, &json).unwrap();
                let size = storage.size(FileName { kind, id }).unwrap().unwrap();
                let is_compressed = size < 100;
                assert_eq!(
                    is_compressed,
                    version == Version::Two && kind != FileKind::Config,
                    "{kind:?} {size}"
                );
                assert_eq!(load(&*storage, &parts.key, kind, id).unwrap(), json);
                assert_eq!(id == FileName::CONFIG.id, kind == FileKind::Config);
            }
        }
    }

    #[test]
    fn content_that_is_not_compressed_is_read_too() {
        let (storage, parts) = parts(Version::Two);
        for content in ["{}", "[]", ""] {
            let id = put(&parts, &storage, FileKind::Index, content.as_bytes());
            assert_eq!(load(&*storage, &parts.key, FileKind::Index, id).unwrap(), content.as_bytes());
        }
    }

    #[test]
    fn damage_is_named() {
        let (storage, parts) = parts(Version::Two);
        let said = |kind, id| load(&*storage, &parts.key, kind, id).unwrap_err().to_string();
        for (content, what) in [
            (b"\x01{}".as_slice(), "its content is neither JSON nor compressed"),
            (b"\x02{}", "bytes cannot be decompressed: Unknown frame descriptor"),
        ] {
            let id = put(&parts, &storage, FileKind::Snapshot, content);
            let found = said(FileKind::Snapshot, id);
            assert!(found.starts_with(&format!("snapshots/{id} is damaged: {what}; ")), "{found}");
        }
        let mut compressed = Vec::new();
        Zstd::default().compress(b"{}", &mut compressed);
        compressed.insert(0, COMPRESSED);
        put(&parts, &storage, FileKind::Config, &compressed);
        assert_eq!(
            said(FileKind::Config, Id::default()),
            "config is damaged: its content is neither JSON nor compressed; put a copy of the file back"
        );
        storage.put(FileName::CONFIG, b"short".to_vec());
        assert_eq!(
            said(FileKind::Config, Id::default()),
            "config is damaged: too short for sealed content; put a copy of the file back"
        );
        let id = Id::of(b"elsewhere");
        storage.put(FileName { kind: FileKind::Lock, id }, b"anything".to_vec());
        assert_eq!(
            said(FileKind::Lock, id),
            format!("locks/{id} is damaged: its content does not belong to its name")
        );
        assert_eq!(said(FileKind::Index, id), format!("index/{id} is missing from memory"));
    }

    #[test]
    fn what_comes_damaged_once_is_read_again() {
        let (storage, parts) = parts(Version::Two);
        let id = save(&parts, FileKind::Snapshot, b"{}").unwrap();
        let name = FileName { kind: FileKind::Snapshot, id };
        let whole = storage.read(name).unwrap();
        storage.put(name, b"cut off".to_vec());
        storage.operations();
        // The second reading finds the file as it was.
        let (other, mut reads) = (Arc::clone(&storage), 0);
        storage.refuse(move |_| {
            reads += 1;
            if reads == 2 {
                other.put(name, whole.clone());
            }
            false
        });
        assert_eq!(load(&*storage, &parts.key, FileKind::Snapshot, id).unwrap(), b"{}");
        assert_eq!(storage.operations(), [format!("read {name}"), format!("read {name}")]);
    }

    #[test]
    fn another_key_opens_nothing() {
        let (storage, parts) = parts(Version::Two);
        let id = save(&parts, FileKind::Snapshot, b"{}").unwrap();
        let other = Key::random(&parts.surroundings);
        let said = load(&*storage, &other, FileKind::Snapshot, id).unwrap_err().to_string();
        assert!(said.starts_with(&format!("snapshots/{id} is damaged: its seal is broken; ")), "{said}");
    }

    #[test]
    fn a_refusal_of_the_storage_is_passed_on() {
        let (storage, parts) = parts(Version::Two);
        storage.refuse(|operation| operation.starts_with("write snapshots/"));
        assert!(matches!(save(&parts, FileKind::Snapshot, b"{}"), Err(Error::Storage { .. })));
        assert!(storage.ids(FileKind::Snapshot).is_empty());
    }
}
