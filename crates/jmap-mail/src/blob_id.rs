//! The ids of blobs, and back.
//!
//! Input: a SHA-256 and numbers of parts, or a text. Output: the one for the other. A blob is a message (`B`
//! and its SHA-256), an upload (`U` and its SHA-256), or a part of one: then the number of the part follows,
//! after that the number of a part in this part, and so on. A blob has one id, and no other text is one. Must
//! not know where the bytes are; a fuzz target takes this file as it is.

use jmap::Id;
use printable::hex;

/// Digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

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

/// Reads a SHA-256 as [`hex`] writes it.
pub(crate) fn sha256(digits: &str) -> Option<[u8; 32]> {
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
        assert_eq!((0..100).fold(whole, |blob, _| blob.part(1)).id(), None);
    }

    #[test]
    fn only_the_text_of_an_id_is_one() {
        let digits = "0123456789abcdef".repeat(4);
        for wrong in ["B-1", "B{}-", "B{}-x", "B{}-01", "B{}--1", "B{}-+1", "B{}1", "M{}", "u{}", "{}", "-1"]
        {
            let wrong = Id::new(wrong.replace("{}", &digits).replace('+', "_")).unwrap();
            assert_eq!(BlobId::read(&wrong), None, "{wrong}");
        }
    }
}
