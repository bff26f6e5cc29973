//! The fields of header records as values.
//!
//! Must not know their bytes.

/// The fields that a list of messages shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineRecord {
    /// The sender's name, or the address if there is no name.
    pub from: String,
    /// The subject, decoded.
    pub subject: String,
}

/// The header fields that a list does not show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// The Message-ID without angle brackets. It is derived from the content if the message has none.
    pub message_id: String,
    /// Senders.
    pub from: Vec<Contact>,
    /// Recipients.
    pub to: Vec<Contact>,
    /// Recipients of a copy.
    pub cc: Vec<Contact>,
    /// Recipients of a blind copy.
    pub bcc: Vec<Contact>,
    /// Message-IDs of earlier messages, oldest first. The last one is the message that this one answers.
    pub references: Vec<String>,
    /// The mailing list's id.
    pub list_id: String,
    /// Names of attachments.
    pub attachments: Vec<String>,
    /// Labels of X-Keywords, X-Label and Keywords.
    pub labels: Vec<String>,
    /// The first words of the text.
    pub snippet: String,
    /// The language of the text (ISO 639-1); empty if it is uncertain.
    pub language: String,
    /// The header fields that the configuration named when the message was indexed: name and decoded value.
    pub headers: Vec<(String, String)>,
    /// The message's problems, one sentence each.
    pub problems: Vec<String>,
}

/// A name with an address; either may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contact {
    /// The display name.
    pub name: String,
    /// The address.
    pub address: String,
}
