//! Positions in logs, as options give them.

use anyhow::{Result, anyhow};
use tarantool::Position;

/// Reads the value of an option.
///
/// # Errors
/// It is no position.
pub(crate) fn position(text: Option<&str>) -> Result<Option<Position>> {
    let Some(text) = text else { return Ok(None) };
    Position::parse(text).map(Some).ok_or_else(|| {
        anyhow!(
            "\"{text}\" is no position: an LSN, a time such as 2024-03-01T12:30 or @SECONDS, or a VClock \
             such as {{1: 5}} is expected"
        )
    })
}
