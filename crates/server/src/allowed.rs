//! Which requests may be looked at. Input: the head of a request, the server's names, limits, the path's
//! rule. Output: what is asked, or why it is refused. Pure: no socket, no clock, and no secret.
//!
//! | what a head says | decision |
//! |---|---|
//! | too many fields, too many bytes, too long an address | 431, 431, 414 |
//! | more than 64 KiB of cookies, which all programs on this host share | 431 |
//! | an address with letters other than ASCII | 400 |
//! | `Host` missing, or more than one; a target with a host of its own | 400 |
//! | `Host` is none of the server's names, or has a wrong port | 421: it may be of others (rebinding) |
//! | a method other than GET, HEAD and POST, also OPTIONS | 405; so no other site gets leave to send JSON |
//! | `Origin` other than the address that the request was sent to, or `null` | 403 |
//! | `Sec-Fetch-Site: same-origin`, or none of these fields | goes on: a page of ours, or no browser |
//! | `Sec-Fetch-Site: none` | goes on: the user typed the address, or used a bookmark |
//! | `cross-site` or `same-site`, a navigation of a whole tab by GET | goes on to open paths and `/login` |
//! | `cross-site` or `same-site`, everything else | 403 |
//!
//! A *same site* is no friend: to a browser all ports of this machine are one site, also those of other
//! users, and it sends them the cookie, `SameSite=Strict` or not. So both are treated alike. Navigations must
//! reach the page, because the file that opens the browser is another site, and so are links in a terminal
//! or in another program's page. Open paths have no secrets and change nothing, `/login` wants a link that
//! others do not know, and the page cannot be framed. What needs a login is refused to navigations from
//! elsewhere, although a cookie may come with them.
//!
//! A field that a browser always sends may be missing only if no browser is at work, or an old one; there the
//! cookie's `SameSite`, `Origin` and the content types remain.

use crate::application::{Access, Method, Rule};
use crate::limits::{COOKIE_BYTES_MAX, Limits};
use crate::listen::Address;
use hyper::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
};
use hyper::{StatusCode, Uri};

/// The header field that says whose page sent a request.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Why a request is refused. The reason goes to the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) reason: &'static str,
}

fn refuse<T>(status: StatusCode, reason: &'static str) -> Result<T, Refusal> {
    Err(Refusal { status, reason })
}

/// The names under which clients reach the server.
#[derive(Debug)]
pub(crate) struct Names {
    own: Vec<String>,
    proxy: Option<String>,
}

impl Names {
    /// `proxy` is the host of a proxy with TLS, in lower case, with its port unless that is 443.
    pub(crate) fn new(address: &Address, proxy: Option<String>) -> Names {
        let (hosts, port): (&[&str], u16) = match address {
            Address::Unix(_) => (&["localhost"], 80),
            Address::Tcp(tcp) if tcp.ip() == std::net::Ipv4Addr::LOCALHOST => {
                (&["127.0.0.1", "localhost"], tcp.port())
            }
            Address::Tcp(tcp) if tcp.ip() == std::net::Ipv6Addr::LOCALHOST => {
                (&["[::1]", "localhost"], tcp.port())
            }
            Address::Tcp(tcp) => (&["127.0.0.1", "[::1]", "localhost"], tcp.port()),
        };
        let mut own: Vec<String> = hosts.iter().map(|host| format!("{host}:{port}")).collect();
        if port == 80 {
            own.extend(hosts.iter().map(|host| (*host).to_owned()));
        }
        Names { own, proxy }
    }

    /// Returns the origin of a host, if it is one of the server's.
    fn origin(&self, host: &str) -> Option<Origin> {
        let host = host.to_ascii_lowercase();
        if self.own.contains(&host) {
            let host = host.strip_suffix(":80").unwrap_or(&host);
            return Some(Origin { text: format!("http://{host}"), is_secure: false });
        }
        let name = host.strip_suffix(":443").unwrap_or(&host);
        if self.proxy.as_deref() == Some(name) {
            return Some(Origin { text: format!("https://{name}"), is_secure: true });
        }
        // Some mail programs leave the port out. A name counts against rebinding, and browsers name the port.
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let is_own = |own: &&String| {
            own.strip_prefix(&host).and_then(|rest| rest.strip_prefix(':')).is_some_and(is_port)
        };
        let own = self.own.iter().find(is_own)?;
        Some(Origin { text: format!("http://{own}"), is_secure: false })
    }

    /// Returns whether a proxy leads here.
    pub(crate) fn has_proxy(&self) -> bool {
        self.proxy.is_some()
    }

    /// Returns the origin to show to users.
    pub(crate) fn main_origin(&self) -> String {
        let own = self.own.first().map(|host| format!("http://{}", host.strip_suffix(":80").unwrap_or(host)));
        self.proxy.as_ref().map(|host| format!("https://{host}")).or(own).unwrap_or_default()
    }
}

