//! CSV by RFC 4180, as `export` writes it: names on the first line, nothing for nil, `""` for an empty text.

use super::csv_record::Record;
use super::lines;
use super::rows::{Rows, TakeTuple};
use std::io::BufRead;
use tarantool::import::TupleMaker;

/// Gives the tuple of each record.
pub(super) fn each(rows: &Rows, maker: &mut TupleMaker, take: &mut TakeTuple<'_>) -> tarantool::Result<()> {
    let mut reader = Reader { rows, input: lines::open(rows)?, line: Vec::new(), next_number: 1 };
    let (mut record, mut tuple) = (Record::default(), Vec::new());
    let Some(first) = reader.record(&mut record)? else {
        return Err(rows.error("line 1", "the names of the fields are missing"));
    };
    let wrong = |number: u64, what: &str| rows.error(&format!("line {number}"), what);
    let names = record.values().map(|name| maker.field(name.unwrap_or_default()));
    let fields: Vec<usize> = names.collect::<Result<_, _>>().map_err(|what| wrong(first, &what))?;
    for (place, field) in fields.iter().enumerate() {
        if fields[..place].contains(field) {
            return Err(wrong(first, "two columns have the same name"));
        }
    }
    while let Some(number) = reader.record(&mut record)? {
        let count = record.values().count();
        if count == 1 && record.values().all(|value| value.is_none()) && fields.len() > 1 {
            continue;
        }
        if count != fields.len() {
            return Err(wrong(
                number,
                &format!("it has {count} values, the first line {} names", fields.len()),
            ));
        }
        tuple.clear();
        let made = maker.put_texts(fields.iter().copied().zip(record.values()), &mut tuple);
        made.and_then(|()| take(&tuple)).map_err(|what| wrong(number, &what))?;
        rows.done()?;
    }
    Ok(())
}

struct Reader<'a> {
    rows: &'a Rows<'a>,
    input: Box<dyn BufRead>,
    line: Vec<u8>,
    next_number: u64,
}

impl Reader<'_> {
    /// Reads the next record, and returns the number of its first line; `None` at the end.
    fn record(&mut self, record: &mut Record) -> tarantool::Result<Option<u64>> {
        record.clear();
        let first = self.next_number;
        loop {
            let number = self.next_number;
            let wrong = |what: &str| self.rows.error(&format!("line {number}"), what);
            if !lines::next(self.rows, &mut *self.input, number, &mut self.line)? {
                let endless = || self.rows.error(&format!("line {first}"), "a value in quotes never ends");
                return if number == first { Ok(None) } else { Err(endless()) };
            }
            self.next_number += 1;
            let text = std::str::from_utf8(&self.line).map_err(|_| wrong("it is not UTF-8"))?;
            // Some programs begin a file with a mark.
            let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
            if record.add(text).map_err(|what| wrong(&what))? {
                return Ok(Some(first));
            }
            if record.length_bytes() > lines::LINE_BYTES_MAX {
                return Err(wrong("a record is longer than 64 MiB"));
            }
        }
    }
}
