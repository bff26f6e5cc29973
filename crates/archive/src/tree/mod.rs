//! Directories as blobs: trees of nodes, byte for byte as restic writes them.
//!
//! Comes in: nodes, or a tree's content. Goes out: the other one; and a [`Node`] from what a disk says of a file. Must not know where blobs
//! are kept, nor what lies in files.
//!
//! A tree is `{"nodes":[..]}` and a line end. Its name is its SHA-256: two programs share the trees of a directory only if they write the
//! same bytes. `write` and `read` are the two ways, `quote` and `printable` are how names become text, `scan` takes JSON apart.

mod node;
mod owner;
mod printable;
mod quote;
mod read;
mod scan;
mod stat;
mod write;

pub(crate) use node::name_fault;
pub use node::{ExtendedAttribute, Node, NodeKind};
pub use owner::OwnerNames;
pub use read::TreeReader;
pub use scan::Fault;
pub use stat::{DeviceIds, FileStat, StatStyle, extended_attributes, go_mode, rights, stat_node};
pub use write::{Refused, TreeWriter, encode_node};
