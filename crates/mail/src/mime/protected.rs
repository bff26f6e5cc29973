//! Finds what is signed or encrypted in a message, in the exact bytes that a signature covers.
//!
//! Input: the bytes of a message, or of a part that was decrypted. Output: signed and encrypted contents, in
//! their order, and whether each is the whole message. Nothing is verified or decrypted here. Must not know
//! programs or keys.
//!
//! PGP/MIME (RFC 3156), S/MIME (RFC 8551), and OpenPGP blocks in text are found. Containers within containers
//! are walked up to `MIME_DEPTH_MAX` levels, and at most `PROTECTED_COUNT_MAX` contents with
//! `PROTECTED_BYTES_MAX` bytes are returned: signatures around each other cover the same bytes again.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before, line, until, with_line_feeds};
use crate::decode::base64::decode_base64;
use crate::decode::transfer::decode;
use crate::header::block::{Block, skip_envelope, split};
use crate::limits::{
    MIME_DEPTH_MAX, PART_COUNT_MAX, PROTECTED_BYTES_MAX, PROTECTED_COUNT_MAX, SMIME_BYTES_MAX,
};
use crate::mime::boundary::Pieces;
use crate::mime::content_fields::read_content;
use crate::mime::smime::{Opened, open};
use crate::problem::Problems;

/// How a content is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// OpenPGP.
    OpenPgp,
    /// S/MIME.
    Smime,
}

/// A protected content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtectedContent {
    /// A signature beside what it signs: the bytes that it covers, and the signature.
    Signed {
        /// A MIME entity, with lines that end with CRLF.
        signed: Vec<u8>,
        /// The signature.
        signature: Vec<u8>,
    },
    /// A signature around what it signs.
    Wrapped(Vec<u8>),
    /// Encrypted, and possibly signed within.
    Encrypted(Vec<u8>),
}

/// A signed or encrypted content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protected {
    /// How it is protected.
    pub protection: Protection,
    /// What is protected.
    pub content: ProtectedContent,
    /// There is nothing in the message besides it, except its header. A piece beside it counts, whatever the
    /// type of the multipart says, unless it is a signature, or the mark of an encrypted message.
    pub is_whole: bool,
    /// It is a block in text, which holds text. Otherwise it holds a MIME entity.
    pub is_text: bool,
}

/// Returns the signed and encrypted contents of a message, and whether there may be more.
#[must_use]
pub fn protected_contents(bytes: &[u8]) -> (Vec<Protected>, bool) {
    let bytes = with_line_feeds(bytes);
    let mut walk = Walk { found: Vec::new(), part_count: 0, bytes_left: PROTECTED_BYTES_MAX, is_cut: false };
    walk.entity(&split(skip_envelope(&bytes)), 0, true);
    (walk.found, walk.is_cut)
}

struct Walk {
    found: Vec<Protected>,
    part_count: usize,
    /// How many more bytes may be returned.
    bytes_left: usize,
    is_cut: bool,
}

impl Walk {
    fn push(&mut self, protection: Protection, content: ProtectedContent, is_whole: bool) {
        let size = match &content {
            ProtectedContent::Signed { signed, signature } => signed.len().saturating_add(signature.len()),
            ProtectedContent::Wrapped(bytes) | ProtectedContent::Encrypted(bytes) => bytes.len(),
        };
        match self.bytes_left.checked_sub(size).filter(|_| self.found.len() < PROTECTED_COUNT_MAX) {
            Some(left) => {
                self.bytes_left = left;
                self.found.push(Protected { protection, content, is_whole, is_text: false });
            }
            None => self.is_cut = true,
        }
    }

