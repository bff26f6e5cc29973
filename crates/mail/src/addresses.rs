//! Takes the value of an address field apart (RFC 5322, 3.4, and what is sent instead of it).
//!
//! The raw value comes in, addresses go out in their order. Groups are opened: their members are addresses like others;
//! a group without members (`undisclosed-recipients:;`) becomes an entry with a name and no address. Knows nothing of
//! which field it is.
//!
//! One pass over the bytes with no way back, so that a field of a megabyte costs what it should. Each special character
//! whose counterpart is missing is taken as text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::bytes::cut;
use crate::limits::{ADDRESS_COUNT_MAX, NAME_BYTES_MAX};
use crate::problem::{Problem, Problems};
use crate::words::{decode_words, encoded_word_length, tidy, unfold};

/// One address of a header field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Address {
    /// The display name, or empty.
    pub name: String,
    /// The address itself without brackets; empty for a name alone.
    pub address: String,
}

/// Appends the addresses of one field's value; `ADDRESS_COUNT_MAX` in all.
pub(crate) fn parse_addresses(
    value: &[u8],
    fallback: Option<&'static Encoding>,
    addresses: &mut Vec<Address>,
    problems: &mut Problems,
) {
    let text = unfold(value, fallback, problems);
    let mut reader = Reader {
        rest: &text,
        mailbox: Mailbox::default(),
        gap: Gap::Space,
        lacks: Lacks::default(),
        is_in_group: false,
        group: None,
    };
    while let Some(mailbox) = reader.next_mailbox() {
        let Some(address) = mailbox.into_address(problems) else { continue };
        if addresses.len() >= ADDRESS_COUNT_MAX {
            problems.add(Problem::AddressesCut);
            return;
        }
        addresses.push(address);
    }
}

/// What was read of one mailbox: still encoded, with its quotes and brackets off.
#[derive(Default)]
struct Mailbox<'a> {
    words: Vec<Word<'a>>,
    comments: Vec<&'a str>,
    bracketed: Option<&'a str>,
    /// It is the name of a group.
    is_group: bool,
}

/// A word of a display name, or of an address that stands without brackets.
struct Word<'a> {
    text: Cow<'a, str>,
    is_quoted: bool,
    gap: Gap,
}

/// What stands before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    /// A fold, and nothing but the space that it needs.
    Fold,
    Space,
}

/// Closing characters that are known not to come any more, so that no search for them is done twice.
#[derive(Default)]
struct Lacks {
    quote: bool,
    parenthesis: bool,
    bracket: bool,
    semicolon: bool,
}

struct Reader<'a> {
    rest: &'a str,
    mailbox: Mailbox<'a>,
    gap: Gap,
    lacks: Lacks,
    is_in_group: bool,
    /// The name of the group, until a member was met.
    group: Option<Mailbox<'a>>,
}

