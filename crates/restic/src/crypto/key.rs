//! The key that seals everything in a repository.
//!
//! Seals bytes and opens them again. Does not depend on their meaning or on where the key is kept.
//!
//! Sealed bytes are `nonce (16) | content | MAC (16)`, as in restic's design under "Keys, Encryption and
//! MAC" (<https://restic.readthedocs.io/en/stable/100_references.html>). The content is encrypted with
//! AES-256 in counter mode; the nonce is the first value of a big-endian counter of 128 bits. The MAC is
//! Poly1305 over the encrypted content alone; its one-time key is `r` and the nonce encrypted with AES-128
//! and `k`. The MAC is checked before anything is decrypted.
#![deny(clippy::indexing_slicing)]

use crate::surroundings::Surroundings;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256};
use ctr::cipher::{InnerIvInit, StreamCipher};
use ctr::{Ctr128BE, CtrCore};
use poly1305::universal_hash::UniversalHash;
use poly1305::{Block, Poly1305};
use std::fmt::{Debug, Formatter};
use zeroize::Zeroizing;

/// Bytes that sealing adds.
pub const OVERHEAD: usize = NONCE_BYTES + CODE_BYTES;

const NONCE_BYTES: usize = 16;
const CODE_BYTES: usize = 16;
/// Bytes that are encrypted and then added to the MAC while they are still in the first-level cache.
const PIECE_BYTES: usize = 8 << 10;

type Nonce = [u8; NONCE_BYTES];
type Code = [u8; CODE_BYTES];

/// Seals and opens bytes. It is wiped from memory when it is dropped, and never printed.
pub struct Key {
    /// For AES-256, then `k`, then `r`.
    bytes: Zeroizing<[u8; Key::BYTES]>,
    content: Aes256,
    code: Aes128,
}

/// Why sealed bytes cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    /// They are too short.
    #[error("too short for sealed content")]
    Short,
    /// The nonce is zero, which no program uses.
    #[error("its nonce is zero")]
    Nonce,
    /// They were changed, or sealed with another key.
    #[error("its MAC is wrong")]
    Seal,
}

impl Key {
    /// Length of a key in bytes.
    pub const BYTES: usize = 64;

    /// Makes a new key.
    ///
    /// # Panics
    /// If the source of random bytes returns only zeros: nothing would be secret then.
    pub fn random(surroundings: &Surroundings) -> Key {
        let mut bytes = Zeroizing::new([0; Key::BYTES]);
        (surroundings.fill_random)(bytes.as_mut());
        Key::from_bytes(bytes).expect("random bytes are not all zero")
    }

    /// Returns the key of these bytes: for AES-256 (32), `k` (16), `r` (16). `None` if one of the three is
    /// all zero.
    pub fn from_bytes(bytes: Zeroizing<[u8; Key::BYTES]>) -> Option<Key> {
        let (content, code) = bytes.split_first_chunk::<32>()?;
        let (k, r) = code.split_first_chunk::<16>()?;
        if [content.as_slice(), k, r].iter().any(|part| part.iter().all(|&byte| byte == 0)) {
            return None;
        }
        let (content, code) = (Aes256::new(content.into()), Aes128::new(k.into()));
        Some(Key { bytes, content, code })
    }

    /// Returns the bytes for [`Key::from_bytes`]. Only the key file needs them.
    pub(crate) fn bytes(&self) -> &[u8; Key::BYTES] {
        &self.bytes
    }

    /// Appends `plain` to `out`, sealed.
    ///
    /// # Panics
    /// If the source of random bytes returns only zeros: using a nonce twice would reveal the content.
    pub fn seal(&self, surroundings: &Surroundings, plain: &[u8], out: &mut Vec<u8>) {
        let mut nonce = Nonce::default();
        (surroundings.fill_random)(&mut nonce);
        self.seal_with(nonce, plain, out);
    }

