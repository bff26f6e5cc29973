//! Saved queries: names for questions, as the user gave them. A text file in `user/`, which backups store as it is.
//!
//! In: names and queries. Out: a file that is replaced as a whole, under a lock. The format is in docs/FORMAT.md. What a query asks is checked by
//! whoever saves it. Must not know the language of queries.

use crate::environment::Environment;
use crate::error::{Error, Result};
use disk::{Lock, Wait};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The file's name.
const FILE: &str = "queries";
/// The file whose lock whoever writes holds.
const LOCK: &str = "queries.lock";
/// The first line: what it is, and the version of the format.
const HEADER: &str = "pneu-queries 1";
/// What begins the first line of every version.
const HEADER_START: &str = "pneu-queries ";
/// Longest name in bytes.
pub const QUERY_NAME_BYTES_MAX: usize = 64;

/// Returns all saved queries by their names.
///
/// # Errors
/// The file cannot be read or is damaged; it is of a newer version.
pub fn saved_queries(environment: &Environment) -> Result<BTreeMap<String, String>> {
    match export_queries(environment)? {
        Some(bytes) => parse(&bytes, path(environment)),
        None => Ok(BTreeMap::new()),
    }
}

/// Changes the saved queries: `change` is given those that there are, and says whether to save what it made of them. Returns whether that was done.
///
/// # Errors
/// As [`saved_queries`]; a name that is none; a full disk, a data directory that cannot be written: then nothing was changed.
pub fn change_queries(
    environment: &Environment,
    change: &mut dyn FnMut(&mut BTreeMap<String, String>) -> bool,
) -> Result<bool> {
    let _lock = lock(environment)?;
    let mut queries = saved_queries(environment)?;
    if !change(&mut queries) {
        return Ok(false);
    }
    let mut text = format!("{HEADER}\n");
    for (name, query) in &queries {
        check_query_name(name).map_err(|what| Error::QueryName { name: name.clone(), what })?;
        // White space parts words, whichever it is; what a line cannot hold is none of a query.
        let query: String = query.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.push_str(&format!("{name}\t{}\n", query.trim()));
    }
    publish(environment, text.as_bytes())?;
    Ok(true)
}

/// Returns the bytes of the file, for backups; none if nothing was ever saved.
///
/// # Errors
/// The file cannot be read.
pub fn export_queries(environment: &Environment) -> Result<Option<Vec<u8>>> {
    match environment.disk.read(&path(environment)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes in saved queries as they were exported, byte for byte, where none were ever saved. Returns how many those are; none if there
/// are some.
///
/// # Errors
/// The file is damaged or of a newer version: then nothing was changed. As [`change_queries`].
pub fn import_queries(environment: &Environment, bytes: &[u8]) -> Result<Option<usize>> {
    if export_queries(environment)?.is_some() {
        return Ok(None);
    }
    let count = parse(bytes, path(environment))?.len();
    let _lock = lock(environment)?;
    if export_queries(environment)?.is_some() {
        return Ok(None);
    }
    publish(environment, bytes)?;
    Ok(Some(count))
}

/// Says whether text can be the name of a saved query.
///
/// # Errors
/// A sentence that says why not.
pub fn check_query_name(name: &str) -> std::result::Result<(), String> {
    if name.is_empty() {
        Err("a name has at least one character".to_owned())
    } else if name.len() > QUERY_NAME_BYTES_MAX {
        Err(format!("a name has at most {QUERY_NAME_BYTES_MAX} bytes"))
    } else if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-')) {
        Err("a name has letters, digits, . _ and - only".to_owned())
    } else if name.starts_with('-') {
        Err("a name does not begin with -".to_owned())
    } else {
        Ok(())
    }
}

fn path(environment: &Environment) -> PathBuf {
    environment.user_directory().join(FILE)
}

fn lock(environment: &Environment) -> Result<Lock> {
    let directory = environment.user_directory();
    environment.disk.create_directory(&directory)?;
    Ok(environment.disk.lock(&directory.join(LOCK), &environment.holder, Wait::Block)?)
}

fn publish(environment: &Environment, bytes: &[u8]) -> Result<()> {
    let directory = environment.user_directory();
    Ok(disk::publish(environment.disk.as_ref(), &directory, FILE, bytes)?)
}

fn parse(bytes: &[u8], path: PathBuf) -> Result<BTreeMap<String, String>> {
    let wrong =
        |line: usize, what: &str| Err(Error::QueryText { path: path.clone(), line, what: what.to_owned() });
    let Ok(text) = std::str::from_utf8(bytes) else { return wrong(1, "it is no text in UTF-8") };
    let mut lines = (1..).zip(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
    match lines.next() {
        Some((_, HEADER)) => {}
        Some((_, line)) if line.starts_with(HEADER_START) => {
            return wrong(1, "it was written by a newer pneu, which is needed to read it");
        }
        _ => return wrong(1, "it does not begin with \"pneu-queries 1\""),
    }
    let mut queries = BTreeMap::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let Some((name, query)) = line.split_once('\t') else {
            return wrong(number, "there is no tab between a name and a query");
        };
        if let Err(what) = check_query_name(name) {
            return wrong(number, &what);
        }
        if queries.insert(name.to_owned(), query.to_owned()).is_some() {
            return wrong(number, "its name stands there twice");
        }
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> std::result::Result<Vec<(String, String)>, String> {
        match parse(text.as_bytes(), "q".into()) {
            Ok(queries) => Ok(queries.into_iter().collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_file_has_a_line_for_each_query() {
        let pair = |name: &str, query: &str| (name.to_owned(), query.to_owned());
        assert_eq!(parsed("pneu-queries 1\n"), Ok(vec![]));
        let text = "pneu-queries 1\r\nb\tfrom:ana # x\n\n# a comment\na\tx\ty\r\nc\t\n";
        assert_eq!(parsed(text), Ok(vec![pair("a", "x\ty"), pair("b", "from:ana # x"), pair("c", "")]));
        for (text, part) in [
            ("", "line 1 of the saved queries in q: it does not begin with"),
            ("a\tb\n", "it does not begin with"),
            ("pneu-queries 2\n", "a newer pneu"),
            ("pneu-queries 1\na b\n", "line 2 of the saved queries in q: there is no tab"),
            ("pneu-queries 1\na b\tc\n", "letters, digits"),
            (
                "pneu-queries 1\n\na\tb\na\tc\n",
                "line 4 of the saved queries in q: its name stands there twice",
            ),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn names_are_words() {
        for name in ["unread", "größe.1", "a_b-c", "2024", &"x".repeat(QUERY_NAME_BYTES_MAX)] {
            assert_eq!(check_query_name(name), Ok(()), "{name}");
        }
        for name in
            ["", "a b", "a\tb", "-a", "a*", "/a/", "a:b", "(a)", &"x".repeat(QUERY_NAME_BYTES_MAX + 1)]
        {
            assert!(check_query_name(name).is_err(), "{name}");
        }
    }
}
