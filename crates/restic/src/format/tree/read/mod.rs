//! Reads trees node by node, whichever program wrote them.
//!
//! Input: a tree's content. Its SHA-256 proves that it is what was saved, not that it is valid. Output:
//! nodes that borrow from it, or a [`Fault`].
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::node::{ExtendedAttribute, Node, NodeKind, name_fault};
use super::quote::{is_plain, unquote};
use super::write::Refused;
use crate::encoding::id::Id;
use crate::encoding::json::scan::{Fault, Result, Scanner, Text};
use crate::encoding::time::Time;
use crate::error::Error;
use crate::format::blob::BlobKind;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

/// Most extended attributes of one file; a system allows for far less.
pub(super) const ATTRIBUTES_MAX: usize = 65_536;
/// The most characters of a wrong text that a message quotes.
const SHOWN_BYTES_MAX: usize = 100;

/// A tree that is being read: an iterator over its nodes.
///
/// An invalid node is a [`Fault`], and the nodes after it still follow. After invalid JSON nothing follows.
#[derive(Debug)]
pub struct TreeReader<'a> {
    scanner: Scanner<'a>,
    position: Position,
    last_name: Vec<u8>,
    disorder: Option<Refused>,
}

/// Where a reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Beginning,
    BeforeFirst,
    BehindNode,
    End,
}

impl<'a> TreeReader<'a> {
    /// Begins to read.
    pub fn new(tree: &'a [u8]) -> TreeReader<'a> {
        TreeReader {
            scanner: Scanner::new(tree),
            position: Position::Beginning,
            last_name: Vec::new(),
            disorder: None,
        }
    }

    /// Returns the first name so far that is not greater than the one before it. All nodes come nevertheless.
    pub fn disorder(&self) -> Option<&Refused> {
        self.disorder.as_ref()
    }

    /// Goes to the next node; `false` where there is none.
    fn advance(&mut self) -> Result<bool> {
        if self.position == Position::Beginning {
            self.begin()?;
        }
        let is_first = self.position == Position::BeforeFirst;
        self.position = Position::BehindNode;
        if self.scanner.take(b']') {
            return self.end().map(|()| false);
        }
        if !is_first {
            self.scanner.expect(b',')?;
        }
        Ok(true)
    }

    /// Skips what other programs write before the nodes.
    fn begin(&mut self) -> Result<()> {
        self.scanner.expect(b'{')?;
        while *self.scanner.name()? != *b"nodes" {
            self.scanner.skip()?;
            self.scanner.expect(b',')?;
        }
        self.position = Position::BeforeFirst;
        self.scanner.expect(b'[')
    }

    /// Skips what other programs write after the nodes.
    fn end(&mut self) -> Result<()> {
        while !self.scanner.take(b'}') {
            self.scanner.expect(b',')?;
            self.scanner.name()?;
            self.scanner.skip()?;
        }
        self.position = Position::End;
        Ok(())
    }

    /// Takes a node, or steps over one that is not sound.
    fn node(&mut self) -> Result<Node<'a>> {
        let before = self.scanner;
        let node = node(&mut self.scanner).and_then(|node| match name_fault(&node.name) {
            None => Ok(node),
            Some(what) => before.fault(format!("{what}: \"{}\"", shown(&node.name))),
        });
        match &node {
            Ok(node) => self.note_order(&node.name),
            Err(_) => {
                self.scanner = before;
                if self.scanner.skip().is_err() {
                    self.position = Position::End;
                }
            }
        }
        node
    }

    fn note_order(&mut self, name: &[u8]) {
        if name <= self.last_name.as_slice() && self.disorder.is_none() {
            self.disorder = Some(Refused::Disorder { name: name.to_vec(), after: self.last_name.clone() });
        }
        self.last_name.clear();
        self.last_name.extend_from_slice(name);
    }
}

impl<'a> Iterator for TreeReader<'a> {
    type Item = std::result::Result<Node<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.position == Position::End {
            return None;
        }
        match self.advance() {
            Ok(true) => Some(self.node()),
            Ok(false) => None,
            Err(fault) => {
                self.position = Position::End;
                Some(Err(fault))
            }
        }
    }
}

/// Takes one node. What it does not say is as in Go: 0, empty, or the beginning of the year 1.
fn node<'a>(scanner: &mut Scanner<'a>) -> Result<Node<'a>> {
    let begin = *scanner;
    let mut node = Node::new(Cow::Borrowed(&[][..]), NodeKind::Irregular);
    let never = Time::new(-62_135_596_800, 0, 0);
    (node.modified, node.accessed, node.changed) = (never, never, never);
    let mut has_kind = false;
    scanner.object(|scanner, name| {
        if scanner.take_null()? {
            return Ok(());
        }
        if name == b"type" {
            has_kind = true;
            node.kind = kind(scanner)?;
            return Ok(());
        }
        member(&mut node, name, scanner)
    })?;
    if !has_kind {
        return begin.fault("a node is of no type");
    }
    Ok(node)
}

fn kind(scanner: &mut Scanner<'_>) -> Result<NodeKind> {
    let before = *scanner;
    let name = scanner.text()?.decode();
    match NodeKind::of_name(name.as_bytes()) {
        Some(kind) => Ok(kind),
        None => before.fault(format!("there is no type \"{}\"", shown(name.as_bytes()))),
    }
}

