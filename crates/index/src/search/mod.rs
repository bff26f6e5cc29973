//! Answers questions from one commit: which messages match, in which order, and their contents.
//!
//! Input: queries, orders, handles. Output: hits, and messages as values. Takes no lock, writes nothing, and
//! is never blocked by a writer. Each module uses only those before it:
//!
//! - `commit`: one commit, and what is derived from all of its rows;
//! - `mailbox`: a commit with a scope and the user's addresses, and its messages, folders and files;
//! - `tags`, then `message`: the contents of a found message;
//! - `order`: sorting;
//! - `threads`: conversations;
//! - `answer`: queries and handles;
//! - `contents`: contents one by one, apart from their copies, and the folders that they are in.
//!
//! `arrivals` says which messages are new, `came` which came since a token. `contacts`, `counts` and
//! `inventory` describe a whole mailbox, `stats` a set of messages.

mod answer;
mod arrivals;
mod came;
mod changes;
mod commit;
mod contacts;
mod contents;
mod counts;
mod inventory;
mod mailbox;
mod message;
mod order;
mod stats;
mod tags;
mod threads;

pub use answer::{Analysis, AnalysisStep, Hint};
pub use changes::{Change, ChangedFolder, Changes, Happened};
pub use contacts::{Circle, OwnPeople, PeopleQuestion, Person};
pub use contents::{Content, FolderCounts, IndexedFolder};
pub use counts::Counts;
pub use inventory::{Inventory, Listed, StoredFile, StoredFolder};
pub use mailbox::{
    Duplicates, FolderPlace, FolderRoles, FoundFile, Hit, Hits, Mailbox, Meaning, Moment, MomentFile,
    MomentFolder, OwnAddresses, Scope, Unknown,
};
pub(crate) use mailbox::{disk_name, folder_name};
pub use message::{
    FileView, FolderText, Line, Message, MessageFile, MessageParts, MessageScan, MessageView, shown_flags,
};
pub use order::{Direction, Order, SortKey};
pub use stats::{ContentStats, Dimension, Figures, Group, Replies, Stats};
pub(crate) use tags::TaggedMessage;
pub use threads::{Origin, Thread, ThreadEntry, ThreadOrder, ThreadStarts, Threads};
