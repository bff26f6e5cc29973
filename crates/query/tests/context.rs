//! A fixed now and zone for all tests. Input: queries. Output: their canonical form, or the error as text.
//! Does not know what is expected.

use std::collections::BTreeMap;

use jiff::civil::date;
use jiff::tz::TimeZone;
use query::{Context, parse};

/// Central European rules, spelled out so that tests need no zone files.
pub(crate) const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

/// Friday, 15 March 2024, 12:30:45 in Berlin, one hour ahead of UTC.
pub(crate) fn context() -> Context {
    let zone = TimeZone::posix(BERLIN).expect("the zone is well-formed");
    let now = date(2024, 3, 15).at(12, 30, 45, 0).to_zoned(zone).expect("the time exists");
    Context { now, headers: vec!["X-Mailer".to_owned()], queries: queries(), stemming: Default::default() }
}

/// Saved queries: one that is asked for by others, and some that are wrong.
fn queries() -> BTreeMap<String, String> {
    let list = [
        ("mine", "from:me flag:unread"),
        ("mine-or-bobs", "query:mine or from:bob"),
        ("inbox", "maildir:/ flag:unread"),
        ("nothing said", " "),
        ("größe.1", "size:1M.."),
        ("self", "a query:self"),
        ("first", "x or query:second"),
        ("second", "y -query:third"),
        ("third", "(z (query:first))"),
        ("wrong", "from:bob (unclosed"),
        ("unknown", "query:mini"),
    ];
    list.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

/// Returns the canonical form, or the error.
pub(crate) fn canonical(input: &str) -> String {
    match parse(input, &context()) {
        Ok(query) => query.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Compares the canonical form of each input with what is expected, and reports every difference at once.
#[track_caller]
pub(crate) fn assert_canonical(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (input, expected) in cases {
        let found = canonical(input);
        if found != *expected {
            wrong.push_str(&format!("{input}\n  expected {expected}\n  found    {found}\n"));
            continue;
        }
        let again = canonical(&found);
        if again != found {
            wrong.push_str(&format!("{input}\n  canonical {found}\n  but again {again}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
