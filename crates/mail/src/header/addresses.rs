//! Parses the value of an address field (RFC 5322, 3.4, and common deviations from it).
//!
//! Input: the raw value. Output: addresses in order. Groups are flattened: their members are listed like
//! other addresses. A group without members (`undisclosed-recipients:;`) becomes an entry with a name and no
//! address. Does not know which field it is.
//!
//! The parser makes one pass over the bytes and never backtracks, so that a field of a megabyte takes linear
//! time. A special character without its counterpart is text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::decode::encoded_words::{encoded_word_length, unfold};
use crate::header::mailbox::{Address, Gap, Mailbox, Word};
use crate::header::quoted::{comment, unescape};
use crate::limits::ADDRESS_COUNT_MAX;
use crate::problem::{Problem, Problems};

/// Appends the addresses of one field's value, up to `ADDRESS_COUNT_MAX` in all.
pub(crate) fn parse_addresses(
    value: &[u8],
    fallback: Option<&'static Encoding>,
    addresses: &mut Vec<Address>,
    problems: &mut Problems,
) {
    let text = unfold(value, fallback, problems);
    let mut reader = Reader::new(&text);
    while let Some(mailbox) = reader.next_mailbox() {
        let Some(address) = mailbox.into_address(problems) else { continue };
        if addresses.len() >= ADDRESS_COUNT_MAX {
            problems.add(Problem::AddressesCut);
            return;
        }
        addresses.push(address);
    }
}

/// Addresses that stand together in a field: those of one group, or those between groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressGroup {
    /// The name of the group; `None` for addresses in no group.
    pub name: Option<String>,
    /// Its addresses. A group may have none.
    pub addresses: Vec<Address>,
}

/// Returns the addresses of one field's value by groups, up to `ADDRESS_COUNT_MAX` addresses and groups.
pub(crate) fn parse_groups(value: &[u8], fallback: Option<&'static Encoding>) -> Vec<AddressGroup> {
    let mut problems = Problems::default();
    let text = unfold(value, fallback, &mut problems);
    let mut reader = Reader::new(&text);
    let mut groups: Vec<AddressGroup> = Vec::new();
    let mut section = None;
    let mut room = ADDRESS_COUNT_MAX;
    while let Some(mailbox) = reader.next_mailbox() {
        let Some(left) = room.checked_sub(1) else { break };
        room = left;
        let (own_section, is_name) = (Some(mailbox.section), mailbox.is_group);
        let Some(address) = mailbox.into_address(&mut problems) else { continue };
        if section != own_section || groups.is_empty() {
            section = own_section;
            let named = reader.named.take().and_then(|name| name.into_address(&mut problems));
            let name = if is_name { Some(&address) } else { named.as_ref() }.map(|name| name.name.clone());
            groups.push(AddressGroup { name, addresses: Vec::new() });
        }
        if let Some(group) = groups.last_mut().filter(|_| !is_name) {
            group.addresses.push(address);
        }
    }
    groups
}

/// Closing characters that are known not to follow, so that none is searched for twice.
#[derive(Default)]
struct MissingClosers {
    quote: bool,
    parenthesis: bool,
    bracket: bool,
    semicolon: bool,
}

struct Reader<'a> {
    rest: &'a str,
    mailbox: Mailbox<'a>,
    gap: Gap,
    lacks: MissingClosers,
    is_in_group: bool,
    /// The name of the group, until it has a member.
    group: Option<Mailbox<'a>>,
    /// The name of the group whose first member was read last.
    named: Option<Mailbox<'a>>,
    /// How often a group has begun or ended.
    section: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Reader<'a> {
        Reader {
            rest: text,
            mailbox: Mailbox::default(),
            gap: Gap::Space,
            lacks: MissingClosers::default(),
            is_in_group: false,
            group: None,
            named: None,
            section: 0,
        }
    }

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
                    let last = self.finish_mailbox().or_else(|| self.group.take());
                    self.is_in_group = false;
                    self.section = self.section.saturating_add(1);
                    last
                }
                b':' if self.begins_group() => {
                    self.skip(1);
                    self.is_in_group = true;
                    self.section = self.section.saturating_add(1);
                    let name = std::mem::take(&mut self.mailbox);
                    self.group = Some(Mailbox { is_group: true, section: self.section, ..name });
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
        if let Some(name) = self.group.take() {
            self.named = Some(name);
        }
        Some(Mailbox { section: self.section, ..mailbox })
    }

    /// A colon starts a group only if a name precedes it and a semicolon follows. Otherwise it is part of a
    /// name that should have been quoted, such as `[ticket]: Ann <ann@example.org>`.
    fn begins_group(&mut self) -> bool {
        if self.is_in_group || self.mailbox.bracketed.is_some() || self.mailbox.words.is_empty() {
            return false;
        }
        self.lacks.semicolon = self.lacks.semicolon || memchr::memchr(b';', self.rest.as_bytes()).is_none();
        !self.lacks.semicolon
    }

    /// Reads a token that begins with `byte`, which is neither comma, semicolon nor the colon of a group.
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

    /// Reads an address in brackets. Without the closing bracket it ends at the next comma.
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

    /// Reads white space, and notes whether it is a fold.
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

