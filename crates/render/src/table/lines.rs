//! Rows of a table as lines: CSV and JSON.
//!
//! Input: a message. Output: its line. In JSON a row has a key for each column, also if there is no value;
//! CSV has lists as JSON. Does not know how many rows there are.

use super::column::{Cell, Column};
use crate::csv::CsvLine;
use columnar::Field;
use index::MessageView;
use jiff::Timestamp;
use printable::json;
use std::borrow::Cow;

/// Returns the line of names of CSV.
pub(super) fn csv_head(columns: &[Column]) -> Vec<u8> {
    let names: Vec<&str> = columns.iter().map(|column| column.field().name).collect();
    CsvLine::of_names(&names).finish()
}

/// Appends a row of CSV.
pub(super) fn csv(columns: &[Column], (message, thread): (&MessageView<'_>, &str), out: &mut Vec<u8>) {
    let mut line = CsvCells(CsvLine::default());
    columns.iter().for_each(|column| column.put(message, thread, &mut line));
    out.append(&mut line.0.finish());
}

/// Appends an object of JSON.
pub(super) fn json(columns: &[Column], (message, thread): (&MessageView<'_>, &str), out: &mut Vec<u8>) {
    for (place, column) in columns.iter().enumerate() {
        let Field { name, .. } = column.field();
        out.push(if place == 0 { b'{' } else { b',' });
        json::put(&name, out);
        out.push(b':');
        column.put(message, thread, JsonValue(out));
    }
    out.extend_from_slice(b"}\n");
}

/// A line of CSV that is not complete.
struct CsvCells(CsvLine);

impl CsvCells {
    fn add(&mut self, add: impl FnOnce(CsvLine) -> CsvLine) {
        self.0 = add(std::mem::take(&mut self.0));
    }
}

impl Cell for &mut CsvCells {
    fn text(self, text: &str) {
        self.add(|line| line.text(text));
    }

    fn number(self, number: i64) {
        self.add(|line| line.plain(Some(number)));
    }

    fn time(self, time: Option<Timestamp>) {
        self.add(|line| line.plain(time));
    }

    fn texts<'a>(self, texts: impl Iterator<Item = Cow<'a, str>>) {
        let mut list = Vec::new();
        JsonValue(&mut list).texts(texts);
        self.add(|line| line.text(&String::from_utf8_lossy(&list)));
    }
}

/// The end of an object of JSON, after the name of a value.
struct JsonValue<'a>(&'a mut Vec<u8>);

impl Cell for JsonValue<'_> {
    fn text(self, text: &str) {
        json::put(&text, self.0);
    }

    fn number(self, number: i64) {
        json::put(&number, self.0);
    }

    fn time(self, time: Option<Timestamp>) {
        json::put(&time.map(|time| time.to_string()), self.0);
    }

    fn texts<'a>(self, texts: impl Iterator<Item = Cow<'a, str>>) {
        json::put(&texts.collect::<Vec<_>>(), self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{as_view, sample};

    const COLUMNS: [Column; 6] =
        [Column::MessageId, Column::Date, Column::FromName, Column::Subject, Column::Size, Column::To];

    #[test]
    fn a_row_of_csv_computes_nothing() {
        let mut message = sample().message;
        message.line.subject = "=1+1, \"x\"\n".into();
        message.rest.to[0].address = "@,\"\u{202e}".into();
        let mut out = csv_head(&COLUMNS);
        as_view(&message, |message| csv(&COLUMNS, (message, ""), &mut out));
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
        as_view(&message, |message| json(&COLUMNS, (message, ""), &mut out));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"message_id\":\"x\\\"y\\\\@example.org\",\"date\":null,\"from_name\":\"Ana\\u001b[31m\",\
             \"subject\":\"Grüße\\nFrom: x\\u202e\",\"size\":4096,\"to\":[\"bo@example.org\",\
             \"cy@example.org\"]}\n"
        );
    }
}
