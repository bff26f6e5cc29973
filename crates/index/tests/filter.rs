//! Every field and every kind of match, compared with a slow and obvious filter that parses messages. The
//! queries are made from the messages. Input: real and odd mail. Output: the same messages from both.

use crate::support::Fixture;
use index::{Mailbox, Order, OwnAddresses, RecordReader, Root, UpdateOptions};
use mail::{ContentFlags, FileStat, Flags, Message};
use query::fold::fold;
use query::{Field, FieldSet, FlagName, Leaf, Matcher, Pattern, Priority, Query, Target};
use regex::{Regex, RegexBuilder};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A header field that the test's configuration names.
const HEADER: &str = "X-Mailer";
/// Regular expressions and matches of whole values see this many bytes of a header field.
const VALUE_BYTES_MAX: usize = 1024;
/// For each field, how many messages provide the values to search for.
const SAMPLE_COUNT: usize = 4;

/// A message as the filter sees it.
struct Twin {
    message: Message,
    size_bytes: u64,
    files: Vec<TwinFile>,
    /// Words and values by field; those of configured headers are under `None`.
    words: BTreeMap<Option<Field>, Vec<Vec<String>>>,
    values: BTreeMap<Option<Field>, Vec<String>>,
}

#[derive(Clone)]
struct TwinFile {
    path: PathBuf,
    maildir: String,
    flags: Flags,
    keywords: Vec<String>,
    changed_seconds: i64,
}

/// The user's own address.
const OWN: &str = "gregkh@linuxfoundation.org";
const TEXT_FIELDS: [Field; 8] =
    [Field::From, Field::To, Field::Cc, Field::Bcc, Field::Subject, Field::Body, Field::Embed, Field::File];
const VALUE_FIELDS: [Field; 10] = [
    Field::List,
    Field::Mime,
    Field::Language,
    Field::Tag,
    Field::MessageId,
    Field::Reference,
    Field::Keyword,
    Field::Problem,
    Field::Maildir,
    Field::Path,
];

impl Twin {
    fn new(message: Message, size_bytes: u64) -> Twin {
        let mut known =
            Twin { message, size_bytes, files: Vec::new(), words: BTreeMap::new(), values: BTreeMap::new() };
        for field in TEXT_FIELDS.map(Some).into_iter().chain([None]) {
            let (texts, values) = known.texts(field);
            known.words.insert(field, texts.iter().map(|text| words(text)).collect());
            let cut = |value: &String| value[..value.floor_char_boundary(VALUE_BYTES_MAX)].to_owned();
            known.values.insert(field, values.iter().map(cut).filter(|value| !value.is_empty()).collect());
        }
        known
    }

    /// Returns the date that the message states, or else the earliest date in the names of its files.
    fn date_seconds(&self) -> Option<i64> {
        let name = |file: &TwinFile| mail::name_seconds(file.path.file_name().unwrap().as_encoded_bytes());
        self.message.date_seconds().or_else(|| self.files.iter().filter_map(name).min())
    }

    /// Returns the texts of a field that is split into words, and the values that regular expressions match.
    fn texts(&self, field: Option<Field>) -> (Vec<String>, Vec<String>) {
        let message = &self.message;
        let people = |list: &[mail::Address]| {
            let texts = list.iter().flat_map(|one| [one.name.clone(), one.address.clone()]).collect();
            let line = |one: &mail::Address| match (one.name.is_empty(), one.address.is_empty()) {
                (true, _) => one.address.clone(),
                (false, true) => one.name.clone(),
                (false, false) => format!("{} <{}>", one.name, one.address),
            };
            (texts, list.iter().map(line).collect())
        };
        let same = |texts: Vec<String>| (texts.clone(), texts);
        let other_forms = |only_embedded: bool| {
            let forms = message.other_forms.iter().filter(move |form| form.is_embedded || !only_embedded);
            forms.map(|form| form.text.clone())
        };
        match field {
            Some(Field::From) => people(&message.from),
            Some(Field::To) => people(&message.to),
            Some(Field::Cc) => people(&message.cc),
            Some(Field::Bcc) => people(&message.bcc),
            Some(Field::Subject) => same(vec![message.subject.clone()]),
            Some(Field::Body) => {
                ([message.text.clone()].into_iter().chain(other_forms(false)).collect(), vec![])
            }
            Some(Field::Embed) => {
                (message.embedded_texts().map(str::to_owned).chain(other_forms(true)).collect(), vec![])
            }
            Some(Field::File) => same(message.attachments.iter().map(|one| one.name.clone()).collect()),
            None => same(message.headers.iter().map(|(_, value)| value.clone()).collect()),
            other => panic!("{other:?} is not split into words"),
        }
    }

