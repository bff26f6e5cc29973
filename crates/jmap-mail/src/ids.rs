//! The ids of the account, of emails, blobs, threads and mailboxes, and back.
//!
//! Input: SHA-256, names of threads, ids of folders. Output: ids, which name contents and never paths. Those
//! of conversations are derived from what the index has now: one that is joined to another one gets another
//! id. A thread keeps its own for ever, and so does a folder that is renamed. A blob is a message (`B` and
//! its SHA-256), an upload (`U` and its SHA-256), or a part of one: then the number of the part follows,
//! after that the number of a part in this part, and so on. Must not know what a record has.

use jmap::Id;
use pneu::{Grouping, KeptFolder};
use printable::hex;

/// Digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

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

/// Where the bytes of a blob are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlobSource {
    /// In a message.
    Message([u8; 32]),
    /// In an upload.
    Upload([u8; 32]),
}

/// What the id of a blob names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlobId {
    /// The whole.
    pub(crate) source: BlobSource,
    /// The number of a part of it, the number of a part in that part, and so on; none for the whole.
    pub(crate) parts: Vec<usize>,
}

impl BlobId {
    /// Returns what names a whole message or upload.
    pub(crate) fn whole(source: BlobSource) -> BlobId {
        BlobId { source, parts: Vec::new() }
    }

    /// Returns what names a part of this blob.
    pub(crate) fn part(&self, number: usize) -> BlobId {
        let mut part = self.clone();
        part.parts.push(number);
        part
    }

    /// Returns the id; `None` if it would be longer than an id may be, of a part some thirty messages deep.
    pub(crate) fn id(&self) -> Option<Id> {
        let (letter, sha256) = match &self.source {
            BlobSource::Message(sha256) => ('B', sha256),
            BlobSource::Upload(sha256) => ('U', sha256),
        };
        let parts: String = self.parts.iter().map(|number| format!("-{number}")).collect();
        Id::new(format!("{letter}{}{parts}", hex(sha256)))
    }

    /// Reads an id, if it is that of a blob.
    pub(crate) fn read(id: &Id) -> Option<BlobId> {
        let mut pieces = id.as_str().split('-');
        let whole = pieces.next()?;
        let source = match whole.strip_prefix('B') {
            Some(digits) => BlobSource::Message(sha256(digits)?),
            None => BlobSource::Upload(sha256(whole.strip_prefix('U')?)?),
        };
        let parts = pieces.map(str::parse).collect::<Result<_, _>>().ok()?;
        let blob = BlobId { source, parts };
        (blob.id().as_ref() == Some(id)).then_some(blob)
    }
}

/// Returns the id of a message as a blob.
pub(crate) fn blob(sha256: &[u8; 32]) -> Id {
    id(format!("B{}", hex(sha256)))
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
        let whole = BlobId::whole(BlobSource::Message(content));
        let nested = BlobId::whole(BlobSource::Upload(content)).part(12).part(3);
        for (blob, expected) in [
            (&whole, format!("B{}", hex(&content))),
            (&whole.part(1), format!("B{}-1", hex(&content))),
            (&nested, format!("U{}-12-3", hex(&content))),
        ] {
            assert_eq!(blob.id().unwrap().as_str(), expected);
            assert_eq!(BlobId::read(&blob.id().unwrap()).as_ref(), Some(blob));
        }
        assert_eq!(whole.id(), Some(blob(&content)));
        assert_eq!((0..100).fold(whole, |blob, _| blob.part(1)).id(), None);
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
        let digits = "0123456789abcdef".repeat(4);
        for wrong in ["B-1", "B{}-", "B{}-x", "B{}-01", "B{}--1", "B{}-+1", "B{}1", "M{}", "u{}", "{}", "-1"]
        {
            assert_eq!(BlobId::read(&id(wrong.replace("{}", &digits).replace('+', "_"))), None, "{wrong}");
        }
        for wrong in ["T1", "T00000000000000A1", "T000000000000000000", "T"] {
            assert_eq!(group_name(&id(wrong.to_owned()), Grouping::Threads), None, "{wrong}");
        }
    }
}
