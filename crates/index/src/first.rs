//! Remembers that a first index is not complete: what a later pass finds then was there before, and is not
//! new.
//!
//! Input: an environment. Output: a file in the directory of the index, there from before its first commit
//! until a pass has looked at everything. Must not know what new messages are for.

use crate::environment::Environment;
use crate::error::Result;

/// The file's name.
pub(crate) const INCOMPLETE_NAME: &str = "incomplete";
/// What is in the file, for those who find it.
const TEXT: &[u8] = b"The first index is not complete: \"pneu index\" goes on with it.\n";

/// Notes, durably, that a first index begins.
///
/// # Errors
/// Disk errors.
pub(crate) fn begin(environment: &Environment) -> Result<()> {
    let directory = environment.index_directory();
    Ok(disk::publish(environment.disk.as_ref(), &directory, INCOMPLETE_NAME, TEXT)?)
}

/// Returns whether a first index began and has not looked at everything yet.
///
/// # Errors
/// Disk errors.
pub fn is_incomplete(environment: &Environment) -> Result<bool> {
    match environment.disk.size(&environment.index_directory().join(INCOMPLETE_NAME)) {
        Err(error) if error.is_not_found() => Ok(false),
        size => Ok(size.map(|_| true)?),
    }
}

/// Notes that all of the mail was looked at.
///
/// # Errors
/// Disk errors.
pub(crate) fn end(environment: &Environment) -> Result<()> {
    if is_incomplete(environment)? {
        let directory = environment.index_directory();
        environment.disk.remove(&directory.join(INCOMPLETE_NAME))?;
        environment.disk.sync_directory(&directory)?;
    }
    Ok(())
}
