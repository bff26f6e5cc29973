//! Finds the block of a row in a table of blocks.
//!
//! Input: the first row of any block. Output: the number of a block. Does not depend on where the table is.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

/// Returns the number of the block that contains `row`, of `block_count` blocks with `row_count` rows.
/// `first_row` returns the first row of a block. First rows ascend from 0; in a damaged table, any block may
/// be returned.
///
/// Blocks have about as many rows each. The search begins where the block would be if all had the same
/// number, and goes on from there in steps that double until it can bisect: an exponential search. It reads a
/// table in few places, however long it is.
///
/// # Errors
/// Those of `first_row`.
pub(crate) fn find_block<E>(
    row: u32,
    row_count: u32,
    block_count: u64,
    mut first_row: impl FnMut(u64) -> Result<u32, E>,
) -> Result<u64, E> {
    // The block is in low..high.
    let (mut low, mut high, mut step) = (0_u64, block_count, 1_u64);
    let guess = u128::from(row).saturating_mul(u128::from(block_count)).checked_div(row_count.into());
    let mut probe =
        guess.and_then(|guess| u64::try_from(guess).ok()).unwrap_or(0).min(block_count.saturating_sub(1));
    while low.saturating_add(1) < high {
        if first_row(probe)? <= row {
            low = probe;
            probe = low.saturating_add(step);
        } else {
            high = probe;
            probe = high.saturating_sub(step);
        }
        step = step.saturating_mul(2);
        if probe <= low || probe >= high {
            probe = low.midpoint(high);
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// Returns the block found, and how many first rows were read.
    fn find(first_rows: &[u32], row_count: u32, row: u32) -> (usize, usize) {
        let mut read_count = 0;
        let found = find_block(row, row_count, first_rows.len() as u64, |index| {
            read_count += 1;
            Ok::<u32, Infallible>(first_rows[usize::try_from(index).unwrap()])
        });
        (usize::try_from(found.unwrap()).unwrap(), read_count)
    }

    #[test]
    fn blocks_of_the_same_size_are_found_at_once() {
        let first_rows: Vec<u32> = (0..100_000).map(|block| block * 16).collect();
        for (row, block) in [(0, 0), (1, 0), (16, 1), (777_777, 48_611), (1_599_999, 99_999)] {
            let (found, read_count) = find(&first_rows, 1_600_000, row);
            assert!(found == block && read_count <= 3, "{row}: {found} after {read_count}");
        }
        assert_eq!(find(&[], 0, 0), (0, 0));
    }

    proptest! {
        #[test]
        fn the_block_is_the_last_that_begins_at_the_row_or_before(
            sizes in prop::collection::vec(prop_oneof![1_u32..4, 1_u32..2000], 1..300), row in any::<u32>(),
        ) {
            let mut row_count = 0;
            let first_rows: Vec<u32> = sizes.iter().map(|size| {
                row_count += size;
                row_count - size
            }).collect();
            let row = row % row_count;
            let (found, read_count) = find(&first_rows, row_count, row);
            prop_assert_eq!(found, first_rows.partition_point(|&first| first <= row) - 1);
            prop_assert!(read_count <= 2 * 9 + 3);
        }

        #[test]
        fn a_damaged_table_ends_the_search_within_it(
            first_rows in prop::collection::vec(any::<u32>(), 1..300), row: u32, rows: u32,
        ) {
            let (found, read_count) = find(&first_rows, rows, row);
            prop_assert!(found < first_rows.len() && read_count <= 2 * 9 + 3);
        }
    }
}
