//! Parses message IDs in Message-ID, References and In-Reply-To.
//!
//! Input: raw values. Output: IDs without brackets, in order. White space within brackets is removed, because
//! folding puts it there, and an ID must read the same wherever it is named. Does not depend on threads.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::decode::charset::guess;
use crate::limits::{MESSAGE_ID_BYTES_MAX, REFERENCE_COUNT_MAX};
use crate::problem::{Problem, Problems};

/// Returns the ID of a Message-ID field: the first in brackets, or the value up to its first bracket.
pub(crate) fn message_id(value: &[u8]) -> Option<String> {
    let (text, _) = guess(value, None);
    if let Some(id) = bracketed(&text).next() {
        return Some(id);
    }
    let is_around = |character: char| character.is_ascii_whitespace() || "<>\0".contains(character);
    usable(text.trim_matches(is_around).split(['<', '>']).next()?)
}

/// Returns the IDs in a References field, with repetitions. Bare words count only if there are no brackets,
/// and only if they look like an ID.
pub(crate) fn references(value: &[u8]) -> Vec<String> {
    let (text, _) = guess(value, None);
    let ids: Vec<String> = bracketed(&text).collect();
    if !ids.is_empty() {
        return ids;
    }
    let words =
        text.split(|character: char| character.is_ascii_whitespace() || "<>,;()\"\0".contains(character));
    words.filter(|word| has_two_sides(word)).filter_map(usable).collect()
}

/// Returns the IDs in an In-Reply-To field.
///
/// It used to be prose: `Message from Bob <bob@example.org> of Monday <id>`, or `<id> from Bob
/// <bob@example.org>`. An address taken for an ID would join all answers to Bob into one thread, so in prose
/// only the first or the last bracket counts.
pub(crate) fn in_reply_to(value: &[u8]) -> Vec<String> {
    let (text, _) = guess(value, None);
    let mut ids = references(value);
    let mut between =
        text.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(_, between)| between);
    let begins_with_id = text.trim_ascii_start().starts_with('<');
    let is_prose = !begins_with_id || between.any(|between| between.contains(char::is_alphabetic));
    if is_prose && text.contains('<') {
        ids =
            if begins_with_id { ids.into_iter().take(1).collect() } else { ids.pop().into_iter().collect() };
    }
    ids
}

/// Merges the IDs of References and In-Reply-To, each once, at its first position. The parent comes last: the
/// only ID of In-Reply-To, wherever References has it, because some programs put those out of order. Beyond
/// `REFERENCE_COUNT_MAX`, the first is kept, which names the thread, and the last ones, which name the
/// parents.
pub(crate) fn merge(references: Vec<String>, in_reply_to: &[String], problems: &mut Problems) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let parent = if let [parent] = in_reply_to { Some(parent) } else { None };
    let before = references.iter().chain(in_reply_to).filter(|id| Some(*id) != parent);
    let mut ids: Vec<&String> = before.chain(parent).filter(|id| seen.insert(id.as_str())).collect();
    if ids.len() > REFERENCE_COUNT_MAX {
        problems.add(Problem::ReferencesCut);
        let surplus = ids.len().saturating_sub(REFERENCE_COUNT_MAX);
        ids.drain(1..surplus.saturating_add(1));
    }
    ids.into_iter().cloned().collect()
}

/// Returns the IDs in brackets. A bracket that opens before the last one was closed starts a new ID; the one
/// before then ends at its first white space.
fn bracketed(text: &str) -> impl Iterator<Item = String> {
    text.split('<').skip(1).filter_map(|piece| {
        let id = match piece.split_once('>') {
            Some((id, _)) => id,
            None => piece.trim_ascii_start().split_ascii_whitespace().next()?,
        };
        usable(id)
    })
}

fn has_two_sides(word: &str) -> bool {
    word.split_once('@').is_some_and(|(left, right)| !left.is_empty() && !right.is_empty())
}

