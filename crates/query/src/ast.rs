//! The tree that a query becomes: plain values for the parser, the printer and the code that evaluates a
//! query. Knows neither the syntax nor how a leaf is answered.
//!
//! Trees from the parser are in normal form: `And`, `Or` and `Xor` have two children or more and none of
//! their own kind, and nothing is negated twice. The constructors here keep that form.

use std::ops::Range;

use crate::fields::FieldSet;
use crate::flags::{FlagName, Priority};
use crate::stem::Languages;

/// A question about messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Every message: an empty query, or `*`.
    All,
    /// Messages that match every child.
    And(Vec<Query>),
    /// Messages that match any child.
    Or(Vec<Query>),
    /// Messages that match an odd number of children. A chain of `xor`, read from the left, means the same.
    Xor(Vec<Query>),
    /// Messages that do not match.
    Not(Box<Query>),
    /// Messages of which one field matches.
    Leaf(Leaf),
}

/// A condition on one field, or on several at once.
#[derive(Clone, Debug, Eq)]
pub struct Leaf {
    /// Where to look; a message matches if any of these fields does.
    pub target: Target,
    /// What to look for.
    pub matcher: Matcher,
    /// The byte range of the term in the query, with its field name. For a term of a saved query: the range
    /// of that query's name. Not part of equality.
    pub span: Range<usize>,
}

/// Where a leaf looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Fields of the table, all of them of kinds that take the same matchers.
    Fields(FieldSet),
    /// A header that the configuration names, spelled as there. Takes the matchers of a text field.
    Header(String),
}

/// What a leaf looks for. `fields::Kind` says which fields take which matchers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// Folded words, next to each other and in this order; never empty. `foo_bar` is two.
    Words(Vec<String>),
    /// As `Words`, and then a word that begins with `last`. Both empty means: any word at all.
    Prefix {
        /// Whole words before the last.
        before: Vec<String>,
        /// How the last word begins.
        last: String,
    },
    /// One folded word, or any word with the same stem in one of the languages.
    Stem {
        /// The word.
        word: String,
        /// The languages.
        languages: Languages,
    },
    /// One folded word that ends with this.
    Suffix(String),
    /// One folded word that contains this.
    Infix(String),
    /// A regular expression as typed, without its slashes. Match it case-insensitively and unanchored;
    /// `fields::RegexScope` says against what. Its syntax is not checked here.
    Regex(String),
    /// A whole value, for fields that are not split into words.
    Value(Pattern),
    /// Seconds since 1970, both ends included; at least one is there.
    DateRange {
        /// First second.
        from: Option<i64>,
        /// Last second.
        to: Option<i64>,
    },
    /// Bytes, both ends included; at least one is there.
    SizeRange {
        /// Smallest size.
        from: Option<u64>,
        /// Largest size.
        to: Option<u64>,
    },
    /// A flag that is set.
    Flag(FlagName),
    /// A priority.
    Priority(Priority),
}

/// How a value that is not split into words must look. Text is as typed; compare it folded (`fold::fold` on
/// both sides), except for fields of `Kind::Id`, which are compared byte by byte.
///
/// A maildir begins with a slash and does not end with one: `/lists/running`; the root itself is `/`. Compare
/// it with the folder's path below its root, written the same way. A path is as typed, without a slash at the
/// end: absolute, or relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The whole value.
    Whole(String),
    /// How the value begins; empty for any value that is there.
    Start(String),
    /// How it ends.
    End(String),
    /// Some part of the value.
    Anywhere(String),
    /// This directory and all below it (`x/**`). Maildirs and paths only.
    Below(String),
    /// `/text/`: the folder or path of that name if there is one, else a regular expression. Maildirs and
    /// paths only. The text is without the slashes around it.
    WholeElseRegex(String),
}

impl Query {
    /// Returns the conjunction in normal form. Without children it is `All`.
    pub fn and(children: Vec<Query>) -> Query {
        let flat = flatten(children, |query| match query {
            Query::And(inner) => Ok(inner),
            other => Err(other),
        });
        join(flat, Query::And)
    }

