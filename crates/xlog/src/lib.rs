//! Tarantool's snapshots (`.snap`) and logs (`.xlog`).
//!
//! Comes in: directories of such files, or a store. Goes out: a store with their rows, or files that Tarantool loads. Must not know
//! mail, nor what the rows mean to whoever wrote them.
//!
//! From the outside in: a directory holds files, a file is a [`header`](Header) and blocks, a block is [rows](Row), a row is
//! [msgpack]. Bytes that cannot be read are a [`Damage`]; with the file's name it is an [`Error`].

mod decimal;
mod error;
pub mod key;
pub mod msgpack;
mod row;

pub use error::{Damage, Error, Result};
pub use row::{Body, Row, RowIter, RowKind, put_body, put_row, rows};