/// Removes white space, and refuses an ID that is empty or too long.
fn usable(id: &str) -> Option<String> {
    let is_space = |character: char| character.is_ascii_whitespace() || character == '\0';
    let id = if id.contains(is_space) { id.replace(is_space, "") } else { id.to_owned() };
    (!id.is_empty() && id.len() <= MESSAGE_ID_BYTES_MAX).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ids() {
        for (value, expected) in [
            ("<a@b>", Some("a@b")),
            (" <a@b> (comment)", Some("a@b")),
            ("<a\r\n b@c>", Some("ab@c")),
            ("a@b", Some("a@b")),
            ("no at sign", Some("noatsign")),
            ("<a@b", Some("a@b")),
            ("a@b>", Some("a@b")),
            ("a@b>c", Some("a@b")),
            ("=>?utf-8?q?a@b", Some("=")),
            ("a@b < >c", Some("a@b")),
            ("<a@b> <c@d>", Some("a@b")),
            ("<<a@b>>", Some("a@b")),
            ("", None),
            ("<>", None),
            ("< \t>", None),
        ] {
            assert_eq!(message_id(value.as_bytes()).as_deref(), expected, "{value}");
        }
        assert_eq!(message_id(b"<caf\xe9@x>").as_deref(), Some("café@x"));
        assert_eq!(message_id("x".repeat(MESSAGE_ID_BYTES_MAX + 1).as_bytes()), None);
    }

    #[test]
    fn references_are_found_in_junk() {
        for (value, expected) in [
            ("<a@b> <c@d>", vec!["a@b", "c@d"]),
            ("<a@b><c@d>", vec!["a@b", "c@d"]),
            ("<a@b>,\r\n\t<c@d>", vec!["a@b", "c@d"]),
            ("<a@\r\n b> <c@d>", vec!["a@b", "c@d"]),
            ("<a@b <c@d>", vec!["a@b", "c@d"]),
            ("<a@b> <c@d", vec!["a@b", "c@d"]),
            ("a@b c@d", vec!["a@b", "c@d"]),
            ("Your message of Monday <a@b>", vec!["a@b"]),
            ("Message from Ann <ann@x> of Monday <a@b>", vec!["ann@x", "a@b"]),
            ("Your message of Monday", vec![]),
            ("<> < > <a@b>", vec!["a@b"]),
        ] {
            assert_eq!(references(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn an_address_in_prose_is_no_id() {
        for (value, expected) in [
            ("<a@b>", vec!["a@b"]),
            ("<a@b> <c@d>", vec!["a@b", "c@d"]),
            ("Message from Ann <ann@x> of Monday <a@b>", vec!["a@b"]),
            ("<a@b> from Ann <ann@x>", vec!["a@b"]),
            ("<a@b>; from ann@x on Monday", vec!["a@b"]),
            ("a@b", vec!["a@b"]),
            ("Your message of Monday", vec![]),
        ] {
            assert_eq!(in_reply_to(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn references_are_merged() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let mut problems = Problems::default();
        assert_eq!(merge(ids(&["a", "b", "a"]), &ids(&["b", "c"]), &mut problems), ids(&["a", "b", "c"]));
        assert_eq!(merge(ids(&["a", "b", "c"]), &ids(&["b"]), &mut problems), ids(&["a", "c", "b"]));
        assert_eq!(merge(ids(&["a", "b"]), &ids(&["b"]), &mut problems), ids(&["a", "b"]));
        assert_eq!(merge(ids(&[]), &ids(&["b"]), &mut problems), ids(&["b"]));
        assert!(problems.into_list().is_empty());
        let many: Vec<String> = (0..REFERENCE_COUNT_MAX + 10).map(|number| number.to_string()).collect();
        let mut problems = Problems::default();
        let merged = merge(many.clone(), &[], &mut problems);
        assert_eq!(merged.len(), REFERENCE_COUNT_MAX);
        assert_eq!((merged.first(), merged.last()), (many.first(), many.last()));
        assert_eq!(merged.get(1).map(String::as_str), Some("11"));
        assert_eq!(problems.into_list(), [Problem::ReferencesCut]);
    }
}
