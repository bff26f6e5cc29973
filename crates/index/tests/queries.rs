//! Queries compared with a slow and obvious twin: a filter that tests every message for every leaf.
//!
//! Input: random mailboxes and random queries. Output: the same sets from both.

use crate::support::Fixture;
use proptest::prelude::*;
use query::{Field, FieldSet, FlagName, Leaf, Matcher, Query, Target};
use std::collections::BTreeSet;

const WORDS: [&str; 8] = ["apple", "Äpfel", "foo_bar", "red", "REDDER", "東京都", "naïve", "x1"];
const FOLDERS: [&str; 3] = ["inbox", "lists/one", ".Sub.Two"];

/// A message as the twin sees it.
#[derive(Clone, Debug)]
struct TwinMessage {
    number: usize,
    from: String,
    subject: Vec<&'static str>,
    body: Vec<&'static str>,
    folder: usize,
    flags: String,
    is_new: bool,
    day: u32,
}

impl TwinMessage {
    fn content(&self) -> String {
        format!(
            "From: {0} <{0}@example.org>\nTo: list@example.com\nSubject: {1}\nDate: {2} Mar 2025 12:00:00 \
             +0000\n\
             Message-ID: <{3}@id>\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n{4}\n",
            self.from,
            encoded(&self.subject.join(" ")),
            self.day,
            self.number,
            self.body.join(" ")
        )
    }

    fn subject_line(&self) -> String {
        self.subject.join(" ")
    }

    fn matches(&self, query: &Query) -> bool {
        match query {
            Query::All => true,
            Query::And(children) => children.iter().all(|child| self.matches(child)),
            Query::Or(children) => children.iter().any(|child| self.matches(child)),
            Query::Xor(children) => children.iter().filter(|child| self.matches(child)).count() % 2 == 1,
            Query::Not(child) => !self.matches(child),
            Query::Leaf(leaf) => self.matches_leaf(leaf),
        }
    }

    fn matches_leaf(&self, leaf: &Leaf) -> bool {
        let Target::Fields(fields) = &leaf.target else { return false };
        match &leaf.matcher {
            Matcher::Flag(flag) => match flag {
                FlagName::Seen => self.flags.contains('S'),
                FlagName::Unread => !self.flags.contains('S'),
                FlagName::Flagged => self.flags.contains('F'),
                FlagName::New => self.is_new,
                _ => false,
            },
            Matcher::DateRange { from, to } => {
                let noon = date(self.day);
                from.is_none_or(|from| from <= noon) && to.is_none_or(|to| noon <= to)
            }
            matcher => fields.iter().any(|field| self.holds(field, matcher)),
        }
    }

    fn holds(&self, field: Field, matcher: &Matcher) -> bool {
        let texts = match field {
            Field::Subject => vec![self.subject_line()],
            Field::Body => vec![self.body.join(" ")],
            Field::From => vec![self.from.clone(), format!("{}@example.org", self.from)],
            Field::To => vec!["list@example.com".to_owned()],
            _ => vec![],
        };
        texts.iter().any(|text| phrase(&folded(text), matcher))
    }
}

fn phrase(words: &[String], matcher: &Matcher) -> bool {
    match matcher {
        Matcher::Words(wanted) => words.windows(wanted.len()).any(|window| window == wanted.as_slice()),
        Matcher::Prefix { before, last } => words.windows(before.len() + 1).any(|window| {
            window[..before.len()] == before[..] && window[before.len()].starts_with(last.as_str())
        }),
        Matcher::Infix(part) => words.iter().any(|word| word.contains(part.as_str())),
        _ => false,
    }
}

fn folded(text: &str) -> Vec<String> {
    query::words(text).map(|word| word.text).collect()
}

fn encoded(text: &str) -> String {
    let hex: String = text.bytes().map(|byte| format!("={byte:02X}")).collect();
    format!("=?utf-8?Q?{hex}?=")
}

fn date(day: u32) -> i64 {
    // 1 March 2025, noon UTC.
    1_740_830_400 + i64::from(day - 1) * 86_400
}

fn a_word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&WORDS[..])
}

