//! Takes a command apart into words, without a shell; and writes a path so that a shell takes it for one
//! word.
//!
//! In: a line as a user writes it, a path. Out: words, a word. White space separates; '...' is kept as it is;
//! in "..." a backslash takes its meaning from \ and "; elsewhere a backslash takes the meaning from whatever
//! follows. Nothing else means anything: no variables, patterns, pipes. Must not know what is run.

use std::path::Path;

/// Returns the words of a line, at least one.
///
/// # Errors
/// A sentence.
pub(crate) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            '\'' => quoted(&mut rest, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut rest, '"', word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(rest.next().ok_or("a command ends in a backslash")?),
            character if character.is_whitespace() => words.extend(word.take()),
            character => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    if words.is_empty() { Err("a command needs a word".to_owned()) } else { Ok(words) }
}

fn quoted(rest: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next() {
            None => return Err(format!("a command has a {quote} without an end")),
            Some(character) if character == quote => return Ok(()),
            Some('\\') if quote == '"' => match rest.next() {
                Some(character @ ('"' | '\\')) => word.push(character),
                other => word.extend(std::iter::once('\\').chain(other)),
            },
            Some(character) => word.push(character),
        }
    }
}

/// Returns a path as one word for a shell.
pub(crate) fn quoted_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | '@' | '%');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_path_is_one_word() {
        for (path, expected) in [
            ("/home/ana/Größe_1.x-y", "/home/ana/Größe_1.x-y"),
            ("/a b", "'/a b'"),
            ("/$(id);`x`", "'/$(id);`x`'"),
            ("/it's", r"'/it'\''s'"),
            ("~", "'~'"),
            ("", "''"),
        ] {
            assert_eq!(quoted_path(Path::new(path)), expected);
            if !path.contains('\'') {
                assert_eq!(split(&quoted_path(Path::new(path))).unwrap(), [path]);
            }
        }
    }

    #[test]
    fn words_end_at_spaces_that_nothing_quotes() {
        for (line, expected) in [
            ("less", &["less"][..]),
            ("  grep  -l\turgent ", &["grep", "-l", "urgent"]),
            ("a 'b c' d", &["a", "b c", "d"]),
            (r#"a "b \"c\" \\ \n" d"#, &["a", r#"b "c" \ \n"#, "d"]),
            (r"a\ b \'c\' \\", &["a b", "'c'", r"\"]),
            ("x='1 2'\"3 4\"5", &["x=1 23 45"]),
            ("'' \"\"", &["", ""]),
            ("$HOME *.c | cat; a", &["$HOME", "*.c", "|", "cat;", "a"]),
        ] {
            assert_eq!(split(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn unfinished_lines_are_refused() {
        for line in ["", "  ", "a 'b", "a \"b", "a\\", "a \"b\\"] {
            assert!(split(line).is_err(), "{line}");
        }
    }
}
