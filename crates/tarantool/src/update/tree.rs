//! A tuple that is being changed: a tree along the paths of operations, unparsed bytes elsewhere.
//!
//! Input: a tuple, then operations. Output: its new bytes. Does not know how operations are written.
//!
//! Each place may be changed once, as in Tarantool. Tarantool stores a single operation as a path instead of
//! a tree, and refuses another operation on the same place. Only when a second operation takes another path
//! does it parse the value, and then it allows `=` again. [`Touched`] tracks that.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::number::{Arithmetic, IsDoubleField};
use super::operation::{Argument, Operation};
use crate::json_path::{PathStep, Understood};
use crate::msgpack::{self, Class, Reader, Result as Read};
use std::borrow::Cow;

const NO_SUCH_FIELD: &str = "there is no such field";
const TWICE: &str = "the same field is changed twice";

type Applied = Result<(), &'static str>;

/// A whole tuple.
pub(super) struct Root<'a> {
    length_bytes: usize,
    fields: Vec<Node<'a>>,
}

/// A value in it.
enum Node<'a> {
    /// Unchanged, or as inserted.
    Bytes(&'a [u8]),
    /// Changed.
    Set(&'a [u8]),
    Number(Arithmetic),
    Made(Vec<u8>),
    /// Parsed into its parts.
    Array(Vec<Node<'a>>, Touched),
    Map(Vec<Pair<'a>>, Touched),
}

/// A key as msgpack, and its value.
type Pair<'a> = (Cow<'a, [u8]>, Node<'a>);

/// The nested values of an array or a map that operations reached.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Touched {
    Nowhere,
    /// Only one nested value; it is the target itself if the path ends there.
    Once(PathStep, Way),
    Often,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    EndsHere,
    GoesOn,
}

impl<'a> Root<'a> {
    pub(super) fn new(tuple: &'a [u8]) -> Read<Root<'a>> {
        let mut reader = Reader::new(tuple);
        let count = reader.array_len()?;
        // Every field takes at least one byte, whatever the count claims. One more, because fields may be
        // inserted.
        let room = tuple.len().min(count as usize).saturating_add(1);
        let mut fields = Vec::with_capacity(room);
        for _ in 0..count {
            fields.push(Node::Bytes(reader.skip()?));
        }
        Ok(Root { length_bytes: tuple.len(), fields })
    }

    pub(super) fn apply(&mut self, operation: &Operation<'a>) -> Applied {
        let count = i64::try_from(self.fields.len()).unwrap_or(i64::MAX);
        let is_whole = operation.path.is_empty() && operation.understood == Understood::Whole;
        // If a field is counted from the end, the new one is inserted after it.
        let end = if is_whole && operation.code == b'!' { count.saturating_add(1) } else { count };
        let field = if operation.field < 0 { operation.field.saturating_add(end) } else { operation.field };
        let index = usize::try_from(field).map_err(|_| NO_SUCH_FIELD)?;
        if is_whole {
            change_array(&mut self.fields, index, operation)
        } else {
            let node = self.fields.get_mut(index).ok_or(NO_SUCH_FIELD)?;
            descend(node, &operation.path, operation)
        }
    }

    pub(super) fn bytes(&self, double_fields: &[u32]) -> Vec<u8> {
        // Most tuples keep about the same length.
        let mut out = Vec::with_capacity(self.length_bytes.saturating_add(16));
        msgpack::put_array_len(&mut out, length(self.fields.len()));
        for (number, field) in (0..).zip(&self.fields) {
            let is_double = double_fields.contains(&number);
            write(field, if is_double { IsDoubleField::Yes } else { IsDoubleField::No }, &mut out);
        }
        out
    }
}

/// Follows a path. The path is empty only if it could not be parsed.
fn descend<'a>(node: &mut Node<'a>, path: &[PathStep], operation: &Operation<'a>) -> Applied {
    let Some((step, rest)) = path.split_first() else { return Err("a path cannot be read") };
    let way = match (rest.is_empty(), operation.understood) {
        (true, Understood::Whole) => Way::EndsHere,
        _ => Way::GoesOn,
    };
    take_apart(node)?;
    let touched = match node {
        Node::Array(_, touched) | Node::Map(_, touched) => touched,
        _ => return Err(NO_SUCH_FIELD),
    };
    match touched {
        Touched::Once(earlier, went) if earlier == step => {
            if way == Way::EndsHere || *went == Way::EndsHere {
                return Err(TWICE);
            }
        }
        Touched::Once(..) => *touched = Touched::Often,
        Touched::Nowhere | Touched::Often => {}
    }
    let is_alone = *touched == Touched::Nowhere;
    match (&mut *node, step) {
        (Node::Array(items, _), PathStep::Index(index)) => match way {
            Way::EndsHere => change_array(items, *index as usize, operation)?,
            Way::GoesOn => descend(items.get_mut(*index as usize).ok_or(NO_SUCH_FIELD)?, rest, operation)?,
        },
        (Node::Map(pairs, _), PathStep::Key(key)) => {
            let place = pairs.iter().position(|(name, _)| Reader::new(name).str() == Ok(key));
            match (way, place.and_then(|place| pairs.get_mut(place))) {
                (Way::EndsHere, _) => change_map(pairs, place, operation, (key, is_alone))?,
                (Way::GoesOn, Some((_, value))) => descend(value, rest, operation)?,
                (Way::GoesOn, None) => return Err(NO_SUCH_FIELD),
            }
        }
        _ => return Err("a step does not fit"),
    }
    if let Node::Array(_, touched) | Node::Map(_, touched) = node
        && *touched == Touched::Nowhere
    {
        *touched = Touched::Once(step.clone(), way);
    }
    Ok(())
}

/// Makes a tree of an array or a map that is still bytes.
fn take_apart(node: &mut Node) -> Applied {
    let Node::Bytes(bytes) = node else { return Ok(()) };
    let mut reader = Reader::new(bytes);
    let taken = match reader.peek().map_err(|damage| damage.what)? {
        Class::Array => array(&mut reader),
        Class::Map => map(&mut reader),
        _ => return Err(NO_SUCH_FIELD),
    };
    *node = taken.map_err(|damage| damage.what)?;
    Ok(())
}

fn array<'a>(reader: &mut Reader<'a>) -> Read<Node<'a>> {
    let items = (0..reader.array_len()?).map(|_| reader.skip().map(Node::Bytes));
    Ok(Node::Array(items.collect::<Read<Vec<_>>>()?, Touched::Nowhere))
}

