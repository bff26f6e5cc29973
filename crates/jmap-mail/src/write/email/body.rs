//! The parts of a new email (RFC 8621, section 4.6).
//!
//! Input: `bodyStructure`, or `textBody`, `htmlBody` and `attachments`, with `bodyValues` and blobs. Output:
//! a tree of parts. Without a structure, text and HTML are alternatives, pictures that the HTML shows are
//! related to it, and all else is attached. Does not know header fields of the message.

use super::fields::{self, Field, optional, token};
use jmap::{Id, SetError, SetErrorKind};
use mail::{NewContent, NewPart, NewValue};
use serde_json::{Map, Value};

/// How deep parts may be nested.
const DEPTH_MAX: usize = 16;
/// How many parts an email may have.
const PART_COUNT_MAX: usize = 1_000;

type Object = Map<String, Value>;

/// Makes the parts of one email.
pub(super) struct Body<'b> {
    values: Option<&'b Object>,
    blob: &'b dyn Fn(&Id) -> Option<Vec<u8>>,
    /// Bytes of blobs that may still come.
    bytes_left: usize,
    bytes_max: usize,
    parts_left: usize,
    missing: Vec<String>,
}

/// The property that is wrong, or another refusal.
#[derive(Debug)]
pub(super) enum Fault {
    Property(&'static str),
    TooLarge,
}

type Made<T> = Result<T, Fault>;

impl Body<'_> {
    /// Returns the content of an email with these properties, as a part without fields of the message.
    pub(super) fn of(
        object: &Object,
        blob: &dyn Fn(&Id) -> Option<Vec<u8>>,
        bytes_max: usize,
    ) -> Result<NewPart, SetError> {
        let values = match object.get("bodyValues") {
            None | Some(Value::Null) => None,
            Some(Value::Object(values)) => Some(values),
            Some(_) => return Err(SetError::invalid_properties(["bodyValues"])),
        };
        let (bytes_left, missing) = (bytes_max, Vec::new());
        let mut body = Body { values, blob, bytes_left, bytes_max, parts_left: PART_COUNT_MAX, missing };
        let made = body.whole(object);
        if !body.missing.is_empty() {
            let error = SetError::from(SetErrorKind::Other("blobNotFound"));
            return Err(error.with("notFound", body.missing));
        }
        made.map_err(|fault| match fault {
            Fault::Property(name) => SetError::invalid_properties([name]),
            Fault::TooLarge => SetError::from(SetErrorKind::TooLarge).with("maxSize", body.bytes_max),
        })
    }

