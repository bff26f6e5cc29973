//! Which rows of a part are dead: replaced or deleted since they were written (docs/FORMAT.md, "Dead rows").
//!
//! Input: row numbers, or the content of a `.dead` file. Output: whether a row is dead, or the content. Does
//! not depend on the content of rows.
//!
//! Bits are kept in pieces of 65,536 rows. Copies share a piece until one of them changes it. So a commit
//! that kills one row of a hundred million copies only 8 KiB, and the file holds only pieces that have a
//! dead row.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::error::Damage;
use crate::format::{DEAD_COUNT_OFFSET, DEAD_PIECE_ROWS, DEAD_PIECE_WORDS, DEAD_ROW_COUNT_OFFSET};
use std::sync::Arc;

type Piece = [u64; DEAD_PIECE_WORDS];

/// A set of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeadRows {
    dead_count: u32,
    /// Empty if no row is dead. May be shorter than the row count: missing pieces hold no dead rows.
    pieces: Vec<Option<Arc<Piece>>>,
}

impl DeadRows {
    pub(crate) fn is_empty(&self) -> bool {
        self.dead_count == 0
    }

    pub(crate) fn dead_count(&self) -> u32 {
        self.dead_count
    }

    #[inline]
    pub(crate) fn is_dead(&self, row: u32) -> bool {
        if self.dead_count == 0 {
            return false;
        }
        let (piece, word, bit) = bit_position(row);
        let Some(Some(piece)) = self.pieces.get(piece) else { return false };
        piece.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Adds `row`; returns whether it was alive.
    pub(crate) fn kill(&mut self, row: u32) -> bool {
        let (piece, word, bit) = bit_position(row);
        if self.pieces.len() <= piece {
            self.pieces.resize(piece.saturating_add(1), None);
        }
        let Some(slot) = self.pieces.get_mut(piece) else { return false };
        let piece = Arc::make_mut(slot.get_or_insert_with(|| Arc::new([0; DEAD_PIECE_WORDS])));
        let Some(word) = piece.get_mut(word) else { return false };
        let was_alive = *word & bit == 0;
        *word |= bit;
        self.dead_count = self.dead_count.saturating_add(u32::from(was_alive));
        was_alive
    }

    /// Returns the dead rows, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u32> {
        let pieces = (0_u32..).zip(&self.pieces);
        pieces.flat_map(|(number, piece)| {
            piece.iter().flat_map(move |piece| rows_of_piece(number, piece, None))
        })
    }

    /// Returns the rows that are dead here but not in `older`, in order.
    pub(crate) fn since<'a>(&'a self, older: &'a DeadRows) -> impl Iterator<Item = u32> + 'a {
        (0_u32..).zip(&self.pieces).flat_map(move |(number, piece)| {
            let now = piece.as_deref();
            let before = older.pieces.get(number as usize).and_then(Option::as_deref);
            now.into_iter().flat_map(move |now| rows_of_piece(number, now, before))
        })
    }

    /// Returns the content of a `.dead` file for a segment of `row_count` rows.
    pub(crate) fn encode(&self, row_count: u32) -> Vec<u8> {
        let present: Vec<(u32, &Piece)> = (0..)
            .zip(&self.pieces)
            .filter_map(|(number, piece)| Some((number, &**piece.as_ref()?)))
            .collect();
        let mut out = Vec::new();
        for word in [row_count, self.dead_count, u32::try_from(present.len()).unwrap_or(u32::MAX), 0] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        for (number, piece) in present {
            out.extend_from_slice(&u64::from(number).to_le_bytes());
            piece.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
        out
    }

    /// Reads the content of a `.dead` file for a segment of `row_count` rows.
    pub(crate) fn decode(bytes: &[u8], row_count: u32) -> Result<DeadRows, Damage> {
        let mut cursor = Cursor::new(bytes);
        let found = cursor.u32("the row count")?;
        if found != row_count {
            return Err(Damage::new(
                DEAD_ROW_COUNT_OFFSET,
                format!("row count is {found}, expected {row_count}"),
            ));
        }
        let dead_count = cursor.u32("the count of dead rows")?;
        let piece_count = cursor.u32("the count of pieces")?;
        if cursor.u32("padding")? != 0 {
            return Err(cursor.damage("padding is not zero"));
        }
        let mut dead = DeadRows::default();
        for _ in 0..piece_count {
            dead.decode_piece(&mut cursor, row_count)?;
        }
        cursor.finish("the dead rows")?;
        if dead.dead_count != dead_count {
            let what = format!("{} rows are dead, expected {dead_count}", dead.dead_count);
            return Err(Damage::new(DEAD_COUNT_OFFSET, what));
        }
        Ok(dead)
    }

    fn decode_piece(&mut self, cursor: &mut Cursor, row_count: u32) -> Result<(), Damage> {
        let offset = cursor.offset();
        let number = cursor.u64("a piece's number")?;
        let piece_count = row_count.div_ceil(DEAD_PIECE_ROWS);
        let number = u32::try_from(number).ok().filter(|&number| number < piece_count);
        let Some(number) = number.filter(|&number| number as usize >= self.pieces.len()) else {
            return Err(Damage::new(offset, "pieces are not in order, or are after the last row"));
        };
        let mut piece = [0; DEAD_PIECE_WORDS];
        let bytes = cursor.take(size_of::<Piece>(), "a piece")?;
        for (word, bytes) in piece.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let Some(last) = rows_of_piece(number, &piece, None).last() else {
            return Err(Damage::new(offset, "a piece without dead rows"));
        };
        if last >= row_count {
            return Err(Damage::new(offset, format!("row {last} of {row_count} is dead")));
        }
        let dead_count: u32 = piece.iter().map(|word| word.count_ones()).sum();
        self.dead_count = self.dead_count.saturating_add(dead_count);
        self.pieces.resize(number as usize, None);
        self.pieces.push(Some(Arc::new(piece)));
        Ok(())
    }
}

/// Returns the rows whose bit is set in `now` and not in `before`.
fn rows_of_piece<'a>(
    number: u32,
    now: &'a Piece,
    before: Option<&'a Piece>,
) -> impl Iterator<Item = u32> + 'a {
    let first = number.saturating_mul(DEAD_PIECE_ROWS);
    now.iter().enumerate().flat_map(move |(index, &word)| {
        let mut rest = word & !before.and_then(|piece| piece.get(index)).copied().unwrap_or(0);
        let first = first.saturating_add(u32::try_from(index).unwrap_or(u32::MAX).saturating_mul(64));
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest.wrapping_sub(1);
            Some(first.saturating_add(bit))
        })
    })
}

