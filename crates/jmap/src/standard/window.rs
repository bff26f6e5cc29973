//! The window of a query: which part of the results a response has (RFC 8620, section 5.5).
//!
//! Input: arguments of a /query, and how many results there are. Output: a range. Does not know the results.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::arguments::Arguments;
use crate::error::{MethodError, MethodErrorKind};
use crate::id::Id;
use std::ops::Range;

/// The part of the results that a client wants.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Window {
    /// The place of the first result. A negative one counts from the end.
    pub position: i64,
    /// A result that takes the place of `position`, or `None`.
    pub anchor: Option<Id>,
    /// How far the first result is from the anchor.
    pub anchor_offset: i64,
    /// The most results, or all.
    pub limit: Option<u64>,
}

/// The part of the results that a client gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The `position` of the response. It may be beyond the end, where there are no results.
    pub position: u64,
    /// The results.
    pub range: Range<usize>,
    /// The `limit` of the response: the server's, if it was not the client's.
    pub limit: Option<u64>,
}

impl Window {
    pub(super) fn read(arguments: &mut Arguments) -> Result<Window, MethodError> {
        Ok(Window {
            position: arguments.integer("position", 0)?,
            anchor: arguments.optional_id("anchor")?,
            anchor_offset: arguments.integer("anchorOffset", 0)?,
            limit: arguments.optional_unsigned("limit")?,
        })
    }

    /// Returns the part of `total` results. `limit_max` is the most that the server returns, if it has a
    /// limit, and `place` says at which place an anchor is among the results.
    ///
    /// # Errors
    /// `anchorNotFound`, if it is at none.
    pub fn show(
        &self,
        total: usize,
        limit_max: Option<u64>,
        place: impl FnOnce(&Id) -> Option<usize>,
    ) -> Result<Shown, MethodError> {
        let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let first = match &self.anchor {
            Some(anchor) => {
                let place = place(anchor).ok_or(MethodErrorKind::AnchorNotFound)?;
                signed(place).saturating_add(self.anchor_offset)
            }
            None if self.position < 0 => signed(total).saturating_add(self.position),
            None => self.position,
        };
        let position = u64::try_from(first).unwrap_or(0);
        let start = usize::try_from(position).unwrap_or(usize::MAX).min(total);
        let (limit, enforced) = match (self.limit, limit_max) {
            (Some(wanted), Some(max)) if wanted > max => (Some(max), Some(max)),
            (None, Some(max)) => (Some(max), Some(max)),
            (wanted, _) => (wanted, None),
        };
        let count = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let end = start.saturating_add(count).min(total);
        Ok(Shown { position, range: start..end, limit: enforced })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows a part of ten results, whose ids are r0 to r9.
    fn show(window: &Window, max: Option<u64>) -> Result<Shown, MethodErrorKind> {
        let place = |id: &Id| id.as_str().strip_prefix('r')?.parse().ok().filter(|&place| place < 10);
        window.show(10, max, place).map_err(|error| error.kind)
    }

    fn at(position: i64, limit: Option<u64>) -> Window {
        Window { position, limit, anchor: None, anchor_offset: 99 }
    }

    fn anchored(anchor: &str, anchor_offset: i64) -> Window {
        Window { position: 3, anchor: Id::new(anchor), anchor_offset, limit: Some(2) }
    }

    #[test]
    fn a_position_counts_from_the_beginning_or_the_end() {
        let cases = [
            (at(0, None), 0, 0..10),
            (at(4, Some(3)), 4, 4..7),
            (at(8, Some(3)), 8, 8..10),
            (at(10, Some(3)), 10, 10..10),
            (at(99_999, None), 99_999, 10..10),
            (at(crate::INT_MAX, Some(crate::INT_MAX.unsigned_abs())), crate::INT_MAX.unsigned_abs(), 10..10),
            (at(-3, None), 7, 7..10),
            (at(-3, Some(1)), 7, 7..8),
            (at(-11, Some(1)), 0, 0..1),
            (at(i64::MIN, Some(0)), 0, 0..0),
        ];
        for (window, position, range) in cases {
            assert_eq!(show(&window, None), Ok(Shown { position, range, limit: None }), "{window:?}");
        }
    }

    #[test]
    fn an_anchor_takes_the_place_of_the_position() {
        let shown = |window| show(&window, None).map(|shown| (shown.position, shown.range));
        assert_eq!(shown(anchored("r5", 0)), Ok((5, 5..7)));
        assert_eq!(shown(anchored("r5", -1)), Ok((4, 4..6)));
        assert_eq!(shown(anchored("r5", -6)), Ok((0, 0..2)));
        assert_eq!(shown(anchored("r5", 4)), Ok((9, 9..10)));
        assert_eq!(shown(anchored("r5", 5)), Ok((10, 10..10)));
        assert_eq!(shown(anchored("r5", i64::MIN)), Ok((0, 0..2)));
        assert_eq!(shown(anchored("r10", 0)), Err(MethodErrorKind::AnchorNotFound));
    }

    #[test]
    fn the_limit_of_the_server_is_told_if_it_differs_from_the_client_s() {
        let shown = |limit, max| show(&at(0, limit), max).map(|shown| (shown.range.len(), shown.limit));
        assert_eq!(shown(None, Some(4)), Ok((4, Some(4))));
        assert_eq!(shown(None, Some(40)), Ok((10, Some(40))));
        assert_eq!(shown(Some(5), Some(4)), Ok((4, Some(4))));
        assert_eq!(shown(Some(4), Some(4)), Ok((4, None)));
        assert_eq!(shown(Some(0), Some(4)), Ok((0, None)));
        assert_eq!(shown(None, None), Ok((10, None)));
    }
}
