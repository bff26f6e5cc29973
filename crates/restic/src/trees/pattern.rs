//! Patterns for paths, with restic's meaning: `*.pdf`, `cur/17*`, `/home/ana/**/new`.
//!
//! Returns whether a pattern matches a path, and whether it may match anything below the path.
//!
//! A pattern is one or more names separated by slashes. Each name is matched against one name of the path:
//! `*` stands for any characters, `?` for one, `[a-z]` and `[^a-z]` for one of a set; a backslash takes the
//! special meaning from the next character. `**` as a whole name stands for any number of names. A pattern
//! that begins with a slash begins at the top, any other pattern anywhere. If a pattern matches a directory,
//! it matches everything below it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether capitals are other letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// They are.
    Matters,
    /// They are not.
    Ignored,
}

/// A pattern as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
    begins_at_top: bool,
    case: Case,
}

/// A matcher for one name of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// `**`: any number of names.
    Names,
    /// One name.
    Name(Name),
}

/// A matcher for the characters of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    signs: Vec<Sign>,
    /// The first and last bytes of every matching name. These reject nearly all of a million names.
    start: Vec<u8>,
    end: Vec<u8>,
}

/// A matcher for characters.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sign {
    /// Any of them, any number.
    Any,
    /// One.
    One,
    /// This one.
    Letter(Letter),
    /// One between two, or one that is between none.
    Set { ranges: Vec<(Letter, Letter)>, is_turned: bool },
}

/// A character, or a byte that is part of none, sorted after all characters.
type Letter = u32;
/// The first byte that is part of no character.
const BYTES: Letter = char::MAX as Letter + 1;

/// A path on its way through a pattern: which parts may come next.
#[derive(Clone, Debug, Default)]
struct Places {
    /// For each part, and for the end.
    open: Vec<bool>,
}

/// A set of patterns, of which any one may match.
///
/// Each thread remembers how far the last directory's path led: names of one directory come one after the
/// other.
#[derive(Debug)]
pub struct Patterns {
    patterns: Vec<Pattern>,
    /// Distinguishes what a thread remembers for this set from that for other sets.
    number: u64,
}

