//! Tuples of Tarantool as JSON.
//!
//! Turns msgpack into JSON on one line, as docs/OUTPUT.md describes. Nested values are kept on a list,
//! without recursion: a tuple may be as deep as it is long. Does not know what fields mean.

use anyhow::{Result, anyhow};
use printable::json::{self, base64};
use tarantool::msgpack::{Class, Number, Reader};
use tarantool::{Damage, uuid_text};

/// The number of the extension that holds a UUID.
const EXT_UUID: i8 = 2;

/// An array or map whose end is not reached yet.
struct Open {
    /// Values that are still to come; of a map, keys and values.
    left: u64,
    is_map: bool,
    is_first: bool,
}

/// Appends a tuple as JSON.
///
/// # Errors
/// If it is not msgpack.
pub(crate) fn put_tuple(tuple: &[u8], out: &mut Vec<u8>) -> Result<()> {
    put(tuple, out).map_err(|damage| anyhow!("a tuple is damaged at byte {}: {}", damage.offset, damage.what))
}

fn put(tuple: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
    let mut reader = Reader::new(tuple);
    let mut open: Vec<Open> = Vec::new();
    loop {
        let is_key = open.last().is_some_and(|open| open.is_map && open.left % 2 == 0);
        match reader.peek()? {
            _ if is_key => put_key(&mut reader, out)?,
            Class::Array => {
                let left = u64::from(reader.array_len()?);
                out.push(b'[');
                open.push(Open { left: left + 1, is_map: false, is_first: true });
            }
            Class::Map => {
                let left = u64::from(reader.map_len()?) * 2;
                out.push(b'{');
                open.push(Open { left: left + 1, is_map: true, is_first: true });
            }
            _ => put_scalar(&mut reader, out)?,
        }
        if !next(&mut open, out) {
            return Ok(());
        }
    }
}

/// Continues after a value, or after the beginning of an array or map. Returns whether anything is left.
fn next(open: &mut Vec<Open>, out: &mut Vec<u8>) -> bool {
    while let Some(last) = open.last_mut() {
        last.left -= 1;
        if last.left > 0 {
            let is_value = last.is_map && last.left % 2 == 1;
            match (is_value, last.is_first) {
                (true, _) => out.push(b':'),
                (false, true) => {}
                (false, false) => out.push(b','),
            }
            last.is_first = false;
            return true;
        }
        out.push(if last.is_map { b'}' } else { b']' });
        open.pop();
    }
    false
}

/// Appends a key of a map: text as it is, anything else as the JSON of it, as text.
fn put_key(reader: &mut Reader, out: &mut Vec<u8>) -> Result<(), Damage> {
    let key = match reader.peek()? {
        Class::String => match std::str::from_utf8(reader.str()?) {
            Ok(text) => text.to_owned(),
            Err(_) => "?".to_owned(),
        },
        Class::Array | Class::Map => base64(reader.skip()?),
        _ => {
            let mut scalar = Vec::new();
            put_scalar(reader, &mut scalar)?;
            String::from_utf8_lossy(&scalar).into_owned()
        }
    };
    json::put(&key, out);
    Ok(())
}

fn put_scalar(reader: &mut Reader, out: &mut Vec<u8>) -> Result<(), Damage> {
    match reader.peek()? {
        Class::Nil => {
            reader.nil()?;
            out.extend_from_slice(b"null");
        }
        Class::Boolean => out.extend_from_slice(reader.boolean()?.to_string().as_bytes()),
        Class::Unsigned | Class::Signed | Class::Float | Class::Double => put_number(reader.number()?, out),
        Class::String => {
            let bytes = reader.str()?;
            match std::str::from_utf8(bytes) {
                Ok(text) => json::put(&text, out),
                Err(_) => put_bytes(bytes, out),
            }
        }
        Class::Binary => put_bytes(reader.bin()?, out),
        Class::Extension => match reader.ext()? {
            (EXT_UUID, bytes) if bytes.len() == 16 => {
                json::put(&uuid_text(bytes.try_into().expect("there are 16")), out);
            }
            (number, bytes) => {
                out.extend_from_slice(
                    format!("{{\"ext\":{number},\"base64\":\"{}\"}}", base64(bytes)).as_bytes(),
                );
            }
        },
        Class::Array | Class::Map | Class::Never => {
            return Err(reader.damage("a byte is here that no value begins with"));
        }
    }
    Ok(())
}

fn put_number(number: Number, out: &mut Vec<u8>) {
    let text = match number {
        Number::Unsigned(number) => number.to_string(),
        Number::Signed(number) => number.to_string(),
        Number::Float(number) => pointed(f64::from(number)),
        Number::Double(number) => pointed(number),
    };
    out.extend_from_slice(text.as_bytes());
}

/// JSON has no infinity and nothing that is not a number: those are text.
fn pointed(number: f64) -> String {
    serde_json::Number::from_f64(number).map_or_else(|| format!("\"{number}\""), |number| number.to_string())
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{{\"base64\":\"{}\"}}", base64(bytes)).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use tarantool::msgpack::*;

    fn json(put: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut tuple = Vec::new();
        put(&mut tuple);
        let mut out = Vec::new();
        put_tuple(&tuple, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        text
    }

    #[test]
    fn every_kind_of_value_is_json() {
        let text = json(|out| {
            put_array_len(out, 14);
            put_uint(out, u64::MAX);
            put_int(out, -5);
            put_double(out, 1.5);
            put_double(out, f64::NEG_INFINITY);
            put_float(out, 0.5);
            put_str(out, "ä\"\u{1b}".as_bytes());
            put_str(out, b"\xff");
            put_bin(out, b"abc");
            put_boolean(out, true);
            put_nil(out);
            put_ext(out, 2, &[0x11; 16]);
            put_ext(out, 1, &[2, 3]);
            put_array_len(out, 0);
            put_map_len(out, 0);
        });
        assert_eq!(
            text,
            r#"[18446744073709551615,-5,1.5,"-inf",0.5,"ä\"\u001b",{"base64":"/w=="},{"base64":"YWJj"},true,null,"#
                .to_owned()
                + r#""11111111-1111-1111-1111-111111111111",{"ext":1,"base64":"AgM="},[],{}]"#
        );
    }

    #[test]
    fn maps_have_keys_of_text() {
        let text = json(|out| {
            put_array_len(out, 2);
            put_map_len(out, 4);
            put_str(out, b"name");
            put_array_len(out, 2);
            put_uint(out, 1);
            put_map_len(out, 1);
            put_uint(out, 7);
            put_nil(out);
            put_uint(out, 5);
            put_uint(out, 6);
            put_nil(out);
            put_boolean(out, false);
            put_array_len(out, 1);
            put_uint(out, 1);
            put_uint(out, 2);
            put_uint(out, 9);
        });
        assert_eq!(text, r#"[{"name":[1,{"7":null}],"5":6,"null":false,"kQE=":2},9]"#);
    }

    #[test]
    fn no_depth_is_too_deep_and_no_damage_panics() {
        let mut deep = vec![0x91; 200_000];
        deep.push(0x05);
        let mut out = Vec::new();
        put_tuple(&deep, &mut out).unwrap();
        assert_eq!((out.len(), out[200_000]), (400_001, b'5'));
        deep.pop();
        let error = put_tuple(&deep, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "a tuple is damaged at byte 200000: a value is cut off");
        assert!(put_tuple(&[0x91, 0xc1], &mut Vec::new()).is_err());
    }
}
