//! Reading a store: snapshots, their tables, and the parts of these.
//!
//! Writers use it too. It takes no lock and writes nothing.

pub(crate) mod continuation;
pub(crate) mod difference;
pub(crate) mod follow;
pub(crate) mod heap;
pub(crate) mod live_numbers;
pub(crate) mod loaded;
pub(crate) mod lookup;
pub(crate) mod marks;
pub(crate) mod memtable;
pub(crate) mod open;
pub(crate) mod part;
pub(crate) mod row_iter;
pub(crate) mod row_pairs;
pub(crate) mod snapshot;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod verify;
