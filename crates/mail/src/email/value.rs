//! Gives out the content of a part, its text, and the first words of a message.
//!
//! Input: a message and one of its parts. Output: decoded bytes, or text (RFC 8621, 4.1.4, EmailBodyValue).
//! Does not depend on how the tree was built.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::body::part_text::{label, part_text};
use crate::decode::charset;
use crate::email::content::each_block;
use crate::email::part::BodyPart;
use crate::email::structure::Email;
use crate::problem::{Problem, Problems};
use crate::text::cut::cut_html;
use crate::text::snippet::snippet;

/// Bytes of text that the preview is chosen from.
const PREVIEW_BYTES: usize = 16 << 10;

/// The text of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyValue {
    /// The decoded text with LF for CRLF; of HTML its source, which must be sanitised before it is shown.
    pub value: String,
    /// Some of it could not be decoded, or its charset was guessed.
    pub is_encoding_problem: bool,
    /// The text is longer.
    pub is_truncated: bool,
}

impl Email<'_> {
    /// Returns the decoded content of a part.
    #[must_use]
    pub fn content(&self, part: &BodyPart) -> Vec<u8> {
        let mut decoded = Vec::new();
        self.each_block(part, &mut |block| decoded.extend_from_slice(block));
        decoded
    }

    /// Passes the decoded content of a part to `consume`, in blocks, and returns whether its encoding was
    /// clean.
    fn each_block(&self, part: &BodyPart, consume: &mut dyn FnMut(&[u8])) -> bool {
        let encoded = self.bytes.get(part.encoded.clone()).unwrap_or_default();
        each_block(encoded, &part.content, consume).0
    }

    /// Returns the text of a part, `bytes_max` bytes of it at most; `None` if its type is not text. No
    /// character is split, and HTML does not end within a tag.
    #[must_use]
    pub fn value(&self, part: &BodyPart, bytes_max: Option<usize>) -> Option<BodyValue> {
        if part.part_id.is_none() || !part.mime.starts_with("text/") {
            return None;
        }
        let mut decoded = Vec::new();
        let is_clean = self.each_block(part, &mut |block| decoded.extend_from_slice(block));
        let mut problems = Problems::default();
        let label = label(&part.content, &decoded);
        let text = charset::decode(&decoded, label.as_deref(), self.fallback, &mut problems);
        let mut value = text.replace("\r\n", "\n");
        let length =
            bytes_max.filter(|length| *length < value.len()).map(|length| match part.content.is_html() {
                true => cut_html(&value, length).len(),
                false => value.floor_char_boundary(length),
            });
        value.truncate(length.unwrap_or(value.len()));
        let is_guess = problems.into_list().iter().any(is_of_charset);
        let is_encoding_problem = part.is_transfer_unknown || !is_clean || is_guess;
        Some(BodyValue { value, is_encoding_problem, is_truncated: length.is_some() })
    }

    /// Returns the first words that the author wrote, or the first of any, `SNIPPET_CHARACTERS_MAX`
    /// characters at most.
    #[must_use]
    pub fn preview(&self) -> String {
        let of_list = |list: &[usize]| {
            let mut words = String::new();
            for part in list.iter().filter_map(|number| self.part(*number)) {
                if words.len() < PREVIEW_BYTES && part.mime.starts_with("text/") {
                    let wanted = (PREVIEW_BYTES, self.fallback);
                    let content = self.content(part);
                    words.push_str(&part_text(&part.content, &content, wanted, &mut Problems::default()));
                    words.push('\n');
                }
            }
            snippet(&words)
        };
        // A text that is only there for programs without HTML may be empty.
        [&self.text_body, &self.html_body]
            .into_iter()
            .map(|list| of_list(list))
            .find(|words| !words.is_empty())
            .unwrap_or_default()
    }
}

fn is_of_charset(problem: &Problem) -> bool {
    matches!(problem, Problem::CharsetUnknown(_) | Problem::CharsetUnsaid | Problem::CharsetWrong(_))
}