fn bit_position(row: u32) -> (usize, usize, u64) {
    ((row / DEAD_PIECE_ROWS) as usize, ((row % DEAD_PIECE_ROWS) / 64) as usize, 1 << (row % 64))
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a wrong number fails the test")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn dead(rows: &[u32]) -> DeadRows {
        let mut dead = DeadRows::default();
        rows.iter().for_each(|&row| assert!(dead.kill(row)));
        dead
    }

    #[test]
    fn a_copy_shares_what_did_not_change() {
        let older = dead(&[3, 70_000]);
        let mut newer = older.clone();
        assert!(newer.kill(70_001) && !newer.kill(70_001));
        assert!(!older.is_dead(70_001));
        let pieces = |dead: &DeadRows| dead.pieces[0].clone().unwrap();
        assert!(Arc::ptr_eq(&pieces(&older), &pieces(&newer)));
        assert_eq!(newer.since(&older).collect::<Vec<_>>(), [70_001]);
        assert_eq!(newer.since(&DeadRows::default()).collect::<Vec<_>>(), [3, 70_000, 70_001]);
    }

    #[test]
    fn one_dead_row_of_many_is_a_small_file() {
        assert!(dead(&[90_000_000]).encode(100_000_000).len() < 9_000);
    }

    #[test]
    fn bytes_that_disagree_with_themselves_are_refused() {
        let good = dead(&[1, 65_536, 65_599]).encode(65_600);
        assert_eq!(DeadRows::decode(&good, 65_600), Ok(dead(&[1, 65_536, 65_599])));
        let changes: [(&str, usize, u8); 6] = [
            ("row count", 0, 1),
            ("rows are dead", 4, 2),
            ("follow the end", 8, 1),
            ("padding", 12, 1),
            ("not in order", 16, 1),
            ("is dead", 16 + 8200 + 8 + 8, 1),
        ];
        for (expected, offset, value) in changes {
            let mut bytes = good.clone();
            bytes[offset] = value;
            let message = DeadRows::decode(&bytes, 65_600).unwrap_err().what;
            assert!(message.contains(expected), "{message} should say {expected}");
        }
        for length in (0..good.len()).step_by(7) {
            assert!(DeadRows::decode(&good[..length], 65_600).is_err());
        }
    }

    proptest! {
        #[test]
        fn behaves_like_a_set(rows in prop::collection::vec(0_u32..300_000, 0..100), split in 0_usize..100) {
            let mut older = DeadRows::default();
            let mut set = BTreeSet::new();
            let split = split.min(rows.len());
            for &row in &rows[..split] {
                prop_assert_eq!(older.kill(row), set.insert(row));
            }
            let old_set = set.clone();
            let mut dead = older.clone();
            for &row in &rows[split..] {
                prop_assert_eq!(dead.kill(row), set.insert(row));
            }
            prop_assert_eq!(dead.dead_count() as usize, set.len());
            prop_assert!(rows.iter().all(|&row| dead.is_dead(row)));
            prop_assert!(rows.iter().map(|row| row ^ 1).all(|row| dead.is_dead(row) == set.contains(&row)));
            prop_assert_eq!(dead.since(&older).collect::<BTreeSet<_>>(), &set - &old_set);
            prop_assert_eq!(DeadRows::decode(&dead.encode(300_000), 300_000), Ok(dead));
        }
    }
}
