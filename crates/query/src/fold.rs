//! Folds text, so that spellings that people consider equal become equal. Input: text. Output: text without
//! case and diacritics. Knows nothing of words, fields or queries. The text index and the query language
//! share it, so a change here requires a new index.
//!
//! The steps: compatibility decomposition (NFKD); diacritics and invisible characters are dropped; lower
//! case, and a few letters that Unicode does not decompose; composition (NFC), so that Hangul syllables and
//! voiced kana are one character again. Only marks that are accents to their readers go: those above, below
//! and through a letter, Hebrew points and Arabic vowels. Vowel signs of Indic scripts and Thai tone marks
//! make other words, and stay.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Folds text. Borrows it where nothing changes. Folding twice changes nothing.
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    Cow::Owned(folded)
}

/// Appends the folded text.
pub fn fold_into(text: &str, folded: &mut String) {
    if text.is_ascii() {
        folded.extend(text.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        let bare = text.nfkd().filter(|c| !is_dropped(*c));
        folded.extend(bare.flat_map(char::to_lowercase).flat_map(spell_out).nfc());
    }
}

/// Returns whether the character is invisible inside a word: it neither ends the word nor is part of it.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
}

/// Returns whether folding drops the character: an accent, a point, or what is invisible.
pub(crate) fn is_dropped(c: char) -> bool {
    // 1: strokes through; 10-36: Hebrew, Arabic, Syriac points; from 200 on: attached, below, above.
    matches!(canonical_combining_class(c), 1 | 10..=36 | 200..=240) || is_ignorable(c)
}

/// Letters that have no decomposition and that people without them on their keyboard write so.
fn spell_out(c: char) -> impl Iterator<Item = char> {
    let spelled: &[char] = match c {
        'ß' => &['s', 's'],
        'æ' => &['a', 'e'],
        'œ' => &['o', 'e'],
        'ø' => &['o'],
        'đ' | 'ð' => &['d'],
        'ħ' => &['h'],
        'ı' => &['i'],
        'ł' => &['l'],
        'ŧ' => &['t'],
        'þ' => &['t', 'h'],
        'ς' => &['σ'],
        _ => &[],
    };
    let same = spelled.is_empty().then_some(c);
    spelled.iter().copied().chain(same)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_that_people_take_for_the_same() {
        for (text, expected) in [
            ("Hello", "hello"),
            ("Ångström", "angstrom"),
            ("A\u{30a}ngstro\u{308}m", "angstrom"),
            ("ĐẶNG", "dang"),
            ("Straße", "strasse"),
            ("STRAẞE", "strasse"),
            ("Ærøskøbing", "aeroskobing"),
            ("œuvre", "oeuvre"),
            ("Łódź", "lodz"),
            ("Þór", "thor"),
            ("İstanbul", "istanbul"),
            ("ırmak", "irmak"),
            ("ΟΔΟΣ οδός", "οδοσ οδοσ"),
            ("Ёлка", "елка"),
            ("ﬁle", "file"),
            ("ＷＩＤＥ", "wide"),
            ("m²", "m2"),
            ("co\u{ad}operate", "cooperate"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            // Other words, not accents: vowel signs, tones, voiced kana, Hangul.
            ("कि", "कि"),
            ("น้ำ", "น้ํา"),
            ("がぎ", "がぎ"),
            ("ｶﾞ", "ガ"),
            ("한글", "한글"),
        ] {
            assert_eq!(fold(text), expected, "{text}");
        }
    }

    #[test]
    fn text_that_is_folded_already_is_borrowed() {
        assert!(matches!(fold("plain text 12"), Cow::Borrowed(_)));
        assert!(matches!(fold(""), Cow::Borrowed(_)));
    }

    #[test]
    fn folding_any_one_character_twice_changes_nothing() {
        for c in '\0'..=char::MAX {
            let once = fold(c.encode_utf8(&mut [0; 4])).into_owned();
            assert_eq!(fold(&once), once, "U+{:04X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(
            text in "\\PC{0,20}|[a-zA-Zà-ž\u{300}-\u{36f}\u{5b0}-\u{5ea}]{0,12}",
        ) {
            let once = fold(&text).into_owned();
            prop_assert_eq!(fold(&once), once.as_str());
        }

        #[test]
        fn the_short_way_for_ascii_gives_what_the_long_way_gives(text in "[ -~]{0,40}") {
            let long: String = text.nfkd().flat_map(char::to_lowercase).flat_map(spell_out).nfc().collect();
            prop_assert_eq!(fold(&text), long);
        }
    }
}
