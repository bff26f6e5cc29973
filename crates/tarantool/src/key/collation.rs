//! Collations: text as bytes that sort as a language sorts the text.
//!
//! Input: a definition as in Tarantool's space `_collation`. Output: the sort key of a text; two texts that
//! the collation counts as equal have the same sort key. Does not know where definitions come from.
//!
//! Tarantool compares with the library ICU of its machine, this program with the data of ICU4X that is
//! compiled in. What ICU4X cannot do is an error here, so that no index is in a wrong order.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The version of the data that sort keys depend on. Sort keys of different versions do not mix.
pub const COLLATION_DATA: &str = "icu4x 2.4.0";

/// Kinds of order (the key `co` of a locale) that ICU knows, and the data of ICU4X does not have. ICU ignores
/// kinds that it does not know itself, and so does ICU4X.
const TYPES_MISSING: [&str; 6] = ["big5han", "ducet", "gb2312", "phonetic", "search", "searchjl"];
/// Languages that Tarantool has collations for, and the data of ICU4X has no order for.
const LANGUAGES_MISSING: [&str; 5] = ["haw", "kl", "lkt", "ln", "se"];
/// The only locale that compares accents from the end of a text.
const LOCALE_BACKWARDS: &str = "fr-CA";

/// What a collation is: the same definition gives the same order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollationDefinition {
    /// The locale, as Tarantool writes it: `de_DE_u_co_phonebk`. Empty for the order of all languages.
    pub locale: String,
    /// Its options, by name, both in small letters. An option with the value `default` is left out.
    pub options: BTreeMap<String, String>,
}

/// A collation that can be carried out. Equality and order are those of the definition.
#[derive(Clone)]
pub struct Collation {
    inner: Arc<Inner>,
}

struct Inner {
    definition: CollationDefinition,
    collator: CollatorBorrowed<'static>,
}

impl Collation {
    /// Prepares a collation.
    ///
    /// # Errors
    /// What about it cannot be carried out, to follow "has a collation".
    pub fn new(definition: CollationDefinition) -> Result<Collation, String> {
        let (mut preferences, locale) = preferences(&definition.locale)?;
        let mut options = CollatorOptions::default();
        for (name, value) in &definition.options {
            set_option(&mut options, &mut preferences, name, value, &locale)?;
        }
        let collator = CollatorBorrowed::try_new(preferences, options)
            .map_err(|error| format!("for which there is no data ({error})"))?;
        Ok(Collation { inner: Arc::new(Inner { definition, collator }) })
    }

    /// Appends the sort key of a text. Bytes that are not UTF-8 count as U+FFFD, as in ICU.
    pub fn put_sort_key(&self, text: &[u8], out: &mut Vec<u8>) {
        let Ok(()) = self.inner.collator.write_sort_key_utf8_to(text, out);
    }
}

/// Returns what a locale asks for, and the locale in its usual form.
fn preferences(locale: &str) -> Result<(CollatorPreferences, String), String> {
    let not_understood = || format!("with the locale \"{}\", which is not understood", locale.escape_debug());
    let tag = if matches!(locale, "" | "root") { "und".to_owned() } else { locale.replace('_', "-") };
    let parsed: Locale = tag.parse().map_err(|_| not_understood())?;
    let extensions = &parsed.extensions;
    let is_plain = parsed.id.variants.is_empty()
        && extensions.transform.is_empty()
        && extensions.private.is_empty()
        && extensions.other.is_empty()
        && extensions.unicode.attributes.is_empty();
    let mut unsupported = extensions.unicode.keywords.iter().filter(|(key, _)| key.as_str() != "co");
    if !is_plain || unsupported.next().is_some() {
        return Err(not_understood());
    }
    for (_, kind) in extensions.unicode.keywords.iter() {
        let kind = kind.to_string();
        if TYPES_MISSING.contains(&kind.as_str()) {
            return Err(format!("in the order {kind}, which ICU4X does not have"));
        }
    }
    if LANGUAGES_MISSING.contains(&parsed.id.language.as_str()) {
        return Err(format!("for the language {}, whose order ICU4X does not have", parsed.id.language));
    }
    Ok(((&parsed).into(), parsed.id.to_string()))
}

