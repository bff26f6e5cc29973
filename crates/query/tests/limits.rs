//! Limits: what lies just within one, and what lies beyond. In: large queries. Out: a tree or the error that names the limit,
//! never an overflow of the stack. Must not know: how limits are checked.

use query::limits::{
    NESTING_DEPTH_MAX, PHRASE_WORD_COUNT_MAX, QUERY_BYTES_MAX, REGEX_BYTES_MAX, TERM_COUNT_MAX,
    WORD_BYTES_MAX,
};
use query::{Matcher, Problem, Query, parse};

use crate::context::{canonical, context};

#[track_caller]
fn assert_limit(within: &str, beyond: &str, problem: &Problem) {
    assert!(parse(within, &context()).is_ok());
    let error = parse(beyond, &context()).expect_err("beyond the limit");
    assert_eq!(&error.problem, problem);
    assert!(error.to_string().lines().all(|line| line.chars().count() < 150));
}

#[test]
fn the_length_of_a_query() {
    let of = |length: usize| "a".repeat(QUERY_BYTES_MAX - 2) + &" ".repeat(length + 2 - QUERY_BYTES_MAX);
    let problem = Problem::QueryTooLong { bytes: QUERY_BYTES_MAX + 1 };
    assert_limit(&of(QUERY_BYTES_MAX), &of(QUERY_BYTES_MAX + 1), &problem);
    assert_eq!(canonical(&of(QUERY_BYTES_MAX + 1)), "the query has 131073 bytes, more than 131072");
}

#[test]
fn the_number_of_terms() {
    let of = |count: usize| vec!["a"; count].join(" or ");
    assert_limit(&of(TERM_COUNT_MAX), &of(TERM_COUNT_MAX + 1), &Problem::TooManyTerms);
}

#[test]
fn the_depth_of_parentheses() {
    let of = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_limit(&of(NESTING_DEPTH_MAX), &of(NESTING_DEPTH_MAX + 1), &Problem::TooDeep);
    // A tree that is as deep as parentheses allow is printed and dropped as well.
    let nested = format!("{}a{}", "not (a or ".repeat(NESTING_DEPTH_MAX), ")".repeat(NESTING_DEPTH_MAX));
    let tree = parse(&nested, &context()).unwrap();
    assert_eq!(parse(&tree.to_string(), &context()), Ok(tree));
}

#[test]
fn no_query_overflows_the_stack() {
    for unit in ["(", ")", "not ", "-", "a(", "subject:(", "a or (", "\"", "\\", "/", "*"] {
        let input = unit.repeat(100_000 / unit.len());
        drop(parse(&input, &context()));
        drop(parse(&format!("{input}a"), &context()));
    }
    assert_eq!(canonical(&("-".repeat(100_001) + "a")), "not a");
    assert_eq!(canonical(&("not ".repeat(20_000) + "a")), "a");
}

#[test]
fn the_length_of_a_phrase() {
    let of = |count: usize| format!("\"{}\"", vec!["a"; count].join(" "));
    assert_limit(&of(PHRASE_WORD_COUNT_MAX), &of(PHRASE_WORD_COUNT_MAX + 1), &Problem::PhraseTooLong);
}

#[test]
fn the_length_of_a_regular_expression() {
    let of = |length: usize| format!("/{}/", "a".repeat(length));
    assert_limit(&of(REGEX_BYTES_MAX), &of(REGEX_BYTES_MAX + 1), &Problem::RegexTooLong);
    let of = |length: usize| format!("tag:/{}/", "a".repeat(length));
    assert_limit(&of(REGEX_BYTES_MAX), &of(REGEX_BYTES_MAX + 1), &Problem::RegexTooLong);
}

#[test]
fn the_length_of_a_word() {
    let Ok(Query::Leaf(leaf)) = parse(&"a".repeat(WORD_BYTES_MAX + 1), &context()) else {
        panic!("a leaf is expected")
    };
    assert_eq!(leaf.matcher, Matcher::Words(vec!["a".repeat(WORD_BYTES_MAX)]));
}