fn a_mailbox() -> impl Strategy<Value = Vec<TwinMessage>> {
    let one = (
        prop::sample::select(&["ana", "bo", "cy"][..]),
        prop::collection::vec(a_word(), 0..4),
        prop::collection::vec(a_word(), 0..8),
        0..FOLDERS.len(),
        prop::sample::select(&["", "S", "FS", "F"][..]),
        any::<bool>(),
        1u32..28,
    );
    prop::collection::vec(one, 1..25).prop_map(|list| {
        list.into_iter()
            .enumerate()
            .map(|(number, (from, subject, body, folder, flags, is_new, day))| TwinMessage {
                number,
                from: from.into(),
                subject,
                body,
                folder,
                flags: flags.into(),
                is_new,
                day,
            })
            .collect()
    })
}

fn a_leaf() -> impl Strategy<Value = Query> {
    let fields = prop::sample::select(vec![
        FieldSet::BARE,
        FieldSet::of(Field::Subject),
        FieldSet::of(Field::Body),
        FieldSet::of(Field::From),
        FieldSet::CONTACT,
    ]);
    let words = prop::collection::vec(a_word(), 1..3).prop_map(|words| {
        let all: Vec<String> = words.iter().flat_map(|word| folded(word)).collect();
        Matcher::Words(all)
    });
    let prefix =
        (prop::collection::vec(a_word(), 0..2), prop::sample::select(&["re", "a", "b", "fo", "東京"][..]))
            .prop_map(|(before, last)| Matcher::Prefix {
                before: before.iter().flat_map(|word| folded(word)).collect(),
                last: last.to_owned(),
            });
    let infix =
        prop::sample::select(&["ppl", "e", "oo"][..]).prop_map(|part| Matcher::Infix(part.to_owned()));
    let text = (fields, prop_oneof![3 => words, 2 => prefix, 1 => infix])
        .prop_map(|(fields, matcher)| leaf(fields, matcher));
    let flag = prop::sample::select(vec![FlagName::Seen, FlagName::Unread, FlagName::Flagged, FlagName::New])
        .prop_map(|flag| leaf(FieldSet::of(Field::Flag), Matcher::Flag(flag)));
    let day = (1u32..28, 1u32..28).prop_map(|(from, to)| {
        leaf(FieldSet::of(Field::Date), Matcher::DateRange { from: Some(date(from)), to: Some(date(to)) })
    });
    prop_oneof![4 => text, 1 => flag, 1 => day, 1 => Just(Query::All)]
}

fn leaf(fields: FieldSet, matcher: Matcher) -> Query {
    Query::Leaf(Leaf { target: Target::Fields(fields), matcher, span: 0..0 })
}

fn a_query() -> impl Strategy<Value = Query> {
    a_leaf().prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Query::and),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Query::or),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Query::xor),
            inner.prop_map(Query::not),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_query_finds_what_a_filter_over_all_messages_finds(
        mailbox in a_mailbox(),
        queries in prop::collection::vec(a_query(), 12),
    ) {
        let fixture = Fixture::new();
        // Two passes, so that rows and text lie in several segments.
        let half = mailbox.len() / 2;
        for part in [&mailbox[..half], &mailbox[half..]] {
            for known in part {
                let name = format!("{}.x:2,{}", known.number, known.flags);
                let place = if known.is_new { "new" } else { "cur" };
                fixture.put(FOLDERS[known.folder], place, &name, &known.content());
            }
            if !part.is_empty() {
                fixture.update();
            }
        }
        let index = fixture.mailbox();
        for query in &queries {
            let found: BTreeSet<usize> = index
                .find(query, &index::Order::default())
                .unwrap()
                .list
                .iter()
                .map(|hit| id_of(&index, hit))
                .collect();
            let expected: BTreeSet<usize> =
                mailbox.iter().filter(|known| known.matches(query)).map(|known| known.number).collect();
            prop_assert_eq!(found, expected, "{}", query);
        }
    }
}

fn id_of(index: &index::Mailbox, hit: &index::Hit) -> usize {
    let message = index.message(hit, &mut index::RecordReader::new()).unwrap();
    message.rest.message_id.split('@').next().unwrap().parse().unwrap()
}
