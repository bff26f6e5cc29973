//! Divides an expression into tokens.
//!
//! Input: text. Output: tokens with their places. Knows no grammar.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// The smallest part of an expression that means something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Compare(Comparison),
    /// Text, without its quotes.
    Text(String),
    /// A number as it is written.
    Number(String),
    /// A name, a path or a word of the language.
    Word(String),
    /// The end of the expression.
    End,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A token and the byte where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) offset: usize,
}

/// What is wrong, and where.
pub(super) type Mistake = (usize, String);

/// The signs of comparisons. A sign that begins another one comes after it.
const SIGNS: [(&str, Comparison); 8] = [
    ("==", Comparison::Equal),
    ("=", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<>", Comparison::Unequal),
    ("<=", Comparison::LessOrEqual),
    ("<", Comparison::Less),
    (">=", Comparison::GreaterOrEqual),
    (">", Comparison::Greater),
];

/// Returns the tokens of an expression; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Mistake> {
    let mut found = Vec::new();
    let mut offset = 0;
    loop {
        let rest = text.get(offset..).unwrap_or_default();
        let spaces = rest.len().saturating_sub(rest.trim_start().len());
        offset = offset.saturating_add(spaces);
        let rest = rest.trim_start();
        let (token, length) = next(rest).map_err(|(at, what)| (offset.saturating_add(at), what))?;
        let is_end = token == Token::End;
        found.push(Placed { token, offset });
        if is_end {
            return Ok(found);
        }
        offset = offset.saturating_add(length);
    }
}

/// Returns the token at the beginning of `rest`, and its length in bytes.
fn next(rest: &str) -> Result<(Token, usize), Mistake> {
    if let Some((sign, comparison)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((Token::Compare(*comparison), sign.len()));
    }
    let after_sign = rest.strip_prefix('-').unwrap_or(rest);
    let Some(first) = rest.chars().next() else { return Ok((Token::End, 0)) };
    match first {
        '(' => Ok((Token::Open, 1)),
        ')' => Ok((Token::Close, 1)),
        '"' => quoted(rest),
        '\'' => Err((0, "text is written in double quotes".to_owned())),
        '[' | '_' => word(rest),
        _ if first.is_alphabetic() => word(rest),
        _ if after_sign.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') => number(rest),
        _ => Err((0, format!("\"{first}\" has no meaning here"))),
    }
}

/// Reads text in quotes, as in JSON.
fn quoted(rest: &str) -> Result<(Token, usize), Mistake> {
    let mut is_escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, letter)| {
        let ends = *letter == '"' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        ends
    });
    let Some((end, _)) = end else { return Err((0, "this text has no end: a quote is missing".to_owned())) };
    let length = end.saturating_add(1);
    match serde_json::from_str(rest.get(..length).unwrap_or_default()) {
        Ok(text) => Ok((Token::Text(text), length)),
        Err(_) => Err((0, "this is not text as in JSON: see its control characters and escapes".to_owned())),
    }
}

fn number(rest: &str) -> Result<(Token, usize), Mistake> {
    let mut before = ' ';
    let end = rest.char_indices().find(|&(at, letter)| {
        let is_sign = letter == '-' && at == 0 || "+-".contains(letter) && "eE".contains(before);
        before = letter;
        !(letter.is_ascii_alphanumeric() || letter == '.' || letter == '_' || is_sign)
    });
    let length = end.map_or(rest.len(), |(end, _)| end);
    Ok((Token::Number(rest.get(..length).unwrap_or_default().to_owned()), length))
}

/// Reads a name and the steps that follow it: `a.b[2]["c d"]`.
fn word(rest: &str) -> Result<(Token, usize), Mistake> {
    let mut length: usize = 0;
    loop {
        let left = rest.get(length..).unwrap_or_default();
        if left.starts_with('[') {
            let end = bracket_end(left).ok_or((length, "this bracket has no end".to_owned()))?;
            length = length.saturating_add(end);
            continue;
        }
        let name = left.strip_prefix('.').filter(|_| length > 0).unwrap_or(left);
        let is_name = |letter: char| letter == '_' || letter.is_alphanumeric();
        let name_length = name.find(|letter| !is_name(letter)).unwrap_or(name.len());
        if name_length == 0 {
            break;
        }
        length = length.saturating_add(left.len().saturating_sub(name.len())).saturating_add(name_length);
    }
    Ok((Token::Word(rest.get(..length).unwrap_or_default().to_owned()), length))
}

/// Returns the length of a step in brackets.
fn bracket_end(text: &str) -> Option<usize> {
    let inside = text.get(1..)?;
    let quote = inside.chars().next().filter(|letter| "\"'".contains(*letter));
    let end = match quote {
        Some(quote) => {
            let close = inside.get(1..)?.find(quote)?.checked_add(2)?;
            inside.get(close..)?.starts_with(']').then_some(close)?
        }
        None => inside.find(']')?,
    };
    end.checked_add(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|placed| placed.token).collect()
    }

    #[test]
    fn text_is_divided() {
        let word = |text: &str| Token::Word(text.to_owned());
        let number = |text: &str| Token::Number(text.to_owned());
        assert_eq!(
            shown(" a.b[2][\"c d]\"].ü<=-1.5e-3 and(not x)"),
            [
                word("a.b[2][\"c d]\"].ü"),
                Token::Compare(Comparison::LessOrEqual),
                number("-1.5e-3"),
                word("and"),
                Token::Open,
                word("not"),
                word("x"),
                Token::Close,
                Token::End
            ]
        );
        assert_eq!(
            shown(r#""a\"\u00e9\\"<>"""#),
            [
                Token::Text("a\"é\\".to_owned()),
                Token::Compare(Comparison::Unequal),
                Token::Text(String::new()),
                Token::End
            ]
        );
        assert_eq!(shown("a.=1")[..1], [word("a")][..1], "a point without a name ends the word");
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, offset) in
            [("a = 'x'", 4), ("a = \"x", 4), ("a ? 1", 2), ("ab[1", 2), ("a = \"\\x\"", 4), ("-", 0)]
        {
            assert_eq!(tokens(text).map_err(|(at, _)| at), Err(offset), "{text}");
        }
    }
}
