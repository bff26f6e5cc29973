//! How bash reads a line, and how text is quoted for it.
//!
//! bash splits words also at the characters of `COMP_WORDBREAKS`, such as `:` and `=`, and replaces only the
//! part after the last of them. So its script sends the line up to the cursor, and the part that bash will
//! replace.

use std::ffi::OsString;

/// The kind of quotes at a place of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Quote {
    #[default]
    None,
    Single,
    Double,
}

/// The part of the last word that bash replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Replaced {
    /// The part of the word before it, without quotes.
    before: String,
    /// The quote that is open at its beginning.
    quote: Quote,
}

impl Replaced {
    /// Returns the replacement that makes the word `text`.
    pub(super) fn by(&self, text: &str) -> String {
        let rest = text.strip_prefix(&self.before).unwrap_or(text);
        let mut quoted = String::with_capacity(rest.len());
        for character in rest.chars() {
            match (self.quote, character) {
                (Quote::None, _) if !is_plain(character) => quoted.extend(['\\', character]),
                (Quote::Single, '\'') => quoted.push_str(r"'\''"),
                (Quote::Double, '"' | '\\' | '$' | '`') => quoted.extend(['\\', character]),
                // Between these quotes nothing else stops it from being expanded to an earlier command.
                (Quote::Double, '!') => quoted.push_str("\"'!'\""),
                _ => quoted.push(character),
            }
        }
        quoted
    }
}

/// Returns whether bash takes a character literally everywhere in a word.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric()
        || matches!(character, '/' | '.' | '_' | '-' | '+' | ',' | '@' | '%' | ':' | '=')
}

/// Splits a line into the words before the last one, the last one without quotes, and what `last`, the end of
/// the line, is of that. Returns nothing if the line does not end so.
pub(super) fn split(line: &str, last: &str) -> Option<(Vec<OsString>, String, Replaced)> {
    let last_at = line.strip_suffix(last)?.len();
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let (mut quote, mut is_escaped) = (Quote::None, false);
    let mut replaced = None;
    for (at, character) in line.char_indices() {
        if at == last_at {
            replaced = Some(Replaced { before: word.clone().unwrap_or_default(), quote });
        }
        if is_escaped {
            is_escaped = false;
            // In these quotes a backslash before any other character is literal.
            if quote == Quote::Double && !matches!(character, '"' | '\\' | '$' | '`') {
                word.get_or_insert_default().push('\\');
            }
            word.get_or_insert_default().push(character);
            continue;
        }
        match (character, quote) {
            ('\\', Quote::None | Quote::Double) => is_escaped = true,
            ('\'', Quote::None) => quote = Quote::Single,
            ('"', Quote::None) => quote = Quote::Double,
            ('\'', Quote::Single) | ('"', Quote::Double) => quote = Quote::None,
            (' ' | '\t' | '\n', Quote::None) => {
                words.extend(word.take().map(OsString::from));
                continue;
            }
            _ => {
                word.get_or_insert_default().push(character);
                continue;
            }
        }
        word.get_or_insert_default();
    }
    let word = word.unwrap_or_default();
    Some((words, word.clone(), replaced.unwrap_or(Replaced { before: word, quote })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &str, last: &str, text: &str) -> (String, String) {
        let (_, word, replaced) = split(line, last).unwrap();
        (word, replaced.by(text))
    }

    #[test]
    fn lines_are_split_as_bash_does() {
        for (line, words, word) in [
            ("pneu", &[][..], "pneu"),
            ("pneu ", &["pneu"], ""),
            ("pneu  find\ta", &["pneu", "find"], "a"),
            (r#"pneu find 'a b' "c \"d\" \e" f\ g h"#, &["pneu", "find", "a b", r#"c "d" \e"#, "f g"], "h"),
            ("pneu find 'a b", &["pneu", "find"], "a b"),
            ("pneu find '' \"\" x", &["pneu", "find", "", ""], "x"),
            ("pneu find a\\", &["pneu", "find"], "a"),
        ] {
            let (found, last, _) = split(line, "").unwrap();
            assert_eq!((found, last.as_str()), (words.iter().map(OsString::from).collect(), word), "{line}");
        }
        assert_eq!(split("pneu find a", "b"), None);
    }

    #[test]
    fn only_what_bash_replaces_is_returned_and_quoted() {
        for (line, last, text, word, expected) in [
            ("pneu find ta", "ta", "tag:", "ta", "tag:"),
            ("pneu find tag:wo", "wo", "tag:work", "tag:wo", "work"),
            ("pneu find tag:", "", "tag:work", "tag:", "work"),
            ("pneu find --sort=s", "s", "--sort=size", "--sort=s", "size"),
            ("pneu find tag:", "", "tag:$(x) y;z", "tag:", r"\$\(x\)\ y\;z"),
            ("pneu find 'tag:", "tag:", "tag:$(x) y'z", "tag:", r"tag:$(x) y'\''z"),
            ("pneu find tag:'", "", "tag:$(x)", "tag:", "$(x)"),
            ("pneu find \"tag:", "tag:", "tag:$(x)`y`!\"\\", "tag:", "tag:\\$(x)\\`y\\`\"'!'\"\\\"\\\\"),
            ("pneu find ", "", "~x{a,b}*?[c]#&|<>!^", "", r"\~x\{a,b\}\*\?\[c\]\#\&\|\<\>\!\^"),
        ] {
            assert_eq!(completed(line, last, text), (word.to_owned(), expected.to_owned()), "{line}");
        }
    }
}
