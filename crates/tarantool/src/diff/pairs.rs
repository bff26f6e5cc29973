//! Which spaces of two stores belong together, and how their definitions differ.
//!
//! Spaces belong together by their names; of the others, by their numbers: such a space was renamed.

use crate::error::{Damage, Error, Result};
use crate::space::{SPACE_SYSTEM_MAX, Space, Spaces};
use std::path::Path;

/// A space on one side or on both.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) old: Option<Space>,
    pub(super) new: Option<Space>,
}

impl Pair {
    /// Returns the newer definition.
    pub(super) fn space(&self) -> &Space {
        self.new.as_ref().or(self.old.as_ref()).expect("a pair has a space")
    }
}

/// Returns the spaces that belong together, in the order of their numbers. `is_wanted` says which count.
///
/// # Errors
/// A definition that cannot be read.
pub(super) fn pairs(
    (old, old_path): (&Spaces, &Path),
    (new, new_path): (&Spaces, &Path),
    is_wanted: impl Fn(&Space) -> bool,
) -> Result<Vec<Pair>> {
    let mut old = all(old, old_path)?;
    let mut news = all(new, new_path)?;
    let mut pairs = Vec::new();
    for is_same in
        [(|one, two| one.name == two.name) as fn(&Space, &Space) -> bool, |one, two| one.id == two.id]
    {
        news.retain(|new| {
            let place = old.iter().position(|old| is_same(old, new));
            if let Some(place) = place {
                pairs.push(Pair { old: Some(old.remove(place)), new: Some(new.clone()) });
            }
            place.is_none()
        });
    }
    pairs.extend(old.into_iter().map(|old| Pair { old: Some(old), new: None }));
    pairs.extend(news.into_iter().map(|new| Pair { old: None, new: Some(new) }));
    pairs.retain(|pair| pair.old.iter().chain(&pair.new).any(&is_wanted));
    pairs.sort_by_key(|pair| pair.space().id);
    Ok(pairs)
}

fn all(spaces: &Spaces, path: &Path) -> Result<Vec<Space>> {
    let wrong = |damage: Damage| Error::Unsupported {
        path: path.to_owned(),
        what: format!("the definition of a space is damaged: {}", damage.what),
    };
    let read = |id| spaces.get(id).map_err(wrong).transpose();
    spaces.ids().filter_map(read).collect()
}

/// Returns whether a space is one of Tarantool's own.
pub(super) fn is_system(space: &Space) -> bool {
    space.id <= SPACE_SYSTEM_MAX
}
