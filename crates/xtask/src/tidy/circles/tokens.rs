//! Rust source as a row of words and signs.
//!
//! Input: source. Output: tokens, each with its line, without comments, strings and tests. Knows no grammar
//! beyond attributes and brackets.

use super::super::source::code_only;

/// A word, a `::`, or a sign of one letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    /// From 1.
    pub(super) line: usize,
}

impl Token {
    /// Returns whether this is an identifier or a keyword.
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
    }
}

/// Returns the tokens of `text` without the items under `#[cfg(test)]`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut rest = &split(&code_only(text))[..];
    while let Some((first, after)) = rest.split_first() {
        if let Some(length) = test_item_length(rest) {
            rest = &rest[length..];
        } else {
            kept.push(first.clone());
            rest = after;
        }
    }
    kept
}

fn split(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(letter) = rest.chars().next() {
            let in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let length = match letter {
                _ if in_word(letter) => rest.find(|letter| !in_word(letter)).unwrap_or(rest.len()),
                // A lifetime is one token, so that it is no word.
                '\'' => 1 + rest[1..].find(|letter| !in_word(letter)).unwrap_or(rest.len() - 1),
                ':' if rest.starts_with("::") => 2,
                _ => letter.len_utf8(),
            };
            tokens.push(Token { text: rest[..length].to_owned(), line: index + 1 });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// Returns the number of tokens of `#[cfg(test)]` and the item under it, if `tokens` begin with that.
fn test_item_length(tokens: &[Token]) -> Option<usize> {
    let opening = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut begin = opening.len();
    if !opening.iter().enumerate().all(|(index, &text)| is(tokens, index, text)) {
        return None;
    }
    while is(tokens, begin, "#") {
        begin += 1 + group_length(&tokens[begin + 1..]);
    }
    let mut item = begin;
    if is(tokens, item, "pub") {
        item += 1;
        item += if is(tokens, item, "(") { group_length(&tokens[item..]) } else { 0 };
    }
    let is_use = is(tokens, item, "use");
    let mut at = begin;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return Some(at + 1),
            // The braces of a `use` do not end it.
            "{" if !is_use => return Some(at + group_length(&tokens[at..])),
            "(" | "[" | "{" => at += group_length(&tokens[at..]),
            _ => at += 1,
        }
    }
    Some(at)
}

/// Returns the number of tokens of the bracket that `tokens` begin with, with all that it encloses.
fn group_length(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Returns whether the token at `index` is `text`.
pub(super) fn is(tokens: &[Token], index: usize, text: &str) -> bool {
    tokens.get(index).is_some_and(|token| token.text == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> String {
        tokens(text).iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_signs_and_lifetimes_are_told_apart() {
        assert_eq!(texts("fn f<'a>(b: &'a c::D) {} // e"), "fn f < 'a > ( b : & 'a c :: D ) { }");
        assert_eq!(tokens("a\n\nb")[1].line, 3);
    }

    #[test]
    fn tests_are_left_out() {
        for (text, left) in [
            ("a; #[cfg(test)]\nmod tests { fn f() { {} } } b", "a ; b"),
            ("#[cfg(test)]\nmod tests;\nb", "b"),
            ("#[cfg(test)]\nuse a::{b, c};\nd", "d"),
            ("#[cfg(test)]\n#[expect(x)]\npub(crate) fn f(a: [u8; 2]) -> A { use x::y; } d", "d"),
            ("#[cfg(unix)]\nmod a;", "# [ cfg ( unix ) ] mod a ;"),
        ] {
            assert_eq!(texts(text), left, "{text}");
        }
    }
}
