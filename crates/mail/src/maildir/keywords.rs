//! Reads a folder's file `dovecot-keywords`: the names of the keywords that file names have as letters.
//!
//! Input: a folder's directory. Output: the names in the order of their letters. Does not know which message
//! has which keyword.
//!
//! Each line is a number from 0 (letter `a`) to 25, a space and a name. Other lines are ignored.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Result;
use crate::maildir::message_file::read_message;
use crate::maildir::path::join;
use std::path::Path;

/// The file's name in a folder's directory.
pub const KEYWORDS_FILE: &[u8] = b"dovecot-keywords";
/// Bytes read of the file. Dovecot's names have some 50 bytes.
pub const KEYWORDS_FILE_BYTES_MAX: usize = 16 << 10;
/// Keywords that a file name has letters for.
pub const KEYWORD_COUNT_MAX: usize = 26;

/// Returns the names in a folder's `dovecot-keywords`, separated by line feeds: the first is that of letter
/// `a`. A letter without a name has an empty one. If a letter has two names, the later one counts.
///
/// # Errors
/// [`crate::Error`] if the file does not exist or cannot be read.
pub fn read_keyword_names(folder: &Path) -> Result<Vec<u8>> {
    Ok(keyword_names(&read_message(&join(folder, KEYWORDS_FILE), KEYWORDS_FILE_BYTES_MAX)?.bytes))
}

/// Returns the names in the content of a file `dovecot-keywords`, as [`read_keyword_names`] does.
pub fn keyword_names(content: &[u8]) -> Vec<u8> {
    let mut names = [&[][..]; KEYWORD_COUNT_MAX];
    for line in content.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(space) = line.iter().position(|byte| *byte == b' ') else { continue };
        let (number, name) = line.split_at_checked(space).unwrap_or_default();
        let number = std::str::from_utf8(number).ok().and_then(|digits| digits.parse::<usize>().ok());
        if let Some(slot) = number.and_then(|number| names.get_mut(number)) {
            *slot = name.trim_ascii();
        }
    }
    let mut joined = names.join(&b'\n');
    while joined.last() == Some(&b'\n') {
        joined.pop();
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::fs;

    fn names(content: &str) -> String {
        String::from_utf8(keyword_names(content.as_bytes())).unwrap()
    }

    #[test]
    fn names_stand_at_the_place_of_their_letters() {
        assert_eq!(names("0 $Forwarded\n1 work\n3 later on\n"), "$Forwarded\nwork\n\nlater on");
        assert_eq!(names("2 c\r\n0 a\r\n0 b"), "b\n\nc");
        assert_eq!(names(""), "");
    }

    #[test]
    fn other_lines_are_left_out() {
        assert_eq!(names("26 too far\n-1 x\nname\n x\n99999999999999999999 y\n1 kept\n\n"), "\nkept");
        assert_eq!(names(&format!("25 z\n0 {}", " ")), format!("{}z", "\n".repeat(25)));
    }

    #[test]
    fn no_more_is_read_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read_keyword_names(folder.path()).unwrap_err();
        assert!(missing.is_not_found());
        let long = "n".repeat(2 * KEYWORDS_FILE_BYTES_MAX);
        fs::write(folder.path().join("dovecot-keywords"), format!("0 {long}")).unwrap();
        assert_eq!(read_keyword_names(folder.path()).unwrap().len(), KEYWORDS_FILE_BYTES_MAX - 2);
        fs::remove_file(folder.path().join("dovecot-keywords")).unwrap();
        fs::create_dir(folder.path().join("dovecot-keywords")).unwrap();
        assert!(matches!(read_keyword_names(folder.path()), Err(Error::NotAFile { .. })));
    }
}
