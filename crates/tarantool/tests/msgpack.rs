//! msgpack compared with a slow recursive twin, on random values and on every kind of damage.

use proptest::prelude::*;
use tarantool::Damage;
use tarantool::msgpack::*;

/// A value as a tree, with extensions and numbers of all widths.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Nil,
    Boolean(bool),
    Unsigned(u64),
    Negative(i64),
    Float(u32),
    Double(u64),
    Text(Vec<u8>),
    Bytes(Vec<u8>),
    Extension(i8, Vec<u8>),
    Array(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
}

fn put(out: &mut Vec<u8>, tree: &Tree) {
    match tree {
        Tree::Nil => put_nil(out),
        Tree::Boolean(value) => put_boolean(out, *value),
        Tree::Unsigned(number) => put_uint(out, *number),
        Tree::Negative(number) => put_int(out, *number),
        Tree::Float(bits) => put_float(out, f32::from_bits(*bits)),
        Tree::Double(bits) => put_double(out, f64::from_bits(*bits)),
        Tree::Text(bytes) => put_str(out, bytes),
        Tree::Bytes(bytes) => put_bin(out, bytes),
        Tree::Extension(number, bytes) => put_ext(out, *number, bytes),
        Tree::Array(values) => {
            put_array_len(out, values.len().try_into().unwrap());
            values.iter().for_each(|value| put(out, value));
        }
        Tree::Map(pairs) => {
            put_map_len(out, pairs.len().try_into().unwrap());
            pairs.iter().for_each(|(key, value)| {
                put(out, key);
                put(out, value);
            });
        }
    }
}

/// Reads a value recursively: the twin of skipping it.
fn read(reader: &mut Reader) -> Result<Tree> {
    Ok(match reader.peek()? {
        Class::Nil => reader.nil().map(|()| Tree::Nil)?,
        Class::Boolean => Tree::Boolean(reader.boolean()?),
        Class::Unsigned => Tree::Unsigned(reader.uint()?),
        Class::Signed => Tree::Negative(i64::try_from(reader.int()?).unwrap()),
        Class::Float | Class::Double => match reader.number()? {
            Number::Float(number) => Tree::Float(number.to_bits()),
            Number::Double(number) => Tree::Double(number.to_bits()),
            other => panic!("{other:?} is no number with a point"),
        },
        Class::String => Tree::Text(reader.str()?.to_vec()),
        Class::Binary => Tree::Bytes(reader.bin()?.to_vec()),
        Class::Extension => {
            let (number, bytes) = reader.ext()?;
            Tree::Extension(number, bytes.to_vec())
        }
        Class::Array => {
            let length = reader.array_len()?;
            Tree::Array((0..length).map(|_| read(reader)).collect::<Result<_>>()?)
        }
        Class::Map => {
            let length = reader.map_len()?;
            Tree::Map((0..length).map(|_| Ok((read(reader)?, read(reader)?))).collect::<Result<_>>()?)
        }
        Class::Never => return Err(reader.damage("a byte is here that no value begins with")),
    })
}

fn tree() -> impl Strategy<Value = Tree> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let leaf = prop_oneof![
        Just(Tree::Nil),
        any::<bool>().prop_map(Tree::Boolean),
        (any::<u64>(), 0_u32..64).prop_map(|(number, shift)| Tree::Unsigned(number >> shift)),
        (any::<u64>(), 1_u32..64).prop_map(|(number, shift)| Tree::Negative(-1 - (number >> shift) as i64)),
        any::<u32>().prop_map(Tree::Float),
        any::<u64>().prop_map(Tree::Double),
        bytes().prop_map(Tree::Text),
        bytes().prop_map(Tree::Bytes),
        (any::<i8>(), bytes()).prop_map(|(number, bytes)| Tree::Extension(number, bytes)),
    ];
    leaf.prop_recursive(4, 60, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Tree::Array),
            prop::collection::vec((inner.clone(), inner), 0..20).prop_map(Tree::Map),
        ]
    })
}

