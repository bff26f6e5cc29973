//! Answers questions from one commit: which messages, in which order, and what they say.
//!
//! In: queries, orders, handles. Out: hits, and messages as values. Takes no lock, writes nothing, is never
//! blocked by a writer.

mod analysis;
mod commit;
mod contacts;
mod copies;
mod copy_groups;
mod counts;
mod eval;
mod files;
mod find;
mod flags;
mod forest;
mod handle;
mod hints;
mod inventory;
mod mailbox;
mod message;
mod moment;
mod order;
mod pattern;
mod personal;
mod plan;
mod prepare;
mod scope;
mod sort_key;
mod tags;
mod threads;
mod values;

pub use analysis::{Analysis, AnalysisStep};
pub use contacts::{Circle, Person};
pub use copies::Duplicates;
pub use counts::Counts;
pub(crate) use files::{disk_name, folder_name};
pub use flags::shown_flags;
pub use hints::FolderHint;
pub use inventory::{Inventory, Listed, StoredFile, StoredFolder};
pub use mailbox::Mailbox;
pub use message::{Message, MessageFile, Summary as Line};
pub use moment::{Moment, MomentFile, MomentFolder, Unknown};
pub use order::{Direction, Hit, Hits, Order};
pub use personal::OwnAddresses;
pub use scope::Scope;
pub use sort_key::SortKey;
pub(crate) use tags::TaggedMessage;
pub use threads::{Origin, Thread, ThreadEntry, ThreadOrder, Threads};
pub(crate) use values::message_id_hash;
