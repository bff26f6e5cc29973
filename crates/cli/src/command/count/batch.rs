//! Counts for one query after the other, for a program that writes queries to a pipe and reads from another.
//!
//! Takes a view and lines, each a query. Prints a line for each as soon as it was read, in the same order:
//! the number, or a word if the query has no answer. Does not know where the lines come from.

use crate::exit::Outcome;
use crate::output::complain;
use crate::remedy;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use pneu::{Error, View};
use std::io::{BufRead, Read};

/// Most bytes of a line. No valid query is longer.
const LINE_BYTES_MAX: usize = 1 << 20;
/// Printed in place of a number.
const NO_ANSWER: &str = "error";

/// Counts for each line.
///
/// # Errors
/// The lines cannot be read, the output cannot be written; damage in the index; the work was stopped.
pub(super) fn count(view: &View, input: &mut dyn BufRead, session: &Session) -> Result<Outcome> {
    // All lines are answered from one state, whatever is indexed, tagged or saved meanwhile.
    view.pin()?;
    let mut output = session.output();
    let mut outcome = Outcome::Done;
    let mut line = Vec::new();
    for number in 1_u64.. {
        let is_whole = match read_line(input, &mut line).context("cannot read standard input")? {
            Line::End => break,
            Line::Whole => true,
            Line::Long => false,
        };
        match answer(view, is_whole.then_some(&line)) {
            Ok(count) => output.line(&count.to_string())?,
            // No later line can be answered either.
            Err(error) if is_about_index(&error) => return Err(error),
            Err(error) => {
                complain(format!("line {number}: {}", remedy::explained(&error)));
                outcome = Outcome::Partly;
                output.line(NO_ANSWER)?;
            }
        }
        output.flush()?;
    }
    output.finish()?;
    Ok(outcome)
}

fn answer(view: &View, line: Option<&Vec<u8>>) -> Result<u64> {
    let Some(line) = line else { bail!("the line has more than {LINE_BYTES_MAX} bytes") };
    let text = std::str::from_utf8(line).map_err(|_| anyhow!("the query is not UTF-8 text"))?;
    let question = TypedQuery::read(text.to_owned(), view)?;
    view.count(&question.query).map_err(|error| question.explain(error))
}

/// Returns whether an error is one of the index, not of a query.
fn is_about_index(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Index(_) | Error::Cancelled))
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// A line, without its end.
    Whole,
    /// A line that is too long; nothing of it is kept.
    Long,
    /// The end of the input.
    End,
}

/// Reads a line. The last one may lack its line end.
fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> std::io::Result<Line> {
    line.clear();
    let mut is_long = false;
    loop {
        let start = line.len();
        let read = Read::take(&mut *input, LINE_BYTES_MAX as u64 + 1).read_until(b'\n', line)?;
        let is_ended = line.last() == Some(&b'\n');
        if is_ended {
            line.pop();
        }
        is_long |= line.len() > LINE_BYTES_MAX;
        if is_ended || read == 0 {
            let is_end = !is_ended && !is_long && start == 0;
            return Ok(if is_end {
                Line::End
            } else if is_long {
                Line::Long
            } else {
                Line::Whole
            });
        }
        if is_long {
            line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_and_have_a_limit() {
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        let text = format!("one\n\n{long}\n{}\nlast", &long[1..]);
        let mut input = text.as_bytes();
        let mut line = Vec::new();
        let mut next = || {
            let read = read_line(&mut input, &mut line).unwrap();
            (read, line.len())
        };
        assert_eq!([next(), next()], [(Line::Whole, 3), (Line::Whole, 0)]);
        assert_eq!(next().0, Line::Long);
        assert_eq!(next(), (Line::Whole, LINE_BYTES_MAX));
        assert_eq!([next(), next()], [(Line::Whole, 4), (Line::End, 0)]);
        let endless = "x".repeat(3 * LINE_BYTES_MAX);
        assert_eq!(read_line(&mut endless.as_bytes(), &mut line).unwrap(), Line::Long);
        assert!(line.capacity() < 3 * LINE_BYTES_MAX);
    }
}
