//! The session as a client gets it. Input: where the client reached the server, and the user's name. Output:
//! the session, with whole addresses. Does not know what they are for.

use crate::route::{API, DOWNLOAD, EVENTS, UPLOAD};
use jmap::Limits;
use jmap_mail::{Session, Urls};

/// Returns the session of a user for those who reached the server at `origin`.
pub(crate) fn session(origin: &str, username: &str, limits: &Limits) -> Session {
    let urls = Urls {
        api: format!("{origin}{API}"),
        download: format!("{origin}{DOWNLOAD}{{accountId}}/{{blobId}}/{{name}}?type={{type}}"),
        upload: format!("{origin}{UPLOAD}{{accountId}}"),
        event_source: format!("{origin}{EVENTS}?types={{types}}&closeafter={{closeafter}}&ping={{ping}}"),
    };
    Session::new(username, &urls, limits)
}