/// The server's address as a client sees it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Scheme, host and port, in lower case.
    pub(crate) text: String,
    /// Whether the client speaks TLS, to the proxy.
    pub(crate) is_secure: bool,
}

/// What a head asks for that may be looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) origin: Origin,
    /// Whether another site, or a file, sent the user here.
    pub(crate) is_from_elsewhere: bool,
}

/// Judges the head of a request before its path is looked at.
pub(crate) fn head(
    (method, target): (&hyper::Method, &Uri),
    headers: &HeaderMap,
    names: &Names,
    limits: &Limits,
) -> Result<Asked, Refusal> {
    let (mut cookie_bytes, mut other_bytes) = (0, 0);
    for (name, value) in headers {
        let bytes = if name == COOKIE { &mut cookie_bytes } else { &mut other_bytes };
        *bytes += name.as_str().len() + value.len();
    }
    let too_large = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    if cookie_bytes > COOKIE_BYTES_MAX {
        return refuse(too_large, "too many cookies of programs on this host; remove its cookies");
    }
    if headers.len() > limits.header_count_max || other_bytes > limits.header_bytes_max {
        return refuse(too_large, "too many header fields");
    }
    let text = target.path_and_query().map_or("", |text| text.as_str());
    if text.len() > limits.url_bytes_max {
        return refuse(StatusCode::URI_TOO_LONG, "the address is too long");
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse(StatusCode::BAD_REQUEST, "the address is not encoded");
    }
    let origin = origin(target, headers, names)?;
    let (is_read, asked) = match *method {
        hyper::Method::GET => (true, Method::Get),
        hyper::Method::HEAD => (false, Method::Get),
        hyper::Method::POST => (false, Method::Post),
        _ => return refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD and POST are answered"),
    };
    if headers.get_all(ORIGIN).iter().any(|value| value.as_bytes() != origin.text.as_bytes()) {
        return refuse(StatusCode::FORBIDDEN, "a page of another site sent this request");
    }
    let site = all(headers, &SITE);
    let is_from_elsewhere = site.iter().any(|site| !matches!(*site, b"same-origin" | b"none"));
    let is_navigation = all(headers, &MODE) == [b"navigate"] && all(headers, &DESTINATION) == [b"document"];
    if is_from_elsewhere && !(is_read && is_navigation) {
        return refuse(StatusCode::FORBIDDEN, "a page of another site sent this request");
    }
    Ok(Asked { method: asked, origin, is_from_elsewhere })
}

/// Returns where the request was sent to.
fn origin(target: &Uri, headers: &HeaderMap, names: &Names) -> Result<Origin, Refusal> {
    let hosts = all(headers, &HOST);
    let (None, Some(_), [host]) = (target.authority(), target.path_and_query(), hosts.as_slice()) else {
        return refuse(StatusCode::BAD_REQUEST, "a request needs a path, and one Host");
    };
    match std::str::from_utf8(host).ok().and_then(|host| names.origin(host)) {
        Some(origin) => Ok(origin),
        None => refuse(StatusCode::MISDIRECTED_REQUEST, "this server has another name"),
    }
}

/// Checks what a path's rule says about who sent the user here.
pub(crate) fn visit(asked: &Asked, access: Access) -> Result<(), Refusal> {
    if asked.is_from_elsewhere && access != Access::Open {
        return refuse(
            StatusCode::FORBIDDEN,
            "another site or a file sent you here; type the address instead",
        );
    }
    Ok(())
}

/// Checks what a head says about the body. Returns how many bytes the body may have.
pub(crate) fn body(asked: &Asked, rule: &Rule, headers: &HeaderMap) -> Result<usize, Refusal> {
    let is_post = asked.method == Method::Post;
    if is_post && !has_type(rule, headers) {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this address takes bodies of another type");
    }
    if headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this address takes no compressed bodies");
    }
    let takes_body = is_post && rule.access == Access::LoggedIn;
    let bytes_max = if takes_body { rule.body_bytes_max } else { 0 };
    // hyper refuses lengths that are not numbers, and those that contradict each other.
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > bytes_max)) {
        return Err(too_large());
    }
    Ok(bytes_max)
}

/// Returns the refusal of a body that is too large.
pub(crate) fn too_large() -> Refusal {
    Refusal { status: StatusCode::PAYLOAD_TOO_LARGE, reason: "the body is too large" }
}

fn has_type(rule: &Rule, headers: &HeaderMap) -> bool {
    if rule.content_types.contains(&"*/*") {
        return true;
    }
    let [value] = all(headers, &CONTENT_TYPE)[..] else { return false };
    let Ok(value) = std::str::from_utf8(value) else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    rule.content_types.contains(&essence.as_str())
}

fn all<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<&'a [u8]> {
    headers.get_all(name).iter().map(HeaderValue::as_bytes).collect()
}

/// Returns whether a browser sent the request.
pub(crate) fn is_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(SITE)
}
