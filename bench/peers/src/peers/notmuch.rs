//! notmuch: indexes Maildirs, finds and tags messages.
//!
//! Comes in: directories. Goes out: commands. Must not know what is measured.

use crate::peer::Peer;

/// How it is found.
pub(crate) const PEER: Peer = Peer {
    name: "notmuch",
    variable: "PEER_NOTMUCH",
    program: "notmuch",
    version: &["--version"],
    packages: &["notmuch"],
    module: None,
};
