//! Very many small messages, generated very fast: for walks over directories.
//!
//! Input: the options. Output: a Maildir. Does not depend on varied mail.

use super::facts::{COMMON_PHRASE, RARE_WORD, marks};
use super::folders::{Folder, Habit, Role};
use super::people::person;
use super::words::{Language, vocabulary};
use super::write::{NewFile, Sink, write_all};
use super::{Corpus, CorpusOptions, date};
use crate::random::Random;
use std::io;
use std::path::Path;

/// The root's share of all messages: 360,000 of 1,370,000.
const ROOT_PART: (u64, u64) = (36, 137);
/// 1 March 2015, and ten years.
const FIRST_SECONDS: u64 = 1_425_168_000;
const SPAN_SECONDS: u64 = 315_619_200;
/// How many people write.
const PERSON_COUNT: u64 = 500;
/// The number of a random stream.
const STREAM_SMALL: u64 = 0x736d;

/// Makes the Maildir.
pub(super) fn generate(root: &Path, options: &CorpusOptions) -> io::Result<Corpus> {
    let folders = folders(options.folders);
    let ends = ends(options.messages, folders.len());
    let people: Vec<String> = (0..PERSON_COUNT)
        .map(|number| {
            let person = person(options.seed, number);
            let name: String = person.name.chars().filter(char::is_ascii_alphabetic).collect();
            format!("{name} <{}>", person.address)
        })
        .collect();
    write_all(root, &folders, options.messages, options.threads, &|number, sink| {
        let folder = ends.partition_point(|&end| end <= number);
        put(options, &people, (number, folder), sink)
    })
}

/// Returns the folders: the root, some next to each other, some nested.
fn folders(count: usize) -> Vec<Folder> {
    let path = |number: usize| match number {
        0 => String::new(),
        _ if number.is_multiple_of(3) => format!(".lists.list-{number}"),
        _ => format!("archive/{}/folder-{number}", number % 23),
    };
    (0..count.max(1))
        .map(|number| Folder {
            path: path(number).into_bytes(),
            role: if number == 0 { Role::Inbox } else { Role::Other },
            habit: Habit::Plain,
        })
        .collect()
}

/// Returns for each folder the number after its last message. The root has its share. Of the others, each has
/// fewer messages than the one before, as in real mail: of 599 folders the first gets a fortieth of the rest,
/// the last one in 2,500.
fn ends(messages: u32, folders: usize) -> Vec<u32> {
    let in_root =
        if folders == 1 { u64::from(messages) } else { u64::from(messages) * ROOT_PART.0 / ROOT_PART.1 };
    let rest = u64::from(messages) - in_root;
    let weights: Vec<u64> = (1..folders as u64).map(|number| 1_000_000 / (number + 9)).collect();
    let total: u64 = weights.iter().sum();
    let mut reached = 0;
    let mut ends = vec![in_root];
    for weight in weights {
        reached += weight;
        ends.push(in_root + rest * reached / total);
    }
    ends.into_iter().map(|end| u32::try_from(end).expect("at most the number of messages")).collect()
}

fn put(
    options: &CorpusOptions,
    people: &[String],
    (number, folder): (u32, usize),
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let random = &mut Random::of(options.seed, STREAM_SMALL, number.into());
    let seconds = i64::try_from(FIRST_SECONDS + random.below(SPAN_SECONDS)).expect("before 2026");
    let microseconds = random.below(1_000_000);
    let is_new = random.per_mille(10);
    let flags = match random.below(10) {
        _ if is_new => "",
        0 => ":2,",
        1 => ":2,RS",
        2 => ":2,FS",
        _ => ":2,S",
    };
    let name = format!("{seconds}.M{microseconds}P{number}.tube{flags}");
    let content = message(options, people, (number, seconds), random);
    sink.put(&NewFile { folder, is_new, name: &name, content: content.as_bytes(), mtime_seconds: seconds })
}

fn message(
    options: &CorpusOptions,
    people: &[String],
    (number, seconds): (u32, i64),
    random: &mut Random,
) -> String {
    let words = vocabulary(Language::English);
    let marks = marks(options, number);
    let mut subject = words.word(random).to_owned();
    let mut body = String::new();
    for _ in 0..4 {
        subject.push(' ');
        subject.push_str(words.word(random));
        body.push_str(words.word(random));
        body.push(' ');
    }
    if marks.rare {
        body.push_str(RARE_WORD);
        body.push(' ');
    }
    if marks.phrase {
        body.push_str(COMMON_PHRASE);
    }
    let (from, to) = (random.pick(people), &people[0]);
    let date = date::header(seconds, 0);
    format!(
        "From: {from}\nTo: {to}\nSubject: {subject}\nDate: {date}\nMessage-ID: \
         <{number}.{:x}@small.example>\n\n{body}\n",
        options.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_as_large_as_promised_and_all_messages_have_a_folder() {
        let ends = ends(1_370_000, 600);
        assert_eq!(ends[0], 360_000);
        assert_eq!(ends[599], 1_370_000);
        let sizes: Vec<u32> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(sizes[0] > 20_000 && sizes[598] > 300 && sizes[598] < 600, "{} {}", sizes[0], sizes[598]);
        assert_eq!(super::ends(1000, 1), [1000]);
    }
}
