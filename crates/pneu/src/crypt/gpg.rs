//! Runs gpg or gpgsm on bytes: standard input, standard output, and pipes for a signature and for the status.
//!
//! Input: arguments, bytes, limits. Output: the status, line by line, and what was printed. Nothing is
//! written to a file. The programs fetch no key and ask no server; only decryption asks for a passphrase.
//! What a stranger compressed may take hours to read, so a program that takes too long is killed. Does not
//! know what the status means.

use crate::child::{self, Bounds, Talk};
use crate::settings::SECRET_VARIABLES;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Most bytes of a signature: what a pipe holds at once.
pub(super) const SIGNATURE_BYTES_MAX: usize = 48 << 10;
/// Most bytes of one content that are decrypted.
pub(super) const OUTPUT_BYTES_MAX: usize = 100 << 20;
/// Longest time of one run that asks for no passphrase.
pub(super) const TIME_MAX: Duration = Duration::from_secs(30);
/// Most bytes of the status that are kept.
const STATUS_BYTES_MAX: u64 = 1 << 20;
/// Most bytes of the list of options.
const OPTIONS_BYTES_MAX: usize = 1 << 20;
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
    pub(super) fn options(self) -> &'static [&'static str] {
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

/// Runs a program.
///
/// # Errors
/// It cannot be run; a pipe breaks; it took too long (`TimedOut`); all work stops (`Interrupted`).
pub(super) fn run(
    program: Program,
    task: Task<'_>,
    input: &[u8],
    bounds: &Bounds,
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Output> {
    let (status_reader, status_writer) = io::pipe()?;
    let signature = match task {
        Task::Verify(signature) => Some(filled(signature)?),
        _ => None,
    };
    let mut command = command(program);
    if program == Program::Gpg && imports_keys() {
        command.arg("--no-auto-key-import");
    }
    command.args(program.options()).args(["--status-fd", &status_writer.as_raw_fd().to_string()]);
    if !matches!(task, Task::Decrypt) {
        command.args(["--pinentry-mode", "cancel"]);
    }
    match task {
        Task::Decrypt => command.arg("--decrypt"),
        // With --decrypt, gpg would also decrypt what is encrypted in what is compressed.
        Task::Open => command.args(["--output", "-", "--verify"]),
        Task::Verify(_) => {
            let pipe = signature.as_ref().map_or(-1, AsRawFd::as_raw_fd);
            command.args([
                "--enable-special-filenames",
                "--verify",
                "--",
                &format!("{SIGNATURE_PIPE}{pipe}"),
                "-",
            ])
        }
        Task::List(key) => command.args(["--with-colons", "--list-keys", "--", key]),
    };
    let pipes = [Some(status_writer.into()), signature.map(OwnedFd::from)].into_iter().flatten().collect();
    let child = start(command, pipes)?;
    finish((child, status_reader), input, bounds, is_stopped)
}

/// Starts a program that gets these pipes under their numbers. No other program gets them, although other
/// threads may start some now.
///
/// # Errors
/// It cannot be started.
pub(super) fn start(mut command: Command, pipes: Vec<OwnedFd>) -> io::Result<Child> {
    disk::inherit(&mut command, pipes);
    child::start(&mut command)
}

/// Gives a program its input, and reads its output and its status.
///
/// # Errors
/// As those of [`run`].
pub(super) fn finish(
    (child, status): (Child, PipeReader),
    input: &[u8],
    bounds: &Bounds,
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Output> {
    let (talk, status) = std::thread::scope(|scope| {
        let status = scope.spawn(move || status_lines(status));
        let (talk, _) = child::finish(child, input, bounds, is_stopped);
        (talk, status.join().unwrap_or_default())
    });
    match talk {
        Talk::Ended(bytes) => Ok(Output { status, bytes, is_cut: false }),
        Talk::Cut(bytes) => Ok(Output { status, bytes, is_cut: true }),
        Talk::Slow => Err(io::ErrorKind::TimedOut.into()),
        Talk::Stopped => Err(io::ErrorKind::Interrupted.into()),
        Talk::Failed => Err(io::Error::other("its output cannot be read")),
    }
}

/// Returns the command of a program, which gets no secret from the environment.
fn command(program: Program) -> Command {
    without_secrets(program.name())
}

/// Returns a command that gets no secret from the environment.
pub(super) fn without_secrets(program: &str) -> Command {
    let mut command = Command::new(program);
    SECRET_VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// Returns whether gpg can import the key that a signature brings with it, which only newer ones can. Older
/// ones refuse an option that they do not know.
fn imports_keys() -> bool {
    static IMPORTS: OnceLock<bool> = OnceLock::new();
    let ask = || {
        let child = child::start(command(Program::Gpg).arg("--dump-options")).ok()?;
        let bounds = Bounds { end: Instant::now() + TIME_MAX, output_bytes: OPTIONS_BYTES_MAX };
        match child::finish(child, b"", &bounds, &|| false).0 {
            Talk::Ended(list) => {
                Some(list.split(|byte| *byte == b'\n').any(|line| line == b"--no-auto-key-import"))
            }
            _ => None,
        }
    };
    *IMPORTS.get_or_init(|| ask().unwrap_or(false))
}

/// Returns a pipe that holds these bytes.
fn filled(bytes: &[u8]) -> io::Result<PipeReader> {
    if bytes.len() > SIGNATURE_BYTES_MAX {
        return Err(io::Error::other("the signature is too long"));
    }
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(bytes)?;
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
