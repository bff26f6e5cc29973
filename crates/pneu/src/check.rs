//! Checks an index and what the user saved, and repairs what a second copy can repair.
//!
//! What only a new index repairs is [`Host::rebuild`]'s. The front end tells what is damaged.

use crate::error::Result;
use crate::host::Host;
use index::{Damage, Depth, Repair};

/// What is damaged after a repair.
#[derive(Clone, Debug)]
pub struct UserRepair {
    /// The damage that is left, each with what helps against it now.
    pub damages: Vec<Damage>,
    /// Whether all that the user saved is sound.
    pub is_user_sound: bool,
}

impl Host {
    /// Returns what is damaged.
    ///
    /// # Errors
    /// There is no index, or it is of a newer version; something cannot be read.
    pub fn check(&self, depth: Depth) -> Result<Vec<Damage>> {
        Ok(index::diagnose(&self.settings().environment, depth)?)
    }

    /// Repairs tags and saved queries from their second copy, if that is what any of these damages needs.
    /// `None` if none does.
    ///
    /// # Errors
    /// A full disk; a data directory that cannot be written.
    pub fn repair_user(&self, damages: &[Damage]) -> Result<Option<UserRepair>> {
        let is_of_user = |damage: &Damage| matches!(damage.repair, Repair::Copy | Repair::Backup);
        if !damages.iter().any(is_of_user) {
            return Ok(None);
        }
        self.write_user(index::repair_user)?;
        let mut left = index::damage_of_user(&self.settings().environment);
        let is_user_sound = left.is_empty();
        // No second copy repaired these.
        left.iter_mut().filter(|damage| damage.repair == Repair::Copy).for_each(|damage| {
            damage.repair = Repair::Backup;
        });
        left.extend(damages.iter().filter(|damage| !is_of_user(damage)).cloned());
        Ok(Some(UserRepair { damages: left, is_user_sound }))
    }
}
