//! Any line is a tuple of the space or a sentence. A tuple that is written exactly and read again is the
//! same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarantool::import::{NewSpace, TupleMaker};
use tarantool::msgpack::Reader;
use tarantool::space::{Field, Space};
use tarantool::text::{JsonStyle, JsonWriter};

const TYPES: [&str; 16] = [
    "",
    "any",
    "unsigned",
    "integer",
    "number",
    "double",
    "decimal",
    "string",
    "varbinary",
    "boolean",
    "uuid",
    "datetime",
    "interval",
    "scalar",
    "array",
    "map",
];

fn maker(types: [&str; 3]) -> TupleMaker {
    let field = |(number, type_name): (usize, &&str)| Field {
        name: [b'a' + number as u8].to_vec(),
        type_name: type_name.as_bytes().to_vec(),
        is_nullable: number > 0,
    };
    let fields = types.iter().enumerate().map(field).collect();
    TupleMaker::new(&Space { id: 512, name: "orders".to_owned(), fields, ..Space::default() }, &[])
        .expect("types")
}

fuzz_target!(|input: (&str, [u8; 3], Option<&str>)| {
    let (line, types, text) = input;
    let mut maker = maker(types.map(|number| TYPES[usize::from(number) % TYPES.len()]));
    let mut tuple = Vec::new();
    let made = match text {
        Some(text) => maker.put_texts([(0, Some(line)), (1, None), (2, Some(text))].into_iter(), &mut tuple),
        None => maker.put_json(line, &mut tuple),
    };
    if made.is_ok() {
        let mut exact = Vec::new();
        JsonWriter::new(JsonStyle::Exact).put(&mut Reader::new(&tuple), &mut exact).expect("it is msgpack");
        let mut again = Vec::new();
        maker.put_json(std::str::from_utf8(&exact).expect("JSON"), &mut again).expect("it was a tuple");
        assert_eq!(tuple, again, "{}", String::from_utf8_lossy(&exact));
    }
    if let Ok(space) = NewSpace::parse(line, text) {
        assert!(!format!("{space:?}").is_empty());
    }
});