    /// Returns the whole values of a field that is not split into words.
    fn whole(&self, field: Field) -> Vec<String> {
        let message = &self.message;
        let short = |value: &String| !value.is_empty() && value.len() <= VALUE_BYTES_MAX;
        let all: Vec<String> = match field {
            Field::List => vec![fold(&message.list_id).into_owned()],
            Field::Mime => message.mime_types.iter().map(|one| fold(one).into_owned()).collect(),
            Field::Language => vec![message.language.to_owned()],
            Field::Tag => message.labels.iter().map(|one| fold(one).into_owned()).collect(),
            Field::MessageId => vec![message.message_id.clone()],
            Field::Reference => message.references.clone(),
            Field::Keyword => self.files.iter().flat_map(|file| file.keywords.clone()).collect(),
            Field::Problem => {
                let kinds = message.problems.iter().map(mail::Problem::kind);
                kinds.flat_map(|kind| [kind.to_owned(), mail::problem_group(kind).to_owned()]).collect()
            }
            Field::Maildir => self.files.iter().map(|file| file.maildir.clone()).collect(),
            Field::Path => self.files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect(),
            other => panic!("{other:?} is split into words"),
        };
        all.into_iter().filter(short).collect()
    }

    /// Returns whether the message matches. `regex` is the leaf's, if it has one.
    fn matches(&self, leaf: &Leaf, regex: Option<&Regex>) -> bool {
        let fields: Vec<Option<Field>> = match &leaf.target {
            Target::Header(_) => vec![None],
            Target::Fields(fields) => fields.iter().map(Some).collect(),
        };
        fields.iter().any(|field| match regex {
            Some(regex) => self.regex_matches(*field, regex),
            None => self.field_matches(*field, &leaf.matcher),
        })
    }

    fn field_matches(&self, field: Option<Field>, matcher: &Matcher) -> bool {
        let within = |value: i64, from: &Option<i64>, to: &Option<i64>| {
            from.is_none_or(|from| from <= value) && to.is_none_or(|to| value <= to)
        };
        match matcher {
            Matcher::DateRange { from, to } if field == Some(Field::Changed) => {
                self.files.iter().any(|file| within(file.changed_seconds, from, to))
            }
            Matcher::DateRange { from, to } => self.date_seconds().is_some_and(|date| within(date, from, to)),
            Matcher::SizeRange { from, to } => {
                from.is_none_or(|from| from <= self.size_bytes) && to.is_none_or(|to| self.size_bytes <= to)
            }
            Matcher::Flag(flag) => self.has_flag(*flag),
            Matcher::Priority(priority) => {
                let has = |flag| self.message.flags.contains(flag);
                match priority {
                    Priority::High => has(ContentFlags::HIGH),
                    Priority::Low => has(ContentFlags::LOW),
                    Priority::Normal => !has(ContentFlags::HIGH) && !has(ContentFlags::LOW),
                }
            }
            Matcher::Value(pattern) => self.value_matches(field.unwrap(), pattern),
            matcher => self.words[&field].iter().any(|words| words_match(words, matcher)),
        }
    }

