//! Bulk load: many rows straight into segments, past the journal.
//!
//! Comes in: batches of rows of one table. Goes out: their segments, published. Must not know how the rows were made.
//!
//! The rows are sorted and each segment is written on all cores; sorted rows cost no sort. Memory: the batches themselves, 32
//! bytes a row while they are sorted (none if they are in order) and 8 a row after that, and what writing one segment takes (its indexes, built one at a time).

use crate::error::Result;
use crate::resolve;
use crate::rows::Rows;
use crate::snapshot::Version;
use crate::transaction::Transaction;
use crate::writer::Writer;

impl Writer {
    /// Commits batches of rows of one table as segments, however few they are. A row replaces the one with the same primary
    /// key, also among the batches: the last one wins.
    ///
    /// Memory: at most 40 bytes a row beside the batches, and what one index takes while it is built.
    ///
    /// # Errors
    /// As [`Writer::commit`].
    pub fn load(&mut self, table: &str, batches: Vec<Rows>) -> Result<Version> {
        let puts = batches.into_iter().map(|rows| (table.to_owned(), rows)).collect();
        self.load_transaction(Transaction { puts, ..Transaction::default() })
    }

    /// Commits a transaction as segments, however small it is.
    ///
    /// # Errors
    /// As [`Writer::commit`].
    pub fn load_transaction(&mut self, transaction: Transaction) -> Result<Version> {
        self.refuse_if_poisoned()?;
        let group = [transaction];
        if !group[0].is_empty() {
            let state = std::sync::Arc::clone(self.state());
            let inputs = resolve::by_table(&state, &group)?;
            self.seal(&group, &inputs)?;
        }
        Ok(self.version())
    }
}
