//! Tables of rows in sorted, sealed, mapped segments, with a short journal for small commits.
//!
//! Input: schemas, rows, keys. Output: rows that survive a crash. Does not depend on what the rows mean. The
//! formats are in docs/FORMAT.md.
//!
//! - A [`Schema`] describes a table; [`Rows`] are rows in memory, by column.
//! - A [`Writer`] holds the writer's lock and commits [`Transaction`]s, each all or nothing and durable when
//!   the commit returns. Small commits are records of a journal. Large ones and bulk loads go straight to
//!   sealed files. [`commit_on_newest`] takes that lock only to publish.
//! - A [`Snapshot`] is the newest state, for as long as it is held. Opening one takes no lock, writes
//!   nothing, and costs the same for a thousand rows and for a hundred million. Its [`Table`]s find rows by
//!   key and iterate over them in order. Their [`Part`]s return whole columns, in place
//!   unless they are packed.
//!   [`Snapshot::difference`] returns what changed since an older snapshot.
//! - [`merge`] merges segments, even while a writer runs. [`verify`] reads everything again.
//!
//! ```
//! # use std::{ops::Bound, sync::Arc};
//! use store::{Column, Index, IndexKind, Kind, PRIMARY, Rows, Schema, Snapshot, Transaction, Value, Writer};
//!
//! # let temporary = tempfile::tempdir().unwrap();
//! # let directory = temporary.path().join("store");
//! let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
//! let column = |name: &str, kind| Column { name: name.into(), kind };
//! let schema = Arc::new(Schema {
//!     name: "letters".into(),
//!     columns: vec![column("number", Kind::U32), column("to", Kind::Bytes)],
//!     primary: vec![0],
//!     indexes: vec![
//!         Index { name: "by_to".into(), kind: IndexKind::Ordered, unique: false, columns: vec![1] },
//!     ],
//! });
//! let mut writer = Writer::create(&disk, &directory, &[Schema::clone(&schema)], Default::default())?;
//!
//! let mut rows = Rows::new(&schema);
//! rows.push(&[Value::U32(1), Value::Bytes(b"Paris")])?;
//! rows.push(&[Value::U32(2), Value::Bytes(b"Lyon")])?;
//! let mut transaction = Transaction::new();
//! transaction.put(rows).attach("last station", b"Louvre".to_vec());
//! writer.commit(transaction)?;
//!
//! let snapshot = Snapshot::open(&disk, &directory)?;
//! let letters = snapshot.table("letters")?;
//! assert!(letters.get(PRIMARY, &[Value::U32(2)])?.is_some());
//! for row in letters.range("by_to", Bound::Unbounded, Bound::Unbounded)?.rev().take(1) {
//!     assert_eq!(letters.value(1, row?)?, Value::Bytes(b"Paris"));
//! }
//! # Ok::<(), store::Error>(())
//! ```

mod commit;
mod cursor;
mod error;
mod file;
pub mod format;
mod key_index;
pub mod limits;
mod payload;
mod read;
mod rows;
mod schema;
mod segment;
mod sort;
mod together;
mod value;
mod write;

pub use error::{Damage, Error, Result};
pub use file::names::{MANIFEST, is_store_file};
pub use file::sealed::{MappedFile, Sealed};
pub use file::sealed_write::{SealedWriter, sealed_bytes};
pub use payload::reader::PayloadReader;
pub use read::difference::{Difference, TableDifference};
pub use read::loaded::Loaded;
pub use read::part::{Part, RowId};
pub use read::row_iter::RowIter;
pub use read::snapshot::{Snapshot, Version};
pub use read::table::{PRIMARY, Table};
pub use read::verify::{FileDamage, verify};
pub use rows::column::{BytesSlice, ColumnSlice, Offsets};
pub use rows::in_memory::{Rows, Values};
pub use rows::source::{Order, RowRef, Source};
pub use rows::transaction::Transaction;
pub use schema::{Codec, Column, Index, IndexKind, Kind, Schema};
pub use segment::mapped::Segment;
pub use segment::write::{Form, SegmentWritten, write_segment};
pub use sort::by_primary::{Sorted, sort_by_primary};
pub use together::read_together;
pub use value::{
    OwnedValue, Value, compare_prefix, hash, hash_key, hint, hint_last, hint_of, normalise, order_i64,
};
pub use write::merge::{Effort, MergeOptions, MergeReport, merge, merge_all};
pub use write::options::{Limits, Options};
pub use write::replace::replace;
pub use write::second_copy::{cannot_open, damage_of, repair, second_copy};
pub use write::until_free::{until_free, until_free_or};
pub use write::writer::{Committed, Outcome, Prepared, Writer, commit_on_newest};