    fn regex_matches(&self, field: Option<Field>, regex: &Regex) -> bool {
        match field {
            Some(Field::Body | Field::Embed) => {
                self.words[&field].iter().flatten().any(|word| regex.is_match(word))
            }
            Some(field) if VALUE_FIELDS.contains(&field) => {
                self.whole(field).iter().any(|value| regex.is_match(value))
            }
            field => self.values[&field].iter().any(|value| regex.is_match(value)),
        }
    }

    fn value_matches(&self, field: Field, pattern: &Pattern) -> bool {
        let is_id = matches!(field, Field::MessageId | Field::Reference);
        // A path names one place: whole paths are compared as they are.
        let is_exact = is_id || (field == Field::Path && matches!(pattern, Pattern::Whole(_)));
        let spell = |text: &str| if is_exact { text.to_owned() } else { fold(text).into_owned() };
        self.whole(field).iter().any(|value| {
            let value = spell(value);
            match pattern {
                Pattern::Whole(text) => value == spell(text),
                Pattern::Start(text) => value.starts_with(&spell(text)),
                Pattern::End(text) => value.ends_with(&spell(text)),
                Pattern::Anywhere(text) => value.contains(&spell(text)),
                Pattern::Below(text) => {
                    value == spell(text) || value.starts_with(&format!("{}/", spell(text)))
                }
                Pattern::WholeElseRegex(_) => panic!("not asked for here"),
            }
        })
    }

    fn has_flag(&self, flag: FlagName) -> bool {
        let any = |flag: Flags| self.files.iter().any(|file| file.flags.contains(flag));
        match flag {
            FlagName::Draft => any(Flags::DRAFT),
            FlagName::Flagged => any(Flags::FLAGGED),
            FlagName::Passed => any(Flags::PASSED),
            FlagName::Replied => any(Flags::REPLIED),
            FlagName::Seen => any(Flags::SEEN),
            FlagName::Trashed => any(Flags::TRASHED),
            FlagName::New => any(Flags::NEW),
            FlagName::Unread => self.files.iter().any(|file| !file.flags.contains(Flags::SEEN)),
            FlagName::Attach => self.message.flags.contains(ContentFlags::ATTACHMENT),
            FlagName::Signed => self.message.flags.contains(ContentFlags::SIGNED),
            FlagName::Encrypted => self.message.flags.contains(ContentFlags::ENCRYPTED),
            FlagName::List => self.message.flags.contains(ContentFlags::LIST),
            FlagName::Calendar => self.message.flags.contains(ContentFlags::CALENDAR),
            FlagName::Muted => false,
            FlagName::Personal => {
                let Message { to, cc, bcc, .. } = &self.message;
                to.iter().chain(cc).chain(bcc).any(|one| one.address.eq_ignore_ascii_case(OWN))
            }
        }
    }
}

fn words_match(words: &[String], matcher: &Matcher) -> bool {
    match matcher {
        Matcher::Words(wanted) => words.windows(wanted.len()).any(|window| window == wanted.as_slice()),
        Matcher::Prefix { before, last } => words.windows(before.len() + 1).any(|window| {
            window[..before.len()] == before[..] && window[before.len()].starts_with(last.as_str())
        }),
        Matcher::Suffix(end) => words.iter().any(|word| word.ends_with(end.as_str())),
        Matcher::Infix(part) => words.iter().any(|word| word.contains(part.as_str())),
        other => panic!("{other:?} is not about words"),
    }
}

fn words(text: &str) -> Vec<String> {
    query::words(text).map(|word| word.text).collect()
}

/// Returns the matchers to try for a field that is split into words, made from parts of `words`.
fn word_matchers(words: &[String], at: usize) -> Vec<Matcher> {
    let word = &words[at % words.len()];
    let next = words.get(at % words.len() + 1);
    let third = |index: usize| word.floor_char_boundary(word.len() * index / 3);
    let mut all = vec![
        Matcher::Words(vec![word.clone()]),
        Matcher::Prefix { before: vec![], last: word[..third(2).max(third(1))].to_owned() },
        Matcher::Suffix(word[third(1)..].to_owned()),
        Matcher::Infix(word[third(1)..third(2).max(third(1))].to_owned()),
        Matcher::Words(vec![word.clone(), "nowhere".to_owned()]),
    ];
    if let Some(next) = next {
        all.push(Matcher::Words(vec![word.clone(), next.clone()]));
        let half = next.floor_char_boundary(next.len().div_ceil(2));
        all.push(Matcher::Prefix { before: vec![word.clone()], last: next[..half].to_owned() });
    }
    // An empty part matches everything, so the test does not ask for one.
    all.retain(|matcher| !matches!(matcher, Matcher::Infix(part) | Matcher::Suffix(part) if part.is_empty()));
    all
}

