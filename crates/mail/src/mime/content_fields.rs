//! Parses the content fields of a part's header: type, boundary, charset, name, disposition, transfer
//! encoding.
//!
//! Input: a header block. Output: a `ContentFields`, in which missing and broken values are replaced as RFC
//! 2045 says. mail-parser parses the parameters. File names in pieces, with charsets or as encoded words are
//! parsed by `parameters.rs`. mail-parser gets one line of UTF-8, because it would lose raw 8-bit bytes. Does
//! not depend on the content itself.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderValue};

use crate::bytes::{before, cut};
use crate::decode::encoded_words::{decode_words, tidy, unfold};
use crate::decode::transfer::{Transfer, transfer};
use crate::decode::uuencode::is_uuencode;
use crate::header::block::Block;
use crate::header::quoted::without_quotes;
use crate::limits::{NAME_BYTES_MAX, PARAMETERS_BYTES_MAX};
use crate::mime::parameters::read_file_name;
use crate::problem::{Problem, Problems};

/// The Content-Disposition of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Disposition {
    /// There is none, or it is of another kind.
    #[default]
    Unsaid,
    Inline,
    Attachment,
}

/// The content fields of a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContentFields {
    /// `type/subtype` in lower case.
    pub(crate) mime: String,
    pub(crate) boundary: Option<String>,
    pub(crate) charset: Option<String>,
    /// The parameter `smime-type` in lower case.
    pub(crate) smime_type: Option<String>,
    /// The content was found to be encrypted by S/MIME.
    pub(crate) needs_key: bool,
    /// The name of the file, or empty.
    pub(crate) name: String,
    pub(crate) disposition: Disposition,
    /// The names by which HTML in the same message refers to it: Content-ID and Content-Location, each
    /// followed by a line feed; empty without both.
    pub(crate) content_ids: Vec<u8>,
    pub(crate) transfer: Transfer,
    /// It is uuencoded, which is decoded only when it is handed out.
    pub(crate) is_uuencoded: bool,
}

impl ContentFields {
    pub(crate) fn is_multipart(&self) -> bool {
        self.mime.starts_with("multipart/")
    }

    pub(crate) fn is_message(&self) -> bool {
        matches!(self.mime.as_str(), "message/rfc822" | "message/global" | "message/news")
    }

    /// Returns whether the content is text, including the reports of mail servers.
    pub(crate) fn is_text(&self) -> bool {
        self.mime.starts_with("text/")
            || matches!(
                self.mime.as_str(),
                "message/delivery-status"
                    | "message/disposition-notification"
                    | "message/feedback-report"
                    | "message/global-headers"
                    | "message/global-delivery-status"
            )
    }

    /// Returns whether the content is S/MIME, by its type or because it was found to be encrypted.
    pub(crate) fn is_smime(&self) -> bool {
        matches!(self.mime.as_str(), "application/pkcs7-mime" | "application/x-pkcs7-mime") || self.needs_key
    }

    /// Returns whether the header allows the content to be S/MIME that opens without a key.
    pub(crate) fn may_open_without_key(&self) -> bool {
        const CLOSED: [&str; 3] = ["enveloped-data", "authenveloped-data", "certs-only"];
        let is_closed = self.smime_type.as_deref().is_some_and(|smime_type| CLOSED.contains(&smime_type));
        !is_closed && (self.is_smime() || self.is_unnamed_smime())
    }

    /// Returns whether only the file name says that it is S/MIME.
    pub(crate) fn is_unnamed_smime(&self) -> bool {
        self.mime == "application/octet-stream" && self.name.to_ascii_lowercase().ends_with(".p7m")
    }

    /// Returns whether the content is a detached signature, which is not an attachment.
    pub(crate) fn is_signature(&self) -> bool {
        matches!(
            self.mime.as_str(),
            "application/pgp-signature" | "application/pkcs7-signature" | "application/x-pkcs7-signature"
        )
    }

    /// Returns whether the text is code for programs, which is not worth searching.
    pub(crate) fn is_code(&self) -> bool {
        matches!(self.mime.as_str(), "text/css" | "text/javascript")
    }

    pub(crate) fn is_html(&self) -> bool {
        matches!(
            self.mime.as_str(),
            "text/html" | "text/x-amp-html" | "text/watch-html" | "text/enriched" | "text/richtext"
        )
    }
}

