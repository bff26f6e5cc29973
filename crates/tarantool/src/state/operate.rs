//! UPDATE and UPSERT on the rows of a space.
//!
//! Input: a key or a tuple, and operations. Output: the new tuple, if there is one. Does not know what
//! operations mean, nor transactions.

use super::space_rows::{Before, SpaceRows};
use crate::error::Damage;
use crate::file::row::Body;
use crate::update::{self, Context};
use crate::vinyl::format::fits;
use store::OwnedValue;

type Put = Result<Option<Vec<u8>>, String>;

/// Changes the tuple with a key. Does nothing if there is none.
pub(super) fn update(
    rows: &mut SpaceRows,
    key: &[OwnedValue],
    operations: &[u8],
    index_base: Option<i64>,
) -> Put {
    let Some(found) = rows.find(key) else { return Ok(None) };
    let new = update::update(rows.tuple(found), operations, &context(rows, index_base))?;
    if !rows.has_key(&new, key) {
        return Err("an update changes the primary key".to_owned());
    }
    rows.replace(found, &new).map_err(what)?;
    Ok(Some(new))
}

/// Whether the result of an upsert was checked when it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was, and it fits the format of the space.
    Checked,
    /// It was not, because vinyl had not read the old tuple. It counts only if it fits.
    Unchecked,
}

/// Changes the tuple with the key of `tuple`, or inserts `tuple`.
pub(super) fn upsert(rows: &mut SpaceRows, row: &Body, outcome: Outcome) -> Put {
    let missing = || "a row lacks its tuple or its operations".to_owned();
    let (tuple, operations) = row.tuple.zip(row.ops).ok_or_else(missing)?;
    let key = rows.key_of_tuple(tuple).map_err(what)?;
    let Some(found) = rows.find(&key) else {
        rows.put(tuple, Before::Nothing).map_err(what)?;
        return Ok(Some(tuple.to_vec()));
    };
    let new = update::upsert(rows.tuple(found), operations, &context(rows, row.index_base))?;
    // Tarantool acknowledged this long ago, and skips it, too.
    let fits = outcome == Outcome::Checked || fits(&rows.space, &new);
    if !fits || !rows.has_key(&new, &key) {
        return Ok(None);
    }
    rows.replace(found, &new).map_err(what)?;
    Ok(Some(new))
}

fn context(rows: &SpaceRows, index_base: Option<i64>) -> Context<'_> {
    Context {
        index_base: index_base.unwrap_or(0),
        fields: &rows.space.fields,
        double_fields: &rows.double_fields,
    }
}

fn what(damage: Damage) -> String {
    damage.what.to_owned()
}
