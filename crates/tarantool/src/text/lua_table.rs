//! The order in which Lua passes through the pairs of a table: that of LuaJIT's hash tables.
//!
//! Input: keys in the order in which they are set. Output: their order in `pairs`. It depends on hashes and
//! on how the table grew, so the table is built as LuaJIT builds it (`lj_tab.c`, `lj_str.c`), without values.
//!
//! Numbers above 10^14, nil and tables are keys by their address, which nobody can repeat. A map with such a
//! key has no order.
#![deny(clippy::indexing_slicing)]

use super::number::whole;
use crate::msgpack::{Class, Number, Reader};

/// Numbers up to this are Lua's own; others are objects.
pub(super) const NUMBER_MAX: i64 = 99_999_999_999_999;
/// The exponent of the largest array part, and one more.
const ARRAY_BITS_MAX: usize = 28;
/// The bound of the keys of an array part.
const ARRAY_MAX: u32 = (1 << (ARRAY_BITS_MAX - 1)) + 1;
/// Why a node is found by its place.
const IN_TABLE: &str = "every index is of a node of the table";

/// A key, as far as the order depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Key<'a> {
    Text(&'a [u8]),
    Number(f64),
    Boolean(bool),
    /// A key by its address.
    Other,
}

impl<'a> Key<'a> {
    /// Returns the key that a msgpack value becomes.
    pub(super) fn of(value: &'a [u8]) -> Key<'a> {
        let mut reader = Reader::new(value);
        let key = match reader.peek() {
            Ok(Class::String) => reader.str().map(Key::Text),
            Ok(Class::Binary) => reader.bin().map(Key::Text),
            Ok(Class::Boolean) => reader.boolean().map(Key::Boolean),
            Ok(Class::Unsigned | Class::Signed | Class::Float | Class::Double) => reader.number().map(number),
            _ => return Key::Other,
        };
        key.unwrap_or(Key::Other)
    }

    fn hash(self) -> u32 {
        match self {
            Key::Text(text) => hash_text(text),
            Key::Number(number) => hash_number(number),
            Key::Boolean(boolean) => u32::from(boolean),
            Key::Other => 0,
        }
    }

    /// Returns the number as a key of an array part.
    fn place(self) -> Option<u32> {
        let Key::Number(number) = self else { return None };
        whole(number)
    }
}

fn number<'a>(number: Number) -> Key<'a> {
    let range = -NUMBER_MAX..=NUMBER_MAX;
    match number {
        Number::Unsigned(number) => match i64::try_from(number) {
            Ok(number) if range.contains(&number) => Key::Number(number as f64),
            _ => Key::Other,
        },
        Number::Signed(number) if range.contains(&number) => Key::Number(number as f64),
        Number::Signed(_) => Key::Other,
        Number::Float(number) => Key::Number(f64::from(number)),
        Number::Double(number) => Key::Number(number),
    }
}

/// Returns the numbers of the keys in the order of `pairs`; of equal keys, that of the last. `size` is how
/// many the table is created for. Returns `None` if the order depends on addresses.
pub(super) fn order(keys: &[Key], size: usize) -> Option<Vec<usize>> {
    if keys
        .iter()
        .any(|key| matches!(key, Key::Other) || matches!(key, Key::Number(number) if number.is_nan()))
    {
        return None;
    }
    let mut table = Table { keys, array: Vec::new(), nodes: Vec::new(), free: 0 };
    table.new_nodes(bits_of_size(size));
    for number in 0..keys.len() {
        table.set(number);
    }
    let nodes = table.nodes.iter().map(|node| node.key);
    Some(table.array.iter().copied().chain(nodes).flatten().collect())
}

/// A node of the hash part.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The number of the last key that is equal to this node's.
    key: Option<usize>,
    next: Option<usize>,
}

struct Table<'a> {
    keys: &'a [Key<'a>],
    /// Slots for the keys 0, 1, ...
    array: Vec<Option<usize>>,
    /// As many as a power of two, or none.
    nodes: Vec<Node>,
    /// No node from here on is free.
    free: usize,
}

