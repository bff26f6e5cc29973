//! Limits: what lies just within one, and what lies beyond. Input: large queries. Output: a tree or the error
//! that names the limit, never an overflow of the stack. Does not know how limits are checked.

use query::limits::{
    NESTING_DEPTH_MAX, PHRASE_WORD_COUNT_MAX, QUERY_BYTES_MAX, REGEX_BYTES_MAX, TERM_COUNT_MAX,
    WORD_BYTES_MAX,
};
use query::{Context, Matcher, Problem, Query, parse};

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

/// A chain of saved queries, each of which names the next one so many times; the last is a word.
fn chain(length: usize, times: usize) -> Context {
    let mut context = context();
    for number in 0..length {
        let name = format!("q{}", number + 1);
        let text = vec![format!("query:{name}"); times].join(" or ");
        context.queries.insert(format!("q{number}"), text);
    }
    context.queries.insert(format!("q{length}"), "a".to_owned());
    context
}

#[test]
fn the_number_of_terms_in_saved_queries_together() {
    // Each of 2, 4, 8 .. terms names two more.
    let terms = |length: u32| 2_usize.pow(length + 1) - 1;
    assert!(terms(10) <= TERM_COUNT_MAX && terms(12) > TERM_COUNT_MAX);
    assert!(parse("query:q0", &chain(10, 2)).is_ok());
    for length in [12, 90] {
        let error = parse("query:q0", &chain(length, 2)).unwrap_err();
        assert_eq!(error.problem, Problem::TooManyTerms, "{length}");
    }
}

#[test]
fn the_depth_of_saved_queries() {
    let deepest = |length| parse("query:q0", &chain(length, 1));
    assert_eq!(deepest(NESTING_DEPTH_MAX - 1).unwrap(), parse("a", &context()).unwrap());
    assert_eq!(deepest(NESTING_DEPTH_MAX).unwrap_err().problem, Problem::TooDeep);
    // Parentheses around it and in it count as well.
    let within = parse("(query:q0)", &chain(NESTING_DEPTH_MAX - 1, 1)).unwrap_err();
    assert_eq!(within.problem, Problem::TooDeep);
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