    fn entity(&mut self, block: &Block<'_>, depth: usize, is_whole: bool) {
        self.part_count = self.part_count.saturating_add(1);
        if depth >= MIME_DEPTH_MAX || self.part_count > PART_COUNT_MAX {
            self.is_cut = true;
            return;
        }
        let mut problems = Problems::default();
        let content = read_content(block, "text/plain", &mut problems);
        let next = depth.saturating_add(1);
        if content.is_multipart() {
            let Some(boundary) = &content.boundary else { return };
            let mut all = Pieces::new(block.body, boundary.as_bytes());
            let pieces: Vec<&[u8]> = std::iter::from_fn(|| all.next_piece()).take(PART_COUNT_MAX).collect();
            return self.multipart(&content.mime, &pieces, next, is_whole);
        }
        let decoded = decode(block.body, content.transfer).0;
        if content.is_message() {
            self.entity(&split(skip_envelope(&decoded)), next, false);
        } else if content.is_smime() || content.is_unnamed_smime() {
            match open(&decoded, SMIME_BYTES_MAX) {
                Opened::Encrypted => {
                    let content = ProtectedContent::Encrypted(decoded.into_owned());
                    self.push(Protection::Smime, content, is_whole);
                }
                Opened::Signed(_) => {
                    let content = ProtectedContent::Wrapped(decoded.into_owned());
                    self.push(Protection::Smime, content, is_whole);
                }
                _ => {}
            }
        } else if content.mime.starts_with("text/") || content.mime == "application/pgp" {
            self.text(&decoded, is_whole);
        }
    }

    fn multipart(&mut self, mime: &str, pieces: &[&[u8]], depth: usize, is_whole: bool) {
        let is_whole = is_whole && pieces.len() == 2;
        match (mime, pieces) {
            ("multipart/signed", [signed, signature, ..]) => {
                let block = split(signature);
                let mut problems = Problems::default();
                let content = read_content(&block, "text/plain", &mut problems);
                let protection = match content.mime.as_str() {
                    "application/pgp-signature" => Some(Protection::OpenPgp),
                    _ if content.is_signature() => Some(Protection::Smime),
                    _ => None,
                };
                if let Some(protection) = protection {
                    let signature = decode(block.body, content.transfer).0.into_owned();
                    let signed_bytes = with_crlf(signed);
                    let content = ProtectedContent::Signed { signed: signed_bytes, signature };
                    self.push(protection, content, is_whole);
                }
                // What is signed may be encrypted. A piece that is no signature is shown beside it.
                self.entity(&split(signed), depth, is_whole && protection.is_some());
                pieces.iter().skip(2).for_each(|piece| self.entity(&split(piece), depth, false));
            }
            ("multipart/encrypted", [version, encrypted, ..]) => {
                let block = split(encrypted);
                let mut problems = Problems::default();
                let version = read_content(&split(version), "text/plain", &mut problems);
                let content = read_content(&block, "text/plain", &mut problems);
                let data = decode(block.body, content.transfer).0.into_owned();
                // Of any other type, one of the two is shown beside what was encrypted.
                let is_whole = is_whole
                    && version.mime == "application/pgp-encrypted"
                    && content.mime == "application/octet-stream"
                    && !content.is_unnamed_smime()
                    && is_one_message(&data);
                let content = match is_encrypted(&data) {
                    true => ProtectedContent::Encrypted(data),
                    false => ProtectedContent::Wrapped(data),
                };
                self.push(Protection::OpenPgp, content, is_whole);
                pieces.iter().skip(2).for_each(|piece| self.entity(&split(piece), depth, false));
            }
            _ => pieces.iter().for_each(|piece| self.entity(&split(piece), depth, false)),
        }
    }

    /// Finds the OpenPGP blocks of a text.
    fn text(&mut self, text: &[u8], is_whole: bool) {
        let (mut rest, mut is_alone) = (text, is_whole);
        let first = self.found.len();
        while let Some(armor) = armor(rest) {
            is_alone &= armor.before.trim_ascii().is_empty();
            let content = match armor.is_encrypted {
                true => ProtectedContent::Encrypted(armor.block.to_vec()),
                false => ProtectedContent::Wrapped(armor.block.to_vec()),
            };
            self.push(Protection::OpenPgp, content, false);
            rest = armor.after;
        }
        is_alone &= rest.trim_ascii().is_empty();
        let count = self.found.len().saturating_sub(first);
        for found in self.found.iter_mut().skip(first) {
            found.is_text = true;
            found.is_whole = is_alone && count == 1;
        }
    }
}

/// An OpenPGP block in a text.
struct Armor<'a> {
    /// The text before it.
    before: &'a [u8],
    block: &'a [u8],
    /// The text after it.
    after: &'a [u8],
    is_encrypted: bool,
}

