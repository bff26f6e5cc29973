//! The session as a client gets it. Input: where the client reached the server, the user's name, and how many
//! roots there are. Output: the session, with whole addresses. Does not know what they are for.

use crate::route::{API, DOWNLOAD, EVENTS, UPLOAD};
use jmap::Limits;
use jmap_mail::{Session, Urls};

/// Returns the session of a user for those who reached the server at `origin`. With one root it is clear
/// where a mailbox without a parent is made.
pub(crate) fn session(origin: &str, username: &str, limits: &Limits, root_count: usize) -> Session {
    let urls = Urls {
        api: format!("{origin}{API}"),
        download: format!("{origin}{DOWNLOAD}{{accountId}}/{{blobId}}/{{name}}?type={{type}}"),
        upload: format!("{origin}{UPLOAD}{{accountId}}"),
        event_source: format!("{origin}{EVENTS}?types={{types}}&closeafter={{closeafter}}&ping={{ping}}"),
    };
    Session::new(username, &urls, limits).with_top_level_mailboxes(root_count == 1)
}
