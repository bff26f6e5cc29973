//! Rows of a table as lines: CSV and JSON.
//!
//! Input: a message. Output: its line. In JSON a row has a key for each column, also if there is no value;
//! CSV has lists as JSON. Does not know how many rows there are.

use super::column::{Column, Value};
use crate::csv::CsvLine;
use columnar::Field;
use index::Message;
use printable::json;
use std::borrow::Cow;

/// Returns the line of names of CSV.
pub(super) fn csv_head(columns: &[Column]) -> Vec<u8> {
    let names: Vec<&str> = columns.iter().map(|column| column.field().name).collect();
    CsvLine::of_names(&names).finish()
}

/// Appends a row of CSV.
pub(super) fn csv(columns: &[Column], (message, thread): (&Message, &str), out: &mut Vec<u8>) {
    let mut line = CsvLine::default();
    for column in columns {
        line = match column.value(message, thread) {
            Value::Text(text) => line.text(&text),
            Value::Number(number) => line.plain(Some(number)),
            Value::Time(time) => line.plain(time),
            Value::Texts(list) => line.text(&list_of(&list)),
        };
    }
    out.append(&mut line.finish());
}

/// Appends an object of JSON.
pub(super) fn json(columns: &[Column], (message, thread): (&Message, &str), out: &mut Vec<u8>) {
    for (place, column) in columns.iter().enumerate() {
        let Field { name, .. } = column.field();
        out.push(if place == 0 { b'{' } else { b',' });
        json::put(&name, out);
        out.push(b':');
        match column.value(message, thread) {
            Value::Text(text) => json::put(&text, out),
            Value::Number(number) => json::put(&number, out),
            Value::Time(time) => json::put(&time.map(|time| time.to_string()), out),
            Value::Texts(list) => json::put(&list, out),
        }
    }
    out.extend_from_slice(b"}\n");
}

fn list_of(list: &[Cow<'_, str>]) -> String {
    let mut out = Vec::new();
    json::put(&list, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    const COLUMNS: [Column; 6] =
        [Column::MessageId, Column::Date, Column::FromName, Column::Subject, Column::Size, Column::To];

    #[test]
    fn a_row_of_csv_computes_nothing() {
        let mut message = sample().message;
        message.line.subject = "=1+1, \"x\"\n".into();
        message.rest.to[0].address = "@,\"\u{202e}".into();
        let mut out = csv_head(&COLUMNS);
        csv(&COLUMNS, (&message, ""), &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "message_id,date,from_name,subject,size,to\r\n\
             \"x\"\"y\\@example.org\",2024-03-05T14:02:11Z,Ana\u{fffd}[31m,\"'=1+1, \"\"x\"\" \",4096,\
             \"[\"\"@,\\\"\"\\u202e\"\",\"\"cy@example.org\"\"]\"\r\n"
        );
    }

    #[test]
    fn a_row_of_json_has_every_column_and_loses_nothing() {
        let mut message = sample().message;
        message.line.date = None;
        let mut out = Vec::new();
        json(&COLUMNS, (&message, ""), &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"message_id\":\"x\\\"y\\\\@example.org\",\"date\":null,\"from_name\":\"Ana\\u001b[31m\",\
             \"subject\":\"Grüße\\nFrom: x\\u202e\",\"size\":4096,\"to\":[\"bo@example.org\",\
             \"cy@example.org\"]}\n"
        );
    }
}
