//! The reading methods of JMAP Mail (RFC 8621) over the library of pneu.
//!
//! Input: a [`pneu::Host`], and calls of methods. Output: responses, and blobs. An [`Account`] answers one
//! request from one view of the index, so that a request never sees half of a commit. The [`Cache`], the
//! [`Session`] and the [`Uploads`] live as long as the server. The crate knows nothing of HTTP, sockets or
//! terminals.
//!
//! An Email is one content: it has the SHA-256 of its bytes as id, and is not joined with its copies. Every
//! content with a file in an indexed folder is listed, and no other. Each folder of each root is a Mailbox.
//! The account is read-only.

mod account;
mod blob;
mod blob_copy;
mod cache;
mod email;
mod error;
mod get;
mod highlight;
mod ids;
mod mailbox;
mod messages;
mod reading;
mod session;
mod snippet;
mod thread;
mod uploads;

pub use account::Account;
pub use blob::{Blob, BlobError};
pub use cache::Cache;
pub use ids::account_id;
pub use pneu::MailError;
pub use session::{MAIL, Session, Urls};
pub use uploads::{UPLOADS_BYTES_MAX, UploadError, Uploads};
