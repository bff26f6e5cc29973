//! The header fields of answers. Input: what an answer says. Output: fields. Does not know bodies.

use crate::response::{Cache, Disposition, Frames, Response};
use hyper::HeaderMap;
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use std::fmt::Write;

/// What a page may do whose answer does not say: nothing. The last three do not follow from the first.
const DEFAULT_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; form-action 'none'; base-uri 'none'; sandbox");
/// The type of bodies that have none that can be said.
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// Nobody keeps an answer. The second word is enough; old caches know the others (RFC 8620, section 2).
const NOT_KEPT: HeaderValue = HeaderValue::from_static("no-cache, no-store, must-revalidate");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

/// Returns the fields that every answer has.
pub(crate) fn common() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), SAME_ORIGIN);
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), SAME_ORIGIN);
    set_policy(&mut headers, DEFAULT_POLICY, Frames::None);
    headers.insert(CACHE_CONTROL, NOT_KEPT);
    headers
}

/// Says what a page may do, and separately who may show it in a frame: all policies of an answer hold, so
/// none can undo another.
fn set_policy(headers: &mut HeaderMap, policy: HeaderValue, frames: Frames) {
    let (ancestors, old) = match frames {
        Frames::None => ("frame-ancestors 'none'", "DENY"),
        Frames::SameOrigin => ("frame-ancestors 'self'", "SAMEORIGIN"),
    };
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.append(CONTENT_SECURITY_POLICY, HeaderValue::from_static(ancestors));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static(old));
}

/// Returns the fields of an answer of the application, or `None` if its policy cannot be sent: a page without
/// its policy is worse than no page.
pub(crate) fn of(response: &Response) -> Option<HeaderMap> {
    let mut headers = common();
    let policy = match &response.content_security_policy {
        Some(policy) => HeaderValue::from_str(policy).ok()?,
        None => DEFAULT_POLICY,
    };
    set_policy(&mut headers, policy, response.frames);
    if let Some(text) = &response.content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(text).unwrap_or(BYTES));
    }
    if response.cache == Cache::Immutable {
        let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
        headers.insert(CACHE_CONTROL, forever);
    }
    match &response.disposition {
        Disposition::Unsaid => {}
        Disposition::Inline => {
            headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
        }
        Disposition::Attachment(name) => {
            headers.insert(CONTENT_DISPOSITION, attachment(name));
        }
    }
    Some(headers)
}

/// Returns the field that makes a browser store an answer under a name (RFC 6266): once in ASCII without
/// what would end a quoted text, and once as it is (RFC 8187).
fn attachment(name: &str) -> HeaderValue {
    let is_plain = |letter: char| letter == ' ' || letter.is_ascii_graphic() && !"\"\\%/".contains(letter);
    let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let mut text = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    // All letters are printable ASCII by now.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_end_no_field_and_keep_their_letters() {
        let text = |name: &str| attachment(name).to_str().unwrap().to_owned();
        assert_eq!(text("a b.txt"), "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt");
        let odd = "attachment; filename=\"_; _____._\"; filename*=UTF-8''%22%3B%20%5C%2F%25%0D%0A.%C3%A9";
        assert_eq!(text("\"; \\/%\r\n.é"), odd);
    }
}