/// Parses the content fields of a header block. `default` is the type of a part that names none.
pub(crate) fn read_content(block: &Block<'_>, default: &str, problems: &mut Problems) -> ContentFields {
    let mut content = ContentFields::default();
    let line = one_line(block.first("content-type"), problems);
    match parameters(&line) {
        Some(found) => {
            content.mime = mime(&found, default);
            content.boundary =
                attribute(&found, "boundary").filter(|boundary| !boundary.is_empty()).map(Into::into);
            content.charset = attribute(&found, "charset").map(|charset| cut(charset, 64).into());
            content.smime_type = attribute(&found, "smime-type").map(str::to_ascii_lowercase);
            content.name = name(&found, (&line, "name"), problems);
        }
        None => content.mime = default.into(),
    }
    let line = one_line(block.first("content-disposition"), problems);
    if let Some(found) = parameters(&line) {
        content.disposition = match found.ctype() {
            "attachment" => Disposition::Attachment,
            "inline" => Disposition::Inline,
            _ => Disposition::Unsaid,
        };
        let file_name = name(&found, (&line, "filename"), problems);
        if !file_name.is_empty() {
            content.name = file_name;
        }
    }
    content.content_ids = content_ids(block);
    if let Some(value) = block.first("content-transfer-encoding") {
        content.is_uuencoded = is_uuencode(value);
        content.transfer = transfer(value).unwrap_or_else(|| {
            problems.add(Problem::TransferUnknown(String::from_utf8_lossy(before(value, 64)).into_owned()));
            Transfer::Identity
        });
    }
    content
}

/// Returns whether a header block says that its fields are those of the message it protects.
pub(crate) fn has_protected_fields(block: &Block<'_>, problems: &mut Problems) -> bool {
    let line = one_line(block.first("content-type"), problems);
    let Some(found) = parameters(&line) else { return false };
    let is = |name, values: &[&str]| {
        attribute(&found, name)
            .is_some_and(|value| values.iter().any(|known| value.eq_ignore_ascii_case(known)))
    };
    is("protected-headers", &["v1"]) || is("hp", &["clear", "cipher"])
}

/// Returns the names by which HTML in the same message refers to the part.
fn content_ids(block: &Block<'_>) -> Vec<u8> {
    let (id, location) = (block.first("content-id"), block.first("content-location"));
    if id.is_none() && location.is_none() {
        return Vec::new();
    }
    let mut ids = Vec::new();
    for value in [id, location] {
        let value = before(value.unwrap_or_default(), PARAMETERS_BYTES_MAX);
        // Servers may fold the line elsewhere.
        ids.extend(value.iter().filter(|byte| !byte.is_ascii_whitespace()));
        ids.push(b'\n');
    }
    ids
}

/// Returns a value as one line of UTF-8, or an empty line if there is no value.
fn one_line(value: Option<&[u8]>, problems: &mut Problems) -> Vec<u8> {
    let Some(value) = value else { return Vec::new() };
    let text = unfold(before(value, PARAMETERS_BYTES_MAX), None, problems);
    let mut line: Vec<u8> =
        text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).chain([b'\n']).collect();
    // `application/pdf name=a.pdf` lacks its semicolon.
    if memchr::memchr(b';', &line).is_none()
        && memchr::memchr(b'=', &line).is_some()
        && let Some(space) = line.iter_mut().find(|byte| matches!(byte, b' ' | b'\t'))
    {
        *space = b';';
    }
    line
}

/// Parses a line of the form `word/word; name=value; ...`.
fn parameters(line: &[u8]) -> Option<ContentType<'_>> {
    match MessageStream::new(line).parse_content_type() {
        HeaderValue::ContentType(found) => Some(found),
        _ => None,
    }
}

/// Returns the type; an invalid one becomes the default, as RFC 2045, 5.2, says.
fn mime(found: &ContentType<'_>, default: &str) -> String {
    let sub_type = found.subtype().map(|sub| sub.split_ascii_whitespace().next().unwrap_or_default());
    let is_token =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    match (found.ctype(), sub_type) {
        (main, Some(sub)) if is_token(main) && is_token(sub) => {
            let mime = format!("{main}/{sub}").to_ascii_lowercase();
            cut(&mime, 128).to_owned()
        }
        ("multipart", _) => "multipart/mixed".into(),
        ("text" | "html", Some("html")) | ("html", None) => "text/html".into(),
        ("application" | "image" | "audio" | "video", _) => "application/octet-stream".into(),
        _ if found.has_attribute("boundary") => "multipart/mixed".into(),
        _ if default.is_empty() => "text/plain".into(),
        _ => default.into(),
    }
}

fn attribute<'a>(found: &'a ContentType<'_>, name: &str) -> Option<&'a str> {
    found.attribute(name).map(str::trim)
}

