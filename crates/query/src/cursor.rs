//! The term at the cursor of a query that is being typed.
//!
//! Input: a query, which may be wrong or not finished, and a place in it. Output: where the term there begins
//! and ends, and to which field the parentheses around it belong. Does not know what terms mean.

/// A term, or the place for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term<'q> {
    /// Where it begins, in bytes. A dash before it is not part of it.
    pub(crate) start: usize,
    /// Where it ends: the place itself, if that is before its beginning, or in a quotation without an end.
    pub(crate) end: usize,
    /// The field before the parentheses around it.
    pub(crate) outer: Option<&'q str>,
}

/// Which characters count.
#[derive(Clone, Copy, Default)]
struct Marks {
    is_quoted: bool,
    is_escaped: bool,
}

impl Marks {
    /// Returns whether a character stands for itself, and goes on after it.
    fn hide(&mut self, character: char) -> bool {
        let was = *self;
        self.is_escaped = !was.is_escaped && character == '\\';
        self.is_quoted = was.is_quoted != (!was.is_escaped && character == '"');
        was.is_escaped || was.is_quoted || matches!(character, '\\' | '"')
    }
}

/// Returns the term at a place. A place within a character counts as the one before it.
pub(crate) fn term_at(query: &str, at: usize) -> Term<'_> {
    let at = query.floor_char_boundary(at);
    let (before, after) = query.split_at(at);
    let (mut start, mut marks, mut outer) = (0, Marks::default(), Vec::new());
    for (place, character) in before.char_indices() {
        let behind = place + character.len_utf8();
        match character {
            _ if marks.hide(character) => {}
            '(' => {
                let field = before.get(start..place).and_then(|term| term.strip_suffix(':'));
                outer.push(field.or(outer.last().copied().flatten()));
                start = behind;
            }
            ')' => {
                outer.pop();
                start = behind;
            }
            '-' if place == start => start = behind,
            _ if character.is_whitespace() => start = behind,
            _ => {}
        }
    }
    let ends = |character: char| character.is_whitespace() || matches!(character, '(' | ')');
    let length = after.char_indices().find(|(_, character)| !marks.hide(*character) && ends(*character));
    let end = match length {
        _ if start == at => at,
        Some((length, _)) => at + length,
        None if marks.is_quoted => at,
        None => query.len(),
    };
    Term { start, end, outer: outer.last().copied().flatten() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|` is the cursor, and brackets are around the term.
    fn shown(text: &str) -> String {
        let at = text.find('|').unwrap();
        let query = text.replacen('|', "", 1);
        let Term { start, end, outer } = term_at(&query, at);
        format!("{}[{}]{} {}", &query[..start], &query[start..end], &query[end..], outer.unwrap_or_default())
    }

    #[test]
    fn a_term_goes_to_the_next_space_or_parenthesis() {
        for (query, expected) in [
            ("|", "[] "),
            ("an|a bo", "[ana] bo "),
            ("|ana", "[]ana "),
            ("ana |", "ana [] "),
            ("-an|a", "-[ana] "),
            ("from:|ana) x", "[from:ana]) x "),
            ("from:(ana or b|o) x", "from:(ana or [bo]) x from"),
            ("to:(a (b|", "to:(a ([b] to"),
            ("to:(a) (b|", "to:(a) ([b] "),
            (")b|", ")[b] "),
            ("tag:\"a |b\" x", "[tag:\"a b\"] x "),
            ("tag:\"a |b x", "[tag:\"a ]b x "),
            (r"tag:a\ |b x", r"[tag:a\ b] x "),
            (r#"tag:"\" |b" x"#, r#"[tag:"\" b"] x "#),
            ("größ|e x", "[größe] x "),
        ] {
            assert_eq!(shown(query), expected, "{query}");
        }
        assert_eq!(term_at("é", 1), Term { start: 0, end: 0, outer: None });
        assert_eq!(term_at("a", 9), Term { start: 0, end: 1, outer: None });
    }
}
