//! The ids of the account, of emails, threads and mailboxes, and back.
//!
//! Input: SHA-256, names of threads, ids of folders. Output: ids, which name contents and never paths. Those
//! of conversations are derived from what the index has now: one that is joined to another one gets another
//! id. A thread keeps its own for ever, and so does a folder that is renamed. Those of blobs are in
//! `blob_id.rs`. Must not know what a record has.

use crate::blob_id::{BlobId, BlobSource, sha256};
use jmap::Id;
use pneu::{Grouping, KeptFolder};
use printable::hex;

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

/// Returns the id of a message as a blob.
pub(crate) fn blob(sha256: &[u8; 32]) -> Id {
    BlobId::whole(BlobSource::Message(*sha256)).id().expect("a whole message has a short id")
}

/// Returns the id of the thread with this name: the hash of the Message-ID of its head.
pub(crate) fn thread(name: u64) -> Id {
    group(name, Grouping::Threads)
}

/// Returns the id of the thread or conversation with this name: the hash of a Message-ID.
pub(crate) fn group(name: u64, grouping: Grouping) -> Id {
    let letter = letter(grouping);
    id(format!("{letter}{name:016x}"))
}

/// Returns the name of the thread or conversation that an id names, if it is that of one.
pub(crate) fn group_name(id: &Id, grouping: Grouping) -> Option<u64> {
    let digits = id.as_str().strip_prefix(letter(grouping))?;
    let name = u64::from_str_radix(digits, 16).ok()?;
    (group(name, grouping) == *id).then_some(name)
}

fn letter(grouping: Grouping) -> char {
    match grouping {
        Grouping::Threads => 'T',
        Grouping::Conversations => 'C',
    }
}

/// Returns the id of a folder.
pub(crate) fn mailbox(folder: &KeptFolder) -> Id {
    id(format!("F{}", hex(&folder.id)))
}

fn id(text: String) -> Id {
    Id::new(text).expect("letters and digits are an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back() {
        let content: [u8; 32] = std::array::from_fn(|place| u8::try_from(place * 7).unwrap());
        assert_eq!(email_content(&email(&content)), Some(content));
        assert_eq!(email_content(&blob(&content)), None);
        for name in [0, 1, 0xa1, u64::MAX] {
            for (grouping, other) in
                [(Grouping::Threads, Grouping::Conversations), (Grouping::Conversations, Grouping::Threads)]
            {
                let id = group(name, grouping);
                assert_eq!((group_name(&id, grouping), group_name(&id, other)), (Some(name), None));
            }
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
            assert_eq!(group_name(&id(wrong.to_owned()), Grouping::Threads), None, "{wrong}");
        }
    }
}
