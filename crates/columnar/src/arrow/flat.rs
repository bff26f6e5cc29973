//! FlatBuffers, in which Arrow writes all that describes values.
//!
//! Input: a tree of tables. Output: bytes. A table comes before what it points to; its list of places stands
//! right before it. Does not know which tables there are. <https://flatbuffers.dev/internals/>

/// The largest alignment of any value.
const ALIGNMENT: usize = 8;

/// A field of a table.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// It has its default.
    Absent,
    /// A byte, a truth value or the kind of a union.
    U8(u8),
    /// A small enumeration.
    I16(i16),
    /// A number.
    I32(i32),
    /// A large number.
    I64(i64),
    /// Something that is elsewhere.
    At(Flat),
}

/// What a field points to.
#[derive(Clone, Debug)]
pub(super) enum Flat {
    /// A table.
    Table(Vec<Slot>),
    /// A text.
    Text(&'static str),
    /// A list of tables.
    Tables(Vec<Vec<Slot>>),
    /// A list of so many structures of numbers of 64 bits.
    Structures(usize, Vec<u8>),
}

/// Returns the bytes of a tree, of a length that is a multiple of 8.
pub(super) fn bytes(root: Vec<Slot>) -> Vec<u8> {
    let mut out = vec![0; 4];
    let at = put_table(&root, &mut out);
    point(0, at, &mut out);
    pad(&mut out, 0);
    out
}

/// Fills up with zeros, so that what comes after another `distance` bytes is aligned.
fn pad(out: &mut Vec<u8>, distance: usize) {
    out.resize((out.len() + distance).next_multiple_of(ALIGNMENT) - distance, 0);
}

/// Appends something, and returns where it is.
fn put(flat: &Flat, out: &mut Vec<u8>) -> usize {
    match flat {
        Flat::Table(slots) => put_table(slots, out),
        Flat::Text(text) => {
            pad(out, 0);
            let at = out.len();
            out.extend_from_slice(&crate::column::length(text.len()).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
            out.push(0);
            at
        }
        Flat::Tables(tables) => {
            pad(out, 0);
            let at = out.len();
            out.extend_from_slice(&crate::column::length(tables.len()).to_le_bytes());
            let places = out.len();
            out.resize(places + 4 * tables.len(), 0);
            for (number, table) in tables.iter().enumerate() {
                let target = put_table(table, out);
                point(places + 4 * number, target, out);
            }
            at
        }
        Flat::Structures(count, numbers) => {
            // The structures are aligned, not the count before them.
            pad(out, 4);
            let at = out.len();
            out.extend_from_slice(&crate::column::length(*count).to_le_bytes());
            out.extend_from_slice(numbers);
            at
        }
    }
}

/// Appends a table with what it points to, and returns where it is.
fn put_table(slots: &[Slot], out: &mut Vec<u8>) -> usize {
    // The distance back to the places comes first.
    let mut inline = vec![0; 4];
    let mut places = Vec::with_capacity(slots.len());
    for slot in slots {
        let value: &[u8] = match slot {
            Slot::Absent => &[],
            Slot::U8(value) => &[*value],
            Slot::I16(value) => &value.to_le_bytes(),
            Slot::I32(value) => &value.to_le_bytes(),
            Slot::I64(value) => &value.to_le_bytes(),
            Slot::At(_) => &[0; 4],
        };
        if value.is_empty() {
            places.push(0);
            continue;
        }
        inline.resize(inline.len().next_multiple_of(value.len()), 0);
        places.push(inline.len());
        inline.extend_from_slice(value);
    }
    let places_bytes = 4 + 2 * places.len();
    inline[..4].copy_from_slice(&crate::column::length(places_bytes).to_le_bytes());
    pad(out, places_bytes);
    for number in [places_bytes, inline.len()].iter().chain(&places) {
        let number = u16::try_from(*number).expect("a table has few fields");
        out.extend_from_slice(&number.to_le_bytes());
    }
    let at = out.len();
    out.append(&mut inline);
    for (slot, place) in slots.iter().zip(places) {
        if let Slot::At(flat) = slot {
            let target = put(flat, out);
            point(at + place, target, out);
        }
    }
    at
}

/// Writes at a place how far the target is from there.
fn point(place: usize, target: usize, out: &mut [u8]) {
    out[place..place + 4].copy_from_slice(&crate::column::length(target - place).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn u32_at(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    /// Returns where a field of the table at this place is.
    fn field(bytes: &[u8], table: usize, number: usize) -> Option<usize> {
        let places = table - u32_at(bytes, table);
        let u16_at = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        assert!(4 + 2 * number < u16_at(places));
        Some(u16_at(places + 4 + 2 * number)).filter(|place| *place > 0).map(|place| table + place)
    }

    #[test]
    fn a_reader_finds_every_value_aligned() {
        let inner = vec![Slot::U8(7), Slot::I64(-2)];
        let numbers = [3_i64, 4].iter().flat_map(|number| number.to_le_bytes()).collect();
        let bytes = bytes(vec![
            Slot::I16(4),
            Slot::Absent,
            Slot::At(Flat::Text("héllo")),
            Slot::At(Flat::Structures(1, numbers)),
            Slot::At(Flat::Tables(vec![inner.clone(), inner.clone()])),
            Slot::At(Flat::Table(inner)),
        ]);
        assert_eq!(bytes.len() % 8, 0);
        let follow = |at: usize| at + u32_at(&bytes, at);
        let root = follow(0);
        assert_eq!(bytes[field(&bytes, root, 0).unwrap()..][..2], [4, 0]);
        assert_eq!(field(&bytes, root, 1), None);
        let text = follow(field(&bytes, root, 2).unwrap());
        assert_eq!((u32_at(&bytes, text), &bytes[text + 4..text + 11]), (6, "héllo\0".as_bytes()));
        let structures = follow(field(&bytes, root, 3).unwrap());
        assert_eq!((u32_at(&bytes, structures), (structures + 4) % 8), (1, 0));
        assert_eq!(
            bytes[structures + 4..][..16],
            [[3, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0]].concat()
        );
        let tables = follow(field(&bytes, root, 4).unwrap());
        assert_eq!(u32_at(&bytes, tables), 2);
        for table in [follow(tables + 4), follow(tables + 8), follow(field(&bytes, root, 5).unwrap())] {
            assert_eq!(bytes[field(&bytes, table, 0).unwrap()], 7);
            let large = field(&bytes, table, 1).unwrap();
            assert_eq!((large % 8, &bytes[large..large + 8]), (0, &(-2_i64).to_le_bytes()[..]));
        }
    }
}
