//! From tokens to the tree. In: a query, and what its meaning depends on. Out: the tree, or an error with its place. Must not
//! know: characters, fields, dates.
//!
//! ```text
//! query  = factor { ("or" | "xor") factor }      read from the left
//! factor = unit { ["and"] unit }
//! unit   = { "not" | "-" } (term | [field ":"] "(" query ")")
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use jiff::Zoned;

use crate::ast::Query;
use crate::error::{Error, Problem};
use crate::lex::{Place, Term, Token, TokenKind, tokens};
use crate::limits::NESTING_DEPTH_MAX;
use crate::term;

/// What the meaning of a query depends on besides its text.
#[derive(Clone, Debug)]
pub struct Context {
    /// Now, in the time zone that dates are meant in.
    pub now: Zoned,
    /// Headers that may stand before a colon because the configuration names them.
    pub headers: Vec<String>,
}

/// Reads a query. An empty one matches everything.
///
/// # Errors
/// Says what is wrong, where, and what to write instead.
pub fn parse(input: &str, context: &Context) -> Result<Query, Error> {
    let tokens = tokens(input, &context.headers)?;
    if tokens.is_empty() {
        return Ok(Query::All);
    }
    let mut parser = Parser { input, context, tokens: &tokens, open: None, group: None, depth: 0 };
    let parsed = parser.query()?;
    if let Some(close) = parser.tokens.first() {
        return Err(parser.error(close.span.clone(), Problem::UnexpectedClose));
    }
    parser.asking(parsed)
}

struct Parser<'a> {
    input: &'a str,
    context: &'a Context,
    /// What was not read yet.
    tokens: &'a [Token],
    /// The innermost parenthesis that is open.
    open: Option<&'a Token>,
    /// The field that the open parentheses belong to.
    group: Option<&'a Place>,
    /// How many parentheses are open.
    depth: usize,
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

    /// Reads what `and` joins. `before` is the operator that stands before it all.
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
                    self.term(term.place.as_ref(), term, token)?
                }
                TokenKind::Open => self.parentheses(token, None)?,
                TokenKind::OpenGroup(place) => self.parentheses(token, Some(place))?,
                _ => return Err(self.no_operand(before)),
            },
            None => return Err(self.no_operand(before)),
        };
        Ok(match parsed {
            Parsed::Query(query) if negated => Parsed::Query(Query::not(query)),
            other => other,
        })
    }

    fn term(&mut self, place: Option<&'a Place>, term: &Term, token: &Token) -> Result<Parsed, Error> {
        if let (Some(_), Some(group)) = (place, self.group) {
            let problem = Problem::FieldInGroup { outer: group.typed.clone() };
            return Err(self.error(token.span.clone(), problem));
        }
        match term::read(place.or(self.group), &term.value, token.span.clone(), &self.context.now) {
            Ok(Some(query)) => Ok(Parsed::Query(query)),
            Ok(None) => Ok(Parsed::Nothing(token.span.clone())),
            Err((span, problem)) => Err(self.error(span, problem)),
        }
    }

    fn parentheses(&mut self, open: &'a Token, place: Option<&'a Place>) -> Result<Parsed, Error> {
        if self.depth >= NESTING_DEPTH_MAX {
            return Err(self.error(open.span.clone(), Problem::TooDeep));
        }
        if let (Some(_), Some(group)) = (place, self.group) {
            let problem = Problem::FieldInGroup { outer: group.typed.clone() };
            return Err(self.error(open.span.clone(), problem));
        }
        self.take();
        let (outer_open, outer_group) = (self.open.replace(open), self.group);
        self.group = place.or(outer_group);
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

    /// Says what is missing where neither a term nor a parenthesis stands.
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

    /// Takes the query out, or says that there is none.
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
        Error { query: self.input.to_owned(), span, problem }
    }
}

fn join(chain: Chain, children: Vec<Query>) -> Query {
    match chain {
        Chain::Or => Query::or(children),
        Chain::Xor => Query::xor(children),
    }
}
