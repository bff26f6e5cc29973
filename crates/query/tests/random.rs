//! Random trees and random text. Input: generated ones. Output: that printing and parsing are each other's
//! inverse, and that whatever is typed gets a tree or an error with a place. Knows nothing of particular
//! queries.

use proptest::prelude::*;
use query::fields::{FIELDS, FieldInfo, Kind};
use query::flags::FLAGS;
use query::{
    Dot, FieldSet, Leaf, Matcher, Pattern, Priority, Query, Stemming, Target, asked_words, parse, words,
};

use crate::context::context;

/// What queries are made of, right and wrong.
const FRAGMENTS: [&str; 64] = [
    " ",
    " ",
    " ",
    "a",
    "foo",
    "bar_baz",
    "é",
    "~",
    "++",
    "#",
    ".",
    "日本語",
    "語",
    "\u{301}",
    "\u{202e}",
    "\u{0}",
    "\t",
    "\"",
    "\"\"",
    "\\",
    "\\\"",
    "*",
    "**",
    "/",
    "//",
    "/a+/",
    "/(a|",
    "(",
    ")",
    "-",
    "--",
    ":",
    "..",
    "!",
    "@",
    "and",
    " or ",
    " xor ",
    " not ",
    "from:",
    "subject:(",
    "s:",
    "form:",
    "x-mailer:",
    "date:",
    "size:",
    "flag:",
    "is:",
    "maildir:",
    "path:",
    "msgid:",
    "tag:",
    "prio:",
    "http:",
    "10k",
    "2024-03",
    "2w",
    "yesterday",
    "last_week",
    "+01:00",
    "99999999999999999999",
    "{",
    "<a@b>",
    "high",
];

fn word() -> impl Strategy<Value = String> {
    "[a-zA-Zäßдї0-9हिक]{1,9}".prop_filter_map("a word", |text| Some(words(&text).next()?.text))
}

fn stem(word: String) -> Matcher {
    Matcher::Stem { word, languages: Stemming::default().languages }
}

/// Words that no star turns into something else: the parser drops stars beside paired scripts.
fn text_matcher() -> impl Strategy<Value = Matcher> {
    let phrase = "[a-z0-9äд日本語かが한글 _.+#]{1,20}".prop_filter_map("a phrase", |text| {
        // A field may take a dot for what it is between words, so no word begins with one.
        let found: Vec<String> = asked_words(&text, Dot::Separates).map(|word| word.text).collect();
        let alone = matches!(found.as_slice(), [one] if one.chars().count() == 1);
        (!found.is_empty() && !alone).then_some(Matcher::Words(found))
    });
    prop_oneof![
        4 => phrase,
        2 => prop::sample::select(vec!["and", "or", "xor", "not"])
            .prop_map(|word| Matcher::Words(vec![word.to_owned()])),
        2 => (prop::collection::vec(word(), 0..3), word())
            .prop_map(|(before, last)| Matcher::Prefix { before, last }),
        1 => word().prop_map(stem),
        1 => word().prop_map(Matcher::Suffix),
        1 => word().prop_map(Matcher::Infix),
        1 => Just(Matcher::Infix("語".to_owned())),
        2 => odd_text().prop_map(Matcher::Regex),
    ]
}

fn odd_text() -> impl Strategy<Value = String> {
    "(\\PC|[a-z/\"\\\\* ()\\[\\]{}<>:.\n-]){1,12}"
}

fn folder(kind: Kind, text: &str) -> String {
    let inner = text.trim_matches('/');
    if kind == Kind::Maildir { format!("/{inner}") } else { inner.to_owned() }
}

fn value_matcher(kind: Kind) -> impl Strategy<Value = Matcher> {
    (odd_text(), 0..6).prop_map(move |(text, which)| {
        let is_folder = matches!(kind, Kind::Maildir | Kind::Path);
        let text = if kind == Kind::Id { text.trim_start_matches(['{', '<']).to_owned() + "x" } else { text };
        Matcher::Value(match which {
            0 if is_folder => Pattern::Whole(folder(kind, &text)),
            0 => Pattern::Whole(text),
            1 if kind == Kind::Maildir => Pattern::Start(format!("/{}", text.trim_start_matches('/'))),
            1 => Pattern::Start(text),
            2 => Pattern::End(text),
            3 => Pattern::Anywhere(text),
            4 if is_folder => Pattern::Below(folder(kind, &text)),
            5 if is_folder => Pattern::WholeElseRegex(text),
            5 => return Matcher::Regex(text),
            _ => Pattern::Start(String::new()),
        })
    })
}

