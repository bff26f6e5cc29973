//! A message without the fields in which mail programs note its state: read, answered, its labels, its size.
//!
//! Input: the bytes of a message, untrusted. Output: the bytes that count for whether two messages are the
//! same one in different states, and its Message-ID. Pure.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::header::block::{skip_envelope, split};
use crate::header::message_ids;

/// Fields that hold a state. Programs change them in their files after a message came.
const STATE: [&str; 12] = [
    "status",
    "x-status",
    "x-mozilla-status",
    "x-mozilla-status2",
    "x-mozilla-keys",
    "x-keywords",
    "x-gmail-labels",
    "x-uid",
    "x-imap",
    "x-imapbase",
    "content-length",
    "lines",
];

/// Calls `each` with the pieces of a message that are not its state, in order.
pub(super) fn without_state(bytes: &[u8], mut each: impl FnMut(&[u8])) {
    let body = split(skip_envelope(bytes)).body;
    let header = bytes.get(..bytes.len().saturating_sub(body.len())).unwrap_or(bytes);
    let mut is_state = false;
    for line in header.split_inclusive(|byte| *byte == b'\n') {
        // A line that begins with a space goes on with the field before.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            is_state = begins_state(line);
        }
        if !is_state {
            each(line);
        }
    }
    each(body);
}

fn begins_state(line: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', line) else { return false };
    let name = line.get(..colon).unwrap_or_default().trim_ascii_end();
    STATE.iter().any(|state| name.eq_ignore_ascii_case(state.as_bytes()))
}

/// Returns the Message-ID that the header at the beginning of `bytes` has.
pub fn own_message_id(bytes: &[u8]) -> Option<String> {
    split(skip_envelope(bytes)).first("message-id").and_then(message_ids::message_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_left_out_and_nothing_else() {
        for (message, expected) in [
            ("Subject: x\nStatus: RO\n\nStatus: RO\n", "Subject: x\n\nStatus: RO\n"),
            (
                "From a\nX-Mozilla-Status: 0001\r\nX-MOZILLA-KEYS : a\r\n b\r\n\tc\r\nTo: a\r\n b\r\n\r\nx",
                "From a\nTo: a\r\n b\r\n\r\nx",
            ),
            ("X-Status-Of: x\nStatusx: y\n\n", "X-Status-Of: x\nStatusx: y\n\n"),
            ("no header\nStatus: RO\n", "no header\n"),
            ("", ""),
        ] {
            let mut found = Vec::new();
            without_state(message.as_bytes(), |piece| found.extend_from_slice(piece));
            assert_eq!(String::from_utf8(found).unwrap(), expected, "{message}");
        }
        assert_eq!(own_message_id(b"From a\nMessage-ID: <a@b>\n\n").as_deref(), Some("a@b"));
        assert_eq!(own_message_id(b"Subject: x\n\nMessage-ID: <a@b>\n"), None);
    }
}
