//! The order of keys: ours, a naive one, and Tarantool's.
//!
//! Input: unusual values of each type. Output: failures where the orders differ. Does not depend on how keys
//! are normalised.

use std::cmp::Ordering;
use tarantool::key::{PartKind, PartType, normalise_part};
use tarantool::msgpack::{self, Number, Reader};
use testkit::Random;

/// Puts values with a primary key into one space for each type, and prints the primary keys in the order of
/// the values.
const SCRIPT: &str = r"
local ffi = require('ffi')
ffi.cdef[[int box_insert(uint32_t space, const char *tuple, const char *end, void **result);]]
box.cfg{log = 'tarantool.log', wal_mode = 'none'}
for line in io.lines('types') do
    local file, kind, nullable = line:match('(%S+) (%S+) (%S+)')
    local space = box.schema.space.create(file)
    space:create_index('pk')
    space:create_index('by_value', {unique = false, parts = {{field = 2, type = kind, is_nullable = nullable == 'true'}}})
    local content = io.open(file, 'rb'):read('*a')
    local bytes, place, refused = ffi.cast('const char *', content), 0, 0
    box.begin()
    while place < #content do
        local length = ffi.cast('const uint8_t *', bytes)[place]
        local tuple = bytes + place + 1
        if ffi.C.box_insert(space.id, tuple, tuple + length, nil) ~= 0 then refused = refused + 1 end
        place = place + 1 + length
    end
    box.commit()
    local ids = {}
    for _, tuple in space.index.by_value:pairs() do table.insert(ids, tuple[1]) end
    print(file .. ' ' .. refused .. ' ' .. table.concat(ids, ' '))
end
os.exit(0)
";

#[test]
fn byte_order_is_tarantools_order() {
    let directory = tempfile::tempdir().unwrap();
    let mut types = String::new();
    let mut cases = cases();
    cases.extend(decimal_cases());
    for (name, kind, values) in &cases {
        let nullable = kind.is_nullable;
        types += &format!("{name} {} {nullable}\n", type_name(kind.part_type));
        let mut file = Vec::new();
        for (number, value) in values.iter().enumerate() {
            let mut tuple = Vec::new();
            // A missing value makes a tuple of one field.
            msgpack::put_array_len(&mut tuple, if value.is_empty() { 1 } else { 2 });
            msgpack::put_uint(&mut tuple, number as u64);
            tuple.extend_from_slice(value);
            file.push(u8::try_from(tuple.len()).unwrap());
            file.extend_from_slice(&tuple);
        }
        std::fs::write(directory.path().join(name), file).unwrap();
    }
    std::fs::write(directory.path().join("types"), types).unwrap();
    let Some(printed) = testkit::tarantool(directory.path(), SCRIPT) else { return };
    assert_eq!(printed.lines().count(), cases.len());
    for (line, (name, kind, values)) in printed.lines().zip(&cases) {
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some(name.as_str()));
        let refused: usize = words.next().unwrap().parse().unwrap();
        let order: Vec<usize> = words.map(|word| word.parse().unwrap()).collect();
        assert_eq!(order.len() + refused, values.len());
        // Without values of the type, the test would prove nothing.
        assert!(refused * 4 < values.len(), "{name}: {refused} of {} values were refused", values.len());
        let mut ours = order.clone();
        ours.sort_by_key(|&number| (normalised(&values[number], kind), number));
        let differing = order.iter().zip(&ours).position(|(theirs, ours)| theirs != ours);
        if let Some(place) = differing {
            let around = |order: &[usize]| {
                order[place..order.len().min(place + 4)]
                    .iter()
                    .map(|&n| shown(&values[n]))
                    .collect::<Vec<_>>()
            };
            panic!("{name}, place {place}: Tarantool has {:?}, we have {:?}", around(&order), around(&ours));
        }
    }
}

#[test]
fn byte_order_is_the_naive_order() {
    for (name, kind, values) in cases() {
        for (one, two) in
            values.iter().zip(values.iter().skip(1)).chain(values.iter().zip(values.iter().rev()))
        {
            let bytes = normalised(one, &kind).cmp(&normalised(two, &kind));
            assert_eq!(bytes, naive(one, two), "{name}: {} and {}", shown(one), shown(two));
        }
    }
}

/// Part of a key of several values, so none may be the beginning of another.
#[test]
fn descending_byte_order_is_the_reverse() {
    for (name, kind, values) in cases() {
        let descending = PartKind { is_descending: true, ..kind.clone() };
        for (one, two) in values.iter().zip(values.iter().skip(1)) {
            let (up, down) = (
                [one, two].map(|value| normalised(value, &kind)),
                [one, two].map(|value| normalised(value, &descending)),
            );
            assert_eq!(down[0].cmp(&down[1]), up[1].cmp(&up[0]), "{name}: {} and {}", shown(one), shown(two));
            assert!(
                up[0] == up[1] || !down[0].starts_with(&down[1]),
                "{name}: {} and {}",
                shown(one),
                shown(two)
            );
        }
    }
}

