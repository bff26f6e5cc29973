//! Tarantool's snapshots (`.snap`) and logs (`.xlog`).
//!
//! Comes in: directories of such files, or a store. Goes out: a store with their rows, or files that Tarantool loads. Must not know
//! mail, nor what the rows mean to whoever wrote them.
//!
//! From the outside in: a directory holds files, a file is a [`header`](Header) and blocks, a block is [rows](Row), a row is
//! [msgpack]. Bytes that cannot be read are a [`Damage`]; with the file's name it is an [`Error`].

mod ahead;
pub mod apply;
mod block;
mod decimal;
mod directory;
mod error;
pub mod export;
mod fill;
mod header;
mod inspect;
pub mod key;
mod load;
mod lost;
pub mod msgpack;
mod path;
mod plan;
mod recover;
mod row;
mod search;
pub mod space;
pub mod state;
mod stored;
pub mod table;
mod twice;
pub mod update;
mod vclock;
mod walk;
mod write;

pub use ahead::{Checked, FilesAhead};
pub use block::{
    BlockPlace, COMPRESSED, END, HEAD_BYTES, PAYLOAD_BYTES_MAX, PLAIN, SNAPSHOT_PAYLOAD_BYTES_MAX, Step,
    Unpacker, checksum, hop,
};
pub use error::{Damage, Error, Result};
pub use header::{FileKind, FormatVersion, HEADER_BYTES_MAX, Header, parse_uuid, uuid_text};
pub use inspect::{FileReport, inspect};
pub use load::{
    KIND_UNNAMED, OnDamage, SPACE_UNNAMED, SnapshotFile, SnapshotRows, blocks, load_snapshot, read_spaces,
};
pub use lost::{Lost, Numbers};
pub use path::PathStep;
pub use plan::{CutReport, Mode, Plan, PlanOptions, PlannedFile, Torn, cut_torn_tail, plan};
pub use recover::{Recovered, RecoveredTable, recover};
pub use row::{Body, Row, RowIter, RowKind, put_body, put_row, rows};
pub use stored::{LOST, ORIGIN, lost_attachment, stored_header, stored_lost, stored_spaces};
pub use vclock::{REPLICA_MAX, VClock};
pub use walk::Depth;
pub use write::{LogWriter, PROGRAM, SnapWriter};
