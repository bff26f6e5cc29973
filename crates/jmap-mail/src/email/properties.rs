//! The properties of an Email by their names, and the arguments that say how much of its body is wanted (RFC
//! 8621, sections 4.1 and 4.2).
//!
//! Input: arguments of a call. Output: what is asked for. Does not know how it is answered.

use super::header::HeaderProperty;
use jmap::{Arguments, MethodError, MethodErrorKind};

/// The properties of Email/get if a call does not say which.
const DEFAULT: [&str; 24] = [
    "id",
    "blobId",
    "threadId",
    "mailboxIds",
    "keywords",
    "size",
    "receivedAt",
    "messageId",
    "inReplyTo",
    "references",
    "sender",
    "from",
    "to",
    "cc",
    "bcc",
    "replyTo",
    "subject",
    "sentAt",
    "hasAttachment",
    "preview",
    "bodyValues",
    "textBody",
    "htmlBody",
    "attachments",
];
/// How many of these Email/parse does not have by default: those of the index.
const STORED_COUNT: usize = 7;

/// The properties of a part if a call does not say which. `subParts` is not among them, but a structure
/// without it would be none: see [`BodyProperty::SubParts`].
const BODY_DEFAULT: [&str; 10] =
    ["partId", "blobId", "size", "name", "type", "charset", "disposition", "cid", "language", "location"];

/// The arguments that [`BodyWanted::read`] takes.
pub(super) const BODY_ARGUMENTS: [&str; 5] = [
    "bodyProperties",
    "fetchTextBodyValues",
    "fetchHTMLBodyValues",
    "fetchAllBodyValues",
    "maxBodyValueBytes",
];

/// The most properties of an Email, and of a part. Each may be another header field, so there is no end to
/// them.
const PROPERTY_COUNT_MAX: usize = 256;

/// A property of an Email.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Property {
    /// One that the index has, by its name.
    Indexed(&'static str),
    /// A header field.
    Header(HeaderProperty),
    /// All header fields.
    Headers,
    /// The tree of parts.
    BodyStructure,
    /// The parts that show it as text.
    TextBody,
    /// The parts that show it as HTML.
    HtmlBody,
    /// The other parts.
    Attachments,
    /// The texts of parts.
    BodyValues,
    /// One about its files, which may be gone, by its name.
    Gone(&'static str),
}

impl Property {
    /// Returns its name, if it is about files that may be gone.
    pub(super) fn of_gone(&self) -> Option<&'static str> {
        if let Property::Gone(name) = self { Some(name) } else { None }
    }
}

/// A property of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BodyProperty {
    /// One of the default, by its name.
    Own(&'static str),
    /// Its parts. A multipart has them in a structure, whether or not they are asked for.
    SubParts,
    /// A header field.
    Header(HeaderProperty),
    /// All header fields.
    Headers,
}

/// Properties with their names, each once.
pub(super) type Named<P> = Vec<(String, P)>;

/// What is wanted of bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BodyWanted {
    /// Of each part.
    pub(super) properties: Named<BodyProperty>,
    /// Texts of the parts of `textBody`.
    pub(super) text_values: bool,
    /// Texts of the parts of `htmlBody`.
    pub(super) html_values: bool,
    /// Texts of all parts.
    pub(super) all_values: bool,
    /// The most bytes of each text.
    pub(super) value_bytes_max: Option<usize>,
}

impl BodyWanted {
    /// Takes the arguments.
    ///
    /// # Errors
    /// `invalidArguments`; `requestTooLarge`, if there are too many properties.
    pub(super) fn read(arguments: &mut Arguments) -> Result<BodyWanted, MethodError> {
        let properties = arguments.optional_strings("bodyProperties")?;
        let properties = match properties.as_deref() {
            Some(names) => named("bodyProperties", names.iter().map(String::as_str), body_property)?,
            None => named("bodyProperties", BODY_DEFAULT.into_iter(), body_property)?,
        };
        let length = arguments.optional_unsigned("maxBodyValueBytes")?.filter(|length| *length > 0);
        Ok(BodyWanted {
            properties,
            text_values: arguments.boolean("fetchTextBodyValues", false)?,
            html_values: arguments.boolean("fetchHTMLBodyValues", false)?,
            all_values: arguments.boolean("fetchAllBodyValues", false)?,
            value_bytes_max: length.map(|length| usize::try_from(length).unwrap_or(usize::MAX)),
        })
    }

    /// Returns whether any text is wanted.
    pub(super) fn has_values(&self) -> bool {
        self.text_values || self.html_values || self.all_values
    }
}

/// Returns the properties that a call of Email/get asks for, with the id.
///
/// # Errors
/// `invalidArguments`, if one is not known; `requestTooLarge`, if there are too many.
pub(super) fn stored(names: Option<&[String]>) -> Result<Named<Property>, MethodError> {
    match names {
        Some(names) => {
            let names = names.iter().map(String::as_str);
            named("properties", std::iter::once("id").chain(names), property)
        }
        None => named("properties", DEFAULT.into_iter(), property),
    }
}

/// Returns the properties that a call of Email/parse asks for.
///
/// # Errors
/// As [`stored`].
pub(super) fn parsed(names: Option<&[String]>) -> Result<Named<Property>, MethodError> {
    match names {
        Some(names) => named("properties", names.iter().map(String::as_str), property),
        None => named("properties", DEFAULT.into_iter().skip(STORED_COUNT), property),
    }
}

fn named<'n, P>(
    argument: &str,
    names: impl Iterator<Item = &'n str>,
    read: fn(&str) -> Option<P>,
) -> Result<Named<P>, MethodError> {
    let mut all: Named<P> = Vec::new();
    for name in names {
        if all.iter().any(|(known, _)| known == name) {
            continue;
        }
        if all.len() >= PROPERTY_COUNT_MAX {
            let what = format!("there are more than {PROPERTY_COUNT_MAX} {argument}");
            return Err(MethodError::new(MethodErrorKind::RequestTooLarge, what));
        }
        let unknown = || {
            let fault = "names a property that is not known, or a header field in a form that it cannot have";
            MethodError::invalid_argument(argument, fault)
        };
        all.push((name.to_owned(), read(name).ok_or_else(unknown)?));
    }
    Ok(all)
}

fn property(name: &str) -> Option<Property> {
    const INDEXED: [&str; 9] = [
        "id",
        "blobId",
        "threadId",
        "mailboxIds",
        "keywords",
        "size",
        "receivedAt",
        "hasAttachment",
        "preview",
    ];
    let indexed = INDEXED.into_iter().find(|known| *known == name).map(Property::Indexed);
    Some(match name {
        "headers" => Property::Headers,
        "bodyStructure" => Property::BodyStructure,
        "textBody" => Property::TextBody,
        "htmlBody" => Property::HtmlBody,
        "attachments" => Property::Attachments,
        "bodyValues" => Property::BodyValues,
        "isDeleted" => Property::Gone("isDeleted"),
        "deletedAt" => Property::Gone("deletedAt"),
        "inArchive" => Property::Gone("inArchive"),
        _ => {
            let header = || HeaderProperty::convenient(name).or_else(|| HeaderProperty::read(name));
            return indexed.or_else(|| header().map(Property::Header));
        }
    })
}

fn body_property(name: &str) -> Option<BodyProperty> {
    let own = BODY_DEFAULT.into_iter().find(|known| *known == name).map(BodyProperty::Own);
    match name {
        "subParts" => Some(BodyProperty::SubParts),
        "headers" => Some(BodyProperty::Headers),
        _ => own.or_else(|| HeaderProperty::read(name).map(BodyProperty::Header)),
    }
}
