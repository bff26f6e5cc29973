//! Paths into a field of a tuple, such as `a.b[3]['c d']`.
//!
//! Parses a path into steps, and follows them to a value. Does not depend on the use of that value.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::msgpack::{Class, Reader, Result};

/// The most steps of a path. Code that follows a path recurses once per step.
const STEPS_MAX: usize = 256;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// To a value of an array, counted from 0. Paths themselves count from 1.
    Index(u32),
    /// To a value of a map.
    Key(Vec<u8>),
    /// To every value of an array.
    Every,
}

/// Parses the steps of a path. Also returns whether all of the text was understood, or only the part before a
/// mistake.
pub(crate) fn steps(text: &str) -> (Vec<PathStep>, Understood) {
    let mut rest = text;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        match step(rest, steps.is_empty()) {
            Some((step, behind)) if steps.len() < STEPS_MAX => {
                steps.push(step);
                rest = behind;
            }
            _ => return (steps, Understood::UpToMistake),
        }
    }
    (steps, Understood::Whole)
}

/// How much of a path was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Understood {
    /// All of it.
    Whole,
    /// The steps before a mistake.
    UpToMistake,
}

fn step(text: &str, is_first: bool) -> Option<(PathStep, &str)> {
    if let Some(inside) = text.strip_prefix('[') {
        return bracketed(inside);
    }
    let name = match text.strip_prefix('.') {
        Some(name) => name,
        None if is_first => text,
        None => return None,
    };
    let is_name = |letter: char| letter == '_' || letter.is_alphanumeric();
    let end = name.find(|letter| !is_name(letter)).unwrap_or(name.len());
    let (name, rest) = name.split_at(end);
    let begins_well = name.chars().next().is_some_and(|letter| letter == '_' || letter.is_alphabetic());
    begins_well.then(|| (PathStep::Key(name.as_bytes().to_vec()), rest))
}

fn bracketed(inside: &str) -> Option<(PathStep, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (key, rest) = quoted.split_once(quote)?;
            let rest = rest.strip_prefix(']')?;
            return (!key.is_empty()).then(|| (PathStep::Key(key.as_bytes().to_vec()), rest));
        }
    }
    let (index, rest) = inside.split_once(']')?;
    if index == "*" {
        return Some((PathStep::Every, rest));
    }
    let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| index.parse::<u32>().ok()).flatten()?;
    Some((PathStep::Index(number.checked_sub(1)?), rest))
}

/// Follows `path` from the value at the reader's position. Returns `None` if there is no such value.
///
/// # Errors
/// If values on the way are cut off.
pub(crate) fn follow<'a>(mut reader: Reader<'a>, path: &[PathStep]) -> Result<Option<Reader<'a>>> {
    for step in path {
        let found = match (step, reader.peek()?) {
            (PathStep::Index(index), Class::Array) => {
                let length = reader.array_len()?;
                if *index < length {
                    reader.skip_many(u64::from(*index))?;
                }
                *index < length
            }
            (PathStep::Key(key), Class::Map) => go_to_key(&mut reader, key)?,
            _ => false,
        };
        if !found {
            return Ok(None);
        }
    }
    Ok(Some(reader))
}

/// Moves to the value of `key` in the map at the reader's position. Returns whether there is one.
fn go_to_key(reader: &mut Reader, key: &[u8]) -> Result<bool> {
    for _ in 0..reader.map_len()? {
        if reader.peek()? == Class::String {
            if reader.str()? == key {
                return Ok(true);
            }
        } else {
            reader.skip()?;
        }
        reader.skip()?;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> PathStep {
        PathStep::Key(name.as_bytes().to_vec())
    }

    #[test]
    fn paths_are_steps() {
        let whole = [
            ("", vec![]),
            ("a", vec![key("a")]),
            (".a", vec![key("a")]),
            ("a.b_2[3]", vec![key("a"), key("b_2"), PathStep::Index(2)]),
            ("[1][*].ü", vec![PathStep::Index(0), PathStep::Every, key("ü")]),
            ("['a b'][\"c'd\"].e", vec![key("a b"), key("c'd"), key("e")]),
        ];
        for (text, expected) in whole {
            assert_eq!(steps(text), (expected, Understood::Whole), "{text}");
        }
        for text in ["a.", "a..b", "a[", "a[0]", "a[1", "a['b]", "a['']", "a.1", "a[x]", "a[4294967296]"] {
            assert_eq!(steps(text), (vec![key("a")], Understood::UpToMistake), "{text}");
        }
        let deepest = "a".to_owned() + &".a".repeat(STEPS_MAX - 1);
        assert_eq!(steps(&deepest), (vec![key("a"); STEPS_MAX], Understood::Whole));
        assert_eq!(steps(&(deepest + ".a")), (vec![key("a"); STEPS_MAX], Understood::UpToMistake));
        assert_eq!(steps("[1]b"), (vec![PathStep::Index(0)], Understood::UpToMistake));
    }

    #[test]
    fn a_path_leads_to_a_value_or_to_nothing() {
        // [7, {"a": [1, 2], 5: 6, "b": {"c": "x"}}]
        let bytes = b"\x92\x07\x83\xa1a\x92\x01\x02\x05\x06\xa1b\x81\xa1c\xa1x";
        let at =
            |path: &str| follow(Reader::new(bytes), &steps(path).0).unwrap().map(|reader| reader.rest()[0]);
        assert_eq!(at(""), Some(0x92));
        assert_eq!(at("[1]"), Some(7));
        assert_eq!(at("[2].a[2]"), Some(2));
        assert_eq!(at("[2].b.c"), Some(0xa1));
        for nothing in ["[3]", "[2].c", "[2].a[3]", "[1].a", "[2][1]", "[2].b.c.d", "[2].a[*]"] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
        assert!(follow(Reader::new(&bytes[..5]), &steps("[2].b").0).is_err());
    }
}