fn map<'a>(reader: &mut Reader<'a>) -> Read<Node<'a>> {
    let pairs =
        (0..reader.map_len()?).map(|_| Ok((Cow::Borrowed(reader.skip()?), Node::Bytes(reader.skip()?))));
    Ok(Node::Map(pairs.collect::<Read<Vec<_>>>()?, Touched::Nowhere))
}

fn change_array<'a>(items: &mut Vec<Node<'a>>, index: usize, operation: &Operation<'a>) -> Applied {
    match (operation.code, &operation.argument) {
        (b'=', Argument::Value(value)) if index == items.len() => items.push(Node::Bytes(value)),
        (b'=', Argument::Value(value)) => *items.get_mut(index).ok_or(NO_SUCH_FIELD)? = Node::Set(value),
        (b'!', Argument::Value(value)) if index <= items.len() => items.insert(index, Node::Bytes(value)),
        (b'#', Argument::Count(count)) if index < items.len() => {
            let count = usize::try_from(*count).unwrap_or(usize::MAX);
            items.drain(index..index.saturating_add(count).min(items.len()));
        }
        (b'!' | b'#', _) => return Err(NO_SUCH_FIELD),
        _ => change_value(items.get_mut(index).ok_or(NO_SUCH_FIELD)?, operation)?,
    }
    Ok(())
}

