//! One message of a list, with the parts that were read.
//!
//! Input: a hit, and what of it is needed. Output: the message; parts that are not needed are empty. Anything
//! else that a list shows of a message belongs here. Does not depend on how it is printed.

use crate::position::Position;
use index::{Hit, Line, Mailbox, Message, RecordReader, Rest, Result};
use mail::ContentFlags;
use std::ops::BitOr;

/// A message of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The index's data of it, as far as [`Need`] says.
    pub message: Message,
    /// Where it stands in its conversation, if conversations are listed. The Message-ID of the first message
    /// is empty unless [`Need::header`] is asked for.
    pub position: Option<Position<String>>,
}

/// What must be read of each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Its size, sender and subject. The date needs no reading.
    pub line: bool,
    /// Its files.
    pub files: bool,
    /// All header fields, and the SHA-256. Everything above comes with them.
    pub header: bool,
}

impl Need {
    /// The date only.
    pub const NOTHING: Need = Need { line: false, files: false, header: false };
    /// The columns of a list.
    pub const LINE: Need = Need { line: true, ..Need::NOTHING };
    /// The files.
    pub const FILES: Need = Need { files: true, ..Need::NOTHING };
    /// The columns of a list, and the files.
    pub const LINE_AND_FILES: Need = Need { line: true, files: true, header: false };
    /// Everything.
    pub const ALL: Need = Need { line: true, files: true, header: true };
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
    pub fn read(mailbox: &Mailbox, hit: &Hit, need: Need, reader: &mut RecordReader) -> Result<Listed> {
        if need.header {
            return Ok(Listed { message: mailbox.message(hit, reader)?, position: None });
        }
        let line = if need.line { mailbox.line(hit, reader)? } else { unread(hit) };
        let files = if need.files { mailbox.files(hit)? } else { Vec::new() };
        let message = Message { sha256: [0; 32], line, rest: Rest::default(), tags: Vec::new(), files };
        Ok(Listed { message, position: None })
    }
}

fn unread(hit: &Hit) -> Line {
    Line {
        date: hit.date_seconds(),
        size_bytes: 0,
        derived: ContentFlags::NONE,
        from: String::new(),
        subject: String::new(),
    }
}

/// Turns messages of a list into bytes: one format.
pub trait Printer: Sync {
    /// Returns what must be read of each message.
    fn need(&self) -> Need;

    /// Appends what is printed of one message.
    fn print(&self, listed: &Listed, out: &mut Vec<u8>);
}
