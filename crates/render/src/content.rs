//! A record of a message that was just read, with what the index knows of it.
//!
//! Input: the parsed content, the path that it was read from, and the message of the index, if it has it.
//! Output: a record. Reads nothing.

use crate::record::{File, Record};
use index::Message;
use mail::Flags;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A message that was read.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// The message, parsed.
    pub message: &'a mail::Message,
    /// The SHA-256 of the content.
    pub sha256: &'a [u8; 32],
    /// The length of the content.
    pub size_bytes: u64,
    /// The file that it was read from, if any.
    pub path: Option<&'a Path>,
}

impl<'a> Record<'a> {
    /// Returns all that is shown of a message that was read. Files, flags and tags are those that the index
    /// knows; without it, those that the name of the file tells. So is the date of a message that states
    /// none.
    pub fn from_content(content: &Content<'a>, known: Option<&'a Message>) -> Record<'a> {
        let Content { message, sha256, size_bytes, path } = *content;
        let files = match (known, path) {
            (Some(known), _) => (Vec::new(), known.files.iter().map(File::from_index).collect()),
            (None, Some(path)) => {
                let flags = flags_of(path);
                (vec![flags], vec![File::unknown(path, flags)])
            }
            (None, None) => (Vec::new(), Vec::new()),
        };
        let mut record = Record::from_mail(message, sha256, size_bytes, files);
        if message.date.is_none() {
            record.date_by(known.map_or_else(|| date_of_name(path), |known| known.line.date));
        }
        if let Some(known) = known {
            record.add_known(known);
        }
        record
    }
}

/// Returns the date that the name of its file gives a message that states none.
fn date_of_name(path: Option<&Path>) -> Option<i64> {
    mail::name_seconds(path?.file_name()?.as_bytes())
}

/// Returns the flags that a file's name and place give it.
fn flags_of(path: &Path) -> Flags {
    let mut flags = mail::parse_name(path.file_name().unwrap_or_default().as_bytes()).flags;
    if path.parent().is_some_and(|parent| parent.ends_with("new")) {
        flags |= Flags::NEW;
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;
    use index::present_for_dates;

    #[test]
    fn a_file_that_the_index_does_not_know_is_told_by_its_name() {
        let message =
            mail::parse(b"Subject: x\n\ny\n", &mail::Context::new(present_for_dates(2_000_000_000)));
        let content = |path: &'static str| Content {
            message: &message,
            sha256: &[1; 32],
            size_bytes: 14,
            path: Some(Path::new(path)),
        };
        let content_new = content("/m/new/1700000000.1.host");
        let record = Record::from_content(&content_new, None);
        assert_eq!((record.date_unix, record.files.len()), (Some(1_700_000_000), 1));
        assert!(record.flags.contains(&"new"), "{:?}", record.flags);
        let content_seen = content("/m/cur/1700000000.1.host:2,S");
        assert!(Record::from_content(&content_seen, None).flags.contains(&"seen"));
        let nowhere = Content { path: None, ..content_seen };
        assert_eq!(Record::from_content(&nowhere, None).files, []);
        // The index knows better.
        let known = sample().message;
        let record = Record::from_content(&content_seen, Some(&known));
        assert_eq!((record.date_unix, record.files.len()), (known.line.date, 2));
        assert_eq!(record.tags, known.tags);
    }
}
