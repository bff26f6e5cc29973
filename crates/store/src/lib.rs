//! Tables of rows in sorted, sealed, mapped segments, with a short journal in front.
//!
//! Comes in: schemas, rows, keys. Goes out: rows that survived a crash. Must not know what the rows mean. The formats are in
//! docs/FORMAT.md.
//!
//! - A [`Schema`] says what a table looks like; [`Rows`] are rows in memory, by column.
//! - A [`Writer`] holds the writer's lock and commits [`Transaction`]s, each all or nothing and durable when it returns. Small ones are
//!   records of a journal, large ones and bulk loads go straight to sealed files.
//! - A [`Snapshot`] is the newest state for as long as it is held. Opening one takes no lock, writes nothing, and costs the same for a
//!   thousand rows and a hundred million. A [`Table`] of it finds rows by key and walks them in order; its [`Part`]s hand out whole
//!   columns in place.
//! - [`merge`] makes few segments of many, beside a writer. [`verify`] reads everything again.
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
//!     indexes: vec![Index { name: "by_to".into(), kind: IndexKind::Ordered, unique: false, columns: vec![1] }],
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

mod batch;
mod codec;
mod column;
mod column_write;
mod cursor;
mod dead;
mod decompress;
mod error;
pub mod format;
mod hash_index;
mod heap;
mod iterate;
mod journal;
mod keys;
pub mod limits;
mod load;
mod loaded;
mod lookup;
mod manifest;
mod memory_index;
mod memtable;
mod merge;
mod mirror;
mod names;
mod open;
mod options;
mod ordered_index;
mod part;
mod partition;
mod payload;
mod payload_write;
mod policy;
mod publish;
mod radix;
mod read_ahead;
mod replace;
mod resolve;
mod row_set;
mod rows;
mod schema;
mod sealed;
mod sealed_write;
mod search;
mod second;
mod segment;
mod segment_find;
mod segment_layout;
mod segment_verify;
mod segment_write;
mod snapshot;
mod sort;
mod source;
mod table;
mod transaction;
mod value;
mod verify;
mod writer;

pub use column::{BytesSlice, ColumnSlice, Offsets};
pub use error::{Damage, Error, Result};
pub use iterate::RowIter;
pub use loaded::Loaded;
pub use merge::{MergeOptions, MergeReport, merge, merge_all};
pub use names::is_store_file;
pub use options::{Limits, Options};
pub use part::Part;
pub use payload::PayloadReader;
pub use replace::replace;
pub use rows::{Rows, Values};
pub use schema::{Codec, Column, Index, IndexKind, Kind, Schema};
pub use sealed::Sealed;
pub use sealed_write::SealedWriter;
pub use second::{cannot_open, damage_of, repair, second_copy};
pub use segment::Segment;
pub use segment_write::{SegmentWritten, write_segment};
pub use snapshot::{Snapshot, Version};
pub use sort::{Sorted, sort_by_primary};
pub use source::{Order, RowRef, Source};
pub use table::{PRIMARY, RowId, Table};
pub use transaction::Transaction;
pub use value::{
    OwnedValue, Value, compare_prefix, hash, hash_key, hint, hint_last, hint_of, in_range, normalise,
    order_i64,
};
pub use verify::{FileDamage, verify};
pub use writer::Writer;
