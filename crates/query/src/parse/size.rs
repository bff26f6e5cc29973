//! Sizes in queries: one, or a range of two. Input: the text after `size:`. Output: smallest and largest
//! number of bytes, both included. Knows neither the syntax around it nor what has a size.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::ValueError;

/// Smallest and largest size in bytes, either of them open.
pub(crate) type Bytes = (Option<u64>, Option<u64>);

/// Units and how many bytes they are. Each may be followed by a `b`.
const UNITS: [(&str, u64); 6] =
    [("", 1), ("b", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30), ("t", 1 << 40)];

/// Reads a size or a range. A single size means exactly that many bytes, as in mu.
///
/// # Errors
/// Returns which part is not a size, and why.
pub(crate) fn parse(text: &str) -> Result<Bytes, ValueError> {
    let Some((left, right)) = text.split_once("..") else {
        let bytes = bytes_at(text, 0)?;
        return Ok((Some(bytes), Some(bytes)));
    };
    let right_offset = text.len().saturating_sub(right.len());
    let end = |part: &str, offset| {
        if part.trim().is_empty() { Ok(None) } else { bytes_at(part, offset).map(Some) }
    };
    match (end(left, 0)?, end(right, right_offset)?) {
        (None, None) => Err(ValueError {
            span: 0..text.len(),
            reason: "a range needs a size on one side at least".to_owned(),
        }),
        // As in mu, the order of the two does not matter.
        (Some(from), Some(to)) => Ok((Some(from.min(to)), Some(from.max(to)))),
        open => Ok(open),
    }
}

fn bytes_at(text: &str, offset: usize) -> Result<u64, ValueError> {
    let trimmed = text.trim();
    bytes(trimmed).map_err(|reason| {
        let start = offset.saturating_add(text.len().saturating_sub(text.trim_start().len()));
        ValueError { span: start..start.saturating_add(trimmed.len()), reason }
    })
}

fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let unit = unit.to_ascii_lowercase();
    let factor =
        UNITS.iter().find(|(name, _)| unit == *name || (!name.is_empty() && unit == format!("{name}b")));
    let Some((_, factor)) = factor.filter(|_| !number.is_empty() && unit != "bb") else {
        return Err(format!("\"{text}\" is not a size"));
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor));
    bytes.ok_or_else(|| format!("{text} is larger than any file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ranges() {
        let (k, m) = (1_u64 << 10, 1_u64 << 20);
        for (text, expected) in [
            ("456", (Some(456), Some(456))),
            ("1k", (Some(k), Some(k))),
            ("2K..", (Some(2 * k), None)),
            ("..2M", (None, Some(2 * m))),
            ("10kb..2mB", (Some(10 * k), Some(2 * m))),
            ("2M..10k", (Some(10 * k), Some(2 * m))),
            ("5g", (Some(5 << 30), Some(5 << 30))),
            ("1t..", (Some(1 << 40), None)),
            ("7b .. 8b", (Some(7), Some(8))),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_size() {
        for (text, span, reason) in [
            ("", 0..0, "\"\" is not a size"),
            ("-1", 0..2, "\"-1\" is not a size"),
            ("k", 0..1, "\"k\" is not a size"),
            ("1bb", 0..3, "\"1bb\" is not a size"),
            ("1k..many", 4..8, "\"many\" is not a size"),
            ("..", 0..2, "a range needs a size on one side at least"),
            ("99999999999999999999", 0..20, "99999999999999999999 is larger than any file"),
            ("1k.. 99999999999T", 5..17, "99999999999T is larger than any file"),
        ] {
            assert_eq!(parse(text), Err(ValueError { span, reason: reason.to_owned() }), "{text}");
        }
    }
}
