//! The host's part in reading attachments: those that are not read yet, and what could not be read.
//!
//! Input: a host. Output: what was read, and sentences about what was not. No other writer waits while a
//! command runs. Does not know commands.

use crate::attachments::DECRYPT;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::setup::configuration::EncryptedText;
use index::{AttachmentsRead, Environment, Look, Summary, UpdateOptions};
use std::sync::{Mutex, PoisonError};
use work::{Context, Progress, Threads};

impl Host {
    /// Adds the text of attachments to messages that the commands of the configuration have not read yet, and
    /// publishes it every few seconds. Others may write meanwhile.
    ///
    /// # Errors
    /// There is no index; as [`Host::update`].
    pub fn read_attachments(&self, look: Look, progress: &dyn Progress) -> Result<AttachmentsRead> {
        self.read_attachments_in(&self.environment_of_writer(), look, progress)
    }

    /// Returns whether the index has text of encrypted messages, and the configuration does not say so any
    /// more. [`Host::rebuild`] makes an index without it.
    ///
    /// # Errors
    /// There is no index, or it is damaged.
    pub fn has_unwanted_text(&self) -> Result<bool> {
        let is_wanted = self.settings().configuration.encrypted_text == EncryptedText::Indexed;
        Ok(!is_wanted && index::is_read_by(&self.settings().environment, DECRYPT)?)
    }

    /// Does what [`Host::read_attachments`] does for new messages, one command at a time.
    pub(crate) fn read_attachments_beside(&self, progress: &dyn Progress) -> Result<AttachmentsRead> {
        let environment = self.environment_of_writer();
        let context = Context { threads: Threads::Exactly(1), ..environment.context };
        self.read_attachments_in(&Environment { context, ..environment }, Look::New, progress)
    }

    fn read_attachments_in(
        &self,
        environment: &Environment,
        look: Look,
        progress: &dyn Progress,
    ) -> Result<AttachmentsRead> {
        self.filters.iter().for_each(|filters| filters.begin());
        let options = self.configured(&UpdateOptions::default());
        let awaited = index::awaited_text(environment)?;
        // First for what another run published before it was stopped. What cannot be tagged waits for the
        // next.
        let tagged = Mutex::new(self.tag_text());
        let published = || *tagged.lock().unwrap_or_else(PoisonError::into_inner) = self.tag_text();
        let mut read = index::read_attachments(environment, &options, look, progress, &published)?;
        let tagged = tagged.into_inner().unwrap_or_else(PoisonError::into_inner);
        let has_looked = read.is_read_by.is_none() && read.without_file == 0;
        if tagged.is_ok() && has_looked && !awaited.is_empty() {
            self.write_user(|environment| index::end_awaiting(environment, &awaited))?;
        }
        match tagged {
            Ok(()) | Err(Error::Cancelled) => {}
            Err(error) => {
                read.problems.push(format!("new messages are not tagged by their text yet: {error}"));
            }
        }
        read.problems.extend(self.attachment_problems());
        self.follow()?;
        Ok(read)
    }

    /// Returns what of attachments could not be read since the last call, one sentence for each kind of
    /// problem.
    fn attachment_problems(&self) -> Vec<String> {
        self.filters.iter().flat_map(|filters| filters.take_problems()).collect()
    }

    /// Adds what of attachments could not be read meanwhile.
    pub(crate) fn with_problems(&self, summary: Summary) -> Summary {
        let mut summary = summary;
        summary.attachment_problems.extend(self.attachment_problems());
        summary
    }
}