    /// Checks sealed bytes, decrypts them in place and returns the content.
    ///
    /// # Errors
    /// [`Damaged`]; then nothing is changed.
    pub fn open<'a>(&self, sealed: &'a mut [u8]) -> Result<&'a mut [u8], Damaged> {
        let (nonce, rest) = sealed.split_first_chunk_mut::<NONCE_BYTES>().ok_or(Damaged::Short)?;
        let (content, found) = rest.split_last_chunk_mut::<CODE_BYTES>().ok_or(Damaged::Short)?;
        if *nonce == Nonce::default() {
            return Err(Damaged::Nonce);
        }
        if !are_equal(&finish(self.begin_code(nonce), content), found) {
            return Err(Damaged::Seal);
        }
        self.begin_content(nonce).apply_keystream(content);
        Ok(content)
    }

    fn seal_with(&self, nonce: Nonce, plain: &[u8], out: &mut Vec<u8>) {
        assert!(nonce != Nonce::default(), "random bytes are not all zero");
        let mut stream = self.begin_content(&nonce);
        let mut code = self.begin_code(&nonce);
        out.reserve(plain.len() + OVERHEAD);
        out.extend_from_slice(&nonce);
        let mut encrypt = |piece: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(piece);
            let begin = out.len() - piece.len();
            let (_, place) = out.split_at_mut(begin);
            stream.apply_keystream(place);
        };
        let mut pieces = plain.chunks_exact(PIECE_BYTES);
        for piece in &mut pieces {
            encrypt(piece, out);
            code.update(Block::slice_as_chunks(out.split_at(out.len() - PIECE_BYTES).1).0);
        }
        let rest = pieces.remainder();
        encrypt(rest, out);
        let code = finish(code, out.split_at(out.len() - rest.len()).1);
        out.extend_from_slice(&code);
    }

    fn begin_content(&self, nonce: &Nonce) -> Ctr128BE<&Aes256> {
        Ctr128BE::from_core(CtrCore::inner_iv_init(&self.content, nonce.into()))
    }

    fn begin_code(&self, nonce: &Nonce) -> Poly1305 {
        let mut one_time = Zeroizing::new([0; 32]);
        let (r, masked_nonce) = one_time.split_at_mut(16);
        let (_, own_r) = self.bytes.split_at(Key::BYTES - r.len());
        r.copy_from_slice(own_r);
        masked_nonce.copy_from_slice(nonce);
        if let Some(block) = masked_nonce.first_chunk_mut::<16>() {
            self.code.encrypt_block(block.into());
        }
        Poly1305::new((&*one_time).into())
    }
}

impl Debug for Key {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key")
    }
}

/// Adds the last bytes to the MAC and returns it.
fn finish(mut code: Poly1305, encrypted: &[u8]) -> Code {
    let (blocks, rest) = Block::slice_as_chunks(encrypted);
    code.update(blocks);
    code.compute_unpadded(rest).into()
}