proptest! {
    #[test]
    fn values_come_back(tree in tree(), behind in prop::collection::vec(any::<u8>(), 0..4)) {
        let mut bytes = Vec::new();
        put(&mut bytes, &tree);
        let length = bytes.len();
        bytes.extend(&behind);
        let mut reader = Reader::new(&bytes);
        prop_assert_eq!(reader.skip().map(<[u8]>::len), Ok(length));
        prop_assert_eq!(reader.rest(), &behind[..]);
        let mut reader = Reader::new(&bytes);
        prop_assert_eq!(read(&mut reader), Ok(tree));
        prop_assert_eq!(reader.offset(), length);
        // Any cut is an error that names its position.
        for cut in 0..length {
            let damage = Reader::new(&bytes[..cut]).skip().unwrap_err();
            prop_assert_eq!(damage, Damage::new(cut, "a value is cut off"));
        }
    }

    #[test]
    fn stepping_over_and_descending_agree_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut twin = Reader::new(&bytes);
        let tree = read(&mut twin);
        let mut reader = Reader::new(&bytes);
        let skipped = reader.skip();
        prop_assert_eq!(skipped.is_ok(), tree.is_ok());
        if skipped.is_ok() {
            prop_assert_eq!(reader.offset(), twin.offset());
        } else {
            prop_assert_eq!(reader.offset(), 0, "after an error nothing was read");
        }
    }
}

/// The shortest form on both sides of each limit, written by hand.
#[test]
fn numbers_are_as_short_as_they_can_be() {
    let text = |put: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        put(&mut out);
        out.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let unsigned = [
        (0_u64, "00"),
        (0x7f, "7f"),
        (0x80, "cc80"),
        (0xff, "ccff"),
        (0x100, "cd0100"),
        (0xffff, "cdffff"),
        (0x1_0000, "ce00010000"),
        (0xffff_ffff, "ceffffffff"),
        (0x1_0000_0000, "cf0000000100000000"),
        (u64::MAX, "cfffffffffffffffff"),
    ];
    for (number, wanted) in unsigned {
        assert_eq!(text(&|out| put_uint(out, number)), wanted);
    }
    let signed = [
        (5_i64, "05"),
        (-1, "ff"),
        (-0x20, "e0"),
        (-0x21, "d0df"),
        (-0x80, "d080"),
        (-0x81, "d1ff7f"),
        (-0x8000, "d18000"),
        (-0x8001, "d2ffff7fff"),
        (-0x8000_0000, "d280000000"),
        (-0x8000_0001, "d3ffffffff7fffffff"),
        (i64::MIN, "d38000000000000000"),
    ];
    for (number, wanted) in signed {
        assert_eq!(text(&|out| put_int(out, number)), wanted);
    }
}

#[test]
fn lengths_are_as_short_as_they_can_be() {
    let head = |put: &dyn Fn(&mut Vec<u8>, &[u8]), length: usize| {
        let mut out = Vec::new();
        put(&mut out, &vec![b'x'; length]);
        let bytes = out[..out.len() - length].to_vec();
        assert_eq!(Reader::new(&out).skip().map(<[u8]>::len), Ok(out.len()));
        bytes
    };
    assert_eq!(head(&|out, text| put_str(out, text), 31), [0xbf]);
    assert_eq!(head(&|out, text| put_str(out, text), 32), [0xd9, 32]);
    assert_eq!(head(&|out, text| put_str(out, text), 255), [0xd9, 255]);
    assert_eq!(head(&|out, text| put_str(out, text), 256), [0xda, 1, 0]);
    assert_eq!(head(&|out, text| put_str(out, text), 65536), [0xdb, 0, 1, 0, 0]);
    assert_eq!(head(&|out, bytes| put_bin(out, bytes), 0), [0xc4, 0]);
    assert_eq!(head(&|out, bytes| put_bin(out, bytes), 256), [0xc5, 1, 0]);
    assert_eq!(head(&|out, bytes| put_bin(out, bytes), 65536), [0xc6, 0, 1, 0, 0]);
    assert_eq!(head(&|out, bytes| put_ext(out, -1, bytes), 16), [0xd8, 0xff]);
    assert_eq!(head(&|out, bytes| put_ext(out, 2, bytes), 17), [0xc7, 17, 2]);
    assert_eq!(head(&|out, bytes| put_ext(out, 2, bytes), 256), [0xc8, 1, 0, 2]);
    assert_eq!(head(&|out, bytes| put_ext(out, 2, bytes), 65536), [0xc9, 0, 1, 0, 0, 2]);
    let lengths = |put: fn(&mut Vec<u8>, u32), length| {
        let mut out = Vec::new();
        put(&mut out, length);
        out
    };
    assert_eq!(lengths(put_array_len, 15), [0x9f]);
    assert_eq!(lengths(put_array_len, 16), [0xdc, 0, 16]);
    assert_eq!(lengths(put_array_len, 65536), [0xdd, 0, 1, 0, 0]);
    assert_eq!(lengths(put_map_len, 15), [0x8f]);
    assert_eq!(lengths(put_map_len, 16), [0xde, 0, 16]);
    assert_eq!(lengths(put_map_len, 65536), [0xdf, 0, 1, 0, 0]);
}

