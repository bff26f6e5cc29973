//! Which messages a search may find: those with a file, or absent ones too.
//!
//! In: what the archive says that it holds. Out: the set of messages that count. Leaves of queries are not
//! touched: what they find beyond that set is left out.

use crate::archive::{Archive, BATCH_COUNT};
use crate::error::Result;
use crate::search::mailbox::{Hit, Mailbox};
use crate::set::NumberSet;
use crate::tables::messages;

/// Which messages a search may find.
///
/// An absent message has no file. So it is in no folder, at no path, it has no flag of a file and no keyword,
/// no file of it ever changed, and it is neither seen nor unread: leaves that ask for any of this do not find
/// it, and `not` before such a leaf does. Whatever its content says (text, dates, sizes, attachments,
/// signatures, priority), its thread and its tags are as they were. A copy of a message that has a file
/// shares what that file says, as always, and the one with the file is shown.
#[derive(Clone, Copy)]
pub enum Scope<'a> {
    /// Those with a file.
    Present,
    /// Also those whose last file is gone and that this place holds.
    WithAbsent(&'a dyn Archive),
}

impl Mailbox {
    /// Returns the same commit, searched in another scope.
    ///
    /// # Errors
    /// What the place says; damage in the store.
    pub fn with_scope(self, scope: Scope<'_>) -> Result<Mailbox> {
        let archived = match scope {
            Scope::Present => None,
            Scope::WithAbsent(archive) => Some(self.archived(archive)?),
        };
        Ok(self.with_archived(archived))
    }

    /// Says whether no file of a hit, nor of any of its copies, is there.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn is_absent(&self, hit: &Hit) -> Result<bool> {
        let present = self.present()?;
        Ok(!self.copies_of(hit.number)?.iter().any(|number| present.contains(*number)))
    }

    /// Says of each content whether a message with a file has it.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn has_files(&self, sha256: &[[u8; 32]]) -> Result<Vec<bool>> {
        sha256.iter().map(|id| Ok(self.present_number(id)?.is_some())).collect()
    }

    /// Returns the messages without a file that a place holds.
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
        for part in self.snapshot().table(messages::TABLE)?.parts() {
            let all = 0..part.row_count();
            let columns =
                part.u32s(messages::NUMBER, all.clone())?.iter().zip(part.ids(messages::SHA256, all)?);
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
