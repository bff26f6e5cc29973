//! Decodes the content of a part.
//!
//! Input: bytes in their transfer encoding, and their content fields. Output: decoded bytes, their size, and
//! the name in them. Does not depend on messages.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::decode::transfer::decode_by_blocks;
use crate::decode::uuencode::Uudecoder;
use crate::mime::content_fields::ContentFields;

/// Returns the size of a decoded content, and the name in uuencoded content.
pub(super) fn read_size(encoded: &[u8], content: &ContentFields) -> (u64, Option<String>) {
    let mut size_bytes = 0_u64;
    let (_, name) = each_block(encoded, content, &mut |block| {
        size_bytes = size_bytes.saturating_add(u64::try_from(block.len()).unwrap_or(u64::MAX));
    });
    (size_bytes, name)
}

/// Passes a decoded content to `consume`. Returns whether its encoding was clean, and the name in uuencoded
/// content.
pub(super) fn each_block(
    encoded: &[u8],
    content: &ContentFields,
    consume: &mut dyn FnMut(&[u8]),
) -> (bool, Option<String>) {
    if !content.is_uuencoded {
        return (decode_by_blocks(encoded, content.transfer, &mut Vec::new(), consume), None);
    }
    let (mut decoder, mut decoded) = (Uudecoder::default(), Vec::new());
    decoder.decode(encoded, &mut decoded);
    let is_clean = decoder.end(&mut decoded);
    consume(&decoded);
    (is_clean, Some(decoder.name().to_owned()).filter(|name| !name.is_empty()))
}
