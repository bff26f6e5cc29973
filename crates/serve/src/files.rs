//! The files of the page. Input: a path. Output: a file, as it is sent. They have no secrets. Knows no mail.

use server::{Body, Response, StatusCode};

/// A file may load and do nothing. It is no sandbox: its links would be those of another site.
const POLICY: &str = "default-src 'none'; form-action 'none'; base-uri 'none'";

/// A file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

/// All files, by their paths.
static FILES: [File; 1] = [File {
    path: "/",
    content_type: "text/html; charset=utf-8",
    bytes: include_str!("files/index.html").as_bytes(),
}];

/// Returns the file at a path.
pub(crate) fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

impl File {
    /// Returns it as an answer. Nobody keeps it: the next version of the program may have another one.
    pub(crate) fn response(&self) -> Response {
        Response {
            content_security_policy: Some(POLICY.to_owned()),
            ..Response::new(StatusCode::OK, self.content_type, Body::Bytes(self.bytes.to_vec()))
        }
    }
}
