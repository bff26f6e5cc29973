//! Any text is a query or an error with a position. A query that is printed and parsed again is the same.
#![no_main]

use jiff::{Timestamp, tz::TimeZone};
use libfuzzer_sys::fuzz_target;
use query::{Context, parse};

fuzz_target!(|text: &str| {
    let now = Timestamp::from_second(1_700_000_000).expect("a time").to_zoned(TimeZone::UTC);
    let saved = [("a", "x or query:b"), ("b", "-from:y"), ("c", "query:d"), ("d", "(query:c)"), ("e", "(")];
    let queries = saved.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let context = Context { now, headers: vec!["x-tube".to_owned()], queries, stemming: Default::default() };
    match parse(text, &context) {
        Ok(query) => {
            let printed = query.to_string();
            let again = parse(&printed, &context);
            assert_eq!(again.as_ref().ok(), Some(&query), "{text:?} was printed as {printed:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
