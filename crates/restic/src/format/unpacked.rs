//! Files that hold one JSON text: index files, snapshots, locks, and the config.
//!
//! Each file is sealed with the repository's key and named by the SHA-256 of its bytes; reading verifies
//! both. Does not depend on what the JSON says.
//!
//! The content is a byte 2 and a zstd frame, or plain JSON: in version 1, in the config, and wherever the
//! content begins with a brace or bracket (<https://restic.readthedocs.io/en/stable/100_references.html>,
//! "Unpacked Data Format").

use crate::crypto::key::Key;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::compress::{Compression, Zstd};
use crate::storage::Storage;
use crate::storage::reread::{verified, verify_name};
use crate::surroundings::Surroundings;
use std::sync::Arc;

/// The versions of the repository format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Written before restic 0.14: nothing is compressed.
    One,
    /// Everything can be compressed.
    Two,
}

/// What all work on an open repository needs; cheap to clone.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The storage.
    pub storage: Arc<dyn Storage>,
    /// The key.
    pub key: Arc<Key>,
    /// The clock, random bytes, and who is working.
    pub surroundings: Surroundings,
    /// The version in the config.
    pub version: Version,
}

/// The first byte of compressed content.
const COMPRESSED: u8 = 2;
/// Limit of an index file's JSON, in bytes: restic's largest have 460,000 blobs of 165 bytes each at most.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// Limit of a snapshot's JSON: half a million paths of a hundred letters.
const SNAPSHOT_BYTES_MAX: u64 = 64 << 20;
/// Limit of a lock's JSON; most have about 200 bytes.
const LOCK_BYTES_MAX: u64 = 1 << 20;

/// Seals and stores JSON, and returns the file's id. The sealed bytes are opened and compared first.
///
/// # Errors
/// Storage errors; [`Error::Damage`] if the sealed bytes cannot be opened again.
pub fn save(parts: &Parts, kind: FileKind, json: &[u8]) -> Result<Id> {
    let (name, sealed) = seal(parts, kind, json)?;
    parts.storage.write(name, &sealed)?;
    Ok(name.id)
}

/// Seals JSON, and returns the file's name and bytes.
///
/// # Errors
/// [`Error::Damage`] if the sealed bytes cannot be opened again.
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
            "it cannot be opened again as it was sealed: this machine has a hardware fault",
        ));
    }
    Ok((name, sealed))
}

/// Reads a file, verifies it and returns its JSON. One that looks damaged is read again.
///
/// # Errors
/// [`Error::Missing`], [`Error::Damage`], or a storage error.
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

/// Returns the limit of a decompressed file of this kind, in bytes.
fn content_bytes_max(kind: FileKind) -> u64 {
    match kind {
        FileKind::Index => INDEX_BYTES_MAX,
        FileKind::Snapshot => SNAPSHOT_BYTES_MAX,
        FileKind::Config | FileKind::Key | FileKind::Lock | FileKind::Pack => LOCK_BYTES_MAX,
    }
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
            format!("locks/{id} is damaged: its content does not match its name")
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
        assert!(said.starts_with(&format!("snapshots/{id} is damaged: its MAC is wrong; ")), "{said}");
    }

    #[test]
    fn a_refusal_of_the_storage_is_passed_on() {
        let (storage, parts) = parts(Version::Two);
        storage.refuse(|operation| operation.starts_with("write snapshots/"));
        assert!(matches!(save(&parts, FileKind::Snapshot, b"{}"), Err(Error::Storage { .. })));
        assert!(storage.ids(FileKind::Snapshot).is_empty());
    }
}