impl Table<'_> {
    fn key(&self, number: usize) -> Key<'_> {
        self.keys.get(number).copied().unwrap_or(Key::Other)
    }

    fn node(&self, place: usize) -> Node {
        self.nodes.get(place).copied().unwrap_or_default()
    }

    fn node_mut(&mut self, place: usize) -> &mut Node {
        self.nodes.get_mut(place).expect(IN_TABLE)
    }

    /// Returns the node where the search for a key begins.
    fn main(&self, number: usize) -> usize {
        self.key(number).hash() as usize & self.nodes.len().saturating_sub(1)
    }

    fn new_nodes(&mut self, bits: Option<u32>) {
        let count = bits.map_or(0, |bits| 1_usize << bits);
        self.nodes = vec![Node::default(); count];
        self.free = count;
    }

    /// Sets a key, for the first time or again.
    fn set(&mut self, number: usize) {
        if let Some(place) = self.key(number).place()
            && let Some(slot) = self.array.get_mut(place as usize)
        {
            *slot = Some(number);
            return;
        }
        self.set_in_nodes(number);
    }

    fn set_in_nodes(&mut self, number: usize) {
        let mut at = (!self.nodes.is_empty()).then(|| self.main(number));
        while let Some(place) = at {
            let node = self.node(place);
            if node.key.is_some_and(|other| self.key(other) == self.key(number)) {
                self.node_mut(place).key = Some(number);
                return;
            }
            at = node.next;
        }
        self.insert(number);
    }

    /// Adds a key that is not there: Brent's variation, as in `lj_tab_newkey`.
    fn insert(&mut self, number: usize) {
        if self.nodes.is_empty() {
            return self.grow(number);
        }
        let main = self.main(number);
        let Some(occupant) = self.node(main).key else {
            self.node_mut(main).key = Some(number);
            return;
        };
        let Some(free) = (0..self.free).rev().find(|&place| self.node(place).key.is_none()) else {
            return self.grow(number);
        };
        self.free = free;
        let mut chain = self.main(occupant);
        if chain == main {
            *self.node_mut(free) = Node { key: Some(number), next: self.node(main).next };
            self.node_mut(main).next = Some(free);
            return;
        }
        // The occupant is not where its own search begins: it moves, and the new key takes its place.
        while let Some(next) = self.node(chain).next.filter(|&next| next != main) {
            chain = next;
        }
        self.node_mut(chain).next = Some(free);
        *self.node_mut(free) = self.node(main);
        *self.node_mut(main) = Node::default();
        self.rechain(main, free, matches!(self.key(occupant), Key::Text(_)));
        self.node_mut(main).key = Some(number);
    }

    /// Puts the nodes after `free` back into the chains of their main nodes, where `main` has become free.
    fn rechain(&mut self, main: usize, free: usize, was_text: bool) {
        let mut at = free;
        while let Some(next) = self.node(at).next {
            let belongs = self.node(next).key.is_some_and(|key| {
                (was_text || matches!(self.key(key), Key::Text(_))) && self.main(key) == main
            });
            if !belongs {
                at = next;
                continue;
            }
            self.move_behind(at, next, main);
            while let Some(next) = self.node(at).next {
                let start = self.node(next).key.map(|key| self.main(key));
                match start {
                    Some(start) if start != at && start != next => self.move_behind(at, next, start),
                    _ => at = next,
                }
            }
            return;
        }
    }

    /// Takes `node` out of the chain after `before`, and puts it after `main`.
    fn move_behind(&mut self, before: usize, node: usize, main: usize) {
        self.node_mut(before).next = self.node(node).next;
        self.node_mut(node).next = self.node(main).next;
        self.node_mut(main).next = Some(node);
    }

    /// Makes room for a key, and sets it.
    fn grow(&mut self, number: usize) {
        let mut bins = [0_u32; ARRAY_BITS_MAX];
        let mut in_array = self.count_array(&mut bins);
        let mut total = 1 + in_array;
        for node in &self.nodes {
            if let Some(key) = node.key {
                in_array += count_key(self.key(key), &mut bins);
                total += 1;
            }
        }
        in_array += count_key(self.key(number), &mut bins);
        let (size, taken) = best_array(&bins, in_array);
        self.resize(size, bits_of_size(total.saturating_sub(taken) as usize));
        self.set(number);
    }

    fn count_array(&self, bins: &mut [u32; ARRAY_BITS_MAX]) -> u32 {
        let mut count = 0;
        for (place, slot) in self.array.iter().enumerate() {
            if slot.is_some() {
                let bin = u32::try_from(place).map_or(0, bin_of);
                if let Some(bin) = bins.get_mut(bin) {
                    *bin += 1;
                }
                count += 1;
            }
        }
        count
    }

    fn resize(&mut self, size: usize, bits: Option<u32>) {
        let old_nodes = std::mem::take(&mut self.nodes);
        let cut = if size < self.array.len() { self.array.split_off(size) } else { Vec::new() };
        self.array.resize(size, None);
        self.new_nodes(bits);
        for number in cut.into_iter().flatten() {
            self.set_in_nodes(number);
        }
        for number in old_nodes.iter().filter_map(|node| node.key) {
            self.set(number);
        }
    }
}

/// Returns the exponent of the number of nodes for so many keys.
fn bits_of_size(size: usize) -> Option<u32> {
    match size {
        0 => None,
        1 => Some(1),
        _ => Some(1 + (size - 1).ilog2()),
    }
}

