//! The methods of JMAP Mail (RFC 8621) over the library of pneu.
//!
//! Input: a [`pneu::Host`], and calls of methods. Output: responses, and blobs. An [`Account`] answers one
//! call from one view of the index, so that a call never sees half of a commit. The [`Cache`], the
//! [`Session`] and the [`Uploads`] live as long as the server. The crate knows nothing of HTTP, sockets or
//! terminals.
//!
//! An Email is one content: it has the SHA-256 of its bytes as id, and is not joined with its copies. Every
//! content with a file in an indexed folder is listed, and no other. Each folder of each root is a Mailbox.
//! What a method writes is an action of the library, which can be undone as any other.

mod abridged;
mod account;
mod blob;
mod blob_copy;
mod blob_id;
mod cache;
mod capabilities;
mod conversation;
mod email;
mod error;
mod get;
mod highlight;
mod ids;
mod last_moment;
mod mailbox;
mod messages;
mod past;
mod push_subscription;
mod reading;
mod session;
mod shown;
mod snippet;
mod states;
mod thread;
mod tools;
mod uploads;
mod write;

pub use account::Account;
pub use blob::{Blob, BlobError};
pub use cache::Cache;
pub use capabilities::{ACTIONS, SEARCH, STATISTICS};
pub use ids::account_id;
pub use pneu::MailError;
pub use session::{CAPABILITIES, MAIL, Session, Urls};
pub use shown::{Picture, Piece, Shown};
pub use states::OwnStates;
pub use uploads::{UPLOADS_BYTES_MAX, UploadError, Uploads};
pub use write::SUBMISSION;
