//! The words for kinds of rows and for the keys of their bodies.

use crate::file::row::RowKind;

/// The kinds that have a word in JSON, with their words.
const KINDS: [(RowKind, &str); 16] = [
    (RowKind::Insert, "insert"),
    (RowKind::Replace, "replace"),
    (RowKind::Update, "update"),
    (RowKind::Delete, "delete"),
    (RowKind::Upsert, "upsert"),
    (RowKind::Nop, "nop"),
    (RowKind::InsertArrow, "insert_arrow"),
    (RowKind::DeleteRange, "delete_range"),
    (RowKind::Raft, "raft"),
    (RowKind::Promote, "promote"),
    (RowKind::Demote, "demote"),
    (RowKind::Confirm, "confirm"),
    (RowKind::Rollback, "rollback"),
    (RUN_INFO, "run_info"),
    (PAGE_INFO, "page_info"),
    (ROW_INDEX, "row_index"),
];

/// Kinds of rows of vinyl's files.
pub(super) const RUN_INFO: RowKind = RowKind::Other(100);
pub(super) const PAGE_INFO: RowKind = RowKind::Other(101);
pub(super) const ROW_INDEX: RowKind = RowKind::Other(102);

/// Returns the word for a kind of rows.
pub fn kind_name(kind: RowKind) -> Option<&'static str> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name)
}

/// Returns the kind that a word stands for; a number stands for itself.
pub fn kind_named(name: &str) -> Option<RowKind> {
    let known = KINDS.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(kind, _)| *kind);
    known.or_else(|| name.parse().ok().map(RowKind::of))
}

/// Returns the word that Tarantool 2.6 has for a kind of rows.
pub(super) fn kind_in_26(kind: RowKind) -> Option<&'static str> {
    Some(match kind.number() {
        1 => "SELECT",
        2 => "INSERT",
        3 => "REPLACE",
        4 => "UPDATE",
        5 => "DELETE",
        7 => "AUTH",
        8 => "EVAL",
        9 => "UPSERT",
        10 => "CALL",
        11 => "EXECUTE",
        12 => "NOP",
        13 => "PREPARE",
        100 => "RUNINFO",
        101 => "PAGEINFO",
        102 => "ROWINDEX",
        _ => return None,
    })
}

/// Returns the word that Tarantool 2.6 has for a key of a body; the others are numbers there.
pub(super) fn body_key_in_26(kind: RowKind, key: u64) -> Option<&'static str> {
    if matches!(kind.number(), 1..=5 | 9 | 12) {
        return data_key_in_26(key);
    }
    vinyl_key(kind, key)
}

fn data_key_in_26(key: u64) -> Option<&'static str> {
    Some(match key {
        0x00 => "type",
        0x01 => "sync",
        0x02 => "replica_id",
        0x03 => "lsn",
        0x04 => "timestamp",
        0x05 => "schema_version",
        0x06 => "server_version",
        0x07 => "group_id",
        0x08 => "tsn",
        0x09 => "flags",
        0x10 => "space_id",
        0x11 => "index_id",
        0x12 => "limit",
        0x13 => "offset",
        0x14 => "iterator",
        0x15 => "index_base",
        0x20 => "key",
        0x21 => "tuple",
        0x22 => "function_name",
        0x23 => "user_name",
        0x24 => "instance_uuid",
        0x25 => "cluster_uuid",
        0x26 => "vector_clock",
        0x27 => "expression",
        0x28 => "operations",
        0x29 => "ballot",
        0x2a => "tuple_meta",
        0x2b => "options",
        0x30 => "data",
        0x31 => "error",
        0x32 => "metadata",
        0x33 => "bind_meta",
        0x34 => "bind_count",
        0x40 => "SQL_text",
        0x41 => "SQL_bind",
        0x42 => "SQL_info",
        0x43 => "stmt_id",
        _ => return None,
    })
}

/// Returns the word for a key in a row that describes a run of vinyl.
fn vinyl_key(kind: RowKind, key: u64) -> Option<&'static str> {
    const INFO: [&str; 8] = [
        "min_key",
        "max_key",
        "min_lsn",
        "max_lsn",
        "page_count",
        "bloom_filter_legacy",
        "bloom_filter",
        "stmt_stat",
    ];
    const PAGE: [&str; 6] = ["offset", "size", "unpacked_size", "row_count", "min_key", "row_index_offset"];
    const ROWS: [&str; 1] = ["row_index"];
    let names: &[&str] = match kind {
        RUN_INFO => &INFO,
        PAGE_INFO => &PAGE,
        ROW_INDEX => &ROWS,
        _ => return None,
    };
    usize::try_from(key).ok()?.checked_sub(1).and_then(|place| names.get(place)).copied()
}

/// Returns the word for a key of a body in JSON, of all versions.
pub(super) fn body_key(kind: RowKind, key: u64) -> Option<&'static str> {
    match (kind, key) {
        (RowKind::Raft, 0) => Some("term"),
        (RowKind::Raft, 1) => Some("vote"),
        (RowKind::Raft, 2) => Some("state"),
        (RowKind::Raft, 3) => Some("vclock"),
        (RowKind::Raft, 4) => Some("leader_id"),
        (RowKind::Raft, 5) => Some("is_leader_seen"),
        (RUN_INFO | PAGE_INFO | ROW_INDEX, _) => vinyl_key(kind, key),
        (_, 0x02) => Some("replica_id"),
        (_, 0x03) => Some("lsn"),
        (_, 0x2a) => Some("tuple_meta"),
        (_, 0x2b) => Some("options"),
        (_, 0x2c) => Some("old_tuple"),
        (_, 0x2d) => Some("new_tuple"),
        (_, 0x36) => Some("arrow"),
        (_, 0x37) => Some("begin_key"),
        (_, 0x38) => Some("end_key"),
        (_, 0x53) => Some("term"),
        (_, 0x5a) => Some("vclock_sync"),
        _ => None,
    }
}

/// Returns the word for a record of the log of vinyl.
pub(super) fn vinyl_record(number: u64) -> Option<&'static str> {
    const RECORDS: [&str; 18] = [
        "create_lsm",
        "drop_lsm",
        "insert_range",
        "delete_range",
        "prepare_run",
        "create_run",
        "drop_run",
        "forget_run",
        "insert_slice",
        "delete_slice",
        "dump_lsm",
        "snapshot",
        "truncate_lsm",
        "modify_lsm",
        "forget_lsm",
        "prepare_lsm",
        "rebootstrap",
        "abort_rebootstrap",
    ];
    usize::try_from(number).ok().and_then(|number| RECORDS.get(number)).copied()
}

/// Returns the word for a property of such a record.
pub(super) fn vinyl_property(number: u64) -> Option<&'static str> {
    const PROPERTIES: [&str; 17] = [
        "lsm_id",
        "range_id",
        "run_id",
        "begin",
        "end",
        "index_id",
        "space_id",
        "key_def",
        "slice_id",
        "dump_lsn",
        "gc_lsn",
        "truncate_count",
        "create_lsn",
        "modify_lsn",
        "drop_lsn",
        "group_id",
        "dump_count",
    ];
    usize::try_from(number).ok().and_then(|number| PROPERTIES.get(number)).copied()
}