/// What a thread remembers.
#[derive(Default)]
struct Last {
    number: u64,
    directory: Vec<u8>,
    places: Vec<Places>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

impl Patterns {
    /// Takes patterns.
    pub fn new(patterns: Vec<Pattern>) -> Patterns {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Patterns { patterns, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// Returns whether the pattern matches that name in that directory.
    pub fn matches(&self, directory: &[u8], name: &[u8]) -> bool {
        LAST.with_borrow_mut(|last| {
            if last.number != self.number || last.directory != directory {
                last.number = self.number;
                last.directory.clear();
                last.directory.extend_from_slice(directory);
                last.places = self.patterns.iter().map(|pattern| pattern.through(directory)).collect();
            }
            let mut each = self.patterns.iter().zip(&last.places);
            each.any(|(pattern, places)| pattern.matches_in(places, name))
        })
    }

    /// Returns whether the pattern may match anything below the directory at that path.
    pub fn may_hold(&self, path: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.may_hold(path))
    }
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A sentence: it is empty, or a set in it has no end.
    pub fn parse(text: &[u8], case: Case) -> Result<Pattern, String> {
        let names = text.split(|&byte| byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
        let parts = names
            .map(|name| if name == b"**" { Ok(Part::Names) } else { part(name, case) })
            .collect::<Result<Vec<Part>, String>>();
        let shown = String::from_utf8_lossy(text);
        let parts = parts.map_err(|what| format!("pattern \"{shown}\": {what}"))?;
        if parts.is_empty() {
            return Err(format!("pattern \"{shown}\" names nothing; all files are meant by \"*\""));
        }
        Ok(Pattern { parts, begins_at_top: text.first() == Some(&b'/'), case })
    }

    /// Returns whether the pattern matches a path such as "/home/ana/1:2,S".
    pub fn matches(&self, path: &[u8]) -> bool {
        self.through(path).open.last() == Some(&true)
    }

    /// Returns whether the pattern may match anything below the directory at that path.
    pub fn may_hold(&self, path: &[u8]) -> bool {
        !self.begins_at_top || self.through(path).open.contains(&true)
    }

    /// Returns whether the pattern matches that name in a directory; `places` are where the directory's path
    /// leads.
    fn matches_in(&self, places: &Places, name: &[u8]) -> bool {
        if places.open.last() == Some(&true) {
            return true;
        }
        // Only the last name can end it: all names may stand between, none has to.
        let last = self.parts.iter().rposition(|part| *part != Part::Names);
        last.is_some_and(|last| {
            places.open[last] && matches!(&self.parts[last], Part::Name(part) if part.fits(name, self.case))
        })
    }

    fn through(&self, path: &[u8]) -> Places {
        let mut places = Places { open: vec![false; self.parts.len() + 1] };
        self.enter(&mut places, 0);
        for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            let before = std::mem::replace(&mut places.open, vec![false; self.parts.len() + 1]);
            for (number, _) in before.iter().enumerate().filter(|(_, is_open)| **is_open) {
                match self.parts.get(number) {
                    Some(Part::Names) => self.enter(&mut places, number),
                    Some(Part::Name(part)) if part.fits(name, self.case) => {
                        self.enter(&mut places, number + 1);
                    }
                    Some(Part::Name(_)) => {}
                    // What lies below is meant too.
                    None => self.enter(&mut places, number),
                }
            }
            if !self.begins_at_top {
                self.enter(&mut places, 0);
            }
        }
        places
    }

    /// Opens a place, and those after it if nothing must lie between.
    fn enter(&self, places: &mut Places, first: usize) {
        let mut number = first;
        loop {
            places.open[number] = true;
            if self.parts.get(number) != Some(&Part::Names) {
                return;
            }
            number += 1;
        }
    }
}

/// Reads one name of a pattern.
fn part(name: &[u8], case: Case) -> Result<Part, String> {
    let mut signs = Vec::new();
    let mut rest = letters(name, case).into_iter();
    let is = |letter: Letter, sign: char| letter == sign as Letter;
    while let Some(letter) = rest.next() {
        signs.push(match letter {
            _ if is(letter, '*') => Sign::Any,
            _ if is(letter, '?') => Sign::One,
            _ if is(letter, '[') => set(&mut rest)?,
            _ if is(letter, '\\') => Sign::Letter(rest.next().ok_or("nothing follows the last backslash")?),
            _ => Sign::Letter(letter),
        });
    }
    signs.dedup_by(|one, other| (&*one, &*other) == (&Sign::Any, &Sign::Any));
    let is_letter = |sign: &&Sign| matches!(sign, Sign::Letter(_));
    let (mut start, mut end) = (Vec::new(), Vec::new());
    if case == Case::Matters {
        start = bytes(signs.iter().take_while(is_letter));
        let at_end = signs.iter().rev().take_while(is_letter).count();
        end = bytes(signs[signs.len() - at_end..].iter());
    }
    Ok(Part::Name(Name { signs, start, end }))
}

/// Returns letters as they stand in names.
fn bytes<'a>(letters: impl Iterator<Item = &'a Sign>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for sign in letters {
        let Sign::Letter(letter) = sign else { continue };
        match char::from_u32(*letter) {
            Some(character) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            // One byte that is part of no character.
            None => bytes.push(u8::try_from(letter.saturating_sub(BYTES)).unwrap_or(u8::MAX)),
        }
    }
    bytes
}

impl Name {
    /// Returns whether it matches a name.
    fn fits(&self, name: &[u8], case: Case) -> bool {
        name.starts_with(&self.start) && name.ends_with(&self.end) && fits(&self.signs, &letters(name, case))
    }
}

/// Reads a set after its bracket.
fn set(rest: &mut std::vec::IntoIter<Letter>) -> Result<Sign, String> {
    const NO_END: &str = "a set has no end: a bracket itself is written \\[";
    let is = |letter: Option<Letter>, sign: char| letter == Some(sign as Letter);
    let one = |rest: &mut std::vec::IntoIter<Letter>| match rest.next() {
        backslash if is(backslash, '\\') => rest.next().ok_or(NO_END),
        letter => letter.ok_or(NO_END),
    };
    let peek = |rest: &std::vec::IntoIter<Letter>| rest.as_slice().first().copied();
    let is_turned = is(peek(rest), '^');
    if is_turned {
        rest.next();
    }
    let mut ranges = Vec::new();
    while ranges.is_empty() || !is(peek(rest), ']') {
        let low = one(rest)?;
        let mut high = low;
        if is(peek(rest), '-') {
            rest.next();
            high = one(rest)?;
        }
        ranges.push((low, high));
    }
    rest.next();
    Ok(Sign::Set { ranges, is_turned })
}

fn letters(name: &[u8], case: Case) -> Vec<Letter> {
    let mut letters = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        match case {
            Case::Matters => letters.extend(chunk.valid().chars().map(Letter::from)),
            Case::Ignored => letters.extend(chunk.valid().to_lowercase().chars().map(Letter::from)),
        }
        letters.extend(chunk.invalid().iter().map(|byte| BYTES + Letter::from(*byte)));
    }
    letters
}

