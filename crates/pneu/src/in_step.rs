//! Decides which roots are indexed, and whether a first index takes over what only a repository has.
//!
//! Input: the configuration, what the index remembers, and the roots that the user gives now. Output: roots.
//! Changes nothing.

use crate::host::{Host, IndexState};
use crate::setup::roots::{self, GivenRoot, RootsError};
use index::Root;
use std::path::Path;

impl Host {
    /// Returns the roots to index: those of the configuration if it names any, else those that the index
    /// remembers. Those given now come to them, or replace those of their names. A directory without a name
    /// replaces none of the configuration, which would come back with the next pass, and none that is still
    /// there, whose messages would look gone. Empty if nobody names any. Those given now, and those of a
    /// first index, are compared on the disk; later the pass leaves a root alone that is another one by a
    /// link, and indexes the others.
    ///
    /// # Errors
    /// Together they cannot be.
    pub fn roots_to_index(&self, state: &IndexState, given: &[GivenRoot]) -> Result<Vec<Root>, RootsError> {
        let configured = &self.settings().configuration.roots;
        let known = match state {
            IndexState::Usable(roots) | IndexState::Outdated(roots) if configured.is_empty() => roots,
            _ => configured,
        };
        let is_needed = |path: &Path| !configured.is_empty() || path.is_dir();
        let all = roots::joined(known, given, is_needed)?;
        if !given.is_empty() || *state == IndexState::Missing {
            roots::check_on_disk(&all)?;
        }
        Ok(all)
    }

    /// Returns the roots of an index that is made anew: those that the old one remembers; if that cannot be
    /// read, those of the configuration. Those given now come to them, or replace those of their names, as in
    /// [`Host::roots_to_index`]; a directory without a name replaces none at all if the configuration names
    /// roots: the next pass takes those. Empty if nobody names any.
    ///
    /// # Errors
    /// Together they cannot be.
    pub fn roots_to_rebuild(
        &self,
        remembered: &[Root],
        given: &[GivenRoot],
    ) -> Result<Vec<Root>, RootsError> {
        let configured = &self.settings().configuration.roots;
        let known = if remembered.is_empty() { configured } else { remembered };
        let is_needed = |path: &Path| !configured.is_empty() || path.is_dir();
        let all = roots::joined(known, given, is_needed)?;
        roots::check_on_disk(&all)?;
        Ok(all)
    }

    /// Returns whether an index takes over what only the repository has, although nobody asked for that: a
    /// first one does, if the configuration names a repository. One that only the environment names may be
    /// any.
    pub fn imports_at_first(&self, state: &IndexState) -> bool {
        *state == IndexState::Missing && self.settings().configuration.archive.is_some()
    }
}