/// Compares in constant time.
fn are_equal(left: &Code, right: &Code) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::id::Id;
    use crate::testing::surroundings;

    fn key() -> Key {
        let mut bytes = [0; Key::BYTES];
        for (byte, number) in bytes.iter_mut().zip(1..) {
            *byte = number;
        }
        Key::from_bytes(Zeroizing::new(bytes)).unwrap()
    }

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Made with Python's `cryptography`: AES in CTR and ECB mode, and Poly1305 of the result.
    #[test]
    fn seals_as_others_do() {
        let sealed = |nonce: Nonce, plain: &[u8]| {
            let mut out = Vec::new();
            key().seal_with(nonce, plain, &mut out);
            hexadecimal(&out)
        };
        assert_eq!(sealed([7; 16], b""), "07070707070707070707070707070707eebefd4923494b8e76d4bcbb3ec90cb6");
        assert_eq!(
            sealed([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], b"a"),
            "000102030405060708090a0b0c0d0e0f8c74fa45c94d0cd3caa25c897127fe4baa"
        );
        let counted: Vec<u8> = (0..40).collect();
        assert_eq!(
            sealed([255; 16], &counted),
            "ffffffffffffffffffffffffffffffff924091e24d7d9ccc555ea36ba7e3abacb72d4765726e6d54ba2385c22ca858423f4935b183e1\
             211c36fe87a3b020deee31a9afe0642b0b9a"
        );
        let mut wraps = [255; 16];
        wraps[15] = 254;
        assert_eq!(
            sealed(wraps, b"pneumatic post in Paris, 1866-1984"),
            "fffffffffffffffffffffffffffffffe2e1fb996b05400a4948ec644a9e4d644fc61c3803b11e9e77d6691569dc3949a9f0897c8b23d\
             d5c834ad1169f2b92aa94f0f"
        );
    }

    #[test]
    fn long_content_is_sealed_as_others_do_around_the_size_of_a_piece() {
        let mut nonce = [255; 16];
        nonce[15] = 240;
        let seal = |length: usize| {
            let plain: Vec<u8> = (0..length).map(|i| (i * i * 31 + i / 256 + 7).to_le_bytes()[0]).collect();
            let mut out = b"before".to_vec();
            key().seal_with(nonce, &plain, &mut out);
            let sealed = out.split_off(6);
            assert_eq!(out, b"before");
            assert_eq!(key().open(&mut sealed.clone()).unwrap(), &plain, "{length}");
            Id::of(&sealed).short()
        };
        let found = [16, 8191, 8192, 8193, 16_384, 100_001].map(seal);
        assert_eq!(found, ["76e8d7c9", "ed478e05", "929406fd", "8a2c9354", "e7bec2b0", "5cb853a4"]);
    }

    #[test]
    fn each_flipped_bit_and_each_missing_byte_is_noticed() {
        let surroundings = surroundings();
        let key = Key::random(&surroundings);
        let mut sealed = Vec::new();
        key.seal(&surroundings, b"content", &mut sealed);
        assert_eq!(sealed.len(), b"content".len() + OVERHEAD);
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let before = flipped.clone();
            assert_eq!(key.open(&mut flipped), Err(Damaged::Seal), "bit {bit}");
            assert_eq!(flipped, before);
        }
        for length in 0..sealed.len() {
            let wanted = if length < OVERHEAD { Damaged::Short } else { Damaged::Seal };
            assert_eq!(key.open(&mut sealed[..length].to_vec()), Err(wanted), "{length} bytes");
        }
        assert_eq!(key.open(&mut sealed).unwrap(), b"content");
        assert_eq!(Key::random(&surroundings).open(&mut [1; 40]), Err(Damaged::Seal));
    }

    #[test]
    fn zeros_are_no_key_and_no_nonce() {
        for begin in [0, 32, 48] {
            let mut bytes = Zeroizing::new([1; Key::BYTES]);
            let end = if begin == 0 { 32 } else { begin + 16 };
            bytes[begin..end].fill(0);
            assert!(Key::from_bytes(bytes.clone()).is_none(), "zeros from {begin}");
            bytes[end - 1] = 1;
            assert!(Key::from_bytes(bytes).is_some(), "one from {begin}");
        }
        let mut sealed = Vec::new();
        key().seal_with([1; 16], b"content", &mut sealed);
        sealed[..16].fill(0);
        assert_eq!(key().open(&mut sealed), Err(Damaged::Nonce));
    }

    #[test]
    #[should_panic(expected = "random bytes are not all zero")]
    fn a_nonce_of_zeros_is_never_used() {
        let surroundings = Surroundings { fill_random: |_| (), ..surroundings() };
        key().seal(&surroundings, b"content", &mut Vec::new());
    }

    #[test]
    fn the_same_content_is_never_sealed_the_same() {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        key().seal(&surroundings(), b"content", &mut first);
        key().seal(&surroundings(), b"content", &mut second);
        assert_ne!(first, second);
    }

    #[test]
    fn prints_nothing_of_itself() {
        assert_eq!(format!("{:?}", key()), "Key");
    }
}
