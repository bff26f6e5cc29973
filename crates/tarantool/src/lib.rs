//! Tarantool's snapshots (`.snap`) and logs (`.xlog`).
//!
//! Reads directories of such files into a store, and writes a store as files that Tarantool loads. Prints
//! the rows of single files ([cat]), and values as JSON, YAML and Lua ([text]). Does not depend on mail, or
//! on the meaning of rows.
//!
//! From the outside in: a directory holds files, a file is a [`header`](Header) and blocks, a block is
//! [rows](Row), a row is [msgpack]. Bytes that cannot be read are a [`Damage`]; with the file's name it is an
//! [`Error`].

pub mod apply;
pub mod cat;
mod check;
mod decimal;
pub mod diff;
mod error;
pub mod export;
mod file;
pub mod import;
mod inspect;
mod json_path;
pub mod key;
mod load;
pub mod msgpack;
mod own_spaces;
mod plan;
mod position;
pub mod query;
mod recover;
mod remedy;
pub mod repair;
pub mod space;
pub mod state;
mod stored;
pub mod text;
mod tuples;
pub mod update;
mod vclock;
mod vinyl;

pub use check::blocks::{CheckedFiles, UncheckedFiles};
pub use check::loss::{Loss, RowNumbers};
pub use check::scan::Depth;
pub use error::{Damage, Error, Result};
pub use file::block::{
    BlockPlace, COMPRESSED, END, HEAD_BYTES, PAYLOAD_BYTES_MAX, PLAIN, SNAPSHOT_PAYLOAD_BYTES_MAX, Step,
    Unpacker, checksum, read_head,
};
pub use file::header::{FileKind, FormatVersion, HEADER_BYTES_MAX, Header, parse_uuid, uuid_text};
pub use file::row::{Body, Row, RowIter, RowKind, put_body, put_row, rows};
pub use file::write::{LogWriter, PROGRAM, SnapWriter};
pub use inspect::{FileReport, inspect};
pub use json_path::PathStep;
pub use load::{
    KIND_UNNAMED, OnDamage, SPACE_UNNAMED, SnapshotFile, SnapshotRows, blocks, load_snapshot, read_spaces,
};
pub use plan::{
    Cut, CutReport, Mode, Plan, PlanOptions, PlannedFile, Torn, cut_torn_tail, plan, plan_snapshot,
};
pub use position::Position;
pub use recover::{Recovered, RecoveredTable, recover};
pub use remedy::Remedy;
pub use space::table;
pub use stored::{LOST, ORIGIN, lost_attachment, stored_header, stored_lost, stored_spaces, stored_table};
pub use tuples::{SpaceTuples, Tuples};
pub use vclock::{REPLICA_MAX, VClock};
#[cfg(any(test, feature = "testing"))]
pub use vinyl::made as vinyl_made;
pub use vinyl::{ReadPages, VinylPlan, VinylReport};
