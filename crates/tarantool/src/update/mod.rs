//! Applies the operations of UPDATE and UPSERT to a tuple.
//!
//! Input: a tuple and a list of operations, in the form of a log. Output: the new tuple. Does not know where
//! tuples are stored.
//!
//! An operation that does not fit its tuple makes an update fail; an upsert skips it. Nested fields behave as
//! in Tarantool, except for the order of a map's pairs when one map is changed twice: that order is
//! undefined.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod number;
mod operation;
mod tree;

use operation::read_operations;
use tree::Root;

pub use operation::Context;

/// Applies all operations, or fails.
///
/// # Errors
/// The operation that does not fit, and why.
pub fn update(tuple: &[u8], operations: &[u8], context: &Context) -> Result<Vec<u8>, String> {
    let operations = read_operations(operations, context)?;
    let mut root = Root::new(tuple).map_err(|damage| damage.what.to_owned())?;
    for operation in &operations {
        root.apply(operation).map_err(|why| format!("operation {}: {why}", char::from(operation.code)))?;
    }
    Ok(root.bytes(context.double_fields))
}

/// Applies the operations that fit.
///
/// # Errors
/// If the operations are malformed.
pub fn upsert(tuple: &[u8], operations: &[u8], context: &Context) -> Result<Vec<u8>, String> {
    let operations = read_operations(operations, context)?;
    let mut root = Root::new(tuple).map_err(|damage| damage.what.to_owned())?;
    for operation in &operations {
        // An operation that does not fit is skipped, because Tarantool acknowledged it long ago.
        let _ = root.apply(operation);
    }
    Ok(root.bytes(context.double_fields))
}
