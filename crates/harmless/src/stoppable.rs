//! HTML that is handed to a parser, which itself cannot be stopped. Input: HTML, and who may stop it. Output:
//! its bytes, or an error once it is to stop.

use std::io::{self, Read};
use work::Cancel;

/// Hands HTML to the parser, and ends with an error when the time is over. What follows the last byte takes
/// time in proportion to the tree, which has limits.
pub(crate) struct Stoppable<'a> {
    pub(crate) rest: &'a [u8],
    pub(crate) cancel: &'a Cancel,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.rest.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stopped_has_no_more_bytes() {
        let cancelled = Cancel::new();
        cancelled.cancel();
        let mut bytes = Stoppable { rest: b"text", cancel: &cancelled };
        assert!(bytes.read(&mut [0; 8]).is_err());
    }
}
