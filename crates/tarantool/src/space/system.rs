//! The definitions of the system spaces that must be known before anything is read.
//!
//! A snapshot defines them too, but only after some of their rows. Their primary keys never changed.

use crate::msgpack::{put_array_len, put_boolean, put_map_len, put_str, put_uint};

/// Number, name, and the types of the first fields, which are the primary key.
const SPACES: [(u64, &str, &[&str]); 5] = [
    (272, "_schema", &["string"]),
    (276, "_collation", &["unsigned"]),
    (280, "_space", &["unsigned"]),
    (288, "_index", &["unsigned", "unsigned"]),
    (330, "_truncate", &["unsigned"]),
];

/// Returns the tuples of `_space` and `_index` that describe them.
pub(super) fn definitions() -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    SPACES.iter().map(|(id, name, types)| (space(*id, name), primary(*id, types)))
}

fn space(id: u64, name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 7);
    put_uint(&mut out, id);
    put_uint(&mut out, 1);
    put_str(&mut out, name.as_bytes());
    put_str(&mut out, b"memtx");
    put_uint(&mut out, 0);
    put_map_len(&mut out, 0);
    put_array_len(&mut out, 0);
    out
}

fn primary(id: u64, types: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 6);
    put_uint(&mut out, id);
    put_uint(&mut out, 0);
    put_str(&mut out, b"primary");
    put_str(&mut out, b"tree");
    put_map_len(&mut out, 1);
    put_str(&mut out, b"unique");
    put_boolean(&mut out, true);
    put_array_len(&mut out, u32::try_from(types.len()).unwrap_or(0));
    for (field, name) in (0..).zip(types) {
        put_array_len(&mut out, 2);
        put_uint(&mut out, field);
        put_str(&mut out, name.as_bytes());
    }
    out
}