/// Finds the next OpenPGP block.
fn armor(text: &[u8]) -> Option<Armor<'_>> {
    let mut rest = text;
    while !rest.is_empty() {
        let (first, next) = line(rest);
        let end: Option<&[u8]> = match without_end(first) {
            b"-----BEGIN PGP MESSAGE-----" => Some(b"-----END PGP MESSAGE-----"),
            b"-----BEGIN PGP SIGNED MESSAGE-----" => Some(b"-----END PGP SIGNATURE-----"),
            _ => None,
        };
        if let Some(end) = end {
            let after = behind_line(next, end)?;
            let block = until(rest, after);
            let is_encrypted = end == b"-----END PGP MESSAGE-----" && is_encrypted(block);
            return Some(Armor { before: until(text, rest), block, after, is_encrypted });
        }
        rest = next;
    }
    None
}

/// Returns whether data is nothing but a message of OpenPGP: one armor, or packets.
fn is_one_message(data: &[u8]) -> bool {
    match armor(data) {
        Some(armor) => armor.before.trim_ascii().is_empty() && armor.after.trim_ascii().is_empty(),
        None => matches!(data.first(), Some(0x80..)),
    }
}

/// Returns whether a message of OpenPGP, in armor or not, may be encrypted. It is not if it begins with a
/// signature, with the mark of one that follows, or with a literal or compressed text (RFC 9580, 5).
///
/// What is compressed may be encrypted all the same, which only gpg can tell.
fn is_encrypted(message: &[u8]) -> bool {
    let first = match message.trim_ascii_start().strip_prefix(b"-----BEGIN PGP MESSAGE-----") {
        Some(armored) => first_of_armor(armored),
        None => message.first().copied(),
    };
    let tag = match first {
        Some(first @ 0xc0..) => first & 0x3f,
        Some(first @ 0x80..) => (first >> 2) & 0x0f,
        _ => return true,
    };
    !matches!(tag, 2 | 4 | 8 | 11)
}

/// Returns the first byte in an armor: in the first line after the empty one.
fn first_of_armor(armored: &[u8]) -> Option<u8> {
    let mut rest = line(armored).1;
    while !without_end(line(rest).0).is_empty() {
        rest = line(rest).1;
    }
    while !rest.is_empty() && without_end(line(rest).0).is_empty() {
        rest = line(rest).1;
    }
    let mut decoded = Vec::new();
    decode_base64(before(line(rest).0, 4), &mut decoded);
    decoded.first().copied()
}

/// Returns a line without what gpg ignores at its end. More must not be ignored: gpg would see another block.
fn without_end(line: &[u8]) -> &[u8] {
    let ignored = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let end = line.iter().rposition(|byte| !ignored(byte)).map_or(0, |last| last.saturating_add(1));
    line.get(..end).unwrap_or_default()
}

/// Returns what follows the first line that is `wanted`.
fn behind_line<'a>(text: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    while !rest.is_empty() {
        let (first, next) = line(rest);
        if without_end(first) == wanted {
            return Some(next);
        }
        rest = next;
    }
    None
}

