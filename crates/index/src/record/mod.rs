//! Header records: the two payloads of a message's row, as bytes.
//!
//! Input: what was parsed from a message. Output: the bytes of two payload columns, and back. A field is a
//! length (u32) and its bytes; a list is a count (u32) and its fields. A record that is too short or too long
//! is damaged. Must not know tables.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod model;
mod view;

pub(crate) use model::LineRecord;
pub use model::{Contact, Rest};
pub(crate) use view::{Correspondents, decode_correspondents, line_view};
pub use view::{PairList, RestView, TextList};

/// Returns the bytes of a list line.
pub(crate) fn encode_line(line: &LineRecord) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.from.len().saturating_add(line.subject.len()).saturating_add(8));
    put_text(&mut out, &line.from);
    put_text(&mut out, &line.subject);
    out
}

/// Reads a list line. Returns `None` if it is damaged.
pub(crate) fn decode_line(bytes: &[u8]) -> Option<LineRecord> {
    let (from, subject) = line_view(bytes)?;
    Some(LineRecord { from: from.to_owned(), subject: subject.to_owned() })
}

/// Returns the bytes of the other header fields, which [`RestView::new`] reads.
pub fn encode_rest(rest: &Rest) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    put_text(&mut out, &rest.message_id);
    for contacts in [&rest.from, &rest.to, &rest.cc, &rest.bcc] {
        put_count(&mut out, contacts.len());
        for contact in contacts {
            put_text(&mut out, &contact.name);
            put_text(&mut out, &contact.address);
        }
    }
    put_texts(&mut out, &rest.references);
    put_text(&mut out, &rest.list_id);
    put_texts(&mut out, &rest.attachments);
    put_texts(&mut out, &rest.labels);
    put_text(&mut out, &rest.snippet);
    put_text(&mut out, &rest.language);
    put_count(&mut out, rest.headers.len());
    for (name, value) in &rest.headers {
        put_text(&mut out, name);
        put_text(&mut out, value);
    }
    put_texts(&mut out, &rest.problems);
    out
}

/// Reads the other header fields. Returns `None` if they are damaged.
pub(crate) fn decode_rest(bytes: &[u8]) -> Option<Rest> {
    RestView::new(bytes).map(RestView::to_rest)
}

/// Appends a count.
pub(crate) fn put_count(out: &mut Vec<u8>, count: usize) {
    // The parser's limits keep every count and length far below 4 GiB.
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// Appends a length and its bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Takes a count off the front.
pub(crate) fn count(input: &mut &[u8]) -> Option<usize> {
    let (head, tail) = input.split_first_chunk::<4>()?;
    *input = tail;
    usize::try_from(u32::from_le_bytes(*head)).ok()
}

/// Takes a length and its bytes off the front.
pub(crate) fn bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = count(input)?;
    let (head, tail) = input.split_at_checked(length)?;
    *input = tail;
    Some(head)
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn put_texts(out: &mut Vec<u8>, texts: &[String]) {
    put_count(out, texts.len());
    for text in texts {
        put_text(out, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Rest {
        let contact = |name: &str| Contact { name: name.into(), address: format!("{name}@example.org") };
        Rest {
            message_id: "a@b".into(),
            from: vec![contact("ana")],
            to: vec![contact("bo"), contact("")],
            references: vec!["x@y".into(), String::new()],
            attachments: vec!["ä.pdf".into()],
            labels: vec!["work".into()],
            snippet: "hello".into(),
            language: "en".into(),
            headers: vec![("X-Mailer".into(), "Rohrpost".into())],
            ..Rest::default()
        }
    }

    #[test]
    fn reads_what_was_written() {
        let line = LineRecord { from: "Ana".into(), subject: "Grüße".into() };
        assert_eq!(decode_line(&encode_line(&line)), Some(line));
        assert_eq!(decode_rest(&encode_rest(&sample())), Some(sample()));
    }

    #[test]
    fn every_cut_is_noticed() {
        let whole = encode_rest(&sample());
        for length in 0..whole.len() {
            assert_eq!(decode_rest(&whole[..length]), None, "cut to {length}");
        }
        let mut longer = whole;
        longer.push(0);
        assert_eq!(decode_rest(&longer), None);
    }

    #[test]
    fn a_record_is_read_whether_or_not_its_lengths_are_text() {
        // 0xc3 begins a character, 0x80 continues one; 0xc3 0x80 0x00 0x00 is a length that looks like text.
        for (name, is_text) in [(127, true), (128, false), (0xc3, false), (0x80c3, true)] {
            let subject = "ä".repeat(3);
            let line = LineRecord { from: "x".repeat(name), subject };
            let record = encode_line(&line);
            assert_eq!(std::str::from_utf8(&record).is_ok(), is_text, "{name}");
            assert_eq!(decode_line(&record), Some(line));
        }
    }

    #[test]
    fn a_text_that_is_not_utf8_is_damage() {
        let line = encode_line(&LineRecord { from: "ä".into(), subject: "ö".into() });
        for place in [4, 5, 10, 11] {
            let mut damaged = line.clone();
            damaged[place] = b'x';
            assert_eq!(decode_line(&damaged), None, "{place}");
        }
        // Ends and begins within characters, although the whole is UTF-8.
        assert_eq!(decode_line(&[&[1, 0, 0, 0][..], "ä".as_bytes(), &[0; 3]].concat()), None);
    }
}
