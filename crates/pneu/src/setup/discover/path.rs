//! Paths as mail programs write them.
//!
//! Input: text. Output: absolute paths, or none. A path that needs a command to be run is none.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The values of `~` and the user's name.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) user: Option<&'a str>,
}

impl At<'_> {
    /// Returns the path that `text` means: absolute, or below `~` or `$HOME`. `None` for addresses of
    /// servers, output of commands and other variables.
    pub(super) fn path(&self, text: &str) -> Option<PathBuf> {
        if text.contains(['`', '$', '\0']) || text.contains("://") {
            return self.below_home(text.strip_prefix("$HOME").or_else(|| text.strip_prefix("${HOME}"))?);
        }
        match text.strip_prefix('~') {
            Some(rest) => self.below_home(rest),
            None => text.starts_with('/').then(|| plain(Path::new(text))),
        }
    }

    fn below_home(&self, rest: &str) -> Option<PathBuf> {
        if rest.contains(['`', '$', '\0']) || !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        Some(plain(&self.home?.join(rest.trim_start_matches('/'))))
    }
}

/// Returns a path without `.`, doubled slashes and a slash at the end; without `..`, too, if a name is before
/// it.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(AsRef::<OsStr>::as_ref(&other)),
        }
    }
    plain
}

/// Returns the words of a line: white space separates, quotes join, a backslash makes the next character
/// plain, `comment` begins a comment. A command in backticks is one word that keeps them. An unclosed quote
/// ends with the line.
pub(super) fn words(line: &str, comment: char) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match (quote, character) {
            (Some('`'), character) => {
                word.get_or_insert_default().push(character);
                quote = quote.filter(|_| character != '`');
            }
            (Some(open), character) if character == open => quote = None,
            (Some('\''), character) => word.get_or_insert_default().push(character),
            (_, '\\') => word.get_or_insert_default().extend(rest.next()),
            (Some(_), character) => word.get_or_insert_default().push(character),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '`') => {
                quote = Some(character);
                word.get_or_insert_default().push(character);
            }
            (None, character) if character.is_whitespace() => words.extend(word.take()),
            (None, character) if character == comment && word.is_none() => break,
            (None, character) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_counts() {
        let at = At { home: Some(Path::new("/home/ana")), user: None };
        for (text, expected) in [
            ("/srv/mail/", Some("/srv/mail")),
            ("~/Mail", Some("/home/ana/Mail")),
            ("$HOME/Mail//x/./y", Some("/home/ana/Mail/x/y")),
            ("${HOME}/a/../b", Some("/home/ana/b")),
            ("~", Some("/home/ana")),
            ("~bo/Mail", None),
            ("$HOMEX/a", None),
            ("$MAIL", None),
            ("~/`id`", None),
            ("$HOME/$(id)", None),
            ("imaps://host/INBOX", None),
            ("Mail", None),
            ("", None),
        ] {
            assert_eq!(at.path(text), expected.map(PathBuf::from), "{text}");
        }
        assert_eq!(At { home: None, user: None }.path("~/Mail"), None);
    }

    #[test]
    fn words_are_held_together_by_quotes() {
        for (line, expected) in [
            ("Path ~/Mail/ # here", &["Path", "~/Mail/"][..]),
            ("Path \"~/My Mail/\"", &["Path", "~/My Mail/"]),
            (r"a\ b 'c \' d#e", &["a b", r"c \", "d#e"]),
            ("'open \"end", &["open \"end"]),
            ("x \\", &["x", ""]),
            ("a `b 'c` d", &["a", "`b 'c`", "d"]),
            ("# nothing", &[]),
        ] {
            assert_eq!(words(line, '#'), expected, "{line}");
        }
    }
}
