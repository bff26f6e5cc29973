//! The files that hold a repository's key, each sealed with one password.
//!
//! Comes in: a password. Goes out: the key. Must not know where the password came from.
//!
//! A key file is plain JSON: who made it and when, the cost of scrypt and its salt, and `data`: the key as JSON, sealed with what scrypt
//! makes of password and salt (<https://restic.readthedocs.io/en/stable/100_references.html>, "Keys, Encryption and MAC"). Its name is
//! the SHA-256 of the JSON. The key's own 64 bytes come in the order of AES-256, `k`, `r`, from scrypt as in [`Key::from_bytes`].
#![deny(clippy::indexing_slicing)]

use crate::error::{Error, Result};
use crate::id::Id;
use crate::json::JsonWriter;
use crate::key::{Damaged, Key};
use crate::password::Password;
use crate::storage::{FileKind, FileName, Storage};
use crate::surroundings::Surroundings;
use crate::time::Time;
use crate::unpacked::verify_name;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::borrow::Cow;
use zeroize::{Zeroize, Zeroizing};

/// How many keys a password is tried on, as in restic: each costs memory and a good part of a second.
const KEY_COUNT_MAX: usize = 20;
/// restic refuses other salts.
const SALT_BYTES: usize = 64;
/// What scrypt may take; restic uses 32 MiB by default, rustic 128.
const SCRYPT_BYTES_MAX: u64 = 1 << 30;
/// How often scrypt may go through that memory.
const SCRYPT_ROUNDS_MAX: u32 = 64;
const SCRYPT: &str = "scrypt";

/// What it costs to try a password. Its default is that of restic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How much memory, in blocks: a power of two, over 1.
    pub n: u32,
    /// How large a block is, in 128 bytes.
    pub r: u32,
    /// How often.
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
    /// When it was made; 1970 if that is not said.
    pub created: Time,
    /// By which user.
    pub username: String,
    /// On which machine.
    pub hostname: String,
    /// What it costs to try a password.
    pub cost: Cost,
    salt: Vec<u8>,
    data: Vec<u8>,
}

/// Makes a new key, seals it with a password and stores it. Returns its file's name, too.
///
/// # Errors
/// What the storage says; [`Error::Unsupported`] if `cost` is out of bounds.
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

/// Seals a key with one more password and stores that. Returns the file's name.
///
/// # Errors
/// As [`create`].
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
        created: Time::from_ns((surroundings.clock_ns)(), 0),
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
                "what was sealed is not what was meant: this machine makes mistakes",
            ));
        }
    }
    storage.write(name, &json)?;
    Ok(name.id)
}

/// Finds the key that the password opens. A damaged key file is passed over while another one may fit.
///
/// # Errors
/// [`Error::WrongPassword`]; [`Error::Damage`] or [`Error::Unsupported`] if no key fits and one of them could not be tried;
/// [`Error::NoKey`] if there is none at all, [`Error::NoRepository`] if there is no config either; what the storage says.
pub fn unlock(storage: &dyn Storage, password: &Password) -> Result<(Id, Key)> {
    let mut ids: Vec<Id> = storage.list(FileKind::Key)?.into_iter().map(|(id, _)| id).collect();
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
        let what = format!("there are {}, and the password is tried on {KEY_COUNT_MAX} at most", ids.len());
        return Err(Error::Unsupported {
            file: format!("{} of {}", FileKind::Key.directory(), address()),
            what,
        });
    }
    Err(untried.unwrap_or_else(|| Error::WrongPassword { address: address() }))
}

