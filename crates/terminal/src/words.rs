//! Splits a command into words, without a shell, and quotes a path for a shell.
//!
//! White space separates words. Text in '...' is taken literally. In "..." a backslash escapes \ and ";
//! elsewhere it escapes any character. Nothing else has a meaning: no variables, patterns or pipes.

use std::path::Path;

/// Returns the words of a line, at least one.
///
/// # Errors
/// A sentence.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            '\'' => quoted(&mut rest, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut rest, '"', word.get_or_insert_default())?,
            '\\' => {
                word.get_or_insert_default().push(rest.next().ok_or("the command ends with a backslash")?);
            }
            character if character.is_whitespace() => words.extend(word.take()),
            character => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    if words.is_empty() { Err("the command is empty".to_owned()) } else { Ok(words) }
}

fn quoted(rest: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next() {
            None => return Err(format!("the command has an unclosed {quote}")),
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
pub fn quoted_path(path: &Path) -> String {
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
