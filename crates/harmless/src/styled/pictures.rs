//! Where pictures of a message come from. Input: their addresses. Output: addresses that may be loaded, and
//! the origins of those of the network. Must not know elements.

use ammonia::Url;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Bytes of all origins together: they are sent in a header field.
const ORIGIN_BYTES_MAX: usize = 2048;
/// Kinds of pictures that may be within the HTML. SVG is none: it is a document.
const DATA_KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Which pictures there are.
#[derive(Debug, Default)]
pub struct Pictures {
    /// The addresses of pictures of the message, by their Content-ID or Content-Location.
    pub inside: HashMap<String, String>,
    /// Whether pictures are loaded from the network.
    pub are_loaded: bool,
}

impl Pictures {
    /// Returns the address of a picture, as browsers read it, if it may be loaded.
    pub(super) fn source(&self, value: &str, origins: &Origins) -> Option<String> {
        if let Some(found) = self.inside.get(value) {
            return Some(found.clone());
        }
        let url = Url::parse(value).ok()?;
        match url.scheme() {
            "cid" => {
                let id = percent_decoded(url.path());
                self.inside.get(&id).or_else(|| self.inside.get(url.path())).cloned()
            }
            "data" => {
                let kind = url.path().split([';', ',']).next().unwrap_or_default().to_ascii_lowercase();
                DATA_KINDS.contains(&kind.as_str()).then(|| url.into())
            }
            "http" | "https" => {
                let is_known = origins.add(&url);
                (is_known && self.are_loaded).then(|| url.into())
            }
            _ => None,
        }
    }
}

/// The origins of pictures of the network.
#[derive(Debug, Default)]
pub(super) struct Origins(Mutex<Vec<String>>);

impl Origins {
    /// Adds the origin of an address. Returns whether pictures may come from there.
    fn add(&self, url: &Url) -> bool {
        if !url.host_str().is_some_and(is_name) || !url.username().is_empty() || url.password().is_some() {
            return false;
        }
        let origin = url.origin().ascii_serialization();
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = list.contains(&origin);
        let bytes: usize = list.iter().map(|each| each.len() + 1).sum();
        if !is_known && bytes + origin.len() <= ORIGIN_BYTES_MAX {
            list.push(origin);
            return true;
        }
        is_known
    }

    pub(super) fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns whether a host is a name of the network. Numbers and names without a dot lead to the machine or to
/// what is beside it, which no sender shall reach; other characters mean something in a policy.
fn is_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_local = ["localhost", "local", "internal"].contains(&last);
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
    host.contains('.')
        && host.bytes().all(is_plain)
        && last.bytes().any(|byte| byte.is_ascii_lowercase())
        && !is_local
}

/// Decodes `%40` and the like.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictures(are_loaded: bool) -> Pictures {
        let inside = [("a b@x".to_owned(), "/1".to_owned()), ("logo.png".to_owned(), "/2".to_owned())];
        Pictures { inside: inside.into(), are_loaded }
    }

    #[test]
    fn pictures_of_the_message_are_found_and_others_only_if_they_are_wanted() {
        let (blocked, loaded) = (Origins::default(), Origins::default());
        for (value, when_blocked, when_loaded) in [
            ("cid:a%20b@x", Some("/1"), Some("/1")),
            ("CID:a b@x", Some("/1"), Some("/1")),
            ("cid:other", None, None),
            ("logo.png", Some("/2"), Some("/2")),
            ("data:image/PNG;base64,AA", Some("data:image/PNG;base64,AA"), Some("data:image/PNG;base64,AA")),
            ("data:image/svg+xml,<svg/>", None, None),
            ("data:text/html,x", None, None),
            ("http://a.example/x?y", None, Some("http://a.example/x?y")),
            ("https:\\\\A.example\\z", None, Some("https://a.example/z")),
            ("https://a.example:8443/", None, Some("https://a.example:8443/")),
            ("http://b\u{fc}cher.example/", None, Some("http://xn--bcher-kva.example/")),
            ("ftp://a.example/", None, None),
            ("//a.example/", None, None),
            ("javascript:x()", None, None),
        ] {
            assert_eq!(pictures(false).source(value, &blocked).as_deref(), when_blocked, "{value}");
            assert_eq!(pictures(true).source(value, &loaded).as_deref(), when_loaded, "{value}");
        }
        let expected = [
            "http://a.example",
            "https://a.example",
            "https://a.example:8443",
            "http://xn--bcher-kva.example",
        ];
        assert_eq!(blocked.list(), expected);
        assert_eq!(loaded.list(), expected);
    }

    #[test]
    fn no_host_leads_to_the_machine_or_says_something_in_a_policy() {
        for value in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://192.168.1.1/",
            "http://localhost/",
            "http://a.localhost/",
            "http://printer/",
            "http://nas.local./",
            "http://*.example/",
            "http://a;script-src.example/",
            "http://a,b.example/",
            "http://a'b.example/",
            "http://user@a.example/",
            "http://:password@a.example/",
        ] {
            let origins = Origins::default();
            assert_eq!(pictures(true).source(value, &origins), None, "{value}");
            assert_eq!(origins.list(), [""; 0], "{value}");
        }
    }

    #[test]
    fn origins_have_a_limit() {
        let origins = Origins::default();
        let load = |number: usize| {
            pictures(true).source(&format!("http://h{number:03}.example/"), &origins).is_some()
        };
        let count = (0..500).filter(|number| load(*number)).count();
        assert_eq!(origins.list().len(), count);
        let bytes = origins.list().join(" ").len();
        assert!((ORIGIN_BYTES_MAX - 30..=ORIGIN_BYTES_MAX).contains(&bytes), "{bytes}");
        assert!(load(0) && !load(499));
    }
}