fn member<'a>(node: &mut Node<'a>, name: &[u8], scanner: &mut Scanner<'a>) -> Result<()> {
    match name {
        b"name" => node.name = file_name(scanner)?,
        b"mode" => node.mode = small_number(scanner)?,
        b"mtime" => node.modified = time(scanner)?,
        b"atime" => node.accessed = time(scanner)?,
        b"ctime" => node.changed = time(scanner)?,
        b"uid" => node.uid = small_number(scanner)?,
        b"gid" => node.gid = small_number(scanner)?,
        b"user" => node.user = scanner.text()?.decode(),
        b"group" => node.group = scanner.text()?.decode(),
        b"inode" => node.inode = scanner.number(u64::MAX)?,
        b"device_id" => node.device_id = scanner.number(u64::MAX)?,
        b"size" => node.size = scanner.number(u64::MAX)?,
        b"links" => node.links = scanner.number(u64::MAX)?,
        // What is no UTF-8 follows as it is, and counts.
        b"linktarget" if node.link_target.is_empty() => node.link_target = bytes(scanner.text()?.decode()),
        b"linktarget_raw" => node.link_target = Cow::Owned(base64(scanner)?),
        b"extended_attributes" => node.extended_attributes = attributes(scanner)?,
        b"generic_attributes" => node.generic_attributes = generic_attributes(scanner)?,
        b"device" => node.device = scanner.number(u64::MAX)?,
        b"content" => node.content = Some(Cow::Owned(content(scanner)?)),
        b"subtree" => node.subtree = Some(id(scanner)?),
        b"error" => node.error = scanner.text()?.decode(),
        _ => scanner.skip()?,
    }
    Ok(())
}

fn file_name<'a>(scanner: &mut Scanner<'a>) -> Result<Cow<'a, [u8]>> {
    let before = *scanner;
    let text = scanner.text()?;
    if let Some(plain) = text.plain().filter(|plain| is_plain(plain)) {
        return Ok(Cow::Borrowed(plain));
    }
    match unquote(&text.decode()) {
        Some(name) => Ok(Cow::Owned(name)),
        None => before.fault("a name is not quoted as names are"),
    }
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn small_number(scanner: &mut Scanner<'_>) -> Result<u32> {
    let number = scanner.number(u64::from(u32::MAX))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn time(scanner: &mut Scanner<'_>) -> Result<Time> {
    let before = *scanner;
    let text = scanner.text()?;
    let time = text.plain().and_then(Time::parse);
    let wrong = || before.fault(format!("\"{}\" is not a time", shown(text.decode().as_bytes())));
    time.map_or_else(wrong, Ok)
}

/// Returns what a sentence shows of text that may be as long as the tree.
fn shown(text: &[u8]) -> String {
    match text.split_at_checked(SHOWN_BYTES_MAX) {
        Some((begin, rest)) if !rest.is_empty() => format!("{}..", begin.escape_ascii()),
        _ => text.escape_ascii().to_string(),
    }
}

fn base64(scanner: &mut Scanner<'_>) -> Result<Vec<u8>> {
    let before = *scanner;
    let text = scanner.text()?.decode();
    STANDARD.decode(text.as_bytes()).or_else(|_| before.fault("a value is not base64"))
}

fn id(scanner: &mut Scanner<'_>) -> Result<Id> {
    let before = *scanner;
    let text: Text<'_> = scanner.text()?;
    let id = text.plain().and_then(|plain| str::from_utf8(plain).ok()?.parse().ok());
    id.map_or_else(|| before.fault("an id has 64 hexadecimal digits, in lower case"), Ok)
}

fn content(scanner: &mut Scanner<'_>) -> Result<Vec<Id>> {
    let mut ids = Vec::new();
    scanner.array(|scanner| {
        ids.push(id(scanner)?);
        Ok(())
    })?;
    Ok(ids)
}

fn attributes<'a>(scanner: &mut Scanner<'a>) -> Result<Vec<ExtendedAttribute<'a>>> {
    let mut attributes = Vec::new();
    scanner.array(|scanner| {
        if attributes.len() >= ATTRIBUTES_MAX {
            return scanner.fault(format!("a file has over {ATTRIBUTES_MAX} extended attributes"));
        }
        attributes.push(attribute(scanner)?);
        Ok(())
    })?;
    Ok(attributes)
}

fn attribute<'a>(scanner: &mut Scanner<'a>) -> Result<ExtendedAttribute<'a>> {
    let mut attribute = ExtendedAttribute { name: Cow::Borrowed(&[]), value: None };
    scanner.object(|scanner, name| {
        if scanner.take_null()? {
            return Ok(());
        }
        match name {
            b"name" => attribute.name = bytes(scanner.text()?.decode()),
            b"value" => attribute.value = Some(Cow::Owned(base64(scanner)?)),
            _ => scanner.skip()?,
        }
        Ok(())
    })?;
    Ok(attribute)
}

/// An object that is empty says nothing: Go leaves it out.
fn generic_attributes<'a>(scanner: &mut Scanner<'a>) -> Result<Cow<'a, str>> {
    let before = *scanner;
    if scanner.peek() != Some(b'{') {
        return scanner.expected("'{'");
    }
    let raw = scanner.raw()?;
    let mut member_count = 0usize;
    Scanner::new(raw).object(|scanner, _| {
        member_count = member_count.saturating_add(1);
        scanner.skip()
    })?;
    match str::from_utf8(raw) {
        Ok(_) if member_count == 0 => Ok(Cow::Borrowed("")),
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) => before.fault("generic attributes are no UTF-8"),
    }
}

impl Fault {
    /// Returns the fault as the damage of a tree.
    pub fn of_tree(&self, id: &Id) -> Error {
        Error::damage(BlobKind::Tree.named(id), self.to_string())
    }
}

#[cfg(test)]
mod tests;
