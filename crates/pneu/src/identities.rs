//! What the user changed of identities: names, signatures, and who gets replies and copies.
//!
//! Input: which identity, and its change. Output: one commit of the user's data. Does not know
//! which identities there are.

use crate::error::Result;
use crate::host::Host;
use crate::view::View;
use index::{IdentityKey, KeptIdentities, KeptIdentity};
use work::Progress;

impl View {
    /// Returns what the user changed of identities, by root and sender.
    ///
    /// # Errors
    /// Damage of the user's data.
    pub fn kept_identities(&self) -> Result<KeptIdentities> {
        Ok(self.mailbox().kept_identities()?)
    }
}

impl Host {
    /// Changes what is kept of an identity. `change` gets what is kept now, which nobody else can change
    /// meanwhile, and returns what is to be kept, or `None` to leave it. The next view shows it.
    ///
    /// # Errors
    /// The user's data is damaged, or cannot be written; all of it would have more than 1 MiB;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn change_identity(
        &self,
        key: &IdentityKey,
        change: &mut (dyn FnMut(&KeptIdentity) -> Option<KeptIdentity> + Send),
        progress: &dyn Progress,
    ) -> Result<()> {
        self.write_user_for(progress, |environment| {
            index::change_identity((environment, progress), key, change)
        })
    }
}
