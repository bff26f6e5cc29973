//! Bulk load: many rows straight into segments, past the journal.
//!
//! Comes in: batches of rows of one table. Goes out: their segments, published. Must not know how the rows were made.
//!
//! The rows are sorted and each segment is written on all cores; sorted rows cost no sort. Memory: the batches themselves, 32
//! bytes a row while they are sorted (none if they are in order) and 8 a row after that, and what writing one segment takes (its indexes, built one at a time).

use crate::error::{Error, Result};
use crate::loaded::Loaded;
use crate::resolve;
use crate::rows::Rows;
use crate::snapshot::Version;
use crate::transaction::Transaction;
use crate::writer::{Writer, check_attachments};
use std::collections::BTreeMap;
use std::sync::Arc;

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
            let state = Arc::clone(self.state());
            let inputs = resolve::by_table(&state, &group)?;
            self.seal(&group, &inputs)?;
        }
        Ok(self.version())
    }

    /// Commits tables that were loaded into memory as segments, all at once, with named bytes to set; they answer meanwhile. Each
    /// table's rows are sorted by primary key (which costs nothing if they are, or if that order was asked for before); of several
    /// rows with one key the youngest is kept.
    ///
    /// Memory beside what is loaded: 8 bytes a row of one table if its rows are not in order, and what writing one segment takes.
    ///
    /// # Errors
    /// As [`Writer::commit`]; and [`Error::Schema`] if a table has rows already.
    pub fn seal_loaded(
        &mut self,
        tables: &[&Loaded],
        attachments: Vec<(String, Vec<u8>)>,
    ) -> Result<Version> {
        self.refuse_if_poisoned()?;
        let state = Arc::clone(self.state());
        let mut attached = Transaction::new();
        attached.attachments = attachments;
        check_attachments(&state, std::slice::from_ref(&attached))?;
        let mut chosen = Vec::new();
        for loaded in tables {
            let name = &loaded.schema().name;
            let number = resolve::table_number(&state, name)?;
            let table = &state.tables[number];
            if table.schema() != loaded.schema() {
                return Err(Error::schema(name, "the rows were made for other columns"));
            }
            if table.row_count() > 0 || chosen.iter().any(|&(taken, _)| taken == number) {
                return Err(Error::schema(name, "it has rows already; load into a new store"));
            }
            chosen.push((number, *loaded));
        }
        let mut draft = self.draft(&BTreeMap::new())?;
        draft.sequence += 1;
        draft
            .attachments
            .extend(attached.attachments.into_iter().map(|(name, bytes)| (name, bytes.as_slice().into())));
        self.write_loaded(&mut draft, &chosen)?;
        self.publish(draft)?;
        Ok(self.version())
    }
}
