//! Which content types a download may have, and an upload has. Input: a type that a client, and so a sender,
//! chose. Output: that type, or one that no browser acts on. Pure.

/// What no browser acts on.
const BYTES: &str = "application/octet-stream";
/// The most bytes of a type (RFC 6838, section 4.2: 127 for each half).
const BYTES_MAX: usize = 255;

/// Words in the second half of a type that a browser may run, load more for, or show in a viewer that does.
const ACTIVE: [&str; 15] = [
    "html",
    "xhtml",
    "xml",
    "xsl",
    "xslt",
    "svg",
    "pdf",
    "postscript",
    "javascript",
    "jscript",
    "ecmascript",
    "livescript",
    "java",
    "wasm",
    "css",
];

/// Returns the content type of a download that asks for this one: a plain `type/subtype` without parameters
/// that a browser only stores. All others become bytes, whatever they are.
pub(crate) fn content_type(wanted: &str) -> String {
    let wanted = wanted.to_ascii_lowercase();
    let is_plain = halves(&wanted).is_some_and(|(kind, rest)| {
        let is_active =
            rest.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| ACTIVE.contains(&word));
        kind != "multipart" && !is_active
    });
    if is_plain { wanted } else { BYTES.to_owned() }
}

/// Returns the type of an upload, from its field Content-Type: without parameters, in lower case.
pub(crate) fn media_type(field: &str) -> String {
    let sent = field.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if halves(&sent).is_some() { sent } else { BYTES.to_owned() }
}

/// Returns the halves of a type, if it is one.
fn halves(media: &str) -> Option<(&str, &str)> {
    let halves = media.split_once('/').filter(|_| media.len() <= BYTES_MAX);
    halves.filter(|(kind, rest)| is_token(kind) && is_token(rest))
}

/// Returns whether a half of a type is one (RFC 6838, section 4.2).
fn is_token(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_has_the_type_that_it_says_or_is_bytes() {
        for (field, expected) in [
            ("image/png", "image/png"),
            (" Text/HTML ; charset=utf-8", "text/html"),
            ("", BYTES),
            ("text", BYTES),
            ("text/", BYTES),
            ("a/b c", BYTES),
            (&format!("text/{}", "x".repeat(BYTES_MAX)), BYTES),
        ] {
            assert_eq!(media_type(field), expected, "{field}");
        }
    }

    #[test]
    fn plain_types_stay() {
        let office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        for kept in ["text/plain", "message/rfc822", "image/png", "application/zip", "font/woff2", office] {
            assert_eq!(content_type(kept), kept);
        }
        assert_eq!(content_type("Image/JPEG"), "image/jpeg");
    }

    #[test]
    fn what_a_browser_acts_on_and_what_is_no_type_become_bytes() {
        let long = format!("text/{}", "a".repeat(251));
        for wrong in [
            "text/html",
            "TEXT/HTML",
            "application/xhtml+xml",
            "image/svg+xml",
            "image/svg",
            "text/xslt",
            "text/jscript",
            "text/livescript",
            "application/postscript",
            "text/xml",
            "application/xml",
            "application/rss+xml",
            "application/xml-dtd",
            "text/xsl",
            "application/pdf",
            "application/x-pdf",
            "application/javascript",
            "application/x-javascript",
            "text/ecmascript",
            "text/css",
            "application/wasm",
            "application/java-archive",
            "multipart/x-mixed-replace",
            "text/plain; charset=utf-8",
            "text/html;x=",
            "text/html x",
            "text",
            "text/",
            "/plain",
            "",
            "text/plain/x",
            "text/pl\u{e9}in",
            "text/plain\r\nx: y",
            "*/*",
            long.as_str(),
        ] {
            assert_eq!(content_type(wrong), BYTES, "{wrong}");
        }
    }
}
