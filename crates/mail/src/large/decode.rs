//! Decodes a content in a window.
//!
//! Input: a window and a range. Output: decoded blocks, and whether they were clean, with the same results as
//! `transfer.rs` in memory. Does not depend on parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::window::Window;
use crate::bytes::{after, before};
use crate::decode::base64::Base64Decoder;
use crate::decode::transfer::{Transfer, decode_quoted_printable};
use std::io;
use std::ops::Range;

/// Bytes read ahead to find a footer after base64.
const FOOTER_BYTES_MAX: usize = 1 << 20;
/// Blanks and `=` at the end of quoted-printable bytes that are held back until their meaning is certain.
const OPEN_BYTES_MAX: usize = 1 << 20;

/// Passes the decoded content of a range to `consume`, and returns whether it was clean. Passes nothing if
/// the window cannot go back to it.
pub(super) fn each_block(
    window: &mut Window<'_>,
    range: &Range<u64>,
    transfer: Transfer,
    consume: &mut dyn FnMut(&[u8]),
) -> io::Result<bool> {
    if !window.seek(range.start)? {
        return Ok(false);
    }
    match transfer {
        Transfer::Identity => identity(window, range.end, consume).map(|()| true),
        Transfer::Base64 => base64(window, range.end, consume),
        Transfer::QuotedPrintable => quoted_printable(window, range.end, consume),
    }
}

/// Returns the bytes ahead before `end`, at least `wanted` if there are that many, and whether they are all.
fn ahead<'w>(window: &'w mut Window<'_>, end: u64, wanted: usize) -> io::Result<(&'w [u8], bool)> {
    let left = usize::try_from(end.saturating_sub(window.position())).unwrap_or(usize::MAX);
    window.fill(wanted.min(left))?;
    let is_end = window.ahead().len() >= left || window.is_over();
    Ok((before(window.ahead(), left), is_end))
}

fn identity(window: &mut Window<'_>, end: u64, consume: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    loop {
        let (bytes, is_end) = ahead(window, end, 1)?;
        consume(bytes);
        let count = bytes.len();
        window.advance(count);
        if is_end {
            return Ok(());
        }
    }
}

fn base64(window: &mut Window<'_>, end: u64, consume: &mut dyn FnMut(&[u8])) -> io::Result<bool> {
    let (mut decoder, mut block) = (Base64Decoder::default(), Vec::new());
    loop {
        let (bytes, mut is_end) = ahead(window, end, 1)?;
        let length = bytes.len();
        let mut following = 0;
        if memchr::memchr(b'=', bytes).is_some() {
            // The bytes after the padding tell whether this is the end.
            let (bytes, _) = ahead(window, end, length.saturating_add(FOOTER_BYTES_MAX))?;
            following = bytes.len().saturating_sub(length);
            is_end = is_end && following == 0;
        }
        let bytes = before(window.ahead(), length.saturating_add(following));
        decoder.decode(before(bytes, length), after(bytes, length), &mut block);
        if is_end {
            decoder.flush(&mut block);
        }
        consume(&block);
        block.clear();
        window.advance(length);
        if is_end {
            return Ok(!decoder.is_damaged);
        }
    }
}

fn quoted_printable(window: &mut Window<'_>, end: u64, consume: &mut dyn FnMut(&[u8])) -> io::Result<bool> {
    let (mut is_clean, mut block) = (true, Vec::new());
    let mut wanted = 1;
    loop {
        let (bytes, is_end) = ahead(window, end, wanted)?;
        let certain = if is_end { bytes.len() } else { certain_length(bytes) };
        let open = bytes.len().saturating_sub(certain);
        // Bytes of uncertain meaning need more input.
        wanted = open.saturating_add(1);
        let certain = if open > OPEN_BYTES_MAX { bytes.len() } else { certain };
        is_clean &= decode_quoted_printable(before(bytes, certain), &mut block);
        consume(&block);
        block.clear();
        window.advance(certain);
        if is_end {
            return Ok(is_clean);
        }
    }
}

/// Returns how many quoted-printable bytes can be decoded independently of what follows: everything before a
/// last `=` that may continue, and before another `=` that would then be the last.
fn certain_length(bytes: &[u8]) -> usize {
    let mut certain = bytes;
    while let Some(last) = memchr::memrchr(b'=', certain) {
        let rest = after(certain, last.saturating_add(1));
        let is_open = rest.len() < 2 || rest.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        if !is_open {
            break;
        }
        certain = before(certain, last);
    }
    certain.len()
}

#[cfg(test)]
mod tests {
    use super::super::source::{Source, Storage};
    use super::super::window::{WINDOW_LIMITS, WindowLimits};
    use super::*;
    use crate::decode::transfer::decode;
    use crate::maildir::compression::Compression;

    #[test]
    fn windows_of_all_sizes_give_what_the_whole_gives() {
        let texts = [
            "caf=c3=A9 = \t\r\nx=\n=3d==3D=zz =",
            "a=  x= \n",
            "QUJD\r\nQU JD\nRA==",
            "QUI=\nQUI=\n",
            "QUI=\n\n-- \nfooter: no base64\n",
            "QU",
            "",
        ];
        for text in texts {
            let inside = format!("before{text}after");
            let range = 6..6_u64.saturating_add(text.len() as u64);
            for transfer in [Transfer::Identity, Transfer::Base64, Transfer::QuotedPrintable] {
                let (whole, whole_is_clean) = decode(text.as_bytes(), transfer);
                for step in [1, 2, 3, 5, 8, 100] {
                    let storage = Storage::Bytes(inside.as_bytes());
                    let (compression, stop) = (Compression::Plain, Default::default());
                    let source = Source { storage, compression, has_cr_lines: false, stop };
                    let mut window =
                        Window::new(&source, WindowLimits { step_bytes: step, ..WINDOW_LIMITS }).unwrap();
                    let mut joined = Vec::new();
                    let mut consume = |block: &[u8]| joined.extend_from_slice(block);
                    let is_clean = each_block(&mut window, &range, transfer, &mut consume).unwrap();
                    assert_eq!(
                        (&*joined, is_clean),
                        (&*whole, whole_is_clean),
                        "{text:?} {transfer:?} by {step}"
                    );
                }
            }
        }
    }
}