/// Returns the length of the atom or encoded word at the start of the text; at least one character.
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

/// Splits a quoted string, without its quotes, from the rest; `None` if it is not closed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::NAME_BYTES_MAX;

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
    fn groups_are_kept_where_they_are_asked_for() {
        let show = |value: &str| {
            let shown = parse_groups(value.as_bytes(), None).into_iter().map(|group| {
                let addresses =
                    group.addresses.iter().map(|found| format!("{}<{}>", found.name, found.address));
                let name = group.name.map_or("-".to_owned(), |name| format!("{name:?}"));
                format!("{name}[{}]", addresses.collect::<Vec<_>>().join(" "))
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        for (value, expected) in [
            ("", ""),
            ("a@b, C <c@d>", "-[<a@b> C<c@d>]"),
            ("undisclosed-recipients:;", "\"undisclosed-recipients\"[]"),
            ("x@y, \"A, Team\": a@b, C <c@d>; z@y", "-[<x@y>] \"A, Team\"[<a@b> C<c@d>] -[<z@y>]"),
            ("One: a@b;, Two: c@d;, None:;, e@f", "\"One\"[<a@b>] \"Two\"[<c@d>] \"None\"[] -[<e@f>]"),
            ("=?utf-8?q?J=C3=B6rg?= : j@x;", "\"Jörg\"[<j@x>]"),
            ("One: a@b; Two: c@d;", "\"One\"[<a@b>] \"Two\"[<c@d>]"),
            ("Open: a@b", "-[Open:<a@b>]"),
        ] {
            assert_eq!(show(value), expected, "{value}");
        }
        let groups = parse_groups("A:;".repeat(ADDRESS_COUNT_MAX + 1).as_bytes(), None);
        assert_eq!(groups.len(), ADDRESS_COUNT_MAX);
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
            // Quotation marks that were encoded with the name, or enclose it twice.
            ("=?utf-8?q?=22J=C3=B6rg_M=22?= <j@x>", "Jörg M<j@x>"),
            ("=?utf-8?b?IkrDtnI=?= =?utf-8?b?ZyI=?= <j@x>", "Jörg<j@x>"),
            ("\"\\\"=?utf-8?q?J=C3=B6rg?=\\\"\" <j@x>", "Jörg<j@x>"),
            ("\"\\\"Ann Bee\\\"\" <a@b>", "Ann Bee<a@b>"),
            ("=?utf-8?q?=22Ann_=5C=22A=5C=22_Bee=22?= <a@b>", "Ann \"A\" Bee<a@b>"),
            ("=?utf-8?q?=22Ann=22_and_=22Bee=22?= <a@b>", "\"Ann\" and \"Bee\"<a@b>"),
            ("=?utf-8?q?=22Ann?= <a@b>", "\"Ann<a@b>"),
            ("=?utf-8?q?=22=22?= <a@b>", "\"\"<a@b>"),
            ("=?utf-8?q?=22?= <a@b>", "\"<a@b>"),
            ("=?utf-8?q?=22Ann=5C=22?= <a@b>", "\"Ann\\\"<a@b>"),
            ("a@b (=?utf-8?q?=22J=C3=B6rg=22?=)", "Jörg<a@b>"),
            ("=?utf-8?q?=22Ann=22_=3Ca=40b=3E?=", "Ann<a@b>"),
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
