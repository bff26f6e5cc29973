//! Errors, word for word. Input: wrong queries. Output: the sentence, the place and the way out that a user
//! sees. Does not know who finds them.

use query::{Error, Problem, parse};

use crate::context::context;

#[track_caller]
fn assert_error(input: &str, expected: &[&str]) {
    let found = parse(input, &context()).expect_err(input).to_string();
    assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{input}");
}

#[test]
fn a_misspelled_field() {
    assert_error(
        "hello form:bob",
        &[
            "there is no field \"form\"",
            "  hello form:bob",
            "        ^^^^",
            "did you mean \"from:\"? To search for the text, quote it: \"form:...\"",
        ],
    );
    for (input, nearest) in [
        ("subjcet:a", "subject"),
        ("SUBJET:a", "subject"),
        ("atachment:a", "attachment"),
        ("maildri:/a", "maildir"),
        ("contac:bob", "contact"),
        ("x-maler:mutt", "X-Mailer"),
        ("dat:2024", "date"),
    ] {
        let error = parse(input, &context()).expect_err(input);
        assert!(
            matches!(&error.problem, Problem::UnknownField { nearest: found, .. } if found == nearest),
            "{error}"
        );
    }
}

#[test]
fn a_field_of_another_program() {
    assert_error(
        "ana before:2024-03-05",
        &[
            "there is no field \"before\"",
            "  ana before:2024-03-05",
            "      ^^^^^^",
            "write: not date:2024-03-05.. (to search for the text, quote it: \"before:...\")",
        ],
    );
    for (input, here) in [
        ("OLDER:2024", "not date:2024.."),
        ("before:1700000000", "not date:@1700000000.."),
        ("since:\"999999999\"", "date:@999999999.."),
        ("before:20240305", "not date:20240305.."),
        ("before:202403051200", "not date:202403051200.."),
        ("before:christmas", "not date:2w.."),
        ("since:\"open", "date:2w.."),
        ("smaller:x", "size:..1M"),
        ("Older_Than:1y", "date:..1y"),
        ("until:today", "date:..today"),
        ("since:\"last week\"", "date:\"last week\".."),
        ("after:2004/04/16", "date:2004/04/16.."),
        ("newer_than:2d", "date:2d.."),
        ("larger:10M", "size:10M.."),
        ("smaller:1k", "size:..1k"),
        ("in:inbox", "maildir:/inbox"),
        ("in:/Sent/2024", "maildir:/Sent/2024"),
        ("in:(inbox or sent)", "maildir:/inbox"),
        ("in:\"Sent Mail\"", "maildir:\"/Sent Mail\""),
        ("in:/(sent|inbox)/ x", "maildir:/(sent|inbox)/"),
        ("sender:/(ana|bob)/ x", "from:/(ana|bob)/"),
        ("author:/a.*b/", "from:/a.*b/"),
        ("sender:/^ana/", "from:/^ana/"),
        ("sender:\"/^ana b/\"", "from:\"/^ana b/\""),
        ("has:attachment", "flag:attach"),
        ("has:\"Attachment\"", "flag:attach"),
        ("-has:attachments", "flag:attach"),
        ("has:pdf", "file:pdf"),
        ("rfc822msgid:<1@example.org>", "msgid:<1@example.org>"),
        ("sender:bob", "from:bob"),
        ("deliveredto:bob@example.org", "recip:bob@example.org"),
    ] {
        let error = parse(input, &context()).expect_err(input);
        let suggestion = error.suggestion().unwrap();
        assert!(suggestion.starts_with(&format!("write: {here} (")), "{input}: {suggestion}");
        assert!(parse(here, &context()).is_ok(), "{here}");
    }
    for (input, name) in [("has:yellow-star", "has"), ("has:drive x", "has"), ("in:anywhere", "in")] {
        let hint = format!("no field here means this; to search for the text, quote it: \"{name}:...\"");
        assert_eq!(parse(input, &context()).expect_err(input).suggestion(), Some(hint), "{input}");
    }
    // These stay text.
    for text in ["in: inbox", "Since:", "in://x", "\"before:2024\"", "std::before::x", "category:social"] {
        assert!(parse(text, &context()).is_ok(), "{text}");
    }
}

#[test]
fn hints_for_fields_of_other_programs_can_be_typed() {
    let names = "before older until older_than after newer since newer_than larger bigger smaller in has \
                 rfc822msgid sender author recipient recipients deliveredto";
    for name in names.split(' ') {
        for value in [
            "x",
            "2024",
            "\"a b\"",
            "\"open",
            "/a(b|c)/",
            "/^a.*/",
            "\"/a b/\"",
            "1700000000",
            "(x y)",
            "a..b",
            "/",
        ] {
            let input = format!("{name}:{value}");
            let error = parse(&input, &context()).expect_err(&input);
            let Problem::ForeignField { here, .. } = &error.problem else { panic!("{input}: {error}") };
            let Some(here) = here else { continue };
            assert!(parse(here, &context()).is_ok(), "{input}: {here}");
        }
    }
}

