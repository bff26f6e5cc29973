//! How much memory values take, and how much the response of a request may take.
//!
//! Input: values. Output: their bytes, and whether there is still room. Senders of mail decide how large a
//! record is, so the number of records alone limits nothing. Knows no method.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::error::{MethodError, MethodErrorKind};
use serde_json::{Map, Value};
use std::cell::Cell;

/// Members in each node of the tree that an object is, when it is half full.
const NODE_MEMBERS: usize = 6;
/// Bytes of such a node, which has room for twice as many.
const NODE_BYTES: usize = 2 * NODE_MEMBERS * (size_of::<String>() + size_of::<Value>());

/// What the response of a request may still take.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    bytes_max: usize,
    bytes_left: Cell<usize>,
}

impl Room {
    pub(crate) fn new(bytes_max: usize) -> Room {
        Room { bytes_max, bytes_left: Cell::new(bytes_max) }
    }

    /// Counts a part of a response. The first one of a request may have any size, so that each record can be
    /// read.
    ///
    /// # Errors
    /// `requestTooLarge`, if there is no room for it.
    pub(crate) fn take(&self, value: &Value) -> Result<(), MethodError> {
        let (left, bytes) = (self.bytes_left.get(), value_bytes(value));
        if bytes > left && left < self.bytes_max {
            return Err(too_large());
        }
        self.bytes_left.set(left.saturating_sub(bytes));
        Ok(())
    }

    /// Checks that a call may be answered at all.
    ///
    /// # Errors
    /// `requestTooLarge`, if there is no room.
    pub(crate) fn check(&self) -> Result<(), MethodError> {
        if self.bytes_left.get() == 0 { Err(too_large()) } else { Ok(()) }
    }

    /// Returns what is left, for [`settle`](Room::settle).
    pub(crate) fn left(&self) -> usize {
        self.bytes_left.get()
    }

    /// Counts the responses to a call before which `left` bytes were left: what the method did not count
    /// itself, too. What a refused call counted is free again. Nothing is refused here: the call may have
    /// changed something.
    pub(crate) fn settle<'v>(&self, left: usize, responses: impl Iterator<Item = &'v Map<String, Value>>) {
        let bytes = responses.fold(0_usize, |sum, response| sum.saturating_add(object_bytes(response)));
        self.bytes_left.set(left.saturating_sub(bytes));
    }
}

fn too_large() -> MethodError {
    let what = "the response would be too large: ask for fewer records or properties at once";
    MethodError::new(MethodErrorKind::RequestTooLarge, what)
}

/// Returns how many bytes of memory a value takes, about.
pub(crate) fn value_bytes(value: &Value) -> usize {
    let below = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().fold(0_usize, |sum, item| sum.saturating_add(value_bytes(item))),
        Value::Object(members) => object_bytes(members),
        _ => 0,
    };
    below.saturating_add(size_of::<Value>())
}

/// Returns how many bytes the names and values of an object take, about, without what they refer to.
pub(crate) fn nodes_bytes(member_count: usize) -> usize {
    member_count.div_ceil(NODE_MEMBERS).saturating_mul(NODE_BYTES)
}

fn object_bytes(members: &Map<String, Value>) -> usize {
    members.iter().fold(nodes_bytes(members.len()), |sum, (name, value)| {
        sum.saturating_add(name.len()).saturating_add(value_bytes(value)).saturating_sub(size_of::<Value>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_cost_much_more_than_their_text() {
        let value = size_of::<Value>();
        assert_eq!(value_bytes(&json!(null)), value);
        assert_eq!(value_bytes(&json!(["abc", 1])), 3 * value + 3);
        assert_eq!(value_bytes(&json!({})), value);
        assert_eq!(value_bytes(&json!({"ab": "c"})), value + NODE_BYTES + 3);
        let seven: Map<String, Value> = (0..7).map(|name| (name.to_string(), Value::Null)).collect();
        assert_eq!(value_bytes(&seven.into()), value + 2 * NODE_BYTES + 7);
    }

    #[test]
    fn only_the_first_part_may_be_larger_than_the_room() {
        let room = Room::new(100);
        assert!(room.take(&"x".repeat(1000).into()).is_ok());
        assert!(room.check().is_err() && room.take(&Value::Null).is_err());
        let room = Room::new(100);
        assert!(room.take(&Value::Null).is_ok() && room.check().is_ok());
        assert!(room.take(&"x".repeat(1000).into()).is_err());
    }

    #[test]
    fn a_call_costs_what_its_responses_have() {
        let room = Room::new(10_000);
        let left = room.left();
        room.take(&"x".repeat(100).into()).unwrap();
        let object = Map::from_iter([("list".to_owned(), Value::from("x".repeat(100)))]);
        room.settle(left, [&object].into_iter());
        assert_eq!(room.left(), 10_000 - object_bytes(&object));
    }
}
