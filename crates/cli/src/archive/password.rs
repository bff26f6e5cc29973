//! The password of a repository: from a file, from a command, or typed on the terminal.
//!
//! A password is never printed. It appears in no list of processes, except in commands that the user names.

use crate::words;
use anyhow::{Context, Result, anyhow, bail};
use disk::Source;
use restic::Password;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Most bytes that are read as a password.
const PASSWORD_BYTES_MAX: usize = 64 << 10;
/// Whether a password that is typed is typed once or twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typing {
    Once,
    /// For a new repository: a typing mistake would lock it forever.
    Twice,
}

/// Where a password comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PasswordSource<'a> {
    File(&'a Path),
    Command(&'a str),
}

impl<'a> PasswordSource<'a> {
    /// Returns the one that is named, if one is.
    pub(super) fn one(
        file: Option<&'a Path>,
        command: Option<&'a str>,
        by: &str,
    ) -> Result<Option<PasswordSource<'a>>> {
        match (file, command) {
            (Some(_), Some(_)) => {
                bail!("{by} name both a password file and a password command; give only one")
            }
            (Some(file), None) => Ok(Some(PasswordSource::File(file))),
            (None, command) => Ok(command.map(PasswordSource::Command)),
        }
    }

    pub(super) fn read(self) -> Result<Password> {
        match self {
            PasswordSource::File(path) => from_file(path),
            PasswordSource::Command(command) => from_command(command),
        }
        .map(Password::new)
    }
}

fn from_file(path: &Path) -> Result<Vec<u8>> {
    let bytes = disk::read_small(path, PASSWORD_BYTES_MAX, Source::Anything)
        .map_err(|error| anyhow!("cannot read the password file {}: {error}", path.display()))?;
    checked(trimmed(&decoded(bytes)), &format!("the password file {}", path.display()))
}

/// Runs the user's program, without a shell.
fn from_command(command: &str) -> Result<Vec<u8>> {
    let words = words::split(command).map_err(|what| anyhow!("the password command: {what}"))?;
    let (program, arguments) = words.split_first().context("the password command is empty")?;
    let failed = |error: std::io::Error| anyhow!("cannot run the password command {program}: {error}");
    let mut child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let printed = child.stdout.take().map(|output| disk::read_to_limit(output, PASSWORD_BYTES_MAX));
    let printed = printed.transpose().inspect_err(|_| {
        // It may have ended by now, since its output is no longer read.
        let _ = child.kill();
    });
    let status = child.wait().map_err(failed)?;
    let printed = printed
        .map_err(|error| anyhow!("cannot read what the password command prints: {error}"))?
        .unwrap_or_default();
    if !status.success() {
        bail!("the password command failed: {status}");
    }
    checked(trimmed(&printed), "what the password command printed")
}

/// Returns a text file's content as UTF-8. Editors on Windows write a byte order mark first, or UTF-16.
fn decoded(mut bytes: Vec<u8>) -> Vec<u8> {
    let text = |bytes: &[u8], unit: fn([u8; 2]) -> u16| -> Vec<u8> {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16_lossy(&units).into_bytes()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => text(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => text(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, ..] => bytes.split_off(3),
        _ => bytes,
    }
}

/// Removes the white space at both ends, as restic does: both must use the same password.
fn trimmed(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.trim().as_bytes(),
        Err(_) => bytes.trim_ascii(),
    }
}

/// Refuses what cannot be a password.
fn checked(bytes: &[u8], source: &str) -> Result<Vec<u8>> {
    match bytes.len() {
        0 => bail!("{source} is empty"),
        length if length > PASSWORD_BYTES_MAX => bail!("{source} is too long to be a password"),
        _ => Ok(bytes.to_vec()),
    }
}

