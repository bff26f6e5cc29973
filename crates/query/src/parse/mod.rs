//! Turns a query into a tree. Input: a query, and what its meaning depends on. Output: the tree, or an error
//! with its place. This file knows operators and parentheses; characters, fields and dates are left to the
//! files below.
//!
//! The name of a saved query means that query in parentheses.
//!
//! ```text
//! query  = factor { ("or" | "xor") factor }      read from the left
//! factor = unit { ["and"] unit }
//! unit   = { "not" | "-" } (term | [field ":"] "(" query ")")
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod date;
pub(crate) mod lex;
mod size;
mod term;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Zoned;

use crate::ast::{Leaf, Matcher, Query, Target};
use crate::error::{Error, Problem};
use crate::fields::{Field, FieldSet};
use crate::flags::FlagName;
use crate::limits::{NESTING_DEPTH_MAX, TERM_COUNT_MAX};
use crate::near::nearest;
use crate::stem::Stemming;
use lex::{FieldPrefix, PrefixTarget, Term, Token, TokenKind, Value, tokens};

/// What the meaning of a query depends on besides its text.
#[derive(Clone, Debug)]
pub struct Context {
    /// Now, in the time zone of the dates in queries.
    pub now: Zoned,
    /// Headers in the configuration, which can be used like fields.
    pub headers: Vec<String>,
    /// Saved queries by their names.
    pub queries: BTreeMap<String, String>,
    /// Which words also match other words with the same stem.
    pub stemming: Stemming,
}

/// The saved query that leaves out muted conversations.
const INBOX: &str = "inbox";

/// Parses a query. An empty query matches everything.
///
/// # Errors
/// Returns what is wrong, where, and what to write instead.
pub fn parse(input: &str, context: &Context) -> Result<Query, Error> {
    let term_count = Cell::new(0);
    read(input, context, &Level { name: None, outer: None, depth: 0, term_count: &term_count })
}

/// A query that is being read: the one that was typed, or a saved one that it names.
struct Level<'a> {
    /// The saved query's name; `None` for the typed query.
    name: Option<&'a str>,
    /// The query that names it.
    outer: Option<&'a Level<'a>>,
    /// How many parentheses and saved queries are open around it.
    depth: usize,
    /// Terms read so far, of all levels.
    term_count: &'a Cell<usize>,
}

impl Level<'_> {
    /// Returns the names of the saved queries between this level and the one of that name, if it is in that
    /// one.
    fn inside(&self, name: &str) -> Option<Vec<String>> {
        let mut others = Vec::new();
        let mut level = self;
        while let Some(own) = level.name {
            if own == name {
                others.reverse();
                return Some(others);
            }
            others.push(own.to_owned());
            level = level.outer?;
        }
        None
    }
}

fn read(input: &str, context: &Context, level: &Level<'_>) -> Result<Query, Error> {
    let in_saved = |error: Error| Error { saved: error.saved.or(level.name.map(str::to_owned)), ..error };
    let is_query = |text: &str| parse(text, context).is_ok();
    let tokens = tokens(input, &context.headers, &is_query).map_err(in_saved)?;
    if tokens.is_empty() {
        return Ok(Query::All);
    }
    let mut parser =
        Parser { input, context, level, tokens: &tokens, open: None, group: None, depth: level.depth };
    let terms = tokens.iter().filter(|token| matches!(token.kind, TokenKind::Term(_))).count();
    level.term_count.set(level.term_count.get().saturating_add(terms));
    if level.term_count.get() > TERM_COUNT_MAX {
        return Err(parser.error(0..input.len(), Problem::TooManyTerms));
    }
    let parsed = parser.query()?;
    if let Some(close) = parser.tokens.first() {
        return Err(parser.error(close.span.clone(), Problem::UnexpectedClose));
    }
    parser.asking(parsed)
}

struct Parser<'a> {
    input: &'a str,
    context: &'a Context,
    level: &'a Level<'a>,
    /// What was not read yet.
    tokens: &'a [Token],
    /// The innermost parenthesis that is open.
    open: Option<&'a Token>,
    /// The field that the open parentheses belong to.
    group: Option<&'a FieldPrefix>,
    /// How many parentheses and saved queries are open.
    depth: usize,
}

