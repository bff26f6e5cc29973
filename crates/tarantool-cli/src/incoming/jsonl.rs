//! JSON Lines: a row on each line. Empty lines are skipped.

use super::lines;
use super::rows::{Rows, TakeTuple};
use tarantool::import::TupleMaker;

/// Gives the tuple of each line.
pub(super) fn each(rows: &Rows, maker: &mut TupleMaker, take: &mut TakeTuple<'_>) -> tarantool::Result<()> {
    let mut input = lines::open(rows)?;
    let (mut line, mut tuple) = (Vec::new(), Vec::new());
    let mut number = 1;
    while lines::next(rows, &mut *input, number, &mut line)? {
        let wrong = |what: &str| rows.error(&format!("line {number}"), what);
        let text = std::str::from_utf8(&line).map_err(|_| wrong("it is not UTF-8"))?;
        // Some programs begin a file with a mark.
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        if !text.trim().is_empty() {
            tuple.clear();
            let made = maker.put_json(text, &mut tuple);
            made.and_then(|()| take(&tuple)).map_err(|what| wrong(&what))?;
            rows.done()?;
        }
        number += 1;
    }
    Ok(())
}
