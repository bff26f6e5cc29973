//! Whether a name or an address contains all words.
//!
//! Input: words; the bytes of names and addresses. Output: yes or no. Most names are ASCII: they are compared
//! in a buffer of their own, since folding each text anew takes five times as long.

use memchr::memmem::Finder;
use query::fold::fold;

/// Words that a name or an address must contain.
pub(super) struct Matching {
    words: Vec<Finder<'static>>,
    name: Vec<u8>,
}

impl Matching {
    /// Takes the words. White space separates words, so that other programs may give all of them as one.
    pub(super) fn new(words: &[String]) -> Matching {
        let folded =
            words.iter().flat_map(|text| text.split_whitespace()).map(|word| fold(word).into_owned());
        // Text that vanishes when it is folded says nothing.
        let folded = folded.filter(|word| !word.is_empty());
        Matching { words: folded.map(|word| Finder::new(&word).into_owned()).collect(), name: Vec::new() }
    }

    /// Returns whether there is no word to look for.
    pub(super) fn is_everyone(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns whether each word is in the name or in the address. `key` is the address in lower case.
    pub(super) fn holds(&mut self, key: &[u8], name: &[u8]) -> bool {
        if !key.is_ascii() || !name.is_ascii() {
            let folded = [key, name].map(|text| fold(&String::from_utf8_lossy(text)).into_owned());
            return self
                .words
                .iter()
                .all(|word| folded.iter().any(|text| word.find(text.as_bytes()).is_some()));
        }
        self.name.clear();
        self.name.extend_from_slice(name);
        self.name.make_ascii_lowercase();
        self.words.iter().all(|word| word.find(key).is_some() || word.find(&self.name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_in_the_name_or_in_the_address() {
        for (words, expected) in [
            (&[][..], true),
            (&["ANA"], true),
            (&["ito", "example"], true),
            (&["ana ito"], true),
            (&["ana\tbo"], false),
            (&["ana@example"], true),
            (&["a i"], true),
            (&["\u{200d}"], true),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut matching = Matching::new(&words);
            assert_eq!(matching.holds(b"ana@example.org", b"Ana ITO"), expected, "{words:?}");
            assert_eq!(matching.holds(b"ana@example.org", "Ána ÍTØ".as_bytes()), expected, "{words:?}");
        }
        assert!(Matching::new(&[" ".to_owned()]).is_everyone());
        assert!(!Matching::new(&["x".to_owned()]).holds(b"\xff", b""));
    }
}
