//! The programs that pneu is compared with, each in its own file: how it is found, and its commands. Nothing
//! is measured here.

pub(crate) mod dovecot;
pub(crate) mod mairix;
pub(crate) mod mu;
pub(crate) mod mutt;
pub(crate) mod neomutt;
pub(crate) mod notmuch;
pub(crate) mod restic;
pub(crate) mod tarantool;
pub(crate) mod terminal;

use crate::peer::Peer;

/// All programs.
pub(crate) const ALL: [Peer; 8] = [
    mu::PEER,
    notmuch::PEER,
    mairix::PEER,
    neomutt::PEER,
    mutt::PEER,
    dovecot::PEER,
    restic::PEER,
    tarantool::PEER,
];