fn set_option(
    options: &mut CollatorOptions,
    preferences: &mut CollatorPreferences,
    name: &str,
    value: &str,
    locale: &str,
) -> Result<(), String> {
    let is_backwards = locale == LOCALE_BACKWARDS;
    match (name, value) {
        ("strength", "primary") => options.strength = Some(Strength::Primary),
        ("strength", "secondary") => options.strength = Some(Strength::Secondary),
        ("strength", "tertiary") => options.strength = Some(Strength::Tertiary),
        ("strength", "quaternary") => options.strength = Some(Strength::Quaternary),
        ("strength", "identical") => options.strength = Some(Strength::Identical),
        ("alternate_handling", "non_ignorable") => {
            options.alternate_handling = Some(AlternateHandling::NonIgnorable);
        }
        ("alternate_handling", "shifted") => options.alternate_handling = Some(AlternateHandling::Shifted),
        ("case_level", "on") => options.case_level = Some(CaseLevel::On),
        ("case_level", "off") => options.case_level = Some(CaseLevel::Off),
        ("case_first", "upper_first") => preferences.case_first = Some(CollationCaseFirst::Upper),
        ("case_first", "lower_first") => preferences.case_first = Some(CollationCaseFirst::Lower),
        ("case_first", "off") => preferences.case_first = Some(CollationCaseFirst::False),
        ("numeric_collation", "on") => preferences.numeric_ordering = Some(CollationNumericOrdering::True),
        ("numeric_collation", "off") => preferences.numeric_ordering = Some(CollationNumericOrdering::False),
        // Text in any form of Unicode is compared as its normal form, whether that is asked for or not.
        ("normalization_mode", "on" | "off") => {}
        ("french_collation", "on") if is_backwards => {}
        ("french_collation", "off") if !is_backwards => {}
        _ => return Err(format!("with {name} = {value}, which ICU4X does not have")),
    }
    Ok(())
}

impl fmt::Debug for Collation {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.inner.definition.fmt(out)
    }
}

impl PartialEq for Collation {
    fn eq(&self, other: &Collation) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) || self.inner.definition == other.inner.definition
    }
}

impl Eq for Collation {}

impl PartialOrd for Collation {
    fn partial_cmp(&self, other: &Collation) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Collation {
    fn cmp(&self, other: &Collation) -> Ordering {
        self.inner.definition.cmp(&other.inner.definition)
    }
}

impl Hash for Collation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.definition.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Random;

    /// Letters with all kinds of rules: accents in any order, syllables, vowels before their consonant,
    /// digits, ignorable characters, contractions.
    const LETTERS: [&str; 40] = [
        "a",
        "A",
        "b",
        "ch",
        "c",
        "h",
        "ä",
        "ae",
        "ss",
        "ß",
        "\u{301}",
        "\u{308}",
        "\u{323}",
        "\u{302}",
        "\0",
        "\u{1}",
        " ",
        "-",
        "_",
        "1",
        "10",
        "2",
        "\u{200d}",
        "\u{fffd}",
        "\u{10ffff}",
        "เ",
        "ก",
        "가",
        "\u{1100}",
        "\u{1161}",
        "かー",
        "カ",
        "\u{3099}",
        "中",
        "क्",
        "ष",
        "ا",
        "л",
        "Л",
        "😀",
    ];

    #[test]
    fn sort_keys_compare_as_the_texts_do() {
        let option = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let mut random = Random::new(31);
        for (locale, options) in [
            ("", option("strength", "primary")),
            ("", option("strength", "identical")),
            ("", option("alternate_handling", "shifted")),
            ("de_u_co_phonebk", option("strength", "quaternary")),
            ("cs", option("case_first", "upper_first")),
            ("fr_CA", option("case_level", "on")),
            ("th", BTreeMap::new()),
            ("ko", option("numeric_collation", "on")),
            ("ja", option("strength", "quaternary")),
            ("zh", option("strength", "secondary")),
            ("vi", BTreeMap::new()),
        ] {
            let collation =
                Collation::new(CollationDefinition { locale: locale.to_owned(), options }).unwrap();
            let mut text = || -> String { (0..random.below(6)).map(|_| *random.pick(&LETTERS)).collect() };
            for _ in 0..4000 {
                let (one, two) = (text(), text());
                let [key, other] = [&one, &two].map(|text| {
                    let mut key = Vec::new();
                    collation.put_sort_key(text.as_bytes(), &mut key);
                    key
                });
                let compared = collation.inner.collator.compare(&one, &two);
                assert_eq!(key.cmp(&other), compared, "{locale}: {one:?} and {two:?}");
            }
        }
    }
}
