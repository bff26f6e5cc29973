//! The token of a user's server, which other programs send as password. Input: the data directory. Output:
//! the token, the same each time. Does not know who asks.

use anyhow::{Context as _, Result, anyhow, bail};
use disk::Source;
use pneu::{Existing, NewFile, NewFileError};
use server::Secret;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The file in the data directory.
const NAME: &str = "serve-token";
/// More than a token and the end of its line.
const BYTES_MAX: usize = 256;

/// Reads the token. Makes one if there is none.
///
/// # Errors
/// The file can be read by others, is none, or cannot be read or written.
pub(crate) fn read(data: &Path) -> Result<Secret> {
    let path = data.join(NAME);
    if let Some(token) = existing(&path)? {
        return Ok(token);
    }
    let token = Secret::random()?;
    match write(&path, &token) {
        Err(NewFileError::Exists { .. }) => {
            // Another process was faster.
            existing(&path)?.ok_or_else(|| anyhow!("{} is there and gone again", path.display()))
        }
        done => done.map(|()| token).map_err(Into::into),
    }
}

fn write(path: &Path, token: &Secret) -> Result<(), NewFileError> {
    let file = NewFile::begin(path, Existing::Refused)?;
    writeln!(file.file(), "{}", token.text()).map_err(|source| file.failed(source))?;
    file.finish().map(|_| ())
}

fn existing(path: &Path) -> Result<Option<Secret>> {
    let mode = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.with_context(|| format!("cannot read {}", path.display()))?.permissions().mode(),
    };
    if mode & 0o077 != 0 {
        bail!("others may read the token in {}; remove the file, and a new one is made", path.display());
    }
    let bytes = disk::read_small(path, BYTES_MAX, Source::File)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    let token = Secret::from_text(text)
        .map_err(|_| anyhow!("{} has no token; remove the file, and a new one is made", path.display()))?;
    Ok(Some(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn the_token_is_made_once_for_its_user_alone() {
        let data = tempfile::tempdir().unwrap();
        let token = read(data.path()).unwrap().text();
        assert_eq!(read(data.path()).unwrap().text(), token);
        let path = data.path().join(NAME);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&path).unwrap();
        assert_ne!(read(data.path()).unwrap().text(), token);
    }

    #[test]
    fn a_file_that_others_read_or_that_has_no_token_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join(NAME);
        let said = || read(data.path()).unwrap_err().to_string();
        read(data.path()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert!(said().contains("others may read"), "{}", said());
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        for wrong in ["", "short\n", "\u{e9}"] {
            fs::write(&path, wrong).unwrap();
            assert!(said().contains("has no token"), "{}", said());
        }
        fs::write(&path, "a".repeat(BYTES_MAX + 1)).unwrap();
        assert!(read(data.path()).is_err());
    }
}
