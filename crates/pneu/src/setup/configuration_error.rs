//! What can be wrong with a configuration.
//!
//! Output: errors as data, each a sentence with the key. Does not depend on what is checked.

use crate::setup::attachments::AttachmentFault;
use crate::setup::roots::RootsError;
use std::ops::Range;
use std::path::PathBuf;

/// Why a text is not a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// It is not TOML, or has a key or a type that a configuration does not have.
    #[error("{what}")]
    Syntax {
        /// Where in the text, in bytes, if that is known.
        span: Option<Range<usize>>,
        /// What is wrong, in a few lines that show the place.
        what: String,
    },
    /// A list is too long.
    #[error("{key}: {count} {items}, at most {max} are allowed")]
    TooMany {
        /// The key of the list: "headers", "user.addresses".
        key: &'static str,
        /// What it lists: "names".
        items: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// A text in `user.addresses` is neither an address nor a domain. It would never match, and the user
    /// would not notice.
    #[error(
        "user.addresses: \"{text}\" is neither an address, such as ana@example.org, nor a domain, such as \
         @example.org"
    )]
    Address {
        /// The text.
        text: String,
    },
    /// A rule cannot be followed.
    #[error("rule {number}: {what}")]
    Rule {
        /// Its number, from 1.
        number: usize,
        /// What is wrong.
        what: String,
    },
    /// A folder with a role is the inbox of its root.
    #[error("root \"{name}\": {key}: the inbox cannot have this role; name another folder")]
    InboxWithRole {
        /// The root's name.
        name: String,
        /// The key of the role.
        key: &'static str,
    },
    /// A text in `from` of a root has no address.
    #[error(
        "root \"{name}\": from: \"{text}\" is neither an address nor a name with one, such as Ana \
         <ana@example.org>"
    )]
    Identity {
        /// The root's name.
        name: String,
        /// The text.
        text: String,
    },
    /// A name in `headers` cannot be searched.
    #[error("headers: \"{name}\" {fault}")]
    Header {
        /// The name.
        name: String,
        /// Why not.
        fault: HeaderFault,
    },
    /// A language in `search.stem` has no stems.
    #[error("search.stem: there are no stems of \"{name}\"; languages are {}", known.join(", "))]
    Language {
        /// The name.
        name: String,
        /// The languages that have stems.
        known: Vec<&'static str>,
    },
    /// The path of a root is relative.
    #[error("root \"{name}\": path \"{}\" must begin with / or ~/", path.display())]
    RelativePath {
        /// The root's name.
        name: String,
        /// The path.
        path: PathBuf,
    },
    /// The table `[attachments]` cannot be used.
    #[error("attachments.{0}")]
    Attachments(#[from] AttachmentFault),
    /// The roots cannot be used together.
    #[error(transparent)]
    Roots(#[from] RootsError),
}

/// Why queries cannot search a header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// It is not the name of a field.
    #[error("is not a valid name: use letters, digits, - and _, a letter first")]
    Invalid,
    /// Queries could not tell it from a saved query.
    #[error("is reserved: it begins the names of saved queries")]
    Reserved,
    /// A field of queries searches it.
    #[error("is always searched, as \"{field}:\"; leave it out")]
    Known {
        /// The field.
        field: &'static str,
    },
    /// It is there twice.
    #[error("is listed twice")]
    Twice,
}
