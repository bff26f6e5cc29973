//! People who write mail: names in their own scripts, addresses in ASCII.
//!
//! Input: a person's number. Output: the person. Does not know what they write.

use super::facts::{AUTHOR_ADDRESS, AUTHOR_NAME};
use super::shape::OWNER;
use super::words::{Language, draw_language, vocabulary};
use crate::random::Random;

/// How many mail domains there are.
const DOMAIN_COUNT: u64 = 400;
/// Numbers of random streams.
const STREAM_PERSON: u64 = 0x7065;
const STREAM_DOMAIN: u64 = 0x646f;

/// A person with an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) address: String,
}

/// Returns person `number`. [`OWNER`] is the owner of the mail.
pub(super) fn person(seed: u64, number: u64) -> Person {
    if number == OWNER {
        return Person { name: "Robin Tube".to_owned(), address: "robin@tube.example".to_owned() };
    }
    let random = &mut Random::of(seed, STREAM_PERSON, number);
    let language = draw_language(random);
    let words = vocabulary(language);
    let (given, family) = (*random.pick(&words.given), capital(words.rare_word(random)));
    let name = format!("{given}{}{family}", words.gap);
    let latin = vocabulary(Language::English).rare_word(random);
    let bound = random.between(1, DOMAIN_COUNT);
    let address = format!("{latin}{number}@{}", domain(random.below(bound)));
    Person { name, address }
}

/// Returns the author in [`super::facts`].
pub(super) fn known_author() -> Person {
    Person { name: AUTHOR_NAME.to_owned(), address: AUTHOR_ADDRESS.to_owned() }
}

/// Returns one of the domains that are reserved for examples.
pub(super) fn domain(number: u64) -> String {
    let random = &mut Random::of(0, STREAM_DOMAIN, number);
    format!("{}.example", vocabulary(Language::English).rare_word(random))
}

/// Returns `word` with its first letter in upper case.
pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