#[test]
fn a_mark_that_is_not_closed_does_not_hide_a_misspelled_field() {
    for input in ["subjct:/say\"x/", "form:\"bob"] {
        let error = parse(input, &context()).expect_err(input);
        assert!(matches!(error.problem, Problem::UnknownField { .. }), "{error}");
    }
}

#[test]
fn a_field_without_a_value() {
    let hint = "write the value without a space: from:word, or from:\"two words\"";
    assert_error("from: bob", &["expected a value right after \"from:\"", "  from: bob", "  ^^^^^", hint]);
    assert_error("(from:)", &["expected a value right after \"from:\"", "  (from:)", "   ^^^^^", hint]);
    assert_error(
        "tag:\"\"",
        &[
            "expected a value right after \"tag:\"",
            "  tag:\"\"",
            "      ^^",
            "write the value without a space: tag:word, or tag:\"two words\"",
        ],
    );
}

#[test]
fn stems_of_more_than_one_word() {
    let hint = "each word has its own, right before it and after a field: ~word subject:~word";
    let expected = "expected one whole word after \"~\"";
    assert_error("a ~two-words", &[expected, "  a ~two-words", "    ^^^^^^^^^^", hint]);
    assert_error("~\"two words\"", &[expected, "  ~\"two words\"", "  ^^^^^^^^^^^^", hint]);
    assert_error("~subject:minutes", &[expected, "  ~subject:minutes", "  ^^^^^^^^^^^^^^^^", hint]);
    assert_error("subject:~minut*", &[expected, "  subject:~minut*", "          ^^^^^^^", hint]);
    assert_error("~(a b)", &["expected a word right after \"~\"", "  ~(a b)", "  ^", hint]);
}

#[test]
fn operators_without_terms() {
    let hint = "to search for the word itself, quote it: \"or\"";
    assert_error("a or", &["expected a term after \"or\"", "  a or", "    ^^", hint]);
    assert_error("or a", &["expected a term before \"or\"", "  or a", "  ^^", hint]);
    assert_error("(a or) b", &["expected a term after \"or\"", "  (a or) b", "     ^^", hint]);
    assert_error(
        "a AND or b",
        &[
            "expected a term after \"AND\"",
            "  a AND or b",
            "    ^^^",
            "to search for the word itself, quote it: \"AND\"",
        ],
    );
    assert_error(
        "not",
        &[
            "expected a term after \"not\"",
            "  not",
            "  ^^^",
            "to search for the word itself, quote it: \"not\"",
        ],
    );
}

#[test]
fn parentheses_and_quotation_marks() {
    let hint = "to search for text with parentheses, quote it: \"f(x)\"";
    assert_error("a and (b", &["expected a \")\" for this \"(\"", "  a and (b", "        ^", hint]);
    assert_error("((a)", &["expected a \")\" for this \"(\"", "  ((a)", "  ^", hint]);
    assert_error("(", &["expected a \")\" for this \"(\"", "  (", "  ^", hint]);
    assert_error("subject:(a", &["expected a \")\" for this \"(\"", "  subject:(a", "  ^^^^^^^^^", hint]);
    assert_error("a) b", &["expected no \")\" here: no \"(\" is open", "  a) b", "   ^", hint]);
    assert_error(")", &["expected no \")\" here: no \"(\" is open", "  )", "  ^", hint]);
    assert_error("a ()", &["expected a term between the parentheses", "  a ()", "    ^^"]);
    assert_error(
        "say \"hello",
        &[
            "expected another quotation mark for this one",
            "  say \"hello",
            "      ^",
            "to search without quotation marks, leave them out",
        ],
    );
    assert_error(
        "subject:(a or from:b)",
        &[
            "expected values only: the parentheses already belong to \"subject:\"",
            "  subject:(a or from:b)",
            "                ^^^^^^",
        ],
    );
    assert_error(
        "s:(a or from:(b))",
        &[
            "expected values only: the parentheses already belong to \"s:\"",
            "  s:(a or from:(b))",
            "          ^^^^^^",
        ],
    );
}

