//! Creates files with the right mode, whatever the umask.
//!
//! Input: a path. Output: a new, empty file with mode 0600. Does not depend on what is written to it.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FILE_MODE: u32 = 0o600;

/// Creates a file and opens it for reading and writing. An existing file is an error.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)?;
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}
