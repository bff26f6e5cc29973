//! CRC-64/NVME, with the interface of the crate `crc-fast` as far as object_store calls it.
//!
//! Input: bytes. Output: their checksum. Does not know who asks for it.
//!
//! object_store adds this checksum to what it uploads if it is told to, which pneu does not do. `crc-fast`
//! 1.10 computes some fifty checksums, and the tables of all of them stay in a program that can reach one:
//! they make it 0.7 MB larger.

/// The polynomial, lowest bit first.
const POLYNOMIAL: u64 = 0x9a6c_9329_ac4b_c9b5;

/// A checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrcAlgorithm {
    /// CRC-64/NVME.
    Crc64Nvme,
}

/// The checksum of the bytes so far.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

impl Digest {
    /// Begins a checksum.
    pub fn new(algorithm: CrcAlgorithm) -> Digest {
        match algorithm {
            CrcAlgorithm::Crc64Nvme => Digest(u64::MAX),
        }
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u64::from(*byte);
            for _ in 0..8 {
                self.0 = self.0 >> 1 ^ if self.0 & 1 == 1 { POLYNOMIAL } else { 0 };
            }
        }
    }

    /// Returns the checksum.
    pub fn finalize(&self) -> u64 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_catalogue() {
        let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
        assert_eq!(digest.finalize(), 0);
        digest.update(b"1234");
        digest.update(b"56789");
        // https://reveng.sourceforge.io/crc-catalogue/all.htm
        assert_eq!(digest.finalize(), 0xae8b_1486_0a79_9888);
    }
}