#[test]
fn terms_that_ask_for_nothing() {
    let problem = "expected a letter or digit: nothing else is searched for in text";
    assert_error("&", &[problem, "  &", "  ^"]);
    assert_error("a or 🦀", &[problem, "  a or 🦀", "       ^^"]);
    assert_error("subject:--", &[problem, "  subject:--", "          ^^"]);
    assert_error("\"\"", &[problem, "  \"\"", "  ^^"]);
    assert_error("//", &[problem, "  //", "  ^^"]);
}

#[test]
fn stars_in_wrong_places() {
    assert_error(
        "foo*bar",
        &[
            "expected \"*\" at the start or end only",
            "  foo*bar",
            "  ^^^^^^^",
            "for part of a word, use a regular expression: /foo.*bar/",
        ],
    );
    assert_error(
        "subject:/^Re: .*tubes/",
        &[
            "expected \"*\" at the start or end only",
            "  subject:/^Re: .*tubes/",
            "                ^^^^^^^^",
            "write a regular expression with spaces in quotes: subject:\"/one .*two/\"",
        ],
    );
    assert_error(
        "*foo-bar*",
        &[
            "expected one word after \"*\", not 2",
            "  *foo-bar*",
            "  ^^^^^^^^^",
            "leave the first \"*\" out, or search for the words one by one",
        ],
    );
    assert_error("size:1*", &["\"size:\" takes no \"*\"", "  size:1*", "       ^^"]);
    assert_error("d:/2024/", &["\"d:\" takes no regular expression", "  d:/2024/", "    ^^^^^^"]);
}

#[test]
fn dates_sizes_flags_and_priorities() {
    let dates = "write dates like 2024, 2024-03-05, 2w (two weeks ago), yesterday, 2024-03..now";
    assert_error(
        "a date:2024-03..2024-13 b",
        &[
            "expected a date: there is no month 13",
            "  a date:2024-03..2024-13 b",
            "                  ^^^^^^^",
            dates,
        ],
    );
    assert_error(
        "date:\"soon..now\"",
        &["expected a date: \"soon\" is not a date", "  date:\"soon..now\"", "       ^^^^^^^^^^^", dates],
    );
    assert_error(
        "size:10k..many",
        &[
            "expected a size: \"many\" is not a size",
            "  size:10k..many",
            "            ^^^^",
            "write sizes like 500, 10k, 2M, and ranges like 10k..2M or 1M..",
        ],
    );
    assert_error(
        "flag:unraed",
        &["there is no flag \"unraed\"", "  flag:unraed", "       ^^^^^^", "did you mean \"unread\"?"],
    );
    assert_error(
        "g:j",
        &[
            "there is no flag \"j\"",
            "  g:j",
            "    ^",
            "flags are draft flagged passed replied seen trashed new unread attach signed encrypted list \
             calendar personal muted",
        ],
    );
    assert_error(
        "prio:urgent",
        &[
            "there is no priority \"urgent\"",
            "  prio:urgent",
            "       ^^^^^^",
            "priorities are low, normal, high",
        ],
    );
}

#[test]
fn saved_queries() {
    assert_error(
        "a query:nobody",
        &["there is no saved query \"nobody\"", "  a query:nobody", "          ^^^^^^"],
    );
    assert_error(
        "query:mini",
        &["there is no saved query \"mini\"", "  query:mini", "        ^^^^", "did you mean \"mine\"?"],
    );
    assert_error("query:mi*", &["\"query:\" takes no \"*\"", "  query:mi*", "        ^^^"]);
    assert_error(
        "query:/mine/",
        &["\"query:\" takes no regular expression", "  query:/mine/", "        ^^^^^^"],
    );
    assert_error(
        "query: mine",
        &[
            "expected a value right after \"query:\"",
            "  query: mine",
            "  ^^^^^^",
            "write the value without a space: query:word, or query:\"two words\"",
        ],
    );
    assert_error(
        "subject:(a query:mine)",
        &[
            "expected values only: the parentheses already belong to \"subject:\"",
            "  subject:(a query:mine)",
            "             ^^^^^^^^^^",
        ],
    );
    assert_error(
        "qery:mine",
        &[
            "there is no field \"qery\"",
            "  qery:mine",
            "  ^^^^",
            "did you mean \"query:\"? To search for the text, quote it: \"qery:...\"",
        ],
    );
}

#[test]
fn what_is_wrong_in_a_saved_query_is_shown_there() {
    assert_error(
        "x query:wrong",
        &[
            "in the saved query \"wrong\": expected a \")\" for this \"(\"",
            "  from:bob (unclosed",
            "           ^",
            "to search for text with parentheses, quote it: \"f(x)\"",
        ],
    );
    assert_error(
        "query:unknown",
        &[
            "in the saved query \"unknown\": there is no saved query \"mini\"",
            "  query:mini",
            "        ^^^^",
            "did you mean \"mine\"?",
        ],
    );
    assert_error(
        "query:self",
        &[
            "in the saved query \"self\": the saved query \"self\" refers to itself",
            "  a query:self",
            "          ^^^^",
        ],
    );
    assert_error(
        "query:first",
        &[
            "in the saved query \"third\": the saved query \"first\" refers to itself, by way of \"second\", \
             \"third\"",
            "  (z (query:first))",
            "            ^^^^^",
        ],
    );
}

