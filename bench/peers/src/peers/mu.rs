//! mu: indexes Maildirs and finds messages.
//!
//! Comes in: directories. Goes out: commands. Must not know what is measured.

use crate::peer::Peer;

/// How it is found.
pub(crate) const PEER: Peer = Peer {
    name: "mu",
    variable: "PEER_MU",
    program: "mu",
    version: &["--version"],
    packages: &["maildir-utils"],
    module: None,
};
