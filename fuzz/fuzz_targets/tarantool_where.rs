//! Any text is an expression or an error with a position in it. An expression answers for any tuple, or says
//! that the tuple is damaged; its opposite says the opposite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarantool::query::{Expression, TupleForm, TupleWriter, field_list};
use tarantool::space::{Field, Space};

fn space() -> Space {
    let field = |name: &str| Field { name: name.as_bytes().to_vec(), ..Field::default() };
    Space {
        id: 512,
        name: "orders".to_owned(),
        fields: ["id", "name", "a.b", "c"].map(field).to_vec(),
        ..Space::default()
    }
}

fuzz_target!(|parts: (&str, &str, &[u8])| {
    let (text, fields, tuple) = parts;
    let space = space();
    match Expression::parse(text, &space) {
        Ok(expression) => {
            let fits = expression.fits(tuple);
            if let Ok(opposite) = Expression::parse(&format!("not ({text})"), &space) {
                assert_eq!(opposite.fits(tuple), fits.map(|fits| !fits), "{text:?}");
            }
        }
        Err(error) => {
            assert!(error.offset <= text.len() && text.is_char_boundary(error.offset), "{error}");
            assert_eq!(error.to_string().lines().count(), 3, "{error}");
        }
    }
    match field_list(fields, &space) {
        Ok(fields) => {
            let mut out = Vec::new();
            let _ = TupleWriter::new(&space, TupleForm::Object, Some(fields)).put(tuple, &mut out);
        }
        Err(sentence) => assert_eq!(sentence.lines().count(), 1, "{sentence}"),
    }
});