fn regexes(value: &str) -> Vec<Matcher> {
    let third = |index: usize| value.floor_char_boundary(value.len() * index / 3);
    let (start, middle, end) = (&value[..third(1)], &value[third(1)..third(2)], &value[third(2)..]);
    let escape = regex::escape;
    vec![
        Matcher::Regex(format!("^{}.*{}$", escape(start), escape(end))),
        Matcher::Regex(escape(&middle.to_uppercase())),
        Matcher::Regex(format!("^{}$", escape(middle))),
    ]
}

fn patterns(value: &str) -> Vec<Matcher> {
    let third = |index: usize| value.floor_char_boundary(value.len() * index / 3);
    let mut all = regexes(value);
    all.extend([
        Matcher::Value(Pattern::Whole(value.to_owned())),
        Matcher::Value(Pattern::Whole(value.to_uppercase())),
        Matcher::Value(Pattern::Start(value[..third(2)].to_owned())),
        Matcher::Value(Pattern::End(value[third(1)..].to_owned())),
        Matcher::Value(Pattern::Anywhere(value[third(1)..third(2)].to_owned())),
    ]);
    all
}

/// Returns all leaves to test.
fn questions(known: &[Twin]) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut ask = |target: Target, matcher| leaves.push(Leaf { target, matcher, span: 0..0 });
    for field in TEXT_FIELDS.map(Some).into_iter().chain([None]) {
        let target =
            || field.map_or(Target::Header(HEADER.to_owned()), |field| Target::Fields(FieldSet::of(field)));
        let with_words: Vec<&Twin> =
            known.iter().filter(|one| one.words[&field].iter().any(|words| !words.is_empty())).collect();
        let step = (with_words.len() / SAMPLE_COUNT).max(1);
        for (index, one) in with_words.iter().step_by(step).enumerate() {
            let list = one.words[&field].iter().find(|words| !words.is_empty()).unwrap();
            word_matchers(list, index * 7).into_iter().for_each(|matcher| ask(target(), matcher));
            let value = one.values[&field].first().unwrap_or(&list[index % list.len()]);
            regexes(value).into_iter().for_each(|matcher| ask(target(), matcher));
        }
        ask(target(), Matcher::Prefix { before: vec![], last: String::new() });
    }
    for set in [FieldSet::BARE, FieldSet::RECIP, FieldSet::CONTACT] {
        for matcher in [
            Matcher::Words(vec!["org".into()]),
            Matcher::Words(vec!["example".into(), "com".into()]),
            Matcher::Prefix { before: vec![], last: "mich".into() },
            Matcher::Infix("ohn".into()),
            Matcher::Regex("^j.*n$".into()),
        ] {
            ask(Target::Fields(set), matcher);
        }
    }
    for field in VALUE_FIELDS {
        let target = || Target::Fields(FieldSet::of(field));
        let with_value: Vec<&Twin> = known.iter().filter(|one| !one.whole(field).is_empty()).collect();
        let step = (with_value.len() / SAMPLE_COUNT).max(1);
        for one in with_value.iter().step_by(step) {
            patterns(one.whole(field).last().unwrap()).into_iter().for_each(|matcher| ask(target(), matcher));
        }
        ask(target(), Matcher::Value(Pattern::Start(String::new())));
    }
    for below in ["/lists", "/enron", "/nowhere", "/li"] {
        ask(Target::Fields(FieldSet::of(Field::Maildir)), Matcher::Value(Pattern::Below(below.into())));
    }
    for flag in query::flags::FLAGS {
        ask(Target::Fields(FieldSet::of(Field::Flag)), Matcher::Flag(flag.flag));
    }
    for priority in [Priority::Low, Priority::Normal, Priority::High] {
        ask(Target::Fields(FieldSet::of(Field::Priority)), Matcher::Priority(priority));
    }
    let mut numbers: Vec<i64> = known.iter().filter_map(Twin::date_seconds).collect();
    numbers.extend(known.iter().flat_map(|one| one.files.iter().map(|file| file.changed_seconds)));
    numbers.sort_unstable();
    for index in 1..6 {
        let (low, high) = (numbers[numbers.len() * index / 7], numbers[numbers.len() * (index + 1) / 7]);
        for (from, to) in
            [(Some(low), Some(high)), (Some(high), None), (None, Some(low)), (Some(low), Some(low))]
        {
            for field in [Field::Date, Field::Changed] {
                ask(Target::Fields(FieldSet::of(field)), Matcher::DateRange { from, to });
            }
        }
        let size = known[known.len() * index / 7].size_bytes;
        for (from, to) in [(Some(size), Some(size)), (Some(size), None), (None, Some(size))] {
            ask(Target::Fields(FieldSet::of(Field::Size)), Matcher::SizeRange { from, to });
        }
    }
    leaves
}