/// Returns the name of a file. Encoded words are not allowed in it, but some programs send them.
fn name(found: &ContentType<'_>, (line, parameter): (&[u8], &str), problems: &mut Problems) -> String {
    let is_extended = memchr::memchr(b'*', line).is_some() || memchr::memmem::find(line, b"=?").is_some();
    let own = if is_extended { read_file_name(line, parameter, problems) } else { None };
    let Some(value) = own.as_deref().or_else(|| found.attribute(parameter)) else { return String::new() };
    let decoded = without_quotes(tidy(&decode_words(value, problems)));
    cut(&decoded, NAME_BYTES_MAX).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::block::split;

    fn read(header: &str) -> ContentFields {
        read_content(&split(header.as_bytes()), "text/plain", &mut Problems::default())
    }

    #[test]
    fn types_are_read() {
        for (value, expected) in [
            ("text/plain", "text/plain"),
            ("TEXT/HTML; charset=x", "text/html"),
            ("text", "text/plain"),
            ("html", "text/html"),
            ("", "text/plain"),
            ("multipart", "multipart/mixed"),
            ("application", "application/octet-stream"),
            ("x; boundary=y", "multipart/mixed"),
            ("image/png (comment)", "image/png"),
            ("image/png name=a.png", "image/png"),
            ("image/png\tname=a.png; x=y", "image/png"),
            ("=?utf-8?q?a?=", "text/plain"),
            (";;;", "text/plain"),
        ] {
            assert_eq!(read(&format!("Content-Type: {value}\n\n")).mime, expected, "{value}");
        }
        assert_eq!(read("\n").mime, "text/plain");
    }

    #[test]
    fn parameters_are_read() {
        let content = read("Content-Type: multipart/mixed;\r\n\tBOUNDARY=\"a b=\"; charset = UTF-8\r\n\r\n");
        assert_eq!(content.boundary.as_deref(), Some("a b="));
        assert_eq!(content.charset.as_deref(), Some("UTF-8"));
        let content =
            read("Content-Disposition: Attachment; filename=x.pdf\nContent-Transfer-Encoding: BASE64\n\n");
        assert_eq!(content.disposition, Disposition::Attachment);
        assert_eq!((content.name.as_str(), content.transfer), ("x.pdf", Transfer::Base64));
    }

    #[test]
    fn names_are_read_however_they_are_written() {
        for (value, expected) in [
            ("name=plain.txt", "plain.txt"),
            ("name=\"with space.txt\"", "with space.txt"),
            ("name*=utf-8''caf%C3%A9.txt", "café.txt"),
            ("name*0=\"one \"; name*1=\"two.txt\"", "one two.txt"),
            ("name*0*=iso-8859-1'de'f%FCnf; name*1=\" b.txt\"", "fünf b.txt"),
            ("name=\"=?utf-8?q?caf=C3=A9=2Etxt?=\"", "café.txt"),
            ("name==?utf-8?q?caf=C3=A9=2Etxt?=", "café.txt"),
            ("name=\"caf\u{e9}.txt\"", "café.txt"),
            ("name=\"a \\\"b\\\".txt\"", "a \"b\".txt"),
            // Characters split between two pieces of a value, or between two encoded words of one.
            ("name*0*=utf-8''caf%C3; name*1*=%A9.txt", "café.txt"),
            ("name*0*=shift_jis'ja'%93; name*1*=%FA.txt", "日.txt"),
            ("name*0*=iso-2022-jp''%1B$BF|%1B%28B; name*1=.txt", "日.txt"),
            ("name*0*=iso-2022-kr''%1B$%29C%0EGQ1[%0F; name*1*=.txt", "한글.txt"),
            ("name*=hz-gb-2312''%7E{VPND%7E}.txt", "中文.txt"),
            ("name*0=\"=?utf-8?q?caf=C3?= =?ut\"; name*1=\"f-8?q?=A9=2Etxt?=\"", "café.txt"),
            ("name=\"=?iso-2022-jp?B?GyRCRg==?= =?iso-2022-jp?B?fBsoQg==?=.txt\"", "日.txt"),
            ("name=\"=?utf-8?q?=22caf=C3=A9=2Etxt=22?=\"", "café.txt"),
            ("name*=utf-8''%22caf%C3%A9.txt%22", "café.txt"),
            ("name=\"\\\"b.txt\\\"\"", "b.txt"),
        ] {
            assert_eq!(read(&format!("Content-Type: a/b; {value}\n\n")).name, expected, "{value}");
        }
        let block = split(b"Content-Type: a/b; name=\"caf\xe9.txt\"\n\n");
        assert_eq!(read_content(&block, "", &mut Problems::default()).name, "café.txt");
    }
}
