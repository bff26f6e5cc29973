//! Finds the message that a handle names: a path, `id:` and a Message-ID, or the beginning of a SHA-256.
//!
//! Input: a handle from a person or from another program. Output: hits, including absent messages. Message
//! numbers are not handles: a rebuilt index assigns new ones.

use crate::error::{Error, Result};
use crate::rows;
use crate::search::answer::values;
use crate::search::mailbox::{Hit, Mailbox};
use crate::set::NumberSet;
use crate::tables::{files, messages};
use std::path::Path;

/// Fewest digits of a SHA-256 in a handle.
const SHA256_DIGITS_MIN: usize = 6;

impl Mailbox {
    /// Returns the messages that a handle names: one, or several that share a Message-ID. Absent messages are
    /// found by Message-ID and by SHA-256, whatever the scope; see [`Mailbox::is_absent`].
    ///
    /// # Errors
    /// [`Error::NoSuchMessage`], [`Error::Ambiguous`]; damage in the store.
    pub fn resolve(&self, handle: &str) -> Result<Vec<Hit>> {
        let hits = if let Some(id) = handle.strip_prefix("id:").or_else(|| handle.strip_prefix("msgid:")) {
            self.by_message_id(id.trim_start_matches('<').trim_end_matches('>'))?
        } else if is_sha256(handle) {
            self.by_sha256(handle)?
        } else {
            self.by_path(Path::new(handle))?
        };
        if hits.is_empty() { Err(Error::NoSuchMessage { handle: handle.to_owned() }) } else { Ok(hits) }
    }

    /// Returns the messages in the file at a path.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn by_path(&self, path: &Path) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        for (id, row) in self.rows_at(path)? {
            let number = rows::part_of(self.file_table(), id).u32_at(files::MESSAGE, row)?;
            hits.extend(self.hit(number)?);
        }
        Ok(hits)
    }

    /// Returns the messages with a Message-ID.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn by_message_id(&self, id: &str) -> Result<Vec<Hit>> {
        let mut found = NumberSet::new(self.bound());
        values::message_id(self, id, &mut found)?;
        let mut hits = Vec::new();
        for number in found.iter() {
            hits.extend(self.hit(number)?);
        }
        Ok(hits)
    }

    fn by_sha256(&self, digits: &str) -> Result<Vec<Hit>> {
        let digits = digits.to_ascii_lowercase();
        let table = self.message_table();
        let mut hits = Vec::new();
        for part in table.parts() {
            self.check_cancelled()?;
            let ids = part.ids(messages::SHA256, 0..part.row_count())?;
            let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
            for (_, (id, number)) in part.live_values(ids.iter().zip(numbers.iter())) {
                if begins_with(id, digits.as_bytes()) {
                    hits.extend(self.hit(*number)?);
                }
            }
        }
        if hits.len() > 1 { Err(Error::Ambiguous { handle: digits, count: hits.len() }) } else { Ok(hits) }
    }
}

fn is_sha256(handle: &str) -> bool {
    (SHA256_DIGITS_MIN..=64).contains(&handle.len()) && handle.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn begins_with(id: &[u8; 32], digits: &[u8]) -> bool {
    digits.iter().enumerate().all(|(index, digit)| {
        let byte = id.get(index / 2).copied().unwrap_or_default();
        let half = if index % 2 == 0 { byte >> 4 } else { byte & 15 };
        char::from_digit(u32::from(half), 16).is_some_and(|expected| expected as u8 == *digit)
    })
}