    fn whole(&mut self, object: &Object) -> Made<NewPart> {
        let given = |name: &str| object.get(name).filter(|value| !value.is_null());
        if let Some(structure) = given("bodyStructure") {
            let other =
                ["textBody", "htmlBody", "attachments"].into_iter().find(|name| given(name).is_some());
            return match other {
                Some(name) => Err(Fault::Property(name)),
                None => self.part(structure, "bodyStructure", 0),
            };
        }
        let text = self.only(given("textBody"), ("textBody", "text/plain"))?;
        let html = self.only(given("htmlBody"), ("htmlBody", "text/html"))?;
        let attachments = match given("attachments") {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().map(|item| self.part(item, "attachments", 0)).collect::<Made<_>>()?
            }
            Some(_) => return Err(Fault::Property("attachments")),
        };
        let is_shown = |part: &NewPart| html.is_some() && is_inline(part);
        let (shown, attached): (Vec<NewPart>, Vec<NewPart>) = attachments.into_iter().partition(is_shown);
        let html = html.map(|html| match shown.is_empty() {
            true => html,
            false => multipart("related", [vec![html], shown].concat()),
        });
        let body = match (text, html) {
            (Some(text), Some(html)) => multipart("alternative", vec![text, html]),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => leaf("text/plain", NewContent::Text(String::new())),
        };
        let attached: Vec<NewPart> = attached.into_iter().map(as_attachment).collect();
        Ok(if attached.is_empty() { body } else { multipart("mixed", [vec![body], attached].concat()) })
    }

    /// Makes the only part of a list, which must be of this type.
    fn only(&mut self, value: Option<&Value>, (name, kind): (&'static str, &str)) -> Made<Option<NewPart>> {
        let Some(value) = value else { return Ok(None) };
        let Some([item]) = value.as_array().map(Vec::as_slice) else { return Err(Fault::Property(name)) };
        let is_kind = match item.get("type") {
            None | Some(Value::Null) => kind == "text/plain",
            Some(given) => given.as_str().is_some_and(|given| given.eq_ignore_ascii_case(kind)),
        };
        if is_kind { self.part(item, name, 0).map(Some) } else { Err(Fault::Property(name)) }
    }

    fn part(&mut self, value: &Value, name: &'static str, depth: usize) -> Made<NewPart> {
        let fault = || Fault::Property(name);
        let object = value.as_object().filter(|_| depth < DEPTH_MAX).ok_or_else(fault)?;
        self.parts_left = self.parts_left.checked_sub(1).ok_or_else(fault)?;
        let known = [
            "partId",
            "blobId",
            "size",
            "name",
            "type",
            "charset",
            "disposition",
            "cid",
            "language",
            "location",
            "subParts",
        ];
        let is_known = |key: &String| known.contains(&key.as_str()) || key.starts_with("header:");
        if !object.keys().all(is_known) {
            return Err(fault());
        }
        let given = |key: &str| object.get(key).filter(|value| !value.is_null());
        let kind = match given("type") {
            None => None,
            Some(kind) => Some(kind.as_str().filter(|kind| is_type(kind)).ok_or_else(fault)?),
        };
        let (content, default) = self.content(object, (kind, name), depth)?;
        let kind = kind.unwrap_or(default).to_ascii_lowercase();
        let is_multipart = matches!(content, NewContent::Parts(_));
        let is_text = matches!(content, NewContent::Text(_));
        if is_multipart != kind.starts_with("multipart/") || (is_text && !kind.starts_with("text/")) {
            return Err(fault());
        }
        Ok(NewPart { fields: part_fields(object, (kind, is_text)).ok_or_else(fault)?, content })
    }

    /// Returns what a part holds, and the type that it has if none is given.
    fn content(
        &mut self,
        object: &Object,
        (kind, name): (Option<&str>, &'static str),
        depth: usize,
    ) -> Made<(NewContent, &'static str)> {
        let given = |key: &str| object.get(key).filter(|value| !value.is_null());
        let fault = || Fault::Property(name);
        match (given("partId"), given("blobId"), given("subParts")) {
            (Some(id), None, None) => Ok((self.text(id, object).ok_or_else(fault)?, "text/plain")),
            (None, Some(id), None) => Ok((self.bytes(id, kind)?, "application/octet-stream")),
            (None, None, Some(Value::Array(items))) => {
                let parts = items.iter().map(|item| self.part(item, name, depth + 1));
                Ok((NewContent::Parts(parts.collect::<Made<_>>()?), "multipart/mixed"))
            }
            _ => Err(fault()),
        }
    }

    /// Returns the text of a part that a body value has.
    fn text(&self, id: &Value, object: &Object) -> Option<NewContent> {
        let value = self.values?.get(id.as_str()?)?.as_object()?;
        let is_false = |key: &str| matches!(value.get(key), None | Some(Value::Bool(false)));
        let is_whole = is_false("isEncodingProblem") && is_false("isTruncated");
        let is_unsized = object.get("size").is_none_or(Value::is_null);
        let is_known =
            value.keys().all(|key| ["value", "isEncodingProblem", "isTruncated"].contains(&key.as_str()));
        let text = value.get("value")?.as_str().filter(|_| is_whole && is_unsized && is_known)?;
        Some(NewContent::Text(text.to_owned()))
    }

    /// Returns the bytes of a part that a blob has.
    fn bytes(&mut self, id: &Value, kind: Option<&str>) -> Made<NewContent> {
        let text = id.as_str().unwrap_or_default();
        let Some(bytes) = Id::new(text).and_then(|id| (self.blob)(&id)) else {
            self.missing.push(text.chars().take(jmap::ID_BYTES_MAX).collect());
            return Ok(NewContent::Bytes(Vec::new()));
        };
        self.bytes_left = self.bytes_left.checked_sub(bytes.len()).ok_or(Fault::TooLarge)?;
        let is_message = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("message/rfc822"));
        Ok(if is_message { NewContent::Message(bytes) } else { NewContent::Bytes(bytes) })
    }
}

