//! Actions: what changes the mail on disk, for any front end. Each brings the index in step itself, so that
//! the next view shows it.
//!
//! An action changes only what is in the roots of the index, or in a folder that the caller names by its
//! path. What comes from a message never decides where something is written.

mod act;
mod carry_out;
mod child;
mod contents;
#[cfg(test)]
mod crashing;
mod dedupe;
mod deliver;
mod directories;
pub(crate) mod folder;
mod follow;
mod hands;
mod import;
mod log;
mod places;
mod plan;
mod removal;
mod rename;
mod restore;
pub(crate) mod role;
#[cfg(test)]
mod tests;
mod undo;
mod unfiled;

pub use act::Acted;
pub use carry_out::LeftAlone;
pub use child::Above;
pub(crate) use child::is_fixed;
pub use contents::ContentEdit;
pub(crate) use deliver::create;
pub use deliver::{DeliverOptions, Delivered};
pub(crate) use import::{ImportNotes, NewTags};
pub use log::Kind;
pub(crate) use log::lock_imports;
pub(crate) use plan::with_flags;
pub use plan::{Action, Plan, PlannedStep};
pub use removal::{Removal, Removed};
pub use rename::{PlannedRenaming, Renamed, RenamedRole, Renaming};
pub use restore::Restored;
pub use undo::{ImportedFrom, Undoable, Undone};