#[test]
fn every_field_finds_what_a_filter_over_all_real_mail_finds() {
    let Some(real) = testkit::real_mail() else { return };
    let mut fixture = Fixture::new();
    for (number, path) in real.edge().iter().enumerate() {
        let folder = ["odd", "Odd/Größe"][number % 2];
        let name = format!("{number}.edge:2,{}", ["", "S", "FRSa", "Tb", "DPSbc"][number % 5]);
        fs::copy(path, fixture.put(folder, ["cur", "new"][number / 7 % 2], &name, "")).unwrap();
    }
    fs::write(fixture.root().join("odd/dovecot-keywords"), "0 Work\n1 $Junk\n").unwrap();
    fixture.roots.push(Root { name: "real".into(), path: real.maildir().to_owned() });
    let options = UpdateOptions { headers: vec![HEADER.to_owned()], ..UpdateOptions::default() };
    fixture.update_with(&options);
    let mut known = BTreeMap::new();
    for root in &fixture.roots {
        read_all(&root.path, &root.path, &mut known);
    }
    let mailbox = fixture.mailbox().with_own_addresses(OwnAddresses::new(&[OWN.to_uppercase()]));
    let ids = ids(&mailbox);
    assert_eq!(ids.values().collect::<BTreeSet<_>>(), known.keys().collect::<BTreeSet<_>>());
    let mut list: Vec<Twin> = known.into_values().collect();
    let groups = join_copies(&mut list);
    // Both are sorted by id.
    let places: BTreeMap<[u8; 32], usize> = ids
        .values()
        .copied()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .enumerate()
        .map(|(place, id)| (id, place))
        .collect();
    let mut found_any = 0;
    let leaves = questions(&list);
    for leaf in &leaves {
        let found: BTreeSet<usize> = mailbox
            .evaluate(&Query::Leaf(leaf.clone()))
            .unwrap()
            .iter()
            .map(|number| places[&ids[&number]])
            .collect();
        let regex = match &leaf.matcher {
            Matcher::Regex(source) => Some(RegexBuilder::new(source).case_insensitive(true).build().unwrap()),
            _ => None,
        };
        let is_found = |place: &usize| list[*place].matches(leaf, regex.as_ref());
        let expected: BTreeSet<usize> =
            groups.iter().filter(|group| group.iter().any(is_found)).flatten().copied().collect();
        let wrong: Vec<&String> = found
            .symmetric_difference(&expected)
            .map(|place| &list[*place].message.message_id)
            .take(5)
            .collect();
        assert!(
            wrong.is_empty(),
            "{leaf}: {} found, {} expected, such as {wrong:?}",
            found.len(),
            expected.len()
        );
        found_any += usize::from(!found.is_empty() && found.len() < list.len());
    }
    assert!(leaves.len() > 400 && found_any > leaves.len() / 2, "{found_any} of {} found some", leaves.len());
}