#[test]
fn values_of_another_type_are_refused() {
    let mut text = Vec::new();
    msgpack::put_str(&mut text, b"12");
    for part_type in
        [PartType::Unsigned, PartType::Integer, PartType::Number, PartType::Uuid, PartType::Boolean]
    {
        let kind = PartKind::plain(part_type);
        assert!(normalise_part(&mut Reader::new(&text), &kind, &mut Vec::new()).is_err());
        assert!(normalise_part(&mut Reader::new(&[0xc0]), &kind, &mut Vec::new()).is_err());
    }
    let number = PartKind { is_nullable: true, ..PartKind::plain(PartType::String) };
    assert!(normalise_part(&mut Reader::new(&[7]), &number, &mut Vec::new()).is_err());
}

fn shown(value: &[u8]) -> String {
    format!("{value:02x?}")
}

/// An empty value stands for a missing one.
fn normalised(value: &[u8], kind: &PartKind) -> Vec<u8> {
    let mut out = Vec::new();
    let value = if value.is_empty() { &[0xc0] } else { value };
    normalise_part(&mut Reader::new(value), kind, &mut out).unwrap();
    out
}

fn type_name(part_type: PartType) -> String {
    let name = format!("{part_type:?}").to_lowercase();
    assert_eq!(PartType::named(name.as_bytes()), Some(part_type));
    name
}

/// Compares by schoolbook arithmetic, slowly.
fn naive(one: &[u8], two: &[u8]) -> Ordering {
    let (one, two) = (Value::read(one), Value::read(two));
    one.class().cmp(&two.class()).then_with(|| match (&one, &two) {
        (Value::Boolean(one), Value::Boolean(two)) => one.cmp(two),
        (Value::Whole(one), Value::Whole(two)) => one.cmp(two),
        (Value::Point(one), Value::Point(two)) => points(*one, *two),
        (Value::Whole(one), Value::Point(two)) => whole_and_point(*one, *two),
        (Value::Point(one), Value::Whole(two)) => whole_and_point(*two, *one).reverse(),
        (Value::Bytes(_, one), Value::Bytes(_, two)) => one.cmp(two),
        _ => Ordering::Equal,
    })
}

#[derive(Debug)]
enum Value {
    Nil,
    Boolean(bool),
    Whole(i128),
    Point(f64),
    Bytes(u8, Vec<u8>),
}

impl Value {
    fn read(bytes: &[u8]) -> Value {
        let mut reader = Reader::new(bytes);
        match bytes.first() {
            None | Some(0xc0) => Value::Nil,
            Some(0xc2 | 0xc3) => Value::Boolean(reader.boolean().unwrap()),
            Some(0xa0..=0xbf | 0xd9..=0xdb) => Value::Bytes(3, reader.str().unwrap().to_vec()),
            Some(0xc4..=0xc6) => Value::Bytes(4, reader.bin().unwrap().to_vec()),
            Some(0xc7..=0xc9 | 0xd4..=0xd8) => Value::Bytes(5, reader.ext().unwrap().1.to_vec()),
            _ => match reader.number().unwrap() {
                Number::Unsigned(number) => Value::Whole(i128::from(number)),
                Number::Signed(number) => Value::Whole(i128::from(number)),
                Number::Float(number) => Value::Point(f64::from(number)),
                Number::Double(number) => Value::Point(number),
            },
        }
    }

    fn class(&self) -> u8 {
        match self {
            Value::Nil => 0,
            Value::Boolean(_) => 1,
            Value::Whole(_) | Value::Point(_) => 2,
            Value::Bytes(class, _) => *class,
        }
    }
}

fn points(one: f64, two: f64) -> Ordering {
    one.partial_cmp(&two).unwrap_or_else(|| two.is_nan().cmp(&one.is_nan()))
}

