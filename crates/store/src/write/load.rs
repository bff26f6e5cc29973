//! Bulk load: writes many rows as segments, without the journal.
//!
//! Input: batches of rows of one table, or whole tables. Output: their segments, published. Does not depend
//! on how the rows were made.
//!
//! The rows are sorted and each segment is written on all cores. Rows that are already sorted cost no sort.
//! Memory: the batches themselves; 32 bytes a row while they are sorted (none if they are in order) and 8
//! bytes a row after that; and what writing one segment takes (its indexes are built one at a time).

use crate::commit::manifest::Attachments;
use crate::commit::manifest_file::{has_manifest, manifest_in, newest};
use crate::error::{Error, Result};
use crate::file::names;
use crate::read::loaded::Loaded;
use crate::read::snapshot::Version;
use crate::rows::in_memory::Rows;
use crate::rows::source::Source;
use crate::rows::transaction::Transaction;
use crate::schema::Schema;
use crate::write::open::{check_schemas, lock_new, open_locked, publish_first};
use crate::write::options::Options;
use crate::write::publish::{Draft, check_attachments, remove_unnamed};
use crate::write::resolve::{self, Survivors};
use crate::write::writer::Writer;
use disk::{Disk, Wait};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

impl Writer {
    /// Commits batches of rows of one table as segments, however few they are. A row replaces an existing row
    /// with the same primary key, also among the batches: the last one wins.
    ///
    /// Memory: at most 40 bytes a row besides the batches, and the memory for building one index.
    ///
    /// # Errors
    /// Same as [`Writer::commit`].
    pub fn load(&mut self, table: &str, batches: Vec<Rows>) -> Result<Version> {
        let puts = batches.into_iter().map(|rows| (table.to_owned(), rows)).collect();
        self.load_transaction(Transaction { puts, ..Transaction::default() })
    }

    /// Commits a transaction as segments, however small it is.
    ///
    /// # Errors
    /// Same as [`Writer::commit`].
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

    /// Commits tables that were loaded into memory as segments, all at once, with named bytes to set. The
    /// tables can be searched meanwhile. Each table's rows are sorted by primary key, which costs nothing if
    /// they are in order or that order was built before. Of several rows with one key the youngest is kept.
    ///
    /// Memory besides the loaded tables: 8 bytes a row of one table if its rows are not in order, and the
    /// memory for writing one segment.
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
        let attached = Transaction { attachments, ..Transaction::default() };
        check_attachments(&state.attachments, std::slice::from_ref(&attached))?;
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
        draft.add_group(std::slice::from_ref(&attached));
        self.write_loaded(&mut draft, &chosen)?;
        self.publish(draft)?;
        Ok(self.version())
    }

    /// Seals tables that were loaded into memory, with named bytes, into the store in `directory`, as
    /// [`Writer::seal_loaded`] does. If there is no store, the same publish creates it, so readers never
    /// see it without its rows.
    ///
    /// # Errors
    /// Same as [`Writer::create`]; for an existing store, same as [`Writer::open_or_create`] and
    /// [`Writer::seal_loaded`].
    pub fn seal_into(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        tables: &[&Loaded],
        attachments: Vec<(String, Vec<u8>)>,
        options: Options,
    ) -> Result<Writer> {
        let schemas: Vec<Schema> = tables.iter().map(|loaded| Schema::clone(loaded.schema())).collect();
        let lock = lock_new(disk, directory, &options)?;
        if has_manifest(&**disk, directory)? {
            let mut writer = open_locked(disk, directory, options, lock)?;
            writer.snapshot()?.expect_schemas(&schemas)?;
            writer.seal_loaded(tables, attachments)?;
            return Ok(writer);
        }
        check_schemas(&schemas)?;
        let attached = Transaction { attachments, ..Transaction::default() };
        check_attachments(&Attachments::new(), std::slice::from_ref(&attached))?;
        // A load that was killed leaves segments that may be large. Without a manifest, no merge can be
        // running.
        remove_unnamed(&**disk, directory, None);
        let mut draft = Draft::first(disk, directory, &schemas, options.seed, disk.list(directory)?);
        draft.form = options.form;
        draft.add_group(std::slice::from_ref(&attached));
        for (number, loaded) in tables.iter().enumerate() {
            draft.write_loaded(number, loaded, options.limits.rows_per_segment)?;
        }
        publish_first(draft, options, lock)
    }

    /// Replaces the content of the store in `directory` with the puts and attachments of a transaction, by
    /// one publish. The old store may be readable, damaged, have other tables, or not exist. Readers keep
    /// what they have open. The rows of one table should be in the order of their primary keys: then they
    /// are not sorted.
    ///
    /// # Errors
    /// Same as [`Writer::create`], but an existing store is no error; and [`Error::Version`] if a newer
    /// program wrote it.
    pub fn load_instead(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        schemas: &[Schema],
        transaction: &Transaction,
        options: Options,
    ) -> Result<Writer> {
        check_schemas(schemas)?;
        check_attachments(&Attachments::new(), std::slice::from_ref(transaction))?;
        let unknown = transaction.puts.iter().find(|(name, rows)| {
            schemas.iter().all(|schema| schema.name != *name || schema != &**rows.schema())
        });
        if let Some((name, _)) = unknown {
            return Err(Error::schema(name, "the rows were made for other columns, or another table"));
        }
        let lock = lock_new(disk, directory, &options)?;
        let old = manifest_in(&**disk, directory)?;
        // A merge or a prepared commit writes files that no manifest names yet.
        let merge_lock = disk.lock(&directory.join(names::MERGE_LOCK), &options.holder, Wait::Refuse);
        if merge_lock.is_ok() {
            remove_unnamed(&**disk, directory, old.as_ref());
        }
        let taken = disk.list(directory)?;
        let (number, sequence) = newest(old.as_ref(), &taken);
        let mut draft = Draft::first(disk, directory, schemas, options.seed ^ number, taken);
        draft.form = options.form;
        (draft.number, draft.sequence) = (number + 1, sequence);
        draft.add_group(std::slice::from_ref(transaction));
        for (table, schema) in schemas.iter().enumerate() {
            let rows = transaction.puts.iter().filter(|(name, _)| *name == schema.name);
            let sources = rows.map(|(_, rows)| rows as &dyn Source).collect();
            let survivors = Survivors::sort(schema, sources, &|_| true)?;
            draft.write_rows(table, &survivors, options.limits.rows_per_segment)?;
        }
        let writer = publish_first(draft, options, lock)?;
        if merge_lock.is_ok() {
            remove_unnamed(&**disk, directory, Some(&writer.state().manifest));
        }
        Ok(writer)
    }
}
