//! Dovecot: an IMAP server with an index of each folder.
//!
//! Comes in: directories. Goes out: commands. Must not know what is measured.

use crate::peer::Peer;

/// How it is found.
pub(crate) const PEER: Peer = Peer {
    name: "Dovecot",
    variable: "PEER_DOVECOT",
    program: "dovecot",
    version: &["--version"],
    packages: &["dovecot-imapd"],
    module: None,
};
