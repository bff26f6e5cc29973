//! One message of a list, as far as it was read.
//!
//! In: a hit, and what of it is needed. Out: the message; what was not needed is empty. Whatever else a list may say of a message
//! belongs here, beside it. Must not know how it is printed.

use index::{Hit, Line, Mailbox, Message, Origin, PayloadReader, Rest, Result};
use mail::Derived;
use std::ops::BitOr;

/// A message of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// What the index knows of it, as far as [`Need`] says.
    pub message: Message,
    /// Where it stands in its conversation, if conversations are listed.
    pub place: Option<Place>,
}

/// Where a message stands in its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The Message-ID of the conversation's first message; empty unless [`Need::header`] is asked for.
    pub thread: String,
    /// How many messages stand above it.
    pub depth: u32,
    /// Whether it was found, or only belongs to what was.
    pub origin: Origin,
}

/// What must be read of each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    /// Its size, sender and subject. The date is known without.
    pub line: bool,
    /// Its files.
    pub files: bool,
    /// All header fields, and the SHA-256. Everything above comes with them.
    pub header: bool,
}

impl Need {
    /// The date only.
    pub(crate) const NOTHING: Need = Need { line: false, files: false, header: false };
    /// What a list shows.
    pub(crate) const LINE: Need = Need { line: true, ..Need::NOTHING };
    /// The files.
    pub(crate) const FILES: Need = Need { files: true, ..Need::NOTHING };
    /// What a list shows, and the files.
    pub(crate) const LINE_AND_FILES: Need = Need { line: true, files: true, header: false };
    /// Everything.
    pub(crate) const ALL: Need = Need { line: true, files: true, header: true };
}

impl BitOr for Need {
    type Output = Need;

    fn bitor(self, other: Need) -> Need {
        Need {
            line: self.line || other.line,
            files: self.files || other.files,
            header: self.header || other.header,
        }
    }
}

impl Listed {
    /// Reads what is needed of a hit.
    ///
    /// # Errors
    /// Damage in the store.
    pub(crate) fn read(
        mailbox: &Mailbox,
        hit: &Hit,
        need: Need,
        reader: &mut PayloadReader,
    ) -> Result<Listed> {
        if need.header {
            return Ok(Listed { message: mailbox.message(hit, reader)?, place: None });
        }
        let line = if need.line { mailbox.line(hit, reader)? } else { unread(hit) };
        let files = if need.files { mailbox.files(hit)? } else { Vec::new() };
        let message = Message { sha256: [0; 32], line, rest: Rest::default(), tags: Vec::new(), files };
        Ok(Listed { message, place: None })
    }
}

fn unread(hit: &Hit) -> Line {
    Line {
        date: hit.date_seconds(),
        size_bytes: 0,
        derived: Derived::NONE,
        from: String::new(),
        subject: String::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use index::{Contact, MessageFile};
    use mail::Flags;
    use std::path::Path;

    /// A message in two files, with something in every field, and harm in some.
    pub(crate) fn sample() -> Listed {
        let contact = |name: &str, address: &str| Contact { name: name.into(), address: address.into() };
        let file = |maildir: &str, name: &str, flags| MessageFile {
            root: "mail".into(),
            maildir: maildir.into(),
            path: Path::new("/m").join(&maildir[1..]).join("cur").join(name),
            flags,
            keywords: 0,
            changed_seconds: 1_714_564_800,
        };
        let line = Line {
            date: Some(1_709_647_331),
            size_bytes: 4096,
            derived: Derived::ATTACHMENT,
            from: "Ana\u{1b}[31m".into(),
            subject: "Grüße\nFrom: x\u{202e}".into(),
        };
        let rest = Rest {
            message_id: "x\"y\\@example.org".into(),
            from: vec![contact("Ana\u{1b}[31m", "ana@example.org")],
            to: vec![contact("", "bo@example.org"), contact("Cy", "cy@example.org")],
            cc: vec![contact("undisclosed", "")],
            bcc: vec![contact("Dee", "dee@example.org")],
            references: vec!["v@example.org".into(), "w@example.org".into()],
            list_id: "tubes.example.org".into(),
            attachments: vec!["plan.pdf".into(), "ä.txt".into()],
            labels: vec!["work".into()],
            snippet: "hello".into(),
            language: "en".into(),
            headers: vec![],
            problems: vec!["the date is odd".into()],
        };
        let files = vec![file("/lists", "1:2,S", Flags::SEEN), file("/copies", "2:2,F", Flags::FLAGGED)];
        Listed {
            message: Message {
                sha256: [0xab; 32],
                line,
                rest,
                tags: vec!["todo".into(), "work".into()],
                files,
            },
            place: None,
        }
    }
}
