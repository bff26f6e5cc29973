//! The host's part in reading attachments: those of older mail, and what could not be read.
//!
//! Input: a host. Output: what was read, and sentences about what was not. Does not know commands.

use crate::error::Result;
use crate::host::Host;
use index::{AttachmentsRead, Summary, UpdateOptions};
use work::Progress;

impl Host {
    /// Adds the text of attachments to messages that the commands of the configuration have not read yet.
    ///
    /// # Errors
    /// There is no index; as [`Host::update`].
    pub fn read_attachments(&self, progress: &dyn Progress) -> Result<AttachmentsRead> {
        let options = self.configured(&UpdateOptions::default());
        let mut read = self.write_index(progress, |environment, progress| {
            index::read_attachments(environment, &options, progress)
        })?;
        read.problems.extend(self.take_attachment_problems());
        Ok(read)
    }

    /// Returns what of attachments could not be read since the last call or summary, one sentence for each
    /// kind of problem: after an action, a delivery or an import, whose results do not tell it.
    pub fn take_attachment_problems(&self) -> Vec<String> {
        self.filters.iter().flat_map(|filters| filters.take_problems()).collect()
    }

    /// Adds what of attachments could not be read meanwhile.
    pub(crate) fn with_problems(&self, summary: Summary) -> Summary {
        let mut summary = summary;
        summary.attachment_problems.extend(self.take_attachment_problems());
        summary
    }
}