impl<'a> Reader<'a> {
    /// Returns the next mailbox, or the name of an empty group; `None` at the end.
    fn next_mailbox(&mut self) -> Option<Mailbox<'a>> {
        while let Some(&byte) = self.rest.as_bytes().first() {
            let finished = match byte {
                b',' => {
                    self.skip(1);
                    self.finish_mailbox()
                }
                b';' => {
                    self.skip(1);
                    self.is_in_group = false;
                    self.finish_mailbox().or_else(|| self.group.take())
                }
                b':' if self.begins_group() => {
                    self.skip(1);
                    self.is_in_group = true;
                    self.group = Some(Mailbox { is_group: true, ..std::mem::take(&mut self.mailbox) });
                    None
                }
                _ => {
                    self.read_word(byte);
                    None
                }
            };
            if finished.is_some() {
                return finished;
            }
        }
        self.finish_mailbox().or_else(|| self.group.take())
    }

    fn finish_mailbox(&mut self) -> Option<Mailbox<'a>> {
        self.gap = Gap::Space;
        let mailbox = std::mem::take(&mut self.mailbox);
        if mailbox.words.is_empty() && mailbox.comments.is_empty() && mailbox.bracketed.is_none() {
            return None;
        }
        self.group = None;
        Some(mailbox)
    }

    /// A colon begins a group only if a name stands before it and the group is closed later; else it is part of a name
    /// that should have been quoted, such as `[ticket]: Ann <ann@example.org>`.
    fn begins_group(&mut self) -> bool {
        if self.is_in_group || self.mailbox.bracketed.is_some() || self.mailbox.words.is_empty() {
            return false;
        }
        self.lacks.semicolon = self.lacks.semicolon || memchr::memchr(b';', self.rest.as_bytes()).is_none();
        !self.lacks.semicolon
    }

    /// Reads what begins with `byte` and is neither comma, semicolon nor the colon of a group.
    fn read_word(&mut self, byte: u8) {
        match byte {
            b'"' if !self.lacks.quote => match quoted(self.rest) {
                Some((text, rest)) => self.push(text, true, rest),
                None => self.lacks.quote = true,
            },
            b'(' if !self.lacks.parenthesis => match comment(self.rest) {
                Some((text, rest)) => {
                    self.mailbox.comments.push(text);
                    self.gap = Gap::Space;
                    self.rest = rest;
                }
                None => self.lacks.parenthesis = true,
            },
            b'<' => self.read_bracketed(),
            b' ' | b'\t' | b'\r' | b'\n' => self.read_space(),
            b'>' | b'"' | b'\0' => self.skip(1),
            _ => {
                let (atom, rest) =
                    self.rest.split_at_checked(atom_length(self.rest)).unwrap_or((self.rest, ""));
                self.push(Cow::Borrowed(atom), false, rest);
            }
        }
    }

    /// Reads an address in brackets; without the closing one it ends at the next comma.
    fn read_bracketed(&mut self) {
        let inner = self.rest.trim_start_matches('<');
        let closing = if self.lacks.bracket { None } else { memchr::memchr(b'>', inner.as_bytes()) };
        self.lacks.bracket = closing.is_none();
        let end = closing.or_else(|| memchr::memchr2(b',', b';', inner.as_bytes())).unwrap_or(inner.len());
        let (address, rest) = inner.split_at_checked(end).unwrap_or((inner, ""));
        if self.mailbox.bracketed.is_none_or(|found| found.trim_ascii().is_empty()) {
            self.mailbox.bracketed = Some(address);
        }
        self.gap = Gap::Space;
        self.rest = rest.strip_prefix('>').unwrap_or(rest);
    }

    /// Reads white space and tells a fold.
    fn read_space(&mut self) {
        let rest = self.rest.trim_ascii_start();
        let space = self.rest.get(..self.rest.len().saturating_sub(rest.len())).unwrap_or_default();
        self.gap = match space.as_bytes() {
            [b'\n', b' ' | b'\t'] | [b'\r', b'\n', b' ' | b'\t'] => self.gap.max(Gap::Fold),
            _ => Gap::Space,
        };
        self.rest = rest;
    }

    fn push(&mut self, text: Cow<'a, str>, is_quoted: bool, rest: &'a str) {
        self.mailbox.words.push(Word { text, is_quoted, gap: self.gap });
        self.gap = Gap::None;
        self.rest = rest;
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }
}

/// Returns how long the atom or encoded word is that the text begins with; at least one character.
fn atom_length(text: &str) -> usize {
    if let Some(length) = encoded_word_length(text) {
        return length;
    }
    let special = |character: char| {
        matches!(character, ' ' | '\t' | '\r' | '\n' | '\0' | ',' | ';' | ':' | '<' | '>' | '(' | '"')
    };
    let mut characters = text.char_indices().skip(1);
    characters.find(|&(_, character)| special(character)).map_or(text.len(), |(offset, _)| offset)
}

/// Splits a quoted string with its quotes off from what follows; `None` if it is not closed.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut from = 0;
    let mut has_escapes = false;
    loop {
        let bytes = inner.as_bytes().get(from..)?;
        let offset = from.saturating_add(memchr::memchr2(b'"', b'\\', bytes)?);
        let (content, rest) = inner.split_at_checked(offset)?;
        if let Some(rest) = rest.strip_prefix('"') {
            return Some((if has_escapes { unescape(content) } else { Cow::Borrowed(content) }, rest));
        }
        has_escapes = true;
        from = offset.saturating_add(2);
    }
}

/// Splits a comment with its parentheses off from what follows; `None` if it is not closed.
fn comment(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'(' => depth = depth.saturating_add(1),
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some((text.get(1..offset)?, text.get(offset.saturating_add(1)..)?));
        }
    }
    None
}

/// Takes the backslashes off that escape a character.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        plain.push(escaped.unwrap_or(character));
    }
    Cow::Owned(plain)
}

