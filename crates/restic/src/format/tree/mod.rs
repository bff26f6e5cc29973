//! Trees: directories as blobs, byte for byte as restic writes them.
//!
//! Converts between nodes and a tree's content, and makes a [`Node`] from what `stat` returns. Knows nothing
//! of where blobs are kept or what files hold.
//!
//! A tree is `{"nodes":[..]}` and a newline. Its name is its SHA-256, so two programs share the tree of a
//! directory only if they write the same bytes. `write` and `read` convert trees, `quote` and `printable`
//! turn names into text.

mod node;
mod owner;
mod printable;
mod quote;
mod read;
mod stat;
mod write;

pub use crate::encoding::json::scan::Fault;
pub(crate) use node::name_fault;
pub use node::{ExtendedAttribute, Node, NodeKind};
pub use owner::OwnerNames;
pub use read::TreeReader;
pub use stat::{DeviceIds, FileStat, StatStyle, extended_attributes, go_mode, rights, stat_node};
pub use write::{Refused, TreeWriter, encode_node};
