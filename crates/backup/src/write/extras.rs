//! Decides by name which files of a Maildir are stored besides messages.
//!
//! Every regular file is stored that lies directly in a root, in a folder, or in a directory on the way to a
//! folder: what Dovecot, Courier, mbsync and others need to continue where they stopped (`dovecot-uidlist`,
//! `dovecot-keywords`, `dovecot-uidvalidity*`, `dovecot-acl*`, `subscriptions`, `maildirfolder`,
//! `maildirsize`, `.mbsyncstate*`, `.uidvalidity`, `courierimap*`, `.noindex`, `.noupdate`, filters), and
//! files of the user. Not stored are files in `tmp`, files in directories without folders, and files that
//! these programs rebuild or need only while they run:
//!
//! | name | what it is |
//! |---|---|
//! | `dovecot.index*`, `dovecot.list.index*`, `dovecot.map.index*` | Dovecot's indexes and caches |
//! | `dovecot.mailbox.log*` | Dovecot's log of mailboxes |
//! | `dovecot-uidlist.lock`, `*.lock`, `*.lock.*` | locks |
//! | `.mbsyncstate.new`, `*.tmp`, `.temp.*`, `temp.*`, `.#*`, `.nfs*` | temporary files |

/// What begins the name of a file that is left out.
const STARTS: [&[u8]; 7] = [
    b"dovecot.index",
    b"dovecot.list.index",
    b"dovecot.mailbox.log",
    b"dovecot.map.index",
    b".#",
    b".nfs",
    b".temp.",
];
/// What ends the name of a file that is left out.
const ENDS: [&[u8]; 3] = [b".lock", b".tmp", b".mbsyncstate.new"];

/// Returns whether a file of this name is stored.
pub(crate) fn is_stored(name: &[u8]) -> bool {
    let is_lock = name.windows(6).any(|window| window == b".lock.");
    !(is_lock
        || name.starts_with(b"temp.")
        || STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_stored_and_what_is_made_again_is_not() {
        for name in [
            "dovecot-uidlist",
            "dovecot-keywords",
            "dovecot-uidvalidity",
            "dovecot-uidvalidity.5f3a",
            "subscriptions",
            "maildirfolder",
            "maildirsize",
            ".mbsyncstate",
            ".mbsyncstate.journal",
            ".mbsyncstate:far",
            ".uidvalidity",
            "courierimapsubscribed",
            ".noindex",
            "filter.sieve",
            "block",
            "template.txt",
        ] {
            assert!(is_stored(name.as_bytes()), "{name}");
        }
        for name in [
            "dovecot.index",
            "dovecot.index.cache",
            "dovecot.index.log.2",
            "dovecot.list.index.log",
            "dovecot.mailbox.log",
            "dovecot-uidlist.lock",
            ".mbsyncstate.lock",
            ".mbsyncstate.new",
            "subscriptions.lock.host.1",
            "temp.host.1",
            ".temp.1",
            "x.tmp",
            ".nfs0001",
            ".#file",
        ] {
            assert!(!is_stored(name.as_bytes()), "{name}");
        }
    }
}