/// Returns the bin in which an array key is counted: those from 2^n + 1 to 2^(n + 1) share one.
fn bin_of(place: u32) -> usize {
    if place > 2 { (place - 1).ilog2() as usize } else { 0 }
}

/// Counts a key that an array part can hold.
fn count_key(key: Key, bins: &mut [u32; ARRAY_BITS_MAX]) -> u32 {
    let Some(place) = key.place().filter(|&place| place < ARRAY_MAX) else { return 0 };
    if let Some(bin) = bins.get_mut(bin_of(place)) {
        *bin += 1;
    }
    1
}

/// Returns the size of the array part that is more than half full, and how many keys go into it.
fn best_array(bins: &[u32; ARRAY_BITS_MAX], count: u32) -> (usize, u32) {
    let (mut sum, mut size, mut taken) = (0, 0, 0);
    for (bits, &bin) in bins.iter().enumerate() {
        let half = 1_u64 << bits;
        if u64::from(count) * 2 <= half || sum == count {
            break;
        }
        if bin > 0 {
            sum += bin;
            if u64::from(sum) * 2 > half {
                size = (2_usize << bits) + 1;
                taken = sum;
            }
        }
    }
    (size, taken)
}

/// Scrambles the bits of a number, as on x86.
fn hash_number(number: f64) -> u32 {
    // The sum makes 0 of -0.
    let [a, b, c, d, e, f, g, h] = (number + 0.0).to_be_bytes();
    let mut low = u32::from_be_bytes([e, f, g, h]);
    let mut high = u32::from_be_bytes([a, b, c, d]) << 1;
    low ^= high;
    high = high.rotate_left(14);
    low = low.wrapping_sub(high);
    high = high.rotate_left(5);
    high ^= low;
    high.wrapping_sub(low.rotate_left(13))
}

/// Hashes text by a few of its bytes.
fn hash_text(text: &[u8]) -> u32 {
    let four = |at: usize| {
        let bytes = text.get(at..).and_then(<[u8]>::first_chunk::<4>);
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    // Bytes are signed numbers there.
    let one = |at: usize| text.get(at).map_or(0, |&byte| i32::from(byte.cast_signed()).cast_unsigned());
    let length = text.len();
    let mut hash = u32::try_from(length).unwrap_or(u32::MAX);
    let (mut first, mut middle);
    match length {
        0 => return 0,
        1..=3 => {
            first = one(0);
            hash ^= one(length - 1);
            middle = one(length >> 1);
            hash ^= middle;
            hash = hash.wrapping_sub(middle.rotate_left(14));
        }
        _ => {
            first = four(0);
            hash ^= four(length - 4);
            middle = four((length >> 1) - 2);
            hash ^= middle;
            hash = hash.wrapping_sub(middle.rotate_left(14));
            middle = middle.wrapping_add(four((length >> 2) - 1));
        }
    }
    first ^= hash;
    first = first.wrapping_sub(hash.rotate_left(11));
    middle ^= first;
    middle = middle.wrapping_sub(first.rotate_left(25));
    hash ^= middle;
    hash.wrapping_sub(middle.rotate_left(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered<'a>(keys: &[&'a str], size: usize) -> Vec<&'a str> {
        let table: Vec<Key> = keys.iter().map(|key| Key::Text(key.as_bytes())).collect();
        order(&table, size).unwrap().into_iter().map(|number| keys[number]).collect()
    }

    #[test]
    fn the_order_of_a_record_is_that_of_tarantool() {
        assert_eq!(
            ordered(&["type", "lsn", "replica_id", "timestamp"], 8),
            ["lsn", "replica_id", "type", "timestamp"]
        );
        assert_eq!(ordered(&["type", "timestamp"], 8), ["timestamp", "type"]);
        assert_eq!(ordered(&["type", "lsn", "timestamp"], 8), ["lsn", "type", "timestamp"]);
        assert_eq!(ordered(&["HEADER", "BODY"], 8), ["HEADER", "BODY"]);
        assert_eq!(ordered(&["key", "tuple_meta"], 0), ["key", "tuple_meta"]);
    }

    #[test]
    fn small_numbers_come_in_order_and_equal_keys_once() {
        let numbers = |numbers: &[f64]| {
            let keys: Vec<Key> = numbers.iter().map(|&number| Key::Number(number)).collect();
            order(&keys, 0).unwrap()
        };
        assert_eq!(numbers(&[1.0, 2.0, 3.0, 4.0, 5.0]), [0, 1, 2, 3, 4]);
        assert_eq!(numbers(&[0.0, 0.0, -0.0]), [2]);
        assert_eq!(order(&[Key::Text(b"a"), Key::Text(b"a")], 0), Some(vec![1]));
        assert_eq!(order(&[Key::Other], 0), None);
        assert_eq!(order(&[Key::Number(f64::NAN)], 0), None);
        assert_eq!(order(&[], 0), Some(Vec::new()));
    }
}
