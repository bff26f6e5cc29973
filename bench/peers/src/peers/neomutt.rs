//! neomutt: a mail reader with a cache of headers.
//!
//! Comes in: directories. Goes out: commands. Must not know what is measured.

use crate::peer::Peer;

/// How it is found.
pub(crate) const PEER: Peer = Peer {
    name: "neomutt",
    variable: "PEER_NEOMUTT",
    program: "neomutt",
    version: &["-v"],
    packages: &["neomutt"],
    module: None,
};
