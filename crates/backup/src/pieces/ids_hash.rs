//! A hash of the pieces of a file, by which a file is known whose message is not.

use restic::Id;
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of the ids of pieces, in order.
pub(crate) fn ids_hash(pieces: &[Id]) -> [u8; 32] {
    let ids: Vec<u8> = pieces.iter().flat_map(|piece| piece.0).collect();
    Sha256::digest(&ids).into()
}
