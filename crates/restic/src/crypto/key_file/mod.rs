//! Key files: the repository's key, each copy sealed with one password.
//!
//! Input: a password. Output: the key. Does not depend on where the password came from.
//!
//! A key file is plain JSON: who made it and when, the cost and salt of scrypt, and `data`, which is the key
//! as JSON, sealed with a key that scrypt derives from password and salt
//! (<https://restic.readthedocs.io/en/stable/100_references.html>, "Keys, Encryption and MAC"). The file's
//! name is the SHA-256 of the JSON. The 64 bytes from scrypt hold the AES-256 key, `k` and `r` in this
//! order, as in [`Key::from_bytes`].
#![deny(clippy::indexing_slicing)]

use crate::crypto::key::{Damaged, Key};
use crate::crypto::password::Password;
use crate::encoding::id::Id;
use crate::encoding::json::JsonWriter;
use crate::encoding::json::parse::json_fault;
use crate::encoding::time::Time;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::storage::Storage;
use crate::storage::reread::verified;
use crate::storage::reread::verify_name;
use crate::surroundings::Surroundings;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::borrow::Cow;
use zeroize::{Zeroize, Zeroizing};

/// The most keys that a password is tried on, as in restic: each costs memory and a good part of a second.
const KEY_COUNT_MAX: usize = 20;
/// restic refuses other salts.
const SALT_BYTES: usize = 64;
/// Memory limit of scrypt; restic uses 32 MiB by default, rustic 128.
const SCRYPT_BYTES_MAX: u64 = 1 << 30;
/// The most passes of scrypt over that memory.
const SCRYPT_ROUNDS_MAX: u32 = 64;
/// The most bytes that scrypt may process in all. This takes some ten seconds; restic chooses a cost of half
/// a second.
const SCRYPT_WORK_BYTES_MAX: u64 = 4 << 30;
const SCRYPT: &str = "scrypt";

/// The cost of trying a password. The default is restic's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in blocks: a power of two, above 1.
    pub n: u32,
    /// Size of a block, in units of 128 bytes.
    pub r: u32,
    /// Number of passes.
    pub p: u32,
}

impl Default for Cost {
    fn default() -> Cost {
        Cost { n: 1 << 15, r: 8, p: 1 }
    }
}

/// A key file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    /// When it was created; 1970 if unknown.
    pub created: Time,
    /// By which user.
    pub username: String,
    /// On which machine.
    pub hostname: String,
    /// The cost of trying a password.
    pub cost: Cost,
    salt: Vec<u8>,
    data: Vec<u8>,
}

/// Creates a key, seals it with a password and stores it. Returns the key file's id and the key.
///
/// # Errors
/// Storage errors; [`Error::Unsupported`] if `cost` is out of bounds.
pub fn create(
    storage: &dyn Storage,
    surroundings: &Surroundings,
    password: &Password,
    cost: Cost,
) -> Result<(Id, Key)> {
    let key = Key::random(surroundings);
    let id = add(storage, surroundings, &key, (password, cost))?;
    Ok((id, key))
}

/// Seals a key with another password and stores it. Returns the key file's id.
///
/// # Errors
/// Same as [`create`].
pub fn add(
    storage: &dyn Storage,
    surroundings: &Surroundings,
    key: &Key,
    (password, cost): (&Password, Cost),
) -> Result<Id> {
    let mut salt = vec![0; SALT_BYTES];
    (surroundings.fill_random)(&mut salt);
    let unusable = |what: String| Error::Unsupported { file: "a new key".to_owned(), what };
    let lock = derive(password, &salt, cost).map_err(unusable)?;
    let mut data = Vec::new();
    lock.seal(surroundings, &key_json(key), &mut data);
    let file = KeyFile {
        created: Time::from_ns(surroundings.context.now_ns(), 0),
        username: surroundings.username.clone(),
        hostname: surroundings.hostname.clone(),
        cost,
        salt,
        data,
    };
    let json = file.to_json();
    let name = FileName { kind: FileKind::Key, id: Id::of(&json) };
    let again = KeyFile::from_json(&json).map_err(|what| Error::damage(name, what))?;
    match again.open(&lock) {
        Ok(opened) if opened.bytes() == key.bytes() => (),
        _ => {
            return Err(Error::damage(
                name,
                "it cannot be opened again as it was sealed: this machine has a hardware fault",
            ));
        }
    }
    storage.write(name, &json)?;
    Ok(name.id)
}

