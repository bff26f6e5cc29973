//! From characters to tokens. Input: the query, and the headers that the configuration names. Output:
//! operators, parentheses and terms, each with its place. A term's field is resolved, and its quotes, escapes
//! and stars are removed. Knows neither what a field's values mean nor how tokens are combined.
//!
//! A term ends at white space or a parenthesis. Quotation marks may enclose a whole value or a part of it;
//! within them, `""` is a quotation mark, as in notmuch. A backslash removes the special meaning of the next
//! character. `/.../` is read unchanged, up to a slash at the end of the term, including balanced
//! parentheses; `"/.../"` may also contain white space.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::cell::Cell;
use std::ops::Range;

use crate::error::{Error, Problem};
use crate::fields::{self, FieldInfo};
use crate::foreign;
use crate::limits::{QUERY_BYTES_MAX, TERM_COUNT_MAX};
use crate::near::nearest;

/// A token and its place in the query, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum TokenKind {
    Open,
    /// `subject:(`.
    OpenGroup(FieldPrefix),
    Close,
    And,
    Or,
    Xor,
    /// The word, or `-` right before a term.
    Not,
    Term(Term),
}

/// A value, and the field before it.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) prefix: Option<FieldPrefix>,
    pub(crate) value: Value,
}

/// The text before a colon, and its meaning.
#[derive(Clone, Debug)]
pub(crate) struct FieldPrefix {
    /// As typed.
    pub(crate) typed: String,
    pub(crate) target: PrefixTarget,
}

#[derive(Clone, Debug)]
pub(crate) enum PrefixTarget {
    Field(&'static FieldInfo),
    /// A header that the configuration names, spelled as there.
    Header(String),
    /// No field, but a query that was saved: the value is its name.
    Saved,
}

/// What is searched for, without quotes, escapes and stars.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) text: String,
    /// Its position in the query. If the span is as long as the text, both are equal byte for byte.
    pub(crate) span: Range<usize>,
    pub(crate) shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Text, and how many stars come before and after it. If there are only stars, they count as after.
    Text {
        stars_before: usize,
        stars_behind: usize,
        /// A star in the middle, in no quotation marks.
        star_inside: bool,
        /// Whether the text begins with a `~` that asks for the stem of the word right after it.
        has_tilde: bool,
        /// Whether any of it stood in quotation marks.
        is_quoted: bool,
    },
    /// What stood between slashes.
    Regex,
}

/// What keeps a character of a value from having a meaning of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    None,
    Quoted,
    Escaped,
}

struct Lexer<'a> {
    query: &'a str,
    headers: &'a [String],
    /// Whether a query can be understood.
    is_query: &'a dyn Fn(&str) -> bool,
    /// The first parenthesis that would have to be closed for a term to be a regular expression.
    unclosed_group: Cell<Option<usize>>,
    tokens: Vec<Token>,
    term_count: usize,
}

/// Splits a query into tokens. `is_query` says whether a suggestion can be understood.
///
/// # Errors
/// A query or a number of terms over the limit, an open quotation mark, a field without a value, a misspelled
/// field.
pub(crate) fn tokens(
    query: &str,
    headers: &[String],
    is_query: &dyn Fn(&str) -> bool,
) -> Result<Vec<Token>, Error> {
    if query.len() > QUERY_BYTES_MAX {
        let problem = Problem::QueryTooLong { bytes: query.len() };
        return Err(Error { query: String::new(), saved: None, span: 0..0, problem });
    }
    let unclosed_group = Cell::new(None);
    let mut lexer = Lexer { query, headers, is_query, unclosed_group, tokens: Vec::new(), term_count: 0 };
    let mut at = 0;
    while let Some(c) = lexer.rest(at).chars().next() {
        at = match c {
            _ if is_space(c) => at.saturating_add(c.len_utf8()),
            '(' => lexer.push(TokenKind::Open, at, 1),
            ')' => lexer.push(TokenKind::Close, at, 1),
            '~' if lexer.rest(at).chars().nth(1) == Some('(') => {
                return Err(lexer.error(at..at.saturating_add(1), Problem::StemOfGroup));
            }
            '-' if lexer.rest(at).chars().nth(1).is_some_and(|c| !is_space(c) && c != ')') => {
                lexer.push(TokenKind::Not, at, 1)
            }
            _ => lexer.term(at)?,
        };
    }
    match lexer.unclosed_group.get() {
        Some(group) if lexer.open_parenthesis().is_some_and(|open| open <= group) => {
            Err(lexer.error(group..group.saturating_add(1), Problem::UnclosedGroup))
        }
        _ => Ok(lexer.tokens),
    }
}

