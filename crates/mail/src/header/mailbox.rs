//! Builds one address from the tokens of a mailbox.
//!
//! Input: words, comments and the bracketed address, without quotes and brackets, still encoded. Output: name
//! and address, decoded, one line each. Does not depend on address lists.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

use crate::bytes::cut;
use crate::decode::encoded_words::{decode_words, tidy};
use crate::header::quoted::{comment, unescape, without_quotes};
use crate::limits::NAME_BYTES_MAX;
use crate::problem::Problems;

/// One address of a header field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Address {
    /// The display name, or empty.
    pub name: String,
    /// The address itself without brackets; empty for a name alone.
    pub address: String,
}

/// The tokens of one mailbox: still encoded, without quotes and brackets.
#[derive(Default)]
pub(crate) struct Mailbox<'a> {
    pub(crate) words: Vec<Word<'a>>,
    pub(crate) comments: Vec<&'a str>,
    pub(crate) bracketed: Option<&'a str>,
    /// It is the name of a group.
    pub(crate) is_group: bool,
    /// How often a group had begun or ended before it: the same for the addresses of one group.
    pub(crate) section: usize,
}

/// A word of a display name, or of an address without brackets.
pub(crate) struct Word<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) is_quoted: bool,
    pub(crate) gap: Gap,
}

/// The white space before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    None,
    /// A fold, with only the one space that it needs.
    Fold,
    Space,
}

impl Mailbox<'_> {
    /// Returns the address; `None` if there is neither a name nor an address.
    pub(crate) fn into_address(mut self, problems: &mut Problems) -> Option<Address> {
        let address = match self.bracketed {
            Some(bracketed) => clean(bracketed),
            None if self.is_group => String::new(),
            None => self.take_bare_address(),
        };
        let address = if address.contains("=?") { tidy(&decode_words(&address, problems)) } else { address };
        let is_encoded = self.words.iter().any(|word| word.text.starts_with("=?"));
        let name = without_quotes(tidy(&decode_words(&self.phrase(), problems)));
        if address.is_empty() && is_encoded && name.contains('@') {
            return Some(split_decoded(&name));
        }
        let comments: Vec<_> = self.comments.iter().map(|comment| unescape(comment)).collect();
        let comment = without_quotes(tidy(&decode_words(&comments.join(" "), problems)));
        let name = match (name.is_empty(), comment.is_empty()) {
            (_, true) => name,
            (true, false) => comment,
            (false, false) => format!("{name} ({comment})"),
        };
        let found = Address { name: shorten(name), address: shorten(address) };
        (found != Address::default()).then_some(found)
    }

    /// Removes and joins the words of an address without brackets: those adjacent to an at sign, or a single
    /// word.
    fn take_bare_address(&mut self) -> String {
        let is_plain = |word: &Word<'_>| !word.is_quoted && !word.text.starts_with("=?");
        let Some(at) = self.words.iter().position(|word| is_plain(word) && word.text.contains('@')) else {
            let is_local = self.words.len() == 1 && self.words.iter().all(is_plain);
            let word = if is_local { self.words.pop() } else { None };
            return word.map(|word| word.text.into_owned()).unwrap_or_default();
        };
        // A header folded at a fixed width: only folds between the words, and one at sign in all.
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

    /// Returns whether a word belongs to the one before it: no space between them, or an at sign or dot
    /// beside it.
    fn touches(&self, number: usize) -> bool {
        let Some([before, word]) = self.words.get(number.saturating_sub(1)..=number) else { return false };
        word.gap == Gap::None || before.text.ends_with(['@', '.']) || word.text.starts_with(['@', '.'])
    }

    /// Joins the display name, still encoded.
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

/// Removes white space, comments, a route (`@a,@b:`) and `mailto:`.
fn clean(address: &str) -> String {
    // Cut first, since removing comments copies the rest.
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
    let is_kept = |&character: &char| match character {
        ' ' => is_quoted,
        _ => character != '\0' && !character.is_ascii_whitespace(),
    };
    bare.trim_ascii_end().chars().filter(is_kept).collect()
}

/// Splits a `name <address>` that was encoded as a whole.
fn split_decoded(text: &str) -> Address {
    let (name, address) = match text.split_once('<') {
        Some((name, address)) => (name, address.split('>').next().unwrap_or(address)),
        None if text.contains(' ') => (text, ""),
        None => ("", text),
    };
    Address { name: shorten(without_quotes(name.trim().to_owned())), address: shorten(clean(address)) }
}

fn shorten(text: String) -> String {
    if text.len() <= NAME_BYTES_MAX { text } else { cut(&text, NAME_BYTES_MAX).to_owned() }
}