/// Finds the key that the password opens. Skips damaged key files as long as another one may fit.
///
/// # Errors
/// [`Error::WrongPassword`]; [`Error::Damage`] or [`Error::Unsupported`] if no key fits and one of them could
/// not be tried; [`Error::NoKey`] if there is none at all, [`Error::NoRepository`] if there is no config
/// either; storage errors.
pub fn unlock(storage: &dyn Storage, password: &Password) -> Result<(Id, Key)> {
    let list =
        || -> Result<Vec<Id>> { Ok(storage.list(FileKind::Key)?.into_iter().map(|(id, _)| id).collect()) };
    let mut ids = list()?;
    // Nothing verifies a list, and that all keys are lost is not said of one alone.
    if ids.is_empty() {
        ids = list()?;
    }
    ids.sort_unstable();
    let address = || storage.address();
    if ids.is_empty() {
        return Err(match storage.size(FileName::CONFIG)? {
            None => Error::NoRepository { address: address() },
            Some(_) => Error::NoKey { address: address() },
        });
    }
    let mut untried = None;
    for &id in ids.iter().take(KEY_COUNT_MAX) {
        match unlock_one(storage, id, password) {
            Ok(Some(key)) => return Ok((id, key)),
            Ok(None) => (),
            Err(error @ (Error::Damage { .. } | Error::Unsupported { .. } | Error::Missing { .. })) => {
                untried.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    if ids.len() > KEY_COUNT_MAX {
        let what = format!("there are {}, but a password is tried on at most {KEY_COUNT_MAX}", ids.len());
        return Err(Error::Unsupported {
            file: format!("{} of {}", FileKind::Key.directory(), address()),
            what,
        });
    }
    Err(untried.unwrap_or_else(|| Error::WrongPassword { address: address() }))
}

/// Tries the password on one key; `None` if the key has another password.
fn unlock_one(storage: &dyn Storage, id: Id, password: &Password) -> Result<Option<Key>> {
    let name = FileName { kind: FileKind::Key, id };
    let json = verified(|| {
        let json = storage.read(name)?;
        verify_name(name, &json).map(|()| json)
    })?;
    let file = KeyFile::from_json(&json).map_err(|what| Error::damage(name, what))?;
    let unusable = |what: String| Error::Unsupported { file: name.to_string(), what };
    let lock = derive(password, &file.salt, file.cost).map_err(unusable)?;
    match file.open(&lock) {
        Ok(key) => Ok(Some(key)),
        Err(Unopened::Sealed(Damaged::Seal)) => Ok(None),
        Err(Unopened::Sealed(damaged)) => Err(Error::damage(name, damaged.to_string())),
        Err(Unopened::NoKey) => Err(Error::damage(name, "there is no key in it")),
    }
}

/// Why a key file gives no key.
enum Unopened {
    Sealed(Damaged),
    NoKey,
}

impl KeyFile {
    /// Reads a key file. An error is the rest of a sentence that says what is wrong.
    ///
    /// # Errors
    /// If something is missing or invalid.
    pub fn from_json(json: &[u8]) -> std::result::Result<KeyFile, String> {
        let raw: RawKeyFile<'_> = serde_json::from_slice(json).map_err(|error| json_fault(&error))?;
        if raw.kdf != SCRYPT {
            return Err(format!(
                "it uses the key derivation function {:?}, which this version does not support",
                raw.kdf
            ));
        }
        let salt = STANDARD.decode(raw.salt.as_ref()).map_err(|_| "its salt is not base64".to_owned())?;
        if salt.len() != SALT_BYTES {
            return Err(format!("its salt has {} bytes, not {SALT_BYTES}", salt.len()));
        }
        let data = STANDARD.decode(raw.data.as_ref()).map_err(|_| "its key is not base64".to_owned())?;
        let created = raw.created.map_or(Some(Time::default()), |text| Time::parse(text.as_bytes()));
        Ok(KeyFile {
            created: created.ok_or("its time is not RFC 3339")?,
            username: raw.username.unwrap_or_default(),
            hostname: raw.hostname.unwrap_or_default(),
            cost: Cost { n: raw.n, r: raw.r, p: raw.p },
            salt,
            data,
        })
    }

    /// Returns the key file as restic writes it.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut json = JsonWriter::new(&mut out);
        json.begin_object();
        json.field("created");
        json.time(&self.created);
        json.field("username");
        json.string(self.username.as_bytes());
        json.field("hostname");
        json.string(self.hostname.as_bytes());
        json.field("kdf");
        json.string(SCRYPT.as_bytes());
        for (name, number) in [("N", self.cost.n), ("r", self.cost.r), ("p", self.cost.p)] {
            json.field(name);
            json.number(u64::from(number));
        }
        for (name, bytes) in [("salt", &self.salt), ("data", &self.data)] {
            json.field(name);
            json.base64(bytes);
        }
        json.end_object();
        out
    }

    fn open(&self, lock: &Key) -> std::result::Result<Key, Unopened> {
        let mut data = Zeroizing::new(self.data.clone());
        let json = lock.open(&mut data).map_err(Unopened::Sealed)?;
        parse_key(json).ok_or(Unopened::NoKey)
    }
}

/// Derives the key that seals a key file from a password. An error says what is wrong with the cost, as the
/// rest of a sentence.
fn derive(password: &Password, salt: &[u8], cost: Cost) -> std::result::Result<Key, String> {
    let Cost { n, r, p } = cost;
    let refused = || format!("scrypt with N={n}, r={r}, p={p} is not possible here");
    let bytes = (u64::from(n) * u64::from(r)).checked_mul(128).filter(|&bytes| bytes <= SCRYPT_BYTES_MAX);
    let work = bytes.and_then(|bytes| bytes.checked_mul(p.into()));
    let is_small = p <= SCRYPT_ROUNDS_MAX && work.is_some_and(|bytes| bytes <= SCRYPT_WORK_BYTES_MAX);
    if !n.is_power_of_two() || n < 2 || !is_small {
        return Err(refused());
    }
    let log_n = u8::try_from(n.ilog2()).expect("a number of 32 bits has at most 31 behind its first");
    let parameters = scrypt::Params::new(log_n, r, p).map_err(|_| refused())?;
    let mut made = Zeroizing::new([0; Key::BYTES]);
    scrypt::scrypt(password.bytes(), salt, &parameters, made.as_mut()).expect("64 bytes are not too many");
    Key::from_bytes(made).ok_or_else(|| "scrypt made zeros".to_owned())
}

/// Returns the key as the JSON inside a key file.
fn key_json(key: &Key) -> Zeroizing<Vec<u8>> {
    // The capacity is large enough from the start: growing would leave parts of the key in freed memory.
    let mut out = Zeroizing::new(Vec::with_capacity(256));
    let (content, code) = key.bytes().split_at(32);
    let (k, r) = code.split_at(16);
    let mut json = JsonWriter::new(&mut out);
    json.begin_object();
    json.field("mac");
    json.begin_object();
    json.field("k");
    json.base64(k);
    json.field("r");
    json.base64(r);
    json.end_object();
    json.field("encrypt");
    json.base64(content);
    json.end_object();
    out
}

/// Reads what [`key_json`] writes.
fn parse_key(json: &[u8]) -> Option<Key> {
    let raw: RawKey<'_> = serde_json::from_slice(json).ok()?;
    let mut bytes = Zeroizing::new([0; Key::BYTES]);
    let (content, code) = bytes.split_at_mut(32);
    let (k, r) = code.split_at_mut(16);
    for (place, text) in [(content, &raw.encrypt), (k, &raw.mac.k), (r, &raw.mac.r)] {
        let mut decoded = Zeroizing::new(STANDARD.decode(text.as_ref()).ok()?);
        if decoded.len() != place.len() {
            return None;
        }
        place.copy_from_slice(&decoded);
        decoded.zeroize();
    }
    Key::from_bytes(bytes)
}

#[derive(Deserialize)]
struct RawKeyFile<'a> {
    #[serde(borrow)]
    created: Option<Cow<'a, str>>,
    username: Option<String>,
    hostname: Option<String>,
    #[serde(borrow)]
    kdf: Cow<'a, str>,
    #[serde(rename = "N")]
    n: u32,
    r: u32,
    p: u32,
    #[serde(borrow)]
    salt: Cow<'a, str>,
    #[serde(borrow)]
    data: Cow<'a, str>,
}

#[derive(Deserialize)]
struct RawKey<'a> {
    #[serde(borrow)]
    mac: RawCode<'a>,
    #[serde(borrow)]
    encrypt: Cow<'a, str>,
}

#[derive(Deserialize)]
struct RawCode<'a> {
    #[serde(borrow)]
    k: Cow<'a, str>,
    #[serde(borrow)]
    r: Cow<'a, str>,
}

#[cfg(test)]
mod tests;