fn change_map<'a>(
    pairs: &mut Vec<Pair<'a>>,
    place: Option<usize>,
    operation: &Operation<'a>,
    (key, is_alone): (&[u8], bool),
) -> Applied {
    let found = place.and_then(|place| pairs.get_mut(place));
    match (operation.code, &operation.argument, found) {
        (b'=', Argument::Value(value), Some((_, old))) => *old = Node::Set(value),
        (b'=' | b'!', Argument::Value(value), None) => {
            let mut name = Vec::new();
            msgpack::put_str(&mut name, key);
            // New pairs come first, as in Tarantool.
            pairs.insert(0, (Cow::Owned(name), Node::Bytes(value)));
        }
        (b'!', _, Some(_)) => return Err("the key is there already"),
        (b'#', Argument::Count(2..), _) => return Err("of a map only one pair can be deleted"),
        (b'#', _, Some(_)) => {
            place.map(|place| pairs.remove(place));
        }
        (b'#', _, None) if !is_alone => {}
        (_, _, Some((_, value))) => change_value(value, operation)?,
        (_, _, None) => return Err(NO_SUCH_FIELD),
    }
    Ok(())
}

fn change_value<'a>(node: &mut Node<'a>, operation: &Operation<'a>) -> Applied {
    let Node::Bytes(old) = node else { return Err(TWICE) };
    let mut reader = Reader::new(old);
    *node = match &operation.argument {
        Argument::Number(number) => {
            let old = Arithmetic::read(&mut reader).map_err(|damage| damage.what)?;
            Node::Number(old.combine(operation.code, number)?)
        }
        Argument::Bits(bits) => {
            let old = reader.uint().map_err(|damage| damage.what)?;
            let new = match operation.code {
                b'&' => old & bits,
                b'|' => old | bits,
                _ => old ^ bits,
            };
            let mut made = Vec::new();
            msgpack::put_uint(&mut made, new);
            Node::Made(made)
        }
        Argument::Splice { offset, cut, paste } => {
            let text = reader.str().map_err(|damage| damage.what)?;
            Node::Made(splice(text, *offset, *cut, paste)?)
        }
        Argument::Value(_) | Argument::Count(_) => return Err("the operation has no such argument"),
    };
    Ok(())
}

/// Removes `cut` bytes at `offset`, and inserts `paste` there. Negative numbers count from the end: an offset
/// of -1 is after the last byte.
fn splice(text: &[u8], offset: i64, cut: i64, paste: &[u8]) -> Result<Vec<u8>, &'static str> {
    let length = i64::try_from(text.len()).map_err(|_| "text is too long")?;
    let begin = if offset < 0 { offset.saturating_add(length).saturating_add(1) } else { offset.min(length) };
    if begin < 0 {
        return Err("the place is before the text");
    }
    let behind = length.saturating_sub(begin);
    let cut = if cut < 0 { cut.saturating_add(behind).max(0) } else { cut.min(behind) };
    let place = |place: i64| usize::try_from(place).unwrap_or(text.len());
    let head = text.get(..place(begin)).unwrap_or_default();
    let tail = text.get(place(begin.saturating_add(cut))..).unwrap_or_default();
    let mut made = Vec::new();
    msgpack::put_str(&mut made, &[head, paste, tail].concat());
    Ok(made)
}

fn write(node: &Node, is_double_field: IsDoubleField, out: &mut Vec<u8>) {
    match node {
        Node::Bytes(bytes) | Node::Set(bytes) => out.extend_from_slice(bytes),
        Node::Made(bytes) => out.extend_from_slice(bytes),
        Node::Number(number) => number.put(is_double_field, out),
        Node::Array(items, _) => {
            msgpack::put_array_len(out, length(items.len()));
            items.iter().for_each(|item| write(item, IsDoubleField::No, out));
        }
        Node::Map(pairs, _) => {
            msgpack::put_map_len(out, length(pairs.len()));
            for (key, value) in pairs {
                out.extend_from_slice(key);
                write(value, IsDoubleField::No, out);
            }
        }
    }
}

fn length(count: usize) -> u32 {
    u32::try_from(count)
        .expect("an array in memory has as many values as its tuple and operations have bytes")
}
