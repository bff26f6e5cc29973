//! Which messages a search can find: messages with a file, or absent ones too.
//!
//! Input: an archive. Output: the set of messages that can be found. Leaves of queries ignore the scope;
//! their results outside that set are dropped.

use crate::archive::{Archive, BATCH_COUNT};
use crate::error::Result;
use crate::search::mailbox::{Hit, Mailbox};
use crate::set::NumberSet;
use crate::tables::messages;

/// Which messages a search can find.
///
/// An absent message has no file. It is therefore in no folder and at no path, has no flag of a file, no
/// keyword and no time of change, and is neither seen nor unread. Leaves about these do not find it, and
/// `not` before such a leaf does. Leaves about its content (text, dates, sizes, attachments, signatures,
/// priority), its thread and its tags work as before. If it is a copy of a message with a file, it shares the
/// properties of that file as all copies do, and the message with the file is shown.
#[derive(Clone, Copy)]
pub enum Scope<'a> {
    /// Messages with a file.
    Present,
    /// Also messages whose last file is gone and that this archive holds.
    WithAbsent(&'a dyn Archive),
    /// Also messages whose last file is gone, whether or not anything holds them.
    WithAllAbsent,
}

/// An archive that holds whatever it is asked for.
struct Everything;

impl Archive for Everything {
    fn holds(&self, sha256: &[[u8; 32]]) -> Result<Vec<bool>> {
        Ok(vec![true; sha256.len()])
    }
}

impl Mailbox {
    /// Returns the same commit, searched in another scope.
    ///
    /// # Errors
    /// An error of the archive; damage in the store.
    pub fn with_scope(self, scope: Scope<'_>) -> Result<Mailbox> {
        let archived = match scope {
            Scope::Present => None,
            Scope::WithAbsent(archive) => Some(self.archived(archive)?),
            Scope::WithAllAbsent => Some(self.archived(&Everything)?),
        };
        Ok(self.with_archived(archived))
    }

    /// Returns whether neither the hit nor any of its copies has a file.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn is_absent(&self, hit: &Hit) -> Result<bool> {
        let present = self.present()?;
        Ok(!self.copies_of(hit.number)?.iter().any(|number| present.contains(*number)))
    }

    /// Returns, for each content, whether a message with a file has it.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn has_files(&self, sha256: &[[u8; 32]]) -> Result<Vec<bool>> {
        sha256.iter().map(|id| Ok(self.present_number(id)?.is_some())).collect()
    }

    /// Returns the messages without a file that an archive holds.
    fn archived(&self, archive: &dyn Archive) -> Result<NumberSet> {
        let present = self.present()?;
        let mut kept = self.empty();
        let (mut numbers, mut asked) = (Vec::new(), Vec::new());
        let mut ask = |numbers: &mut Vec<u32>, asked: &mut Vec<[u8; 32]>| -> Result<()> {
            let held = if asked.is_empty() { Vec::new() } else { archive.holds(asked)? };
            for (number, _) in numbers.iter().zip(held).filter(|(_, held)| *held) {
                kept.insert(*number);
            }
            numbers.clear();
            asked.clear();
            Ok(())
        };
        for part in self.message_table().parts() {
            let all = 0..part.row_count();
            let of_rows = part.u32s(messages::NUMBER, all.clone())?;
            let columns = of_rows.iter().zip(part.ids(messages::SHA256, all)?);
            for (_, (number, id)) in part.live_values(columns) {
                if !present.contains(*number) {
                    numbers.push(*number);
                    asked.push(*id);
                }
                if asked.len() == BATCH_COUNT {
                    ask(&mut numbers, &mut asked)?;
                }
            }
        }
        ask(&mut numbers, &mut asked)?;
        Ok(kept)
    }
}
