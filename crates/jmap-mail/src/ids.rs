//! The ids of the account, of emails, blobs, threads and mailboxes, and back.
//!
//! Input: SHA-256, names of threads, folders. Output: ids, which name contents and never paths. Ids of
//! threads and mailboxes are derived from what the index has now: a thread that is joined to another one, and
//! a folder that is renamed, get another id. Must not know what a record has.

use jmap::Id;
use printable::hex;
use sha2::{Digest, Sha256};

/// Digits of a SHA-256.
const SHA256_DIGITS: usize = 64;
/// Bytes of the hash in the id of a mailbox.
const MAILBOX_BYTES: usize = 16;

/// Returns the id of the only account.
pub fn account_id() -> Id {
    id("mail".to_owned())
}

pub(crate) fn email(sha256: &[u8; 32]) -> Id {
    id(format!("M{}", hex(sha256)))
}

/// Returns the content that an id names, if it is that of an email.
pub(crate) fn email_content(id: &Id) -> Option<[u8; 32]> {
    sha256(id.as_str().strip_prefix('M')?)
}

pub(crate) fn blob(sha256: &[u8; 32]) -> Id {
    id(format!("B{}", hex(sha256)))
}

/// Returns the content that an id names, if it is that of a blob.
pub(crate) fn blob_content(id: &Id) -> Option<[u8; 32]> {
    sha256(id.as_str().strip_prefix('B')?)
}

/// Returns the id of the thread with this name: the hash of the Message-ID of its root.
pub(crate) fn thread(name: u64) -> Id {
    id(format!("T{name:016x}"))
}

/// Returns the name of the thread that an id names, if it is that of a thread.
pub(crate) fn thread_name(id: &Id) -> Option<u64> {
    let digits = id.as_str().strip_prefix('T')?;
    let name = u64::from_str_radix(digits, 16).ok()?;
    (thread(name) == *id).then_some(name)
}

/// Returns the id of the folder at a path below a root.
pub(crate) fn mailbox(root: &str, path: &[u8]) -> Id {
    let mut hash = Sha256::new();
    hash.update(root.as_bytes());
    hash.update([0]);
    hash.update(path);
    let hash = hash.finalize();
    id(format!("F{}", hex(hash.get(..MAILBOX_BYTES).unwrap_or_default())))
}

fn id(text: String) -> Id {
    Id::new(text).expect("letters and digits are an id")
}

/// Reads a SHA-256 as [`hex`] writes it.
fn sha256(digits: &str) -> Option<[u8; 32]> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digits.len() != SHA256_DIGITS || !digits.bytes().all(is_digit) {
        return None;
    }
    let mut sha256 = [0; 32];
    for (place, byte) in sha256.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back() {
        let content: [u8; 32] = std::array::from_fn(|place| u8::try_from(place * 7).unwrap());
        assert_eq!(email_content(&email(&content)), Some(content));
        assert_eq!(blob_content(&blob(&content)), Some(content));
        assert_eq!(email_content(&blob(&content)), None);
        for name in [0, 1, 0xa1, u64::MAX] {
            assert_eq!(thread_name(&thread(name)), Some(name));
        }
    }

    #[test]
    fn only_the_text_of_an_id_is_one() {
        let digits = "0123456789abcdef".repeat(4);
        assert!(email_content(&id(format!("M{digits}"))).is_some());
        for wrong in [format!("M{}", digits.to_uppercase()), format!("M{digits}0"), "M00".into(), digits] {
            assert_eq!(email_content(&id(wrong)), None);
        }
        for wrong in ["T1", "T00000000000000A1", "T000000000000000000", "T"] {
            assert_eq!(thread_name(&id(wrong.to_owned())), None, "{wrong}");
        }
    }

    #[test]
    fn the_root_and_the_path_of_a_folder_are_told_apart() {
        assert_ne!(mailbox("a", b"b/c"), mailbox("a/b", b"c"));
        assert_ne!(mailbox("ab", b"c"), mailbox("a", b"bc"));
        assert_eq!(mailbox("a", b"\xff").as_str().len(), 33);
    }
}