/// Returns the header fields of a part, or `None` if a property is wrong.
fn part_fields(object: &Object, (kind, is_text): (String, bool)) -> Option<Vec<Field>> {
    let given = |key: &str| object.get(key).filter(|value| !value.is_null());
    let text = |key: &str| optional(object.get(key)).ok();
    let (file, charset, disposition) = (text("name")?, text("charset")?, text("disposition")?);
    let mut parameters: Vec<(String, String)> = Vec::new();
    match (is_text, charset) {
        (true, None) => parameters.push(("charset".to_owned(), "utf-8".to_owned())),
        (true, Some(_)) => return None,
        (false, Some(charset)) if kind.starts_with("text/") => {
            parameters.push(("charset".to_owned(), charset));
        }
        (false, _) => {}
    }
    parameters.extend(file.iter().map(|file| ("name".to_owned(), file.clone())));
    let mut fields = vec![("Content-Type".to_owned(), NewValue::Parameters(kind, parameters))];
    if let Some(disposition) = disposition {
        let disposition = Some(disposition).filter(|text| is_token(text))?;
        fields.push(with_file(disposition.to_ascii_lowercase(), file));
    }
    if let Some(cid) = given("cid") {
        fields.push(("Content-ID".to_owned(), NewValue::MessageIds(vec![token(cid)?])));
    }
    if let Some(languages) = given("language") {
        let list: Vec<&str> = languages.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
        let is_list = !list.is_empty() && list.iter().all(|one| is_token(one));
        fields.push(("Content-Language".to_owned(), NewValue::Raw(is_list.then(|| list.join(", "))?)));
    }
    if let Some(location) = given("location") {
        fields.push(("Content-Location".to_owned(), NewValue::Raw(token(location)?)));
    }
    let own = object.iter().filter(|(key, _)| key.starts_with("header:"));
    fields.extend(fields::read(own).ok()?);
    Some(fields)
}

fn leaf(kind: &str, content: NewContent) -> NewPart {
    let parameters = vec![("charset".to_owned(), "utf-8".to_owned())];
    NewPart {
        fields: vec![("Content-Type".to_owned(), NewValue::Parameters(kind.to_owned(), parameters))],
        content,
    }
}

fn multipart(kind: &str, parts: Vec<NewPart>) -> NewPart {
    let kind = NewValue::Parameters(format!("multipart/{kind}"), Vec::new());
    NewPart { fields: vec![("Content-Type".to_owned(), kind)], content: NewContent::Parts(parts) }
}

fn with_file(disposition: String, file: Option<String>) -> (String, NewValue) {
    let parameters = file.into_iter().map(|file| ("filename".to_owned(), file)).collect();
    ("Content-Disposition".to_owned(), NewValue::Parameters(disposition, parameters))
}

/// Returns a part of `attachments`, which is attached if nothing else is said.
fn as_attachment(mut part: NewPart) -> NewPart {
    if !part.fields.iter().any(|(name, _)| name == "Content-Disposition") {
        let file = part.fields.iter().find_map(|(_, value)| match value {
            NewValue::Parameters(_, parameters) => {
                parameters.iter().find(|(name, _)| name == "name").map(|(_, file)| file.clone())
            }
            _ => None,
        });
        part.fields.insert(1, with_file("attachment".to_owned(), file));
    }
    part
}

/// Returns whether a part is shown in a text that names it by its id.
fn is_inline(part: &NewPart) -> bool {
    let has = |name: &str| part.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let is_inline = |value: &NewValue| matches!(value, NewValue::Parameters(first, _) if first == "inline");
    has("Content-ID").is_some() && has("Content-Disposition").is_some_and(is_inline)
}

fn is_type(text: &str) -> bool {
    text.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// Returns whether a text is a token of RFC 2045.
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && !br#"()<>@,;:\"/[]?="#.contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}
