//! A value that is computed on first use, where computing may fail.
//!
//! Input: a cell, and what makes its value. Output: the value. Must not know what it is.

use crate::error::Result;
use std::sync::OnceLock;

/// Returns the value of a cell; computes it if the cell is empty.
pub(crate) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}
