//! Reads the messages that `view` shows, and what the index knows of them.
//!
//! Takes names of messages, or standard input. Reports what cannot be read. Does not know how messages are
//! written.

use super::options::{Format, How};
use crate::archive::repository::LockOptions;
use crate::exit::Outcome;
use crate::output;
use crate::remedy;
use crate::search::locate::{self, Located};
use crate::session::Session;
use anyhow::{Context, Result};
use mail::FileContent;
use pneu::Message;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of standard input that are read.
const INPUT_BYTES_MAX: u64 = 100 << 20;

/// Reads the messages with these names. Reports those that cannot be read, and fails if none can.
///
/// # Errors
/// Why the last one cannot be read, if none can.
pub(crate) fn located(
    messages: &[OsString],
    locate: &dyn Fn(&OsString) -> Result<Located>,
) -> Result<(Vec<Located>, Outcome)> {
    let (mut found, mut last_error) = (Vec::new(), None);
    for message in messages {
        match locate(message) {
            Ok(located) => found.push(located),
            Err(error) => {
                if let Some(earlier) = last_error.replace(error) {
                    remedy::complain_why(&earlier);
                }
            }
        }
    }
    match last_error {
        None => Ok((found, Outcome::Done)),
        Some(error) if found.is_empty() => Err(error),
        Some(error) => {
            remedy::complain_why(&error);
            Ok((found, Outcome::Partly))
        }
    }
}

/// Finds and reads the message that a word names: standard input, or what `locate` knows.
///
/// # Errors
/// There is no such message, or it cannot be read.
pub(crate) fn one(name: &OsString, lock: LockOptions, session: &Session) -> Result<Located> {
    let handle = name.to_string_lossy();
    if handle == "-" {
        from_standard_input()
    } else {
        locate::locate(&handle, Path::new(name), lock, session)
    }
}

/// Reports what the user should know of a message.
pub(super) fn tell(located: &Located, how: How, session: &Session) {
    if session.is_quiet {
        return;
    }
    if let Some(note) = &located.note {
        output::complain(note);
    }
    // The exact bytes of a file are written whatever its size.
    if located.content.truncated && (how.format != Format::Raw || located.path.is_none()) {
        output::complain("the message is very large; only the beginning is shown");
    }
}

/// Reads a message from standard input.
///
/// # Errors
/// It cannot be read.
pub(super) fn from_standard_input() -> Result<Located> {
    let mut content = FileContent::default();
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(INPUT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    content.truncated = bytes.len() as u64 > INPUT_BYTES_MAX;
    content.bytes = bytes;
    Ok(Located::new(None, content))
}

/// Returns the message as the index knows it, if the index knows the file that was read. For a message that
/// was not read from a file, returns no files.
pub(super) fn known(located: &Located, session: &Session) -> Option<Message> {
    // A file can be shown without an index.
    session.view_if_sound()?.known(located).ok()?
}