/// Removes the line's end.
fn line(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Asks on the terminal; reads one line from a pipe.
pub(super) fn typed(address: &str, typing: Typing) -> Result<Password> {
    if !std::io::stdin().is_terminal() {
        let mut line = Vec::new();
        let limit = PASSWORD_BYTES_MAX as u64 + 2;
        std::io::stdin()
            .lock()
            .take(limit)
            .read_until(b'\n', &mut line)
            .context("cannot read the password")?;
        if line.is_empty() {
            bail!("no password: set RESTIC_PASSWORD, or name a file with --password-file");
        }
        return checked(self::line(&line), "the password on standard input").map(Password::new);
    }
    let password = asked(&format!("password of {address}: "))?;
    if typing == Typing::Twice && asked("once more: ")? != password {
        bail!("the passwords differ; no repository was created");
    }
    checked(password.as_bytes(), "the password").map(Password::new)
}

fn asked(prompt: &str) -> Result<String> {
    let mut stderr = std::io::stderr();
    stderr
        .write_all(prompt.as_bytes())
        .and_then(|()| stderr.flush())
        .context("cannot ask for the password")?;
    rpassword::read_password().map_err(|error| anyhow!("cannot read the password: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_a_password_and_marks_of_editors_do_not_count() {
        let read = |bytes: &[u8]| checked(trimmed(&decoded(bytes.to_vec())), "it").map(String::from_utf8);
        for text in [
            &b"a b"[..],
            b"a b\r\n",
            b" \t\x0ba b \n\n",
            b"\xef\xbb\xbfa b\n",
            b"\xff\xfea\0 \0b\0\n\0",
            b"\xfe\xff\0a\0 \0b\0\n",
            "\u{a0}a b\u{2003}".as_bytes(),
        ] {
            assert_eq!(read(text).unwrap().unwrap(), "a b", "{text:?}");
        }
        assert_eq!(trimmed(b" \xff \n"), b"\xff");
        assert_eq!(read(b" \n").unwrap_err().to_string(), "it is empty");
        assert!(checked(&[b'x'; PASSWORD_BYTES_MAX + 1], "").is_err());
        assert!(checked(&[b'x'; PASSWORD_BYTES_MAX], "").is_ok());
    }

    #[test]
    fn of_a_line_only_its_end_does_not_count() {
        assert_eq!((line(b" a \r\n"), line(b"a\n\n"), line(b"a")), (&b" a "[..], &b"a\n"[..], &b"a"[..]));
    }

    #[test]
    fn programs_print_passwords_or_fail() {
        assert_eq!(from_command("echo ' a b' '; exit 1' $HOME").unwrap(), b"a b ; exit 1 $HOME");
        assert!(from_command("false").unwrap_err().to_string().contains("failed"));
        assert!(from_command("true").unwrap_err().to_string().contains("empty"));
        assert!(from_command("no-such-program-at-all").unwrap_err().to_string().contains("cannot run"));
        assert!(from_command("echo 'a").is_err());
    }

    #[test]
    fn what_never_ends_is_no_password() {
        for endless in ["cat /dev/zero", "yes", "sh -c 'cat /dev/zero; exit 0'"] {
            let said = format!("{:#}", from_command(endless).unwrap_err());
            assert_eq!(said, "cannot read what the password command prints: it has more than 65536 bytes");
        }
        let said = format!("{:#}", from_file(Path::new("/dev/zero")).unwrap_err());
        assert_eq!(said, "cannot read the password file /dev/zero: it has more than 65536 bytes");
        assert!(from_file(Path::new("/dev/null")).unwrap_err().to_string().ends_with("is empty"));
    }

    #[test]
    fn one_of_file_and_command_is_named() {
        let (file, command) = (Some(Path::new("/f")), Some("c"));
        let one =
            |file, command| PasswordSource::one(file, command, "they").map_err(|error| error.to_string());
        assert_eq!(one(file, None), Ok(Some(PasswordSource::File(Path::new("/f")))));
        assert_eq!(one(None, command), Ok(Some(PasswordSource::Command("c"))));
        assert_eq!(one(None, None), Ok(None));
        assert!(one(file, command).unwrap_err().starts_with("they name "));
    }
}
