//! Answers questions from one commit: which messages, in which order, and what they say.
//!
//! In: queries, orders, handles. Out: hits, and messages as values. Takes no lock, writes nothing, is never
//! blocked by a writer. Each folder uses those before it:
//!
//! - `commit`: one commit, and what is derived from all of its rows;
//! - `mailbox`: a commit as somebody asks it, and one message, folder or file of it;
//! - `tags`, then `message`: what is known of a found message;
//! - `order`: sorting;
//! - `threads`: conversations;
//! - `answer`: queries and handles.
//!
//! `contacts`, `counts` and `inventory` tell what a whole mailbox holds.

mod answer;
mod commit;
mod contacts;
mod counts;
mod inventory;
mod mailbox;
mod message;
mod order;
mod tags;
mod threads;

pub use answer::{Analysis, AnalysisStep, FolderHint};
pub use contacts::{Circle, Person};
pub use counts::Counts;
pub use inventory::{Inventory, Listed, StoredFile, StoredFolder};
pub use mailbox::{
    Duplicates, Hit, Hits, Mailbox, Moment, MomentFile, MomentFolder, OwnAddresses, Scope, Unknown,
};
pub(crate) use mailbox::{disk_name, folder_name};
pub use message::{Line, Message, MessageFile, shown_flags};
pub use order::{Direction, Order, SortKey};
pub(crate) use tags::TaggedMessage;
pub use threads::{Origin, Thread, ThreadEntry, ThreadOrder, Threads};