/// Tries the password on one key; `None` if it is for another password.
fn unlock_one(storage: &dyn Storage, id: Id, password: &Password) -> Result<Option<Key>> {
    let name = FileName { kind: FileKind::Key, id };
    let mut json = storage.read(name)?;
    if verify_name(name, &json).is_err() {
        json = storage.read(name)?;
        verify_name(name, &json)?;
    }
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
    /// Reads a key file. An error says what is wrong, as the rest of a sentence.
    ///
    /// # Errors
    /// What is missing or not as it should be.
    pub fn from_json(json: &[u8]) -> std::result::Result<KeyFile, String> {
        let raw: RawKeyFile<'_> = serde_json::from_slice(json).map_err(|error| place(&error))?;
        if raw.kdf != SCRYPT {
            return Err(format!(
                "its password goes through {:?}, which nobody but restic's future knows",
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

/// Makes of a password what a key is sealed with. An error says what is wrong with the cost, as the rest of a sentence.
fn derive(password: &Password, salt: &[u8], cost: Cost) -> std::result::Result<Key, String> {
    let Cost { n, r, p } = cost;
    let refused = || format!("scrypt with N={n}, r={r}, p={p} is not possible here");
    let is_small =
        (u64::from(n) * u64::from(r)).checked_mul(128).is_some_and(|bytes| bytes <= SCRYPT_BYTES_MAX);
    if !n.is_power_of_two() || n < 2 || !is_small || p > SCRYPT_ROUNDS_MAX {
        return Err(refused());
    }
    let log_n = u8::try_from(n.ilog2()).expect("a number of 32 bits has at most 31 behind its first");
    let parameters = scrypt::Params::new(log_n, r, p).map_err(|_| refused())?;
    let mut made = Zeroizing::new([0; Key::BYTES]);
    scrypt::scrypt(password.bytes(), salt, &parameters, made.as_mut()).expect("64 bytes are not too many");
    Key::from_bytes(made).ok_or_else(|| "scrypt made zeros".to_owned())
}

/// Returns the key as it stands within a key file.
fn key_json(key: &Key) -> Zeroizing<Vec<u8>> {
    // Long enough from the beginning, so that nothing of it stays where it was too short.
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

/// Says where JSON is not as it should be, and nothing of what stands there.
pub(crate) fn place(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    let what = match error.classify() {
        Category::Eof => "ends too early",
        Category::Data => "is not what belongs there",
        Category::Syntax | Category::Io => "is no JSON",
    };
    format!("its content {what} at line {}, column {}", error.line(), error.column())
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
mod tests {
    use super::*;
    use crate::testing::{MemoryStorage, surroundings};

    const CHEAP: Cost = Cost { n: 2, r: 1, p: 1 };

    fn password(text: &str) -> Password {
        Password::new(text.as_bytes().to_vec())
    }

    fn name(id: Id) -> FileName {
        FileName { kind: FileKind::Key, id }
    }

    /// Stores a key file under the name that it has then.
    fn put(storage: &MemoryStorage, json: &str) -> Id {
        let id = Id::of(json.as_bytes());
        storage.put(name(id), json.as_bytes().to_vec());
        id
    }

    #[test]
    fn the_password_opens_what_it_sealed_and_no_other_does() {
        let storage = MemoryStorage::new();
        let made: Vec<(Id, Key)> = ["first", "second", "third"]
            .map(|text| create(&*storage, &surroundings(), &password(text), CHEAP).unwrap())
            .into();
        for (text, (id, key)) in ["first", "second", "third"].iter().zip(&made) {
            let (found, opened) = unlock(&*storage, &password(text)).unwrap();
            assert_eq!((found, opened.bytes()), (*id, key.bytes()));
        }
        assert_ne!(made[0].1.bytes(), made[1].1.bytes());
        for wrong in ["fourth", "", "first\n"] {
            let refused = unlock(&*storage, &password(wrong)).unwrap_err();
            assert_eq!(refused.to_string(), "wrong password, or no key in memory is for it");
        }
    }

    #[test]
    fn a_key_file_says_who_made_it_in_the_order_of_restic() {
        let storage = MemoryStorage::new();
        let (id, _) =
            create(&*storage, &surroundings(), &password("first"), Cost { n: 4, r: 2, p: 3 }).unwrap();
        let json = storage.read(name(id)).unwrap();
        assert_eq!(Id::of(&json), id);
        let text = String::from_utf8(json.clone()).unwrap();
        let begin = r#"{"created":"2026-11-21T10:02:00Z","username":"ana","hostname":"tower","kdf":"scrypt","N":4,"r":2,"p":3,"salt":""#;
        assert!(text.starts_with(begin), "{text}");
        assert_eq!(KeyFile::from_json(&json).unwrap().to_json(), json);
    }

    #[test]
    fn an_empty_place_is_no_repository() {
        let storage = MemoryStorage::new();
        assert!(matches!(unlock(&*storage, &password("")), Err(Error::NoRepository { .. })));
        storage.put(FileName::CONFIG, b"there".to_vec());
        assert!(matches!(unlock(&*storage, &password("")), Err(Error::NoKey { .. })));
    }

    #[test]
    fn a_broken_key_file_is_named_unless_another_one_fits() {
        let (storage, surroundings) = (MemoryStorage::new(), surroundings());
        let (id, _) = create(&*storage, &surroundings, &password("first"), CHEAP).unwrap();
        let whole = String::from_utf8(storage.read(name(id)).unwrap()).unwrap();
        let data = whole.split('"').nth_back(1).unwrap().to_owned();
        let salt = whole.split('"').nth_back(5).unwrap().to_owned();
        let cases = [
            ("{\"".to_owned(), "its content ends too early at line 1, column 2"),
            ("[1}".to_owned(), "its content is not what belongs there at line 1, column 2"),
            (
                whole.replace("scrypt", "argon"),
                "its password goes through \"argon\", which nobody but restic's future knows",
            ),
            (whole.replace(&salt, "AAAA"), "its salt has 3 bytes, not 64"),
            (whole.replace(&salt, "?"), "its salt is not base64"),
            (whole.replace(&data, "?"), "its key is not base64"),
            (whole.replace(&data, "AAAA"), "too short for sealed content"),
            (whole.replace("2026-11", "never"), "its time is not RFC 3339"),
        ];
        for (json, what) in cases {
            assert_ne!(json, whole);
            let broken = put(&storage, &json);
            assert!(unlock(&*storage, &password("first")).is_ok(), "{what}");
            let said = unlock(&*storage, &password("second")).unwrap_err().to_string();
            assert_eq!(said, Error::damage(name(broken), what).to_string());
            storage.take(name(broken));
        }
        storage.put(name(id), b"{}".to_vec());
        let said = unlock(&*storage, &password("first")).unwrap_err().to_string();
        assert_eq!(said, Error::damage(name(id), "its content does not belong to its name").to_string());
    }

    #[test]
    fn a_key_file_without_a_key_in_it_is_damaged() {
        let (storage, surroundings) = (MemoryStorage::new(), surroundings());
        let salt = vec![1; SALT_BYTES];
        let lock = derive(&password("first"), &salt, CHEAP).unwrap();
        let ones = STANDARD.encode([1; 16]);
        let zeros = STANDARD.encode([0; 32]);
        for plain in [
            "{}".to_owned(),
            format!(r#"{{"mac":{{"k":"{ones}","r":"{ones}"}},"encrypt":"{ones}"}}"#),
            format!(r#"{{"mac":{{"k":"{ones}","r":"{ones}"}},"encrypt":"{zeros}"}}"#),
        ] {
            let mut data = Vec::new();
            lock.seal(&surroundings, plain.as_bytes(), &mut data);
            let (created, hostname, username) = (Time::default(), String::new(), String::new());
            let file = KeyFile { created, username, hostname, cost: CHEAP, salt: salt.clone(), data };
            let id = put(&storage, std::str::from_utf8(&file.to_json()).unwrap());
            let said = unlock(&*storage, &password("first")).unwrap_err().to_string();
            assert_eq!(said, Error::damage(name(id), "there is no key in it").to_string());
            storage.take(name(id));
        }
    }

    #[test]
    fn what_would_take_too_much_is_refused_before_memory_is_taken() {
        let (storage, surroundings) = (MemoryStorage::new(), surroundings());
        for (n, r, p) in [
            (0, 8, 1),
            (1, 8, 1),
            (3, 8, 1),
            (1 << 31, 8, 1),
            (1 << 15, 1 << 31, 1),
            (2, 1, 65),
            (2, 0, 1),
            (2, 1, 0),
        ] {
            let said =
                create(&*storage, &surroundings, &password(""), Cost { n, r, p }).unwrap_err().to_string();
            assert_eq!(said, format!("a new key: scrypt with N={n}, r={r}, p={p} is not possible here"));
        }
        let (id, _) = create(&*storage, &surroundings, &password("first"), CHEAP).unwrap();
        let json = String::from_utf8(storage.read(name(id)).unwrap()).unwrap();
        storage.take(name(id));
        let id = put(&storage, &json.replace("\"N\":2", "\"N\":1073741824"));
        let said = unlock(&*storage, &password("first")).unwrap_err().to_string();
        assert_eq!(said, format!("{}: scrypt with N=1073741824, r=1, p=1 is not possible here", name(id)));
    }

    #[test]
    fn a_password_is_tried_on_twenty_keys() {
        let (storage, surroundings) = (MemoryStorage::new(), surroundings());
        for _ in 0..KEY_COUNT_MAX {
            create(&*storage, &surroundings, &password("first"), CHEAP).unwrap();
        }
        assert!(matches!(unlock(&*storage, &password("second")), Err(Error::WrongPassword { .. })));
        create(&*storage, &surroundings, &password("first"), CHEAP).unwrap();
        storage.operations();
        let said = unlock(&*storage, &password("second")).unwrap_err().to_string();
        assert_eq!(said, "keys of memory: there are 21, and the password is tried on 20 at most");
        assert_eq!(storage.operations().iter().filter(|operation| operation.starts_with("read")).count(), 20);
    }

    /// RFC 7914, section 12.
    #[test]
    fn no_cost_is_too_large_to_be_refused() {
        let cost = Cost { n: 1 << 31, r: 1 << 31, p: 1 };
        let refused = derive(&password("geheim"), &[7; SALT_BYTES], cost).unwrap_err();
        assert_eq!(refused, "scrypt with N=2147483648, r=2147483648, p=1 is not possible here");
    }

    #[test]
    fn scrypt_is_scrypt() {
        let key =
            derive(&password("pleaseletmein"), b"SodiumChloride", Cost { n: 16_384, r: 8, p: 1 }).unwrap();
        let begin: String = key.bytes()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(begin, "7023bdcb3afd7348461c06cd81fd38eb");
    }
}