/// Groups the copies. Gives each the files of all copies in its group and their highest priority, because a
/// query treats them as one message.
fn join_copies(known: &mut [Twin]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(String, u128), Vec<usize>> = BTreeMap::new();
    for (place, one) in known.iter().enumerate() {
        let own = u128::MAX - place as u128;
        let key = (one.message.message_id.clone(), one.message.copy_hash.unwrap_or(own));
        groups.entry(key).or_default().push(place);
    }
    assert!(groups.len() < known.len(), "there are copies among real mail");
    for group in groups.values() {
        let files: Vec<TwinFile> = group.iter().flat_map(|place| known[*place].files.clone()).collect();
        let all = |flag| group.iter().all(|place| known[*place].message.flags.contains(flag));
        let any = |flag| group.iter().any(|place| known[*place].message.flags.contains(flag));
        let priority = match (any(ContentFlags::HIGH), all(ContentFlags::LOW)) {
            (true, _) => ContentFlags::HIGH,
            (false, true) => ContentFlags::LOW,
            (false, false) => ContentFlags::NONE,
        };
        for place in group {
            let flags = &mut known[*place].message.flags;
            let priorities = ContentFlags::HIGH.bits() | ContentFlags::LOW.bits();
            *flags = ContentFlags::from_bits(flags.bits() & !priorities);
            flags.insert(priority);
            known[*place].files = files.clone();
        }
    }
    groups.into_values().collect()
}

/// Returns each message's id by its number.
fn ids(mailbox: &Mailbox) -> BTreeMap<u32, [u8; 32]> {
    let all = mailbox.evaluate(&Query::All).unwrap();
    let mut reader = RecordReader::new();
    let hits = mailbox.sorted(&all, &Order::default()).unwrap();
    hits.list.iter().map(|hit| (hit.number, mailbox.message(hit, &mut reader).unwrap().sha256)).collect()
}

fn read_all(root: &Path, directory: &Path, known: &mut BTreeMap<[u8; 32], Twin>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(root, &path, known);
        } else if directory.ends_with("cur") || directory.ends_with("new") {
            read_one(root, &path, known);
        }
    }
}

fn read_one(root: &Path, path: &Path, known: &mut BTreeMap<[u8; 32], Twin>) {
    let content = mail::read_message(path, 100 << 20).unwrap();
    let FileStat { ctime_ns, .. } = content.stat;
    let headers = [HEADER.to_owned()];
    let context = mail::Context { headers: &headers, ..mail::Context::new(1_900_000_000) };
    let id: [u8; 32] = Sha256::digest(&content.bytes).into();
    let one = known
        .entry(id)
        .or_insert_with(|| Twin::new(mail::parse(&content.bytes, &context), content.bytes.len() as u64));
    let place = path.parent().unwrap();
    let folder = place.parent().unwrap();
    let name = mail::parse_name(path.file_name().unwrap().as_encoded_bytes());
    let names = fs::read_to_string(folder.join("dovecot-keywords")).unwrap_or_default();
    let keyword = |letter: char| {
        let number = (letter as u8 - b'a').to_string();
        let named = names.lines().find_map(|line| line.strip_prefix(&number)?.strip_prefix(' '));
        named.map_or(letter.to_string(), str::to_owned)
    };
    one.files.push(TwinFile {
        path: path.to_owned(),
        maildir: format!("/{}", folder.strip_prefix(root).unwrap().display()),
        flags: if place.ends_with("new") { name.flags | Flags::NEW } else { name.flags },
        keywords: ('a'..='z')
            .enumerate()
            .filter(|(bit, _)| name.keywords >> bit & 1 == 1)
            .map(|(_, letter)| keyword(letter))
            .collect(),
        changed_seconds: ctime_ns.div_euclid(1_000_000_000),
    });
}
