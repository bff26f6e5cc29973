//! Patterns of `like`: `%` stands for any text, `_` for one character, and `\` takes the meaning from the
//! character after it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Piece>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    This(char),
    AnyCharacter,
    AnyText,
}

impl Pattern {
    /// Reads a pattern.
    pub(super) fn new(text: &str) -> Pattern {
        let mut pieces = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '%' if pieces.last() == Some(&Piece::AnyText) => {}
                '%' => pieces.push(Piece::AnyText),
                '_' => pieces.push(Piece::AnyCharacter),
                '\\' => pieces.push(Piece::This(letters.next().unwrap_or('\\'))),
                _ => pieces.push(Piece::This(letter)),
            }
        }
        Pattern(pieces)
    }

    /// Returns whether all of `text` fits. Takes steps in proportion to the product of both lengths at most:
    /// only the last `%` is tried again.
    pub(super) fn fits(&self, text: &str) -> bool {
        let (mut piece, mut rest) = (0_usize, text);
        // The piece after the last `%`, and the text that it began with.
        let mut again: Option<(usize, &str)> = None;
        loop {
            let mut letters = rest.chars();
            let letter = letters.next();
            let fits = match (self.0.get(piece), letter) {
                (Some(Piece::AnyText), _) => {
                    piece = piece.saturating_add(1);
                    again = Some((piece, rest));
                    continue;
                }
                (Some(Piece::AnyCharacter), Some(_)) => true,
                (Some(Piece::This(this)), Some(letter)) => *this == letter,
                (None, None) => return true,
                _ => false,
            };
            if fits {
                piece = piece.saturating_add(1);
                rest = letters.as_str();
                continue;
            }
            let Some((after, begin)) = again else { return false };
            let mut letters = begin.chars();
            if letters.next().is_none() {
                return false;
            }
            (piece, rest) = (after, letters.as_str());
            again = Some((after, rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_text() {
        for (pattern, fitting, others) in [
            ("Par%", &["Par", "Paris"][..], &["par", "aPar", ""][..]),
            ("%a_é%", &["aaé", "xxabé!", "aaaéé"], &["aé", "ab"]),
            ("%", &["", "anything\n"], &[]),
            ("", &[""], &["a"]),
            ("_", &["ü"], &["", "ab"]),
            (r"50\%\_\\", &[r"50%_\"], &["50x_\\"]),
            ("%ab%ab", &["abab", "xabyabzab"], &["ab", "ababx"]),
            (r"a\", &[r"a\"], &["a"]),
        ] {
            let compiled = Pattern::new(pattern);
            fitting.iter().for_each(|text| assert!(compiled.fits(text), "{pattern} {text}"));
            others.iter().for_each(|text| assert!(!compiled.fits(text), "{pattern} {text}"));
        }
        // Every % is tried again only until the next one is reached.
        assert!(!Pattern::new(&"%a".repeat(200)).fits(&("a".repeat(199) + &"b".repeat(5000))));
    }
}
