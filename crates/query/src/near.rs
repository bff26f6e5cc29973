//! Guesses what a mistyped word was meant to be. Input: a word as typed, and the known words. Output: the
//! nearest one, if one is near. Knows nothing of what the words mean.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Words up to this length are too close to everything.
const LENGTH_MIN: usize = 3;

/// From this length on two mistakes are allowed.
const LENGTH_OF_TWO_MISTAKES: usize = 6;

/// Returns the candidate nearest to the typed word; the first of several equally near ones.
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let mistakes_max = match typed.chars().count() {
        ..LENGTH_MIN => return None,
        LENGTH_MIN..LENGTH_OF_TWO_MISTAKES => 1,
        LENGTH_OF_TWO_MISTAKES.. => 2,
    };
    let far_enough = candidates.filter(|candidate| candidate.len() >= LENGTH_MIN);
    let by_distance = far_enough.map(|candidate| (mistakes(&typed, &candidate.to_lowercase()), candidate));
    by_distance
        .filter(|(count, _)| *count <= mistakes_max)
        .min_by_key(|(count, _)| *count)
        .map(|(_, candidate)| candidate)
}

/// Counts letters to insert, drop, replace or swap with their neighbour (optimal string alignment).
fn mistakes(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // Three rows of the usual table: two back, one back, and the one being filled; with the letter of each
    // row.
    let mut back_two: Vec<usize> = Vec::new();
    let mut back_one: Vec<usize> = (0..=b.len()).collect();
    let mut letter_before = None;
    for (row, letter) in a.chars().enumerate() {
        let mut current = vec![row.saturating_add(1)];
        let at = |table: &[usize], column: usize| table.get(column).copied().unwrap_or(usize::MAX);
        for (column, other) in b.iter().enumerate() {
            let replaced = at(&back_one, column).saturating_add(usize::from(letter != *other));
            let dropped = at(&back_one, column.saturating_add(1)).saturating_add(1);
            let inserted = at(&current, column).saturating_add(1);
            let mut best = replaced.min(dropped).min(inserted);
            let other_before = column.checked_sub(1).and_then(|before| b.get(before));
            if let (Some(before), Some(other_before)) = (letter_before, other_before)
                && before == *other
                && letter == *other_before
            {
                best = best.min(at(&back_two, column.saturating_sub(1)).saturating_add(1));
            }
            current.push(best);
        }
        back_two = std::mem::replace(&mut back_one, current);
        letter_before = Some(letter);
    }
    back_one.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (a, b, expected) in [
            ("from", "from", 0),
            ("form", "from", 1),
            ("fro", "from", 1),
            ("ffrom", "from", 1),
            ("fram", "from", 1),
            ("subjcet", "subject", 1),
            ("sbuejct", "subject", 2),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(mistakes(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let names = ["from", "to", "subject", "attachment"];
        for (typed, expected) in [
            ("form", Some("from")),
            ("FROMM", Some("from")),
            ("subjetc", Some("subject")),
            ("atachmnet", Some("attachment")),
            ("sbjct", None),
            ("too", None),
            ("re", None),
            ("fo", None),
            ("mailto", None),
        ] {
            assert_eq!(nearest(typed, names.into_iter()), expected, "{typed}");
        }
    }
}