/// Returns a query without the messages of muted conversations.
fn without_muted(query: Query, span: &Range<usize>) -> Query {
    let target = Target::Fields(FieldSet::of(Field::Flag));
    let muted = Leaf { target, matcher: Matcher::Flag(FlagName::Muted), span: span.clone() };
    Query::and(vec![query, Query::Not(Box::new(Query::Leaf(muted)))])
}

enum Parsed {
    Query(Query),
    /// A term without a word, such as `-` between two words. It asks for nothing, and `and` does without it.
    Nothing(Range<usize>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chain {
    Or,
    Xor,
}

impl<'a> Parser<'a> {
    fn query(&mut self) -> Result<Parsed, Error> {
        let first = self.factor(None)?;
        let Some(mut chain) = self.chain() else { return Ok(first) };
        let mut children = vec![self.asking(first)?];
        while let Some(next) = self.chain() {
            let operator = self.take();
            if next != chain {
                children = vec![join(chain, children)];
                chain = next;
            }
            let right = self.factor(operator)?;
            children.push(self.asking(right)?);
        }
        Ok(Parsed::Query(join(chain, children)))
    }

    /// Reads units joined by `and`. `before` is the operator before the first one.
    fn factor(&mut self, mut before: Option<&'a Token>) -> Result<Parsed, Error> {
        let mut units = Vec::new();
        let mut nothing = None;
        loop {
            match self.unit(before)? {
                Parsed::Query(query) => units.push(query),
                Parsed::Nothing(span) => nothing = nothing.or(Some(span)),
            }
            before = match self.tokens.first().map(|token| &token.kind) {
                None | Some(TokenKind::Close | TokenKind::Or | TokenKind::Xor) => break,
                Some(TokenKind::And) => self.take(),
                Some(_) => None,
            };
        }
        Ok(match nothing {
            Some(span) if units.is_empty() => Parsed::Nothing(span),
            _ => Parsed::Query(Query::and(units)),
        })
    }

    fn unit(&mut self, mut before: Option<&'a Token>) -> Result<Parsed, Error> {
        let mut negated = false;
        // A loop, so that a thousand of them take no stack.
        while let Some(Token { kind: TokenKind::Not, .. }) = self.tokens.first() {
            before = self.take();
            negated = !negated;
        }
        let parsed = match self.tokens.first() {
            Some(token) => match &token.kind {
                TokenKind::Term(term) => {
                    self.take();
                    self.term(term.prefix.as_ref(), term, token)?
                }
                TokenKind::Open => self.parentheses(token, None)?,
                TokenKind::OpenGroup(prefix) => self.parentheses(token, Some(prefix))?,
                _ => return Err(self.no_operand(before)),
            },
            None => return Err(self.no_operand(before)),
        };
        Ok(match parsed {
            Parsed::Query(query) if negated => Parsed::Query(Query::not(query)),
            other => other,
        })
    }

    fn term(&mut self, prefix: Option<&'a FieldPrefix>, term: &Term, token: &Token) -> Result<Parsed, Error> {
        if let (Some(_), Some(group)) = (prefix, self.group) {
            let problem = Problem::FieldInGroup { outer: group.typed.clone() };
            return Err(self.error(token.span.clone(), problem));
        }
        let prefix = prefix.or(self.group);
        if let Some(FieldPrefix { typed, target: PrefixTarget::Saved }) = prefix {
            return self.saved(typed, &term.value, &token.span).map(Parsed::Query);
        }
        match term::read(prefix, &term.value, token.span.clone(), &self.context.now, self.context.stemming) {
            Ok(Some(query)) => Ok(Parsed::Query(query)),
            Ok(None) => Ok(Parsed::Nothing(token.span.clone())),
            Err((span, problem)) => Err(self.error(span, problem)),
        }
    }

    /// Returns the tree of a saved query.
    fn saved(&self, typed: &str, value: &Value, span: &Range<usize>) -> Result<Query, Error> {
        let fail = |problem| Err(self.error(value.span.clone(), problem));
        if let Some(what) = term::not_plain(value) {
            return fail(Problem::NotForField { field: typed.to_owned(), what });
        }
        let queries = &self.context.queries;
        let Some((name, text)) = queries.get_key_value(&value.text) else {
            let near = nearest(&value.text, queries.keys().map(String::as_str)).map(str::to_owned);
            return fail(Problem::UnknownQuery { typed: value.text.clone(), nearest: near });
        };
        if let Some(others) = self.level.inside(name) {
            return fail(Problem::CircularQuery { name: name.clone(), others });
        }
        if self.depth >= NESTING_DEPTH_MAX {
            return fail(Problem::TooDeep);
        }
        let inner = Level {
            name: Some(name),
            outer: Some(self.level),
            depth: self.depth.saturating_add(1),
            term_count: self.level.term_count,
        };
        let mut query = read(text, self.context, &inner)?;
        // The code that evaluates it can only point at the typed query.
        query.place_at(span);
        Ok(if name == INBOX { without_muted(query, span) } else { query })
    }

    fn parentheses(&mut self, open: &'a Token, prefix: Option<&'a FieldPrefix>) -> Result<Parsed, Error> {
        if self.depth >= NESTING_DEPTH_MAX {
            return Err(self.error(open.span.clone(), Problem::TooDeep));
        }
        if let (Some(_), Some(group)) = (prefix, self.group) {
            let problem = Problem::FieldInGroup { outer: group.typed.clone() };
            return Err(self.error(open.span.clone(), problem));
        }
        self.take();
        let (outer_open, outer_group) = (self.open.replace(open), self.group);
        self.group = prefix.or(outer_group);
        self.depth = self.depth.saturating_add(1);
        let parsed = self.query()?;
        // A query ends at a closing parenthesis or at the end of the input.
        if self.take().is_none() {
            return Err(self.error(open.span.clone(), Problem::UnclosedParenthesis));
        }
        self.depth = self.depth.saturating_sub(1);
        (self.open, self.group) = (outer_open, outer_group);
        Ok(parsed)
    }

    /// Returns the error for a place where there is neither a term nor a parenthesis.
    fn no_operand(&self, before: Option<&Token>) -> Error {
        if let Some(before) = before {
            return self.error(before.span.clone(), Problem::MissingRight { operator: self.typed(before) });
        }
        let Some(token) = self.tokens.first() else {
            let span = self.open.map_or(0..0, |open| open.span.clone());
            return self.error(span, Problem::UnclosedParenthesis);
        };
        match (&token.kind, self.open) {
            (TokenKind::Close, Some(open)) => {
                self.error(open.span.start..token.span.end, Problem::EmptyParentheses)
            }
            (TokenKind::Close, None) => self.error(token.span.clone(), Problem::UnexpectedClose),
            _ => self.error(token.span.clone(), Problem::MissingLeft { operator: self.typed(token) }),
        }
    }

    /// Returns the query, or the error that there is none.
    fn asking(&self, parsed: Parsed) -> Result<Query, Error> {
        match parsed {
            Parsed::Query(query) => Ok(query),
            Parsed::Nothing(span) => Err(self.error(span, Problem::NoWords)),
        }
    }

    fn chain(&self) -> Option<Chain> {
        match self.tokens.first()?.kind {
            TokenKind::Or => Some(Chain::Or),
            TokenKind::Xor => Some(Chain::Xor),
            _ => None,
        }
    }

    fn take(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn typed(&self, token: &Token) -> String {
        self.input.get(token.span.clone()).unwrap_or("").to_owned()
    }

    fn error(&self, span: Range<usize>, problem: Problem) -> Error {
        let saved = self.level.name.map(str::to_owned);
        Error { query: self.input.to_owned(), saved, span, problem }
    }
}

fn join(chain: Chain, children: Vec<Query>) -> Query {
    match chain {
        Chain::Or => Query::or(children),
        Chain::Xor => Query::xor(children),
    }
}