impl<'a> Lexer<'a> {
    fn rest(&self, at: usize) -> &'a str {
        self.query.get(at..).unwrap_or("")
    }

    /// Adds a token and returns where the next may begin.
    fn push(&mut self, kind: TokenKind, at: usize, length: usize) -> usize {
        let end = at.saturating_add(length);
        self.tokens.push(Token { kind, span: at..end });
        end
    }

    /// Returns the place of the first parenthesis that nothing closes.
    fn open_parenthesis(&self) -> Option<usize> {
        let mut open = Vec::new();
        for Token { kind, span } in &self.tokens {
            match kind {
                TokenKind::Open | TokenKind::OpenGroup(_) => open.push(span.end.saturating_sub(1)),
                TokenKind::Close => drop(open.pop()),
                _ => {}
            }
        }
        open.first().copied()
    }

    fn error(&self, span: Range<usize>, problem: Problem) -> Error {
        Error { query: self.query.to_owned(), saved: None, span, problem }
    }

    fn term(&mut self, at: usize) -> Result<usize, Error> {
        let prefix = self.prefix(at)?;
        let mut value_at = at;
        if let Some(prefix) = &prefix {
            value_at = at.saturating_add(prefix.typed.len()).saturating_add(1);
            let next = self.rest(value_at).chars().next();
            if next == Some('(') {
                let length = value_at.saturating_sub(at).saturating_add(1);
                return Ok(self.push(TokenKind::OpenGroup(prefix.clone()), at, length));
            }
            if next.is_none_or(|c| is_space(c) || c == ')') {
                let problem = Problem::MissingValue { field: prefix.typed.clone() };
                return Err(self.error(at..value_at, problem));
            }
        }
        let value = self.value(value_at)?;
        let length = value.span.end.saturating_sub(at);
        let raw = self.rest(at).get(..length).unwrap_or("");
        let kind = match raw.to_ascii_lowercase().as_str() {
            "and" => TokenKind::And,
            "or" => TokenKind::Or,
            "xor" => TokenKind::Xor,
            "not" => TokenKind::Not,
            _ => {
                self.term_count = self.term_count.saturating_add(1);
                TokenKind::Term(Term { prefix, value })
            }
        };
        if self.term_count > TERM_COUNT_MAX {
            return Err(self.error(at..at.saturating_add(length), Problem::TooManyTerms));
        }
        Ok(self.push(kind, at, length))
    }

    /// Finds the field at the beginning of a term. A prefix that looks like a field but is not one is text,
    /// unless it is a mistyped field name.
    fn prefix(&self, at: usize) -> Result<Option<FieldPrefix>, Error> {
        let rest = self.rest(at);
        let (typed, behind) = rest
            .split_at_checked(rest.find(|c| !fields::is_name_character(c)).unwrap_or(0))
            .unwrap_or_default();
        let Some(behind) =
            behind.strip_prefix(':').filter(|_| typed.starts_with(|c: char| c.is_ascii_alphabetic()))
        else {
            return Ok(None);
        };
        let prefix = |target| Ok(Some(FieldPrefix { typed: typed.to_owned(), target }));
        let is_url = behind.starts_with("//");
        if let Some(info) = fields::find(typed) {
            // `file://` is the beginning of an address, as `http://` is.
            let is_address = is_url && typed.eq_ignore_ascii_case("file");
            return if is_address { Ok(None) } else { prefix(PrefixTarget::Field(info)) };
        }
        if let Some(header) = self.headers.iter().find(|header| header.eq_ignore_ascii_case(typed)) {
            return prefix(PrefixTarget::Header(header.clone()));
        }
        if typed.eq_ignore_ascii_case(fields::SAVED) && !is_url {
            return prefix(PrefixTarget::Saved);
        }
        let is_text = behind.chars().next().is_none_or(|c| is_space(c) || matches!(c, ':' | ')'));
        if is_url || is_text {
            return Ok(None);
        }
        let span = at..at.saturating_add(typed.len());
        if let Some(what) = foreign::unsupported(typed) {
            return Err(self.error(span, Problem::Unsupported { what: what.to_owned() }));
        }
        if let Some(here) = self.written_here(typed, behind) {
            return Err(self.error(span, Problem::ForeignField { typed: typed.to_owned(), here }));
        }
        let names = fields::names().chain([fields::SAVED]).chain(self.headers.iter().map(String::as_str));
        match nearest(typed, names) {
            None => Ok(None),
            Some(near) => {
                let problem = Problem::UnknownField { typed: typed.to_owned(), nearest: near.to_owned() };
                Err(self.error(span, problem))
            }
        }
    }

    /// Returns how to write a term of another program here, if its name is known: inside, `None` if nothing
    /// here means the same.
    fn written_here(&self, name: &str, behind: &str) -> Option<Option<String>> {
        if !foreign::is_known(name) {
            return None;
        }
        let at = self.query.len().saturating_sub(behind.len());
        let foreign::Meaning { typed, example } = foreign::meaning(name, self.raw_value(at))?;
        Some(typed.map(|typed| if (self.is_query)(&typed) { typed } else { example }))
    }

    /// Returns a value as typed; nothing if its end is not known.
    fn raw_value(&self, at: usize) -> &'a str {
        let rest = self.rest(at);
        let regex = regex_literal(rest).map(|(_, length)| length);
        let length = regex.or_else(|| quoted_regex(rest).map(|(_, length)| length));
        let length = length.or_else(|| self.guarded_chars(at).ok().map(|(_, length)| length));
        rest.get(..length.unwrap_or(0)).unwrap_or("")
    }

    fn value(&self, at: usize) -> Result<Value, Error> {
        let rest = self.rest(at);
        let regex = regex_literal(rest).map(|(regex, length)| (regex.to_owned(), length));
        if let Some((text, length)) = regex.or_else(|| quoted_regex(rest)) {
            return Ok(Value { text, span: at..at.saturating_add(length), shape: Shape::Regex });
        }
        if let (None, Some(open)) = (self.unclosed_group.get(), unclosed_group(rest)) {
            // A directory, such as `/usr/(lib/)`, unless parentheses remain open in the end.
            self.unclosed_group.set(Some(at.saturating_add(open)));
        }
        let (mut chars, length) = self.guarded_chars(at)?;
        let is_star = |c: &(char, Guard)| matches!(c, ('*', Guard::None | Guard::Quoted));
        let stars_behind = chars.iter().rev().take_while(|c| is_star(c)).count();
        chars.truncate(chars.len().saturating_sub(stars_behind));
        let stars_before = chars.iter().take_while(|c| is_star(c)).count();
        let text: String = chars.iter().skip(stars_before).map(|(c, _)| *c).collect();
        let star_inside = chars.iter().skip(stars_before).any(|c| *c == ('*', Guard::None));
        let has_tilde = matches!(chars.as_slice(), [('~', Guard::None), (c, _), ..] if c.is_alphanumeric());
        let is_quoted = chars.iter().any(|(_, guard)| *guard == Guard::Quoted);
        let shape = Shape::Text { stars_before, stars_behind, star_inside, has_tilde, is_quoted };
        Ok(Value { text, span: at..at.saturating_add(length), shape })
    }

    /// Takes quotes and escapes off a value. Returns its characters, and its length in the query.
    fn guarded_chars(&self, at: usize) -> Result<(Vec<(char, Guard)>, usize), Error> {
        let rest = self.rest(at);
        let mut chars = rest.char_indices().peekable();
        let mut found = Vec::new();
        let mut quote_at = None;
        while let Some((offset, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            match (c, quote_at) {
                ('\\', _) if next.is_some_and(|next| is_escapable(next, quote_at.is_some())) => {
                    chars.next();
                    found.extend(next.map(|next| (next, Guard::Escaped)));
                }
                ('"', Some(_)) if next == Some('"') => {
                    chars.next();
                    found.push(('"', Guard::Quoted));
                }
                ('"', Some(_)) => quote_at = None,
                ('"', None) => quote_at = Some(offset),
                (_, Some(_)) => found.push((c, Guard::Quoted)),
                _ if is_space(c) || matches!(c, '(' | ')') => return Ok((found, offset)),
                _ => found.push((c, Guard::None)),
            }
        }
        match quote_at {
            Some(offset) => {
                let start = at.saturating_add(offset);
                Err(self.error(start..start.saturating_add(1), Problem::UnclosedQuote))
            }
            None => Ok((found, rest.len())),
        }
    }
}

