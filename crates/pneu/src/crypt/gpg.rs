//! Runs gpg or gpgsm on bytes: standard input, standard output, and pipes for a signature and for the status.
//!
//! Input: arguments, bytes. Output: the status, line by line, and what was printed. Nothing is written to a
//! file. The programs fetch no key and ask no server. Does not know what the status means.

use crate::settings::SECRET_VARIABLES;
use rustix::io::{FdFlags, fcntl_setfd};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

/// Most bytes of a signature: what a pipe holds at once.
pub(super) const SIGNATURE_BYTES_MAX: usize = 48 << 10;
/// Most bytes of one content that are decrypted.
pub(super) const OUTPUT_BYTES_MAX: usize = 100 << 20;
/// Most bytes of the status that are kept.
const STATUS_BYTES_MAX: u64 = 1 << 20;
/// The descriptor's name in arguments, for the pipe of a signature.
const SIGNATURE_PIPE: &str = "-&";

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Gpg,
    Gpgsm,
}

/// What it is to do with its standard input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task<'a> {
    /// Decrypt it, and verify the signatures in it.
    Decrypt,
    /// Verify it, and print what is signed.
    Open,
    /// Verify this signature of it.
    Verify(&'a [u8]),
    /// Print what is known of a key.
    List(&'a str),
}

/// What it printed.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The lines of the status, without the mark before them.
    pub status: Vec<String>,
    /// Standard output.
    pub bytes: Vec<u8>,
    /// It printed more than is read.
    pub is_cut: bool,
}

impl Program {
    pub(super) fn name(self) -> &'static str {
        match self {
            Program::Gpg => "gpg",
            Program::Gpgsm => "gpgsm",
        }
    }

    /// Returns the options with which it uses no network and asks nobody.
    fn options(self) -> &'static [&'static str] {
        match self {
            Program::Gpg => &[
                "--batch",
                "--no-tty",
                "--disable-dirmngr",
                "--no-auto-key-retrieve",
                "--no-auto-key-locate",
                "--no-use-embedded-filename",
            ],
            Program::Gpgsm => {
                &["--batch", "--no-tty", "--disable-dirmngr", "--disable-crl-checks", "--disable-ocsp"]
            }
        }
    }
}

/// Runs a program. It may print so many bytes.
///
/// # Errors
/// It cannot be run; a pipe breaks.
pub(super) fn run(program: Program, task: Task<'_>, input: &[u8], bytes_max: usize) -> io::Result<Output> {
    let (status_reader, status_writer) = io::pipe()?;
    let signature = match task {
        Task::Verify(signature) => Some(filled(signature)?),
        _ => None,
    };
    // Only the program that is started now may have the two.
    fcntl_setfd(&status_writer, FdFlags::empty())?;
    let mut command = Command::new(program.name());
    command.args(program.options()).args(["--status-fd", &status_writer.as_raw_fd().to_string()]);
    match (task, program) {
        (Task::Decrypt, _) | (Task::Open, Program::Gpg) => command.arg("--decrypt"),
        (Task::Open, Program::Gpgsm) => command.args(["--output", "-", "--verify"]),
        (Task::Verify(_), _) => {
            let pipe = signature.as_ref().map_or(-1, AsRawFd::as_raw_fd);
            command.args([
                "--enable-special-filenames",
                "--verify",
                "--",
                &format!("{SIGNATURE_PIPE}{pipe}"),
                "-",
            ])
        }
        (Task::List(key), _) => command.args(["--with-colons", "--list-keys", "--", key]),
    };
    SECRET_VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    drop((status_writer, signature));
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let mut output = Output::default();
    let read = std::thread::scope(|scope| {
        scope.spawn(move || {
            // It need not read all of it.
            let _ = stdin.map(|mut stdin| stdin.write_all(input));
        });
        let status = scope.spawn(move || status_lines(status_reader));
        let most = bytes_max as u64 + 1;
        let read = stdout.map_or(Ok(0), |stdout| stdout.take(most).read_to_end(&mut output.bytes));
        if read.is_err() || output.bytes.len() > bytes_max {
            output.is_cut = true;
            let _ = child.kill();
        }
        output.status = status.join().unwrap_or_default();
        read
    });
    child.wait()?;
    read.map(|_| output)
}

/// Returns a pipe that holds these bytes, and that a child gets.
fn filled(bytes: &[u8]) -> io::Result<PipeReader> {
    if bytes.len() > SIGNATURE_BYTES_MAX {
        return Err(io::Error::other("the signature is too long"));
    }
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(bytes)?;
    fcntl_setfd(&reader, FdFlags::empty())?;
    Ok(reader)
}

/// Reads the status to its end.
fn status_lines(mut pipe: PipeReader) -> Vec<String> {
    let mut bytes = Vec::new();
    let _ = pipe.by_ref().take(STATUS_BYTES_MAX).read_to_end(&mut bytes);
    // The program must not wait for us.
    let _ = io::copy(&mut pipe, &mut io::sink());
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter_map(|line| line.strip_prefix("[GNUPG:] ")).map(str::to_owned).collect()
}