#[expect(clippy::cast_possible_truncation, reason = "it is far below what 128 bits hold")]
fn whole_and_point(whole: i128, point: f64) -> Ordering {
    if point.is_nan() {
        return Ordering::Greater;
    }
    if point.abs() >= 1e30 {
        return if point > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    let floor = point.floor();
    whole.cmp(&(floor as i128)).then(if point > floor { Ordering::Less } else { Ordering::Equal })
}

/// A name, a type, and values of the type.
type Case = (String, PartKind, Vec<Vec<u8>>);
type Maker = fn(&mut Random) -> Vec<u8>;

/// Unusual values of each type. Some occur twice, so that equal values are compared, too.
fn cases() -> Vec<Case> {
    let makers: [(PartType, Maker); 9] = [
        (PartType::Unsigned, unsigned),
        (PartType::Integer, integer),
        (PartType::Number, number),
        (PartType::Double, double),
        (PartType::String, string),
        (PartType::Varbinary, binary),
        (PartType::Boolean, boolean),
        (PartType::Uuid, uuid),
        (PartType::Scalar, scalar),
    ];
    let both = |(stream, (part_type, make))| {
        [false, true]
            .map(|is_nullable| case(PartKind { is_nullable, ..PartKind::plain(part_type) }, stream, make))
    };
    (1..).zip(makers).flat_map(both).collect()
}

/// Decimals, alone and among integers. Among floating-point numbers Tarantool rounds decimals, and its order
/// is not consistent.
fn decimal_cases() -> Vec<Case> {
    let kind = |part_type| PartKind { is_nullable: true, ..PartKind::plain(part_type) };
    let mixed: Maker = |random| if random.per_mille(500) { decimal(random) } else { integer(random) };
    vec![
        case(kind(PartType::Decimal), 20, decimal),
        case(kind(PartType::Number), 21, mixed),
        case(kind(PartType::Scalar), 22, mixed),
    ]
}

fn case(kind: PartKind, stream: u64, make: Maker) -> Case {
    let mut random = Random::of(26, stream, u64::from(kind.is_nullable));
    let mut values: Vec<Vec<u8>> = Vec::new();
    for _ in 0..3000 {
        let value = match random.below(20) {
            0 if kind.is_nullable => vec![0xc0],
            1 if kind.is_nullable => Vec::new(),
            2 | 3 if !values.is_empty() => random.pick(&values).clone(),
            _ => make(&mut random),
        };
        values.push(value);
    }
    (format!("{}_{}_{stream}", type_name(kind.part_type), kind.is_nullable), kind, values)
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// A whole number near a power of two.
fn near_power(random: &mut Random) -> u64 {
    let near = 1_u64.rotate_left(u32::try_from(random.below(64)).unwrap());
    near.wrapping_add(random.below(5)).wrapping_sub(2)
}

fn unsigned(random: &mut Random) -> Vec<u8> {
    let number = if random.per_mille(200) { random.next_u64() } else { near_power(random) };
    written(|out| msgpack::put_uint(out, number))
}

fn integer(random: &mut Random) -> Vec<u8> {
    if random.per_mille(500) {
        return unsigned(random);
    }
    let number = near_power(random).cast_signed();
    written(|out| msgpack::put_int(out, number.min(0).wrapping_sub(i64::from(number == 0))))
}

fn number(random: &mut Random) -> Vec<u8> {
    let special =
        [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX, 0.1];
    match random.below(8) {
        0..=3 => integer(random),
        4 => written(|out| msgpack::put_double(out, *random.pick(&special))),
        5 => {
            let whole = near_power(random) as f64;
            let signed = if random.per_mille(500) { -whole } else { whole };
            written(|out| msgpack::put_double(out, signed))
        }
        6 => {
            let half = near_power(random).cast_signed() as f64 / 2.0;
            written(|out| msgpack::put_double(out, half))
        }
        _ => written(|out| msgpack::put_float(out, random.next_u64().cast_signed() as f32 / 65536.0)),
    }
}

fn double(random: &mut Random) -> Vec<u8> {
    loop {
        let value = number(random);
        if value[0] == 0xcb && !matches!(Value::read(&value), Value::Point(number) if number.is_nan()) {
            return value;
        }
    }
}

/// A decimal of up to 38 digits. Few different leading digits are used, so that many numbers are equal or
/// almost equal.
fn decimal(random: &mut Random) -> Vec<u8> {
    let count = random.between(1, 37);
    let mut halves: Vec<u8> = (0..count).map(|_| *random.pick(&[0, 0, 0, 1, 9])).collect();
    if halves.len().is_multiple_of(2) {
        halves.insert(0, 0);
    }
    halves.push(*random.pick(&[0xc, 0xd]));
    let mut packed = Vec::new();
    let scale = i64::try_from(random.below(20)).unwrap() - 5;
    msgpack::put_int(&mut packed, scale);
    packed.extend(halves.chunks(2).map(|pair| pair[0] << 4 | pair[1]));
    written(|out| msgpack::put_ext(out, 1, &packed))
}

fn letters(random: &mut Random) -> Vec<u8> {
    let length = random.below(12);
    (0..length).map(|_| *random.pick(&[0_u8, 0, 1, b'a', b'b', 0xfe, 0xff])).collect()
}

fn string(random: &mut Random) -> Vec<u8> {
    written(|out| msgpack::put_str(out, &letters(random)))
}

fn binary(random: &mut Random) -> Vec<u8> {
    written(|out| msgpack::put_bin(out, &letters(random)))
}

fn boolean(random: &mut Random) -> Vec<u8> {
    written(|out| msgpack::put_boolean(out, random.per_mille(500)))
}

fn uuid(random: &mut Random) -> Vec<u8> {
    // Any bytes will do: Tarantool compares UUIDs by their bytes, whatever their version and variant.
    let mut bytes = [0_u8; 16];
    bytes.iter_mut().for_each(|byte| *byte = *random.pick(&[0, 1, 0x7f, 0x80, 0xff]));
    written(|out| msgpack::put_ext(out, 2, &bytes))
}

fn scalar(random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => boolean(random),
        1 => number(random),
        2 => string(random),
        _ => binary(random),
    }
}