/// Returns the text between the slash at the start and the first slash that ends the term, and the length of
/// the whole literal.
pub(crate) fn regex_literal(rest: &str) -> Option<(&str, usize)> {
    match slashed(rest)? {
        Slashed::Regex { text, length } => Some((text, length)),
        Slashed::Unclosed { .. } => None,
    }
}

/// Returns the place of the parenthesis that is not closed, if the text is a regular expression otherwise.
fn unclosed_group(rest: &str) -> Option<usize> {
    match slashed(rest)? {
        Slashed::Regex { .. } => None,
        Slashed::Unclosed { offset } => Some(offset),
    }
}

/// What begins with a slash, and has another one at the end of the term.
enum Slashed<'a> {
    Regex {
        text: &'a str,
        length: usize,
    },
    /// A parenthesis at this place is not closed.
    Unclosed {
        offset: usize,
    },
}

fn slashed(rest: &str) -> Option<Slashed<'_>> {
    let body = rest.strip_prefix('/')?;
    let (mut depth, mut in_class, mut escaped) = (0_i64, false, false);
    let (mut opened, mut unclosed) = (Vec::new(), None);
    for (offset, c) in body.char_indices() {
        if is_space(c) {
            break;
        }
        let behind = body.get(offset.saturating_add(1)..).unwrap_or("").chars().next();
        let ends = || offset > 0 && behind.is_none_or(|c| is_space(c) || c == ')');
        match c {
            _ if escaped => {}
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                depth = depth.saturating_add(1);
                opened.push(offset.saturating_add(1));
            }
            ')' if !in_class => {
                depth = depth.saturating_sub(1);
                opened.pop();
            }
            '/' if depth == 0 && ends() => {
                return Some(Slashed::Regex { text: body.get(..offset)?, length: offset.saturating_add(2) });
            }
            '/' if ends() => unclosed = opened.last().copied(),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    unclosed.map(|offset| Slashed::Unclosed { offset })
}

/// Returns the text between `"/` and `/"`, with `""` as a quotation mark, and the length of the whole
/// literal.
fn quoted_regex(rest: &str) -> Option<(String, usize)> {
    let body = rest.strip_prefix("\"/")?;
    let mut chars = body.char_indices().peekable();
    let mut text = String::new();
    while let Some((offset, c)) = chars.next() {
        if c != '"' {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == '"').is_some() {
            text.push('"');
        } else {
            let ends = chars.peek().is_none_or(|(_, next)| is_space(*next) || matches!(next, '(' | ')'));
            let regex = text.strip_suffix('/').filter(|regex| ends && !regex.is_empty())?;
            return Some((regex.to_owned(), offset.saturating_add(3)));
        }
    }
    None
}

fn is_escapable(c: char, quoted: bool) -> bool {
    matches!(c, '"' | '\\' | '*' | '/') || (!quoted && (is_space(c) || matches!(c, '(' | ')' | ':' | '-')))
}

/// Returns whether a character separates terms. Control characters count as spaces, as in mu.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}
