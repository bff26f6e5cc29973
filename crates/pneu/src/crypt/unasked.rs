//! Decrypts messages for the index: beside other work, within limits, and so that nobody is asked.
//!
//! Input: the bytes of a message, limits. Output: what the user's agent can open now. Limits are those of gpg
//! and gpgsm alone, which start no agent then: it would inherit them. Does not know what becomes of the text.

use super::gpg::{Output, Program, TIME_MAX, Task, finish, start, without_secrets};
use super::{DEPTH_MAX, OPENED_BYTES_MAX, OPENED_COUNT_MAX, OpenedMessage, Opening, Purpose};
use crate::child::{self, Bounds};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Most bytes of the list of secret keys. It is long enough if there is one.
const LIST_BYTES_MAX: usize = 1 << 20;
/// How lines begin that tell of a secret key, of gpg and of gpgsm.
const KEY_LINES: [&[u8]; 3] = [b"sec:", b"ssb:", b"crs:"];

/// Decrypts messages; knows which programs have a secret key.
#[derive(Debug, Default)]
pub(crate) struct Unasked {
    /// The programs that were looked at, and whether they have one.
    have_keys: Mutex<Vec<(Program, bool)>>,
}

/// Limits of one message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// When the program is killed.
    pub end: Instant,
    /// Most seconds that a program may compute.
    pub cpu_seconds: u64,
    /// Most memory (address space) of a program.
    pub memory_mib: u64,
    /// Most bytes that are decrypted.
    pub bytes_max: usize,
}

impl Unasked {
    /// Begins a reading: keys that were missing in the last one may be there now.
    pub(crate) fn begin(&self) {
        self.have_keys.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Opens what is encrypted in a message, if it can be opened now. What is returned says nothing if
    /// `is_stopped`.
    pub(crate) fn open(
        &self,
        message: &[u8],
        limits: &Limits,
        is_stopped: &dyn Fn() -> bool,
    ) -> OpenedMessage {
        let run = |program: Program, _: Task<'_>, input: &[u8], output_bytes| {
            if !self.has_key(program, is_stopped)? {
                return Err(io::ErrorKind::NotFound.into());
            }
            decrypt(program, input, (limits, output_bytes), is_stopped)
        };
        let mut opening = Opening {
            message,
            purpose: Purpose::Searched,
            run: &run,
            count_left: OPENED_COUNT_MAX,
            bytes_left: OPENED_BYTES_MAX.min(limits.bytes_max),
            is_cut: false,
            is_full: false,
        };
        let contents = opening.open_all(message, DEPTH_MAX, true);
        OpenedMessage { contents, is_cut: opening.is_cut, mebibytes_max: None }
    }

    /// Returns whether a program has a secret key. Looks once in a reading, while others wait. That starts
    /// the agent, if it does not run.
    fn has_key(&self, program: Program, is_stopped: &dyn Fn() -> bool) -> io::Result<bool> {
        let mut have_keys = self.have_keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, has_key)) = have_keys.iter().find(|(known, _)| *known == program) {
            return Ok(*has_key);
        }
        let bounds = Bounds { end: Instant::now() + TIME_MAX, output_bytes: LIST_BYTES_MAX };
        let arguments = ["--with-colons", "--list-secret-keys"];
        let list = run(program, ("", &arguments), b"", &bounds, is_stopped)?.bytes;
        let is_key = |line: &[u8]| KEY_LINES.iter().any(|begin| line.starts_with(begin));
        let has_key = list.split(|byte| *byte == b'\n').any(is_key);
        have_keys.push((program, has_key));
        Ok(has_key)
    }
}

fn decrypt(
    program: Program,
    input: &[u8],
    (limits, output_bytes): (&Limits, usize),
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Output> {
    let script = child::limits_script(limits.memory_mib, limits.cpu_seconds);
    let bounds = Bounds { end: limits.end, output_bytes };
    let arguments: &[&str] = match program {
        Program::Gpg => &["--no-autostart", "--skip-verify", "--decrypt"],
        Program::Gpgsm => &["--no-autostart", "--decrypt"],
    };
    run(program, (&script, arguments), input, &bounds, is_stopped)
}

/// Runs a program after a script of the shell.
fn run(
    program: Program,
    (script, arguments): (&str, &[&str]),
    input: &[u8],
    bounds: &Bounds,
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Output> {
    let (status_reader, status_writer) = io::pipe()?;
    let script = format!("{script}exec \"$@\"");
    let mut command = without_secrets("/bin/sh");
    command.args(["-c", &script, "sh", program.name()]).args(program.options());
    command.args(["--status-fd", &status_writer.as_raw_fd().to_string()]);
    command.args(["--pinentry-mode", "cancel"]).args(arguments);
    let child = start(command, vec![status_writer.into()])?;
    finish((child, status_reader), input, bounds, is_stopped)
}
