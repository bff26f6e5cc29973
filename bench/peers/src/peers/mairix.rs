//! mairix: indexes Maildirs by words and finds messages.
//!
//! Comes in: directories. Goes out: commands. Must not know what is measured.

use crate::peer::Peer;

/// How it is found.
pub(crate) const PEER: Peer = Peer {
    name: "mairix",
    variable: "PEER_MAIRIX",
    program: "mairix",
    version: &["--version"],
    packages: &["mairix"],
    module: None,
};
