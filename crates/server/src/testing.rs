//! The readers of clients' bytes, for fuzz targets. Input: any bytes. Output: what is made of them. Knows no
//! socket.

use crate::allowed::{Names, head};
use crate::limits::Limits;
use crate::listen::Address;
use crate::login::{Logins, Verdict, cookies};
use crate::token::Secret;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use std::time::Instant;

pub use crate::head::percent_decoded;

/// What is made of a head.
#[derive(Debug)]
pub struct Judged {
    /// The status that refuses it, if one does.
    pub refused: Option<StatusCode>,
    /// The values of `Host`.
    pub hosts: Vec<Vec<u8>>,
    /// Whether it opens a server whose secrets it cannot know.
    pub is_logged_in: bool,
    /// The values of the cookies named `a`.
    pub cookies: Vec<String>,
}

/// Judges a head for a server at 127.0.0.1:7638: its method, its target, and its fields, one a line. `None`
/// if it is no head of HTTP, or names no token of ours.
pub fn judge(text: &[u8]) -> Option<Judged> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let method = Method::from_bytes(lines.next()?).ok()?;
    let target = Uri::try_from(lines.next()?).ok()?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let place = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at_checked(place)?;
        let value = HeaderValue::from_bytes(value.strip_prefix(b":")?.trim_ascii()).ok()?;
        headers.append(HeaderName::from_bytes(name).ok()?, value);
    }
    let names = Names::new(&Address::Tcp(([127, 0, 0, 1], 7638).into()), None);
    let refused = head((&method, &target), &headers, &names, &Limits::default()).err();
    let logins = Logins::new(&Secret::random().ok()?, 7638);
    Some(Judged {
        refused: refused.map(|refusal| refusal.status),
        hosts: headers.get_all("host").iter().map(|value| value.as_bytes().to_vec()).collect(),
        is_logged_in: matches!(
            logins.judge(&headers, Instant::now()),
            Verdict::HasToken | Verdict::HasCookie
        ),
        cookies: cookies(&headers, "a").map(str::to_owned).collect(),
    })
}

/// Reads the names and values of a query.
pub fn query_pairs(query: &str) -> Option<Vec<(String, String)>> {
    crate::head::query_pairs(query)
}

/// Reads a line of the kernel's table of sockets. Returns the port of its own end, and its user.
pub fn socket(line: &[u8]) -> Option<(u16, u32)> {
    crate::peer::socket(line).map(|socket| (socket.local.port(), socket.user))
}