impl Mailbox<'_> {
    /// Puts name and address together; `None` if there is neither.
    fn into_address(mut self, problems: &mut Problems) -> Option<Address> {
        let address = match self.bracketed {
            Some(bracketed) => clean(bracketed),
            None if self.is_group => String::new(),
            None => self.take_bare_address(),
        };
        let address = if address.contains("=?") { tidy(&decode_words(&address, problems)) } else { address };
        let is_encoded = self.words.iter().any(|word| word.text.starts_with("=?"));
        let name = tidy(&decode_words(&self.phrase(), problems));
        if address.is_empty() && is_encoded && name.contains('@') {
            return Some(split_decoded(&name));
        }
        let comments: Vec<_> = self.comments.iter().map(|comment| unescape(comment)).collect();
        let comment = tidy(&decode_words(&comments.join(" "), problems));
        let name = match (name.is_empty(), comment.is_empty()) {
            (_, true) => name,
            (true, false) => comment,
            (false, false) => format!("{name} ({comment})"),
        };
        let found = Address { name: shorten(name), address: shorten(address) };
        (found != Address::default()).then_some(found)
    }

    /// Takes the words out that are an address without brackets: those that touch an at sign, or a lone word.
    fn take_bare_address(&mut self) -> String {
        let is_plain = |word: &Word<'_>| !word.is_quoted && !word.text.starts_with("=?");
        let Some(at) = self.words.iter().position(|word| is_plain(word) && word.text.contains('@')) else {
            let is_local = self.words.len() == 1 && self.words.iter().all(is_plain);
            let word = if is_local { self.words.pop() } else { None };
            return word.map(|word| word.text.into_owned()).unwrap_or_default();
        };
        // A header cut at a fixed width: nothing but folds between the words, and one at sign in all.
        let is_cut = self.words.iter().skip(1).all(|word| is_plain(word) && word.gap <= Gap::Fold)
            && self.words.iter().map(|word| word.text.matches('@').count()).sum::<usize>() == 1;
        let mut first = at;
        while first > 0 && (is_cut || self.touches(first)) {
            first = first.saturating_sub(1);
        }
        let mut end = at.saturating_add(1);
        while end < self.words.len() && (is_cut || self.touches(end)) {
            end = end.saturating_add(1);
        }
        let mut address = String::new();
        for word in self.words.drain(first..end) {
            if word.is_quoted {
                address.extend(["\"", &word.text, "\""]);
            } else {
                address.push_str(&word.text);
            }
        }
        clean(&address)
    }

    /// Says whether the word of that number belongs to the one before: no space between, or an at sign or dot beside it.
    fn touches(&self, number: usize) -> bool {
        let Some([before, word]) = self.words.get(number.saturating_sub(1)..=number) else { return false };
        word.gap == Gap::None || before.text.ends_with(['@', '.']) || word.text.starts_with(['@', '.'])
    }

    /// Puts the display name together, still encoded.
    fn phrase(&self) -> String {
        let mut phrase = String::new();
        for word in &self.words {
            if word.gap != Gap::None && !phrase.is_empty() {
                phrase.push(' ');
            }
            phrase.push_str(&word.text);
        }
        phrase
    }
}

/// Leaves out white space, comments, a route (`@a,@b:`) and `mailto:`.
fn clean(address: &str) -> String {
    // Cut first, since taking comments out copies what is left.
    let mut address = Cow::Borrowed(cut(address.trim_ascii(), 2 * NAME_BYTES_MAX));
    while let Some(start) = address.find('(').filter(|_| !address.contains('"')) {
        let Some((_, rest)) = address.get(start..).and_then(comment) else { break };
        let before = address.get(..start).unwrap_or_default();
        address = Cow::Owned([before, rest].concat());
    }
    let mut bare = address.as_ref();
    if bare.starts_with('@') {
        bare = bare.rsplit(':').next().unwrap_or(bare);
    }
    if let Some((scheme, rest)) = bare.split_once(':') {
        bare = if scheme.eq_ignore_ascii_case("mailto") { rest } else { bare };
    }
    let is_quoted = bare.starts_with('"');
    bare.chars()
        .filter(|character| {
            !matches!(character, '\t' | '\r' | '\n' | '\0') && (is_quoted || *character != ' ')
        })
        .collect()
}

/// Splits `name <address>` that was encoded as a whole.
fn split_decoded(text: &str) -> Address {
    let (name, address) = match text.split_once('<') {
        Some((name, address)) => (name, address.split('>').next().unwrap_or(address)),
        None if text.contains(' ') => (text, ""),
        None => ("", text),
    };
    Address { name: shorten(name.trim().trim_matches('"').to_owned()), address: shorten(clean(address)) }
}

