//! Paths, for pipes: the exact bytes, each with a line end or a NUL byte.
//!
//! Takes messages with their files. On a terminal, harmful characters are replaced, since no program reads
//! the bytes there.

use crate::format::FileChoice;
use crate::sanitise;
use render::{Listed, Need, Printer};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The byte after each line or path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A line feed.
    Line,
    /// A zero byte, which no path holds.
    Zero,
}

impl End {
    /// Returns its bytes.
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            End::Line => b"\n",
            End::Zero => b"\0",
        }
    }
}

/// Prints paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paths {
    /// The byte after each.
    pub end: End,
    /// Which files of each message.
    pub places: FileChoice,
    /// Whether the output is a terminal.
    pub is_terminal: bool,
}

impl Printer for Paths {
    fn need(&self) -> Need {
        Need::FILES
    }

    fn print(&self, listed: &Listed, out: &mut Vec<u8>) {
        for file in self.places.of(&listed.message.files) {
            self.path(&file.path, out);
        }
    }
}

impl Paths {
    fn path(&self, path: &Path, out: &mut Vec<u8>) {
        let exact = path.as_os_str().as_bytes();
        if self.is_terminal {
            out.extend_from_slice(sanitise::one_line_of_bytes(exact).as_bytes());
        } else {
            out.extend_from_slice(exact);
        }
        out.extend_from_slice(self.end.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn paths_are_exact_in_pipes_and_harmless_on_terminals() {
        let path = Path::new(OsStr::from_bytes(b"/m/\x1b\xff\n"));
        let bytes = |end, is_terminal| {
            let mut out = Vec::new();
            Paths { end, places: FileChoice::First, is_terminal }.path(path, &mut out);
            out
        };
        assert_eq!(bytes(End::Zero, false), b"/m/\x1b\xff\n\0");
        assert_eq!(bytes(End::Line, true), "/m/\u{fffd}\u{fffd} \n".as_bytes());
    }
}
