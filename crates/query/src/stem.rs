//! Words with the same stem, by Snowball's algorithms. Input: a folded word, and its possible languages.
//! Output: whether another word has the same stem, and the prefix that all such words share. Knows neither
//! the text index nor the configuration.
//!
//! Words are compared in the folded form of the index. For most languages the missing accents make no
//! difference, because both words lack them. An ending that depends on an accent (Russian `-ий`, Hungarian
//! `-ál`) is not removed.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use rust_stemmers::{Algorithm, Stemmer};

/// Every language that has stems, in the order of the names.
const LANGUAGES: [(&str, Algorithm); 18] = [
    ("arabic", Algorithm::Arabic),
    ("danish", Algorithm::Danish),
    ("dutch", Algorithm::Dutch),
    ("english", Algorithm::English),
    ("finnish", Algorithm::Finnish),
    ("french", Algorithm::French),
    ("german", Algorithm::German),
    ("greek", Algorithm::Greek),
    ("hungarian", Algorithm::Hungarian),
    ("italian", Algorithm::Italian),
    ("norwegian", Algorithm::Norwegian),
    ("portuguese", Algorithm::Portuguese),
    ("romanian", Algorithm::Romanian),
    ("russian", Algorithm::Russian),
    ("spanish", Algorithm::Spanish),
    ("swedish", Algorithm::Swedish),
    ("tamil", Algorithm::Tamil),
    ("turkish", Algorithm::Turkish),
];

/// How many letters at the end of a stem may be missing in its words: `die` is the stem of `dying`, `appliqu`
/// the stem of `application`.
const CHANGED_LETTER_COUNT: usize = 2;

/// A set of languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Languages(u32);

/// Which words of a query match all words with the same stem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stemming {
    /// The languages whose stems count.
    pub languages: Languages,
    /// Which words are searched by their stem.
    pub scope: StemScope,
}

/// Which words of a query are searched by their stem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StemScope {
    /// Words after a `~`.
    #[default]
    Marked,
    /// Those, and every plain word without quotation marks that does not begin with a capital letter, as in
    /// notmuch.
    Plain,
}

/// The words of one stem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    word: String,
    begin: String,
    stems: Vec<(Algorithm, String)>,
}

impl Default for Stemming {
    fn default() -> Stemming {
        Stemming { languages: Languages::named(["english"]).unwrap_or_default(), scope: StemScope::Marked }
    }
}

impl Languages {
    /// Returns the set of these languages.
    ///
    /// # Errors
    /// Returns the first name that is not a language.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Languages, &'a str> {
        names.into_iter().try_fold(Languages::default(), |Languages(bits), name| {
            let mut found = bits_of_all().filter(|(_, (known, _))| known.eq_ignore_ascii_case(name));
            found.next().map(|(bit, _)| Languages(bits | bit)).ok_or(name)
        })
    }

    /// Returns the names of all known languages.
    pub fn known() -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().map(|(name, _)| *name)
    }

    fn algorithms(self) -> impl Iterator<Item = Algorithm> {
        bits_of_all().filter(move |(bit, _)| self.0 & bit != 0).map(|(_, (_, algorithm))| *algorithm)
    }
}

impl Family {
    /// Returns the words that share the stem of a folded word in any of the languages. Without languages that
    /// is the word alone.
    pub fn new(word: &str, languages: Languages) -> Family {
        let stem = |algorithm| (algorithm, Stemmer::create(algorithm).stem(word).into_owned());
        let stems: Vec<(Algorithm, String)> = languages.algorithms().map(stem).collect();
        let begin = stems.iter().fold(word, |begin, (_, stem)| {
            let kept = stem.chars().count().saturating_sub(CHANGED_LETTER_COUNT).max(1);
            shared(begin, stem.chars().take(kept))
        });
        Family { word: word.to_owned(), begin: begin.to_owned(), stems }
    }

    /// Returns the prefix that all words of the stem share. Few other words have it.
    pub fn begin(&self) -> &str {
        &self.begin
    }

    /// Returns whether a folded word has the stem. The word must begin with `begin`.
    pub fn holds(&self, word: &str) -> bool {
        let has_stem =
            |(algorithm, stem): &(Algorithm, String)| Stemmer::create(*algorithm).stem(word) == stem.as_str();
        word == self.word || self.stems.iter().any(has_stem)
    }
}

/// Returns as much of the word as the letters begin with.
fn shared(word: &str, letters: impl Iterator<Item = char>) -> &str {
    let same = word.chars().zip(letters).take_while(|(a, b)| a == b);
    let length = same.fold(0_usize, |length, (c, _)| length.saturating_add(c.len_utf8()));
    word.get(..length).unwrap_or(word)
}

fn bits_of_all() -> impl Iterator<Item = (u32, &'static (&'static str, Algorithm))> {
    (0..u32::BITS).filter_map(|place| 1_u32.checked_shl(place)).zip(LANGUAGES.iter())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fold::fold;

    fn family(word: &str, languages: &[&'static str]) -> Family {
        Family::new(&fold(word), Languages::named(languages.iter().copied()).unwrap())
    }

    #[test]
    fn words_of_one_stem_are_found_and_others_are_not() {
        for (language, word, same, other) in [
            ("english", "detail", &["details", "detailed", "detailing"][..], &["detain", "tail", "de"][..]),
            ("english", "manpages", &["manpage", "manpaging"], &["manpower"]),
            ("english", "die", &["dying", "dies", "died"], &["dyed", "day"]),
            ("english", "dying", &["die"], &["dye"]),
            ("english", "happy", &["happiness"], &["happen"]),
            ("english", "relational", &["relate", "relation"], &["religion"]),
            ("german", "Häuser", &["Haus", "Häusern", "Hauses"], &["Hase"]),
            ("french", "application", &["applications", "appliquer"], &["appelle"]),
            ("french", "cheval", &["chevaux"], &["chevron"]),
            ("dutch", "lichamelijk", &["lichamelijke", "lichamelijkheden"], &["licht"]),
            ("russian", "книга", &["книги", "книгу"], &["конь"]),
            ("spanish", "canciones", &["canción"], &["cansado"]),
        ] {
            let family = family(word, &[language]);
            for same in same {
                let folded = fold(same);
                assert!(folded.starts_with(family.begin()) && family.holds(&folded), "{word} {same}");
            }
            for other in other {
                assert!(!family.holds(&fold(other)), "{word} {other}");
            }
        }
    }

    #[test]
    fn any_of_several_languages_is_enough() {
        let both = family("houses", &["english", "german"]);
        assert!(both.holds("house") && both.holds("houses"));
        let none = Family::new("houses", Languages::default());
        assert!(none.holds("houses") && !none.holds("house"));
        assert_eq!(none.begin(), "houses");
    }

    #[test]
    fn languages_have_names() {
        let all = Languages::named(Languages::known()).unwrap();
        assert_eq!(all.algorithms().count(), LANGUAGES.len());
        assert_eq!(Languages::named(["English", "DUTCH"]), Languages::named(["dutch", "english"]));
        assert_eq!(Languages::named(["english", "klingon"]), Err("klingon"));
    }

    proptest! {
        #[test]
        fn any_word_is_of_its_own_family(word in "\\PC{0,20}|[a-z]{1,12}|[а-яёßçğı日த-ி]{1,9}") {
            let word = fold(&word);
            let family = Family::new(&word, Languages::named(Languages::known()).unwrap());
            prop_assert!(family.holds(&word) && word.starts_with(family.begin()), "{:?}", family);
        }
    }
}