fn shorten(text: String) -> String {
    if text.len() <= NAME_BYTES_MAX { text } else { cut(&text, NAME_BYTES_MAX).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(value: &str) -> String {
        let mut addresses = Vec::new();
        parse_addresses(value.as_bytes(), None, &mut addresses, &mut Problems::default());
        let lines: Vec<_> =
            addresses.iter().map(|found| format!("{}<{}>", found.name, found.address)).collect();
        lines.join(" | ")
    }

    #[test]
    fn addresses_as_they_should_be() {
        for (value, expected) in [
            ("", ""),
            ("a@b.example", "<a@b.example>"),
            ("<a@b.example>", "<a@b.example>"),
            ("Ann Bee <a@b.example>", "Ann Bee<a@b.example>"),
            ("a@b, \"C D\" <c@d>, e@f", "<a@b> | C D<c@d> | <e@f>"),
            ("\"Bee, Ann\" <a@b.example>", "Bee, Ann<a@b.example>"),
            ("\"Ann \\\"A\\\" Bee\" <a@b>, c@d", "Ann \"A\" Bee<a@b> | <c@d>"),
            ("a@b (Ann Bee)", "Ann Bee<a@b>"),
            ("Ann (at (home)) <a@b>", "Ann (at (home))<a@b>"),
            ("=?utf-8?q?J=C3=B6rg?= <j@x>", "Jörg<j@x>"),
            ("=?utf-8?q?J=C3?= =?utf-8?q?=B6rg?= M <j@x>", "Jörg M<j@x>"),
            ("a@b (=?utf-8?q?J=C3=B6rg?=)", "Jörg<a@b>"),
            ("\"john doe\"@x.example", "<\"john doe\"@x.example>"),
            ("<@a,@b:c@d>", "<c@d>"),
            ("john . doe @ x . example", "<john.doe@x.example>"),
            ("a@[IPv6:2001::1]", "<a@[IPv6:2001::1]>"),
            (
                "Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>",
                "Pete (A nice ) chap)<pete@silly.test>",
            ),
        ] {
            assert_eq!(show(value), expected, "{value}");
        }
    }

    #[test]
    fn groups_are_opened() {
        for (value, expected) in [
            ("undisclosed-recipients:;", "undisclosed-recipients<>"),
            ("Team: a@b, Cee <c@d>;", "<a@b> | Cee<c@d>"),
            ("Team: a@b; x@y, Empty:;", "<a@b> | <x@y> | Empty<>"),
            ("a@b; c@d", "<a@b> | <c@d>"),
            ("[ticket]: Ann <a@b>", "[ticket]: Ann<a@b>"),
            ("mailto:a@b", "<a@b>"),
        ] {
            assert_eq!(show(value), expected, "{value}");
        }
    }

    #[test]
    fn what_is_sent_instead() {
        for (value, expected) in [
            ("root (Cron Daemon)", "Cron Daemon<root>"),
            ("Ann Bee", "Ann Bee<>"),
            ("Ann Bee <>", "Ann Bee<>"),
            ("<<a@b>>", "<a@b>"),
            ("Ann <a@b", "Ann<a@b>"),
            ("Ann <a@b, c@d", "Ann<a@b> | <c@d>"),
            ("\"Ann <a@b>", "Ann<a@b>"),
            ("Ann (x <a@b>", "Ann (x<a@b>"),
            ("a@b Ann Bee", "Ann Bee<a@b>"),
            ("=?utf-8?q?Bee, Ann?= <a@b>", "Bee, Ann<a@b>"),
            ("=?utf-8?q?Ann_=3Ca=40b=3E?=", "Ann<a@b>"),
            ("\"=?utf-8?q?J=C3=B6rg?=\" <j@x>", "Jörg<j@x>"),
            (",, a@b,,", "<a@b>"),
            ("J\u{f6}rg <j\u{f6}rg@x>", "Jörg<jörg@x>"),
            ("Ann\r\n Bee\t<a@\r\n b>", "Ann Bee<a@b>"),
            ("a@ex\r\n ample.org, x@y", "<a@example.org> | <x@y>"),
            ("long.na\n me@example.org", "<long.name@example.org>"),
            ("a@b\n Ann B", "Ann B<a@b>"),
            ("a@b\n c@d", "c@d<a@b>"),
            ("=?iso-2022-jp?B?MTIx?=@example.org", "<121@example.org>"),
        ] {
            assert_eq!(show(value), expected, "{value}");
        }
    }

    #[test]
    fn there_are_limits() {
        let mut problems = Problems::default();
        let mut addresses = Vec::new();
        let value = "a@b, ".repeat(ADDRESS_COUNT_MAX + 1);
        parse_addresses(value.as_bytes(), None, &mut addresses, &mut problems);
        assert_eq!(addresses.len(), ADDRESS_COUNT_MAX);
        assert_eq!(problems.into_list(), [Problem::AddressesCut]);
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        assert_eq!(show(&format!("{long} y <{long}>")).len(), 2 * NAME_BYTES_MAX + 2);
    }

    /// Each of these would take hours if a search began again at every character.
    #[test]
    fn a_megabyte_of_nonsense_is_read_once() {
        for piece in ["(a)", "(", "\"", "<", "=?a?q?b", "a:", "((\\", "\"\\", "<a", "@ ", ";"] {
            show(&piece.repeat((1 << 20) / piece.len()));
        }
        show(&format!("<{}>", "(a)".repeat(1 << 18)));
    }
}