/// Wide forms of small numbers can be read, too, because clients may send them.
#[test]
fn any_width_is_read() {
    for wide in [&[5_u8][..], &[0xcc, 5], &[0xcd, 0, 5], &[0xce, 0, 0, 0, 5], &[0xcf, 0, 0, 0, 0, 0, 0, 0, 5]]
    {
        assert_eq!(Reader::new(wide).uint(), Ok(5));
        assert_eq!(Reader::new(wide).int(), Ok(5));
    }
    for wide in [&[0xfb_u8][..], &[0xd0, 0xfb], &[0xd1, 0xff, 0xfb], &[0xd2, 0xff, 0xff, 0xff, 0xfb]] {
        assert_eq!(Reader::new(wide).int(), Ok(-5));
        assert_eq!(Reader::new(wide).uint(), Err(Damage::new(0, "a number without a sign is expected")));
    }
    assert_eq!(Reader::new(&[0xdd, 0, 0, 0, 3]).array_len(), Ok(3));
    assert_eq!(Reader::new(&[0xdf, 0, 0, 0, 3]).map_len(), Ok(3));
    assert_eq!(Reader::new(&[0xdb, 0, 0, 0, 1, b'x']).str(), Ok(&b"x"[..]));
}

/// A million nested arrays take no stack, and huge lengths take no time.
#[test]
fn depth_and_lengths_are_harmless() {
    let mut deep = vec![0x91_u8; 1_000_000];
    assert_eq!(Reader::new(&deep).skip(), Err(Damage::new(1_000_000, "a value is cut off")));
    deep.push(0xc0);
    assert_eq!(Reader::new(&deep).skip().map(<[u8]>::len), Ok(1_000_001));
    let promises = [0xdd, 0xff, 0xff, 0xff, 0xff].repeat(1000);
    assert_eq!(Reader::new(&promises).skip(), Err(Damage::new(5000, "a value is cut off")));
    assert_eq!(
        Reader::new(&[0xdb, 0xff, 0xff, 0xff, 0xff, 0]).str(),
        Err(Damage::new(0, "a value is cut off"))
    );
    assert_eq!(
        Reader::new(&[0x92, 0x00, 0xc1]).skip(),
        Err(Damage::new(2, "a byte is here that no value begins with"))
    );
}

#[test]
fn a_value_of_another_kind_is_an_error_that_names_the_expected_one() {
    let mut reader = Reader::new(&[0x01, 0xc0]);
    assert_eq!(reader.uint(), Ok(1));
    let what = |damage: Damage| (damage.offset, damage.what);
    assert_eq!(what(reader.str().unwrap_err()), (1, "text is expected"));
    assert_eq!(what(reader.bin().unwrap_err()), (1, "bytes are expected"));
    assert_eq!(what(reader.ext().unwrap_err()), (1, "an extension is expected"));
    assert_eq!(what(reader.boolean().unwrap_err()), (1, "true or false is expected"));
    assert_eq!(what(reader.number().unwrap_err()), (1, "a number is expected"));
    assert_eq!(what(reader.array_len().unwrap_err()), (1, "an array is expected"));
    assert_eq!(what(reader.map_len().unwrap_err()), (1, "a map is expected"));
    assert_eq!(reader.nil(), Ok(()));
    assert_eq!(what(reader.nil().unwrap_err()), (2, "nil is expected"));
    assert_eq!(what(reader.peek().unwrap_err()), (2, "a value is cut off"));
    assert!(reader.is_empty());
}
