//! What queries mean besides what the index has: which folders have a role, which tags are flags.
//!
//! Input: the front end's rules. Output: folders and tags. Must not know configurations.

use crate::search::mailbox::folder_place::FolderPlace;
use crate::state::Root;
use crate::user::FlagTags;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Returns which of some folders in some roots a name with a colon first stands for, such as `:archive`, or a
/// sentence that says why it stands for none.
pub type FolderRoles = dyn Fn(&[FolderPlace], &[Root], &str) -> Result<Vec<PathBuf>, String> + Send + Sync;

/// What queries mean, as the caller of the index decides.
#[derive(Clone, Default)]
pub struct Meaning {
    /// The folders of roles; without it, no name is that of a role.
    pub roles: Option<Arc<FolderRoles>>,
    /// Where tags come from that can stand for flags.
    pub flag_tags: FlagTags,
}

impl fmt::Debug for Meaning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Meaning").finish_non_exhaustive()
    }
}