/// Ends each line with CRLF, as signatures cover them.
fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len().saturating_add(bytes.len() / 32));
    let mut rest = bytes;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let text = before(rest, end);
        out.extend_from_slice(text.strip_suffix(b"\r").unwrap_or(text));
        out.extend_from_slice(b"\r\n");
        rest = after(rest, end.saturating_add(1));
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line for each content: how it is protected, whether it is all, and what it is.
    fn show(text: &str) -> Vec<String> {
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let line = |found: &Protected| {
            let whole = if found.is_whole { "all" } else { "part" };
            let content = match &found.content {
                ProtectedContent::Signed { signed, signature } => {
                    format!("{:?} by {:?}", lossy(signed), lossy(signature))
                }
                ProtectedContent::Wrapped(bytes) => format!("wrapped {:?}", lossy(bytes)),
                ProtectedContent::Encrypted(bytes) => format!("encrypted {:?}", lossy(bytes)),
            };
            format!("{:?} {whole} {content}", found.protection)
        };
        protected_contents(text.as_bytes()).0.iter().map(line).collect()
    }

    fn multipart(kind: &str, pieces: &[&str]) -> String {
        let pieces: String = pieces.iter().map(|piece| format!("--{kind}\n{piece}\n")).collect();
        format!("Content-Type: multipart/{kind}; boundary={kind}\n\n{pieces}--{kind}--\n")
    }

    const VERSION: &str = "Content-Type: application/pgp-encrypted\n\nVersion: 1";
    const SIGNATURE: &str = "Content-Type: application/pgp-signature\n\nsig";

    #[test]
    fn what_is_signed_is_found_byte_for_byte() {
        let signed = multipart("signed", &["Content-Type: text/plain\n\nHi \n\nthere\n", SIGNATURE]);
        let expected =
            "OpenPgp all \"Content-Type: text/plain\\r\\n\\r\\nHi \\r\\n\\r\\nthere\\r\\n\" by \"sig\"";
        assert_eq!(show(&signed), [expected]);
        assert_eq!(show(&signed.replace('\n', "\r\n")), [expected]);
        let list = multipart("mixed", &[&signed, "\nfooter of the list"]);
        assert_eq!(show(&list), [expected.replace("all", "part")]);
        let more = multipart("signed", &["\na", SIGNATURE, "\nadded by a stranger"]);
        assert_eq!(show(&more), ["OpenPgp part \"\\r\\na\" by \"sig\""]);
        let smime = multipart(
            "signed",
            &[
                "\na",
                "Content-Type: application/x-pkcs7-signature\nContent-Transfer-Encoding: base64\n\nc2ln",
            ],
        );
        assert_eq!(show(&smime), ["Smime all \"\\r\\na\" by \"sig\""]);
        assert_eq!(show(&multipart("signed", &["\na", "\nno signature"])), [""; 0]);
    }

    #[test]
    fn a_signed_message_beside_something_else_is_a_part() {
        let signed =
            multipart("signed", &["\na", SIGNATURE]).replace("=signed", "=i").replace("--signed", "--i");
        let around = |piece: &str| show(&multipart("signed", &[&signed, piece]));
        let part = "OpenPgp part \"\\r\\na\" by \"sig\"";
        for kind in ["text/plain", "text/html", "text/calendar", "message/rfc822", "application/pdf"] {
            assert_eq!(around(&format!("Content-Type: {kind}\n\nadded")), [part], "{kind}");
        }
        assert_eq!(around("\nadded"), [part]);
        let named = "Content-Type: application/octet-stream; name=smime.p7s\n\nadded";
        assert_eq!(around(named), [part]);
        assert_eq!(around(SIGNATURE).last().unwrap(), &part.replace("part", "all"));
    }

    #[test]
    fn what_is_encrypted_is_found_wherever_it_is() {
        let pieces = [VERSION, "Content-Type: application/octet-stream\n\ndata"];
        let encrypted = multipart("encrypted", &pieces);
        assert_eq!(show(&encrypted), ["OpenPgp part encrypted \"data\""]);
        let nested = format!("Content-Type: message/rfc822\n\n{encrypted}");
        assert_eq!(show(&nested), ["OpenPgp part encrypted \"data\""]);
        let html = "Content-Type: text/html\n\n<img src=\"https://x/";
        let mixed = multipart("mixed", &[html, &encrypted, html]);
        assert_eq!(show(&mixed), ["OpenPgp part encrypted \"data\""]);
    }

    #[test]
    fn an_encrypted_message_beside_something_else_is_a_part() {
        let block = "-----BEGIN PGP MESSAGE-----\n\nhQEM\n-----END PGP MESSAGE-----\n";
        let kind = |version: &str, header: &str, data: &str| {
            let shown = show(&multipart("encrypted", &[version, &format!("{header}\n\n{data}")]));
            shown.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned()
        };
        let octets = "Content-Type: application/octet-stream";
        assert_eq!(kind(VERSION, octets, block), "all");
        assert_eq!(kind(VERSION, octets, &format!("\n{block}\n\n")), "all");
        let base64 = format!("{octets}\nContent-Transfer-Encoding: base64");
        assert_eq!(kind(VERSION, &base64, "hQEM"), "all", "packets");
        assert_eq!(kind("Content-Type: text/plain\n\nadded", octets, block), "part");
        assert_eq!(kind("\nVersion: 1", octets, block), "part");
        for data in [format!("added\n{block}"), format!("{block}added\n"), block.repeat(2), "added".into()] {
            assert_eq!(kind(VERSION, octets, &data), "part", "{data}");
        }
        // Text is shown, and so is what S/MIME holds.
        for other in ["X: y", "Content-Type: text/plain", &format!("{octets}; name=x.p7m")] {
            assert_eq!(kind(VERSION, other, block), "part", "{other}");
        }
    }

    #[test]
    fn a_line_that_gpg_reads_in_another_way_begins_no_block() {
        let signed = |end: &str| {
            format!("A: b\n\n-----BEGIN PGP SIGNED MESSAGE-----{end}\n\nabc\n-----END PGP SIGNATURE-----\n")
        };
        for ignored in ["", " ", "\t \r"] {
            assert_eq!(show(&signed(ignored)).len(), 1, "{ignored:?}");
        }
        for other in ["\x0c", "\x0b", "\u{a0}", "x"] {
            assert_eq!(show(&signed(other)), [""; 0], "{other:?}");
        }
    }

    #[test]
    fn blocks_in_text_are_found_line_by_line() {
        let block = "-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----\n";
        let found = format!("encrypted {block:?}");
        assert_eq!(show(&format!("A: b\n\n\n{block}\n")), [format!("OpenPgp all {found}")]);
        assert_eq!(show(&format!("A: b\n\nHi\n{block}")), [format!("OpenPgp part {found}")]);
        assert_eq!(show(&format!("A: b\n\n{block}{block}")).len(), 2);
        assert_eq!(show(&format!("A: b\n\n> {}", block.replace('\n', "\n> "))), [""; 0]);
        assert_eq!(show("A: b\n\n-----BEGIN PGP MESSAGE-----\n\nno end\n"), [""; 0]);
        let signed = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nx\n-----BEGIN PGP SIGNATURE-----\n\
            \nabc\n-----END PGP SIGNATURE-----\n";
        assert_eq!(show(&format!("A: b\n\n{signed}")), [format!("OpenPgp all wrapped {signed:?}")]);
    }

    #[test]
    fn a_message_of_openpgp_need_not_be_encrypted() {
        let block = |first: &str| {
            format!("-----BEGIN PGP MESSAGE-----\nA: b\n\n{first}\n-----END PGP MESSAGE-----\n")
        };
        let kind = |block: &str| {
            let shown = show(&format!("A: b\n\n{block}"));
            shown.first().and_then(|line| line.split(' ').nth(2)).unwrap_or_default().to_owned()
        };
        // Of both forms of a packet's first byte: one-pass signature, signature, compressed, literal.
        for first in ["kA0D", "iQEz", "owGb", "yxFi", "xA0D", "wgEz", "yAGb"] {
            assert_eq!(kind(&block(first)), "wrapped", "{first}");
        }
        // A session key for a key, one for a passphrase, encrypted data, and what is none of these.
        for first in ["hQEM", "wV4D", "jA0E", "0sAA", "....", ""] {
            assert_eq!(kind(&block(first)), "encrypted", "{first}");
        }
        let pieces = [VERSION, &format!("Content-Type: application/octet-stream\n\n{}", block("owGb"))];
        assert!(show(&multipart("encrypted", &pieces))[0].starts_with("OpenPgp all wrapped"));
    }

    #[test]
    fn bytes_have_a_limit_in_all() {
        let mut walk = Walk { found: Vec::new(), part_count: 0, bytes_left: 10, is_cut: false };
        let push = |walk: &mut Walk, size: usize| {
            walk.push(Protection::OpenPgp, ProtectedContent::Encrypted(vec![0; size]), false);
            (walk.found.len(), walk.is_cut)
        };
        assert_eq!(push(&mut walk, 4), (1, false));
        assert_eq!(push(&mut walk, 7), (1, true));
        let content = ProtectedContent::Signed { signed: vec![0; 4], signature: vec![0; 2] };
        walk.push(Protection::OpenPgp, content, false);
        assert_eq!((walk.found.len(), walk.bytes_left), (2, 0));
    }

    #[test]
    fn number_and_depth_have_limits() {
        let pieces = ["\na", SIGNATURE];
        let signed = multipart("signed", &pieces);
        let many = vec![signed.as_str(); PROTECTED_COUNT_MAX + 1];
        let (found, is_cut) = protected_contents(multipart("mixed", &many).as_bytes());
        assert_eq!((found.len(), is_cut), (PROTECTED_COUNT_MAX, true));
        let deep = "Content-Type: message/rfc822\n\n".repeat(MIME_DEPTH_MAX) + &signed;
        assert_eq!(protected_contents(deep.as_bytes()), (vec![], true));
    }
}
