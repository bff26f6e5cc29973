//! Rust source without its comments and strings.
//!
//! Input: source. Output: the same lines with only code left. Does not know what the code means.

use std::collections::BTreeSet;

/// Returns `text` with comments, strings and character literals blanked out. Line numbers stay the same.
pub(super) fn code_only(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        let end = skipped_end(&letters, at);
        if end == at {
            code.push(letters[at]);
            at += 1;
        } else {
            code.extend(letters[at..end].iter().map(|&letter| if letter == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    code
}

/// Returns the indexes of the lines in which a raw string begins, continues or ends.
pub(super) fn raw_string_lines(text: &str) -> BTreeSet<usize> {
    let letters: Vec<char> = text.chars().collect();
    let mut lines = BTreeSet::new();
    let (mut at, mut line) = (0, 0);
    while at < letters.len() {
        let end = skipped_end(&letters, at).max(at + 1);
        let breaks = letters[at..end].iter().filter(|&&letter| letter == '\n').count();
        // Only a raw string is longer than one character and begins with `r` or `br`.
        if end > at + 1 && ['r', 'b'].contains(&letters[at]) {
            lines.extend(line..=line + breaks);
        }
        (at, line) = (end, line + breaks);
    }
    lines
}

/// Returns the end of a comment, string or character literal at `at`; otherwise `at`.
fn skipped_end(letters: &[char], at: usize) -> usize {
    let starts = |pattern: &str| {
        pattern.chars().enumerate().all(|(place, letter)| letters.get(at + place) == Some(&letter))
    };
    let word_before = at > 0 && (letters[at - 1].is_alphanumeric() || letters[at - 1] == '_');
    if starts("//") {
        return position(letters, at, |at| letters[at] == '\n');
    }
    if starts("/*") {
        return block_comment_end(letters, at);
    }
    if starts("\"") {
        return quoted_end(letters, at, '"');
    }
    if starts("r\"") || starts("r#") || starts("br\"") || starts("br#") {
        return if word_before { at } else { raw_string_end(letters, at) };
    }
    // A character literal, not a lifetime.
    if starts("'") && (letters.get(at + 1) == Some(&'\\') || letters.get(at + 2) == Some(&'\'')) {
        return quoted_end(letters, at, '\'');
    }
    at
}

/// Returns the first position from `at` on where `holds` is true, or the end.
fn position(letters: &[char], at: usize, holds: impl Fn(usize) -> bool) -> usize {
    (at..letters.len()).find(|&at| holds(at)).unwrap_or(letters.len())
}

fn block_comment_end(letters: &[char], at: usize) -> usize {
    let (mut depth, mut at) = (0, at);
    while at + 1 < letters.len() {
        match (letters[at], letters[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') if depth == 1 => return at + 2,
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    letters.len()
}

fn quoted_end(letters: &[char], at: usize, quote: char) -> usize {
    let mut at = at + 1;
    while at < letters.len() && letters[at] != quote {
        at += if letters[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(letters.len())
}

/// Returns the end of a raw string. For `r#name`, which is not one, returns its beginning.
fn raw_string_end(letters: &[char], at: usize) -> usize {
    let hashes_at = position(letters, at, |at| letters[at] == '#' || letters[at] == '"');
    let quote_at = position(letters, hashes_at, |at| letters[at] != '#');
    if letters.get(quote_at) != Some(&'"') {
        return at;
    }
    let hashes = quote_at - hashes_at;
    let closes = |at: usize| {
        letters[at] == '"'
            && letters[at + 1..].iter().take(hashes).filter(|&&letter| letter == '#').count() == hashes
    };
    (position(letters, quote_at + 1, closes) + 1 + hashes).min(letters.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        for (text, code) in [
            ("a // b\nc", "a\nc"),
            ("a /* b /* c */ d */ e", "ae"),
            ("f(\"a \\\" b\", c)", "f(,c)"),
            ("f(r#\"a \" b\"#, r\"c\")", "f(,)"),
            ("let r#type = 'a';", "letr#type=;"),
            ("fn f<'a>(b: &'a str, c: '\\n')", "fnf<'a>(b:&'astr,c:)"),
            ("b\"bytes\" + br\"raw\"", "b+"),
            ("/* open\n", "\n"),
        ] {
            assert_eq!(code_only(text).replace(' ', ""), code, "{text}");
        }
    }

    #[test]
    fn lines_of_raw_strings_are_told() {
        let text = "a\nf(r#\"\nb\n\"#);\nc\nr\"d\" \"\ne\"\nr#type\n";
        assert_eq!(raw_string_lines(text), BTreeSet::from([1, 2, 3, 5]));
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "a\n/* b\n c */ d\n\"e\n\" f\n";
        assert_eq!(code_only(text).lines().count(), text.lines().count());
        assert_eq!(code_only(text).lines().nth(2).map(str::trim), Some("d"));
    }
}
