//! Which address asks for what. Input: a method and a path. Output: a route. Pure.

use crate::files::{self, File};
use jmap::Limits;
use server::{Access, Method, Rule};

/// Where clients that know only the host begin (RFC 8620, section 2.2).
const WELL_KNOWN: &str = "/.well-known/jmap";
const SESSION: &str = "/jmap/session";
pub(crate) const API: &str = "/jmap/api";
pub(crate) const DOWNLOAD: &str = "/jmap/download/";
pub(crate) const UPLOAD: &str = "/jmap/upload/";
/// Messages as the page shows them.
pub(crate) const MAIL: &str = "/mail/";
/// Lasting addresses of a message, by its Message-ID, and of a search. The page reads what follows.
const LASTING: [&str; 2] = ["/m/", "/q/"];
pub(crate) const EVENTS: &str = "/jmap/eventsource";

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'p> {
    /// A file of the page.
    File(&'static File),
    /// The session.
    Session,
    /// The response to a request of JMAP.
    Api,
    /// A blob. Holds the rest of the path.
    Download(&'p str),
    /// To keep a blob. Holds the rest of the path.
    Upload(&'p str),
    /// A message as the page shows it. Holds the rest of the path.
    Mail(&'p str),
    /// Events.
    Events,
    /// Nothing that there is.
    Unknown,
}

/// Returns what a request asks for.
pub(crate) fn route(method: Method, path: &str) -> Route<'_> {
    match (method, path) {
        (Method::Get, WELL_KNOWN | SESSION) => Route::Session,
        (Method::Get, EVENTS) => Route::Events,
        (Method::Post, API) => Route::Api,
        (Method::Get, path) => {
            if let Some(rest) = path.strip_prefix(DOWNLOAD) {
                Route::Download(rest)
            } else if let Some(rest) = path.strip_prefix(MAIL) {
                Route::Mail(rest)
            } else {
                let is_lasting = LASTING.iter().any(|start| path.starts_with(start));
                files::find(if is_lasting { "/" } else { path }).map_or(Route::Unknown, Route::File)
            }
        }
        (Method::Post, path) => path.strip_prefix(UPLOAD).map_or(Route::Unknown, Route::Upload),
    }
}

/// Returns whether clients of JMAP alone ask there.
pub(crate) fn is_of_jmap(path: &str) -> bool {
    path == WELL_KNOWN || path.starts_with("/jmap/")
}

impl Route<'_> {
    /// Returns what a request needs before it is answered.
    pub(crate) fn rule(self, limits: &Limits) -> Rule {
        let (access, body_bytes_max, content_types): (_, _, &[&str]) = match self {
            Route::File(_) => (Access::Open, 0, &["*/*"]),
            Route::Api => (Access::LoggedIn, limits.max_size_request, &["application/json"]),
            Route::Upload(_) => {
                let bytes_max = usize::try_from(limits.max_size_upload).unwrap_or(usize::MAX);
                (Access::LoggedIn, bytes_max, &["*/*"])
            }
            Route::Session | Route::Download(_) | Route::Mail(_) | Route::Events | Route::Unknown => {
                (Access::LoggedIn, 0, &["*/*"])
            }
        };
        Rule { access, body_bytes_max, content_types }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_one_method_and_the_page_alone_is_open() {
        use Method::{Get, Post};
        for (method, path, expected) in [
            (Get, "/.well-known/jmap", Route::Session),
            (Get, "/jmap/session", Route::Session),
            (Post, "/jmap/api", Route::Api),
            (Get, "/jmap/download/mail/B1/a", Route::Download("mail/B1/a")),
            (Post, "/jmap/upload/mail", Route::Upload("mail")),
            (Get, "/jmap/eventsource", Route::Events),
            (Get, "/mail/M1/html", Route::Mail("M1/html")),
            (Post, "/mail/M1/html", Route::Unknown),
            (Post, "/m/a", Route::Unknown),
            (Get, "/m", Route::Unknown),
            (Post, "/", Route::Unknown),
            (Get, "/jmap/api", Route::Unknown),
            (Get, "/jmap/upload/mail", Route::Unknown),
            (Post, "/jmap/session", Route::Unknown),
            (Post, "/jmap/eventsource", Route::Unknown),
            (Post, "/jmap/download/mail/B1/a", Route::Unknown),
            (Get, "/jmap/api/", Route::Unknown),
            (Get, "/JMAP/session", Route::Unknown),
            (Get, "//", Route::Unknown),
            (Get, "/%2e", Route::Unknown),
        ] {
            let found = route(method, path);
            assert_eq!(found, expected, "{method:?} {path}");
            assert_eq!(found.rule(&Limits::default()).access, Access::LoggedIn, "{method:?} {path}");
        }
        for page in ["/", "/m/a%40b", "/q/from:a/b"] {
            assert!(matches!(route(Get, page), Route::File(_)), "{page}");
            assert_eq!(route(Get, page).rule(&Limits::default()).access, Access::Open, "{page}");
        }
    }

    #[test]
    fn only_requests_and_uploads_have_a_body_and_requests_are_json() {
        let limits = Limits { max_size_request: 7, max_size_upload: 9, ..Limits::default() };
        let rule = |method, path| route(method, path).rule(&limits);
        assert_eq!(rule(Method::Post, "/jmap/api").body_bytes_max, 7);
        assert_eq!(rule(Method::Post, "/jmap/api").content_types, ["application/json"]);
        assert_eq!(rule(Method::Post, "/jmap/upload/mail").body_bytes_max, 9);
        assert_eq!(rule(Method::Post, "/x").body_bytes_max, 0);
    }
}