#[test]
fn what_other_programs_have() {
    let hint = "to search for the text, quote it";
    assert_error("lastmod:7", &["notmuch's \"lastmod:\" is not supported", "  lastmod:7", "  ^^^^^^^", hint]);
    assert_error(
        "thread:\"{from:bob}\"",
        &["a query in braces is not supported", "  thread:\"{from:bob}\"", "         ^^^^^^^^^^^^", hint],
    );
}

#[test]
fn the_caret_stands_below_the_place_whatever_stands_before_it() {
    for (input, line, carets) in [
        ("日本語 a)", "  日本語 a)", "          ^"),
        ("e\u{301}e\u{301} a)", "  e\u{301}e\u{301} a)", "      ^"),
        ("a\tb\nc)", "  a b c)", "       ^"),
        ("🦀 ü)", "  🦀 ü)", "      ^"),
        ("a)日", "  a)日", "   ^"),
        ("한글 a)", "  한글 a)", "        ^"),
        // What turns the direction of writing, and what a terminal acts on, is shown but never sent.
        ("a\u{202e}b\u{1b}c)", "  a\u{fffd}b\u{fffd}c)", "       ^"),
        ("flag:日本", "  flag:日本", "       ^^^^"),
    ] {
        let shown = parse(input, &context()).expect_err(input).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.get(1..3), Some(&[line, carets][..]), "{shown}");
    }
}

#[test]
fn what_a_terminal_acts_on_stands_in_no_sentence() {
    assert_error(
        "flag:\"a\u{1b}\u{202e}b\"",
        &[
            "there is no flag \"a\u{fffd}\u{fffd}b\"",
            "  flag:\"a\u{fffd}\u{fffd}b\"",
            "       ^^^^^^",
            "flags are draft flagged passed replied seen trashed new unread attach signed encrypted list \
             calendar personal muted",
        ],
    );
    assert_error(
        "a*\u{202e}b",
        &[
            "expected \"*\" at the start or end only",
            "  a*\u{fffd}b",
            "  ^^^^",
            "for part of a word, use a regular expression: /a.*\u{fffd}b/",
        ],
    );
}

#[test]
fn of_a_long_query_the_part_around_the_place_is_shown() {
    let input = format!("{}form:bob{}", "word ".repeat(100), " word".repeat(100));
    let shown = parse(&input, &context()).expect_err("misspelled").to_string();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines[1..3],
        [
            "  …word word word word word word word word form:bob word word word word word word word word \
             word word w…",
            "                                           ^^^^"
        ]
    );
}

#[test]
fn a_regular_expression_with_an_open_parenthesis() {
    let hint = "to search for the character itself, write \\( there; to search for text, quote it";
    let expected = "expected a \")\" for this \"(\" in the regular expression";
    assert_error("subject:/(/", &[expected, "  subject:/(/", "           ^", hint]);
    assert_error("a /b(c(d)/ e", &[expected, "  a /b(c(d)/ e", "      ^", hint]);
    assert_error("(/(x/)", &[expected, "  (/(x/)", "    ^", hint]);
    assert_error("/usr/(lib/ (x)", &[expected, "  /usr/(lib/ (x)", "       ^", hint]);
    assert!(matches!(parse("/usr/(lib/) (x", &context()).unwrap_err().problem, Problem::UnclosedParenthesis));
    for fine in [
        "subject:/\\(/",
        "subject:/[(]/",
        "subject:/(a/b)/",
        "/usr (local or x/)",
        "subject:\"/(/\"",
        "/usr/(lib/)",
        "maildir:/lists/(rust/ or go/)",
        "/etc/(ssh/ x)",
    ] {
        assert!(parse(fine, &context()).is_ok(), "{fine}: {}", parse(fine, &context()).unwrap_err());
    }
}

#[test]
fn who_evaluates_can_point_at_a_place_too() {
    let error = Error {
        query: "a /(/".to_owned(),
        saved: None,
        span: 2..5,
        problem: Problem::BadRegex { reason: "unclosed group".to_owned() },
    };
    assert_eq!(error.to_string(), "the regular expression cannot be used: unclosed group\n  a /(/\n    ^^^");
}