    /// Returns the disjunction in normal form. Expects at least one child; without any it matches nothing.
    pub fn or(children: Vec<Query>) -> Query {
        let flat = flatten(children, |query| match query {
            Query::Or(inner) => Ok(inner),
            other => Err(other),
        });
        if flat.is_empty() { Query::not(Query::All) } else { join(flat, Query::Or) }
    }

    /// Returns the exclusive disjunction in normal form. Expects at least one child; without any it matches
    /// nothing.
    pub fn xor(children: Vec<Query>) -> Query {
        let flat = flatten(children, |query| match query {
            Query::Xor(inner) => Ok(inner),
            other => Err(other),
        });
        if flat.is_empty() { Query::not(Query::All) } else { join(flat, Query::Xor) }
    }

    /// Returns the negation. A negation of a negation is the query itself.
    #[expect(clippy::should_implement_trait, reason = "a constructor that belongs with and, or, xor")]
    pub fn not(child: Query) -> Query {
        match child {
            Query::Not(inner) => *inner,
            other => Query::Not(Box::new(other)),
        }
    }

    /// Sets the span of all leaves to one place: the name of a saved query.
    pub(crate) fn place_at(&mut self, span: &Range<usize>) {
        match self {
            Query::All => {}
            Query::And(children) | Query::Or(children) | Query::Xor(children) => {
                children.iter_mut().for_each(|child| child.place_at(span));
            }
            Query::Not(child) => child.place_at(span),
            Query::Leaf(leaf) => leaf.span = span.clone(),
        }
    }

    /// Calls `visit` for every leaf, from left to right.
    pub fn visit_leaves<'a>(&'a self, visit: &mut impl FnMut(&'a Leaf)) {
        match self {
            Query::All => {}
            Query::And(children) | Query::Or(children) | Query::Xor(children) => {
                for child in children {
                    child.visit_leaves(visit);
                }
            }
            Query::Not(child) => child.visit_leaves(visit),
            Query::Leaf(leaf) => visit(leaf),
        }
    }
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Leaf) -> bool {
        self.target == other.target && self.matcher == other.matcher
    }
}

fn flatten(children: Vec<Query>, open: impl Fn(Query) -> Result<Vec<Query>, Query>) -> Vec<Query> {
    let mut flat = Vec::with_capacity(children.len());
    for child in children {
        match open(child) {
            Ok(inner) => flat.extend(inner),
            Err(other) => flat.push(other),
        }
    }
    flat
}

fn join(mut children: Vec<Query>, wrap: impl Fn(Vec<Query>) -> Query) -> Query {
    match children.len() {
        0 => Query::All,
        1 => children.remove(0),
        _ => wrap(children),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(word: &str) -> Query {
        let matcher = Matcher::Words(vec![word.to_owned()]);
        Query::Leaf(Leaf { target: Target::Fields(FieldSet::BARE), matcher, span: 0..0 })
    }

    #[test]
    fn constructors_keep_the_normal_form() {
        let nested = Query::and(vec![Query::and(vec![leaf("a"), leaf("b")]), leaf("c")]);
        assert_eq!(nested, Query::And(vec![leaf("a"), leaf("b"), leaf("c")]));
        assert_eq!(Query::or(vec![leaf("a")]), leaf("a"));
        assert_eq!(Query::and(vec![]), Query::All);
        assert_eq!(Query::xor(vec![]), Query::Not(Box::new(Query::All)));
        assert_eq!(Query::not(Query::not(leaf("a"))), leaf("a"));
    }

    #[test]
    fn where_a_term_stands_does_not_matter_for_equality() {
        let Query::Leaf(mut moved) = leaf("a") else { unreachable!() };
        moved.span = 5..9;
        assert_eq!(Query::Leaf(moved), leaf("a"));
    }

    #[test]
    fn leaves_are_visited_from_left_to_right() {
        let query = Query::or(vec![leaf("a"), Query::not(Query::and(vec![leaf("b"), leaf("c")]))]);
        let mut seen = Vec::new();
        query.visit_leaves(&mut |leaf| seen.push(leaf.matcher.clone()));
        let words = ["a", "b", "c"].map(|word| Matcher::Words(vec![word.to_owned()]));
        assert_eq!(seen, words);
    }
}
