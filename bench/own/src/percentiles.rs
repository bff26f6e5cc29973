//! Percentiles of many values, so that a report need not keep each of them.
//!
//! Input: sorted values. Output: some of them. Does not know what they are.

/// Into how many parts percentiles divide.
const PARTS: usize = 100;

/// Returns the percentiles from 0 to 100 of sorted values: they have the median, the minimum and the maximum
/// of all. Fewer values stay as they are.
pub(crate) fn percentiles(sorted: &[f64]) -> Vec<f64> {
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    if last < PARTS {
        return sorted.to_vec();
    }
    (0..=PARTS).map(|part| sorted[last * part / PARTS]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_keep_the_median_and_both_ends() {
        let many: Vec<f64> = (0..=1000).map(f64::from).collect();
        let parts = percentiles(&many);
        assert_eq!((parts.len(), parts[0], parts[50], parts[100]), (101, 0.0, 500.0, 1000.0));
        assert_eq!(percentiles(&[1.0, 5.0]), [1.0, 5.0]);
        assert!(percentiles(&[]).is_empty());
    }
}