fn ends<T: Ord + Copy + std::fmt::Debug>(from: T, to: T, which: u8) -> (Option<T>, Option<T>) {
    match which % 4 {
        0 => (Some(from.min(to)), None),
        1 => (None, Some(to)),
        2 => (Some(from), Some(from)),
        _ => (Some(from.min(to)), Some(from.max(to))),
    }
}

fn matcher(info: &FieldInfo) -> BoxedStrategy<Matcher> {
    let date = prop_oneof![any::<i64>(), -70_000_000_000_i64..260_000_000_000, 0..2_000_000_000_i64];
    match info.kind {
        Kind::Text | Kind::Address => {
            let empty = Matcher::Prefix { before: vec![], last: String::new() };
            prop_oneof![9 => text_matcher(), 1 => Just(empty)].boxed()
        }
        Kind::Date => (date.clone(), date, any::<u8>())
            .prop_map(|(from, to, which)| ends(from, to, which))
            .prop_map(|(from, to)| Matcher::DateRange { from, to })
            .boxed(),
        Kind::Size => (any::<u64>(), any::<u64>(), any::<u8>())
            .prop_map(|(from, to, which)| ends(from, to, which))
            .prop_map(|(from, to)| Matcher::SizeRange { from, to })
            .boxed(),
        Kind::Flag => prop::sample::select(FLAGS).prop_map(|info| Matcher::Flag(info.flag)).boxed(),
        Kind::Priority => prop::sample::select(&Priority::ALL[..]).prop_map(Matcher::Priority).boxed(),
        kind => value_matcher(kind).boxed(),
    }
}

fn leaf() -> impl Strategy<Value = Query> {
    let of_table = (0..FIELDS.len()).prop_flat_map(|row| {
        matcher(&FIELDS[row]).prop_map(move |matcher| (Target::Fields(FIELDS[row].fields), matcher))
    });
    prop_oneof![
        6 => of_table,
        3 => text_matcher().prop_map(|matcher| (Target::Fields(FieldSet::BARE), matcher)),
        1 => text_matcher().prop_map(|matcher| (Target::Header("X-Mailer".to_owned()), matcher)),
    ]
    .prop_map(|(target, matcher)| Query::Leaf(Leaf { target, matcher, span: 0..0 }))
}

fn tree() -> impl Strategy<Value = Query> {
    let end = prop_oneof![9 => leaf(), 1 => Just(Query::All)];
    end.prop_recursive(5, 40, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..5);
        prop_oneof![
            some().prop_map(Query::and),
            some().prop_map(Query::or),
            some().prop_map(Query::xor),
            inner.clone().prop_map(Query::not),
        ]
    })
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&FRAGMENTS[..]), 0..14)
        .prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_printed_tree_parses_to_itself(tree in tree()) {
        let printed = tree.to_string();
        let parsed = parse(&printed, &context());
        prop_assert!(parsed.as_ref() == Ok(&tree), "{}\n{:?}\n{:?}", printed, tree, parsed);
        prop_assert_eq!(parsed.unwrap().to_string(), printed);
    }

    #[test]
    fn whatever_is_typed_gets_a_tree_or_a_place(
        text in prop_oneof![soup(), soup(), "\\PC{0,40}", any::<String>()],
    ) {
        match parse(&text, &context()) {
            Ok(tree) => {
                let printed = tree.to_string();
                prop_assert_eq!(parse(&printed, &context()), Ok(tree), "{}", printed);
            }
            Err(error) => {
                prop_assert!(error.query.get(error.span.clone()).is_some(), "{:?}", error);
                let shown = error.to_string();
                let points = shown.lines().nth(2).is_some_and(|line| line.trim_start().starts_with('^'));
                prop_assert!(points, "{}", shown);
                prop_assert!(!shown.chars().any(|c| c != '\n' && c.is_control()), "{:?}", shown);
            }
        }
    }

    #[test]
    fn places_of_leaves_lie_in_the_query(text in soup()) {
        if let Ok(tree) = parse(&text, &context()) {
            let mut last = 0;
            tree.visit_leaves(&mut |leaf| {
                let term = text.get(leaf.span.clone());
                assert!(leaf.span.start >= last && term.is_some_and(|term| !term.is_empty()));
                last = leaf.span.end;
            });
        }
    }
}
