//! How many rows, segments and documents one commit holds.
//!
//! Input: a mailbox. Output: counts of rows. Reads no row.

use crate::error::Result;
use crate::search::mailbox::Mailbox;
use crate::tables::{HeaderCodec, absent};

/// The size of a commit, in several counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages with at least one file.
    pub messages: u64,
    /// Messages whose last file is gone.
    pub absent: u64,
    /// Files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Segments of the store, all tables together.
    pub store_segments: u64,
    /// Segments of the text index.
    pub text_segments: u64,
    /// Documents of the text index: one per message with a row, and those of messages without one until a
    /// merge drops them.
    pub text_documents: u64,
    /// Rows in the journal that are not sealed yet.
    pub journal_rows: u64,
}

impl Mailbox {
    /// Returns the counts of this commit.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn counts(&self) -> Result<Counts> {
        let absent = self.snapshot().table(absent::TABLE)?.row_count();
        let messages = self.message_table().row_count();
        let mut counts = Counts {
            messages: messages.saturating_sub(absent),
            absent,
            files: self.file_table().row_count(),
            folders: self.folders().len() as u64,
            text_segments: self.state().text.len() as u64,
            text_documents: crate::text::document_count(&self.state().text),
            ..Counts::default()
        };
        for schema in crate::tables::schemas(HeaderCodec::default()) {
            let table = self.snapshot().table(&schema.name)?;
            counts.store_segments += table.parts().len().saturating_sub(1) as u64;
            counts.journal_rows += table.parts().last().map_or(0, |part| u64::from(part.row_count()));
        }
        Ok(counts)
    }
}
