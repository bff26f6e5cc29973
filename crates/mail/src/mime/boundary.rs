//! Splits a multipart at its boundaries.
//!
//! Input: the body of a multipart and its boundary. Output: slices of the body. Does not know what the pieces
//! are.
//!
//! Only a whole line is a boundary (RFC 2046, 5.1.1), because the boundary of one multipart may begin with
//! that of another.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use memchr::memmem::Finder;

use crate::bytes::{after, before, line, trim_cr, until};

/// The pieces of a multipart between its boundaries, without the preamble and the epilogue.
pub(crate) struct Pieces<'a> {
    finder: Finder<'static>,
    boundary_length: usize,
    /// The bytes before the first boundary.
    pub(crate) preamble: &'a [u8],
    rest: &'a [u8],
    is_inside: bool,
    /// The closing boundary was found.
    pub(crate) is_closed: bool,
}

impl<'a> Pieces<'a> {
    /// Starts before the first boundary.
    pub(crate) fn new(body: &'a [u8], boundary: &[u8]) -> Pieces<'a> {
        let delimiter = [b"--", boundary].concat();
        Pieces {
            finder: Finder::new(&delimiter).into_owned(),
            boundary_length: delimiter.len(),
            preamble: &[],
            rest: body,
            is_inside: false,
            is_closed: false,
        }
    }

    /// Returns whether there is a boundary in the rest.
    pub(crate) fn has_any(&self) -> bool {
        self.delimiter().is_some()
    }

    /// Returns the piece before the next boundary.
    pub(crate) fn next_piece(&mut self) -> Option<&'a [u8]> {
        if !self.is_inside {
            self.is_inside = true;
            let body = self.rest;
            let end = self.skip_delimiter();
            self.preamble = before(body, end);
        }
        if self.is_closed || self.rest.is_empty() {
            return None;
        }
        let piece = self.rest;
        let end = self.skip_delimiter();
        let piece = before(piece, end);
        // The line end before a boundary belongs to the boundary.
        Some(trim_cr(piece.strip_suffix(b"\n").unwrap_or(piece)))
    }

    /// Skips the next delimiter line, or everything if there is none, and returns where it began.
    fn skip_delimiter(&mut self) -> usize {
        let Some((start, is_last)) = self.delimiter() else {
            let end = self.rest.len();
            self.rest = &[];
            return end;
        };
        self.is_closed = is_last;
        self.rest = line(after(self.rest, start)).1;
        start
    }

    /// Finds the next delimiter line, and returns whether it is the closing one.
    fn delimiter(&self) -> Option<(usize, bool)> {
        for start in self.finder.find_iter(self.rest) {
            // Checked first, so that the rest of a line is read once, however often it contains the boundary.
            if !is_line_start(self.rest, start) {
                continue;
            }
            let following =
                line(after(self.rest, start.saturating_add(self.boundary_length))).0.trim_ascii_end();
            if following.is_empty() || following == b"--" {
                return Some((start, !following.is_empty()));
            }
        }
        None
    }
}

fn is_line_start(bytes: &[u8], at: usize) -> bool {
    before(bytes, at).last().is_none_or(|&byte| byte == b'\n')
}

/// Finds a boundary that the header does not name, or names wrongly: the first line that begins with two
/// hyphens and is followed by a content field.
pub(crate) fn guess_boundary(body: &[u8]) -> Option<String> {
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(after(body, from), b"--") {
        let start = from.saturating_add(found);
        let (first, next) = line(after(body, start));
        let boundary = after(first, 2).trim_ascii_end();
        let follows = before(next, b"content-".len()).eq_ignore_ascii_case(b"content-");
        if is_line_start(body, start) && follows && !boundary.is_empty() {
            return std::str::from_utf8(boundary).ok().map(Into::into);
        }
        from = until(body, next).len().max(start.saturating_add(2));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(body: &str) -> (Vec<&str>, bool) {
        let mut pieces = Pieces::new(body.as_bytes(), b"b");
        let mut found = Vec::new();
        while let Some(piece) = pieces.next_piece() {
            found.push(std::str::from_utf8(piece).unwrap());
        }
        (found, pieces.is_closed)
    }

    #[test]
    fn pieces_lie_between_whole_lines() {
        for (body, expected, is_closed) in [
            ("--b\none\n--b\ntwo\n--b--", vec!["one", "two"], true),
            ("no\n--b\r\none\r\n--b--\r\nno", vec!["one"], true),
            ("--b \t\none\n\n--b-- \n", vec!["one\n"], true),
            ("--b\none\n", vec!["one"], false),
            ("--b\n x--b\n--bb\n--b-\n --b\n--b--", vec![" x--b\n--bb\n--b-\n --b"], true),
            ("--b\n--b\n--b--", vec!["", ""], true),
            ("--b--\n", vec![], true),
            ("nothing", vec![], false),
            ("", vec![], false),
        ] {
            assert_eq!(pieces(body), (expected, is_closed), "{body:?}");
        }
    }

    #[test]
    fn a_boundary_is_guessed_by_what_follows() {
        for (body, expected) in [
            ("text\n--x y\nContent-Type: a/b\n", Some("x y")),
            ("--x\r\ncontent-type: a/b\n", Some("x")),
            ("-- \nsignature\n--x\nno field\n--y\nContent-Id: z\n", Some("y")),
            ("a --x\nContent-Type: a/b\n", None),
            ("--\nContent-Type: a/b\n", None),
            ("----", None),
        ] {
            assert_eq!(guess_boundary(body.as_bytes()).as_deref(), expected, "{body:?}");
        }
    }
}