/// Returns whether the signs match a name. Goes back to the last [`Sign::Any`] only, so that no pattern takes
/// more than the product of both lengths.
fn fits(signs: &[Sign], name: &[Letter]) -> bool {
    let (mut sign, mut at) = (0, 0);
    let mut last_any = None;
    while at < name.len() {
        match signs.get(sign) {
            Some(Sign::Any) => {
                last_any = Some((sign, at));
                sign += 1;
                continue;
            }
            Some(one) if is_one(one, name[at]) => {
                (sign, at) = (sign + 1, at + 1);
                continue;
            }
            _ => {}
        }
        let Some((any, begin)) = last_any else { return false };
        last_any = Some((any, begin + 1));
        (sign, at) = (any + 1, begin + 1);
    }
    signs[sign..].iter().all(|sign| *sign == Sign::Any)
}

fn is_one(sign: &Sign, letter: Letter) -> bool {
    match sign {
        Sign::Any => false,
        Sign::One => true,
        Sign::Letter(wanted) => *wanted == letter,
        Sign::Set { ranges, is_turned } => {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter)) != *is_turned
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text.as_bytes(), Case::Matters).unwrap()
    }

    #[test]
    fn names_are_meant_wherever_they_stand() {
        for (text, path, is_meant) in [
            ("1:2,S", "/home/ana/cur/1:2,S", true),
            ("1:2", "/home/ana/cur/1:2,S", false),
            ("1*", "/home/ana/cur/1:2,S", true),
            ("*2*S", "/home/ana/cur/1:2,S", true),
            ("*", "/a", true),
            ("?", "/ä", true),
            ("??", "/ä", false),
            ("[1-3]:2,*", "/cur/2:2,", true),
            ("[^1-3]:2,*", "/cur/2:2,", false),
            ("\\*", "/*", true),
            ("\\*", "/a", false),
            ("[]]", "/]", true),
            ("ana", "/home/ana/cur/1", true),
            ("ana/cur", "/home/ana/cur/1", true),
            ("ana/1", "/home/ana/cur/1", false),
            ("ana/**/1", "/home/ana/cur/1", true),
            ("cur/**/1", "/home/ana/cur/1", true),
            ("cur/**", "/home/ana/cur", true),
            ("/home/*/cur", "/home/ana/cur", true),
            ("/ana", "/home/ana", false),
            ("/**/cur", "/home/ana/cur/1", true),
            ("./cur//", "/home/cur", true),
        ] {
            assert_eq!(pattern(text).matches(path.as_bytes()), is_meant, "{text} {path}");
            let (directory, name) = path.rsplit_once('/').unwrap();
            let among = Patterns::new(vec![pattern("/nowhere"), pattern(text)]);
            for name in [name, "\u{1}", name] {
                let is_meant = pattern(text).matches(format!("{directory}/{name}").as_bytes());
                assert_eq!(among.matches(directory.as_bytes(), name.as_bytes()), is_meant, "{text} {path}");
            }
        }
    }

    #[test]
    fn only_patterns_from_the_top_say_where_nothing_can_be() {
        let top = pattern("/home/*/cur");
        for (path, may) in [
            ("/home", true),
            ("/home/ana", true),
            ("/var", false),
            ("/home/ana/cur/x", true),
            ("/home/ana/new", false),
        ] {
            assert_eq!(top.may_hold(path.as_bytes()), may, "{path}");
        }
        assert!(
            pattern("/home/**/cur").may_hold(b"/home/a/b/c") && !pattern("/home/**/cur").may_hold(b"/var")
        );
        assert!(pattern("cur").may_hold(b"/anywhere"));
    }

    #[test]
    fn capitals_and_bytes_that_are_no_text() {
        let ignoring = Pattern::parse("ÄRGER*".as_bytes(), Case::Ignored).unwrap();
        assert!(ignoring.matches("/ärger.txt".as_bytes()) && !pattern("ÄRGER*").matches("/ärger".as_bytes()));
        assert!(pattern("a?b").matches(b"/a\xffb") && !pattern("a?b").matches(b"/a\xff\xfeb"));
        let byte = Pattern::parse(b"\xff*", Case::Matters).unwrap();
        assert!(byte.matches(b"/\xffx") && !byte.matches(b"/\xfex"));
    }

    #[test]
    fn mistakes_are_sentences_and_long_patterns_end() {
        for text in ["", "/", "a/[b", "a\\", "[^", "[a-"] {
            let said = Pattern::parse(text.as_bytes(), Case::Matters).unwrap_err();
            assert!(said.starts_with(&format!("pattern \"{text}\"")), "{said}");
        }
        let stars = "*a".repeat(60) + "b";
        assert!(!pattern(&stars).matches(format!("/{}", "a".repeat(250)).as_bytes()));
    }
}
