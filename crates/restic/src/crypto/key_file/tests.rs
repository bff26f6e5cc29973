//! Key files: their own password opens them and no other does; a broken or too expensive one is refused by
//! name.

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
        assert_eq!(refused.to_string(), "wrong password: it opens no key in memory");
    }
}

#[test]
fn a_key_file_says_who_made_it_in_the_order_of_restic() {
    let storage = MemoryStorage::new();
    let (id, _) = create(&*storage, &surroundings(), &password("first"), Cost { n: 4, r: 2, p: 3 }).unwrap();
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
        ("[1}".to_owned(), "its content has an unexpected value at line 1, column 2"),
        (
            whole.replace("scrypt", "argon"),
            "it uses the key derivation function \"argon\", which this version does not support",
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
    assert_eq!(said, Error::damage(name(id), "its content does not match its name").to_string());
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
        (1 << 20, 8, 5),
        (2, 0, 1),
        (2, 1, 0),
    ] {
        let said = create(&*storage, &surroundings, &password(""), Cost { n, r, p }).unwrap_err().to_string();
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
    assert_eq!(said, "keys of memory: there are 21, but a password is tried on at most 20");
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
    let key = derive(&password("pleaseletmein"), b"SodiumChloride", Cost { n: 16_384, r: 8, p: 1 }).unwrap();
    let begin: String = key.bytes()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(begin, "7023bdcb3afd7348461c06cd81fd38eb");
}
