//! Paths, for pipes: the exact bytes, each with an end.
//!
//! In: paths. Out: bytes. On a terminal harmful characters are replaced: there nobody takes the bytes further.

use crate::sanitise;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What stands behind each line or path.
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

/// Returns a path's bytes with their end.
pub(crate) fn bytes(path: &Path, end: End, is_terminal: bool) -> Vec<u8> {
    let exact = path.as_os_str().as_bytes();
    let mut bytes =
        if is_terminal { sanitise::one_line_of_bytes(exact).into_bytes() } else { exact.to_vec() };
    bytes.extend_from_slice(end.bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn paths_are_exact_in_pipes_and_harmless_on_terminals() {
        let path = Path::new(OsStr::from_bytes(b"/m/\x1b\xff\n"));
        assert_eq!(bytes(path, End::Zero, false), b"/m/\x1b\xff\n\0");
        assert_eq!(bytes(path, End::Line, true), "/m/\u{fffd}\u{fffd} \n".as_bytes());
    }
}
