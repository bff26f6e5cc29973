//! Limits how much of a large message is kept in memory.
//!
//! Input: contents, one by one. Output: whether each is kept. Does not know where they are in the message.

use std::borrow::Cow;

use crate::limits::{LARGE_TEXTS_BYTES_MAX, SMIME_BYTES_MAX};
use crate::mime::content_fields::ContentFields;
use crate::mime::parts::Body;
use crate::problem::{Problem, Problems};

/// What may still be kept of a message.
pub(super) struct MemoryBudget {
    /// Bytes of text.
    pub(super) text_bytes: usize,
    /// Bytes extracted from S/MIME.
    pub(super) smime_bytes: usize,
    /// Bytes in parts that are not in the message as stored.
    owned_bytes: usize,
}

impl MemoryBudget {
    /// Returns the budget of a message.
    pub(super) fn new() -> MemoryBudget {
        MemoryBudget {
            text_bytes: LARGE_TEXTS_BYTES_MAX,
            smime_bytes: SMIME_BYTES_MAX,
            owned_bytes: SMIME_BYTES_MAX,
        }
    }

    /// Returns whether a content is kept, and charges it: text is kept while there is room.
    pub(super) fn keeps(&mut self, content: &ContentFields, bytes: &[u8]) -> bool {
        let keeps = bytes.is_empty() || content.is_text() && bytes.len() <= self.text_bytes;
        if keeps {
            self.text_bytes = self.text_bytes.saturating_sub(bytes.len());
        }
        keeps
    }

    /// Returns a body, or an empty one if such bodies would take too much memory: bytes that are not in the
    /// message as stored cannot be read from it again.
    pub(super) fn bounded<'b>(&mut self, body: Body<'b>, problems: &mut Problems) -> Body<'b> {
        let length = match &body {
            Body::Multipart => 0,
            Body::Message { headers: bytes, .. } | Body::Smime { bytes, .. } | Body::Leaf(bytes) => {
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
            Body::Message { size_bytes, .. } => {
                Body::Message { headers: Cow::default(), size_bytes, whole: None }
            }
            Body::Smime { wrapping, .. } => Body::Smime { bytes: Cow::default(), wrapping },
            Body::Leaf(_) => Body::Leaf(Cow::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_left_out_and_told() {
        let (mut budget, mut problems) = (MemoryBudget::new(), Problems::default());
        let half = || Body::Leaf(Cow::Owned(vec![0; SMIME_BYTES_MAX / 2]));
        let length = |body: Body<'_>| match body {
            Body::Leaf(bytes) => bytes.len(),
            _ => 0,
        };
        assert_eq!(length(budget.bounded(half(), &mut problems)), SMIME_BYTES_MAX / 2);
        assert_eq!(length(budget.bounded(half(), &mut problems)), SMIME_BYTES_MAX / 2);
        assert!(!problems.is_cut());
        assert_eq!(length(budget.bounded(half(), &mut problems)), 0);
        assert!(problems.is_cut(), "it is a copy of nothing then");
        let text = ContentFields { mime: "text/plain".into(), ..ContentFields::default() };
        assert!(budget.keeps(&text, &[0; 10]) && !budget.keeps(&ContentFields::default(), &[0; 10]));
        budget.text_bytes = 9;
        assert!(!budget.keeps(&text, &[0; 10]) && budget.keeps(&text, &[]));
    }
}
