//! How much of a large message is kept in memory.
//!
//! Comes in: contents, one by one. Goes out: whether each is kept. Must not know where they lie.

use std::borrow::Cow;

use crate::content::ContentFields;
use crate::limits::{LARGE_TEXTS_BYTES_MAX, UNSEALED_BYTES_MAX};
use crate::parts::Body;
use crate::problem::{Problem, Problems};

/// What may still be kept of a message.
pub(super) struct Room {
    /// Bytes of text.
    pub(super) text_bytes: usize,
    /// Bytes that come out of S/MIME.
    pub(super) unsealed_bytes: usize,
    /// Bytes that parts hold which are not those of the message.
    owned_bytes: usize,
}

impl Room {
    /// Returns what a message may take.
    pub(super) fn new() -> Room {
        Room {
            text_bytes: LARGE_TEXTS_BYTES_MAX,
            unsealed_bytes: UNSEALED_BYTES_MAX,
            owned_bytes: UNSEALED_BYTES_MAX,
        }
    }

    /// Says whether a content is kept, and takes note of it: text is, as far as there is room.
    pub(super) fn keeps(&mut self, content: &ContentFields, bytes: &[u8]) -> bool {
        let keeps = bytes.is_empty() || content.is_text() && bytes.len() <= self.text_bytes;
        if keeps {
            self.text_bytes = self.text_bytes.saturating_sub(bytes.len());
        }
        keeps
    }

    /// Returns a body, or an empty one where such bodies would take too much memory: what is not in the
    /// message has no place to be read from again.
    pub(super) fn bounded<'b>(&mut self, body: Body<'b>, problems: &mut Problems) -> Body<'b> {
        let length = match &body {
            Body::Multipart => 0,
            Body::Message { headers: bytes, .. } | Body::Sealed { bytes, .. } | Body::Leaf(bytes) => {
                bytes.len()
            }
        };
        if length <= self.owned_bytes {
            self.owned_bytes = self.owned_bytes.saturating_sub(length);
            return body;
        }
        problems.add(Problem::PartsCut);
        match body {
            Body::Multipart => Body::Multipart,
            Body::Message { size_bytes, .. } => Body::Message { headers: Cow::default(), size_bytes },
            Body::Sealed { seal, .. } => Body::Sealed { bytes: Cow::default(), seal },
            Body::Leaf(_) => Body::Leaf(Cow::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_left_out_and_told() {
        let (mut room, mut problems) = (Room::new(), Problems::default());
        let half = || Body::Leaf(Cow::Owned(vec![0; UNSEALED_BYTES_MAX / 2]));
        let length = |body: Body<'_>| match body {
            Body::Leaf(bytes) => bytes.len(),
            _ => 0,
        };
        assert_eq!(length(room.bounded(half(), &mut problems)), UNSEALED_BYTES_MAX / 2);
        assert_eq!(length(room.bounded(half(), &mut problems)), UNSEALED_BYTES_MAX / 2);
        assert!(!problems.is_cut());
        assert_eq!(length(room.bounded(half(), &mut problems)), 0);
        assert!(problems.is_cut(), "it is a copy of nothing then");
        let text = ContentFields { mime: "text/plain".into(), ..ContentFields::default() };
        assert!(room.keeps(&text, &[0; 10]) && !room.keeps(&ContentFields::default(), &[0; 10]));
        room.text_bytes = 9;
        assert!(!room.keeps(&text, &[0; 10]) && room.keeps(&text, &[]));
    }
}
