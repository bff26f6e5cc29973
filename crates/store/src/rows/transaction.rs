//! A transaction: changes that are committed all or nothing.
//!
//! Input: rows to put, keys to delete, attachments to set. Output: the [`Transaction`] for
//! [`crate::Writer::commit`]. Does not depend on the content of the store.

use crate::rows::in_memory::Rows;
use crate::value::{OwnedValue, Value};

/// The changes. Deletes come first, then puts, in their order: the last put of a key wins.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    /// Rows to add, by table. A row replaces the one with the same primary key.
    pub puts: Vec<(String, Rows)>,
    /// Primary keys of rows to remove, by table. A missing row is not an error.
    pub deletes: Vec<(String, Vec<OwnedValue>)>,
    /// Named bytes to set. They become visible together with the rows, and stay until they are set again.
    pub attachments: Vec<(String, Vec<u8>)>,
}

impl Transaction {
    /// Returns a transaction that changes nothing.
    pub fn new() -> Transaction {
        Transaction::default()
    }

    /// Adds rows to put into their table.
    pub fn put(&mut self, rows: Rows) -> &mut Transaction {
        self.puts.push((rows.schema().name.clone(), rows));
        self
    }

    /// Adds the primary key of a row to remove.
    pub fn delete(&mut self, table: &str, key: &[Value]) -> &mut Transaction {
        self.deletes.push((table.to_owned(), key.iter().map(|&value| value.to_owned()).collect()));
        self
    }

    /// Adds named bytes to set.
    pub fn attach(&mut self, name: &str, bytes: Vec<u8>) -> &mut Transaction {
        self.attachments.push((name.to_owned(), bytes));
        self
    }

    /// Returns whether nothing is to change.
    pub fn is_empty(&self) -> bool {
        self.puts.iter().all(|(_, rows)| rows.is_empty())
            && self.deletes.is_empty()
            && self.attachments.is_empty()
    }
}
