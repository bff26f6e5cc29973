//! Checks that rows have what Tarantool does not start without: its own spaces, and its instance in them.
//!
//! Input: tuples, and an instance. Output: what is missing, in words. Does not know where the tuples come
//! from.

use crate::error::Result;
use crate::file::header::uuid_text;
use crate::msgpack::{self, Reader};
use crate::space::{SPACE_INDEX, SPACE_SPACE};
use crate::tuples::Tuples;

const SPACE_SCHEMA: u32 = 272;
const SPACE_CLUSTER: u32 = 320;

/// Returns what is missing, if anything is.
///
/// # Errors
/// A file is damaged.
pub(crate) fn missing(tuples: &Tuples, instance: [u8; 16]) -> Result<Option<String>> {
    for (id, name) in [(SPACE_SCHEMA, "_schema"), (SPACE_SPACE, "_space"), (SPACE_INDEX, "_index")] {
        let is_empty = tuples.spaces().iter().all(|space| space.id != id || space.row_count() == 0);
        if is_empty {
            return Ok(Some(format!("no row of {name} is left")));
        }
    }
    let own = uuid_text(&instance);
    let mut is_known = false;
    for space in tuples.spaces().iter().filter(|space| space.id == SPACE_CLUSTER) {
        space.each(|tuple| {
            is_known |= instance_of(tuple).is_ok_and(|text| text.eq_ignore_ascii_case(own.as_bytes()));
            Ok(())
        })?;
    }
    Ok((!is_known).then(|| format!("this instance is not in _cluster: {own}")))
}

/// Returns the UUID in a tuple of `_cluster`.
fn instance_of(tuple: &[u8]) -> msgpack::Result<&[u8]> {
    let mut reader = Reader::new(tuple);
    reader.array_len()?;
    reader.skip()?;
    reader.str()
}
