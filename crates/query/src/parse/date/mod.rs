//! Dates in queries: one expression, or a range of two. Input: the text after `date:`, and the current time
//! with its time zone. Output: a first and a last second, both included. Knows neither the syntax around it
//! nor what has a date.
//!
//! An expression names a period (`2024-03` is all of March, `yesterday` a day, `17:05` a minute of today) or,
//! as mu has it, a time ago (`2w`, `90d`). In a range a period gives its first second on the left and its
//! last on the right. Alone, a period is itself and a time ago lasts until now.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod digits;
mod moment;
mod words;

use jiff::Zoned;

use crate::error::ValueError;
use moment::Moment;

/// First and last second since 1970, either of them open.
pub(crate) type Seconds = (Option<i64>, Option<i64>);

/// Stands right of `..` for the expression on its left, as in notmuch.
const SAME: &str = "!";

/// Reads an expression or a range.
///
/// # Errors
/// Returns which part is not a date, and why.
pub(crate) fn parse(text: &str, now: &Zoned) -> Result<Seconds, ValueError> {
    let Some((left, right)) = text.split_once("..") else {
        return Ok(match moment_at(text, 0, now)? {
            Moment::Period { first, last } => (Some(first), Some(last)),
            Moment::Ago(then) => ordered(then, now.timestamp().as_second()),
        });
    };
    let right_offset = text.len().saturating_sub(right.len());
    match (left.trim().is_empty(), right.trim().is_empty()) {
        (true, true) => Err(ValueError {
            span: 0..text.len(),
            reason: "a range needs a date on one side at least".to_owned(),
        }),
        (true, false) => Ok((None, Some(moment_at(right, right_offset, now)?.last()))),
        (false, true) => Ok((Some(moment_at(left, 0, now)?.first()), None)),
        (false, false) => {
            let from = moment_at(left, 0, now)?;
            let to = if right.trim() == SAME { from } else { moment_at(right, right_offset, now)? };
            if from.first() <= to.last() {
                Ok((Some(from.first()), Some(to.last())))
            } else {
                // As in mu, the order of the two does not matter.
                Ok((Some(to.first()), Some(from.last())))
            }
        }
    }
}

fn moment_at(text: &str, offset: usize, now: &Zoned) -> Result<Moment, ValueError> {
    let trimmed = text.trim();
    words::parse(trimmed, now).and_then(|expression| moment::resolve(&expression, now)).map_err(|reason| {
        let start = offset.saturating_add(text.len().saturating_sub(text.trim_start().len()));
        ValueError { span: start..start.saturating_add(trimmed.len()), reason }
    })
}

fn ordered(a: i64, b: i64) -> Seconds {
    (Some(a.min(b)), Some(a.max(b)))
}
